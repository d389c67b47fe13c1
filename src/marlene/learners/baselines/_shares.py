"""Scores of labels relative to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from marlene._common.arrays import Floats


def normalised(scores: Floats) -> Floats:
    """Return scores over labels (the last axis) shifted by their minimum and divided by their sum.

    Equal scores become 1 / |L| each. A single label keeps its score.

    Examples
    --------
    >>> normalised(np.array([[0.2, 0.4, 0.8], [0.5, 0.5, 0.5]])).round(2)
    array([[0.  , 0.25, 0.75],
           [0.33, 0.33, 0.33]])
    """
    n_labels = scores.shape[-1]
    if n_labels <= 1:
        return scores.copy()
    shifted = scores - scores.min(axis=-1, keepdims=True)
    total = np.zeros(scores.shape[:-1])
    for label in range(n_labels):  # the same order of summation for any number of rows
        total += shifted[..., label]
    shares: Floats = shifted / np.where(total > 0, total, 1.0)[..., None]
    shares[total == 0] = 1.0 / n_labels
    return shares


def as_probabilities(scores: Floats) -> Floats:
    """Map normalised scores so that the threshold 1 / |L| becomes 0.5; 0 and 1 stay.

    The map is linear below and above the threshold. A single label has the threshold 0.5 already.

    Examples
    --------
    >>> as_probabilities(np.array([[0.0, 0.125, 0.25, 0.625]])).tolist()
    [[0.0, 0.25, 0.5, 0.75]]
    """
    n_labels = scores.shape[-1]
    if n_labels <= 1:
        return scores.copy()
    threshold = 1.0 / n_labels
    above: Floats = 0.5 + 0.5 * (scores - threshold) / (1.0 - threshold)
    below: Floats = 0.5 * scores / threshold
    return np.where(scores > threshold, np.maximum(above, np.nextafter(0.5, 1)), np.minimum(below, 0.5))
