"""The performance table: how well every sub-classifier serves every target task, and the weights that follow.

One array holds everything (columns × tasks × sub-classifiers). Predictive values are kept beside the counts they come
from, in pairs that sum to 1, or are both 0 while there is no prediction to judge by: no evidence, no vote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, kernel, subkernel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from marlene.kernels.forest_state import Floats

# Columns. PPV and NPV are the positive and the negative predictive value; the others 1 minus these.
TP, FP, TN, FN, CORRECT, WRONG, ALPHA, PPV, NOT_PPV, NPV, NOT_NPV = range(11)
COLUMNS = 11
NAMES = ("tp", "fp", "tn", "fn", "sc", "sw", "alpha")


@inlined
def combined_vote(records: Floats, task: int, positive: Floats, negative: Floats) -> tuple[float, float]:
    """Return the weighted sums of the calibrated votes for and against (section IV of the paper, voting)."""
    total_positive = 0.0
    total_negative = 0.0
    for h in range(len(positive)):
        for_it = positive[h] * records[PPV, task, h] + negative[h] * records[NOT_NPV, task, h]
        against = negative[h] * records[NPV, task, h] + positive[h] * records[NOT_PPV, task, h]
        total_positive += records[ALPHA, task, h] * for_it
        total_negative += records[ALPHA, task, h] * against
    return total_positive, total_negative


@inlined
def probability(total_positive: float, total_negative: float) -> float:
    """Return P(label); one half without any evidence."""
    total = total_positive + total_negative
    return total_positive / total if total > 0.0 else 0.5


@subkernel
def update_task(records: Floats, task: int, positive: Floats, negative: Floats, truth: int, active: Floats) -> None:
    """Update the records of one task after an example of class `truth`.

    SC and SW grow by the calibrated votes for and against the truth, shares of all, times how hard the example was;
    then the raw prediction is counted, and the predictive values are computed anew. Each loop touches few arrays, so
    that it is done several sub-classifiers at a time.
    """
    yes, no = (positive, negative) if truth else (negative, positive)
    value, not_value = (
        (records[PPV, task], records[NOT_PPV, task]) if truth else (records[NPV, task], records[NOT_NPV, task])
    )
    other, not_other = (
        (records[NPV, task], records[NOT_NPV, task]) if truth else (records[PPV, task], records[NOT_PPV, task])
    )
    sum_right = 0.0
    sum_wrong = 0.0
    for h in range(len(yes)):
        sum_right += yes[h] * value[h] + no[h] * not_other[h]
        sum_wrong += no[h] * other[h] + yes[h] * not_value[h]
    hardness = sum_wrong / sum_right if sum_right > 0.0 else 0.0
    share_right = hardness / sum_right if sum_right > 0.0 else 0.0
    share_wrong = hardness / sum_wrong if sum_wrong > 0.0 else 0.0
    right, wrong, alpha = records[CORRECT, task], records[WRONG, task], records[ALPHA, task]
    for h in range(len(yes)):
        right[h] += share_right * (yes[h] * value[h] + no[h] * not_other[h])
    for h in range(len(yes)):
        wrong[h] += share_wrong * (no[h] * other[h] + yes[h] * not_value[h])
    for h in range(len(yes)):
        both = right[h] + wrong[h]
        alpha[h] = right[h] / (both if both > 0.0 else 1.0)
    hits, misses = records[TP if truth else FP, task], records[FN if truth else TN, task]
    for h in range(len(yes)):
        predicted = active[h] if positive[h] > negative[h] else 0.0
        hits[h] += predicted
        misses[h] += active[h] - predicted
    _judge(records[TP, task], records[FP, task], records[TN, task], records[FN, task], records[PPV:, task])


@inlined
def _judge(tp: Floats, fp: Floats, tn: Floats, fn: Floats, values: Floats) -> None:
    """Compute the predictive values, each class weighted as if both were equally frequent; a class not seen has 1."""
    for h in range(len(tp)):
        n_positive, n_negative = tp[h] + fn[h], fp[h] + tn[h]
        n = n_positive + n_negative
        kappa_positive = n / (2.0 * n_positive) if n_positive > 0.0 else 1.0
        kappa_negative = n / (2.0 * n_negative) if n_negative > 0.0 else 1.0
        right = tp[h] * kappa_positive
        total = right + fp[h] * kappa_negative
        values[0, h] = right / total if total > 0.0 else 0.0
        values[1, h] = 1.0 - values[0, h] if total > 0.0 else 0.0
        right = tn[h] * kappa_negative
        total = right + fn[h] * kappa_positive
        values[2, h] = right / total if total > 0.0 else 0.0
        values[3, h] = 1.0 - values[2, h] if total > 0.0 else 0.0


@kernel
def predict_tasks(records: Floats, positive: Floats, negative: Floats, out: Floats) -> None:
    """Write P(label) of every task."""
    for task in range(records.shape[1]):
        total_positive, total_negative = combined_vote(records, task, positive, negative)
        out[task] = probability(total_positive, total_negative)


@kernel
def update_tasks(
    records: Floats, positive: Floats, negative: Floats, truth: npt.NDArray[np.int8], active: Floats
) -> None:
    """Update the records of every task whose truth (0 or 1; -1 if not known) is given."""
    for task in range(len(truth)):
        if truth[task] >= 0:
            update_task(records, task, positive, negative, truth[task], active)
