"""Where to cut the score of every label, learnt from the labels of the past.

Scores of positive and negative examples are counted in bins; a label is predicted if its score lies in its `cut` or in
a bin above. Every `EVERY` examples the cuts are chosen anew. Where the objective does not fall into labels (the
micro-average, and the mean over examples), a cut is judged by how the objective changes with it, all others as they
are. The mean over examples is taken for that of the shares of positive and of negative labels that are right.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels


BINS = 100
EVERY = 20
"""Examples between two choices."""
KEPT = 0.99
"""What is left of each count after each choice: scores of long ago were given by other classifiers."""
PRIOR = 2.0
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
    """Return the bin a score from 0 to 1 lies in."""
    return min(int(score * BINS), BINS - 1)


@inlined
def decide_row(state: Thresholds, scores: Floats, out: Labels) -> None:
    """Write the predictions of an example; none where there is no score (NaN)."""
    for q in range(len(scores)):
        out[q] = 1 if scores[q] >= state.cut[q] / BINS else 0


@subkernel
def observe_scores(state: Thresholds, scores: Floats, truth: Labels) -> None:
    """Count the scores of an example."""
    positives = negatives = 0.0
    for q in range(len(scores)):
        positives += 1.0 if truth[q] == 1 else 0.0
        negatives += 1.0 if truth[q] == 0 else 0.0
    if positives + negatives > 0.0:
        state.seen[0] += 1
    for q in range(len(scores)):
        if truth[q] >= 0 and not math.isnan(scores[q]):
            b = bin_of(scores[q])
            state.counts[q, truth[q], b] += 1.0
            state.shares[q, truth[q], b] += 1.0 / (positives if truth[q] == 1 else negatives)


@subkernel
def _rates(counts: Floats, cut: Ints) -> tuple[float, float, float, float]:
    """Return positives, negatives, and how much of each is predicted right, over all labels."""
    p = n = tp = tn = 0.0
    for q in range(len(cut)):
        for b in range(BINS):
            p += counts[q, 1, b]
            n += counts[q, 0, b]
            if b >= cut[q]:
                tp += counts[q, 1, b]
            else:
                tn += counts[q, 0, b]
    return p, n, tp, tn


@inlined
def _prior(b: int, y: int) -> float:
    return PRIOR * 2.0 / BINS if (b >= BINS // 2) == (y == 1) else 0.0


@subkernel
def choose_cuts(state: Thresholds, objective: Objective) -> None:
    """Choose the cut of every label."""
    p, n, tp, tn = _rates(state.counts, state.cut)
    sp, sn, stp, stn = _rates(state.shares, state.cut)
    n_labels = len(state.cut)
    prior = n_labels * PRIOR
    micro = math.sqrt((tp + prior) / (p + prior) * (tn + prior) / (n + prior)) * 0.5 * objective.micro
    shared = math.sqrt((stp + prior) / (sp + prior) * (stn + prior) / (sn + prior)) * 0.5 * objective.label_set
    for q in range(n_labels):
        counts, shares = state.counts[q], state.shares[q]
        positives = negatives = PRIOR
        share_positive = 0.0
        for b in range(BINS):
            positives += counts[1, b]
            negatives += counts[0, b]
            share_positive += shares[1, b]
        hits, rejected, share_hits, share_rejected = positives, 0.0, share_positive, 0.0
        best, chosen, before = -np.inf, BINS // 2, BINS
        for cut in range(BINS + 1):
            if cut > 0:
                b = cut - 1
                hits -= counts[1, b] + _prior(b, 1)
                rejected += counts[0, b] + _prior(b, 0)
                share_hits -= shares[1, b]
                share_rejected += shares[0, b]
            value = objective.macro / n_labels * math.sqrt(max(hits, 0.0) / positives * rejected / negatives)
            value += micro * (hits / (tp + prior) + rejected / (tn + prior))
            value += shared * (share_hits / (stp + prior) + share_rejected / (stn + prior))
            if objective.f1 > 0.0:
                value += objective.f1 * 2.0 * hits / (hits + negatives - rejected + positives)
            value -= objective.false_positive * (negatives - rejected) + objective.false_negative * (positives - hits)
            off = abs(cut - BINS // 2)
            if value > best or (value == best and off < before):
                best, chosen, before = value, cut, off
        state.cut[q] = chosen


@kernel
def decide(state: Thresholds, scores: Floats, out: Labels) -> None:
    """Write the predictions of examples (examples × labels); NaN is no score, and no prediction."""
    for row in range(len(scores)):
        decide_row(state, scores[row], out[row])


@kernel
def decide_and_learn(state: Thresholds, objective: Objective, scores: Floats, truth: Labels, out: Labels) -> None:
    """Write the predictions of examples, and learn from each of them before the next."""
    for row in range(len(scores)):
        decide_row(state, scores[row], out[row])
        before = state.seen[0]
        observe_scores(state, scores[row], truth[row])
        if state.seen[0] > before and state.seen[0] % EVERY == 0:
            choose_cuts(state, objective)
            for q in range(len(state.cut)):
                for y in range(2):
                    for b in range(BINS):
                        state.counts[q, y, b] *= KEPT
                        state.shares[q, y, b] *= KEPT
