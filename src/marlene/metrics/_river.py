"""The scores as River metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from river.metrics.multioutput.base import MultiOutputClassificationMetric

from marlene._common.errors import MarleneError
from marlene.kernels.scores import UNKNOWN
from marlene.metrics._scores import Scores

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene._common.arrays import Labels


class ScoreMetric(MultiOutputClassificationMetric):
    """One score of `Scores`; a subclass names it as a class argument.

    Labels become known as they occur in `y_true`, and stay known if their first example is reverted. A label that is
    absent from `y_true` is unknown for the example and does not count; one that is absent from `y_pred` is predicted
    False. If every example has all labels, the value is that of `Scores` over the same examples.
    """

    score: ClassVar[str]
    # Every example has the weight 1.
    works_with_weights = False

    def __init_subclass__(cls, score: str = "") -> None:
        super().__init_subclass__()
        cls.score = score or cls.score

    def __init__(self, window: int | None = None, fading: float | None = None) -> None:
        # Do not call River's initialiser: it makes a confusion matrix, which Scores has already.
        self.window = window
        self.fading = fading
        self._columns: dict[Hashable, int] = {}
        self._scores = Scores(1, window, fading)

    def update(  # type: ignore[override]
        self, y_true: Mapping[Hashable, bool], y_pred: Mapping[Hashable, bool], w: float = 1.0
    ) -> None:
        """Add one example; its weight `w` must be 1."""
        _refuse_weight(w)
        bits = _as_bits(y_true, y_pred)
        new = [label for label in bits if label not in self._columns]
        if new:
            self._add_labels(new)
        self._scores.update(*self._rows(bits))

    def revert(  # type: ignore[override]
        self, y_true: Mapping[Hashable, bool], y_pred: Mapping[Hashable, bool], w: float = 1.0
    ) -> None:
        """Remove one example; `Scores.revert` says which examples can be removed."""
        _refuse_weight(w)
        for label in y_true:
            if label not in self._columns:
                raise MarleneError(f"this example was not added, so it cannot be reverted: label {label!r} is new")
        self._scores.revert(*self._rows(_as_bits(y_true, y_pred)))

    def get(self) -> float:
        """Return the score, 0 before the first example."""
        return float(getattr(self._scores, self.score))

    def _add_labels(self, new: list[Hashable]) -> None:
        # Scores has at least one label: the first new label takes its place.
        more = len(new) if self._columns else len(new) - 1
        if more:
            self._scores.add_labels(more)
        for label in new:
            self._columns[label] = len(self._columns)

    def _rows(self, bits: Mapping[Hashable, tuple[int, int]]) -> tuple[Labels, Labels]:
        truth = np.full(self._scores.n_labels, UNKNOWN, dtype=np.int8)
        prediction = np.zeros(self._scores.n_labels, dtype=np.int8)
        for label, pair in bits.items():
            column = self._columns[label]
            truth[column], prediction[column] = pair
        return truth, prediction


class MacroGMean(ScoreMetric, score="macro_gmean"):
    """Mean of the G-Means of all labels.

    The G-Mean of a label is sqrt(TP / (TP + FN) · TN / (TN + FP)), 0 as long as one of its classes was not seen.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = MacroGMean()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    MacroGMean: 66.67%
    """


class MicroGMean(ScoreMetric, score="micro_gmean"):
    """G-Mean of the confusion counts summed over labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = MicroGMean()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    MicroGMean: 66.67%
    """


class LabelSetGMean(ScoreMetric, score="label_set_gmean"):
    """Mean over examples of the G-Mean of the example's own labels.

    An example without positive or without negative labels counts as 0.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = LabelSetGMean()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    LabelSetGMean: 70.71%
    """


class HammingScore(ScoreMetric, score="hamming_score"):
    """Mean over examples of the share of labels predicted right.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = HammingScore()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    HammingScore: 66.67%
    """


class SubsetAccuracy(ScoreMetric, score="subset_accuracy"):
    """Share of examples whose labels were all predicted right.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = SubsetAccuracy()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    SubsetAccuracy: 0.00%
    """


class MacroF1(ScoreMetric, score="macro_f1"):
    """Mean of the F1 scores of all labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = MacroF1()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    MacroF1: 66.67%
    """


class MicroF1(ScoreMetric, score="micro_f1"):
    """F1 score of the confusion counts summed over labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = MicroF1()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    MicroF1: 66.67%
    """


class ExampleF1(ScoreMetric, score="example_f1"):
    """Mean over examples of the F1 score of the example's own labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = ExampleF1()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    ExampleF1: 66.67%
    """


class MacroPrecision(ScoreMetric, score="macro_precision"):
    """Mean of the precisions of all labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = MacroPrecision()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    MacroPrecision: 66.67%
    """


class MicroPrecision(ScoreMetric, score="micro_precision"):
    """Precision of the confusion counts summed over labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = MicroPrecision()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    MicroPrecision: 66.67%
    """


class ExamplePrecision(ScoreMetric, score="example_precision"):
    """Mean over examples of the precision of the example's own labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = ExamplePrecision()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    ExamplePrecision: 75.00%
    """


class MacroRecall(ScoreMetric, score="macro_recall"):
    """Mean of the recalls of all labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = MacroRecall()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    MacroRecall: 66.67%
    """


class MicroRecall(ScoreMetric, score="micro_recall"):
    """Recall of the confusion counts summed over labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = MicroRecall()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    MicroRecall: 66.67%
    """


class ExampleRecall(ScoreMetric, score="example_recall"):
    """Mean over examples of the recall of the example's own labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = ExampleRecall()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    ExampleRecall: 75.00%
    """


class ExampleJaccard(ScoreMetric, score="example_jaccard"):
    """Mean over examples of the Jaccard index of the example's own labels.

    `window` and `fading` are those of `Scores`.

    Examples
    --------
    >>> metric = ExampleJaccard()
    >>> metric.update({"a": True, "b": False, "c": True}, {"a": True, "b": False, "c": False})
    >>> metric.update({"a": False, "b": True, "c": False}, {"a": False, "b": True, "c": True})
    >>> metric
    ExampleJaccard: 50.00%
    """


def _as_bits(y_true: Mapping[Hashable, bool], y_pred: Mapping[Hashable, bool]) -> dict[Hashable, tuple[int, int]]:
    return {
        label: (_as_bit("y_true", label, value), _as_bit("y_pred", label, y_pred.get(label, False)))
        for label, value in y_true.items()
    }


def _as_bit(what: str, label: Hashable, value: object) -> int:
    if isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating) and value in (0, 1):
        return int(value)
    raise MarleneError(f"{what}, label {label!r}: expected True or False, found {value!r}")


def _refuse_weight(w: float) -> None:
    if w != 1:
        raise MarleneError(f"examples cannot be weighted here: w must be 1, not {w!r}")
