"""Classifier chains, a transformation: one classifier per label, which sees the labels before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.states import require
from marlene.kernels.ensemble.resampling import mix_many
from marlene.kernels.forest.chain import Chain, run_chain
from marlene.learners.baselines._based import BasedTransformation
from marlene.learners.baselines._committee import Committee
from marlene.learners.classifiers._models import BankModels, Trees
from marlene.learners.input._rows import dense_row, slice_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._models import Models

BINARY = 2


class ClassifierChain(BasedTransformation):
    """One classifier per label in an order of chance; each has the labels before it as further features.

    While learning these are the true labels, while predicting the predicted ones (Read et al. 2009). A label that
    appears later is the last of every chain. Every member of an ensemble has an order of its own.

    Parameters
    ----------
    base
        "hoeffding-forest" (default), "inheriting-forest", "naive-bayes", "linear" or "mixed"; a bank of other settings,
        such as ``HoeffdingForest([], grace_period=100)``; or a classifier of River's, which is slower and cannot be
        saved.

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

    def committee(self, size: int) -> Committee:
        """Return untrained members."""
        return _ChainCommittee(size, self.models())


def chain_order(key: np.uint64, first: int, count: int) -> Ints:
    """Return labels `first` to `first` + `count` - 1 in the order of a hash of theirs and the key."""
    hashes = [int(mix_many(np.array([key, label], np.uint64))) for label in range(first, first + count)]
    return first + np.array(sorted(range(count), key=lambda label: hashes[label]), np.int64)


class _ChainCommittee(Committee):
    """Members × links classifiers, whose features are those of the examples and, among them, the labels."""

    def __init__(self, size: int, models: Models) -> None:
        super().__init__(size)
        self.models = models
        self.keys = np.zeros(size, np.uint64)
        self.ids: Ints = np.zeros((size, 0), np.int64)
        self.order: Ints = np.zeros((size, 0), np.int64)
        self.column: Ints = np.zeros(0, np.int64)
        self.label_column: Ints = np.zeros(0, np.int64)

    def add_features(self, kinds: Sequence[int]) -> None:
        first = self.models.n_features
        self.models.add_features(kinds)
        self.column = np.append(self.column, np.arange(first, first + len(kinds)))

    def widen(self, feature: int, n_values: int) -> None:
        self.models.widen(int(self.column[feature]), n_values)

    def add_labels(self, count: int) -> None:
        first = self.models.n_features
        self.models.add_features([BINARY] * count)
        self.label_column = np.append(self.label_column, np.arange(first, first + count))
        new = self.models.add(self.size * count).reshape(self.size, count)
        orders = np.array([chain_order(key, self.n_labels, count) for key in self.keys], np.int64)
        self.ids = np.concatenate([self.ids, new], axis=1)
        self.order = np.concatenate([self.order, orders.reshape(self.size, count)], axis=1)
        self.n_labels += count

    def renew(self, member: int, key: np.uint64) -> None:
        self.models.remove(self.ids[member])
        self.ids[member] = self.models.add(self.n_labels)
        self.order[member] = chain_order(key, 0, self.n_labels)
        self.keys[member] = key

    def run(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        for begin, end in self.models.steps(len(truth)):
            part, here = slice_rows(rows, begin, end), truth[begin:end]
            for member in range(self.size):
                chain = Chain(self.ids[member], self.order[member], self.column, self.label_column)
                own = np.ascontiguousarray(weights[begin:end, member])
                out = np.empty(here.shape)
                if isinstance(self.models, Trees):
                    _run_trees(self.models, chain, part, here, own, out)
                elif isinstance(self.models, BankModels):
                    _run_links(self.models, chain, part, here, own, out)
                scores[begin:end, member] = out

    def n_models(self) -> int:
        return self.ids.size

    def state(self) -> Arrays:
        own = ("keys", "ids", "order", "column", "label_column")
        return self.models.state() | {name: getattr(self, name).copy() for name in own}

    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        column, label_column = (np.array(arrays[name], np.int64) for name in ("column", "label_column"))
        everything = np.concatenate([column, label_column])
        expected = np.arange(len(kinds) + n_labels)
        require(len(column) == len(kinds) and np.array_equal(np.sort(everything), expected), "the columns")
        all_kinds = np.full(len(expected), BINARY)
        all_kinds[column] = kinds
        self.models.restore(arrays, all_kinds.tolist())
        self.ids = self.models.restored_ids(arrays["ids"], (self.size, n_labels))
        order = np.array(arrays["order"], np.int64)
        in_order = np.tile(np.arange(n_labels), (self.size, 1))
        require(order.shape == in_order.shape and np.array_equal(np.sort(order, axis=1), in_order), "the chains")
        require(np.asarray(arrays["keys"]).shape == (self.size,), "the keys")
        self.order, self.column, self.label_column = order, column, label_column
        self.keys = np.array(arrays["keys"], np.uint64)
        self.n_labels = n_labels


def _run_trees(trees: Trees, chain: Chain, rows: Rows, truth: Labels, weights: Ints, out: Floats) -> None:
    """Let a chain of trees vote on rows, and learn them."""
    forest, position = trees.forest, np.zeros(3, np.int64)
    while position[0] < len(truth):
        run_chain(forest.arrays, forest.parameters, chain, rows, truth, weights, position, out)
        if position[0] < len(truth):
            forest.grow(len(chain.tree), int(position[1]), int(position[2]))


def _run_links(models: BankModels, chain: Chain, rows: Rows, truth: Labels, weights: Ints, out: Floats) -> None:
    """Do the same with classifiers of any sort, link by link."""
    links = list(zip(chain.tree.reshape(-1, 1), chain.label.tolist(), strict=True))
    columns = chain.label_column[chain.label]
    features = np.zeros(models.n_features)
    for row in range(len(truth)):
        features[chain.column] = dense_row(rows, row, len(chain.column))
        x = features.copy()
        predicted = np.zeros(len(links), np.int8)
        for j, (link, label) in enumerate(links):
            (votes,) = models.votes(link, x)
            out[row, label] = votes[1] if votes.sum() > 0.0 else 0.5
            x[columns[j]] = predicted[j] = votes[1] > votes[0]
        if weights[row] == 0:
            continue
        x = features.copy()
        for j, (link, label) in enumerate(links):
            known = truth[row, label] >= 0
            if known:
                models.learn(link, x, truth[row, label : label + 1].astype(np.int64), weights[row : row + 1])
            x[columns[j]] = truth[row, label] if known else predicted[j]
