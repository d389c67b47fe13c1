"""The base classifiers of a learner: trees of a forest, or classifiers of any other bank, row by row."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import arrays_under, require, with_prefix
from marlene.kernels.ensemble import state as kernels
from marlene.kernels.ensemble.over_forest import Scene, Trees, advance_forest
from marlene.kernels.ensemble.performance import Bar, Votes, predict_tasks, update_tasks
from marlene.kernels.forest.branches import space_for
from marlene.kernels.held import table_of
from marlene.learners.classifiers._bases import saved_bank
from marlene.learners.classifiers._freezer import Freezer
from marlene.learners.input._rows import dense_row
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints
    from marlene.kernels.ensemble.state import Batch, Members, Tasks, Voters, Watch, Work
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._protocol import ClassifierBank

PREFIX = "classifiers."
SCENES = 4
"""How many tables are kept: those of streams that take turns, and of predictions."""


def _all_of(name: str) -> Rule:
    return Rule(
        "each base classifier that there is has one place",
        lambda a, _: np.array_equal(np.sort(a[name], axis=None), a["there"]),
    )


MEMBER_IDS = Layout(
    "the members of a committee",
    {"ids": Field("int64", ("members", "each"), "the base classifiers of each", least=0)},
    (_all_of("ids"),),
)
PARTS = Layout(
    "classifiers made of several",
    {"parts": Field("int64", ("classifiers", "each"), "the base classifiers of each", least=0)},
    (_all_of("parts"),),
)


class Classifiers(ABC):
    """Any number of classifiers for the same classes over the same features, known by their ids.

    Parameters
    ----------
    bank
        The bank they live in.
    n_classes
        The number of classes.
    """

    def __init__(self, bank: ClassifierBank, n_classes: int = 2) -> None:
        self.n_classes = n_classes
        self._adopt(bank)

    def _adopt(self, bank: ClassifierBank) -> None:
        self.bank: Any = bank
        self.n_features = len(getattr(bank, "kinds", ()))

    def add_features(self, kinds: Sequence[int]) -> None:
        """Append features: 0 for a numeric one, else the number of its values."""
        self.bank.add_features(list(kinds))
        self.n_features += len(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        """Let a nominal feature have more values."""
        self.bank.widen(feature, n_values)

    def add(self, count: int = 1) -> Ints:
        """Add untrained classifiers and return their ids."""
        new: Ints = self.bank.add(count)
        return new

    def remove(self, ids: Ints) -> None:
        """Remove classifiers."""
        self.bank.remove(ids)

    def ids(self) -> list[int]:
        """Return the ids of all classifiers, ascending."""
        return [int(i) for i in self.bank.ids]

    @abstractmethod
    def run(self, ids: Ints, rows: Rows, classes: Ints, weights: Ints) -> Floats:
        """Let classifiers vote on checked rows, and learn each row after the vote; return the votes.

        Classes and weights are given per row and classifier; a weight of 0 learns nothing. Votes are rows ×
        classifiers × classes, and sum to 1, or to 0 without evidence.
        """

    @abstractmethod
    def advance(self, voters: Voters, tasks: Tasks, batch: Batch, watch: Watch, expected: bool, work: Work) -> int:
        """Take the rows of an ensemble forward until the caller is needed; return why, or `DONE`."""

    def steps(self, n_rows: int) -> Iterator[tuple[int, int]]:
        """Give the blocks of rows that a committee's members may learn one after the other."""
        yield 0, n_rows

    # The following are for banks that need more than this.

    def freeze(self, classifier: int) -> None:  # noqa: B027
        """Take note that a classifier learns no more."""

    def thaw(self, classifier: int) -> None:  # noqa: B027
        """Forget a frozen classifier that is about to be removed."""

    def load_kernels(self) -> None:  # noqa: B027
        """Load the kernels of `run` that a first few examples would not call."""

    def load_advance_kernels(self) -> None:  # noqa: B027
        """Load the kernels of `advance` that a first few examples would not call."""

    def state(self) -> Arrays:
        """Return what was learnt as named arrays (copies)."""
        return with_prefix(saved_bank(self.bank)[1].state(), PREFIX)

    def restore(self, arrays: Mapping[str, Array], kinds: Sequence[int]) -> None:
        """Take over what `state` gave; anything else is an error."""
        _, like = saved_bank(self.bank)
        bank: Any = type(like).from_state(arrays_under(arrays, PREFIX), like.settings())
        require(bank.kinds.tolist() == list(kinds), "the kinds of the features")
        self._adopt(bank)

    def restored_ids(self, arrays: Mapping[str, Array], members: int, each: int) -> Ints:
        """Return the ids of the base classifiers of members that were saved."""
        known = {"there": np.array(self.ids(), np.int64)}
        ids: Ints = MEMBER_IDS.checked(arrays, known, members=members, each=each)["ids"]
        return ids


