"""Classifier chains, a transformation: one tree per label, which sees the labels before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from marlene.kernels.chain import Chain, run_chain
from marlene.kernels.resampling import mix_many
from marlene.learners._committee import Committee, Transformation, as_forest, require
from marlene.learners._relevance import restored_forest, restored_trees
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from marlene.kernels.forest import Rows
    from marlene.learners._committee import Arrays, Floats, Ints, Truth

BINARY = 2


class ClassifierChain(Transformation):
    """One Hoeffding tree per label in an order of chance; each has the labels before it as further features.

    While learning these are the true labels, while predicting the predicted ones (Read et al. 2009). A label that
    appears later is the last of every chain. Every member of an ensemble has an order of its own.

    Parameters
    ----------
    base
        An empty forest with other settings, such as ``HoeffdingForest([], grace_period=100)``.

    Examples
    --------
    >>> from marlene.learners import OnlineBagging
    >>> model = OnlineBagging(ClassifierChain(), members=3)
    >>> for i in range(100):
    ...     model.learn_one({"x": i % 10}, {"big": i % 10 > 4, "small": i % 10 < 5})
    >>> model.predict_one({"x": 9})
    {'big': True, 'small': False}
    """

    name = "chain"

    def __init__(self, base: HoeffdingForest | None = None) -> None:
        self.base = base
        as_forest(base, 2)

    def __repr__(self) -> str:
        return "ClassifierChain()" if self.base is None else f"ClassifierChain({self.base!r})"

    def committee(self, size: int) -> Committee:
        """Return untrained members."""
        return _ChainCommittee(size, as_forest(self.base, 2))

    def settings(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        return {"base": None if self.base is None else self.base.settings()}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Return the transformation whose `settings` these are."""
        return cls(None if settings["base"] is None else HoeffdingForest([], **settings["base"]))


def chain_order(key: np.uint64, first: int, count: int) -> Ints:
    """Return labels `first` to `first` + `count` - 1 in the order of a hash of theirs and the key."""
    hashes = [int(mix_many(np.array([key, label], np.uint64))) for label in range(first, first + count)]
    return first + np.array(sorted(range(count), key=lambda label: hashes[label]), np.int64)


class _ChainCommittee(Committee):
    """Members × links trees in one forest, whose features are those of the examples and, among them, the labels."""

    def __init__(self, size: int, forest: HoeffdingForest) -> None:
        super().__init__(size)
        self.forest = forest
        self.keys = np.zeros(size, np.uint64)
        self.trees: Ints = np.zeros((size, 0), np.int64)
        self.order: Ints = np.zeros((size, 0), np.int64)
        self.column: Ints = np.zeros(0, np.int64)
        self.label_column: Ints = np.zeros(0, np.int64)

    def add_features(self, kinds: Sequence[int]) -> None:
        first = len(self.forest.kinds)
        self.forest.add_features(kinds)
        self.column = np.append(self.column, np.arange(first, first + len(kinds)))

    def widen(self, feature: int, n_values: int) -> None:
        self.forest.widen(int(self.column[feature]), n_values)

    def add_labels(self, count: int) -> None:
        first = len(self.forest.kinds)
        self.forest.add_features([BINARY] * count)
        self.label_column = np.append(self.label_column, np.arange(first, first + count))
        new = self.forest.add(self.size * count).reshape(self.size, count)
        orders = np.array([chain_order(key, self.n_labels, count) for key in self.keys], np.int64)
        self.trees = np.concatenate([self.trees, new], axis=1)
        self.order = np.concatenate([self.order, orders.reshape(self.size, count)], axis=1)
        self.n_labels += count

    def renew(self, member: int, key: np.uint64) -> None:
        self.forest.remove(self.trees[member])
        self.trees[member] = self.forest.add(self.n_labels)
        self.order[member] = chain_order(key, 0, self.n_labels)
        self.keys[member] = key

    def run(self, rows: Rows, truth: Truth, weights: Ints, scores: Floats) -> None:
        forest = self.forest
        for member in range(self.size):
            chain = Chain(self.trees[member], self.order[member], self.column, self.label_column)
            own = np.ascontiguousarray(weights[:, member])
            out = np.empty((len(truth), self.n_labels))
            position = np.zeros(3, np.int64)
            while position[0] < len(truth):
                run_chain(forest.arrays, forest.parameters, chain, rows, truth, own, position, out)
                if position[0] < len(truth):
                    forest.grow(self.n_labels, int(position[1]), int(position[2]))
            scores[:, member] = out

    def n_models(self) -> int:
        return self.trees.size

    def state(self) -> Arrays:
        own = ("keys", "trees", "order", "column", "label_column")
        forest = {f"forest.{name}": array for name, array in self.forest.state().items()}
        return forest | {name: getattr(self, name).copy() for name in own}

    def restore(self, arrays: Mapping[str, npt.NDArray[Any]], n_labels: int, kinds: Sequence[int]) -> None:
        column, label_column = (np.array(arrays[name], np.int64) for name in ("column", "label_column"))
        everything = np.concatenate([column, label_column])
        expected = np.arange(len(kinds) + n_labels)
        require(len(column) == len(kinds) and np.array_equal(np.sort(everything), expected), "the columns")
        all_kinds = np.full(len(expected), BINARY)
        all_kinds[column] = kinds
        self.forest = restored_forest(arrays, self.forest, all_kinds.tolist())
        self.trees = restored_trees(arrays["trees"], (self.size, n_labels), self.forest)
        order = np.array(arrays["order"], np.int64)
        in_order = np.tile(np.arange(n_labels), (self.size, 1))
        require(order.shape == in_order.shape and np.array_equal(np.sort(order, axis=1), in_order), "the chains")
        require(np.asarray(arrays["keys"]).shape == (self.size,), "the keys")
        self.order, self.column, self.label_column = order, column, label_column
        self.keys = np.array(arrays["keys"], np.uint64)
        self.n_labels = n_labels
