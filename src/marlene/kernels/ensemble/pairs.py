"""The performance table of pairs of labels: one sweep through it votes on some examples and judges them.

The records of a task lie together and stay in the processor's cache while that is done, and a task knows of no other:
tasks may be shared out among threads in any way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.ensemble.performance import (
    COLUMNS,
    CORRECT,
    FN,
    FP,
    TN,
    TP,
    WRONG,
    Votes,
    corrected,
    in_lanes,
    judge_votes,
    lane_sum,
    predictive_values,
    weight,
)

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.ensemble.performance import Reals


class Waiting(NamedTuple):
    """What was said of examples that are not swept yet.

    Attributes
    ----------
    before, after
        Votes for and against before and after training (examples × 2 × values × members).
    active
        1 for members that vote, else 0 (examples × members).
    assumed
        The values of labels the votes depend on, -1 where no vote is wanted (examples × labels).
    truth, condition
        True labels, and the values that the votes judged depend on, -1 where they are not known (examples × labels).
    counts
        How many places of the members were in use before and after training (examples × 2).
    done
        How many steps every task has made; an example takes two, a vote and a judgement.
    """

    before: Reals
    after: Reals
    active: Reals
    assumed: Labels
    truth: Labels
    condition: Labels
    counts: Ints
    done: Ints


class PairTasks(NamedTuple):
    """The pairs of the target.

    Attributes
    ----------
    label, given
        The columns of every task's label and of its given label.
    own, starts
        Task by task the members trained on it, and where those of each task begin, if only they vote; else empty.
    most
        How many members vote on a task, at most.
    """

    label: Ints
    given: Ints
    own: Ints
    starts: Ints
    most: int


class _Task(NamedTuple):
    """One task during a sweep.

    Attributes
    ----------
    label, given
        The columns of its label and of its given label.
    alone, chosen
        Whether only its own members vote, and these.
    both
        Whether the votes for both values of the given label are wanted.
    votes
        Where the votes go.
    """

    label: int
    given: int
    alone: bool
    chosen: Ints
    both: bool
    votes: Floats


class _Space(NamedTuple):
    """Work space of a sweep.

    Attributes
    ----------
    scratch
        For each member its corrected votes for and against after training, a number for sums, and its corrected and
        weighted votes for and against before training.
    before, after, active
        Copies of what a task's own members said, if only they vote: as for `Waiting`, of one example.
    """

    scratch: Reals
    before: Reals
    after: Reals
    active: Reals


@subkernel
def _speak(records: Reals, before: Votes, after: Votes, out: Reals, stop: int) -> None:
    """Write what all members say of an example before training, corrected and weighted, and after it, corrected.

    Both follow from the same records, which change when the example is judged.
    """
    one = records.dtype.type(1)
    tp, fp, tn, fn = records[TP], records[FP], records[TN], records[FN]
    correct, wrong = records[CORRECT], records[WRONG]
    positive, negative = before.positive, before.negative
    positive_after, negative_after = after.positive, after.negative
    for_it, against, weighted_for, weighted_against = out[0], out[1], out[3], out[4]
    for h in range(stop):
        values = predictive_values(tp[h], fp[h], tn[h], fn[h], one)
        alpha = weight(correct[h], wrong[h], one)
        yes, no = corrected(positive[h], negative[h], values)
        weighted_for[h], weighted_against[h] = yes * alpha, no * alpha
        for_it[h], against[h] = corrected(positive_after[h], negative_after[h], values)


@inlined
def _count(scratch: Reals, stop: int, out: Reals) -> None:
    """Write P(0) and P(1) that follow from the weighted votes, both 0 without evidence."""
    sum_for, sum_against = lane_sum(scratch[3], stop, scratch[2]), lane_sum(scratch[4], stop, scratch[2])
    total = sum_for + sum_against
    out[0] = sum_against / total if total > 0.0 else 0.0
    out[1] = sum_for / total if total > 0.0 else 0.0


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


@inlined
def _heard_of(waiting: Waiting, row: int, task: _Task, space: _Space) -> tuple[Reals, Reals, Reals]:
    """Return what the voters of a task said before and after training, and who of them is active."""
    if not task.alone:
        return waiting.before[row], waiting.after[row], waiting.active[row]
    for side in range(2):
        _collect(waiting.before[row, side], task.chosen, space.before[side])
        _collect(waiting.after[row, side], task.chosen, space.after[side])
    _collect(waiting.active[row : row + 1], task.chosen, space.active)
    return space.before, space.after, space.active[0]


@subkernel
def _one_row(records: Reals, waiting: Waiting, row: int, done: int, steps: int, task: _Task, space: _Space) -> None:
    """Vote on an example and judge it, whichever of these steps is not done and to be made."""
    assumed, condition = waiting.assumed[row, task.given], waiting.condition[row, task.given]
    truth = waiting.truth[row, task.label]
    voting = done <= 2 * row and assumed >= 0
    judging = steps > 2 * row + 1 and condition >= 0 and truth >= 0
    if not voting and not judging:
        return
    before, after, active = _heard_of(waiting, row, task, space)
    first, last = waiting.counts[row, 0], waiting.counts[row, 1]
    if task.alone:
        first, last = len(task.chosen), len(task.chosen)
    given, scratch = max(condition, 0), space.scratch
    judged = Votes(after[0, given], after[1, given], active)
    for value in range(2):
        if task.both or value == max(assumed, 0):
            _speak(records, Votes(before[0, value], before[1, value], active), judged, scratch, in_lanes(last))
            if voting:
                _count(scratch, in_lanes(first), task.votes[row, value])
    if judging:
        judge_votes(records, judged, scratch, truth, in_lanes(last))


@kernel
def sweep(
    records: Reals, tasks: PairTasks, first: int, last: int, waiting: Waiting, steps: int, both: bool, votes: Floats
) -> None:
    """Vote on examples and judge them one after the other, for the tasks from `first` to `last`.

    Parameters
    ----------
    records
        Those of every task and member; where a task's own members vote alone, one for each member.
    steps
        How many steps every task is to have made.
    both
        Whether the votes for both values of the given label are wanted.
    votes
        Where P(0) and P(1) go (examples × tasks × values × 2); both are 0 without evidence.
    """
    stop = in_lanes(tasks.most)
    alone = len(tasks.starts) > 0
    few = stop if alone else 0
    few_records, said = np.empty((COLUMNS, few), records.dtype), (2, 2, few)
    space = _Space(
        np.empty((5, stop), records.dtype),
        np.empty(said, records.dtype),
        np.empty(said, records.dtype),
        np.empty((1, few), records.dtype),
    )
    for t in range(first, last):
        table, chosen = records[0 if alone else t], tasks.own[:0]
        if alone:
            chosen = tasks.own[tasks.starts[t] : tasks.starts[t + 1]]
            _collect(table, chosen, few_records)
            table = few_records
        task = _Task(tasks.label[t], tasks.given[t], alone, chosen, both, votes[:, t])
        for row in range(waiting.done[t] // 2, (steps + 1) // 2):
            _one_row(table, waiting, row, waiting.done[t], steps, task, space)
        waiting.done[t] = steps
        if alone:
            _return(few_records, chosen, records[0])
