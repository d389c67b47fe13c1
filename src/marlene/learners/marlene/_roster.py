"""Who is in an ensemble: sub-classifiers per task and concept, with their detectors and records."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.resources import zeros_on_demand
from marlene.kernels.ensemble.performance import COLUMNS, CORRECT, TN, TP, judge
from marlene.learners.classifiers._classifiers import make_classifiers
from marlene.learners.marlene._members import (
    Origin,
    clear_member,
    empty_members,
    grown_members,
    member_key,
    whole_lanes,
)
from marlene.learners.marlene._tasks import NONE, StreamTasks

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Floats, Ints
    from marlene.drift import DetectorBank
    from marlene.kernels.ensemble.state import Watch
    from marlene.learners.classifiers._protocol import ClassifierBank

FIRST_CAPACITY = 8
MANY_MEMBERS = 1000


@dataclass(frozen=True)
class EnsembleSettings:
    """What all ensembles of a learner share.

    Parameters
    ----------
    seed
        The seed of the random numbers.
    expected
        Whether the learning weight is the nearest whole number to its expected value instead of drawn.
    max_models
        How many sub-classifiers vote at most; None for no limit.
    proving
        Whether one that learns no more votes on a task only while it has more weight than the task's latest.
    """

    seed: int
    expected: bool
    max_models: int | None
    proving: bool = False


class Roster:
    """The sub-classifiers of all streams, the tasks they learn, and their performance records.

    Parameters
    ----------
    bank, detectors
        Empty banks of base classifiers and of drift detectors.
    settings
        What all ensembles of a learner share.
    transfer
        Whether a target task is predicted by all sub-classifiers; if not, by its own latest alone.
    """

    values = 1
    """How many values the given label of an example can have."""
    given: int | None = None
    """The feature that holds the given label, if there is one."""

    def __init__(
        self, bank: ClassifierBank, detectors: DetectorBank, settings: EnsembleSettings, transfer: bool = True
    ) -> None:
        self.classifiers = make_classifiers(bank)
        self.settings = settings
        self.transfer = transfer
        self.streams: dict[str | None, StreamTasks] = {None: StreamTasks(None)}
        self.origins: list[Origin | None] = []
        self.members = empty_members(FIRST_CAPACITY, self.values)
        self.records: Floats = np.zeros((0, COLUMNS, FIRST_CAPACITY))
        self.clock = 0
        self.free: list[int] = []
        self.adopt(detectors)

    def adopt(self, detectors: DetectorBank) -> None:
        """Work with these detectors from now on."""
        self.detectors = detectors
        self._forget_derived()

    def _forget_derived(self) -> None:
        """Forget what follows from members, tasks and detectors, which have changed."""
        self._owner: Ints | None = None
        self._watch: Watch | None = None

    @property
    def bank(self) -> Any:  # noqa: ANN401 (a `ClassifierBank`)
        """The bank of base classifiers."""
        return self.classifiers.bank

    @property
    def target(self) -> StreamTasks:
        """The tasks of the target stream."""
        return self.streams[None]

    @property
    def active(self) -> Ints:
        """The members that vote."""
        return np.flatnonzero(self.members.active > 0)

    def judged(self, task: int | None = None) -> Floats:
        """Return weight, positive and negative predictive value (all target tasks, or one × 3 × members)."""
        records = self.records if task is None else self.records[task : task + 1]
        found = np.zeros((len(records), 3, records.shape[2]))
        judge(records, found)
        return found

    def add_features(self, widened: Mapping[int, int], kinds: Sequence[int]) -> None:
        """Let nominal features have more values, and append features."""
        for column, n_values in widened.items():
            self.classifiers.widen(column, n_values)
        if kinds:
            self.classifiers.add_features(kinds)

    def feature_kinds(self, kinds: list[int]) -> list[int]:
        """Return the kinds of all features of the bank, given those of the learner."""
        return kinds

    def add_labels(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        """Start a sub-classifier and a detector for each label that is new to the stream."""
        tasks = self.streams.setdefault(stream, StreamTasks(stream))
        new = [label for label in labels if label not in tasks.column]
        self.add_tasks(tasks, new, np.arange(len(tasks), len(tasks) + len(new)), np.full(len(new), NONE))

    def add_tasks(self, tasks: StreamTasks, labels: Sequence[Hashable], columns: Ints, given: Ints) -> None:
        """Start a sub-classifier and a detector for each new task: a column of labels, perhaps given another."""
        if not labels:
            return
        first = len(tasks)
        tasks.extend(labels, self.detectors.add(len(labels)), columns, given)
        self._forget_derived()
        self._make_room(len(self.origins) + len(labels))
        for task in range(first, len(tasks)):
            tasks.latest[task] = self._new_member(tasks, task, active=True)
            tasks.concepts[task] = 1
            self._own_vote_only(tasks, task)
        self._keep_within_limit()

    def _make_room(self, members: int) -> None:
        """Let the arrays have room for this many members, and the records for all target tasks."""
        capacity = len(self.members.classifier)
        if capacity < members:
            # Records are tasks × members, and exist twice while they are moved. Spare room takes no memory until it is
            # used, so that there is enough of it to move seldom.
            more = members if members < MANY_MEMBERS else members // 2
            capacity = whole_lanes(members + more)
            self.members = grown_members(self.members, capacity)
        before, (wanted, precision) = self.records.shape, self.record_layout(len(self.target), capacity)
        if wanted != before:
            records = zeros_on_demand(wanted, precision)
            records[: before[0], :, : before[2]] = self.records
            self.records = records

    def record_layout(self, n_tasks: int, capacity: int) -> tuple[tuple[int, int, int], type[np.floating[Any]]]:
        """Return shape and precision of the records of this many target tasks and members."""
        return (n_tasks, COLUMNS, capacity), np.float64

    def reset_records(self, task: int) -> None:
        """Forget how well anyone served a target task."""
        self.records[task] = 0

    def _drop_records(self, gone: Ints) -> None:
        """Remove the records of target tasks."""
        self.records = np.delete(self.records, gone, axis=0)

    def columns_of(self, tasks: StreamTasks) -> tuple[Ints, Ints]:
        """Return the columns of the tasks' labels, and of their given labels."""
        return np.arange(len(tasks)), np.full(len(tasks), NONE)

    def could_have(self, tasks: StreamTasks, label: Hashable) -> bool:
        """Tell whether a sub-classifier of a stream can have learnt a label."""
        return label in tasks.column

    def drop_tasks(self, tasks: StreamTasks, gone: Ints) -> None:
        """Stop learning tasks; their sub-classifiers stay, as those of ended concepts do."""
        for task in gone.tolist():
            self._drop_background(tasks, task)
            self._retire(int(tasks.latest[task]))
        self.detectors.remove(tasks.detector[gone])
        if tasks.name is None:
            self._drop_records(gone)
        tasks.remove(gone)
        self._forget_derived()

    def _drop_background(self, tasks: StreamTasks, task: int) -> None:
        if tasks.background[task] != NONE:
            self._drop_member(int(tasks.background[task]))
            tasks.background[task] = NONE

    def signal_drift(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        """Begin a new concept of labels, each with an empty sub-classifier."""
        tasks = self.streams[stream]
        for label in labels:
            self._begin_concept(tasks, tasks.column[label])

    def _begin_concept(self, tasks: StreamTasks, task: int) -> None:
        self._drop_background(tasks, task)  # it learnt the concept that ended
        self.change_concept(tasks, task)

    def _start_background(self, tasks: StreamTasks, task: int) -> None:
        if tasks.background[task] == NONE:
            tasks.background[task] = self._new_member(tasks, task, active=False)

    def change_concept(self, tasks: StreamTasks, task: int) -> None:
        """Let the background classifier, or a new one, take over a task; for the target, reset the task's records."""
        self._start_background(tasks, task)
        previous, latest = int(tasks.latest[task]), int(tasks.background[task])
        self.members.active[latest] = 1
        self._retire(previous)
        tasks.latest[task] = latest
        tasks.background[task] = NONE
        tasks.concepts[task] += 1
        tasks.drifts.append((tasks.seen, task))
        self.detectors.reset([tasks.detector[task]])
        if tasks.name is None:
            self.reset_records(task)
        if self.transfer:
            self._keep_within_limit()
        else:
            self._drop_member(previous)
            self._own_vote_only(tasks, task)

    def _own_vote_only(self, tasks: StreamTasks, task: int) -> None:
        """Without transfer, let the latest sub-classifier of a target task have all the weight, uncorrected."""
        if not self.transfer and tasks.name is None:
            self.reset_records(task)
            self.records[task, [TP, TN, CORRECT], tasks.latest[task]] = 1

    def _keep_within_limit(self) -> None:
        if self.settings.max_models is not None:
            self.keep_at_most(self.settings.max_models)

    def keep_at_most(self, limit: int) -> None:
        """Drop the sub-classifiers of least total weight beyond a limit, but none that still learns."""
        excess = len(self.active) - limit
        if excess <= 0:
            return
        weights = self.judged()[:, 0].sum(axis=0)
        droppable = [h for h in self.active.tolist() if not self.members.learns[h]]
        for h in sorted(droppable, key=lambda h: weights[h])[:excess]:
            self._drop_member(h)

    def load_kernels(self) -> None:
        """Compile the kernels that a few examples would not call, or load them from the cache."""
        self.classifiers.load_advance_kernels()

    def _new_member(self, tasks: StreamTasks, task: int, active: bool) -> int:
        self._owner = None
        label = tasks.labels[task]
        if self.free:
            h = heapq.heappop(self.free)
        else:
            h = len(self.origins)
            self._make_room(h + 1)
            self.origins.append(None)
        self.origins[h] = Origin(tasks.name, label, int(tasks.concepts[task]))
        self.members.classifier[h] = self.classifiers.add()[0]
        self.members.key[h] = member_key(self.settings.seed, tasks.name, label, int(tasks.made[task]))
        tasks.made[task] += 1
        self.members.active[h] = active
        self.members.learns[h] = True
        return h

    def _retire(self, h: int) -> None:
        """Let a sub-classifier learn no more."""
        self.members.learns[h] = False
        self.members.proving[h] = self.settings.proving
        self.classifiers.freeze(int(self.members.classifier[h]))

    def _drop_member(self, h: int) -> None:
        self._owner = None
        self.classifiers.thaw(int(self.members.classifier[h]))
        self.classifiers.remove(self.members.classifier[h : h + 1].copy())
        clear_member(self.members, h)
        self.records[:, :, h] = 0
        self.origins[h] = None
        heapq.heappush(self.free, h)
