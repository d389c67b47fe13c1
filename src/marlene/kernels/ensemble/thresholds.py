"""The decision threshold of every label, learnt online.

Scores of positive and negative examples are counted in bins. A label is predicted if its score lies in the bin `cut`
or above. Every `EVERY` examples the cuts are chosen afresh. The micro-average and the mean over examples are not sums
over labels: there a cut is judged by how the objective changes with it while all others stay. The mean over examples is
approximated from the shares of positive and of negative labels that are right.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels


BINS = 100
WIDEST = 6.5
"""The log odds at which the outermost bins begin."""
EVERY = 20
"""Examples between two choices."""
KEPT = 0.99
"""Decay of the counts at each choice: old scores came from other classifiers."""
PRIOR = 5.0
"""Pseudo-examples of each class of each label; those of the positive class lie evenly in the upper half."""


class Objective(NamedTuple):
    """How much each measure counts, and what a false positive and a false negative cost."""

    macro: float
    micro: float
    label_set: float
    f1: float
    false_positive: float
    false_negative: float


class Thresholds(NamedTuple):
    """What the cuts rest on.

    Attributes
    ----------
    counts
        Examples by label, class and bin.
    shares
        The same, each counted as its share of all positive (negative) labels of its example.
    cut
        The lowest bin in which each label is predicted.
    seen
        How many examples there were (one number).
    """

    counts: Floats
    shares: Floats
    cut: Ints
    seen: Ints


@inlined
def bin_of(score: float) -> int:
    """Return the bin of a score from 0 to 1: bins are equally wide in log odds, the outer ones without an end."""
    if score <= 0.0 or score >= 1.0:
        return 0 if score <= 0.0 else BINS - 1
    place = (0.5 + math.log(score / (1.0 - score)) / (2.0 * WIDEST)) * BINS
    return int(min(max(place, 0.0), BINS - 1.0))


@inlined
def decide_row(state: Thresholds, scores: Floats, out: Labels) -> None:
    """Write the predictions of an example; none where there is no score (NaN)."""
    for q in range(len(scores)):
        out[q] = 1 if not math.isnan(scores[q]) and bin_of(scores[q]) >= state.cut[q] else 0


@subkernel
def observe_scores(state: Thresholds, scores: Floats, truth: Labels, weight: float) -> None:
    """Count the scores of an example of some weight."""
    positives = negatives = 0.0
    for q in range(len(scores)):
        positives += 1.0 if truth[q] == 1 else 0.0
        negatives += 1.0 if truth[q] == 0 else 0.0
    if positives + negatives > 0.0:
        state.seen[0] += 1
    for q in range(len(scores)):
        if truth[q] >= 0 and not math.isnan(scores[q]):
            b = bin_of(scores[q])
            state.counts[q, truth[q], b] += weight
            state.shares[q, truth[q], b] += weight / (positives if truth[q] == 1 else negatives)


class _Pooled(NamedTuple):
    """The G-Mean of all labels pooled, at the present cuts: half of it times its weight, and the rates it follows from.

    To first order, G = √(TP/P · TN/N) changes by G/2 · (ΔTP/TP + ΔTN/TN).
    """

    half: float
    hits: float
    rejected: float


class _Label(NamedTuple):
    """Sums over the bins of a label: positives, negatives, and what lies above (hits) and below (rejected) a cut."""

    positives: float
    negatives: float
    hits: float
    rejected: float
    share_hits: float
    share_rejected: float


@subkernel
def _pool(counts: Floats, cut: Ints, weight: float) -> _Pooled:
    p = n = tp = tn = 0.0
    for q in range(len(cut)):
        for b in range(BINS):
            p += counts[q, 1, b]
            n += counts[q, 0, b]
            if b >= cut[q]:
                tp += counts[q, 1, b]
            else:
                tn += counts[q, 0, b]
    prior = len(cut) * PRIOR
    g = math.sqrt((tp + prior) / (p + prior) * (tn + prior) / (n + prior))
    return _Pooled(g * 0.5 * weight, tp + prior, tn + prior)


@inlined
def _prior(b: int, y: int) -> float:
    return PRIOR * 2.0 / BINS if (b >= BINS // 2) == (y == 1) else 0.0


@inlined
def _everything_predicted(counts: Floats, shares: Floats) -> _Label:
    """Return the sums of a label for the lowest cut."""
    positives = negatives = PRIOR
    share_positive = 0.0
    for b in range(BINS):
        positives += counts[1, b]
        negatives += counts[0, b]
        share_positive += shares[1, b]
    return _Label(positives, negatives, positives, 0.0, share_positive, 0.0)


@inlined
def _without_bin(sums: _Label, counts: Floats, shares: Floats, b: int) -> _Label:
    """Move the cut above bin b."""
    return _Label(
        sums.positives,
        sums.negatives,
        sums.hits - (counts[1, b] + _prior(b, 1)),
        sums.rejected + (counts[0, b] + _prior(b, 0)),
        sums.share_hits - shares[1, b],
        sums.share_rejected + shares[0, b],
    )


@inlined
def _value(sums: _Label, objective: Objective, macro: float, micro: _Pooled, label_set: _Pooled) -> float:
    """Return what the objective is worth at a label's cut, all other cuts as they are."""
    p, n, hits, rejected = sums.positives, sums.negatives, sums.hits, sums.rejected
    value = macro * math.sqrt(max(hits, 0.0) / p * rejected / n)
    value += micro.half * (hits / micro.hits + rejected / micro.rejected)
    value += label_set.half * (sums.share_hits / label_set.hits + sums.share_rejected / label_set.rejected)
    if objective.f1 > 0.0:
        value += objective.f1 * 2.0 * hits / (hits + n - rejected + p)
    return value - (objective.false_positive * (n - rejected) + objective.false_negative * (p - hits))


