"""The array types of annotations, and the conversion of any input to floats."""

from typing import Any

import numpy as np
import numpy.typing as npt

from marlene._common.errors import MarleneError

Array = npt.NDArray[Any]
Arrays = dict[str, Array]
"""Named arrays: what a saved state holds."""
Floats = npt.NDArray[np.float64]
Floats32 = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]
Labels = npt.NDArray[np.int8]
"""Labels, true or predicted: 0, 1, or -1 where not known."""
LEAST_ROOM = 16


def appended(array: Array, new: npt.ArrayLike, fill: float = 0) -> Array:
    """Return a vector with more at its end: in the room behind it if it came from here, else in twice the room.

    New room holds `fill`.

    Examples
    --------
    >>> first = appended(np.zeros(0), [1.0, 2.0])
    >>> second = appended(first, [3.0])
    >>> second, room_of(second) is room_of(first)
    (array([1., 2., 3.]), True)
    """
    more, before = np.asarray(new, array.dtype), len(array)
    room, length = room_of(array), before + len(more)
    if len(room) < length:
        room = np.full(max(LEAST_ROOM, 2 * length), fill, array.dtype)
        room[:before] = array
    room[before:length] = more
    return room[:length]


def room_of(array: Array) -> Array:
    """Return the vector with all room behind it; kernels find the same one as long as there is some."""
    room = array.base
    return array if room is None else room


def as_floats(values: Any, what: str) -> Floats:  # noqa: ANN401 (array-like)
    """Return an array-like as an array of floats; refuse one that holds anything else.

    Examples
    --------
    >>> as_floats([[1, "two"]], "X")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: X holds something that is not a number (could not convert string to float: 'two')
    """  # noqa: E501 (a doctest shows the message on one line)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MarleneError(f"{what} holds something that is not a number ({error})") from error
