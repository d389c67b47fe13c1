"""Check matrices of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.arrays import as_floats
from marlene._common.errors import MarleneError

if TYPE_CHECKING:
    from collections.abc import Callable

    from marlene._common.arrays import Labels

UNKNOWN = -1
"""The value of a label that is not known."""


def as_labels(
    values: Any,  # noqa: ANN401 (array-like or sparse)
    what: str,
    *,
    dimensions: int = 2,
    unknown: bool = True,
    wording: Callable[..., str] | None = None,
    untold: int = UNKNOWN,
) -> Labels:
    """Return `values` as int8; refuse anything but 0, 1 and (if `unknown`) -1 or NaN, and say where it is.

    Parameters
    ----------
    values
        An array or a sparse matrix.
    what
        The name of the array in error messages.
    dimensions
        The number of dimensions it must have.
    unknown
        Whether labels may be unknown.
    wording
        Returns the beginning of an error message, given the indices of a wrong value.
    untold
        What NaN becomes, if labels may be unknown.

    Examples
    --------
    >>> as_labels([[True, float("nan")]], "truth")
    array([[ 1, -1]], dtype=int8)
    >>> as_labels([[0, 1], [3, 1]], "truth")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: truth[1, 0] is 3, expected 0, 1, or -1 where the label is not known
    """
    given = values.toarray() if hasattr(values, "toarray") else values
    small = getattr(given, "dtype", None) in (np.bool_, np.int8)
    array = np.asarray(given) if small else as_floats(given, what)
    if array.ndim != dimensions:
        raise MarleneError(f"{what} has {array.ndim} dimensions, expected {dimensions}")
    if unknown and array.dtype == np.float64:
        array = np.where(np.isnan(array), untold, array)
    right = (array == 0) | (array == 1)
    if unknown:
        right |= array == UNKNOWN
    if not right.all():
        where = tuple(int(i) for i in np.argwhere(~right)[0])
        if wording is not None:
            raise MarleneError(f"{wording(*where)}: expected 0 or 1, found {float(array[where]):g}")
        expected = "0, 1, or -1 where the label is not known" if unknown else "0 or 1"
        raise MarleneError(f"{what}[{', '.join(map(str, where))}] is {float(array[where]):g}, expected {expected}")
    return np.require(array, np.int8, ["C", "W"])
