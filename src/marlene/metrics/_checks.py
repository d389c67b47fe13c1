"""Arguments as the kernels want them, or an error that says what is wrong."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene.kernels.scores import UNKNOWN

if TYPE_CHECKING:
    import numpy.typing as npt


def as_labels(values: npt.ArrayLike, what: str, *, dimensions: int = 2, unknown: bool = True) -> npt.NDArray[np.int8]:
    """Return `values` as int8; anything but 0, 1 and (if `unknown`) -1 or NaN is an error that says where.

    Examples
    --------
    >>> as_labels([[True, float("nan")]], "truth")
    array([[ 1, -1]], dtype=int8)
    >>> as_labels([[0, 1], [3, 1]], "truth")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: truth[1, 0] is 3, expected 0, 1, or -1 where the label is not known
    """
    try:
        array = np.asarray(values)
        if array.dtype not in (np.bool_, np.int8):
            array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MarleneError(f"{what} holds something that is not a number ({error})") from error
    if array.ndim != dimensions:
        raise MarleneError(f"{what} has {array.ndim} dimensions, expected {dimensions}")
    if unknown and array.dtype == np.float64:
        array = np.where(np.isnan(array), UNKNOWN, array)
    right = (array == 0) | (array == 1)
    if unknown:
        right |= array == UNKNOWN
    if not right.all():
        where = tuple(int(i) for i in np.argwhere(~right)[0])
        expected = "0, 1, or -1 where the label is not known" if unknown else "0 or 1"
        raise MarleneError(f"{what}[{', '.join(map(str, where))}] is {float(array[where]):g}, expected {expected}")
    return np.require(array, np.int8, ["C", "W"])


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
