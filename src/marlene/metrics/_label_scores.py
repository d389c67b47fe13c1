"""Precision, recall and F1 of confusion counts, 0 where there is nothing to divide by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from marlene._common.arrays import Floats


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=part > 0)


def label_f1(counts: Floats) -> Floats:
    """Return the F1 score of each row of confusion counts, or of a single row."""
    tp, fp, _, fn = counts.T
    return _ratio(2 * tp, 2 * tp + fp + fn)


def label_precision(counts: Floats) -> Floats:
    """Return the precision of each row of confusion counts, or of a single row."""
    tp, fp, _, _ = counts.T
    return _ratio(tp, tp + fp)


def label_recall(counts: Floats) -> Floats:
    """Return the recall of each row of confusion counts, or of a single row."""
    tp, _, _, fn = counts.T
    return _ratio(tp, tp + fn)
