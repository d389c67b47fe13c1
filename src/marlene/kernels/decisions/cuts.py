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


VALUES, FIRST, SUMS = 2, 3, 4
"""Rows of the work space for choosing cuts: pseudo-examples of both classes, added up; values of cuts; then for each
label its negatives and positives, as counts and as shares, added up."""


@inlined
def work_for(n_labels: int) -> tuple[int, int]:
    """Return the shape of the work space for decisions on so many labels."""
    return FIRST + SUMS * n_labels, BINS + 1


@inlined
def lowering(odds: Floats) -> float:
    """Return by how much the log odds of an example's labels are lowered."""
    largest = 0.0
    for q in range(len(odds)):
        largest = max(largest, odds[q])
    return PULL * largest


@inlined
def bin_of(odds: float, lower: float) -> int:
    """Return the bin of log odds: bins are equally wide, the outer ones without an end."""
    place = (0.5 + (odds - lower) / (2.0 * WIDEST)) * BINS
    return int(min(max(place, 0.0), BINS - 1.0))


@inlined
def is_above(state: Cuts, odds: Floats, q: int, lower: float) -> bool:
    """Tell whether a label is predicted; it is not where there is no score (NaN)."""
    return bool(not math.isnan(odds[q]) and bin_of(odds[q], lower) >= state.cut[q])


@inlined
def _certainty(labels: float) -> float:
    """Return how much the share of right ones among so many labels is all or nothing: 1 for one label, 0 for many."""
    return math.pow(labels, -1.5) if labels > 0.0 else 0.0


@subkernel
def observe_scores(state: Cuts, odds: Floats, truth: Labels, weight: float) -> bool:
    """Count the scores of an example, given as log odds; tell whether any of its labels is known."""
    positives, negatives, lower = 0.0, 0.0, lowering(odds)
    for q in range(len(odds)):
        positives += 1.0 if truth[q] == 1 else 0.0
        negatives += 1.0 if truth[q] == 0 else 0.0
    if positives > 0.0 and negatives > 0.0:
        state.rows[0] += weight
        state.rows[1] += weight * _certainty(negatives)
        state.rows[2] += weight * _certainty(positives)
    of_negatives, of_positives = weight / max(negatives, 1.0), weight / max(positives, 1.0)
    for q in range(len(odds)):
        if truth[q] >= 0 and not math.isnan(odds[q]):
            b = bin_of(odds[q], lower)
            state.counts[q, truth[q], b] += weight
            state.shares[q, truth[q], b] += of_positives if truth[q] == 1 else of_negatives
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


@inlined
def _add_up(values: Floats, sums: Floats) -> None:
    """Write the sums of the first 0, 1, 2, … values."""
    total = 0.0
    for b in range(BINS):
        sums[b] = total
        total += values[b]
    sums[BINS] = total


