"""The performance table of pairs of labels: one sweep through it votes on an example and judges it.

The records of a task lie together and stay in the processor's cache while both is done, and a task knows of no other:
tasks may be shared out among threads in any way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.performance import (
    FN,
    FP,
    TN,
    TP,
    corrected,
    in_lanes,
    judge_votes,
    predictive_values,
    weighted_sums,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from marlene.kernels.forest_state import Ints
    from marlene.kernels.performance import Reals

    Labels = npt.NDArray[np.int8]


@subkernel
def _note_values(records: Reals, out: Reals, stop: int) -> None:
    """Write the predictive values of a task's records, which serve both votes and the judgement."""
    one = records.dtype.type(1)
    tp, fp, tn, fn = records[TP], records[FP], records[TN], records[FN]
    ppv, not_ppv, npv, not_npv = out[0], out[1], out[2], out[3]
    for h in range(stop):
        ppv[h], not_ppv[h], npv[h], not_npv[h] = predictive_values(tp[h], fp[h], tn[h], fn[h], one)


@inlined
def _correct(values: Reals, positive: Reals, negative: Reals, votes: Reals, stop: int) -> None:
    ppv, not_ppv, npv, not_npv = values[0], values[1], values[2], values[3]
    for_it, against = votes[0], votes[1]
    for h in range(stop):
        for_it[h], against[h] = corrected(positive[h], negative[h], (ppv[h], not_ppv[h], npv[h], not_npv[h]))


@subkernel
def _vote(
    records: Reals, values: Reals, positive: Reals, negative: Reals, scratch: Reals, stop: int, out: Reals
) -> None:
    """Write P(0) and P(1), both 0 without evidence."""
    _correct(values, positive, negative, scratch, stop)
    for_it, against = weighted_sums(records, scratch, stop)
    total = for_it + against
    out[0] = against / total if total > 0.0 else 0.0
    out[1] = for_it / total if total > 0.0 else 0.0


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
    _correct(values, positive, negative, scratch, stop)
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
        Work space (10 × members).
    """
    stop = in_lanes(count)
    alone = len(owner) > 0
    values, own = scratch[3:7], scratch[7:10]
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
                _vote(records[task], values, yes, no, scratch, stop, votes[task, value])
        if judging:
            value = condition[given[task]]
            yes, no, voters = after[0, value], after[1, value], active
            if alone:
                _keep_own(yes, owner, task, own[0])
                _keep_own(no, owner, task, own[1])
                _keep_own(active, owner, task, own[2])
                yes, no, voters = own[0], own[1], own[2]
            _judge(records[task], values, yes, no, truth[label[task]], voters, scratch, stop)
