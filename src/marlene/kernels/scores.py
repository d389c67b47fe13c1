"""Running confusion counts and averages over examples, updated in time proportional to the number of labels.

One code path serves three policies:

- cumulative: nothing is subtracted;
- sliding window: a ring buffer holds the outcome of every label of the last examples; the example that leaves the
  window is subtracted;
- fading: all counts are multiplied by a factor before an example is added.

A window subtracts what was added long ago, so that rounding errors would add up. The averages over examples (values
between 0 and 1) are therefore kept as two sums: one of multiples of 2**-26, one of the rest in multiples of 2**-53.
Both are exact for up to 2**26 examples, in any order of additions and subtractions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import kernel, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels

UNKNOWN = -1
TRUE_POSITIVE, FALSE_POSITIVE, TRUE_NEGATIVE, FALSE_NEGATIVE = range(4)

EXAMPLE_SCORES = (
    "label_set_gmean",
    "hamming_score",
    "subset_accuracy",
    "example_f1",
    "example_precision",
    "example_recall",
    "example_jaccard",
)
"""What is averaged over examples, in the order of the rows of `ScoreState.sums`."""
LABEL_SET_GMEAN, HAMMING_SCORE, SUBSET_ACCURACY = range(3)
EXAMPLE_F1, EXAMPLE_PRECISION, EXAMPLE_RECALL, EXAMPLE_JACCARD, WEIGHT = range(3, 8)

TRACE = ("macro_gmean", "micro_gmean", "label_set_gmean", "hamming_score")
"""What `update_block` writes at every step, in the order of the columns of its trace."""

NEXT_ROW, FILLED, FILLED_BEFORE = range(3)
NOTHING_TO_REVERT = -1

_COARSE = 2.0**26
_FINE = 2.0**53
_LONG_FORGOTTEN = 1e-200


class ScoreState(NamedTuple):
    """The arrays the kernels of this module work on."""

    counts: Floats
    """(labels, 4): true positives, false positives, true negatives, false negatives."""
    sums: Floats
    """(8, 2): coarse and fine part of the sum of each of `EXAMPLE_SCORES` and of the weights of the examples."""
    ring: Labels
    """(window + 1, labels): outcome of every label of the examples in the window and of the one that just left it."""
    cursor: Ints
    """Next row of the ring to write, number of examples in the window, and that number before the last example."""
    counts_before: Floats
    """`counts` before the last example."""
    sums_before: Floats
    """`sums` before the last example."""


def new_state(n_labels: int, window: int) -> ScoreState:
    """Return the state before the first example; `window` 0 means no window."""
    return ScoreState(
        counts=np.zeros((n_labels, 4)),
        sums=np.zeros((WEIGHT + 1, 2)),
        ring=np.zeros((window + 1, n_labels), dtype=np.int8),
        cursor=np.array([0, 0, NOTHING_TO_REVERT], dtype=np.int64),
        counts_before=np.zeros((n_labels, 4)),
        sums_before=np.zeros((WEIGHT + 1, 2)),
    )


@kernel
def ratio(part: float, rest: float) -> float:
    """Return part / (part + rest); 0 if the part is 0."""
    return part / (part + rest) if part > 0.0 else 0.0


@kernel
def gmean(tp: float, fp: float, tn: float, fn: float) -> float:
    """Return the geometric mean of the recall of both classes (section VI-C of the paper)."""
    return math.sqrt(ratio(tp, fn) * ratio(tn, fp))


@kernel
def label_gmean(counts: Floats, label: int) -> float:
    """Return the G-Mean of one label."""
    row = counts[label]
    return gmean(row[TRUE_POSITIVE], row[FALSE_POSITIVE], row[TRUE_NEGATIVE], row[FALSE_NEGATIVE])


@kernel
def label_gmeans(counts: Floats) -> Floats:
    """Return the G-Mean of every label."""
    result = np.empty(counts.shape[0])
    for label in range(counts.shape[0]):
        result[label] = label_gmean(counts, label)
    return result


@kernel
def macro_gmean(counts: Floats) -> float:
    """Return the mean of the G-Means of all labels."""
    total = 0.0
    for label in range(counts.shape[0]):
        total += label_gmean(counts, label)
    return total / len(counts)


@kernel
def micro_gmean(counts: Floats) -> float:
    """Return the G-Mean of the counts summed over labels."""
    tp, fp, tn, fn = 0.0, 0.0, 0.0, 0.0
    for label in range(counts.shape[0]):
        tp += counts[label, TRUE_POSITIVE]
        fp += counts[label, FALSE_POSITIVE]
        tn += counts[label, TRUE_NEGATIVE]
        fn += counts[label, FALSE_NEGATIVE]
    return gmean(tp, fp, tn, fn)


@kernel
def example_mean(total: Floats, weight: Floats) -> float:
    """Return the average over examples, given two rows of `ScoreState.sums`; 0 if there is no example."""
    return (total[0] + total[1]) / weight[0] if weight[0] > 0.0 else 0.0


@kernel
def write_outcomes(truth: Labels, prediction: Labels, outcomes: Labels) -> None:
    """Write for every label of one example whether it is a true or false positive or negative."""
    for label in range(truth.shape[0]):
        if truth[label] < 0:
            outcomes[label] = UNKNOWN
        elif truth[label] == 1:
            outcomes[label] = TRUE_POSITIVE if prediction[label] == 1 else FALSE_NEGATIVE
        else:
            outcomes[label] = FALSE_POSITIVE if prediction[label] == 1 else TRUE_NEGATIVE


@subkernel
def _add_to_sum(total: Floats, value: float, sign: float) -> None:
    coarse = math.floor(value * _COARSE) / _COARSE
    fine = math.floor((value - coarse) * _FINE + 0.5) / _FINE
    total[0] += sign * coarse
    total[1] += sign * fine


@kernel
def add_outcomes(counts: Floats, sums: Floats, outcomes: Labels, sign: float) -> None:
    """Add the outcomes of one example (`sign` 1) or subtract them (`sign` -1).

    An example without a known label counts for nothing, not even in the number of examples.
    """
    tp, fp, tn, fn = 0.0, 0.0, 0.0, 0.0
    for label in range(outcomes.shape[0]):
        outcome = outcomes[label]
        if outcome == UNKNOWN:
            continue
        counts[label, outcome] += sign
        if outcome == TRUE_POSITIVE:
            tp += 1.0
        elif outcome == FALSE_POSITIVE:
            fp += 1.0
        elif outcome == TRUE_NEGATIVE:
            tn += 1.0
        else:
            fn += 1.0
    wrong = fp + fn
    if tp + tn + wrong == 0.0:
        return
    sums[WEIGHT, 0] += sign
    _add_to_sum(sums[LABEL_SET_GMEAN], gmean(tp, fp, tn, fn), sign)
    _add_to_sum(sums[HAMMING_SCORE], ratio(tp + tn, wrong), sign)
    _add_to_sum(sums[SUBSET_ACCURACY], 1.0 if wrong == 0.0 else 0.0, sign)
    _add_to_sum(sums[EXAMPLE_F1], ratio(2.0 * tp, wrong), sign)
    _add_to_sum(sums[EXAMPLE_PRECISION], ratio(tp, fp), sign)
    _add_to_sum(sums[EXAMPLE_RECALL], ratio(tp, fn), sign)
    _add_to_sum(sums[EXAMPLE_JACCARD], ratio(tp, wrong), sign)


@subkernel
def _fade_class(counts: Floats, label: int, right: int, wrong: int, fading: float) -> None:
    # Below the smallest normal number both counts would lose digits, and with them the recall of a class not seen for
    # long. So tiny counts do not fade further; the next example outweighs them anyway.
    if counts[label, right] + counts[label, wrong] > _LONG_FORGOTTEN:
        counts[label, right] *= fading
        counts[label, wrong] *= fading


@subkernel
def _fade(counts: Floats, sums: Floats, fading: float) -> None:
    for label in range(counts.shape[0]):
        _fade_class(counts, label, TRUE_POSITIVE, FALSE_NEGATIVE, fading)
        _fade_class(counts, label, TRUE_NEGATIVE, FALSE_POSITIVE, fading)
    for score in range(sums.shape[0]):
        sums[score, 0] *= fading
        sums[score, 1] *= fading


@subkernel
def _copy(source: Floats, target: Floats) -> None:
    """Copy a table. For `target[:] = source`, Numba also compiles its message about shapes, which takes seconds."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@subkernel
