"""The decision threshold of every label, learnt online for measures that are made of counts.

Scores of positive and negative examples are counted in bins. A label is predicted if its score lies in the bin `cut`
or above. Labels compete: the surer the surest label of an example, the lower are all its scores taken to be (`PULL`).
Every `EVERY` examples the labels choose their cuts one after the other, each knowing what the others chose,
so that every move makes the objective larger and together they come to rest. A label moves only if it gains something
(`HYSTERESIS`), and borrows what it lacks in evidence from the mean of all labels (`BORROWED`). Labels that are rarer
than `RARE` look more at their own G-Mean than at measures over all labels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.decisions.calibration import log_odds

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels


BINS = 100
WIDEST = 6.5
"""The log odds at which the outermost bins begin."""
PULL = 0.15
"""The part of the largest log odds of an example, if positive, by which the log odds of all its labels are lowered."""
EVERY = 10
"""Examples between two choices."""
KEPT = 0.99
"""Decay of the counts at each choice: old scores came from other classifiers."""
PRIOR = 5.0
"""Pseudo-examples of each class of each label, spread evenly over the half they belong to."""
BORROWED = 20.0
"""Further pseudo-examples, spread as the scores of that class are on the mean of all labels."""
HYSTERESIS = 0.003
"""What a move must gain at least, divided by the number of labels."""
RARE = 0.01
"""The share of positive examples below which measures over all labels count less for a label."""


class Aims(NamedTuple):
    """How much each measure counts: G-Means, F1 of each label, F1 of all labels together."""

    macro: float
    micro: float
    label_set: float
    macro_f1: float
    micro_f1: float


class Cuts(NamedTuple):
    """What the cuts rest on.

    Attributes
    ----------
    counts
        Examples by label, class and bin.
    shares
        The same, each counted as its share of all negative (positive) labels of its example.
    cut
        The lowest bin in which each label is predicted.
    rows
        How many examples there were, decaying; and the sums of how much of an example's only label (see `_certainty`)
        there is in its negative and in its positive labels.
    seen
        How many examples there were (one number).
    """

    counts: Floats
    shares: Floats
    cut: Ints
    rows: Floats
    seen: Ints


@inlined
def lowering(scores: Floats) -> float:
    """Return by how much the log odds of an example's labels are lowered."""
    largest = 0.5
    for q in range(len(scores)):
        largest = max(largest, scores[q])
    return PULL * log_odds(largest)


@inlined
def bin_of(score: float, lower: float) -> int:
    """Return the bin of a score from 0 to 1: bins are equally wide in log odds, the outer ones without an end."""
    if score <= 0.0 or score >= 1.0:
        return 0 if score <= 0.0 else BINS - 1
    place = (0.5 + (math.log(score / (1.0 - score)) - lower) / (2.0 * WIDEST)) * BINS
    return int(min(max(place, 0.0), BINS - 1.0))


@inlined
def is_above(state: Cuts, scores: Floats, q: int, lower: float) -> bool:
    """Tell whether a label is predicted; it is not where there is no score (NaN)."""
    return bool(not math.isnan(scores[q]) and bin_of(scores[q], lower) >= state.cut[q])


@inlined
def _certainty(labels: float) -> float:
    """Return how much the share of right ones among so many labels is all or nothing: 1 for one label, 0 for many."""
    return float(labels**-1.5) if labels > 0.0 else 0.0


@subkernel
def observe_scores(state: Cuts, scores: Floats, truth: Labels, weight: float) -> bool:
    """Count the scores of an example; tell whether any of its labels is known."""
    positives, negatives, lower = 0.0, 0.0, lowering(scores)
    for q in range(len(scores)):
        positives += 1.0 if truth[q] == 1 else 0.0
        negatives += 1.0 if truth[q] == 0 else 0.0
    if positives > 0.0 and negatives > 0.0:
        state.rows[0] += weight
        state.rows[1] += weight * _certainty(negatives)
        state.rows[2] += weight * _certainty(positives)
    for q in range(len(scores)):
        if truth[q] >= 0 and not math.isnan(scores[q]):
            b = bin_of(scores[q], lower)
            state.counts[q, truth[q], b] += weight
            state.shares[q, truth[q], b] += weight / (positives if truth[q] == 1 else negatives)
    return positives + negatives > 0.0