class ForestClassifiers(Classifiers):
    """Trees of one forest, by one kernel call for as many rows as possible."""

    def __init__(self, forest: HoeffdingForest, n_classes: int = 2) -> None:
        if n_classes != forest.n_classes:
            forest = HoeffdingForest([], **forest.settings() | {"n_classes": n_classes})
        super().__init__(forest, n_classes)

    def _adopt(self, bank: ClassifierBank) -> None:
        super()._adopt(bank)
        self.forest: HoeffdingForest = self.bank
        self._freezer = Freezer(self.forest)
        self._space: Any = None
        self._scenes: list[tuple[tuple[Any, ...], Ints]] = []

    def run(self, ids: Ints, rows: Rows, classes: Ints, weights: Ints) -> Floats:
        return self.forest.run_rows(ids, rows, classes, weights)

    def advance(self, voters: Voters, tasks: Tasks, batch: Batch, watch: Watch, expected: bool, work: Work) -> int:
        while True:
            table = self._table(voters.members, voters.records, tasks, watch, work)
            status = advance_forest(table, voters.used, batch, expected)
            if status != kernels.GROW:
                return int(status)
            self._scenes = []
            self.forest.grow(*work.shortage.tolist())

    def _table(self, *parts: Any) -> Ints:  # noqa: ANN401 (those of a `Scene`)
        """Return where the parts of a scene are, from a call before as long as none was replaced."""
        forest, frozen = self.forest.arrays, self._freezer.arrays()
        for known, table in self._scenes:
            if known[0] is forest and known[1] is frozen and all(map(operator.is_, known[2:], parts)):
                return table
        sizes = forest.widest, forest.node_count.shape[1], len(forest.kind)
        if self._space is None or self._space[0] != sizes:
            self._space = sizes, space_for(*sizes)
        scene = Scene(Trees(forest, self.forest.parameters, frozen, self._space[1]), *parts)
        table = table_of(scene)
        # Tables of arrays that were replaced would keep these in memory.
        current = [known for known in self._scenes if known[0][0] is forest and known[0][1] is frozen]
        self._scenes = [((forest, frozen, *parts, self._space[1]), table), *current[: SCENES - 1]]
        return table

    def freeze(self, classifier: int) -> None:
        self._freezer.freeze(classifier)

    def thaw(self, classifier: int) -> None:
        self._freezer.thaw(classifier)

    def load_kernels(self) -> None:
        self.forest.load_kernels()

    def load_advance_kernels(self) -> None:
        tree = self.forest.add()
        self._freezer.load_kernels(int(tree[0]))
        self.forest.remove(tree)


