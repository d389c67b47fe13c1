"""How an ensemble makes its base classifiers vote and learn: in one kernel for the forest, call by call for others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from marlene.kernels import ensemble as kernels
from marlene.kernels.performance import predict_tasks, update_tasks

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene.kernels.ensemble import Jobs, Members
    from marlene.kernels.forest import Rows
    from marlene.trees import HoeffdingForest

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    Truth = npt.NDArray[np.int8]


NO_JOBS = kernels.Jobs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


class Bank(Protocol):
    """Any number of base classifiers of the same sort, known by their ids; `HoeffdingForest` is one."""

    def add(self, count: int = 1) -> Ints:
        """Add untrained classifiers and return their ids."""
        ...

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove classifiers."""
        ...

    def add_features(self, kinds: list[int | str]) -> None:
        """Append features: 0 for a numeric one, else the number of its values."""
        ...

    def widen(self, feature: int, n_values: int) -> None:
        """Let a nominal feature have more values; asked for only where there are nominal features."""
        ...

    def votes(self, x: Any, ids: npt.ArrayLike | None = None) -> Floats:  # noqa: ANN401 (array-like)
        """Return the votes (classifiers × classes) on a dense row; each sums to 1, or to 0 without evidence."""
        ...

    def learn(self, ids: npt.ArrayLike, x: Any, y: npt.ArrayLike, weights: npt.ArrayLike = 1) -> None:  # noqa: ANN401
        """Train classifiers on a dense row, with a class and a weight for each."""
        ...

    def clone(self) -> Bank:
        """Return an empty bank of the same settings."""
        ...


class Step:
    """Everything one step needs: the row to finish with what is learnt from it, and the row to start.

    Attributes
    ----------
    finish, start
        Numbers of rows, -1 for none.
    jobs
        What is learnt from the row that is finished.
    truth
        Its true labels, by which records are updated; empty if they are not.
    voters
        The members that vote on the row that is started.
    """

    def __init__(self, finish: int, jobs: Jobs, truth: Truth, start: int, voters: Ints) -> None:
        self.finish = finish
        self.jobs = jobs
        self.truth = truth
        self.start = start
        self.voters = voters


class ForestDriver:
    """Steps of an ensemble of Hoeffding trees, one kernel call each."""

    def __init__(self, forest: HoeffdingForest, expected: bool) -> None:
        self._forest = forest
        self._expected = expected
        self._dense = np.zeros(0)
        self._shortage = np.zeros(3, np.int64)

    def step(
        self, members: Members, records: Floats, rows: Rows, step: Step, clock: int, probabilities: Floats
    ) -> None:
        """Finish a row and start another; the forest grows where it must."""
        forest = self._forest
        if len(self._dense) != len(forest.arrays.kind):
            self._dense = np.zeros(len(forest.arrays.kind))
        while not kernels.step(
            forest.arrays,
            forest.parameters,
            members,
            records,
            rows,
            step.finish,
            step.jobs,
            step.truth,
            self._expected,
            step.start,
            step.voters,
            probabilities,
            clock,
            self._dense,
            self._shortage,
        ):
            forest.grow(*self._shortage.tolist())

    def predict(self, members: Members, records: Floats, rows: Rows, probabilities: Floats) -> None:
        """Write P(label) for every row; what the members said of other examples stays as it is."""
        said = ("positive", "negative", "node", "branch", "bayes", "clock")
        apart = members._replace(
            learns=np.zeros_like(members.learns), **{name: np.zeros_like(getattr(members, name)) for name in said}
        )
        step = Step(-1, NO_JOBS, np.zeros(0, np.int8), 0, np.flatnonzero(members.active > 0))
        for row in range(len(rows.starts) - 1):
            step.start = row
            self.step(apart, records, rows, step, 0, probabilities)


class BankDriver:
    """The same steps for base classifiers of any other sort."""

    def __init__(self, bank: Bank, expected: bool) -> None:
        self._bank = bank
        self._expected = expected
        self._n_features = 0

    def add_features(self, kinds: list[int | str]) -> None:
        """Append features."""
        self._bank.add_features(kinds)
        self._n_features += len(kinds)

    def step(
        self, members: Members, records: Floats, rows: Rows, step: Step, clock: int, probabilities: Floats
    ) -> None:
        """Finish a row and start another."""
        if step.finish >= 0:
            x = self._row(rows, step.finish)
            kernels.offer(members, step.jobs, self._expected)
            trained = step.jobs.weight > 0
            chosen = members.tree[step.jobs.member[trained]]
            self._bank.learn(chosen, x, step.jobs.truth[trained], step.jobs.weight[trained])
            members.clock[step.jobs.member[trained]] = -1
            if len(step.truth):
                changed = np.flatnonzero((members.active > 0) & (members.clock != clock))
                self._ask(members, x, changed)
                update_tasks(records, members.positive, members.negative, step.truth, members.active)
        if step.start >= 0:
            self._ask(members, self._row(rows, step.start), step.voters)
            members.clock[step.voters] = clock + 1
            if probabilities.shape[1]:
                predict_tasks(records, members.positive, members.negative, probabilities[step.start])

    def predict(self, members: Members, records: Floats, rows: Rows, probabilities: Floats) -> None:
        """Write P(label) for every row."""
        before = members.positive.copy(), members.negative.copy()
        active = np.flatnonzero(members.active > 0)
        for row in range(len(rows.starts) - 1):
            self._ask(members, self._row(rows, row), active)
            predict_tasks(records, members.positive, members.negative, probabilities[row])
        members.positive[:], members.negative[:] = before

    def _ask(self, members: Members, x: Floats, chosen: Ints) -> None:
        if len(chosen):
            votes = self._bank.votes(x, members.tree[chosen])
            members.negative[chosen] = votes[:, 0]
            members.positive[chosen] = votes[:, 1]

    def _row(self, rows: Rows, row: int) -> Floats:
        x = np.zeros(self._n_features)
        stored = slice(rows.starts[row], rows.starts[row + 1])
        x[rows.indices[stored]] = rows.values[stored]
        return x
