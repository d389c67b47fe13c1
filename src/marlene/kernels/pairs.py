"""The performance table of pairs of labels: one sweep through it votes on an example and judges it.

The records of a task lie together and stay in the processor's cache while both is done, and a task knows of no other:
tasks may be shared out among threads in any way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.performance import (
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
    import numpy as np
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


@inlined
def _keep_own(values: Reals, owner: Ints, task: int, out: Reals) -> None:
    """Write the values of the members trained on a task, 0 for all others."""
    nothing = values.dtype.type(0)
    for h in range(len(values)):
        out[h] = values[h] if owner[h] == task else nothing


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
    owner: Ints,
    count: int,
    scratch: Reals,
) -> None:
    """Vote on an example and judge it, for the tasks from `first` to `last`.

    Parameters
    ----------
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
    owner
        The task each member was trained on, where only those vote; else empty.
    scratch
        Work space (11 × members).
    """
    stop = in_lanes(count)
    alone = len(owner) > 0
    values, own = scratch[3:8], scratch[8:11]
    for task in range(first, last):
        voting = len(assumed) > 0
        judging = len(truth) > 0 and truth[label[task]] >= 0 and condition[given[task]] >= 0
        if voting or judging:
            _note_values(records[task], values, stop)
        for value in range(2):
            if voting and (both or value == assumed[given[task]]):
                yes, no = before[0, value], before[1, value]
                if alone:
                    _keep_own(yes, owner, task, own[0])
                    _keep_own(no, owner, task, own[1])
                    yes, no = own[0], own[1]
                _vote(values, yes, no, scratch, stop, votes[task, value])
        if judging:
            value = condition[given[task]]
            yes, no, voters = after[0, value], after[1, value], active
            if alone:
                _keep_own(yes, owner, task, own[0])
                _keep_own(no, owner, task, own[1])
                _keep_own(active, owner, task, own[2])
                yes, no, voters = own[0], own[1], own[2]
            _judge(records[task], values, yes, no, truth[label[task]], voters, scratch, stop)
