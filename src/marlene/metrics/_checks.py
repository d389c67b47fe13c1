"""Arguments as the kernels want them, or an error that says what is wrong."""

from __future__ import annotations

from numbers import Integral, Real

from marlene._common.errors import MarleneError


def at_least_one(what: str, value: object) -> int:
    """Return `value`, a whole number above zero.

    Examples
    --------
    >>> at_least_one("window", 0)
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: window must be a whole number above 0, not 0
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise MarleneError(f"{what} must be a whole number above 0, not {value!r}")
    return int(value)


def between_zero_and_one(what: str, value: object) -> float:
    """Return `value`, a number above 0 and below 1.

    Examples
    --------
    >>> between_zero_and_one("fading", 1.5)
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: fading must be a number above 0 and below 1, not 1.5
    """
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise MarleneError(f"{what} must be a number above 0 and below 1, not {value!r}")
    return float(value)
