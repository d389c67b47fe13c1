"""Room for one example, where kernels find it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.arrays import room_of
from marlene.kernels.banks.scales import PRESENCE
from marlene.kernels.held import table_of
from marlene.kernels.tracking.calls import REFUSED, run_target_rows
from marlene.kernels.tracking.given import NUMERIC
from marlene.kernels.tracking.state import Block, Task
from marlene.learners.marlene._plain import PlainDesk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene._common.arrays import Ints
    from marlene.learners.marlene._tracker import Tracker

NOTHING_WANTED = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0), np.int8)


class RowDesk(PlainDesk):
    """One example of plain numbers and its labels, at work in a tracker; for one thread at a time.

    `version`: when it was found to be good, see `Changes`; `can_decide`: whether it could predict then.

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
        super().__init__(tracker.labels[0], kinds, tracker.bank.first_inputs, width)
        shape = 1, len(self.labels)
        found = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int8)
        self.scores, self.probabilities, self.predictions = found[0][0], found[1][0], found[2][0].view(np.bool_)
        self.model, self._table = tracker.model(), tracker.table()
        rows, given = self._rows, self._given
        self._held = (
            Task(rows, Block(self.truth, self.weight, *found), given),
            Task(rows, Block(self.truth, self.weight, *NOTHING_WANTED), given),
        )
        self._asked, self._learnt = map(table_of, self._held)
        self._room = tracker.room_for_inputs(), tracker.room_for_numbers()
        self.version: object = None
        self.can_decide = False

    def fits(self, tracker: Tracker, kinds: Ints, width: int) -> bool:
        """Tell whether everything is still where it was, and an example of so many features has room."""
        return (
            width <= self.width
            and self.model is tracker.model()
            and self._kinds is room_of(kinds)
            and self._first is room_of(tracker.bank.first_inputs)
        )

    def has_room(self, features: int, numbers: int) -> bool:
        """Tell whether kernels may meet so many features, each of them one input, and numbers among them."""
        return features <= min(self._room[0], len(self._kinds), len(self._first)) and numbers <= self._room[1]

    def note(self, features: int, kinds: Sequence[int], numbers: int) -> None:
        """Write down the kinds of new features, where so many are known, and so many numbers."""
        numeric = self.model.rooms.numeric
        for column, kind in enumerate(kinds, features):
            self._kinds[column], self._first[column] = kind, column
            numeric[column] = numbers if kind == NUMERIC else PRESENCE
            numbers += kind == NUMERIC

    def decide(self, count: int) -> bool:
        """Write scores, probabilities and predictions; tell whether the example could be read."""
        return run_target_rows(self._table, self._asked, 0, 1, count, False) != REFUSED

    def learn(self, count: int) -> int:
        """Learn the example; return 1, 0 if there is too little room, or `FAILED` if it cannot be read."""
        return run_target_rows(self._table, self._learnt, 0, 1, count, True)
