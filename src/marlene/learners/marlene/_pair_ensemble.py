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
from marlene.kernels.ensemble.pairs import PairTasks, sweep
from marlene.kernels.ensemble.performance import COLUMNS, LANES
from marlene.learners.marlene._ensemble import NO_PROBABILITIES, NO_TASKS, Ensemble
from marlene.learners.marlene._pairs import contributions, with_given_label
from marlene.learners.marlene._tasks import NONE, StreamTasks
from marlene.learners.marlene._waiting import NO_LABELS, NO_VOTES, WaitingRows

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from marlene._common.arrays import Codes, Floats, Ints, Labels
    from marlene.drift import DetectorBank
    from marlene.kernels.ensemble.pairs import Waiting
    from marlene.kernels.ensemble.state import Batch
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._protocol import ClassifierBank
    from marlene.learners.marlene._roster import EnsembleSettings

    Pair = tuple[Hashable, Hashable]

BINARY = 2
PRECISE_UP_TO = 100
"""Up to this many target pairs have records of double precision; those of more take half the memory."""
WORTH_A_THREAD = 200_000
"""The number of records for which one more thread pays."""
NO_MEMBERS = np.zeros(0, np.int64)
NO_RECORDS = np.zeros((0, COLUMNS, 0))


class PairEnsemble(Ensemble):
    """An ensemble whose tasks are ordered pairs (given label, label).

    Examples come twice: with the value 0 and with the value 1 of the given label as one more feature.

    Parameters
    ----------
    bank, detectors, settings
        As for `Ensemble`.
    labels
        The ensemble of the same streams whose tasks are labels.
    both
        Whether pairs vote for both values of the given label, or only for the predicted one.
    own
        Whether only sub-classifiers trained on a pair vote on it.
    by_prediction
        Whether pairs are judged given the predicted value instead of the true one.
    """

    values = 2

    def __init__(
        self,
        bank: ClassifierBank,
        detectors: DetectorBank,
        settings: EnsembleSettings,
        labels: Ensemble,
        *,
        both: bool,
        own: bool,
        by_prediction: bool,
    ) -> None:
        super().__init__(bank, detectors, settings)
        self._labels = labels
        self.both = both
        self.own = own
        self.by_prediction = by_prediction
        self._waiting = WaitingRows(0, np.zeros(3, np.int64), NO_LABELS, NO_LABELS, NO_LABELS, NO_VOTES)
        self._lists = NO_MEMBERS, NO_MEMBERS, NO_MEMBERS

    def add_features(self, widened: Mapping[int, int], kinds: Sequence[int]) -> None:
        """Let nominal features have more values, and append features; the given label has a column of its own."""
        shifted = {c + (self.given is not None and c >= self.given): n for c, n in widened.items()}
        super().add_features(shifted, kinds)

    def feature_kinds(self, kinds: list[int]) -> list[int]:
        """Return the kinds of all features of the bank: those of the learner, and the given label."""
        return kinds if self.given is None else [*kinds[: self.given], BINARY, *kinds[self.given :]]

    def add_given_label(self) -> None:
        """Append the feature that holds the given label, once."""
        if self.given is None:
            self.given = self.classifiers.n_features
            self.classifiers.add_features([BINARY])

    def add_pairs(self, stream: str | None, pairs: Sequence[Pair]) -> None:
        """Start a sub-classifier for each pair that is new to the stream."""
        tasks = self.streams.setdefault(stream, StreamTasks(stream))
        new = [pair for pair in pairs if pair not in tasks.column]
        self.add_tasks(tasks, new, *self._columns(stream, new))

    def columns_of(self, tasks: StreamTasks) -> tuple[Ints, Ints]:
        """Return the columns of the tasks' labels, and of their given labels."""
        return self._columns(tasks.name, tasks.labels)

    def _columns(self, stream: str | None, pairs: Sequence[Any]) -> tuple[Ints, Ints]:
        column = self._labels.streams[stream].column
        label, given = (np.array([column[pair[side]] for pair in pairs], np.int64) for side in (1, 0))
        return label, given

    def could_have(self, tasks: StreamTasks, label: Hashable) -> bool:
        """Tell whether a sub-classifier of a stream can have learnt a pair."""
        column = self._labels.streams[tasks.name].column
        return isinstance(label, tuple) and len(label) == 2 and label[0] in column and label[1] in column

    def signal_drift(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        """Begin a new concept of all pairs that predict one of the labels."""
        tasks, drifted = self.streams.get(stream, NO_TASKS), set(labels)
        for task, pair in enumerate(tasks.labels):
            if pair[1] in drifted:  # type: ignore[index]
                self._begin_concept(tasks, task)

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

    def _own_members(self) -> tuple[Ints, Ints, int]:
        """Return the voters pair by pair, where those of each pair begin, and how many a pair has at most.

        Where all sub-classifiers vote, the lists are empty.
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

    def learn_pairs(self, tasks: StreamTasks, rows: Rows, truth: Labels, assumed: Labels, votes: Floats) -> None:
        """Learn rows one after the other; where labels are assumed, write the votes before each row is learnt.

        `votes` has P(0) and P(1) for every row, task and value of the given label.
        """
        batch = self._batch(self._both_forms(rows), truth, NO_PROBABILITIES, everyone=tasks.name is None)
        condition = assumed if self.by_prediction else truth
        with self._sweeping(batch, assumed if len(votes) else NO_LABELS, truth, condition, votes):
            self.advance(tasks, batch)

    def vote(self, rows: Rows, assumed: Labels, votes: Floats) -> None:
        """Write the votes on every row."""
        voters = self._voters(self._apart())
        batch = self._batch(self._both_forms(rows), NO_LABELS, NO_PROBABILITIES, everyone=True)._replace(clock=0)
        with self._sweeping(batch, assumed, NO_LABELS, NO_LABELS, votes):
            while self._advance(voters, NO_TASKS.arrays, batch) != kernels.DONE:
                self._sweep()

    def _both_forms(self, rows: Rows) -> Rows:
        return with_given_label(rows, self.given or 0)

    @contextmanager
    def _sweeping(
        self, batch: Batch, assumed: Labels, truth: Labels, condition: Labels, votes: Floats
    ) -> Iterator[None]:
        """Take votes given the assumed labels, and judge by the truth; leave no row waiting."""
        self._work.heard.steps[0] = 0  # a prediction that was interrupted may have left some
        self._waiting = WaitingRows(len(self.target), batch.position, assumed, truth, condition, votes)
        yield
        self._sweep()
        self._work.heard.steps[0] = 0

    def _kept_records(self) -> Floats:
        return NO_RECORDS

    def _judge(self, batch: Batch) -> None:  # noqa: ARG002
        self._sweep()

    def _prepare_change(self, tasks: StreamTasks, signals: Codes) -> None:
        """Sweep through the records that will be reset.

        The others can wait: it is known which members were there. All are swept where records are few, or where
        sub-classifiers may have to go.
        """
        if tasks.name is not None:
            return
        drifting = np.flatnonzero(signals == DRIFT).tolist()
        if self.own or (drifting and self.settings.max_models is not None):
            self._sweep()
        elif drifting:
            rows = self._waiting.arrays(self._work.heard, self.records.dtype)
            for task in drifting:
                self._sweep_part(rows, task, task + 1)

    def _sweep(self) -> None:
        """Vote on all rows that wait and judge them; threads share the tasks."""
        heard, n_tasks, (_, _, count) = self._work.heard, len(self.target), self._own_members()
        if heard.steps[0] == 0:
            return
        rows = self._waiting.arrays(heard, self.records.dtype)
        n_parts = max(1, min(_cores(), n_tasks * count // WORTH_A_THREAD))
        if n_parts == 1:
            self._sweep_part(rows, 0, n_tasks)
        else:
            bounds = np.linspace(0, n_tasks, n_parts + 1).astype(int).tolist()
            parts = [_threads().submit(self._sweep_part, rows, *part) for part in itertools.pairwise(bounds)]
            try:
                for one in parts:
                    one.result()
            finally:  # also when interrupted: no task may be swept by two threads
                wait(parts)
        self._waiting.forget(heard)

    def _sweep_part(self, rows: Waiting, first: int, last: int) -> None:
        """Vote on the rows that wait and judge them, for some tasks."""
        tasks = PairTasks(self.target.label, self.target.given, *self._own_members())
        heard = self._work.heard
        sweep(self.records, tasks, first, last, rows, int(heard.steps[0]), self.both, self._waiting.votes(heard))

    def load_kernels(self) -> None:
        """Compile the kernels for records of either precision, or load them from the cache."""
        super().load_kernels()
        tasks = PairTasks(NO_MEMBERS, NO_MEMBERS, NO_MEMBERS, NO_MEMBERS, 0)
        for real in (np.float64, np.float32):
            records = np.zeros((0, COLUMNS, LANES), real)
            sweep(records, tasks, 0, 0, self._waiting.arrays(self._work.heard, real), 0, False, NO_VOTES)
        contributions(np.zeros(0), np.zeros(0, np.int8), np.zeros((0, 2, 2)), NO_MEMBERS, False)


@cache
def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="marlene-pairs")
