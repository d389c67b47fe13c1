"""The machinery of MARLENE: sub-classifiers per task and concept, detectors, resampling, records."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.resources import zeros_on_demand
from marlene.drift import DRIFT, IN_CONTROL, WARNING
from marlene.kernels.ensemble import state as kernels
from marlene.kernels.ensemble.performance import COLUMNS, CORRECT, TN, TP, judge
from marlene.learners.marlene._driver import BankDriver, Block, ForestDriver, apart
from marlene.learners.marlene._members import (
    Origin,
    clear_member,
    empty_members,
    grown_members,
    member_key,
    whole_lanes,
)
from marlene.learners.marlene._tasks import NONE, StreamTasks
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from marlene._common.arrays import Codes, Floats, Ints, Labels
    from marlene.drift import DetectorBank
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._protocol import ClassifierBank


FIRST_CAPACITY = 8
MANY_MEMBERS = 1000
NO_PROBABILITIES = np.zeros((0, 0))


class Ensemble:
    """All sub-classifiers of all streams, and how well each serves every target task.

    Parameters
    ----------
    bank, detectors
        Empty banks of base classifiers and of drift detectors.
    seed
        What random numbers depend on.
    expected
        Whether the learning weight is the nearest whole number to its expected value instead of drawn.
    max_models
        How many sub-classifiers vote at most; None for no limit.
    transfer
        Whether a target task is predicted by all sub-classifiers; if not, by its own latest alone.
    """

    values = 1
    """How many values of a given label an example is voted on with."""

    def __init__(
        self,
        bank: ClassifierBank,
        detectors: DetectorBank,
        *,
        seed: int,
        expected: bool,
        max_models: int | None,
        transfer: bool,
    ) -> None:
        self._expected = expected
        self.adopt(bank, detectors)
        self.seed = seed
        self.max_models = max_models
        self.transfer = transfer
        self.streams: dict[str | None, StreamTasks] = {None: StreamTasks(None)}
        self.origins: list[Origin | None] = []
        self.members = empty_members(FIRST_CAPACITY, self.values)
        self.records: Floats = np.zeros((0, COLUMNS, FIRST_CAPACITY))
        self.clock = 0
        self.free: list[int] = []

    def adopt(self, bank: ClassifierBank, detectors: DetectorBank) -> None:
        """Work with these banks from now on."""
        self.bank = bank
        self.detectors = detectors
        self._owner: Ints | None = None
        self.driver = (
            ForestDriver(bank, detectors, self._expected)
            if isinstance(bank, HoeffdingForest)
            else BankDriver(bank, self._expected)
        )

    @property
    def target(self) -> StreamTasks:
        """The tasks of the target stream."""
        return self.streams[None]

    @property
    def active(self) -> Ints:
        """The members that vote."""
        return np.flatnonzero(self.members.active > 0)

    def owners(self) -> Ints:
        """Return the target task each member was trained on, -1 if none; kept until members or tasks change."""
        if self._owner is None:
            self._owner = np.full(len(self.members.classifier), NONE)
            for h, origin in enumerate(self.origins):
                if origin is not None and origin.stream is None:
                    self._owner[h] = self.target.column.get(origin.label, NONE)
        return self._owner

    def judged(self, task: int | None = None) -> Floats:
        """Return weight, positive and negative predictive value (target tasks, or one × 3 × members)."""
        records = self.records if task is None else self.records[task : task + 1]
        found = np.zeros((len(records), 3, records.shape[2]))
        judge(records, found)
        return found

    def add_features(self, kinds: list[int | str]) -> None:
        """Append features."""
        if kinds:
            (self.driver if isinstance(self.driver, BankDriver) else self.bank).add_features(kinds)

    def add_labels(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        """Start a sub-classifier and a detector for each label the stream has not had yet."""
        tasks = self.streams.setdefault(stream, StreamTasks(stream))
        new = [label for label in labels if label not in tasks.column]
        self.add_tasks(tasks, new, np.arange(len(tasks), len(tasks) + len(new)), np.full(len(new), NONE))

    def add_tasks(self, tasks: StreamTasks, labels: Sequence[Hashable], columns: Ints, given: Ints) -> None:
        """Start a sub-classifier and a detector for each of some tasks: a column of labels, perhaps given another."""
        if not labels:
            return
        first = len(tasks)
        tasks.extend(labels, self.detectors.add(len(labels)), columns, given)
        self._make_room(len(self.origins) + len(labels))
        for task in range(first, len(tasks)):
            tasks.latest[task] = self._new_member(tasks, task, active=True)
            tasks.concepts[task] = 1
            self._own_vote_only(tasks, task)
        self._keep_within_limit()

    def _make_room(self, members: int) -> None:
        """Let the arrays have room for as many members, and the records for all target tasks."""
        capacity = len(self.members.classifier)
        if capacity < members:
            # Records are tasks × members, and while they are moved there are two of them. Room takes no memory until
            # it is used, so that there is enough of it not to move many often.
            more = members if members < MANY_MEMBERS else members // 2
            capacity = whole_lanes(members + more)
        if capacity > len(self.members.classifier):
            self.members = grown_members(self.members, capacity)
        before, (wanted, precision) = self.records.shape, self.record_layout(len(self.target), capacity)
        if wanted != before:
            records = zeros_on_demand(wanted, precision)
            records[: before[0], :, : before[2]] = self.records
            self.records = records

    def record_layout(self, n_tasks: int, capacity: int) -> tuple[tuple[int, int, int], type[np.floating[Any]]]:
        """Return shape and precision of the records of so many target tasks and members."""
        return (n_tasks, COLUMNS, capacity), np.float64

    def reset_records(self, task: int) -> None:
        """Forget how anyone did on a target task."""
        self.records[task] = 0

    def _drop_records(self, gone: Ints) -> None:
        """Remove the records of target tasks."""
        self.records = np.delete(self.records, gone, axis=0)

    def columns_of(self, tasks: StreamTasks) -> tuple[Ints, Ints]:
        """Return the columns of the labels of tasks, and of the labels these are given."""
        return np.arange(len(tasks)), np.full(len(tasks), NONE)

    def could_have(self, tasks: StreamTasks, label: Hashable) -> bool:
        """Tell whether a sub-classifier of a stream can have learnt a label."""
        return label in tasks.column

    def drop_tasks(self, tasks: StreamTasks, gone: Ints) -> None:
        """Stop learning tasks; their sub-classifiers stay as those of concepts that ended do."""
        for task in gone.tolist():
            self._drop_background(tasks, task)
            self._retire(int(tasks.latest[task]))
        self.detectors.remove(tasks.detector[gone])
        if tasks.name is None:
            self._drop_records(gone)
        tasks.remove(gone)
        self._owner = None

    def run(self, tasks: StreamTasks, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        """Learn rows one after the other; before each, write P(label) of the target tasks if there is room for it.

        The driver goes on until a task changes: until a background classifier starts, is dropped or takes over.
        """
        target = tasks.name is None
        everyone = target and self.transfer
        self.advance(tasks, Block(rows, truth, probabilities if target else NO_PROBABILITIES, everyone, self.clock))

    def advance(self, tasks: StreamTasks, block: Block) -> None:
        """Take a block to its end."""
        arrays, seen = tasks.arrays(), tasks.seen
        try:
            while True:
                status = self.driver.run(self.members, len(self.origins), self._driven_records(), arrays, block)
                tasks.seen = seen + block.row
                if status == kernels.DONE:
                    break
                if status == kernels.JUDGE:
                    self._judge(block)
                    continue
                if status == kernels.ASK_DETECTORS:
                    self._watch(tasks, arrays.signal, block.truth[block.row])
                    block.position[kernels.PHASE] = kernels.LEARN
                self._change(tasks, arrays.signal, block)
        finally:  # interrupted, too, no two examples have the same number
            self.clock += min(len(block.truth), block.row + 1)

    def _change(self, tasks: StreamTasks, signals: Codes, block: Block) -> None:
        """Do what the detectors' answers ask for beside training."""
        alarmed = (signals == DRIFT) | ((signals == WARNING) & (tasks.background == NONE))
        changing = np.flatnonzero(alarmed | ((signals == IN_CONTROL) & (tasks.background != NONE))).tolist()
        if changing:
            self._prepare_change(block, tasks, signals)
        for task in changing:
            self._react(tasks, task, int(signals[task]))

    def _driven_records(self) -> Floats:
        """Return the records the driver keeps."""
        return self.records

    def _judge(self, block: Block) -> None:
        """Update records that the driver does not keep, after a row."""

    def _prepare_change(self, block: Block, tasks: StreamTasks, signals: Codes) -> None:
        """Do what has to be done with records before some of them are reset."""

    def predict(self, rows: Rows, probabilities: Floats) -> None:
        """Write P(label) of the target tasks for every row."""
        block = Block(rows, np.zeros((0, 0), np.int8), probabilities, True, 0)
        self.driver.run(apart(self.members), len(self.origins), self.records, StreamTasks(None).arrays(), block)

    def _watch(self, tasks: StreamTasks, signals: Codes, truth: Labels) -> None:
        """Tell the detectors how the latest sub-classifiers did, and write down what they say."""
        known = np.flatnonzero((truth[tasks.label] >= 0) & ((tasks.given == NONE) | (truth[tasks.given] >= 0)))
        values = np.where(tasks.given[known] == NONE, 0, truth[tasks.given[known]])
        latest = tasks.latest[known]
        positive = self.members.positive[values, latest] > self.members.negative[values, latest]
        expected = truth[tasks.label[known]]
        signals[:] = kernels.UNSEEN
        signals[known] = self.detectors.update(tasks.detector[known], positive == expected, expected)

    def _react(self, tasks: StreamTasks, task: int, signal: int) -> None:
        if signal == WARNING:
            self._start_background(tasks, task)
        elif signal == DRIFT:
            self.change_concept(tasks, task)
        elif signal == IN_CONTROL:
            self._drop_background(tasks, task)

    def _drop_background(self, tasks: StreamTasks, task: int) -> None:
        if tasks.background[task] != NONE:
            self._drop_member(int(tasks.background[task]))
            tasks.background[task] = NONE

    def signal_drift(self, tasks: StreamTasks, task: int) -> None:
        """Begin a new concept with an empty sub-classifier; a background classifier belonged to the one that ended."""
        self._drop_background(tasks, task)
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
        """Without transfer, the latest sub-classifier of a target task has all the weight, taken at its word."""
        if not self.transfer and tasks.name is None:
            self.reset_records(task)
            self.records[task, [TP, TN, CORRECT], tasks.latest[task]] = 1

    def _keep_within_limit(self) -> None:
        """Drop the sub-classifiers of least total weight, but none that is the latest of its task."""
        if self.max_models is not None:
            self.keep_at_most(self.max_models)

    def keep_at_most(self, limit: int) -> None:
        """Drop the sub-classifiers of least total weight beyond a limit, but none that is the latest of its task."""
        excess = len(self.active) - limit
        if excess <= 0:
            return
        weights = self.judged()[:, 0].sum(axis=0)
        droppable = [h for h in self.active.tolist() if not self.members.learns[h]]
        for h in sorted(droppable, key=lambda h: weights[h])[:excess]:
            self._drop_member(h)

    def weights(self, task: int) -> Floats:
        """Return the weight of every member's vote on a target task."""
        alpha: Floats = self.judged(task)[0, 0]
        return alpha

    def explain(self, task: int) -> list[dict[str, Any]]:
        """Return which sub-classifiers carry the vote on a target task, the heaviest first."""
        weights, (_, ppv, npv) = self.weights(task), self.judged(task)[0]
        active = self.active
        total = weights[active].sum()
        rows = []
        for h in sorted(active.tolist(), key=lambda h: -weights[h]):
            origin = self.origins[h]
            if origin is not None:
                rows.append(
                    {
                        "stream": origin.stream,
                        "label": origin.label,
                        "concept": origin.number,
                        "weight": float(weights[h]),
                        "share": float(weights[h] / total) if total > 0 else 0.0,
                        "ppv": float(ppv[h]),
                        "npv": float(npv[h]),
                    }
                )
        return rows

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
        self.members.classifier[h] = self.bank.add()[0]
        self.members.key[h] = member_key(self.seed, tasks.name, label, int(tasks.made[task]))
        tasks.made[task] += 1
        self.members.active[h] = active
        self.members.learns[h] = True
        return h

    def _retire(self, h: int) -> None:
        """Let a sub-classifier learn no more."""
        self.members.learns[h] = False
        self.driver.freeze(int(self.members.classifier[h]))

    def _drop_member(self, h: int) -> None:
        self._owner = None
        self.driver.thaw(int(self.members.classifier[h]))
        self.bank.remove([self.members.classifier[h]])
        clear_member(self.members, h)
        self.records[:, :, h] = 0
        self.origins[h] = None
        heapq.heappush(self.free, h)
