"""The performance table of pairs of labels: one sweep through it votes on some examples and judges them.

The records of a task are copied to a *table*, which stays in the processor's cache meanwhile. There and in what was
heard, members come in blocks, one column of a block after the other. So one loop can work on all columns: the compiler
knows that they do not overlap, and takes many members at a time. A task knows of no other: tasks may be shared out
among threads in any way.
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
    corrected,
    in_lanes,
    predictive_values,
    weight,
)
from marlene.kernels.ensemble.state import AFTER, BEFORE, BLOCK, HEARD, NO_VOTE

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.ensemble.performance import Real, Reals

RIGHT, WRONG_VOTES = COLUMNS, COLUMNS + 1
"""Columns of a table besides the records: the right and the wrong votes on the latest example, corrected."""
WIDTH = COLUMNS + 2
"""How many columns a table has."""


class Waiting(NamedTuple):
    """What was said of examples that are not swept yet.

    Attributes
    ----------
    said
        What the members said (examples × values × numbers); see `Heard`.
    assumed
        The values of labels the votes depend on, -1 where no vote is wanted (examples × labels).
    truth, condition
        True labels, and the values that the votes judged depend on, -1 where they are not known (examples × labels).
    done
        How many steps every task has made; an example takes two, a vote and a judgement.
    """

    said: Reals
    assumed: Labels
    truth: Labels
    condition: Labels
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


class _Space(NamedTuple):
    """Work space of a sweep.

    Attributes
    ----------
    table
        The records of a task, and the corrected votes of its members; see above.
    said
        What a task's own members said, if only they vote (values × numbers).
    sums
        Sums of votes over members; see `_go_over`.
    """

    table: Reals
    said: Reals
    sums: Reals


@inlined
def _place(h: int, width: int, column: int) -> int:
    """Return where a member's number is that stands in this column of so many."""
    return (h // BLOCK * width + column) * BLOCK + h % BLOCK


@inlined
def _take(records: Reals, chosen: Ints, alone: bool, stop: int, table: Reals) -> None:
    """Write the table of a task: the records of the chosen members, or of the first ones; the places left become 0."""
    for first in range(0, stop, BLOCK):
        some = min(BLOCK, stop - first)
        for column in range(WIDTH):
            part = table[_place(first, WIDTH, column) :]
            if column >= COLUMNS:
                for i in range(some):
                    part[i] = 0
            elif alone:
                for i in range(some):
                    part[i] = records[column, chosen[first + i]] if first + i < len(chosen) else 0
            else:
                known = records[column, first:]
                for i in range(some):
                    part[i] = known[i]


@inlined
def _give_back(table: Reals, chosen: Ints, alone: bool, stop: int, records: Reals) -> None:
    """Write back the records that `_take` has read."""
    for first in range(0, stop, BLOCK):
        some = min(BLOCK, stop - first)
        for column in range(COLUMNS):
            part = table[_place(first, WIDTH, column) :]
            if alone:
                for i in range(min(some, len(chosen) - first)):
                    records[column, chosen[first + i]] = part[i]
            else:
                known = records[column, first:]
                for i in range(some):
                    known[i] = part[i]


@inlined
def _of_own(said: Reals, chosen: Ints, out: Reals) -> None:
    """Write what the chosen members said of an example, and nothing in the places left of their lanes."""
    for value in range(len(out)):
        for column in range(HEARD):
            for i in range(in_lanes(len(chosen))):
                known = i < len(chosen)
                out[value, _place(i, HEARD, column)] = said[value, _place(chosen[i], HEARD, column)] if known else 0


@subkernel
def _go_over(
    table: Reals,
    before: Reals,
    after: Reals,
    stop: int,
    due: tuple[Real, Real],
    counted: tuple[Real, Real],
    sums: Reals,
) -> None:
    """Go over the members of a task once, for an example.

    1. The judgement of the example before is due: its right and wrong votes add to SC and SW.
    2. The votes before training are corrected and weighted, those after training are corrected.
    3. The predictions after training are counted.

    Parameters
    ----------
    table
        The task's table.
    before, after
        What the members said of this example, given the value that is assumed, and the value that they are judged by.
    stop
        The number of members in whole lanes.
    due
        How much SC and SW grow for each unit of right and wrong votes in the table.
    counted
        How much a prediction counts where the label is true, and where it is not: 1 and 0, 0 and 1, or 0 and 0.
    sums
        Where the sums of votes go, over every `BLOCK`-th member (for and against before, right and wrong after).
    """
    one, nothing = table.dtype.type(1), table.dtype.type(0)
    per_right, per_wrong = due
    true, false = counted
    sums[:] = 0
    for first in range(0, stop, BLOCK):
        t = table[first * WIDTH : (first + BLOCK) * WIDTH]
        b, a = before[first * HEARD :], after[first * HEARD :]
        for i in range(min(BLOCK, stop - first)):
            tp, fp, tn, fn = t[TP * BLOCK + i], t[FP * BLOCK + i], t[TN * BLOCK + i], t[FN * BLOCK + i]
            correct = t[CORRECT * BLOCK + i] + per_right * t[RIGHT * BLOCK + i]
            wrong = t[WRONG * BLOCK + i] + per_wrong * t[WRONG_VOTES * BLOCK + i]
            t[CORRECT * BLOCK + i], t[WRONG * BLOCK + i] = correct, wrong
            values, alpha = predictive_values(tp, fp, tn, fn, one), weight(correct, wrong, one)
            yes, no = corrected(b[BEFORE * BLOCK + i], b[(BEFORE + 1) * BLOCK + i], values)
            sums[i] += yes * alpha
            sums[BLOCK + i] += no * alpha
            positive, negative = a[AFTER * BLOCK + i], a[(AFTER + 1) * BLOCK + i]
            yes, no = corrected(positive, negative, values)
            right_votes, wrong_votes = (yes, no) if true > nothing else (no, yes)
            t[RIGHT * BLOCK + i], t[WRONG_VOTES * BLOCK + i] = right_votes, wrong_votes
            sums[2 * BLOCK + i] += right_votes
            sums[3 * BLOCK + i] += wrong_votes
            t[TP * BLOCK + i] = tp + (true if positive > negative else nothing)
            t[FP * BLOCK + i] = fp + (false if positive > negative else nothing)
            t[FN * BLOCK + i] = fn + (true if negative >= positive and negative >= nothing else nothing)
            t[TN * BLOCK + i] = tn + (false if negative >= positive and negative >= nothing else nothing)


@inlined
def _sum_up(sums: Reals) -> None:
    """Add up the sums of `_go_over`, each in its first place."""
    half = BLOCK
    while half > 1:
        half //= 2
        for i in range(half):
            for k in range(0, 4 * BLOCK, BLOCK):
                sums[k + i] += sums[k + half + i]


@inlined
def _write_probabilities(yes: Real, no: Real, out: Floats) -> None:
    """Write P(0) and P(1), both 0 without evidence."""
    total = float(yes) + float(no)
    out[0] = no / total if total > 0.0 else 0.0
    out[1] = yes / total if total > 0.0 else 0.0


@inlined
def _shares(right: float, wrong: float) -> tuple[float, float]:
    """Return how much SC and SW grow for each unit of right and wrong votes, given the sums of these.

    The example is the harder, the more votes are wrong: hardness = Σ wrong / Σ right.
    """
    hardness = wrong / right if right > 0.0 else 0.0
    return hardness / right if right > 0.0 else 0.0, hardness / wrong if wrong > 0.0 else 0.0


@inlined
def _settle(table: Reals, stop: int, due: tuple[Real, Real]) -> None:
    """Add what is due of the latest judgement to SC and SW."""
    per_right, per_wrong = due
    for first in range(0, stop, BLOCK):
        t = table[first * WIDTH : (first + BLOCK) * WIDTH]
        for i in range(min(BLOCK, stop - first)):
            t[CORRECT * BLOCK + i] += per_right * t[RIGHT * BLOCK + i]
            t[WRONG * BLOCK + i] += per_wrong * t[WRONG_VOTES * BLOCK + i]


@inlined
def _one_row(
    waiting: Waiting,
    row: int,
    steps: int,
    tasks: PairTasks,
    t: int,
    chosen: Ints,
    stop: int,
    both: bool,
    due: tuple[Real, Real],
    space: _Space,
    votes: Floats,
) -> tuple[Real, Real]:
    """Vote on an example and judge it, whichever of these steps is not done and to be made; return what is due."""
    one, nothing = space.table.dtype.type(1), space.table.dtype.type(0)
    assumed, condition = waiting.assumed[row, tasks.given[t]], waiting.condition[row, tasks.given[t]]
    truth = waiting.truth[row, tasks.label[t]]
    voting = waiting.done[t] <= 2 * row and assumed >= 0
    judging = steps > 2 * row + 1 and condition >= 0 and truth >= 0
    if not voting and not judging:
        return due
    said, sums = waiting.said[row], space.sums
    if len(tasks.starts) > 0:
        _of_own(said, chosen, space.said)
        said = space.said
    for value in range(2):
        if not both and value != max(assumed, 0):
            continue
        counting = judging and (value == 1 or not both)
        counted = one if counting and truth == 1 else nothing, one if counting and truth == 0 else nothing
        _go_over(space.table, said[value], said[max(condition, 0)], stop, due, counted, sums)
        _sum_up(sums)
        if voting:
            _write_probabilities(sums[0], sums[BLOCK], votes[row, t, value])
        due = nothing, nothing
    if judging:
        per_right, per_wrong = _shares(sums[2 * BLOCK], sums[3 * BLOCK])
        due = space.table.dtype.type(per_right), space.table.dtype.type(per_wrong)
    return due


@kernel
def narrow(said: Floats, out: Reals) -> None:
    """Write what was heard in single precision; votes of next to nothing become 0.

    These and their products would be subnormal numbers there, with which processors reckon much more slowly.
    """
    for i in range(len(said)):
        out[i] = said[i] if said[i] < 0.0 or said[i] >= -NO_VOTE else 0.0


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
    alone, nothing = len(tasks.starts) > 0, records.dtype.type(0)
    places = (tasks.most + BLOCK - 1) // BLOCK * BLOCK
    space = _Space(
        np.empty(places * WIDTH, records.dtype),
        np.empty((2, places * HEARD if alone else 0), records.dtype),
        np.empty(4 * BLOCK, records.dtype),
    )
    for t in range(first, last):
        chosen = tasks.own[tasks.starts[t] : tasks.starts[t + 1]] if alone else tasks.own
        stop = in_lanes(len(chosen) if alone else tasks.most)
        of_task = records[0 if alone else t]
        _take(of_task, chosen, alone, stop, space.table)
        due = nothing, nothing
        for row in range(waiting.done[t] // 2, (steps + 1) // 2):
            due = _one_row(waiting, row, steps, tasks, t, chosen, stop, both, due, space, votes)
        _settle(space.table, stop, due)
        _give_back(space.table, chosen, alone, stop, of_task)
        waiting.done[t] = steps
