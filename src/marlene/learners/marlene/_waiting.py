"""Rows that were voted on and learnt, and whose records are still to be swept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.ensemble.pairs import Waiting, narrow
from marlene.kernels.ensemble.state import ROW

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.ensemble.state import Heard

UNKNOWN = -1
NO_LABELS = np.zeros((0, 0), np.int8)
NO_VOTES = np.zeros((0, 0, 2, 2))


class WaitingRows:
    """What a sweep needs besides what was heard: the labels of a batch of rows, and where the votes on them go.

    Parameters
    ----------
    n_tasks
        The number of tasks.
    position
        The place of the current row; see `Batch`.
    assumed, truth, condition
        As for `Waiting`, but for all rows of the batch; empty where they are not known.
    votes
        Where the votes on all rows go.
    """

    def __init__(
        self, n_tasks: int, position: Ints, assumed: Labels, truth: Labels, condition: Labels, votes: Floats
    ) -> None:
        self._position = position
        self._labels = assumed, truth, condition
        self._votes = votes
        self._done = np.zeros(n_tasks, np.int64)

    def _first(self, heard: Heard) -> int:
        """Return the number of the first row that waits."""
        return int(self._position[ROW]) - int(heard.steps[0]) // 2

    def votes(self, heard: Heard) -> Floats:
        """Return where the votes on the rows that wait go."""
        return self._votes[self._first(heard) :]

    def arrays(self, heard: Heard, precision: npt.DTypeLike) -> Waiting:
        """Return the rows that wait as the kernel takes them, in the precision of the records."""
        first, count = self._first(heard), (int(heard.steps[0]) + 1) // 2
        unknown = np.full((count, max(labels.shape[1] for labels in self._labels)), UNKNOWN, np.int8)
        assumed, truth, condition = (known[first : first + count] if len(known) else unknown for known in self._labels)
        said = heard.said[:count]
        if said.dtype != precision:
            said = np.empty(said.shape, precision)
            narrow(heard.said[:count].reshape(-1), said.reshape(-1))
        return Waiting(said, assumed, truth, condition, self._done)

    def forget(self, heard: Heard) -> None:
        """Take note that all tasks have made all steps; a row without judgement stays."""
        if heard.steps[0] % 2 == 0:
            heard.steps[0] = 0
            self._done[:] = 0
