"""Errors that a user can cause."""

from __future__ import annotations


class MarleneError(ValueError):
    """An input or a setting cannot be used; the message says what is wrong, and where.

    Examples
    --------
    >>> raise MarleneError("table.csv, line 3: expected 4 values, found 2")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: table.csv, line 3: expected 4 values, found 2
    """


class MissingExtraError(MarleneError, ImportError):
    """An optional package is needed and not installed."""
