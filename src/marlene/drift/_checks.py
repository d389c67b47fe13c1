"""Checks of arguments and settings: return them as the kernels take them, or raise an error that says what is wrong."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from marlene._common.checks import checked
from marlene._common.errors import MarleneError

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Array, Bools, Floats, Ints
    from marlene._common.checks import Rule

FADING: Rule = (float, lambda x: 0 < x <= 1, "a number above 0 and not above 1")
RULES: dict[str, Rule] = {
    "theta": FADING,
    "fading": FADING,
    "minimum": (int, lambda n: n >= 0, "a whole number of at least 0"),
    "delta": (float, lambda x: 0 < x < 1, "a number between 0 and 1"),
}
"""What a setting must be; `strict` and the two levels have checks of their own."""
Number = TypeVar("Number", bound=np.generic)
Parameters = TypeVar("Parameters", bound=NamedTuple)


def as_ids(values: npt.ArrayLike) -> Ints:
    """Return `values` as a row of whole numbers.

    Examples
    --------
    >>> as_ids([3, 1])
    array([3, 1])
    >>> as_ids([True, False])
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: ids must be whole numbers, not bool
    """
    array = _as_array(values, "ids")
    if array.ndim != 1:
        raise MarleneError(f"ids has {array.ndim} dimensions, expected 1")
    if array.size and array.dtype.kind not in "iu":
        raise MarleneError(f"ids must be whole numbers, not {array.dtype}")
    return _own(array.astype(np.int64, copy=False))


def as_bits(values: npt.ArrayLike, what: str, count: int) -> Bools:
    """Return `values`, which are 0 or 1, as `count` truth values.

    Examples
    --------
    >>> as_bits([1, 0.0], "truth", 2)
    array([ True, False])
    >>> as_bits([0, 2], "truth", 2)
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: truth[1] is 2, expected 0 or 1
    """
    array = _as_array(values, what, count)
    if array.dtype != np.bool_:
        _refuse((array != 0) & (array != 1), array, what, "0 or 1")
        array = array == 1
    return _own(array)


def as_values(values: npt.ArrayLike, what: str, count: int) -> Floats:
    """Return `values` as `count` finite numbers.

    Examples
    --------
    >>> as_values([1, float("nan")], "values", 2)
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: values[1] is nan, expected a finite number
    """
    array = _as_array(values, what, count).astype(np.float64, copy=False)
    _refuse(~np.isfinite(array), array, what, "a finite number")
    return _own(array)


def _as_array(values: npt.ArrayLike, what: str, count: int | None = None) -> Array:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise MarleneError(f"{what} is not an array ({error})") from error
    if array.dtype.kind not in "biuf":
        raise MarleneError(f"{what} must hold numbers, not {array.dtype}")
    if count is not None and array.shape != (count,):
        raise MarleneError(f"{what} has shape {array.shape}, expected ({count},): one value for each of ids")
    return array


def _refuse(wrong: Bools, array: Array, what: str, expected: str) -> None:
    if wrong.any():
        where = int(np.argmax(wrong))
        raise MarleneError(f"{what}[{where}] is {array[where]:g}, expected {expected}")


def _own(array: npt.NDArray[Number]) -> npt.NDArray[Number]:
    # For read-only or non-contiguous arrays, a kernel would be compiled again.
    return array if array.flags.carray else array.copy()


def as_bit(value: object, what: str) -> bool:
    """Return `value`, which is 0 or 1, as a truth value.

    Examples
    --------
    >>> as_bit(1.0, "x")
    True
    >>> as_bit(0.5, "x")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: x must be 0 or 1, not 0.5
    """
    if not isinstance(value, Real | np.bool_) or value not in {0, 1}:
        raise MarleneError(f"{what} must be 0 or 1, not {value!r}")
    return bool(value)


def as_levels(warning: object, drift: object) -> tuple[float, float]:
    """Return both thresholds, in standard deviations; `drift` is at least `warning`.

    Examples
    --------
    >>> as_levels(3, 2)
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: expected 0 < warning <= drift, not warning=3 and drift=2
    """
    if isinstance(warning, Real) and isinstance(drift, Real) and 0 < float(warning) <= float(drift) < math.inf:
        return float(warning), float(drift)
    raise MarleneError(f"expected 0 < warning <= drift, not warning={warning!r} and drift={drift!r}")


def kernel_parameters(parameters_type: type[Parameters], settings: object) -> Parameters:
    """Return the attributes of `settings` that are parameters, as numbers for the kernels."""
    numbers: dict[str, Any] = {name: getattr(settings, name) for name in parameters_type._fields}
    for name in numbers.keys() & RULES:
        numbers[name] = checked(numbers[name], name, RULES[name])
    if "strict" in numbers:
        numbers["strict"] = as_bit(numbers["strict"], "strict")
    if "drift" in numbers:
        numbers["warning"], numbers["drift"] = as_levels(numbers["warning"], numbers["drift"])
    return parameters_type._make(numbers.values())
