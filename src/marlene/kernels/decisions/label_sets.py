"""Decisions for a row as a whole, from calibrated probabilities.

The best set for F1, Jaccard or a G-Mean holds the likeliest labels; how many follows from the expected value. The
likeliest set of labels is sought among those that occurred: its probability is what it would be if labels were
independent, times how much more often it occurs than independence says, to a power that is chosen by success.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.decisions.cuts import mean_root

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.decisions.cuts import Certain

MOST_SETS = 1024
"""How many sets are remembered. When there are more, all counts are halved, and sets below one are forgotten."""
LARGEST_SET = 16
"""Larger sets are not remembered."""
UNSEEN = 5.0
"""Pseudo-examples that occur as independent labels would."""
POWERS = (0.5, 1.0)
"""How much of the dependence between labels counts: the power is the one that was right more often of late."""
FADING = 0.999
NEVER_SURE = 1e-4
EMPTY, EXPECTED_EMPTY, ROWS = range(3)
F1, JACCARD, G_MEAN = range(3)
"""What a set of labels is to be good at."""


class LabelSets(NamedTuple):
    """The sets of labels that occurred.

    Attributes
    ----------
    members
        The labels of each set in ascending order, then -1 (sets × `LARGEST_SET`).
    times
        How often each occurred.
    size
        How many sets there are (one number).
    rows
        How many examples had no label, how many were expected to, and how many there were.
    right
        How often each of `POWERS` was right, decaying.
    """

    members: Ints
    times: Floats
    size: Ints
    rows: Floats
    right: Floats


@inlined
def _is_set(members: Ints, truth: Labels, size: int) -> bool:
    """Tell whether these are the positive labels of an example, of which there are so many; unknown ones may be any."""
    found = 0
    for j in range(LARGEST_SET):
        q = members[j]
        if q < 0:
            break
        if truth[q] == 0:
            return False
        found += truth[q] == 1
    return found == size


@subkernel
def _halve(state: LabelSets) -> None:
    """Halve all counts, and forget sets below one."""
    kept = 0
    for i in range(state.size[0]):
        count = 0.5 * state.times[i]
        if count >= 1.0:
            state.times[kept] = count
            for j in range(LARGEST_SET):
                state.members[kept, j] = state.members[i, j]
            kept += 1
    for i in range(kept, state.size[0]):
        state.times[i] = 0.0
        for j in range(LARGEST_SET):
            state.members[i, j] = -1
    state.size[0] = kept
    for i in range(len(state.rows)):
        state.rows[i] *= 0.5


@subkernel
def learn_set(state: LabelSets, probabilities: Floats, truth: Labels, weight: float) -> None:
    """Count the set of an example all of whose labels are known."""
    n, empty = 0, 1.0
    for q in range(len(truth)):
        if truth[q] < 0:
            return
        empty *= 1.0 - probabilities[q]
        n += truth[q]
    state.rows[ROWS] += weight
    state.rows[EMPTY] += weight if n == 0 else 0.0
    state.rows[EXPECTED_EMPTY] += weight * empty
    if n > LARGEST_SET:
        return
    i = 0
    while i < state.size[0] and not _is_set(state.members[i], truth, n):
        i += 1
    if i == MOST_SETS:
        _halve(state)
        i = state.size[0]
        if i == MOST_SETS:
            return
    if i == state.size[0]:
        state.size[0] += 1
        j = 0
        for q in range(len(truth)):
            if truth[q] == 1:
                state.members[i, j] = q
                j += 1
    state.times[i] += weight


@inlined
def _empty_probability(state: LabelSets, independent: float) -> float:
    """Return the probability of no label, from that of independent labels and how often there was none."""
    return float(min(1.0, independent * (state.rows[EMPTY] + 0.5) / (state.rows[EXPECTED_EMPTY] + 0.5)))


@inlined
def _expected_f1(probabilities: Floats, chosen: Labels, expected: float, size: int) -> float:
    value = 0.0
    for q in range(len(chosen)):
        if chosen[q] == 1:
            value += 2.0 * probabilities[q] / (size + 1.0 + expected - probabilities[q])
    return value


@inlined
def _expected_g_mean(certain: Certain, top: float, expected: float, size: int, n_labels: int) -> float:
    """Return it for `size` labels, of which `top` are expected to be positive."""
    hits = min(top / max(expected, NEVER_SURE), 1.0)
    rejected = max(1.0 - (size - top) / max(n_labels - expected, NEVER_SURE), 0.0)
    return mean_root(hits, certain.positives) * mean_root(rejected, certain.negatives)


@inlined
def _likeliest_of_others(probabilities: Floats, chosen: Labels) -> int:
    likeliest = -1
    for q in range(len(chosen)):
        if chosen[q] == 0 and (likeliest < 0 or probabilities[q] > probabilities[likeliest]):
            likeliest = q
    return likeliest


@subkernel
def choose_best_labels(state: LabelSets, aim: int, certain: Certain, probabilities: Floats, out: Labels) -> None:
    """Write the set with the largest expected F1, Jaccard index or G-Mean: labels by probability, as long as it grows.

    For a G-Mean there is always a label, since an example without any counts as 0 for everyone.
    """
    expected, empty = 0.0, 1.0
    for q in range(len(out)):
        out[q] = 0
        expected += probabilities[q]
        empty *= 1.0 - probabilities[q]
    best = top = 0.0
    for k in range(1, len(out) + 1):
        likeliest = _likeliest_of_others(probabilities, out)
        out[likeliest] = 1
        top += probabilities[likeliest]
        if aim == JACCARD:
            value = top / (k + expected - top)
        elif aim == G_MEAN:
            value = _expected_g_mean(certain, top, expected, k, len(out))
        else:
            value = _expected_f1(probabilities, out, expected, k)
        if value <= best:
            out[likeliest] = 0
            break
        best = value
    none = _empty_probability(state, empty) if aim != G_MEAN else 0.0
    if none * (1.0 - empty) > best * (1.0 - none):
        for q in range(len(out)):
            out[q] = 0


@subkernel
def _likeliest_set(state: LabelSets, examples: Floats, probabilities: Floats, power: float, work: Floats) -> int:
    """Return the place of the likeliest set; -1: the labels whose probability is above one half."""
    n_labels, total = len(probabilities), state.rows[ROWS] + UNSEEN
    odds, usual, all_usual, likeliest = work[:, 0], work[:, 1], 0.0, 0.0
    for q in range(n_labels):
        p = min(max(probabilities[q], NEVER_SURE), 1.0 - NEVER_SURE)
        odds[q] = math.log(p / (1.0 - p))
        likeliest += max(odds[q], 0.0)
        f = (examples[q, 1] + 0.5) / (examples[q, 0] + examples[q, 1] + 1.0)
        usual[q] = math.log(f / (1.0 - f))
        all_usual += math.log(1.0 - f)
    best, chosen = likeliest + power * math.log(UNSEEN / total), -1
    for i in range(state.size[0]):
        value, independent = 0.0, all_usual
        for j in range(LARGEST_SET):
            q = state.members[i, j]
            if q < 0:
                break
            value += odds[q]
            independent += usual[q]
        value += power * (math.log((state.times[i] + UNSEEN * math.exp(independent)) / total) - independent)
        if value > best:
            best, chosen = value, i
    return chosen


@subkernel
def choose_likeliest_set(state: LabelSets, examples: Floats, probabilities: Floats, out: Labels, work: Floats) -> None:
    """Write the set of labels that is likeliest as a whole."""
    power = POWERS[1] if state.right[1] > state.right[0] else POWERS[0]
    i = _likeliest_set(state, examples, probabilities, power, work)
    for q in range(len(out)):
        out[q] = 1 if i < 0 and probabilities[q] > 0.5 else 0
    for j in range(LARGEST_SET if i >= 0 else 0):
        if state.members[i, j] >= 0:
            out[state.members[i, j]] = 1


@subkernel
def judge_powers(state: LabelSets, examples: Floats, probabilities: Floats, truth: Labels, work: Floats) -> None:
    """Take note of which powers would have found the set of an example, as far as it is known."""
    size, usual = 0, True
    for q in range(len(truth)):
        size += truth[q] == 1
        usual = usual and (truth[q] < 0 or (truth[q] == 1) == (probabilities[q] > 0.5))
    for k in range(len(POWERS)):
        i = _likeliest_set(state, examples, probabilities, POWERS[k], work)
        right = usual if i < 0 else _is_set(state.members[i], truth, size)
        state.right[k] = FADING * state.right[k] + (1.0 if right else 0.0)
