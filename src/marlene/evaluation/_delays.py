"""When the labels of every example arrive, if each has its own delay."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.arrays import as_floats
from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene.streams import Stream

if TYPE_CHECKING:
    from marlene._common.arrays import Ints
    from marlene.streams import LazyStream

NEVER = -1
"""The delay of labels that never arrive; in a result: each example has its own delay."""
MOST_DIGITS = 19
NEVER_WORDS = {"", "-", "-1", "never", "nan"}


class Delays:
    """The order in which labels arrive.

    Parameters
    ----------
    given
        How many further examples are predicted before the labels of each arrive; -1: never.

    Examples
    --------
    >>> delays = Delays(np.array([2, 0, -1, 5]))
    >>> [delays.due(t).tolist() for t in range(4)], delays.late().tolist()
    ([[], [1], [0], []], [3])
    """

    def __init__(self, given: Ints) -> None:
        arrival = np.arange(len(given)) + given
        arrival[given < 0] = np.iinfo(np.int64).max
        self._rows = np.argsort(arrival, kind="stable")
        self._starts = np.searchsorted(arrival[self._rows], np.arange(len(given) + 1))
        self._end = int((given >= 0).sum())
        self.digest = hashlib.sha256(given.tobytes()).hexdigest()

    def due(self, t: int) -> Ints:
        """Return the examples whose labels arrive after example `t` is predicted, the oldest first."""
        return self._rows[self._starts[t] : self._starts[t + 1]]

    def late(self) -> Ints:
        """Return the examples whose labels arrive after the end of the stream, in the order of their arrival."""
        return self._rows[self._starts[-1] : self._end]


def as_delays(delay: Any, stream: Stream | LazyStream) -> int | Delays:  # noqa: ANN401 (a number, array or function)
    """Return a delay for all examples, or one for each."""
    if np.ndim(delay) == 0 and not callable(delay):
        return whole_number(delay, "delay", 0)
    if not isinstance(stream, Stream):
        raise MarleneError("delay: of a stream that is read part by part, all examples have the same delay")
    if callable(delay):
        found = [delay(number, stream.example(number)) for number in range(len(stream))]
        delay = [NEVER if value is None else value for value in found]
    values = as_floats(delay, "delay")
    if values.shape != (len(stream),):
        raise MarleneError(f"delay has shape {values.shape}, expected one for each of {len(stream)} examples")
    values = np.where(np.isnan(values), NEVER, values)
    wrong = np.flatnonzero(~((values == NEVER) | ((values >= 0) & (values < 2**62) & (values % 1 == 0))))
    if wrong.size:
        raise MarleneError(f"delay[{wrong[0]}] is {values[wrong[0]]:g}, expected a whole number, or -1 for never")
    return Delays(values.astype(np.int64))


def read_delays(path: str) -> list[int]:
    """Return the delays in a file, one in each line; -1, "never" or an empty line: the labels never arrive."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise MarleneError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        text = line.strip().lower()
        if text not in NEVER_WORDS and not (text.isdecimal() and len(text) < MOST_DIGITS):
            raise MarleneError(f"{path}, line {number}: expected a number of examples, or never, found {line[:40]!r}")
        found.append(NEVER if text in NEVER_WORDS else int(text))
    return found
