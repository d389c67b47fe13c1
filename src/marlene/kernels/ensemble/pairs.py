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
    """One task during a sweep: its columns, its own members if only they vote, and where its votes go."""

    label: int
    given: int
    chosen: Ints
    votes: Floats


class _Space(NamedTuple):
    """Work space of a sweep: numbers for each member, and copies of the votes of a task's own members."""

    scratch: Reals
    few: Reals


@subkernel
def _note_values(records: Reals, out: Reals, stop: int) -> None:
    """Write the predictive values of a task's records, which serve both votes and the judgement, and its weights."""
    one = records.dtype.type(1)
    tp, fp, tn, fn = records[TP], records[FP], records[TN], records[FN]
    correct, wrong = records[CORRECT], records[WRONG]
    ppv, not_ppv, npv, not_npv, alpha = out[0], out[1], out[2], out[3], out[4]
    for h in range(stop):
        ppv[h], not_ppv[h], npv[h], not_npv[h] = predictive_values(tp[h], fp[h], tn[h], fn[h], one)
        alpha[h] = weight(correct[h], wrong[h], one)


@subkernel
def _vote(values: Reals, votes: Votes, scratch: Reals, stop: int, out: Reals) -> None:
    """Write P(0) and P(1), both 0 without evidence."""
    positive, negative = votes.positive, votes.negative
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
def _judge(records: Reals, values: Reals, votes: Votes, truth: int, scratch: Reals, stop: int) -> None:
    positive, negative = votes.positive, votes.negative
    ppv, not_ppv, npv, not_npv = values[0], values[1], values[2], values[3]
    for_it, against = scratch[0], scratch[1]
    for h in range(stop):
        for_it[h], against[h] = corrected(positive[h], negative[h], (ppv[h], not_ppv[h], npv[h], not_npv[h]))
    judge_votes(records, votes, scratch, truth, stop)


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
def _votes_on(waiting: Waiting, row: int, judging: int, task: _Task, space: _Space) -> tuple[Reals, Reals, int]:
    """Return what the voters of a task said, who of them is active, and how many places they take."""
    said, active = (waiting.after if judging else waiting.before)[row], waiting.active[row]
    if space.few.shape[2] == 0:
        return said, active, in_lanes(waiting.counts[row, judging])
    for side in range(2):
        _collect(said[side], task.chosen, space.few[side])
    _collect(waiting.active[row : row + 1], task.chosen, space.few[2])
    return space.few[:2], space.few[2, 0], in_lanes(len(task.chosen))


@subkernel
def _one_step(records: Reals, waiting: Waiting, step: int, task: _Task, both: bool, noted: bool, space: _Space) -> bool:
    """Vote on an example (step 2 row) or judge it (step 2 row + 1); return whether the noted values still hold."""
    row, judging = step // 2, step % 2
    value = waiting.condition[row, task.given] if judging else waiting.assumed[row, task.given]
    truth = waiting.truth[row, task.label]
    if value < 0 or (judging and truth < 0):
        return noted
    scratch, values = space.scratch, space.scratch[3:8]
    if not noted:
        _note_values(records, values, scratch.shape[1])
    said, active, stop = _votes_on(waiting, row, judging, task, space)
    if judging:
        _judge(records, values, Votes(said[0, value], said[1, value], active), truth, scratch, stop)
        return False
    for v in range(2):
        if both or v == value:
            _vote(values, Votes(said[0, v], said[1, v], active), scratch, stop, task.votes[row, v])
    return True


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
    few_records = np.empty((COLUMNS, stop if alone else 0), records.dtype)
    space = _Space(np.empty((8, stop), records.dtype), np.empty((3, 2, stop if alone else 0), records.dtype))
    for t in range(first, last):
        table, chosen = records[0 if alone else t], tasks.own[:0]
        if alone:
            chosen = tasks.own[tasks.starts[t] : tasks.starts[t + 1]]
            _collect(table, chosen, few_records)
            table = few_records
        task = _Task(tasks.label[t], tasks.given[t], chosen, votes[:, t])
        noted = False
        for step in range(waiting.done[t], steps):
            noted = _one_step(table, waiting, step, task, both, noted, space)
        waiting.done[t] = steps
        if alone:
            _return(few_records, chosen, records[0])
