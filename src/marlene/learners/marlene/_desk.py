"""Room for one example, where kernels find it."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.arrays import room_of
from marlene.kernels.held import table_of
from marlene.kernels.rows import Rows
from marlene.kernels.tracking.calls import decide_rows, learn_target_rows
from marlene.kernels.tracking.state import Block, Given, Task
from marlene.learners.input._features import PLAIN

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene._common.arrays import Ints
    from marlene.learners.marlene._tracker import Tracker

LEAST_WIDTH = 32
NOTHING_WANTED = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0), np.int8)
FAILED = -1
TRUTH = {bool}


@cache
def _packers(count: int) -> tuple[Any, Any]:
    """Return what writes so many whole numbers, and so many floats."""
    return struct.Struct(f"{count}q").pack_into, struct.Struct(f"{count}d").pack_into


class RowDesk:
    """One example of plain numbers and its labels, at work in a tracker; for one thread at a time.

    Parameters
    ----------
    tracker
        A tracker with labels.
    kinds
        The kinds of all features, as numbers.
    width
        The largest number of features of an example.
    """

    def __init__(self, tracker: Tracker, kinds: Ints, width: int) -> None:
        n_labels = len(tracker.labels[0])
        self.width = max(LEAST_WIDTH, 2 * width)
        self.model = tracker.model()
        self._kinds, self._first = room_of(kinds), room_of(tracker.bank.first_inputs)
        self.labels = tracker.labels[0]
        self.truth, self.weight = np.zeros((1, n_labels), np.int8), np.ones(1)
        self.scores, self.probabilities = np.zeros((1, n_labels)), np.zeros((1, n_labels))
        self.predictions = np.zeros((1, n_labels), np.bool_)
        self._columns, self._values = np.zeros(self.width, np.int64), np.zeros(self.width)
        self._truth, self._weight = self.truth.reshape(-1).data.cast("B"), self.weight
        given = Given(self._columns, self._values, self._kinds, self._first)
        rows = Rows(np.zeros(2, np.int64), np.zeros(self.width, np.int64), np.zeros(self.width))
        found = self.scores, self.probabilities, self.predictions.view(np.int8)
        self._held = (
            self.model._replace(scratch=tracker.scratch()),
            Task(rows, Block(self.truth, self.weight, *found), given),
            Task(rows, Block(self.truth, self.weight, *NOTHING_WANTED), given),
        )
        self._table, self._asked, self._learnt = map(table_of, self._held)

    def fits(self, tracker: Tracker, kinds: Ints, width: int) -> bool:
        """Tell whether everything is still where it was, and an example of so many features has room."""
        return (
            width <= self.width
            and self.model is tracker.model()
            and self._kinds is room_of(kinds)
            and self._first is room_of(tracker.bank.first_inputs)
        )

    def put(self, x: Mapping[Hashable, Any], column: Mapping[Hashable, int]) -> int:
        """Write an example; return how many features it has, or `FAILED` if they are not plain numbers or unknown."""
        values = x.values()
        if not PLAIN.issuperset(map(type, values)):
            return FAILED
        count = len(values)
        write_columns, write_values = _packers(count)
        try:
            write_columns(self._columns, 0, *map(column.__getitem__, x))
            write_values(self._values, 0, *values)
        except (KeyError, OverflowError, struct.error):  # unknown, or too large
            return FAILED
        return count

    def put_truth(self, y: Mapping[Hashable, bool], weight: float) -> bool:
        """Write the truth of all labels and the weight; tell whether it could be done: they are in order, and plain."""
        values = y.values()
        if [*y] != self.labels or not TRUTH.issuperset(map(type, values)):
            return False
        self._truth[:] = bytes(values)
        self._weight[0] = weight
        return True

    def decide(self, count: int) -> bool:
        """Write scores, probabilities and predictions; tell whether the example could be read."""
        return decide_rows(self._table, self._asked, 0, 1, count)

    def learn(self, count: int) -> int:
        """Learn the example; return 1, 0 if there is too little room, or `FAILED` if it cannot be read."""
        return learn_target_rows(self._table, self._learnt, 0, 1, count)
