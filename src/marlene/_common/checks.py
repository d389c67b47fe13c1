"""Checks of settings; the error says what is expected."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Rule = tuple[Callable[[Any], Any], Callable[[Any], bool], str]

ACCEPTED: dict[Callable[[Any], Any], type] = {int: Integral, float: Real, str: str, bool: bool}


def checked(value: object, name: str, rule: Rule) -> Any:  # noqa: ANN401 (of the rule's type)
    """Return `value` as a plain Python object; a rule is a type, a test, and both in words.

    Examples
    --------
    >>> checked(1.5, "share", (float, lambda x: 0 <= x <= 1, "a number from 0 to 1"))
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: share must be a number from 0 to 1, not 1.5
    """
    convert, holds, words = rule
    right_type = isinstance(value, ACCEPTED[convert]) and (convert is bool or not isinstance(value, bool))
    refused = MarleneError(f"{name} must be {words}, not {quoted(value)}")
    if not right_type or not holds(value):
        raise refused
    try:
        return convert(value)
    except OverflowError:  # a whole number beyond what floats can be
        raise refused from None


def whole_number(value: object, name: str, low: float = -math.inf, high: float = math.inf) -> int:
    """Return `value` as an int; it must be a whole number from `low` to `high`.

    Examples
    --------
    >>> whole_number(7, "window", low=1)
    7
    >>> whole_number(0, "window", low=1)
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: window must be a whole number of at least 1, not 0
    """
    limits = "" if low == -math.inf else f" of at least {low}" if high == math.inf else f" from {low} to {high}"
    number: int = checked(value, name, (int, lambda n: low <= n <= high, f"a whole number{limits}"))
    return number


def one_of(value: str, name: str, allowed: Iterable[str]) -> None:
    """Refuse a `value` that is not among `allowed`.

    Examples
    --------
    >>> one_of("weekly", "drift", ["gradual", "abrupt"])
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: drift must be one of gradual, abrupt, not 'weekly'
    """
    choices = list(allowed)
    checked(value, name, (str, lambda text: text in choices, f"one of {', '.join(choices)}"))
