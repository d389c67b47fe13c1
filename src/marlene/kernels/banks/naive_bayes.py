"""Naive Bayes for two classes, any number of classifiers side by side: arrays are laid out by input.

The gain of an input, what its presence adds to the log odds, is kept. A vote adds up one row of gains for every input
of the example. A gain is computed afresh when the number of examples with the input has grown by a 32nd, the sum over
absent inputs when the class has grown by an eighth, unless all inputs are rare; in between it is updated to first
order in how often inputs are present. Inputs are not independent, so that plain naive Bayes is too sure of itself:
the log odds are divided by the square root of the number of inputs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.banks.scales import PRESENCE, is_dense, list_met
from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.smooth import log_of

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Floats32, Ints, Labels
    from marlene.kernels.banks.scales import Scales
    from marlene.kernels.rows import Rows


REFRESH, AT_LEAST = 0.125, 2.0
"""The sum over absent inputs is computed afresh when the class has grown by this part, and by this many examples."""
TOLERANCE = 0.02
"""And when the terms of second order since then come to more than this, as the present example suggests. They are small
if most inputs are rare, however many there are."""
PATIENCE = 4.0
"""How much longer classifiers that are many, and do not live long, keep their sums over absent inputs."""
FRESH = 32
"""A gain is computed afresh when the number of examples with the input has grown by one part in so many, or sooner."""
SMALLEST_PRODUCT = 1e-200
"""Probabilities are multiplied down to this before their logarithm is taken."""
LARGEST = 30.0
"""Log odds beyond which a vote is as good as certain."""
SMALLEST_VARIANCE = 1e-12
WORK = 5
"""Numbers of work space for each classifier that learns: how often the example counts, how often its inputs were there
before, what is due or changes, its weight, and how many examples there are."""


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
    gain: Floats32
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
    odds, base, count = out[first:stop], bank.base[first:stop], stop - first
    for h in range(count):
        odds[h] = base[h]
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
        gain = bank.gain[slot, first:stop]
        for h in range(count):
            odds[h] += gain[h]
        i = scales.numeric[slot]
        if i != PRESENCE and is_dense(scales, i):
            x -= scales.origin[i]
            c0, c1, c2 = bank.curve[i, 0, first:stop], bank.curve[i, 1, first:stop], bank.curve[i, 2, first:stop]
            for h in range(count):
                odds[h] += c0[h] + c1[h] * x + c2[h] * (x * x)
    certainty = 1.0 / math.sqrt(max(1, known))
    for h in range(count):
        odds[h] *= certainty


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
    first: int,
    truth: Labels,
    weights: Floats,
    importance: float,
    patient: int,
    work: Floats,
    listed: Ints,
) -> None:
    """Train the classifiers from `first` on a row, each on its class; -1: not at all.

    `weights` are those of the classes, `importance` is that of the example. The classifiers from number `patient` on
    keep sums over absent inputs longer. `work` has `WORK` numbers for each classifier, `listed` room for a list of all
    inputs.
    """
    count, stop = len(truth), first + len(truth)
    times, common, due = work[0, :count], work[1, :count], work[2, :count]
    if not _count_example(bank, settings, first, truth, weights, importance, times):
        return
    for k in range(count):
        common[k] = 0.0
    stored = 0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot, x = rows.indices[j], rows.values[j]
        if math.isnan(x):
            continue
        stored += 1
        negative, positive = bank.present[slot, 0, first:stop], bank.present[slot, 1, first:stop]
        _count_input(negative, positive, times, common, due, importance > 1.0)
        if scales.numeric[slot] != PRESENCE:
            _learn_value(bank, scales.numeric[slot], negative, positive, first, x, times)
        if _is_any(due[:patient]):
            _refresh_gains(bank, settings, scales, slot, first, due[:patient])
        if _is_any(due[patient:]):
            _refresh_gains(bank, settings, scales, slot, first + patient, due[patient:])
    _learn_absent(bank, settings, scales, first, count, stored, patient, work, listed)


@inlined
def _count_example(
    bank: Bayes, settings: BayesSettings, first: int, truth: Labels, weights: Floats, importance: float, times: Floats
) -> bool:
    """Write how often the example counts, below zero for the negative class; tell whether it does for anyone."""
    learns = False
    for k in range(len(truth)):
        weight, h = importance * weights[k], first + k
        counts = weight if settings.weighted else importance
        times[k] = 0.0 if truth[k] < 0 else counts if truth[k] == 1 else -counts
        if times[k] != 0.0:
            learns = True
            bank.examples[truth[k], h] += counts
            bank.weights[truth[k], h] += weight
    return learns


@inlined
def _count_input(negative: Floats, positive: Floats, times: Floats, common: Floats, due: Floats, always: bool) -> None:
    """Count an input of the example, and add to `common` what was counted before; write which gains are due."""
    for k in range(len(times)):
        t, n, p = times[k], negative[k], positive[k]
        n -= t if t < 0.0 else 0.0  # noqa: FURB136 (faster: no check for NaN)
        p += t if t > 0.0 else 0.0  # noqa: FURB136
        negative[k], positive[k] = n, p
        now = p if t > 0.0 else n
        learns = 1.0 if t != 0.0 else 0.0
        common[k] += learns * (now - abs(t))
        is_now = (t != 0.0) & (is_due(int(now)) | always)
        due[k] = 1.0 if is_now else 0.0


@inlined
def _is_any(due: Floats) -> bool:
    """Tell whether any gain is due."""
    found = 0
    for k in range(len(due)):
        found += 1 if due[k] != 0.0 else 0
    return found > 0


@inlined
def _refresh_gains(bank: Bayes, settings: BayesSettings, scales: Scales, slot: int, first: int, due: Floats) -> None:
    """Compute the gains afresh that are due, and the curves."""
    a, count, stop = settings.smoothing, len(due), first + len(due)
    c0, c1 = bank.present[slot, 0, first:stop], bank.present[slot, 1, first:stop]
    n0, n1, gain = bank.examples[0, first:stop], bank.examples[1, first:stop], bank.gain[slot, first:stop]
    for k in range(count):
        fresh = log_of((c1[k] + a) * (n0[k] - c0[k] + a) / ((c0[k] + a) * (n1[k] - c1[k] + a)))
        gain[k] = fresh if due[k] != 0.0 else gain[k]
    i = scales.numeric[slot]
    if i != PRESENCE and is_dense(scales, i):
        for k in range(count):
            if due[k] != 0.0:
                _fit_curve(bank, settings, scales, i, first + k, c1[k], c0[k])


@subkernel
def _learn_absent(
    bank: Bayes, settings: BayesSettings, scales: Scales, first: int, count: int, stored: int, patient: int,
    work: Floats, listed: Ints,
) -> None:  # fmt: skip
    """Update the sums over absent inputs for an example that has `stored` of those met, or compute them afresh."""
    times, common, change, stop = work[0, :count], work[1, :count], work[2, :count], first + count
    _write_changes(bank, settings, scales, first, count, stored, work)
    negative, positive = bank.inputs[0, first:stop], bank.inputs[1, first:stop]
    for k in range(count):
        negative[k] -= times[k] * stored if times[k] < 0.0 else 0.0
        positive[k] += times[k] * stored if times[k] > 0.0 else 0.0
    negative, positive = bank.absent[0, first:stop], bank.absent[1, first:stop]
    for k in range(count):
        negative[k] += change[k] if times[k] < 0.0 else 0.0
        positive[k] += change[k] if times[k] > 0.0 else 0.0
    inputs = listed[:0]
    for k in range(count):
        y, h = 1 if times[k] > 0.0 else 0, first + k
        if times[k] != 0.0 and _is_off(bank, y, h, common[k], PATIENCE if k >= patient else 1.0):
            if len(inputs) == 0 and bank.refreshed[y, h] > 0.0:
                inputs = listed[: list_met(scales.met, listed)]
            _refresh_absent(bank, settings, scales, y, h, stored, inputs)
    w0, w1, base = bank.weights[0, first:stop], bank.weights[1, first:stop], bank.base[first:stop]
    for k in range(count):
        fresh = log_of((w1[k] + 1.0) / (w0[k] + 1.0)) + positive[k] - negative[k]
        base[k] = fresh if times[k] != 0.0 else base[k]


@inlined
def _write_changes(
    bank: Bayes, settings: BayesSettings, scales: Scales, first: int, count: int, stored: int, work: Floats
) -> None:
    """Write by how much the sums over absent inputs change, to first order; of classes the example has."""
    a, met, stop = settings.smoothing, scales.seen[1], first + count
    times, common, change, now = work[0, :count], work[1, :count], work[2, :count], work[4, :count]
    n0, n1 = bank.examples[0, first:stop], bank.examples[1, first:stop]
    inputs0, inputs1 = bank.inputs[0, first:stop], bank.inputs[1, first:stop]
    for k in range(count):
        negatives, positives, had0, had1 = n0[k], n1[k], inputs0[k], inputs1[k]  # read before the choice, not at places
        now[k] = positives if times[k] > 0.0 else negatives
        change[k] = had1 if times[k] > 0.0 else had0
    for k in range(count):
        weight, n = abs(times[k]), now[k]
        before = n - weight
        of_all = (met - stored) * log_of((n + a) / (before + a)) - met * log_of((n + 2.0 * a) / (before + 2.0 * a))
        change[k] = of_all + (change[k] - common[k]) * weight / ((before + a) * (n + a))


@inlined
def _is_off(bank: Bayes, y: int, h: int, common: float, patience: float) -> bool:
    """Tell whether the sum over absent inputs is to be computed afresh."""
    n, refreshed = bank.examples[y, h], bank.refreshed[y, h]
    late = n - refreshed
    is_late = late >= patience * max(REFRESH * refreshed, AT_LEAST) and common * late > TOLERANCE * n * n
    return bool(refreshed == 0.0 or is_late)


@inlined
def _learn_value(bank: Bayes, i: int, negative: Floats, positive: Floats, first: int, x: float, times: Floats) -> None:
    """Count the value of a numeric input; how often it was present with each class is given."""
    stop = first + len(times)
    _learn_moments(bank.mean[i, 0, first:stop], bank.squares[i, 0, first:stop], negative, x, times, -1.0)
    _learn_moments(bank.mean[i, 1, first:stop], bank.squares[i, 1, first:stop], positive, x, times, 1.0)


@inlined
def _learn_moments(mean: Floats, squares: Floats, present: Floats, x: float, times: Floats, sign: float) -> None:
    """Count a value of the class with this sign."""
    for k in range(len(times)):
        weight, difference = sign * times[k], x - mean[k]
        learns = weight > 0.0
        move = weight * difference / present[k]
        mean[k] += move if learns else 0.0
        more = weight * difference * (x - mean[k])
        squares[k] += more if learns else 0.0


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
def _refresh_absent(
    bank: Bayes, settings: BayesSettings, scales: Scales, y: int, h: int, stored: int, inputs: Ints
) -> None:
    """Compute the sum over absent inputs afresh, from those that were met, after an example that has so many."""
    a, n, total = settings.smoothing, bank.examples[y, h], 0.0
    product, part, present = 1.0, 1.0 / (n + a), bank.present[:, y, h]
    if bank.refreshed[y, h] == 0.0:  # the first example of the class: all have had its inputs, and no others
        total = stored * log_of(a * part)
    else:
        for j in range(len(inputs)):
            count = present[inputs[j]]
            absent = (n - count + a) * part
            product *= absent if count > 0.0 else 1.0
            if product < SMALLEST_PRODUCT:
                total += log_of(product)
                product = 1.0
        total += log_of(product)
    bank.absent[y, h] = total + scales.seen[1] * log_of((n + a) / (n + 2.0 * a))
    bank.refreshed[y, h] = n
