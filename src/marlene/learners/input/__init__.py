"""Dictionaries, frames and matrices as rows."""