@subkernel
def choose_cuts(state: Thresholds, objective: Objective) -> None:
    """Choose the best cut of every label; of equally good ones that closest to the middle."""
    micro = _pool(state.counts, state.cut, objective.micro)
    label_set = _pool(state.shares, state.cut, objective.label_set)
    macro = objective.macro / len(state.cut)
    for q in range(len(state.cut)):
        counts, shares = state.counts[q], state.shares[q]
        sums = _everything_predicted(counts, shares)
        best, chosen = -np.inf, BINS // 2
        for cut in range(BINS + 1):
            if cut > 0:
                sums = _without_bin(sums, counts, shares, cut - 1)
            value = _value(sums, objective, macro, micro, label_set)
            if value > best or (value == best and abs(cut - BINS // 2) < abs(chosen - BINS // 2)):
                best, chosen = value, cut
        state.cut[q] = chosen


@kernel
def decide(state: Thresholds, scores: Floats, out: Labels) -> None:
    """Write the predictions of examples (examples × labels); NaN is no score, and no prediction."""
    for row in range(len(scores)):
        decide_row(state, scores[row], out[row])


@subkernel
def learn_scores(state: Thresholds, objective: Objective, scores: Floats, truth: Labels, weight: float) -> None:
    """Count the scores of an example of some weight; choose the cuts afresh if it is time."""
    before = state.seen[0]
    observe_scores(state, scores, truth, weight)
    if state.seen[0] > before and state.seen[0] % EVERY == 0:
        choose_cuts(state, objective)
        for q in range(len(state.cut)):
            for y in range(2):
                for b in range(BINS):
                    state.counts[q, y, b] *= KEPT
                    state.shares[q, y, b] *= KEPT


@kernel
def decide_and_learn(state: Thresholds, objective: Objective, scores: Floats, truth: Labels, out: Labels) -> None:
    """Write the predictions of examples, and learn from each of them before the next."""
    for row in range(len(scores)):
        decide_row(state, scores[row], out[row])
        learn_scores(state, objective, scores[row], truth[row], 1.0)