def _remember(state: ScoreState) -> None:
    _copy(state.counts, state.counts_before)
    _copy(state.sums, state.sums_before)
    state.cursor[FILLED_BEFORE] = state.cursor[FILLED]


@kernel
def update_block(
    state: ScoreState,
    fading: float,
    truth: Labels,
    prediction: Labels,
    trace: Floats,
) -> None:
    """Add examples in their order.

    Parameters
    ----------
    state
        The state to update. Its ring has one row more than the window.
    fading
        Factor of all counts before an example is added; 1 for no fading.
    truth, prediction
        (examples, labels); -1 in `truth` if a label is not known.
    trace
        (examples, 4): receives the values of `TRACE` after each example; no row if they are not wanted.
    """
    counts, sums, ring, cursor = state.counts, state.sums, state.ring, state.cursor
    window = len(ring) - 1
    for example in range(truth.shape[0]):
        if example == truth.shape[0] - 1:
            _remember(state)
        row = cursor[NEXT_ROW]
        cursor[NEXT_ROW] = (row + 1) % len(ring)
        write_outcomes(truth[example], prediction[example], ring[row])
        if fading < 1.0:
            _fade(counts, sums, fading)
        add_outcomes(counts, sums, ring[row], 1.0)
        if cursor[FILLED] < window:
            cursor[FILLED] += 1
        elif window > 0:
            add_outcomes(counts, sums, ring[cursor[NEXT_ROW]], -1.0)
        if trace.shape[0] > 0:
            trace[example, 0] = macro_gmean(counts)
            trace[example, 1] = micro_gmean(counts)
            trace[example, 2] = example_mean(sums[LABEL_SET_GMEAN], sums[WEIGHT])
            trace[example, 3] = example_mean(sums[HAMMING_SCORE], sums[WEIGHT])