class _Sums(NamedTuple):
    """What lies below a cut of negatives (rejected), and above it of positives (hits), as counts and as shares."""

    rejected: float
    hits: float
    share_rejected: float
    share_hits: float


class _Everything(NamedTuple):
    """All negatives and positives, of a label or of all labels, as counts and as shares."""

    negatives: float
    positives: float
    share_negatives: float
    share_positives: float


@subkernel
def _set_prior(counts: Floats, prior: Floats, shape: Floats) -> None:
    """Write the pseudo-examples of a label by class and bin; `shape` is work space."""
    n_labels = len(counts)
    for y in range(2):
        for b in range(BINS):
            prior[y, b] = PRIOR * 2.0 / BINS if (b >= BINS // 2) == (y == 1) else 0.0
    for y in range(2):
        for b in range(BINS):
            shape[b] = 0.0
        for q in range(n_labels):
            total = PRIOR
            for b in range(BINS):
                total += counts[q, y, b]
            for b in range(BINS):
                shape[b] += (counts[q, y, b] + prior[y, b]) / total
        for b in range(BINS):
            prior[y, b] += BORROWED * shape[b] / n_labels


@inlined
def _all_of(counts: Floats, shares: Floats, prior: Floats) -> _Everything:
    n = p = sn = sp = 0.0
    for b in range(BINS):
        n += counts[0, b] + prior[0, b]
        p += counts[1, b] + prior[1, b]
        sn += shares[0, b]
        sp += shares[1, b]
    return _Everything(n, p, sn, sp)


@inlined
def _right_of(counts: Floats, shares: Floats, prior: Floats, cut: int) -> _Sums:
    """Return what a cut gets right."""
    rejected = hits = share_rejected = share_hits = 0.0
    for b in range(cut):
        rejected += counts[0, b] + prior[0, b]
        share_rejected += shares[0, b]
    for b in range(cut, BINS):
        hits += counts[1, b] + prior[1, b]
        share_hits += shares[1, b]
    return _Sums(rejected, hits, share_rejected, share_hits)


class Certain(NamedTuple):
    """How much the shares of right labels are all or nothing, for negative and for positive labels of an example."""

    negatives: float
    positives: float


@inlined
def certain_of(rows: Floats) -> Certain:
    """Return it on the mean of the examples."""
    examples = max(rows[0], 1e-9)
    return Certain(rows[1] / examples, rows[2] / examples)


@inlined
def mean_root(share: float, certain: float) -> float:
    """Return the mean over examples of the root of the share of right labels."""
    return certain * share + (1.0 - certain) * math.sqrt(share)


class _Scales(NamedTuple):
    """What the measures are multiplied by: how much each counts, over what it is a share of."""

    macro: float
    micro: float
    label_set: float
    share_negatives: float
    share_positives: float
    macro_f1: float
    micro_f1: float


@inlined
def _scales_of(aims: Aims, label: _Everything, labels: _Everything, rows: Floats, n_labels: int) -> _Scales:
    return _Scales(
        aims.macro / n_labels / math.sqrt(label.positives * label.negatives),
        aims.micro / math.sqrt(labels.positives * labels.negatives),
        aims.label_set if rows[0] > 0.0 else 0.0,
        1.0 / labels.share_negatives,
        1.0 / labels.share_positives,
        aims.macro_f1 / n_labels,
        aims.micro_f1,
    )


@inlined
def _value(
    scales: _Scales, own: _Sums, label: _Everything, others: _Sums, labels: _Everything, certain: Certain
) -> float:
    """Return the objective for what a label and the others get right."""
    value = scales.macro * math.sqrt(own.hits * own.rejected)
    hits, rejected = others.hits + own.hits, others.rejected + own.rejected
    if scales.micro > 0.0:
        value += scales.micro * math.sqrt(hits * rejected)
    if scales.label_set > 0.0:
        positive = max((others.share_hits + own.share_hits) * scales.share_positives, 0.0)
        negative = max((others.share_rejected + own.share_rejected) * scales.share_negatives, 0.0)
        value += scales.label_set * mean_root(positive, certain.positives) * mean_root(negative, certain.negatives)
    if scales.macro_f1 > 0.0:
        value += scales.macro_f1 * 2.0 * own.hits / (own.hits + label.negatives - own.rejected + label.positives)
    if scales.micro_f1 > 0.0:
        value += scales.micro_f1 * 2.0 * hits / (hits + labels.negatives - rejected + labels.positives)
    return value


@inlined
def _aims_of(aims: Aims, examples: float, positives: float) -> Aims:
    """Return what counts for a label: the rarer, the less do G-Means over all labels."""
    part = min(1.0, positives / examples / RARE)
    if aims.macro == 0.0:
        part = 1.0
    return Aims(aims.macro, aims.micro * part, aims.label_set * part, aims.macro_f1, aims.micro_f1)


@inlined
def _plus(a: _Sums, b: _Sums, sign: float) -> _Sums:
    return _Sums(
        a.rejected + sign * b.rejected,
        a.hits + sign * b.hits,
        a.share_rejected + sign * b.share_rejected,
        a.share_hits + sign * b.share_hits,
    )


@subkernel
def _best_cut(
    aims: Aims, counts: Floats, shares: Floats, prior: Floats, others: _Sums, labels: _Everything, rows: Floats,
    n_labels: int, cut: int,
) -> int:  # fmt: skip
    """Return the best cut of a label; the present one unless another is better by more than `HYSTERESIS`."""
    label = _all_of(counts, shares, prior)
    examples = label.negatives + label.positives - 2.0 * (PRIOR + BORROWED)
    aims = _aims_of(aims, examples + 2.0, label.positives - PRIOR - BORROWED + 1.0)
    scales, certain = _scales_of(aims, label, labels, rows, n_labels), certain_of(rows)
    own = _Sums(0.0, label.positives, 0.0, label.share_positives)
    best = present = _value(scales, own, label, others, labels, certain)
    chosen = 0
    for b in range(BINS):
        own = _Sums(
            own.rejected + counts[0, b] + prior[0, b],
            max(own.hits - counts[1, b] - prior[1, b], 0.0),
            own.share_rejected + shares[0, b],
            max(own.share_hits - shares[1, b], 0.0),
        )
        value = _value(scales, own, label, others, labels, certain)
        if b + 1 == cut:
            present = value
        if value > best or (value == best and abs(b + 1 - BINS // 2) < abs(chosen - BINS // 2)):
            best, chosen = value, b + 1
    return chosen if (best - present) * n_labels > HYSTERESIS else cut


@subkernel
def choose_cuts(state: Cuts, aims: Aims, sweeps: int, work: Floats) -> None:
    """Let all labels choose, one after the other, until none moves or so many times; `work` has 3 × `BINS` numbers."""
    n_labels, counts, shares, rows = len(state.cut), state.counts, state.shares, state.rows
    prior = work[:2]
    _set_prior(counts, prior, work[2])
    right, labels = _Sums(0.0, 0.0, 0.0, 0.0), _Everything(0.0, 0.0, 1e-9, 1e-9)
    for q in range(n_labels):
        right = _plus(right, _right_of(counts[q], shares[q], prior, state.cut[q]), 1.0)
        label = _all_of(counts[q], shares[q], prior)
        labels = _Everything(
            labels.negatives + label.negatives,
            labels.positives + label.positives,
            labels.share_negatives + label.share_negatives,
            labels.share_positives + label.share_positives,
        )
    moved = True
    for _ in range(sweeps):
        if not moved:
            break
        moved = False
        for q in range(n_labels):
            own = _right_of(counts[q], shares[q], prior, state.cut[q])
            others = _plus(right, own, -1.0)
            cut = _best_cut(aims, counts[q], shares[q], prior, others, labels, rows, n_labels, state.cut[q])
            if cut != state.cut[q]:
                state.cut[q], moved = cut, True
                right = _plus(others, _right_of(counts[q], shares[q], prior, cut), 1.0)


@subkernel
def forget(state: Cuts) -> None:
    """Let all counts decay."""
    for q in range(len(state.cut)):
        for y in range(2):
            for b in range(BINS):
                state.counts[q, y, b] *= KEPT
                state.shares[q, y, b] *= KEPT
    for i in range(len(state.rows)):
        state.rows[i] *= KEPT
