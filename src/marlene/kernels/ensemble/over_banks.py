"""An ensemble over a bank of simple classifiers, row by row: vote, watch for drift, learn, judge.

It differs from the ensemble of trees in two ways. A *gate* lets a sub-classifier of another label or stream vote on a
label only while it serves that label clearly better than all of the label's own. And linear classifiers are judged by
what they said before training on an example: afterwards they know it by heart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.banks.simple import BAYES, Lesson, capacity, learn_row, vote, write_scores
from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.ensemble import state
from marlene.kernels.ensemble.performance import (
    CORRECT,
    WRONG,
    Votes,
    calibrate,
    in_lanes,
    lane_sum,
    probability,
    update_tasks,
    weight,
)

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels
    from marlene.kernels.banks.simple import SimpleBank
    from marlene.kernels.ensemble.state import Batch, Jobs, Members, Tasks, Voters, Watch, Work

CLEARLY = 1.1
"""The gate opens for a weight above this factor times the best weight of the label's own sub-classifiers."""


@inlined
def least_weight(voters: Voters, task: int, stop: int) -> float:
    """Return the weight that a sub-classifier of another label or stream must exceed to vote on a task."""
    if voters.transfer == state.OWN:
        return np.inf
    best = -1.0
    if voters.transfer == state.GATED:
        correct, wrong, one = voters.records[task, CORRECT], voters.records[task, WRONG], voters.records.dtype.type(1)
        for h in range(stop):
            if voters.owner[h] == task:
                best = max(best, CLEARLY * float(weight(correct[h], wrong[h], one)))
    return best


@subkernel
def _gated_vote(voters: Voters, task: int, scratch: Floats, stop: int) -> float:
    """Return P(label) of a task by those whom the gate lets vote; NaN without any evidence."""
    records, owner, members = voters.records[task], voters.owner, voters.members
    calibrate(records, Votes(members.positive[0], members.negative[0], members.active), scratch, stop)
    for_it, against = scratch[0], scratch[1]
    correct, wrong, one = records[CORRECT], records[WRONG], records.dtype.type(1)
    least = least_weight(voters, task, stop)
    for h in range(stop):
        alpha = float(weight(correct[h], wrong[h], one))
        if owner[h] != task and alpha <= least:
            alpha = 0.0
        for_it[h] *= alpha
        against[h] *= alpha
    return probability(lane_sum(for_it, stop, scratch[2]), lane_sum(against, stop, scratch[2]))


@kernel
def gate_weights(voters: Voters, task: int, out: Floats) -> None:
    """Write the weight of every member's vote on a task, 0 for those whom the gate keeps out."""
    records, least = voters.records[task], least_weight(voters, task, len(out))
    for h in range(len(out)):
        out[h] = weight(records[CORRECT, h], records[WRONG, h], records.dtype.type(1))
        if voters.owner[h] != task and out[h] <= least:
            out[h] = 0.0


@inlined
def _ask(bank: SimpleBank, voters: Voters, batch: Batch, row: int, score: Floats) -> None:
    """Let all members that vote or learn vote on a row."""
    members = voters.members
    write_scores(bank, batch.rows, row, score)
    for h in range(voters.used):
        i, said = members.classifier[h], (0.0, 0.0)
        if members.active[h] > 0.0 or members.learns[h]:
            said = vote(bank, i, score[i])
        members.positive[0, h], members.negative[0, h] = said


@inlined
def _announce(voters: Voters, batch: Batch, row: int, scratch: Floats) -> None:
    """Write P(label) of every task if there is room for it."""
    if len(batch.probabilities) > 0:
        stop, out = in_lanes(voters.used), batch.probabilities[row]
        for task in range(min(len(voters.records), len(out))):
            out[task] = _gated_vote(voters, task, scratch, stop)


@inlined
def _judge(voters: Voters, truth: Labels, scratch: Floats) -> None:
    """Update the records of all members by their votes."""
    members = voters.members
    votes = Votes(members.positive[0], members.negative[0], members.active)
    update_tasks(voters.records, votes, truth, voters.used, scratch)


@inlined
def _prepare_lesson(members: Members, jobs: Jobs, count: int, expected: bool, lesson: Lesson) -> None:
    """Write for every job which classifier learns, and what it said; count the example as offered."""
    for j in range(count):
        h = jobs.member[j]
        state.offer_job(members, jobs, j, expected)
        lesson.ids[j] = members.classifier[h]
        positive, negative = members.positive[0, h], members.negative[0, h]
        lesson.said[j] = positive if positive + negative > 0.0 else 0.5


@kernel
def advance_bank(
    bank: SimpleBank, voters: Voters, tasks: Tasks, batch: Batch, watch: Watch, expected: bool, work: Work
) -> int:
    """Vote on rows, watch, learn and judge, from `batch.position` on, until the caller is needed; return why.

    `expected`: an example's weight is the nearest whole number to its expectation, not drawn.
    """
    members, position, truth, jobs = voters.members, batch.position, batch.truth, work.jobs
    score, most = np.empty(capacity(bank)), len(jobs.member)
    lesson = Lesson(np.empty(most, np.int64), jobs.truth, jobs.weight, np.empty(most), np.empty(most))
    while position[state.ROW] < len(batch.rows.starts) - 1:
        row = position[state.ROW]
        if position[state.PHASE] == state.VOTE:
            _ask(bank, voters, batch, row, score)
            _announce(voters, batch, row, work.scratch)
            position[state.PHASE] = state.WATCH
        if len(truth) > 0:
            status = state.watch_row(members, tasks, truth[row], watch, position)
            if status != state.DONE:
                return status
            if batch.everyone and bank.which != BAYES:
                _judge(voters, truth[row], work.scratch)
            count = state.collect_jobs(tasks, truth[row], jobs)
            _prepare_lesson(members, jobs, count, expected, lesson)
            learn_row(bank, batch.rows, row, lesson, count)
            if batch.everyone and bank.which == BAYES:
                _ask(bank, voters, batch, row, score)
                _judge(voters, truth[row], work.scratch)
        position[state.PHASE] = state.VOTE
        position[state.ROW] += 1
    return state.DONE
