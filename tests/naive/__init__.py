"""Slow, obviously correct pure-Python versions of what the kernels compute."""
