"""Sub-classifiers for pairs of labels: each learns one label given another."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.drift import DRIFT, WARNING
from marlene.kernels import ensemble_state as kernels
from marlene.kernels.pairs import sweep
from marlene.kernels.performance import COLUMNS, LANES
from marlene.learners._driver import Block, apart
from marlene.learners._ensemble import NO_PROBABILITIES, Ensemble
from marlene.learners._tasks import NONE, StreamTasks

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy.typing as npt

    from marlene.kernels.ensemble_state import Members
    from marlene.kernels.forest import Rows

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Labels = npt.NDArray[np.int8]
    Pair = tuple[Hashable, Hashable]

PRECISE_UP_TO = 100
"""So many target pairs have records of double precision; those of more take half the memory."""
WORTH_A_THREAD = 200_000
"""Records for which a thread of its own pays."""
NO_LABELS = np.zeros(0, np.int8)
NO_MEMBERS = np.zeros(0, np.int64)
NO_VOTES = np.zeros((0, 2, 2))
NO_RECORDS = np.zeros((0, COLUMNS, 0))


class PairEnsemble(Ensemble):
    """An ensemble whose tasks are ordered pairs (given label, label).

    Examples come twice: with the value 0 and with the value 1 of the given label as one more feature. Attributes beside
    those of an ensemble say how pairs vote.

    Attributes
    ----------
    both
        Whether they vote for both values of the given label, or only for the one that is assumed.
    own
        Whether only sub-classifiers trained on the pair itself vote on it.
    by_prediction
        Whether they are judged by what they say given the predicted value instead of the true one.
    columns
        The column of every label of every stream.
    """

    values = 2
    both = False
    own = False
    by_prediction = False

    def __init__(self, *arguments: Any, **settings: Any) -> None:  # noqa: ANN401 (those of an ensemble)
        super().__init__(*arguments, **settings)
        self.columns: dict[str | None, dict[Hashable, int]] = {None: {}}
        self._votes: Floats = np.zeros((0, 0, 2, 2))
        self._lists = NO_MEMBERS, NO_MEMBERS, NO_MEMBERS

    def add_pairs(self, stream: str | None, pairs: Sequence[Pair]) -> None:
        """Start a sub-classifier for each pair the stream has not had yet."""
        tasks = self.streams.setdefault(stream, StreamTasks(stream))
        new = [pair for pair in pairs if pair not in tasks.column]
        self.add_tasks(tasks, new, *self._columns(stream, new))

    def columns_of(self, tasks: StreamTasks) -> tuple[Ints, Ints]:
        """Return the columns of the labels of tasks, and of the labels these are given."""
        return self._columns(tasks.name, tasks.labels)

    def _columns(self, stream: str | None, pairs: Sequence[Any]) -> tuple[Ints, Ints]:
        column = self.columns[stream]
        label, given = (np.array([column[pair[side]] for pair in pairs], np.int64) for side in (1, 0))
        return label, given

    def could_have(self, tasks: StreamTasks, label: Hashable) -> bool:
        """Tell whether a sub-classifier of a stream can have learnt a pair."""
        column = self.columns[tasks.name]
        return isinstance(label, tuple) and len(label) == 2 and label[0] in column and label[1] in column

    def record_layout(self, n_tasks: int, capacity: int) -> tuple[tuple[int, int, int], type[np.floating[Any]]]:
        """Return shape and precision of the records; where a pair's own sub-classifiers vote alone, each has one."""
        if self.own:
            return super().record_layout(min(1, n_tasks), capacity)
        return (n_tasks, COLUMNS, capacity), np.float64 if n_tasks <= PRECISE_UP_TO else np.float32

    def reset_records(self, task: int) -> None:
        """Forget how anyone did on a pair."""
        if self.own:
            self.records[:, :, self.owners() == task] = 0
        else:
            super().reset_records(task)

    def _drop_records(self, gone: Ints) -> None:
        if self.own:
            self.records[:, :, np.isin(self.owners(), gone)] = 0
        else:
            super()._drop_records(gone)

    def judged(self, task: int | None = None) -> Floats:
        """Return weight, positive and negative predictive value (pairs, or one × 3 × members).

        Where a pair's own sub-classifiers vote alone, all pairs together have one row.
        """
        if not self.own or task is None:
            return super().judged(task)
        return np.where(self.owners() == task, super().judged(0), 0.0)

    def _own_members(self) -> tuple[Ints, Ints]:
        """Return pair by pair the sub-classifiers trained on it, and where those of each begin."""
        owner = self.owners()
        if self._lists[0] is not owner:
            known = np.flatnonzero(owner != NONE)
            counts = np.bincount(owner[known], minlength=len(self.target))
            by_task = known[np.argsort(owner[known], kind="stable")]
            self._lists = owner, by_task, np.concatenate([[0], np.cumsum(counts)])
        return self._lists[1:]

    def learn(self, tasks: StreamTasks, rows: Rows, truth: Labels, assumed: Labels, votes: Floats) -> None:
        """Learn rows one after the other; where labels are assumed, write what was said of each before it was learnt.

        `votes` has P(0) and P(1) for every row, task and value of the given label.
        """
        target = tasks.name is None
        self._votes = votes
        self.advance(tasks, Block(rows, truth, NO_PROBABILITIES, target, self.clock, assumed if target else None))

    def ask(self, rows: Rows, assumed: Labels, votes: Floats) -> None:
        """Write what is said of every row."""
        members, nothing = apart(self.members), StreamTasks(None).arrays()
        block = Block(rows, assumed[:0], NO_PROBABILITIES, True, 0, assumed)
        while self.driver.run(members, len(self.origins), NO_RECORDS, nothing, block) != kernels.DONE:
            self._sweep(members, assumed[block.row - 1], votes[block.row - 1], NO_LABELS, NO_LABELS)

    def _driven_records(self) -> Floats:
        return NO_RECORDS

    def _judge(self, block: Block) -> None:
        """Vote, unless that is done, and update the records; what was said before training is still known."""
        row = block.row - 1
        truth, assumed, votes = block.truth[row], NO_LABELS, NO_VOTES
        if len(block.assumed) and block.voted < row and len(self._votes):
            assumed, votes = block.assumed[row], self._votes[row]
        self._sweep(self.members, assumed, votes, truth, block.assumed[row] if self.by_prediction else truth)

    def _prepare_change(self, block: Block, tasks: StreamTasks, signals: npt.NDArray[np.uint8]) -> None:
        """Vote before some records are reset, or sums are taken in another order, for there are more lanes."""
        starting = int(((signals == WARNING) & (tasks.background == NONE)).sum()) - len(self.free)
        room = -len(self.origins) % LANES
        changing = bool((signals == DRIFT).any()) or starting > room
        if changing and len(block.assumed) and len(self._votes):
            block.voted = block.row
            self._sweep(self.members, block.assumed[block.row], self._votes[block.row], NO_LABELS, NO_LABELS)

    def _sweep(self, members: Members, assumed: Labels, votes: Floats, truth: Labels, condition: Labels) -> None:
        """Go through the records once; threads share the tasks out among them."""
        tasks, records, count = self.target, self.records, len(self.origins)
        before, after, active = (
            array.astype(records.dtype, copy=False)
            for array in (self.driver.before, np.stack([members.positive, members.negative]), members.active)
        )
        own, starts = self._own_members() if self.own else (NO_MEMBERS, NO_MEMBERS)
        voters = int(np.diff(starts).max(initial=0)) if self.own else count

        def part(first: int, last: int) -> None:
            sweep(
                records,
                tasks.label,
                tasks.given,
                first,
                last,
                before,
                assumed,
                self.both,
                votes,
                after,
                truth,
                condition,
                active,
                own,
                starts,
                voters,
            )

        parts = max(1, min(_cores(), len(tasks) * voters // WORTH_A_THREAD))
        if parts == 1:
            part(0, len(tasks))
        else:
            bounds = np.linspace(0, len(tasks), parts + 1).astype(int).tolist()
            list(_threads().map(part, bounds[:-1], bounds[1:]))

    @staticmethod
    def load_kernels() -> None:
        """Compile the kernels for records of either precision, or load them from the cache."""
        for real in (np.float64, np.float32):
            records, said = np.zeros((0, COLUMNS, LANES), real), np.zeros((2, 2, LANES), real)
            labels, tasks = NO_LABELS, NO_MEMBERS
            given = (said, labels, False, NO_VOTES, said, labels, labels, said[0, 0])
            sweep(records, tasks, tasks, 0, 0, *given, tasks, tasks, 0)


@cache
def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="marlene-pairs")
