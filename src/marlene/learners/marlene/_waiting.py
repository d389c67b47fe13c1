"""The buffer of rows that were voted on, and whose records are still to be swept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.ensemble.pairs import Waiting

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Array, Floats, Labels
    from marlene.kernels.ensemble.state import Members


ROWS = 8
"""The size of the buffer. Records come from memory once for all its rows, while the votes stay in the cache."""
UNKNOWN = -1


class WaitingRows:
    """Up to `ROWS` consecutive rows, each with a vote and a judgement: two steps.

    Attributes
    ----------
    arrays
        The votes on the rows, as the kernel takes them; `done` counts the steps every task has made.
    steps
        How many steps are known.
    first_row
        The number of the first row in its batch.
    """

    def __init__(self) -> None:
        self.arrays = _empty(0, 0, np.float64)
        self.steps = 0
        self.first_row = 0

    @property
    def voted(self) -> bool:
        """Whether the vote on the last row is noted, and its judgement not yet."""
        return self.steps % 2 == 1

    @property
    def full(self) -> bool:
        """Whether the buffer is full."""
        return self.steps == 2 * ROWS

    def make_room(self, n_labels: int, n_tasks: int, records: Array) -> None:
        """Have room for so many labels and tasks, and for all members with records."""
        arrays, capacity = self.arrays, records.shape[2]
        more = capacity - arrays.active.shape[1]
        if self.steps == 0:
            if more > 0 or (arrays.truth.shape[1], arrays.active.dtype) != (n_labels, records.dtype):
                self.arrays = _empty(n_labels, capacity, records.dtype)
            self.arrays = self.arrays._replace(done=np.zeros(n_tasks, np.int64))
        elif more > 0:
            larger = {name: _widened(getattr(arrays, name), more) for name in ("before", "after", "active")}
            self.arrays = arrays._replace(**larger)

    def note_vote(self, row: int, said: Floats, count: int, assumed: Labels) -> None:
        """Begin a row: the votes of `count` members before training, and the assumed labels, if any."""
        place = self.steps // 2
        if place == 0:
            self.first_row = row
        self.arrays.before[place, :, :, : said.shape[2]] = said
        self.arrays.assumed[place] = assumed if len(assumed) else UNKNOWN
        self.arrays.counts[place] = count
        self.steps += 1

    def note_judgement(self, members: Members, count: int, truth: Labels, condition: Labels) -> None:
        """End a row: the votes after training, who voted, and the true labels."""
        place, capacity = self.steps // 2, len(members.classifier)
        self.arrays.after[place, 0, :, :capacity] = members.positive
        self.arrays.after[place, 1, :, :capacity] = members.negative
        self.arrays.active[place, :capacity] = members.active
        self.arrays.truth[place], self.arrays.condition[place] = truth, condition
        self.arrays.counts[place, 1] = count
        self.steps += 1

    def note_nothing_learnt(self) -> None:
        """End a row that was only voted on."""
        self.arrays.condition[self.steps // 2] = UNKNOWN
        self.steps += 1

    def swept(self) -> None:
        """Take note that all tasks have made all steps; a row without judgement stays."""
        if not self.voted:
            self.clear()

    def clear(self) -> None:
        """Empty the buffer."""
        self.steps = 0
        self.arrays.done[:] = 0


def _empty(n_labels: int, capacity: int, precision: npt.DTypeLike) -> Waiting:
    said, labels = (ROWS, 2, 2, capacity), (ROWS, n_labels)
    return Waiting(
        before=np.zeros(said, precision),
        after=np.zeros(said, precision),
        active=np.zeros((ROWS, capacity), precision),
        assumed=np.full(labels, UNKNOWN, np.int8),
        truth=np.full(labels, UNKNOWN, np.int8),
        condition=np.full(labels, UNKNOWN, np.int8),
        counts=np.zeros((ROWS, 2), np.int64),
        done=np.zeros(0, np.int64),
    )


def _widened(numbers: Array, more: int) -> Array:
    return np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, more)])
