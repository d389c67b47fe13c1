"""Binary relevance, a transformation: one classifier per label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.learners.baselines._based import BasedTransformation
from marlene.learners.baselines._committee import Committee
from marlene.learners.input._rows import slice_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._models import Models


class BinaryRelevanceTrees(BasedTransformation):
    """One classifier per label, a Hoeffding tree by default, each blind to the other labels.

    Parameters
    ----------
    base
        "hoeffding-forest" (default), "inheriting-forest", "naive-bayes", "linear" or "mixed"; a bank of other settings,
        such as ``HoeffdingForest([], grace_period=100)``; or a classifier of River's, which is slower and cannot be
        saved.

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

    def committee(self, size: int) -> Committee:
        """Return untrained members."""
        return _RelevanceCommittee(size, self.models())


class _RelevanceCommittee(Committee):
    """Members × labels classifiers."""

    def __init__(self, size: int, models: Models) -> None:
        super().__init__(size)
        self.models = models
        self.ids: Ints = np.zeros((size, 0), np.int64)

    def add_features(self, kinds: Sequence[int]) -> None:
        self.models.add_features(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        self.models.widen(feature, n_values)

    def add_labels(self, count: int) -> None:
        new = self.models.add(self.size * count).reshape(self.size, count)
        self.ids = np.concatenate([self.ids, new], axis=1)
        self.n_labels += count

    def renew(self, member: int, key: np.uint64) -> None:  # noqa: ARG002 (nothing about a classifier is random)
        self.models.remove(self.ids[member])
        self.ids[member] = self.models.add(self.n_labels)

    def run(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        classes, known = truth.astype(np.int64), truth >= 0
        for begin, end in self.models.steps(len(truth)):
            part, here = slice_rows(rows, begin, end), slice(begin, end)
            for member in range(self.size):
                offered = weights[here, member, None] * known[here]
                votes = self.models.run(self.ids[member], part, classes[here], offered)
                scores[here, member] = np.where(votes.sum(axis=2) > 0, votes[:, :, 1], 0.5)

    def n_models(self) -> int:
        return self.ids.size

    def state(self) -> Arrays:
        return self.models.state() | {"ids": self.ids.copy()}

    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        self.models.restore(arrays, kinds)
        self.ids = self.models.restored_ids(arrays["ids"], (self.size, n_labels))
        self.n_labels = n_labels
