"""Online bagging, and online bagging that replaces members after a drift."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import one_of
from marlene._common.errors import MarleneError
from marlene._common.states import arrays_under, require, with_prefix
from marlene.drift import DRIFT, ADWINBank
from marlene.kernels.bagging import draw_weights
from marlene.learners.baselines._committee_learner import BLOCK, CommitteeLearner, as_probabilities, blocks, normalised

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.baselines._committee import Transformation

THRESHOLDS = ("half", "share")


def mean_over_members(scores: Floats) -> Floats:
    """Return the mean over the second axis, summed in the same order for any number of rows."""
    total: Floats = np.zeros((scores.shape[0], scores.shape[2]))
    for member in range(scores.shape[1]):
        total += scores[:, member]
    total /= scores.shape[1]
    return total


@dataclass(eq=False, repr=False)
class OnlineBagging(CommitteeLearner):
    """Online bagging (Oza and Russell 2001): every member learns every example Poisson(`rate`) times.

    The score of a label is the mean of the members' scores.

    Parameters
    ----------
    transformation
        What a member is: `BinaryRelevanceTrees`, `ClassifierChain`, `PrunedSets` or `MultiTargetTree`.
    members
        Number of members.
    rate
        How often a member learns an example on average; 1 in the original, 6 in leveraging bagging.
    threshold
        - "half": a label is predicted if its score is above 0.5; P(label) is the score.
        - "share": a label is predicted if its share of the scores of all labels is above `1 / |L|`. P(label) is as of
          `GOOWE`. For scores that rank the labels but are no probabilities.
    features
        "auto", "numeric", "binary" or a mapping, as of `BRMarlene`.
    seed
        Seed of the random numbers. They do not depend on the number of threads or on restarts.
    absent
        "unknown" or "false", as of `BRMarlene`.

    Examples
    --------
    >>> from marlene.learners import ClassifierChain
    >>> from marlene.streams import load
    >>> stream = load("yeast")
    >>> model = OnlineBagging(ClassifierChain(), seed=1)
    >>> model.learn_many(stream.X[:300], stream.Y[:300])
    >>> model.predict_many(stream.X[300:303]).shape
    (3, 14)
    """

    _method = "online-bagging"

    transformation: Transformation
    members: int = 10
    rate: float = 1.0
    threshold: str = "half"
    features: str | Mapping[Hashable, str] = "auto"
    seed: int = 1
    absent: str = "unknown"
    max_labels: int | None = field(default=None, kw_only=True)
    max_features: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        one_of(self.threshold, "threshold", THRESHOLDS)
        if not isinstance(self.rate, int | float | np.number) or not 0 < self.rate <= 1000:
            raise MarleneError(f"rate must be a number above 0 and at most 1000, not {self.rate!r}")
        super().__post_init__()
        self._block = BLOCK

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:  # noqa: ARG002
        for here, part in blocks(rows, self._block):
            scores = self._learn(part, truth[here])
            if probabilities.shape[1]:
                probabilities[here] = self._combined(scores)

    def _learn(self, rows: Rows, truth: Labels) -> Floats:
        """Learn rows; return the members' scores before each row."""
        weights = np.empty((len(truth), self._committee.size), np.int64)
        draw_weights(self._keys, self._seen, float(self.rate), weights)
        scores = np.empty((len(truth), self._committee.size, self._committee.n_labels))
        self._committee.run(rows, truth, weights, scores)
        self._seen += len(truth)
        return scores

    def _combined(self, scores: Floats) -> Floats:
        return self._decided(mean_over_members(scores))

    def _decided(self, scores: Floats) -> Floats:
        """Return numbers that are above 0.5 where the label is predicted."""
        return scores if self.threshold == "half" else as_probabilities(normalised(scores))


@dataclass(eq=False, repr=False)
class ADWINBagging(OnlineBagging):
    """Online bagging that replaces its worst member after a drift (Bifet et al. 2009; Read et al. 2012).

    One ADWIN per member watches how often the member predicts a wrong label set. When any of them cuts its window and
    the error is higher afterwards, the member with the highest error is replaced by an untrained one.

    Parameters
    ----------
    transformation, members, rate, threshold, features, seed, absent
        As of `OnlineBagging`. With `rate` 6 it is leveraging bagging (without its output codes).
    delta
        Confidence of the ADWINs.

    Examples
    --------
    The two labels change places:

    >>> from marlene.learners import BinaryRelevanceTrees
    >>> model = ADWINBagging(BinaryRelevanceTrees(), members=3)
    >>> for i in range(1000):
    ...     big = i % 10 > 4
    ...     model.learn_one({"x": i % 10}, {"a": big == (i < 500), "b": big == (i >= 500)})
    >>> model.counts()["drifts"] > 0, model.predict_one({"x": 9})
    (True, {'a': False, 'b': True})
    """

    _method = "adwin-bagging"

    delta: float = 0.002

    def __post_init__(self) -> None:
        super().__post_init__()
        self._block = 1  # a row decides who learns the next one
        self._detectors = ADWINBank(self.delta)
        self._detectors.add(self._committee.size)

    def _learn(self, rows: Rows, truth: Labels) -> Floats:
        scores = super()._learn(rows, truth)
        known = truth[0] >= 0
        if known.any():
            correct = ((self._decided(scores[0]) > 0.5) == truth[0])[:, known].all(axis=1)
            signals = self._detectors.update(self._detectors.ids, correct, np.zeros(len(correct)))
            if (signals == DRIFT).any():
                self._replace_worst()
        return scores

    def _replace_worst(self) -> None:
        arrays = self._detectors.arrays
        errors = arrays.total[self._detectors.ids] / np.maximum(1, arrays.width[self._detectors.ids])
        worst = int(np.argmax(errors))
        self._renew(worst)
        self._detectors.reset([worst])

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        header, arrays = super()._learnt()
        return header, arrays | with_prefix(self._detectors.state(), "detectors.")

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        super()._restore(header, arrays)
        self._detectors = ADWINBank.from_state(arrays_under(arrays, "detectors."))
        require(self._detectors.settings()["delta"] == float(self.delta), "the detectors")
        require(self._detectors.ids.tolist() == list(range(self._committee.size)), "the detectors")
