"""Rows of which it is known what was said, and whose records are still to be swept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.ensemble.pairs import Waiting

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Array, Floats, Labels
    from marlene.kernels.ensemble.state import Members


ROWS = 8
"""So many rows wait. Records come from memory once for all of them, while what was said of them stays in the cache."""
UNKNOWN = -1


class WaitingRows:
    """Up to `ROWS` consecutive rows, each with a vote and a judgement: two steps.

    Attributes
    ----------
    arrays
        What was said of the rows, as the kernel takes it.
    done, steps
        How many steps every task has made, and how many are known.
    first_row
        The number of the first of the rows in its block.
    """

    def __init__(self) -> None:
        self.arrays = _empty(0, 0, np.float64)
        self.done = np.zeros(0, np.int64)
        self.steps = 0
        self.first_row = 0

    @property
    def voted(self) -> bool:
        """Whether the vote on the last row is noted, and its judgement not yet."""
        return self.steps % 2 == 1

    @property
    def full(self) -> bool:
        """Whether no row can wait any more."""
        return self.steps == 2 * ROWS

    def make_room(self, n_labels: int, n_tasks: int, records: Array) -> None:
        """Have room for so many labels and tasks, and for as many members as there are records of."""
        arrays, capacity = self.arrays, records.shape[2]
        more = capacity - arrays.active.shape[1]
        if self.steps == 0:
            self.done = np.zeros(n_tasks, np.int64)
            if more > 0 or (arrays.truth.shape[1], arrays.active.dtype) != (n_labels, records.dtype):
                self.arrays = _empty(n_labels, capacity, records.dtype)
        elif more > 0:
            larger = {name: _widened(getattr(arrays, name), more) for name in ("before", "after", "active")}
            self.arrays = arrays._replace(**larger)

    def note_vote(self, row: int, said: Floats, count: int, assumed: Labels) -> None:
        """Begin a row: what so many members said of it before training, and which labels are assumed, if any."""
        place = self.steps // 2
        if place == 0:
            self.first_row = row
        self.arrays.before[place, :, :, : said.shape[2]] = said
        self.arrays.assumed[place] = assumed if len(assumed) else UNKNOWN
        self.arrays.counts[place] = count
        self.steps += 1

    def note_judgement(self, members: Members, count: int, truth: Labels, condition: Labels) -> None:
        """End a row: what was said after training, by whom, and what is true."""
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
        """Take note that all tasks have made all steps; a row that is only voted on goes on waiting."""
        if not self.voted:
            self.clear()

    def clear(self) -> None:
        """Let no row wait."""
        self.steps = 0
        self.done[:] = 0


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
    )


def _widened(numbers: Array, more: int) -> Array:
    return np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, more)])
