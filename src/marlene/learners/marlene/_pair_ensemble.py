"""Sub-classifiers for pairs of labels: each learns one label given another."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.drift import DRIFT
from marlene.kernels.ensemble import state as kernels
from marlene.kernels.ensemble.pairs import sweep
from marlene.kernels.ensemble.performance import COLUMNS, LANES
from marlene.learners.marlene._driver import Block, apart
from marlene.learners.marlene._ensemble import NO_PROBABILITIES, Ensemble
from marlene.learners.marlene._tasks import NONE, StreamTasks
from marlene.learners.marlene._waiting import WaitingRows

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from marlene._common.arrays import Codes, Floats, Ints, Labels
    from marlene.kernels.rows import Rows

    Pair = tuple[Hashable, Hashable]

PRECISE_UP_TO = 100
"""So many target pairs have records of double precision; those of more take half the memory."""
WORTH_A_THREAD = 200_000
"""Records for which a thread of its own pays."""
NO_LABELS = np.zeros(0, np.int8)
NO_MEMBERS = np.zeros(0, np.int64)
NO_VOTES = np.zeros((0, 0, 2, 2))
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
        self._votes: Floats = NO_VOTES
        self._waiting = WaitingRows()
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

    def _voters(self) -> tuple[Ints, Ints, int]:
        """Return pair by pair its own sub-classifiers, where those of each begin, and how many there are at most.

        Where all sub-classifiers vote there are no such lists.
        """
        if not self.own:
            return NO_MEMBERS, NO_MEMBERS, len(self.origins)
        owner = self.owners()
        if self._lists[0] is not owner:
            known = np.flatnonzero(owner != NONE)
            counts = np.bincount(owner[known], minlength=len(self.target))
            by_task = known[np.argsort(owner[known], kind="stable")]
            self._lists = owner, by_task, np.concatenate([[0], np.cumsum(counts)])
        _, by_task, starts = self._lists
        return by_task, starts, int(np.diff(starts).max(initial=0))

    def learn(self, tasks: StreamTasks, rows: Rows, truth: Labels, assumed: Labels, votes: Floats) -> None:
        """Learn rows one after the other; where labels are assumed, write what was said of each before it was learnt.

        `votes` has P(0) and P(1) for every row, task and value of the given label.
        """
        target = tasks.name is None
        block = Block(rows, truth, NO_PROBABILITIES, target, self.clock, assumed if target else None)
        with self._sweeping(votes):
            self.advance(tasks, block)

    def ask(self, rows: Rows, assumed: Labels, votes: Floats) -> None:
        """Write what is said of every row."""
        members, nothing = apart(self.members), StreamTasks(None).arrays()
        block = Block(rows, assumed[:0], NO_PROBABILITIES, True, 0, assumed)
        with self._sweeping(votes):
            while self.driver.run(members, len(self.origins), NO_RECORDS, nothing, block) != kernels.DONE:
                self._note_vote(block, block.row - 1)
                self._waiting.note_nothing_learnt()
                self._sweep_if_full()

    @contextmanager
    def _sweeping(self, votes: Floats) -> Iterator[None]:
        """Let votes go there, and let no row wait afterwards: interrupted, too, those that wait are accounted for."""
        self._votes = votes
        try:
            yield
        finally:
            self._sweep()
            self._waiting.clear()
            self._votes = NO_VOTES

    def _driven_records(self) -> Floats:
        return NO_RECORDS

    def _judge(self, block: Block) -> None:
        """Let a row wait, of which it is known what was said before and after training."""
        row = block.row - 1
        self._note_vote(block, row)
        condition = block.assumed[row] if self.by_prediction else block.truth[row]
        self._waiting.note_judgement(self.members, len(self.origins), block.truth[row], condition)
        self._sweep_if_full()

    def _note_vote(self, block: Block, row: int) -> None:
        """Note what was said of a row before training, if that is not done."""
        self._waiting.make_room(len(self.columns[None]), len(self.target), self.records)
        if not self._waiting.voted:
            wanted = len(block.assumed) > 0 and len(self._votes) > 0
            assumed = block.assumed[row] if wanted else NO_LABELS
            self._waiting.note_vote(row, self.driver.before, len(self.origins), assumed)

    def _prepare_change(self, block: Block, tasks: StreamTasks, signals: Codes) -> None:
        """Sweep through the records that will be reset.

        For others it is too early: members come and go that have no records yet, and it is known who was there. Only
        where records are few, or sub-classifiers may have to go, all are swept.
        """
        if tasks.name is not None:
            return
        self._note_vote(block, block.row)
        drifting = np.flatnonzero(signals == DRIFT).tolist()
        if self.own or (drifting and self.max_models is not None):
            self._sweep()
        else:
            for task in drifting:
                self._sweep_part(task, task + 1)

    def _sweep_if_full(self) -> None:
        if self._waiting.full:
            self._sweep()

    def _sweep(self) -> None:
        """Let all rows that wait be voted on and judged; threads share the tasks out among them."""
        if self._waiting.steps == 0:
            return
        n_tasks, (_, _, count) = len(self.target), self._voters()
        n_parts = max(1, min(_cores(), n_tasks * count // WORTH_A_THREAD))
        if n_parts == 1:
            self._sweep_part(0, n_tasks)
        else:
            bounds = np.linspace(0, n_tasks, n_parts + 1).astype(int).tolist()
            parts = [_threads().submit(self._sweep_part, *bounds_of) for bounds_of in itertools.pairwise(bounds)]
            try:
                for one in parts:
                    one.result()
            finally:  # interrupted, too, no task is swept by two threads
                wait(parts)
        self._waiting.swept()

    def _sweep_part(self, first: int, last: int) -> None:
        """Let the rows that wait be voted on and judged for some tasks."""
        tasks, waiting = self.target, self._waiting
        sweep(
            self.records,
            tasks.label,
            tasks.given,
            first,
            last,
            waiting.arrays,
            waiting.done,
            waiting.steps,
            self.both,
            self._votes[waiting.first_row :],
            *self._voters(),
        )

    @staticmethod
    def load_kernels() -> None:
        """Compile the kernels for records of either precision, or load them from the cache."""
        tasks = NO_MEMBERS
        for real in (np.float64, np.float32):
            waiting, records = WaitingRows(), np.zeros((0, COLUMNS, LANES), real)
            waiting.make_room(1, 0, records)
            sweep(records, tasks, tasks, 0, 0, waiting.arrays, waiting.done, 0, False, NO_VOTES, tasks, tasks, 0)


@cache
def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="marlene-pairs")