class BankClassifiers(Classifiers):
    """Classifiers of any other bank, row by row; for more than two classes one against the rest for each of them."""

    def __init__(self, bank: ClassifierBank, n_classes: int = 2) -> None:
        super().__init__(bank, n_classes)
        self._n_parts = 1 if n_classes == 2 else n_classes
        self._parts: dict[int, Ints] = {}

    def add(self, count: int = 1) -> Ints:
        new = super().add(count * self._n_parts).reshape(count, self._n_parts)
        self._parts |= {int(own[0]): own for own in new}
        return new[:, 0].copy()

    def remove(self, ids: Ints) -> None:
        for i in np.asarray(ids).tolist():
            self.bank.remove(self._parts.pop(i))

    def ids(self) -> list[int]:
        return sorted(self._parts)

    def steps(self, n_rows: int) -> Iterator[tuple[int, int]]:
        """Give row by row: all members share what a bank knows of its features, as of the rows before."""
        return zip(range(n_rows), range(1, n_rows + 1), strict=True)

    def run(self, ids: Ints, rows: Rows, classes: Ints, weights: Ints) -> Floats:
        out = np.zeros((*weights.shape, self.n_classes))
        for row in range(len(weights)):
            x = dense_row(rows, row, self.n_features)
            out[row] = self.votes(ids, x)
            self.learn(ids, x, classes[row], weights[row])
        return out

    def votes(self, ids: Ints, x: Floats) -> Floats:
        """Return the votes (classifiers × classes) on a dense row."""
        parts = np.array([self._parts[i] for i in ids.tolist()], np.int64).reshape(len(ids), self._n_parts)
        said = self.bank.votes(x, parts.ravel()).reshape(*parts.shape, 2)
        if self.n_classes == 2:
            return np.asarray(said[:, 0])
        total = said[:, :, 1].sum(axis=1, keepdims=True)
        shares: Floats = np.divide(said[:, :, 1], total, out=np.zeros(parts.shape), where=total > 0)
        return shares

    def learn(self, ids: Ints, x: Floats, classes: Ints, weights: Ints) -> None:
        """Train classifiers on a dense row; those whose weight is 0 learn nothing."""
        learning = weights > 0
        if not learning.any():
            return
        parts = np.array([self._parts[i] for i in ids[learning].tolist()], np.int64)
        own = classes[learning, None]
        truth = own if self.n_classes == 2 else (np.arange(self.n_classes) == own).astype(np.int64)
        self.bank.learn(parts.ravel(), x, truth.ravel(), np.repeat(weights[learning], parts.shape[1]))

    def advance(self, voters: Voters, tasks: Tasks, batch: Batch, watch: Watch, expected: bool, work: Work) -> int:  # noqa: ARG002
        """Take rows forward; whatever the detectors, the caller asks them."""
        members, position = voters.members, batch.position
        pairs = len(members.positive) > 1 and batch.everyone
        while position[kernels.ROW] < (len(batch.rows.starts) - 1) // len(members.positive):
            if position[kernels.PHASE] == kernels.VOTE:
                self._ask(members, batch, np.flatnonzero(members.active > 0) if batch.everyone else tasks.latest)
                if batch.probabilities.shape[1]:
                    out = batch.probabilities[position[kernels.ROW]]
                    bar = Bar(members.proving, tasks.latest)
                    predict_tasks(voters.records, _plain_votes(members), bar, voters.used, work.scratch, out)
                if pairs:
                    kernels.hear_vote(work.heard, members, voters.used)
                if len(batch.truth):
                    position[kernels.PHASE] = kernels.WATCH
                    return kernels.ASK_DETECTORS
            else:
                self._learn(voters, tasks, batch, expected, work)
                position[kernels.PHASE] = kernels.VOTE
            position[kernels.ROW] += 1
            if pairs and kernels.hear_judgement(work.heard, members, voters.used):
                return kernels.JUDGE
        return kernels.DONE

    def _learn(self, voters: Voters, tasks: Tasks, batch: Batch, expected: bool, work: Work) -> None:
        members, row = voters.members, batch.position[kernels.ROW]
        truth = batch.truth[row]
        count = batch.position[kernels.JOBS] = kernels.offer(members, tasks, truth, work.jobs, expected)
        jobs = kernels.Jobs(*(array[:count] for array in work.jobs))
        for value in range(len(members.positive)):
            chosen = jobs.value == value
            ids = members.classifier[jobs.member[chosen]]
            self.learn(ids, self._row(batch, value, members), jobs.truth[chosen], jobs.weight[chosen])
        members.clock[jobs.member[jobs.weight > 0]] = -1
        if batch.everyone:
            self._ask(members, batch, np.flatnonzero((members.active > 0) & (members.clock != batch.clock + row)))
            if len(voters.records):
                update_tasks(voters.records, _plain_votes(members), truth, voters.used, work.scratch)

    def _ask(self, members: Members, batch: Batch, chosen: Ints) -> None:
        """Let members vote on the current row, for each value of the given label."""
        for value in range(len(members.positive)):
            votes = self.votes(members.classifier[chosen], self._row(batch, value, members))
            members.negative[value, chosen], members.positive[value, chosen] = votes[:, 0], votes[:, 1]
        members.clock[chosen] = batch.clock + batch.position[kernels.ROW]

    def _row(self, batch: Batch, value: int, members: Members) -> Floats:
        """Return the current row with its zeros, in the form that has this value of the given label."""
        n_rows = (len(batch.rows.starts) - 1) // len(members.positive)
        return dense_row(batch.rows, value * n_rows + int(batch.position[kernels.ROW]), self.n_features)

    def state(self) -> Arrays:
        parts = np.array([self._parts[i] for i in self.ids()], np.int64)
        return super().state() | {"parts": parts.reshape(-1, self._n_parts)}

    def restore(self, arrays: Mapping[str, Array], kinds: Sequence[int]) -> None:
        super().restore(arrays, kinds)
        given = np.asarray(arrays["parts"])
        if given.size == 0:  # 0.1.0 saved no classifiers without a second axis
            given = given.reshape(0, self._n_parts)
        parts = PARTS.checked({"parts": given}, {"there": self.bank.ids}, each=self._n_parts)["parts"]
        self._parts = {int(own[0]): own for own in parts}


def _plain_votes(members: Members) -> Votes:
    return Votes(members.positive[0], members.negative[0], members.active)


def make_classifiers(bank: ClassifierBank, n_classes: int = 2) -> Classifiers:
    """Return the classifiers of a bank behind one interface."""
    return ForestClassifiers(bank, n_classes) if isinstance(bank, HoeffdingForest) else BankClassifiers(bank, n_classes)
