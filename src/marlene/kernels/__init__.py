"""Pure functions over arrays, compiled by Numba. No other package holds compiled code."""
