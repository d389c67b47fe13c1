"""Binary relevance, a transformation: one classifier per label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene.learners.baselines._committee import BasedTransformation, ClassifiersCommittee, Committee
from marlene.learners.classifiers._bases import FOREST

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.baselines._committee import Base


@dataclass(eq=False, repr=False)
class BinaryRelevanceTrees(BasedTransformation):
    """One classifier per label, a Hoeffding tree by default. None of them sees the other labels.

    Parameters
    ----------
    base
        The base classifiers:

        - "hoeffding-forest" (default), "inheriting-forest", "naive-bayes", "linear" or "mixed";
        - an empty bank with other settings, such as ``HoeffdingForest([], grace_period=100)``;
        - a River classifier, which is slower and cannot be saved.

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

    base: Base = FOREST

    def committee(self, size: int) -> Committee:
        """Return untrained members."""
        return RelevanceCommittee(size, self.classifiers())


class RelevanceCommittee(ClassifiersCommittee):
    """Members × labels classifiers."""

    def run_members(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        classes, known = truth.astype(np.int64), truth >= 0
        for member, ids in enumerate(self.ids):
            votes = self.classifiers.run(ids, rows, classes, weights[:, member, None] * known)
            scores[:, member] = np.where(votes.sum(axis=2) > 0, votes[:, :, 1], 0.5)
