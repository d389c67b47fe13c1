"""Performance records: how well every sub-classifier serves every target task, and the weights that follow.

One array holds all records (tasks × columns × sub-classifiers). Predictive values and weights follow from it. PPV and
1 - PPV are both 0 while there is no positive prediction to judge by, and so for NPV: without evidence there is no vote.
Loops go over whole lanes of eight sub-classifiers, and sums are taken lane by lane, so that results do not depend on
the capacity of the arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Ints, Labels

    Real = np.floating[Any]
    Reals = npt.NDArray[Real]

TP, FP, TN, FN, CORRECT, WRONG = range(6)
COLUMNS = 6
NAMES = ("tp", "fp", "tn", "fn", "sc", "sw")
LANES = 8
CLEARLY = 1e-6
"""By how much a weight must exceed another to be greater: weights are often equal but for rounding."""


class Votes(NamedTuple):
    """Raw votes of all sub-classifiers for and against a label, and 1 for those that are active, else 0."""

    positive: Reals
    negative: Reals
    active: Reals


class Bar(NamedTuple):
    """Who votes only where better: 1 for members that have to prove themselves, else 0; the latest of every task."""

    proving: Reals
    latest: Ints


@inlined
def in_lanes(count: int) -> int:
    """Return the number of places that whole lanes of `count` sub-classifiers take."""
    return (count + LANES - 1) // LANES * LANES


@inlined
def lane_sum(values: Reals, stop: int, partial: Reals) -> float:
    """Return the sum of the first `stop` values, a multiple of `LANES`; `partial` is work space for an eighth as many.

    The order of adding depends on `stop` only, and every step adds many values at a time.
    """
    n = stop // LANES
    a, b, c, d = values[:n], values[n : 2 * n], values[2 * n : 3 * n], values[3 * n : 4 * n]
    e, f, g, h = values[4 * n : 5 * n], values[5 * n : 6 * n], values[6 * n : 7 * n], values[7 * n : 8 * n]
    for i in range(n):
        partial[i] = ((a[i] + e[i]) + (b[i] + f[i])) + ((c[i] + g[i]) + (d[i] + h[i]))
    while n > LANES:
        half = n // 2
        low, high = partial[:half], partial[n - half : n]
        for i in range(half):
            low[i] += high[i]
        n -= half
    total = 0.0
    for i in range(n):
        total += partial[i]
    return total


@inlined
def _at_least(count: Real, one: Real) -> Real:
    """Return a count to divide by: itself, or 1 for 0. `one` has its precision."""
    return count if count > one else one  # noqa: FURB136 (faster: no check for NaN)


@inlined
def weight(correct: Real, wrong: Real, one: Real) -> Real:
    """Return α = SC / (SC + SW); 0 if both are 0. They may be tiny."""
    total = correct + wrong
    return correct / (total if total > 0 else one)


@inlined
def predictive_values(tp: Real, fp: Real, tn: Real, fn: Real, one: Real) -> tuple[Real, Real, Real, Real]:
    """Return PPV, 1 - PPV, NPV and 1 - NPV for equal priors, as if both classes had the same size."""
    per_positive, per_negative = _at_least(fp + tn, one), _at_least(tp + fn, one)
    tp, fp, tn, fn = tp * per_positive, fp * per_negative, tn * per_negative, fn * per_positive
    positive, negative = _at_least(tp + fp, one), _at_least(tn + fn, one)
    scale = one / (positive * negative)  # dividing takes long: once for both
    per_positive, per_negative = scale * negative, scale * positive
    return tp * per_positive, fp * per_positive, tn * per_negative, fn * per_negative


@inlined
def corrected(positive: Real, negative: Real, values: tuple[Real, Real, Real, Real]) -> tuple[Real, Real]:
    """Return corrected votes (paper, section IV): v⁺ = p PPV + n (1 - NPV), v⁻ = n NPV + p (1 - PPV)."""
    ppv, not_ppv, npv, not_npv = values
    return positive * ppv + negative * not_npv, negative * npv + positive * not_ppv


@inlined
def calibrate(records: Reals, votes: Votes, out: Reals, stop: int) -> None:
    """Write the corrected votes of all sub-classifiers, for and against."""
    one = records.dtype.type(1)
    positive, negative = votes.positive, votes.negative
    for_it, against = out[0], out[1]
    tp, fp, tn, fn = records[TP], records[FP], records[TN], records[FN]
    for h in range(stop):
        values = predictive_values(tp[h], fp[h], tn[h], fn[h], one)
        for_it[h], against[h] = corrected(positive[h], negative[h], values)


@inlined
def weighted_sums(records: Reals, proving: Reals, latest: int, scratch: Reals, stop: int) -> tuple[float, float]:
    """Return the sums of corrected votes for and against, which are weighted in place.

    Who is proving has a vote only with more weight than the latest of the task.
    """
    for_it, against = scratch[0], scratch[1]
    one, nothing = records.dtype.type(1), records.dtype.type(0)
    correct, wrong = records[CORRECT], records[WRONG]
    bar = weight(correct[latest], wrong[latest], one) + CLEARLY
    for h in range(stop):
        alpha = weight(correct[h], wrong[h], one)
        alpha = alpha if alpha > proving[h] * bar else nothing
        for_it[h] *= alpha
        against[h] *= alpha
    return lane_sum(for_it, stop, scratch[2]), lane_sum(against, stop, scratch[2])


@inlined
def probability(total_positive: float, total_negative: float) -> float:
    """Return P(label); NaN without any evidence."""
    total = total_positive + total_negative
    return total_positive / total if total > 0.0 else np.nan


@inlined
def judge_votes(records: Reals, votes: Votes, scratch: Reals, truth: int, stop: int) -> None:
    """Update the records of one task after an example of class `truth`; `scratch` holds the corrected votes.

    1. The example is the harder, the more votes are wrong: hardness = Σ wrong / Σ right.
    2. SC += hardness · right / Σ right and SW += hardness · wrong / Σ wrong, for each sub-classifier's own votes.
    3. The raw prediction of each active sub-classifier is counted as TP, FP, TN or FN.
    """
    positive, negative, active = votes.positive, votes.negative, votes.active
    right, wrong = (scratch[0], scratch[1]) if truth else (scratch[1], scratch[0])
    sum_right, sum_wrong = lane_sum(right, stop, scratch[2]), lane_sum(wrong, stop, scratch[2])
    hardness = sum_wrong / sum_right if sum_right > 0.0 else 0.0
    share_right = records.dtype.type(hardness / sum_right if sum_right > 0.0 else 0.0)
    share_wrong = records.dtype.type(hardness / sum_wrong if sum_wrong > 0.0 else 0.0)
    all_correct, all_wrong = records[CORRECT], records[WRONG]
    hits, misses = (records[TP], records[FN]) if truth else (records[FP], records[TN])
    nothing = records.dtype.type(0)
    for h in range(stop):
        all_correct[h] += share_right * right[h]
        all_wrong[h] += share_wrong * wrong[h]
        predicted = active[h] if positive[h] > negative[h] else nothing
        hits[h] += predicted
        misses[h] += active[h] - predicted


@subkernel
def _combined_vote(
    records: Reals, votes: Votes, proving: Reals, latest: int, scratch: Reals, stop: int
) -> tuple[float, float]:
    calibrate(records, votes, scratch, stop)
    return weighted_sums(records, proving, latest, scratch, stop)


@subkernel
def _update_task(records: Reals, votes: Votes, truth: int, scratch: Reals, stop: int) -> None:
    calibrate(records, votes, scratch, stop)
    judge_votes(records, votes, scratch, truth, stop)


@kernel
def predict_tasks(records: Reals, votes: Votes, bar: Bar, count: int, scratch: Reals, out: Reals) -> None:
    """Write P(label) of every task; NaN without any evidence."""
    stop = in_lanes(count)
    for task in range(len(records)):
        yes, no = _combined_vote(records[task], votes, bar.proving, bar.latest[task], scratch, stop)
        out[task] = probability(yes, no)


@kernel
def judge(records: Reals, out: Reals) -> None:
    """Write α, PPV and NPV of every task and sub-classifier (tasks × 3 × sub-classifiers)."""
    one = records.dtype.type(1)
    for task in range(len(records)):
        for h in range(records.shape[2]):
            record = records[task, :, h]
            out[task, 0, h] = weight(record[CORRECT], record[WRONG], one)
            ppv, _, npv, _ = predictive_values(record[TP], record[FP], record[TN], record[FN], one)
            out[task, 1, h] = ppv
            out[task, 2, h] = npv


@kernel
def update_tasks(records: Reals, votes: Votes, truth: Labels, count: int, scratch: Reals) -> None:
    """Update the records of every task whose truth (0 or 1; -1 if not known) is given."""
    stop = in_lanes(count)
    for task in range(len(records)):
        if truth[task] >= 0:
            _update_task(records[task], votes, truth[task], scratch, stop)
