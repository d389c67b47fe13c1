"""Kernels of the rivals from elsewhere."""
