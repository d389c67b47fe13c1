"""The errors a user of the package meets."""

from __future__ import annotations


class MarleneError(ValueError):
    """Input or a setting that cannot be used; the message says what and where.

    Examples
    --------
    >>> raise MarleneError("table.csv, line 3: expected 4 values, found 2")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: table.csv, line 3: expected 4 values, found 2
    """


class MissingExtraError(MarleneError, ImportError):
    """An optional package is needed and not installed."""
