"""How an ensemble makes its base classifiers vote and learn: in one kernel for the forest, call by call for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.drift import DDMOCIBank, NoneBank, OracleBank
from marlene.kernels.ensemble import state as kernels
from marlene.kernels.ensemble.over_forest import run
from marlene.kernels.ensemble.performance import predict_tasks, update_tasks
from marlene.learners.input._rows import dense_row
from marlene.learners.marlene._freezer import Freezer
from marlene.learners.marlene._members import SAID

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.drift import DetectorBank
    from marlene.kernels.ensemble.state import Jobs, Members, Tasks, Work
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._protocol import ClassifierBank
    from marlene.trees import HoeffdingForest


NO_DETECTORS = DDMOCIBank()


class Block:
    """Rows on their way through an ensemble.

    Parameters
    ----------
    rows, truth
        Examples and their labels; without labels the rows are only voted on.
    probabilities
        Where P(label) of every target task goes, before a row is learnt; no columns: nowhere.
    everyone
        Whether all sub-classifiers vote and are judged, or the latest of each task votes alone.
    clock
        The number of the first row's example.
    assumed
        Of pairs of labels: what is assumed of the given ones where they vote.
    """

    def __init__(
        self,
        rows: Rows,
        truth: Labels,
        probabilities: Floats,
        everyone: bool,
        clock: int,
        assumed: Labels | None = None,
    ) -> None:
        self.rows = rows
        self.truth = truth
        self.probabilities = probabilities
        self.everyone = everyone
        self.clock = clock
        self.assumed = truth[:0] if assumed is None else assumed
        self.position = np.zeros(3, np.int64)

    @property
    def row(self) -> int:
        """The row at hand."""
        return int(self.position[kernels.ROW])


class Driver:
    """What both drivers have: room for the work on a row."""

    def __init__(self, expected: bool) -> None:
        self._expected = expected
        self._sizes: tuple[int, ...] = (0, 0, 0, 1)
        self._work = _new_work(*self._sizes)

    @property
    def before(self) -> Floats:
        """Votes for and against of members that know a given label, before training (2 × values × members)."""
        return self._work.before

    @property
    def learnt(self) -> Jobs:
        """What was learnt from the last row."""
        count = self._work.position[kernels.JOBS]
        return kernels.Jobs(*(array[:count] for array in self._work.jobs))

    def freeze(self, tree: int) -> None:
        """Take note that a classifier learns no more: it votes as it did."""

    def thaw(self, tree: int) -> None:
        """Forget a classifier that is about to be removed."""

    def load_kernels(self) -> None:
        """Compile the kernels that rows do not need at once, or load them from the cache."""

    def _prepare(self, members: Members, n_tasks: int, n_features: int, block: Block) -> Work:
        wanted = (len(members.classifier), n_tasks, n_features, len(members.positive))
        sizes = tuple(map(max, wanted, self._sizes))
        if sizes != self._sizes:
            self._sizes, self._work = sizes, _new_work(*sizes)
        self._work = self._work._replace(position=block.position)
        return self._work


def _new_work(capacity: int, n_tasks: int, n_features: int, values: int) -> Work:
    jobs = kernels.Jobs(*(np.zeros(2 * n_tasks, np.int64) for _ in range(4)))
    return kernels.Work(
        position=np.zeros(3, np.int64),
        jobs=jobs,
        queue=np.zeros(max(capacity, 2 * n_tasks), np.int64),
        before=np.zeros((2, values, capacity if values > 1 else 0)),
        scratch=np.zeros((3, capacity)),
        dense=np.zeros(n_features),
        shortage=np.zeros(3, np.int64),
    )


class ForestDriver(Driver):
    """Hoeffding trees: one kernel call for as many rows as it goes without a task that changes."""

    def __init__(self, forest: HoeffdingForest, detectors: DetectorBank, expected: bool) -> None:
        super().__init__(expected)
        self._forest = forest
        self._detectors = detectors
        self._freezer = Freezer(forest)

    def freeze(self, tree: int) -> None:
        """Take note that a tree learns no more."""
        self._freezer.freeze(tree)

    def thaw(self, tree: int) -> None:
        """Forget a tree that is about to be removed."""
        self._freezer.thaw(tree)

    def load_kernels(self) -> None:
        """Compile the kernels that rows do not need at once, or load them from the cache."""
        tree = self._forest.add()
        self._freezer.load_kernels(int(tree[0]))
        self._forest.remove(tree)

    def run(self, members: Members, count: int, records: Floats, tasks: Tasks, block: Block) -> int:
        """Go on with a block; return `DONE`, `ASK_DETECTORS`, `REACT` or `JUDGE`."""
        forest = self._forest
        work = self._prepare(members, len(tasks.latest), len(forest.arrays.kind), block)
        bank, watching = watchers(self._detectors)
        while True:
            status = run(
                forest.arrays,
                forest.parameters,
                members,
                count,
                records,
                tasks,
                block.rows,
                block.truth,
                block.everyone,
                block.probabilities,
                bank.arrays,
                bank.parameters,
                watching,
                self._expected,
                block.clock,
                work,
                self._freezer.arrays(),
            )
            if status != kernels.GROW:
                return int(status)
            forest.grow(*work.shortage.tolist())


def watchers(detectors: DetectorBank) -> tuple[DDMOCIBank, int]:
    """Return the detectors a kernel asks itself, and who watches: those, nobody, or others that the caller asks."""
    if isinstance(detectors, DDMOCIBank):
        return detectors, kernels.WATCHED
    silent = isinstance(detectors, OracleBank) and not detectors.arrays.announced.any()
    return NO_DETECTORS, kernels.UNWATCHED if silent or isinstance(detectors, NoneBank) else kernels.ASKED


class BankDriver(Driver):
    """The same for base classifiers of any other sort."""

    def __init__(self, bank: ClassifierBank, expected: bool) -> None:
        super().__init__(expected)
        self._bank = bank
        self._n_features = len(getattr(bank, "kinds", ()))  # of a bank that was saved

    def add_features(self, kinds: list[int | str]) -> None:
        """Append features."""
        self._bank.add_features(kinds)
        self._n_features += len(kinds)

    def run(self, members: Members, count: int, records: Floats, tasks: Tasks, block: Block) -> int:
        """Go on with a block; return `DONE`, `ASK_DETECTORS` or `JUDGE`."""
        work = self._prepare(members, len(tasks.latest), 0, block)
        n_rows = (len(block.rows.starts) - 1) // len(members.positive)
        while block.row < n_rows:
            if block.position[kernels.PHASE] == kernels.VOTE:
                voters = np.flatnonzero(members.active > 0) if block.everyone else tasks.latest
                self._ask(members, block, voters)
                if block.probabilities.shape[1]:
                    said = members.positive[0], members.negative[0]
                    predict_tasks(records, *said, count, work.scratch, block.probabilities[block.row])
                if len(members.positive) > 1:
                    work.before[0], work.before[1] = members.positive, members.negative
                if len(block.truth):
                    block.position[kernels.PHASE] = kernels.WATCH
                    return kernels.ASK_DETECTORS
            else:
                self._learn(members, count, records, tasks, block)
                block.position[kernels.PHASE] = kernels.VOTE
            block.position[kernels.ROW] += 1
            if len(members.positive) > 1 and block.everyone:
                return kernels.JUDGE
        return kernels.DONE

    def _learn(self, members: Members, count: int, records: Floats, tasks: Tasks, block: Block) -> None:
        work, truth = self._work, block.truth[block.row]
        work.position[kernels.JOBS] = kernels.offer(members, tasks, truth, work.jobs, self._expected)
        jobs = self.learnt
        for value in range(len(members.positive)):
            chosen = (jobs.weight > 0) & (jobs.value == value)
            x = self._row(block, value, len(members.positive))
            self._bank.learn(members.classifier[jobs.member[chosen]], x, jobs.truth[chosen], jobs.weight[chosen])
        members.clock[jobs.member[jobs.weight > 0]] = -1
        if block.everyone:
            self._ask(members, block, np.flatnonzero((members.active > 0) & (members.clock != block.clock + block.row)))
            if len(records):
                said = members.positive[0], members.negative[0]
                update_tasks(records, *said, truth, members.active, count, work.scratch)

    def _ask(self, members: Members, block: Block, chosen: Ints) -> None:
        for value in range(len(members.positive)):
            if len(chosen):
                votes = self._bank.votes(self._row(block, value, len(members.positive)), members.classifier[chosen])
                members.negative[value, chosen] = votes[:, 0]
                members.positive[value, chosen] = votes[:, 1]
        members.clock[chosen] = block.clock + block.row

    def _row(self, block: Block, value: int, values: int) -> Floats:
        rows, place = block.rows, value * (len(block.rows.starts) - 1) // values + block.row
        return dense_row(rows, place, self._n_features)


def apart(members: Members) -> Members:
    """Return members that can be asked while what they said of other examples stays as it is."""
    return members._replace(
        learns=np.zeros_like(members.learns),
        clock=members.clock.copy(),
        **{name: np.zeros_like(getattr(members, name)) for name in SAID},
    )