@subkernel
def _set_prior(counts: Floats, work: Floats) -> None:
    """Write the pseudo-examples of a label, added up from the lowest bin on, for each class (see `work_for`)."""
    n_labels, shape = len(counts), work[VALUES]
    for y in range(2):
        for b in range(BINS):
            shape[b] = 0.0
        for q in range(n_labels):
            found, part = counts[q, y], 1.0 / (PRIOR + work[SUMS * q + y + FIRST, BINS])
            for b in range(BINS):
                shape[b] += part * (found[b] + (PRIOR * 2.0 / BINS if (b >= BINS // 2) == (y == 1) else 0.0))
        for b in range(BINS):
            own = PRIOR * 2.0 / BINS if (b >= BINS // 2) == (y == 1) else 0.0
            shape[b] = own + BORROWED * shape[b] / n_labels
        _add_up(shape, work[y])


@inlined
def _all_of(work: Floats, q: int) -> _Everything:
    row = FIRST + SUMS * q
    return _Everything(
        work[row, BINS] + work[0, BINS],
        work[row + 1, BINS] + work[1, BINS],
        work[row + 2, BINS],
        work[row + 3, BINS],
    )


@inlined
def _right_of(work: Floats, q: int, cut: int) -> _Sums:
    """Return what a cut gets right."""
    row, label = FIRST + SUMS * q, _all_of(work, q)
    return _Sums(
        work[row, cut] + work[0, cut],
        label.positives - work[row + 1, cut] - work[1, cut],
        work[row + 2, cut],
        label.share_positives - work[row + 3, cut],
    )


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
def _root(x: float) -> float:
    return math.sqrt(x if x > 0.0 else 0.0)  # noqa: FURB136 (faster: no check for NaN)


@subkernel
def _write_values(
    scales: _Scales, label: _Everything, others: _Sums, labels: _Everything, certain: Certain, q: int, work: Floats
) -> None:
    """Write the objective for each cut of a label, given what the others get right."""
    row, values, n_cuts = FIRST + SUMS * q, work[VALUES, : BINS + 1], BINS + 1
    below_0, below_1, shares_0, shares_1 = work[row], work[row + 1], work[row + 2], work[row + 3]
    prior_0, prior_1 = work[0], work[1]
    for b in range(n_cuts):
        rejected = below_0[b] + prior_0[b]
        hits = label.positives - below_1[b] - prior_1[b]
        value = scales.macro * _root(hits * rejected)
        value += scales.micro * _root((others.hits + hits) * (others.rejected + rejected))
        positive = (others.share_hits + label.share_positives - shares_1[b]) * scales.share_positives
        negative = (others.share_rejected + shares_0[b]) * scales.share_negatives
        positive = certain.positives * positive + (1.0 - certain.positives) * _root(positive)
        negative = certain.negatives * negative + (1.0 - certain.negatives) * _root(negative)
        values[b] = value + scales.label_set * positive * negative
    if scales.macro_f1 + scales.micro_f1 > 0.0:
        for b in range(n_cuts):
            rejected = below_0[b] + prior_0[b]
            hits = label.positives - below_1[b] - prior_1[b]
            value = scales.macro_f1 * 2.0 * hits / (hits + label.negatives - rejected + label.positives)
            hits, rejected = others.hits + hits, others.rejected + rejected
            value += scales.micro_f1 * 2.0 * hits / (hits + labels.negatives - rejected + labels.positives)
            values[b] += value


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
    aims: Aims, others: _Sums, labels: _Everything, rows: Floats, n_labels: int, q: int, cut: int, work: Floats
) -> int:
    """Return the best cut of a label; the present one unless another is better by more than `HYSTERESIS`."""
    label = _all_of(work, q)
    examples = label.negatives + label.positives - 2.0 * (PRIOR + BORROWED)
    aims = _aims_of(aims, examples + 2.0, label.positives - PRIOR - BORROWED + 1.0)
    scales = _scales_of(aims, label, labels, rows, n_labels)
    _write_values(scales, label, others, labels, certain_of(rows), q, work)
    values, best, chosen = work[VALUES], -1.0, 0
    for b in range(BINS + 1):
        if values[b] > best or (values[b] == best and abs(b - BINS // 2) < abs(chosen - BINS // 2)):
            best, chosen = values[b], b
    return chosen if (best - values[cut]) * n_labels > HYSTERESIS else cut


@subkernel
def choose_cuts(state: Cuts, aims: Aims, sweeps: int, work: Floats) -> None:
    """Let all labels choose, one after the other, until none moves or so many times; `work`, see `work_for`."""
    n_labels, rows = len(state.cut), state.rows
    for q in range(n_labels):
        for y in range(2):
            _add_up(state.counts[q, y], work[FIRST + SUMS * q + y])
            _add_up(state.shares[q, y], work[FIRST + SUMS * q + 2 + y])
    _set_prior(state.counts, work)
    right, labels = _Sums(0.0, 0.0, 0.0, 0.0), _Everything(0.0, 0.0, 1e-9, 1e-9)
    for q in range(n_labels):
        right = _plus(right, _right_of(work, q, state.cut[q]), 1.0)
        label = _all_of(work, q)
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
            others = _plus(right, _right_of(work, q, state.cut[q]), -1.0)
            cut = _best_cut(aims, others, labels, rows, n_labels, q, state.cut[q], work)
            if cut != state.cut[q]:
                state.cut[q], moved = cut, True
                right = _plus(others, _right_of(work, q, cut), 1.0)


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
