"""How often labels are true, by their predicted probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.compile import kernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels

PREDICTIONS, POSITIVES, PROBABILITY = range(3)
"""Columns of a bin: how many predictions, how many of them were of a true label, and the sum of probabilities."""


@kernel
def count_predictions(bins: Floats, truth: Labels, probabilities: Floats) -> None:
    """Count the predictions of a block of examples.

    Parameters
    ----------
    bins
        (labels, bins, 3): the counts to update; the bins of a label share the interval from 0 to 1 evenly.
    truth
        (examples, labels); -1 if a label is not known.
    probabilities
        (examples, labels). NaN is not counted; what lies outside 0 to 1 counts as 0 or 1.
    """
    count = bins.shape[1]
    for example in range(truth.shape[0]):
        for label in range(truth.shape[1]):
            p = float(probabilities[example, label])
            if truth[example, label] < 0 or p != p:  # noqa: PLR0124 (NaN)
                continue
            p = min(1.0, max(0.0, p))
            place = min(count - 1, int(p * count))
            bins[label, place, PREDICTIONS] += 1.0
            bins[label, place, POSITIVES] += truth[example, label]
            bins[label, place, PROBABILITY] += p
