"""Ensembles of multi-label classifiers that see every example a number of times that is left to chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import require
from marlene.drift import DRIFT, ADWINBank
from marlene.kernels.bagging import draw_weights
from marlene.learners.baselines._committee_learner import BLOCK, CommitteeLearner, mean_over_members
from marlene.learners.baselines._shares import as_probabilities, normalised
from marlene.learners.input._rows import slice_rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.baselines._committee import Transformation

THRESHOLDS = ("half", "share")


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
        "half": a label is predicted where its score is above 0.5, and P(label) is the score. "share": where its share
        of the scores of all labels is above 1 / |L|, as in `GOOWE`, which see for P(label). The latter is for scores
        that say which label is more likely than another rather than how likely it is.
    features
        "auto", "numeric", "binary" or a mapping, as of `BRMarlene`.
    seed
        What random numbers depend on: they are the same on any number of threads and after a restart.

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

    def __init__(
        self,
        transformation: Transformation,
        members: int = 10,
        rate: float = 1.0,
        threshold: str = "half",
        features: str | Mapping[Hashable, str] = "auto",
        seed: int = 1,
    ) -> None:
        self.rate = rate
        self.threshold = threshold
        if threshold not in THRESHOLDS:
            raise MarleneError(f"threshold must be one of {', '.join(THRESHOLDS)}, not {threshold!r}")
        if not isinstance(rate, int | float | np.number) or not 0 < rate <= 1000:
            raise MarleneError(f"rate must be a number above 0 and at most 1000, not {rate!r}")
        super().__init__(transformation, members, features, seed)

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:  # noqa: ARG002
        for begin in range(0, len(truth), self._block()):
            end = min(len(truth), begin + self._block())
            scores = self._learn(slice_rows(rows, begin, end), truth[begin:end])
            if probabilities.shape[1]:
                probabilities[begin:end] = self._decided(mean_over_members(scores))

    def _block(self) -> int:
        return BLOCK

    def _learn(self, rows: Rows, truth: Labels) -> Floats:
        """Learn rows; return what the members said before each."""
        weights = np.empty((len(truth), self._committee.size), np.int64)
        draw_weights(self._keys, self._seen, float(self.rate), weights)
        scores = np.empty((len(truth), self._committee.size, self._committee.n_labels))
        self._committee.run(rows, truth, weights, scores)
        self._seen += len(truth)
        return scores

    def _predict(self, rows: Rows, probabilities: Floats) -> None:
        for begin in range(0, len(probabilities), BLOCK):
            part = slice_rows(rows, begin, min(len(probabilities), begin + BLOCK))
            probabilities[begin : begin + BLOCK] = self._decided(mean_over_members(self._committee.scores(part)))

    def _decided(self, scores: Floats) -> Floats:
        """Return scores as numbers that are above 0.5 where the label is predicted."""
        return scores if self.threshold == "half" else as_probabilities(normalised(scores))


class ADWINBagging(OnlineBagging):
    """Online bagging whose worst member is replaced when one gets worse (Bifet et al. 2009; Read et al. 2012).

    An ADWIN watches how often each member predicts another label set than the true one. When one of them cuts its
    window and the error is higher after that, the member with the highest error begins anew.

    Parameters
    ----------
    transformation, members, rate, threshold, features, seed
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

    def __init__(
        self,
        transformation: Transformation,
        members: int = 10,
        rate: float = 1.0,
        threshold: str = "half",
        features: str | Mapping[Hashable, str] = "auto",
        seed: int = 1,
        delta: float = 0.002,
    ) -> None:
        self.delta = delta
        super().__init__(transformation, members, rate, threshold, features, seed)
        self._detectors = ADWINBank(delta)
        self._detectors.add(members)

    def _block(self) -> int:
        return 1

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
        self._drifts += 1

    def _own_state(self) -> Arrays:
        return {f"detectors.{name}": array for name, array in self._detectors.state().items()}

    def _restore_own(self, arrays: Mapping[str, Array]) -> None:
        own = {name.removeprefix("detectors."): a for name, a in arrays.items() if name.startswith("detectors.")}
        self._detectors = ADWINBank.from_state(own)
        require(self._detectors.settings()["delta"] == float(self.delta), "the detectors")
        require(self._detectors.ids.tolist() == list(range(self._committee.size)), "the detectors")
