"""From probabilities to decisions: a threshold for every label, learnt online."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import copied_arrays, require, restored_tuple
from marlene.kernels.ensemble.thresholds import BINS, WIDEST, Objective, Thresholds, decide, decide_and_learn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels

FIRST_ERROR = 0.25
"""The prior error of every kind of classifiers in each class: that of always saying 0.5."""


OBJECTIVES: dict[str, dict[str, float]] = {
    "mix": {"macro": 1.0, "micro": 1.0, "label_set": 1.0},
    "macro": {"macro": 1.0},
    "micro": {"micro": 1.0},
    "label-set": {"label_set": 1.0},
    "f1": {"f1": 1.0},
    "none": {},
}
COSTS = ("false_positive", "false_negative")


class DecisionThresholds:
    """Thresholds on the scores of labels, learnt online for an objective.

    Scores of positive and negative examples are counted in a hundred bins, equally wide in log odds, and the counts
    decay. Every 20 examples the thresholds become those that would have been best on the counts. The prior makes a
    threshold start at 0.5.

    Parameters
    ----------
    objective
        "macro", "micro" or "label-set": that G-Mean; "mix": the sum of the three; "f1": the mean F1 of the labels;
        "none": thresholds stay at 0.5; or costs, such as ``{"false_positive": 1, "false_negative": 5}``.

    Examples
    --------
    >>> thresholds = DecisionThresholds("macro")
    >>> thresholds.add_labels(1)
    >>> scores = np.tile([[0.1], [0.3]], (50, 1))  # positive examples score 0.3
    >>> predictions = thresholds.decide_and_learn(scores, np.tile([[0], [1]], (50, 1)).astype(np.int8))
    >>> predictions[1, 0], predictions[-1, 0], thresholds.values.round(2)
    (np.int8(0), np.int8(1), array([0.29]))
    """

    def __init__(self, objective: str | Mapping[str, float] = "mix") -> None:
        self._objective = make_objective(objective)
        self._state = _empty_thresholds(0)

    @property
    def values(self) -> Floats:
        """The least score at which each label is predicted."""
        return threshold_of(self._state.cut)

    def add_labels(self, count: int) -> None:
        """Append labels without any evidence."""
        larger = _empty_thresholds(len(self._state.cut) + count)
        for mine, theirs in zip(larger, self._state, strict=True):
            mine[: len(theirs)] = theirs
        self._state = larger

    def decide(self, scores: Floats) -> Labels:
        """Return the predictions for scores from 0 to 1 (examples × labels); without a score (NaN) predict 0."""
        predictions = np.zeros(scores.shape, np.int8)
        decide(self._state, np.ascontiguousarray(scores), predictions)
        return predictions

    def decide_and_learn(self, scores: Floats, truth: Labels) -> Labels:
        """Do the same example by example, and learn from each before the next; -1 is an unknown label."""
        if not any(self._objective):
            return self.decide(scores)
        predictions = np.zeros(scores.shape, np.int8)
        decide_and_learn(
            self._state, self._objective, np.ascontiguousarray(scores), np.ascontiguousarray(truth), predictions
        )
        return predictions

    def state(self) -> Arrays:
        """Return everything but the objective as named arrays (copies)."""
        return copied_arrays(self._state)

    def restore(self, state: Mapping[str, Array], n_labels: int) -> None:
        """Take over what `state` gave."""
        self._state = restored_tuple(state, _empty_thresholds(n_labels))
        require(all((array >= 0).all() for array in self._state) and (self._state.cut <= BINS).all(), "the thresholds")


def threshold_of(cut: Ints) -> Floats:
    """Return the least score that lies in a bin or above: 0 for the lowest, 1 above the highest."""
    odds = (cut / BINS - 0.5) * 2.0 * WIDEST
    inner: Floats = 1.0 / (1.0 + np.exp(-odds))
    return np.where(cut <= 0, 0.0, np.where(cut >= BINS, 1.0, inner))


def _empty_thresholds(n_labels: int) -> Thresholds:
    shape = (n_labels, 2, BINS)
    return Thresholds(np.zeros(shape), np.zeros(shape), np.full(n_labels, BINS // 2), np.zeros(1, np.int64))


def make_objective(objective: str | Mapping[str, float]) -> Objective:
    """Return how much each measure counts, from the parameter `objective`."""
    if isinstance(objective, str):
        if objective not in OBJECTIVES:
            raise MarleneError(f"objective must be one of {', '.join(OBJECTIVES)} or costs, not {objective!r}")
        parts: Mapping[str, float] = OBJECTIVES[objective]
    else:
        parts = objective
        if not parts or not set(parts) <= set(COSTS) or not all(0 < parts[name] < np.inf for name in parts):
            raise MarleneError(f"costs are positive numbers for {' and '.join(COSTS)}, not {objective!r}")
        parts = dict.fromkeys(COSTS, 1.0) | dict(parts)
    return Objective(**{name: float(parts.get(name, 0.0)) for name in Objective._fields})
