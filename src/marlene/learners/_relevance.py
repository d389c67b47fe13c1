"""Binary relevance, a transformation: one tree per label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from river.base import Classifier as RiverClassifier

from marlene._common.errors import MarleneError
from marlene.learners._committee import Committee, Transformation, as_forest, require, run_forest
from marlene.learners._river_bank import RiverClassifierBank
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from marlene.kernels.forest import Rows
    from marlene.learners._committee import Arrays, Floats, Ints, Truth


class BinaryRelevanceTrees(Transformation):
    """One Hoeffding tree per label, each blind to the other labels.

    Parameters
    ----------
    base
        An empty forest with other settings, such as ``HoeffdingForest([], grace_period=100)``, or a classifier of
        River's, which is slower and cannot be saved.

    Examples
    --------
    >>> from marlene.learners import OnlineBagging
    >>> model = OnlineBagging(BinaryRelevanceTrees(), members=3)
    >>> for i in range(100):
    ...     model.learn_one({"x": i % 10}, {"big": i % 10 > 4, "odd": i % 2 == 1})
    >>> model.predict_one({"x": 9})["big"], model.counts()["models"]
    (True, 6)
    """

    name = "binary-relevance"

    def __init__(self, base: HoeffdingForest | RiverClassifier | None = None) -> None:
        self.base = base
        if not isinstance(base, RiverClassifier):
            as_forest(base, 2)

    def __repr__(self) -> str:
        return "BinaryRelevanceTrees()" if self.base is None else f"BinaryRelevanceTrees({self.base!r})"

    def committee(self, size: int) -> Committee:
        """Return untrained members."""
        if isinstance(self.base, RiverClassifier):
            return _RiverCommittee(size, RiverClassifierBank(self.base))
        return _ForestCommittee(size, as_forest(self.base, 2))

    def settings(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them; with a River object there are none."""
        if isinstance(self.base, RiverClassifier):
            raise MarleneError("a learner that holds River objects cannot be saved: only arrays can")
        return {"base": None if self.base is None else self.base.settings()}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Return the transformation whose `settings` these are."""
        return cls(None if settings["base"] is None else HoeffdingForest([], **settings["base"]))

    def clone(self) -> Self:
        """Return one of the same parameters."""
        return type(self)(self.base.clone() if isinstance(self.base, RiverClassifier) else self.base)


class _ForestCommittee(Committee):
    """Members × labels trees in one forest."""

    def __init__(self, size: int, forest: HoeffdingForest) -> None:
        super().__init__(size)
        self.forest = forest
        self.trees: Ints = np.zeros((size, 0), np.int64)

    def add_features(self, kinds: Sequence[int]) -> None:
        self.forest.add_features(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        self.forest.widen(feature, n_values)

    def add_labels(self, count: int) -> None:
        new = self.forest.add(self.size * count).reshape(self.size, count)
        self.trees = np.concatenate([self.trees, new], axis=1)
        self.n_labels += count

    def renew(self, member: int, key: np.uint64) -> None:  # noqa: ARG002 (nothing about a tree is random)
        self.forest.remove(self.trees[member])
        self.trees[member] = self.forest.add(self.n_labels)

    def run(self, rows: Rows, truth: Truth, weights: Ints, scores: Floats) -> None:
        classes, known = truth.astype(np.int64), truth >= 0
        for member in range(self.size):
            offered = weights[:, member, None] * known
            votes = run_forest(self.forest, self.trees[member], rows, classes, offered)
            scores[:, member] = np.where(votes.sum(axis=2) > 0, votes[:, :, 1], 0.5)

    def n_models(self) -> int:
        return self.trees.size

    def state(self) -> Arrays:
        return {f"forest.{name}": array for name, array in self.forest.state().items()} | {"trees": self.trees.copy()}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], n_labels: int, kinds: Sequence[int]) -> None:
        self.forest = restored_forest(arrays, self.forest, kinds)
        self.trees = restored_trees(arrays["trees"], (self.size, n_labels), self.forest)
        self.n_labels = n_labels


def restored_forest(
    arrays: Mapping[str, npt.NDArray[Any]], like: HoeffdingForest, kinds: Sequence[int]
) -> HoeffdingForest:
    """Return the forest among the arrays of a committee."""
    state = {name.removeprefix("forest."): a for name, a in arrays.items() if name.startswith("forest.")}
    forest = HoeffdingForest.from_state(state, like.settings())
    require(forest.kinds.tolist() == list(kinds), "the kinds of the features")
    return forest


def restored_trees(given: npt.NDArray[Any], shape: tuple[int, ...], forest: HoeffdingForest) -> Ints:
    """Return the ids of trees, all of which there must be."""
    trees = np.array(given, np.int64)
    require(trees.shape == shape and sorted(trees.ravel().tolist()) == forest.ids.tolist(), "the trees")
    return trees


class _RiverCommittee(Committee):
    """The same with River's classifiers, called one by one."""

    def __init__(self, size: int, bank: RiverClassifierBank) -> None:
        super().__init__(size)
        self.bank = bank
        self.n_features = 0
        self.models: Ints = np.zeros((size, 0), np.int64)

    def add_features(self, kinds: Sequence[int]) -> None:
        self.n_features += len(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        """Do nothing: River's classifiers learn of values by seeing them."""

    def add_labels(self, count: int) -> None:
        new = self.bank.add(self.size * count).reshape(self.size, count)
        self.models = np.concatenate([self.models, new], axis=1)
        self.n_labels += count

    def renew(self, member: int, key: np.uint64) -> None:  # noqa: ARG002
        self.bank.remove(self.models[member])
        self.models[member] = self.bank.add(self.n_labels)

    def run(self, rows: Rows, truth: Truth, weights: Ints, scores: Floats) -> None:
        for row in range(len(rows.starts) - 1):
            stored = slice(rows.starts[row], rows.starts[row + 1])
            x = np.zeros(self.n_features)
            x[rows.indices[stored]] = rows.values[stored]
            votes = self.bank.votes(x, self.models.ravel()).reshape(self.size, self.n_labels, 2)
            scores[row] = np.where(votes.sum(axis=2) > 0, votes[:, :, 1], 0.5)
            times = weights[row][:, None] * (truth[row] >= 0)
            self.bank.learn(self.models.ravel(), x, np.tile(truth[row], self.size), times.ravel())

    def n_models(self) -> int:
        return self.models.size

    def state(self) -> Arrays:
        raise MarleneError("a learner that holds River objects cannot be saved: only arrays can")

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], n_labels: int, kinds: Sequence[int]) -> None:  # noqa: ARG002
        raise MarleneError("a learner that holds River objects cannot be loaded")
