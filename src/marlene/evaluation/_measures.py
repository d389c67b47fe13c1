"""Measures over the whole stream: cumulative, fading, of every label, and calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.states import arrays_under, with_prefix
from marlene.metrics import SCORES, Calibration, Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Labels

FADING = 0.999
MEASURES = (*SCORES, "hamming_loss", "labels_predicted", "labels_true")
"""What `PrequentialResult.cumulative` and `PrequentialResult.faded` hold."""


class Measures:
    """Counts from which every measure over the whole stream follows, in constant memory.

    The first example is not scored: no learner can know anything of it.

    Parameters
    ----------
    n_labels
        Number of labels.
    fading
        Factor of all earlier examples in the fading measures, for each new one.
    after
        Number of examples whose probabilities do not count for calibration.
    """

    def __init__(self, n_labels: int, fading: float, after: int) -> None:
        self.after = after
        self._scores = {"cumulative": Scores(n_labels), "faded": Scores(n_labels, fading=fading)}
        self._calibration = Calibration(n_labels)

    @property
    def fading(self) -> float:
        """Factor of the fading measures."""
        return float(self._scores["faded"].fading or 1.0)

    def add_labels(self, count: int) -> None:
        """Make room for more labels, which are unknown for all earlier examples."""
        self._calibration.add_labels(count)
        for scores in self._scores.values():
            scores.add_labels(count)

    def update(self, first: int, truth: Labels, pred: Labels, proba: Array | None) -> None:
        """Add a block of examples.

        Parameters
        ----------
        first
            Index of the first of them.
        truth, pred, proba
            Truth, prediction and probability, a row per example; None if the learner gives no probabilities.
        """
        scored = slice(1 if first == 0 else 0, None)
        for scores in self._scores.values():
            scores.update_many(truth[scored], pred[scored])
        if proba is not None and first + len(truth) > self.after:
            rows = slice(max(0, self.after - first), None)
            self._calibration.update_many(truth[rows], proba[rows])

    def results(self) -> dict[str, Any]:
        """Return the fields of a `PrequentialResult`."""
        found: dict[str, Any] = {name: _measures(scores) for name, scores in self._scores.items()}
        return found | {"confusion": self._scores["cumulative"].confusion, "reliability": self._calibration.bins}

    def state(self) -> Arrays:
        """Return all counts as named arrays (copies)."""
        arrays: Arrays = {"calibration": self._calibration.bins}
        for name, scores in self._scores.items():
            arrays |= with_prefix(scores.state(), f"{name}.")
        return arrays

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Return to a state that `state` gave."""
        calibration = Calibration.of(np.asarray(arrays["calibration"]))
        if calibration.bins.shape != self._calibration.bins.shape:
            raise ValueError("the calibration is that of another run")
        self._calibration = calibration
        for name, mine in self._scores.items():
            scores = Scores.from_state(arrays_under(arrays, f"{name}."))
            if (scores.n_labels, scores.window, scores.fading) != (mine.n_labels, mine.window, mine.fading):
                raise ValueError(f"the {name} scores are those of another run")
            self._scores[name] = scores


def _measures(scores: Scores) -> dict[str, float]:
    """Return all measures by name; NaN if no example was scored."""
    if not scores.weight:
        return dict.fromkeys(MEASURES, float("nan"))
    counted = {"labels_predicted": scores.labels_predicted, "labels_true": scores.labels_true}
    return {**scores.as_dict(), "hamming_loss": 1.0 - scores.hamming_score, **counted}


def label_rows(labels: tuple[str, ...], confusion: Floats, calibration: Calibration) -> list[dict[str, Any]]:
    """Return a row of measures for every label."""
    rows = []
    for column, (label, counts) in enumerate(zip(labels, confusion, strict=True)):
        tp, fp, tn, fn = counts.tolist()
        known = tp + fp + tn + fn
        row = {
            "label": label,
            "examples": int(known),
            "positives": int(tp + fn),
            "share": _ratio(tp + fn, known),
            "predicted_share": _ratio(tp + fp, known),
            "precision": _ratio(tp, tp + fp),
            "recall": _ratio(tp, tp + fn),
            "f1": _ratio(2 * tp, 2 * tp + fp + fn),
            "gmean": (_ratio(tp, tp + fn) * _ratio(tn, tn + fp)) ** 0.5,
            "calibration_error": calibration.error(column),
        }
        rows.append(row)
    return rows


def _ratio(part: float, whole: float) -> float:
    return part / whole if part else 0.0
