"""Naive Bayes for two classes, any number of classifiers side by side: arrays are laid out by input.

What an input that is present adds to the log odds of a classifier is kept, so that voting adds up rows of numbers, as
many as the example has inputs. The part of the absent ones, of all that any example had so far, is added up whenever a
class has grown by a sixteenth, and changed in between as if those that an example lacks were rare. Inputs are not as
independent as naive Bayes has it, which makes it the surer of itself the more there are: the log odds are divided by
the square root of their number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.banks.scales import PRESENCE, is_dense, observe_row
from marlene.kernels.compile import inlined, kernel, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.banks.scales import Scales
    from marlene.kernels.rows import Rows


REFRESH = 16.0
"""A class grows by one part in so many before its absent inputs are added up again."""
LARGEST = 30.0
"""Log odds beyond which a vote is as good as certain."""
SMALLEST_VARIANCE = 1e-12


class BayesSettings(NamedTuple):
    """Settings of naive Bayes.

    Attributes
    ----------
    smoothing
        Laplace's pseudo-count.
    pseudo_examples
        How many pseudo-examples a Gaussian begins with.
    weighted
        Whether an example counts as many times as its weight says, or once.
    """

    smoothing: float
    pseudo_examples: float
    weighted: bool


class Bayes(NamedTuple):
    """State of naive Bayes classifiers; the last axis of every array is the classifier.

    Attributes
    ----------
    present
        How many examples of each class had an input, or their weight (inputs × 2 × classifiers).
    gain
        What the presence of an input adds to the log odds, as it was when an example last had it; 0 if none had.
    mean, squares
        Of the values of numeric inputs: the mean and the sum of squared deviations (numeric inputs × 2 × classifiers).
    curve
        The log odds of a value x of a numeric input are c₀ + c₁x + c₂x² (numeric inputs × 3 × classifiers).
    examples
        Examples of each class, or their weight.
    weights
        The sums of the weights they were learnt with.
    absent
        Σ log P(absent) over all inputs that were met, for each class.
    refreshed
        How many examples the class had when that was added up.
    base
        The log odds of an example without inputs.
    """

    present: Floats
    gain: Floats
    mean: Floats
    squares: Floats
    curve: Floats
    examples: Floats
    weights: Floats
    absent: Floats
    refreshed: Floats
    base: Floats


@subkernel
def bayes_scores(bank: Bayes, settings: BayesSettings, scales: Scales, rows: Rows, row: int, out: Floats) -> None:
    """Write the log odds of the positive class, by every classifier."""
    for h in range(len(out)):
        out[h] = bank.base[h]
    known = 0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot, x = rows.indices[j], rows.values[j]
        if math.isnan(x):
            _add_missing(bank, settings, slot, out)
            continue
        known += 1
        gain = bank.gain[slot]
        for h in range(len(out)):
            out[h] += gain[h]
        i = scales.numeric[slot]
        if i != PRESENCE and is_dense(scales, i):
            c0, c1, c2, square = bank.curve[i, 0], bank.curve[i, 1], bank.curve[i, 2], x * x
            for h in range(len(out)):
                out[h] += c0[h] + c1[h] * x + c2[h] * square
    certainty = 1.0 / math.sqrt(max(1, known))
    for h in range(len(out)):
        out[h] *= certainty


@inlined
def _log_absent(bank: Bayes, settings: BayesSettings, slot: int, y: int, h: int) -> float:
    a, n = settings.smoothing, bank.examples[y, h]
    return math.log((n - bank.present[slot, y, h] + a) / (n + 2.0 * a))


@subkernel
def _add_missing(bank: Bayes, settings: BayesSettings, slot: int, out: Floats) -> None:
    """Take back what an input adds by being absent: nobody knows whether it is."""
    for h in range(len(out)):
        out[h] -= _log_absent(bank, settings, slot, 1, h) - _log_absent(bank, settings, slot, 0, h)


@inlined
def bayes_vote(bank: Bayes, h: int, score: float) -> tuple[float, float]:
    """Return the votes for and against; a class that was never seen gets none."""
    positive, negative = bank.weights[1, h], bank.weights[0, h]
    if positive == 0.0 or negative == 0.0:
        return (1.0 if positive > 0.0 else 0.0), (1.0 if negative > 0.0 else 0.0)
    p = 1.0 / (1.0 + math.exp(-min(max(score, -LARGEST), LARGEST)))
    return p, 1.0 - p


@subkernel
def bayes_learn(
    bank: Bayes, settings: BayesSettings, scales: Scales, rows: Rows, row: int, h: int, y: int, weight: float
) -> None:
    """Train a classifier on a row of class y."""
    a, times = settings.smoothing, weight if settings.weighted else 1.0
    if times == 0.0:
        return
    bank.examples[y, h] += times
    bank.weights[y, h] += weight
    n1, n0 = bank.examples[1, h], bank.examples[0, h]
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot, x = rows.indices[j], rows.values[j]
        if math.isnan(x):
            continue
        bank.present[slot, y, h] += times
        c1, c0 = bank.present[slot, 1, h], bank.present[slot, 0, h]
        bank.gain[slot, h] = math.log((c1 + a) * (n0 - c0 + a) / ((c0 + a) * (n1 - c1 + a)))
        i = scales.numeric[slot]
        if i != PRESENCE:
            _learn_value(bank, i, h, y, x, times, bank.present[slot, y, h])
            if is_dense(scales, i):
                _fit_curve(bank, settings, scales, i, h, c1, c0)
    n = bank.examples[y, h]
    if n >= bank.refreshed[y, h] * (1.0 + 1.0 / REFRESH):
        _refresh_absent(bank, settings, scales, y, h)
    else:
        met, stored = scales.seen[1], rows.starts[row + 1] - rows.starts[row]
        bank.absent[y, h] += (met - stored) * math.log((n + a) / (n - times + a))
        bank.absent[y, h] -= met * math.log((n + 2.0 * a) / (n - times + 2.0 * a))
    bank.base[h] = (
        math.log((bank.weights[1, h] + 1.0) / (bank.weights[0, h] + 1.0)) + bank.absent[1, h] - bank.absent[0, h]
    )


@inlined
def _learn_value(bank: Bayes, i: int, h: int, y: int, x: float, times: float, count: float) -> None:
    difference = x - bank.mean[i, y, h]
    bank.mean[i, y, h] += times * difference / count
    bank.squares[i, y, h] += times * difference * (x - bank.mean[i, y, h])


@inlined
def _fit_curve(bank: Bayes, settings: BayesSettings, scales: Scales, i: int, h: int, c1: float, c0: float) -> None:
    """Write the log ratio of the two Gaussians, each shrunk towards that of all values."""
    m1, v1 = _shrunk(bank, settings, scales, i, h, 1, c1)
    m0, v0 = _shrunk(bank, settings, scales, i, h, 0, c0)
    bank.curve[i, 0, h] = 0.5 * (math.log(v0 / v1) + m0 * m0 / v0 - m1 * m1 / v1)
    bank.curve[i, 1, h] = m1 / v1 - m0 / v0
    bank.curve[i, 2, h] = 0.5 * (1.0 / v0 - 1.0 / v1)


@inlined
def _shrunk(
    bank: Bayes, settings: BayesSettings, scales: Scales, i: int, h: int, y: int, count: float
) -> tuple[float, float]:
    pseudo = settings.pseudo_examples
    all_mean, all_variance = scales.mean[i], scales.squares[i] / scales.times[i]
    mean = (count * bank.mean[i, y, h] + pseudo * all_mean) / (count + pseudo)
    off, shift = bank.mean[i, y, h] - mean, all_mean - mean
    total = bank.squares[i, y, h] + count * off * off + pseudo * (all_variance + shift * shift)
    return mean, total / (count + pseudo) + SMALLEST_VARIANCE


@inlined
def _refresh_absent(bank: Bayes, settings: BayesSettings, scales: Scales, y: int, h: int) -> None:
    a, n, total = settings.smoothing, bank.examples[y, h], 0.0
    for slot in range(len(scales.numeric)):
        if bank.present[slot, y, h] > 0.0:
            total += math.log((n - bank.present[slot, y, h] + a) / (n + a))
    bank.absent[y, h] = total + scales.seen[1] * math.log((n + a) / (n + 2.0 * a))
    bank.refreshed[y, h] = n


@kernel
def bayes_votes(bank: Bayes, settings: BayesSettings, scales: Scales, rows: Rows, ids: Ints, out: Floats) -> None:
    """Write the votes against and for (classifiers × 2) on the first row."""
    score = np.empty(bank.gain.shape[1])
    bayes_scores(bank, settings, scales, rows, 0, score)
    for k in range(len(ids)):
        out[k, 1], out[k, 0] = bayes_vote(bank, ids[k], score[ids[k]])


@kernel
def bayes_train(
    bank: Bayes, settings: BayesSettings, scales: Scales, rows: Rows, ids: Ints, truth: Ints, weights: Ints
) -> None:
    """Train classifiers on the first row, with a class and a weight for each."""
    observe_row(scales, rows, 0)
    for k in range(len(ids)):
        bayes_learn(bank, settings, scales, rows, 0, ids[k], truth[k], weights[k])
