"""Naive Bayes for two classes, any number of classifiers side by side: arrays are laid out by input.

The gain of an input, what its presence adds to the log odds, is kept. A vote adds up one row of gains for every input
of the example. A gain is computed afresh when the number of examples with the input has grown by a 32nd, the sum over
absent inputs when the class has grown by an eighth; in between it is updated to first order in how often inputs are
present. Inputs are not independent, so that plain naive Bayes is too sure of itself: the log odds are divided by the
square root of the number of inputs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.banks.scales import PRESENCE, is_dense
from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats
    from marlene.kernels.banks.scales import Scales
    from marlene.kernels.rows import Rows


REFRESH, AT_LEAST = 0.125, 2.0
"""The sum over absent inputs is computed afresh when the class has grown by this part, and by this many examples."""
FRESH = 32
"""A gain is computed afresh when the number of examples with the input has grown by one part in so many, or sooner."""
FACTORS = 8
"""How many probabilities are multiplied before their logarithm is taken."""
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
        What the presence of an input adds to the log odds, as of the last example that had it; 0 if none had.
    mean, squares
        Of the values of numeric inputs: the mean and the sum of squared deviations (numeric inputs × 2 × classifiers).
    curve
        The log odds of a value of a numeric input are c₀ + c₁x + c₂x² at x from its `Scales.origin` (numeric inputs × 3
        × classifiers).
    examples
        Examples of each class, or their weight.
    weights
        The sums of the weights they were learnt with.
    absent
        Σ log P(absent) over all inputs met so far, for each class.
    inputs
        How many inputs the examples of each class had, all together.
    refreshed
        How many examples the class had when `absent` was computed afresh.
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
    inputs: Floats
    refreshed: Floats
    base: Floats


@subkernel
def bayes_scores(
    bank: Bayes, settings: BayesSettings, scales: Scales, rows: Rows, row: int, first: int, stop: int, out: Floats
) -> None:
    """Write the log odds of the positive class, by the classifiers from `first` to `stop`."""
    for h in range(first, stop):
        out[h] = bank.base[h]
    known = 0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot, x = rows.indices[j], rows.values[j]
        if math.isnan(x):
            if not scales.met[slot]:  # nor is it among the absent ones
                continue
            for h in range(first, stop):
                out[h] -= _log_absent(bank, settings, slot, 1, h) - _log_absent(bank, settings, slot, 0, h)
            continue
        known += 1
        gain = bank.gain[slot]
        for h in range(first, stop):
            out[h] += gain[h]
        i = scales.numeric[slot]
        if i != PRESENCE and is_dense(scales, i):
            x -= scales.origin[i]
            c0, c1, c2, square = bank.curve[i, 0], bank.curve[i, 1], bank.curve[i, 2], x * x
            for h in range(first, stop):
                out[h] += c0[h] + c1[h] * x + c2[h] * square
    certainty = 1.0 / math.sqrt(max(1, known))
    for h in range(first, stop):
        out[h] *= certainty


@inlined
def _log_absent(bank: Bayes, settings: BayesSettings, slot: int, y: int, h: int) -> float:
    a, n = settings.smoothing, bank.examples[y, h]
    return math.log((n - bank.present[slot, y, h] + a) / (n + 2.0 * a))


@inlined
def bayes_vote(bank: Bayes, h: int, score: float) -> tuple[float, float]:
    """Return the votes for and against; a class that was never seen gets none."""
    positive, negative = bank.weights[1, h], bank.weights[0, h]
    if positive == 0.0 or negative == 0.0:
        return (1.0 if positive > 0.0 else 0.0), (1.0 if negative > 0.0 else 0.0)
    p = 1.0 / (1.0 + math.exp(-min(max(score, -LARGEST), LARGEST)))
    return p, 1.0 - p


@inlined
def is_due(count: int) -> bool:
    """Tell whether a gain is computed afresh at this number of examples of a class.

    It is at multiples of the largest power of two that is at most the number divided by `FRESH`.
    """
    return (count & -count) * 2 * FRESH >= count


@subkernel
def bayes_learn(
    bank: Bayes,
    settings: BayesSettings,
    scales: Scales,
    rows: Rows,
    row: int,
    h: int,
    y: int,
    weight: float,
    importance: float,
    patience: float,
) -> None:
    """Train a classifier on a row of class y.

    `weight` is that of the class, `importance` that of the example, `patience` says how much longer to keep sums over
    absent inputs.
    """
    a, times = settings.smoothing, importance * (weight if settings.weighted else 1.0)
    if times == 0.0:
        return
    bank.examples[y, h] += times
    bank.weights[y, h] += importance * weight
    n1, n0 = bank.examples[1, h], bank.examples[0, h]
    stored, common = 0, 0.0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot, x = rows.indices[j], rows.values[j]
        if math.isnan(x):
            continue
        stored += 1
        common += bank.present[slot, y, h]
        bank.present[slot, y, h] += times
        c1, c0 = bank.present[slot, 1, h], bank.present[slot, 0, h]
        due = is_due(int(bank.present[slot, y, h])) or importance > 1.0
        if due:
            bank.gain[slot, h] = math.log((c1 + a) * (n0 - c0 + a) / ((c0 + a) * (n1 - c1 + a)))
        i = scales.numeric[slot]
        if i != PRESENCE:
            _learn_value(bank, i, h, y, x, times, bank.present[slot, y, h])
            if due and is_dense(scales, i):
                _fit_curve(bank, settings, scales, i, h, c1, c0)
    n, refreshed = bank.examples[y, h], bank.refreshed[y, h]
    if refreshed == 0.0 or n >= refreshed + patience * max(REFRESH * refreshed, AT_LEAST):
        _refresh_absent(bank, settings, scales, y, h)
    else:
        met, before = scales.seen[1], n - times
        bank.absent[y, h] += (met - stored) * math.log((n + a) / (before + a))
        bank.absent[y, h] += (bank.inputs[y, h] - common) * times / ((before + a) * (n + a))
        bank.absent[y, h] -= met * math.log((n + 2.0 * a) / (before + 2.0 * a))
    bank.inputs[y, h] += times * stored
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
    m1, m0 = m1 - scales.origin[i], m0 - scales.origin[i]
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
    product, factors = 1.0, 0
    for slot in range(min(len(scales.numeric), len(bank.gain))):  # either may have room to spare
        if bank.present[slot, y, h] > 0.0:
            product *= (n - bank.present[slot, y, h] + a) / (n + a)
            factors += 1
            if factors == FACTORS:
                total += math.log(product)
                product, factors = 1.0, 0
    total += math.log(product)
    bank.absent[y, h] = total + scales.seen[1] * math.log((n + a) / (n + 2.0 * a))
    bank.refreshed[y, h] = n


@subkernel
def bayes_copy(bank: Bayes, giver: int, heir: int, kept: float) -> None:
    """Let a classifier become a copy of another; `kept`: the part of its examples that are kept."""
    for slot in range(len(bank.gain)):
        bank.gain[slot, heir] = bank.gain[slot, giver]
        for y in range(2):
            bank.present[slot, y, heir] = kept * bank.present[slot, y, giver]
    for i in range(len(bank.curve)):
        for y in range(2):
            bank.mean[i, y, heir] = bank.mean[i, y, giver]
            bank.squares[i, y, heir] = kept * bank.squares[i, y, giver]
        for c in range(3):
            bank.curve[i, c, heir] = bank.curve[i, c, giver]
    for y in range(2):
        bank.examples[y, heir] = kept * bank.examples[y, giver]
        bank.weights[y, heir] = kept * bank.weights[y, giver]
        bank.absent[y, heir] = bank.absent[y, giver]
        bank.inputs[y, heir] = kept * bank.inputs[y, giver]
        bank.refreshed[y, heir] = kept * bank.examples[y, giver]
    bank.base[heir] = bank.base[giver]


@subkernel
def bayes_clear(bank: Bayes, h: int) -> None:
    """Let a classifier forget everything."""
    for slot in range(len(bank.gain)):
        bank.gain[slot, h] = bank.present[slot, 0, h] = bank.present[slot, 1, h] = 0.0
    for i in range(len(bank.curve)):
        for y in range(2):
            bank.mean[i, y, h] = bank.squares[i, y, h] = 0.0
        for c in range(3):
            bank.curve[i, c, h] = 0.0
    for y in range(2):
        bank.examples[y, h] = bank.weights[y, h] = bank.inputs[y, h] = 0.0
        bank.absent[y, h] = bank.refreshed[y, h] = 0.0
    bank.base[h] = 0.0
