"""The performance table of pairs of labels: one sweep through it votes on an example and judges it.

The records of a task lie together and stay in the processor's cache while both is done, and a task knows of no other:
tasks may be shared out among threads in any way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.performance import (
    COLUMNS,
    CORRECT,
    FN,
    FP,
    TN,
    TP,
    WRONG,
    corrected,
    in_lanes,
    judge_votes,
    lane_sum,
    predictive_values,
    weight,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene.kernels.forest_state import Ints
    from marlene.kernels.performance import Reals

    Labels = npt.NDArray[np.int8]


@subkernel
def _note_values(records: Reals, out: Reals, stop: int) -> None:
    """Write the predictive values of a task's records, which serve both votes and the judgement, and its weights."""
    one = records.dtype.type(1)
    tp, fp, tn, fn, correct, wrong = (
        records[TP],
        records[FP],
        records[TN],
        records[FN],
        records[CORRECT],
        records[WRONG],
    )
    ppv, not_ppv, npv, not_npv, alpha = out[0], out[1], out[2], out[3], out[4]
    for h in range(stop):
        ppv[h], not_ppv[h], npv[h], not_npv[h] = predictive_values(tp[h], fp[h], tn[h], fn[h], one)
        alpha[h] = weight(correct[h], wrong[h], one)


@subkernel
def _vote(values: Reals, positive: Reals, negative: Reals, scratch: Reals, stop: int, out: Reals) -> None:
    """Write P(0) and P(1), both 0 without evidence."""
    ppv, not_ppv, npv, not_npv, alpha = values[0], values[1], values[2], values[3], values[4]
    for_it, against = scratch[0], scratch[1]
    for h in range(stop):
        yes, no = corrected(positive[h], negative[h], (ppv[h], not_ppv[h], npv[h], not_npv[h]))
        for_it[h], against[h] = yes * alpha[h], no * alpha[h]
    sum_for, sum_against = lane_sum(for_it, stop, scratch[2]), lane_sum(against, stop, scratch[2])
    total = sum_for + sum_against
    out[0] = sum_against / total if total > 0.0 else 0.0
    out[1] = sum_for / total if total > 0.0 else 0.0


@subkernel
def _judge(
    records: Reals,
    values: Reals,
    positive: Reals,
    negative: Reals,
    truth: int,
    active: Reals,
    scratch: Reals,
    stop: int,
) -> None:
    ppv, not_ppv, npv, not_npv = values[0], values[1], values[2], values[3]
    for_it, against = scratch[0], scratch[1]
    for h in range(stop):
        for_it[h], against[h] = corrected(positive[h], negative[h], (ppv[h], not_ppv[h], npv[h], not_npv[h]))
    judge_votes(records, scratch, positive, negative, truth, active, stop)


@subkernel
def _one_task(
    records: Reals,
    before: Reals,
    assumed: int,
    both: bool,
    votes: Reals,
    after: Reals,
    truth: int,
    condition: int,
    active: Reals,
    scratch: Reals,
    stop: int,
) -> None:
    """Vote on a task if a value is assumed, and judge if the truth is known; -1 stands for neither."""
    values = scratch[3:8]
    if assumed >= 0 or truth >= 0:
        _note_values(records, values, stop)
    for value in range(2):
        if assumed >= 0 and (both or value == assumed):
            _vote(values, before[0, value], before[1, value], scratch, stop, votes[value])
    if truth >= 0:
        _judge(records, values, after[0, condition], after[1, condition], truth, active, scratch, stop)


@inlined
def _collect(numbers: Reals, chosen: Ints, out: Reals) -> None:
    """Write the columns of some members side by side, and 0 in the places left."""
    for row in range(len(numbers)):
        for i in range(out.shape[1]):
            out[row, i] = numbers[row, chosen[i]] if i < len(chosen) else 0


@inlined
def _return(numbers: Reals, chosen: Ints, out: Reals) -> None:
    """Write back what `_collect` has written."""
    for row in range(len(numbers)):
        for i in range(len(chosen)):
            out[row, chosen[i]] = numbers[row, i]


@kernel
def sweep(
    records: Reals,
    label: Ints,
    given: Ints,
    first: int,
    last: int,
    before: Reals,
    assumed: Labels,
    both: bool,
    votes: npt.NDArray[np.float64],
    after: Reals,
    truth: Labels,
    condition: Labels,
    active: Reals,
    own: Ints,
    starts: Ints,
    count: int,
) -> None:
    """Vote on an example and judge it, for the tasks from `first` to `last`.

    Parameters
    ----------
    records
        Those of every task and member; where a task's own members vote alone, one for each member.
    label, given
        The columns of every task's label and of the label it depends on.
    before, after
        Votes for and against before and after training (2 × values × members).
    assumed
        The values of labels the votes depend on; if empty, nothing is voted on.
    both
        Whether the votes for both values are wanted.
    votes
        Where P(0) and P(1) go (tasks × values × 2); both are 0 without evidence.
    truth, condition
        True labels, and the values that the votes judged depend on; if empty, nothing is judged.
    active
        1 for members that vote, else 0.
    own, starts
        Task by task the members trained on it, and where those of each begin, if only they vote; else empty.
    count
        How many members vote on a task, at most.
    """
    stop = in_lanes(count)
    alone = len(starts) > 0
    scratch = np.empty((8, stop), records.dtype)
    width = stop if alone else 0
    few_records, few_active = np.empty((COLUMNS, width), records.dtype), np.empty((1, width), records.dtype)
    few_before, few_after = np.empty((2, 2, width), records.dtype), np.empty((2, 2, width), records.dtype)
    for task in range(first, last):
        value = assumed[given[task]] if len(assumed) > 0 else -1
        known = len(truth) > 0 and condition[given[task]] >= 0
        y, v = (truth[label[task]], condition[given[task]]) if known else (-1, 0)
        if not alone:
            _one_task(records[task], before, value, both, votes[task], after, y, v, active, scratch, stop)
            continue
        chosen = own[starts[task] : starts[task + 1]]
        _collect(records[0], chosen, few_records)
        _collect(active.reshape(1, -1), chosen, few_active)
        for side in range(2):
            _collect(before[side], chosen, few_before[side])
            _collect(after[side], chosen, few_after[side])
        _one_task(few_records, few_before, value, both, votes[task], few_after, y, v, few_active[0], scratch, stop)
        _return(few_records, chosen, records[0])
