"""Classifier chains, a transformation: one classifier per label, which sees the labels before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.layouts import Field, Layout, Rule
from marlene.kernels.ensemble.resampling import mix_many
from marlene.kernels.forest.chain import Chain, run_chain
from marlene.learners.baselines._committee import BasedTransformation, ClassifiersCommittee, Committee
from marlene.learners.classifiers._bases import FOREST
from marlene.learners.classifiers._classifiers import BankClassifiers, ForestClassifiers
from marlene.learners.input._rows import dense_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.baselines._committee import Base, Keys
    from marlene.learners.classifiers._classifiers import Classifiers

BINARY = 2


def _are_chains(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    return bool((np.sort(arrays["order"], axis=1) == np.arange(lengths["labels"])).all())


def _are_columns(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    columns = np.concatenate([arrays["column"], arrays["label_column"]])
    return np.array_equal(np.sort(columns), np.arange(lengths["features"] + lengths["labels"]))


CHAINS = Layout(
    "chains",
    {
        "order": Field("int64", ("members", "labels"), "the label of every link", least=0, most="labels"),
        "column": Field("int64", ("features",), "the column of each feature", least=0),
        "label_column": Field("int64", ("labels",), "the column of each label", least=0),
    },
    (
        Rule("every chain has each label once", _are_chains),
        Rule("features and labels share the columns", _are_columns),
    ),
)


@dataclass(eq=False, repr=False)
class ClassifierChain(BasedTransformation):
    """One classifier per label, in random order; each has the labels before it as further features.

    It learns with the true labels and predicts with the predicted ones (Read et al. 2009). Every member of an ensemble
    has an order of its own. A label that appears later comes last in every chain.

    Parameters
    ----------
    base
        As of `BinaryRelevanceTrees`.

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

    base: Base = FOREST

    def committee(self, size: int) -> Committee:
        """Return untrained members."""
        return ChainCommittee(size, self.classifiers())


def chain_order(key: np.uint64, first: int, count: int) -> Ints:
    """Return labels `first` to `first` + `count` - 1, ordered by a hash of key and label."""
    hashes = [int(mix_many(np.array([key, label], np.uint64))) for label in range(first, first + count)]
    return first + np.array(sorted(range(count), key=lambda label: hashes[label]), np.int64)


class ChainCommittee(ClassifiersCommittee):
    """Members × links classifiers. Their features are those of the examples and the labels.

    Attributes
    ----------
    order
        The label of every link (members × links).
    column, label_column
        Where the features and the labels are among the features of the classifiers.
    """

    def __init__(self, size: int, classifiers: Classifiers) -> None:
        super().__init__(size, classifiers)
        self.order: Ints = np.zeros((size, 0), np.int64)
        self.column: Ints = np.zeros(0, np.int64)
        self.label_column: Ints = np.zeros(0, np.int64)

    def add_features(self, kinds: Sequence[int]) -> None:
        self.column = np.append(self.column, self._new_columns(kinds))

    def _new_columns(self, kinds: Sequence[int]) -> Ints:
        first = self.classifiers.n_features
        self.classifiers.add_features(kinds)
        return np.arange(first, first + len(kinds))

    def widen(self, feature: int, n_values: int) -> None:
        self.classifiers.widen(int(self.column[feature]), n_values)

    def add_labels(self, count: int, keys: Keys) -> None:
        self.label_column = np.append(self.label_column, self._new_columns([BINARY] * count))
        orders = np.array([chain_order(key, self.n_labels, count) for key in keys], np.int64)
        self.order = np.concatenate([self.order, orders.reshape(self.size, count)], axis=1)
        super().add_labels(count, keys)

    def renew(self, member: int, key: np.uint64) -> None:
        super().renew(member, key)
        self.order[member] = chain_order(key, 0, self.n_labels)

    def run_members(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        for member in range(self.size):
            chain = Chain(self.ids[member], self.order[member], self.column, self.label_column)
            own = np.ascontiguousarray(weights[:, member])
            out = np.empty(truth.shape)
            if isinstance(self.classifiers, ForestClassifiers):
                _run_trees(self.classifiers, chain, rows, truth, own, out)
            elif isinstance(self.classifiers, BankClassifiers):
                _run_links(self.classifiers, chain, rows, truth, own, out)
            scores[:, member] = out

    def state(self) -> Arrays:
        return super().state() | {name: getattr(self, name).copy() for name in CHAINS.fields}

    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        found = CHAINS.checked(arrays, members=self.size, labels=n_labels, features=len(kinds))
        all_kinds = np.full(len(kinds) + n_labels, BINARY)
        all_kinds[found["column"]] = kinds
        super().restore(arrays, n_labels, all_kinds.tolist())
        self.order, self.column, self.label_column = found.values()


def _run_trees(trees: ForestClassifiers, chain: Chain, rows: Rows, truth: Labels, weights: Ints, out: Floats) -> None:
    """Write the scores of a chain of trees, which then learns the rows."""
    forest, position = trees.forest, np.zeros(3, np.int64)
    while position[0] < len(truth):
        run_chain(forest.arrays, forest.parameters, chain, rows, truth, weights, position, out)
        if position[0] < len(truth):
            forest.grow(len(chain.tree), int(position[1]), int(position[2]))


def _run_links(
    classifiers: BankClassifiers, chain: Chain, rows: Rows, truth: Labels, weights: Ints, out: Floats
) -> None:
    """Do the same with any other classifiers, link by link."""
    links = list(zip(chain.tree.reshape(-1, 1), chain.label.tolist(), strict=True))
    columns = chain.label_column[chain.label]
    features = np.zeros(classifiers.n_features)
    for row in range(len(truth)):
        features[chain.column] = dense_row(rows, row, len(chain.column))
        x = features.copy()
        predicted = np.zeros(len(links), np.int8)
        for j, (link, label) in enumerate(links):
            (votes,) = classifiers.votes(link, x)
            out[row, label] = votes[1] if votes.sum() > 0.0 else 0.5
            x[columns[j]] = predicted[j] = votes[1] > votes[0]
        if weights[row] == 0:
            continue
        x = features.copy()
        for j, (link, label) in enumerate(links):
            known = truth[row, label] >= 0
            if known:
                classifiers.learn(link, x, truth[row, label : label + 1].astype(np.int64), weights[row : row + 1])
            x[columns[j]] = truth[row, label] if known else predicted[j]
