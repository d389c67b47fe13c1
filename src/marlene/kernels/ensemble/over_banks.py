"""An ensemble over a bank of simple classifiers, row by row: vote, watch for drift, learn, judge.

As for trees, with two differences. A *gate* lets a sub-classifier of another label or stream vote on a label only while
it serves that label clearly better than all of the label's own. And linear classifiers are judged by what they said
before they were trained on an example, because afterwards they have it by heart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.banks.linear import linear_learn, linear_scores, linear_vote, slope
from marlene.kernels.banks.naive_bayes import bayes_learn, bayes_scores, bayes_vote
from marlene.kernels.banks.scales import observe_row
from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.ensemble.performance import (
    CORRECT,
    WRONG,
    calibrate,
    in_lanes,
    lane_sum,
    probability,
    update_tasks,
    weight,
)
from marlene.kernels.ensemble.state import (
    ASK_DETECTORS,
    ASKED,
    DONE,
    JOBS,
    LEARN,
    PHASE,
    REACT,
    ROW,
    UNWATCHED,
    VOTE,
    WATCH,
    collect_jobs,
    offer_job,
    watch,
)

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.banks.linear import Linear, LinearSettings
    from marlene.kernels.banks.naive_bayes import Bayes, BayesSettings
    from marlene.kernels.banks.scales import Scales
    from marlene.kernels.drift.detectors import DDMOCIArrays, DDMOCIParameters
    from marlene.kernels.ensemble.state import Members, Tasks, Work
    from marlene.kernels.rows import Rows


OWN, GATED, FULL = range(3)
"""Who votes on a label: its own sub-classifiers, those and better ones, or all."""
CLEARLY = 1.1
"""By which factor another sub-classifier's weight must be above all of the label's own for the gate to open."""


@subkernel
def gated_vote(
    records: Floats,
    owner: Ints,
    task: int,
    transfer: int,
    positive: Floats,
    negative: Floats,
    scratch: Floats,
    stop: int,
) -> float:
    """Return P(label) of a task by those whom the gate lets vote; NaN without any evidence."""
    calibrate(records, positive, negative, scratch, stop)
    for_it, against = scratch[0], scratch[1]
    correct, wrong, one = records[CORRECT], records[WRONG], records.dtype.type(1)
    best = np.inf if transfer == OWN else -1.0
    if transfer == GATED:
        for h in range(stop):
            if owner[h] == task:
                best = max(best, CLEARLY * float(weight(correct[h], wrong[h], one)))
    for h in range(stop):
        alpha = float(weight(correct[h], wrong[h], one))
        if owner[h] != task and alpha <= best:
            alpha = 0.0
        for_it[h] *= alpha
        against[h] *= alpha
    return probability(lane_sum(for_it, stop, scratch[2]), lane_sum(against, stop, scratch[2]))


@subkernel
def _announce(
    records: Floats, owner: Ints, transfer: int, members: Members, scratch: Floats, count: int, out: Floats
) -> None:
    """Write P(label) of every task if it is wanted: if there is room for it."""
    stop, votes = in_lanes(count), (members.positive[0], members.negative[0])
    for task in range(min(len(records), len(out))):
        out[task] = gated_vote(records[task], owner, task, transfer, votes[0], votes[1], scratch, stop)


@subkernel
def _watch(
    members: Members,
    tasks: Tasks,
    truth: Labels,
    detectors: DDMOCIArrays,
    parameters: DDMOCIParameters,
    watching: int,
    position: Ints,
) -> int:
    """Tell every detector how the latest sub-classifier of its task did; return why the caller is needed, if so."""
    if watching == ASKED:
        return ASK_DETECTORS
    position[PHASE] = LEARN
    change = watch(members, tasks, truth, detectors, parameters, watching == UNWATCHED)
    return REACT if change else DONE


@inlined
def _takes_part(members: Members, h: int) -> bool:
    return bool(members.active[h] > 0.0 or members.learns[h])


@subkernel
def _ask_bayes(
    bank: Bayes,
    settings: BayesSettings,
    scales: Scales,
    members: Members,
    count: int,
    rows: Rows,
    row: int,
    score: Floats,
) -> None:
    bayes_scores(bank, settings, scales, rows, row, score)
    for h in range(count):
        i, vote = members.classifier[h], (0.0, 0.0)
        if _takes_part(members, h):
            vote = bayes_vote(bank, i, score[i])
        members.positive[0, h], members.negative[0, h] = vote


@subkernel
def _learn_bayes(
    bank: Bayes,
    settings: BayesSettings,
    scales: Scales,
    members: Members,
    tasks: Tasks,
    rows: Rows,
    row: int,
    truth: Labels,
    expected: bool,
    work: Work,
) -> None:
    """Train on a row the members whose turn it is."""
    jobs, n_jobs = work.jobs, collect_jobs(tasks, truth, work.jobs)
    if n_jobs > 0:
        observe_row(scales, rows, row)
    for j in range(n_jobs):
        k = offer_job(members, jobs, j, expected)
        bayes_learn(bank, settings, scales, rows, row, members.classifier[jobs.member[j]], jobs.truth[j], k)
    work.position[JOBS] = n_jobs


@subkernel
def _ask_linear(
    bank: Linear, scales: Scales, members: Members, count: int, rows: Rows, row: int, score: Floats
) -> None:
    linear_scores(bank, scales, rows, row, score)
    for h in range(count):
        i, vote = members.classifier[h], (0.0, 0.0)
        if _takes_part(members, h):
            vote = linear_vote(bank, i, score[i])
        members.positive[0, h], members.negative[0, h] = vote


@subkernel
def _learn_linear(
    bank: Linear,
    settings: LinearSettings,
    scales: Scales,
    members: Members,
    tasks: Tasks,
    rows: Rows,
    row: int,
    truth: Labels,
    expected: bool,
    work: Work,
    ids: Ints,
    slopes: Floats,
) -> None:
    """Train on a row the members whose turn it is."""
    jobs, n_jobs = work.jobs, collect_jobs(tasks, truth, work.jobs)
    if n_jobs > 0:
        observe_row(scales, rows, row)
    for j in range(n_jobs):
        h = jobs.member[j]
        k = offer_job(members, jobs, j, expected)
        ids[j] = members.classifier[h]
        slopes[j] = slope(settings, members.positive[0, h], members.negative[0, h], jobs.truth[j], k)
    linear_learn(bank, settings, scales, rows, row, ids, slopes, n_jobs)
    work.position[JOBS] = n_jobs


@kernel
def run_bayes(
    bank: Bayes,
    settings: BayesSettings,
    scales: Scales,
    members: Members,
    count: int,
    records: Floats,
    owner: Ints,
    transfer: int,
    tasks: Tasks,
    rows: Rows,
    truth: Labels,
    judging: bool,
    probabilities: Floats,
    detectors: DDMOCIArrays,
    parameters: DDMOCIParameters,
    watching: int,
    expected: bool,
    work: Work,
) -> int:
    """Vote on rows, watch, learn and judge, from `work.position` on, as far as that goes without the caller.

    Parameters are those of `over_forest.run`, but for `owner`, the target task each member was trained on
    (-1: none), `transfer`, who votes, and `judging`, whether records are kept.
    """
    position, score = work.position, np.empty(bank.gain.shape[1])
    while position[ROW] < len(rows.starts) - 1:
        row = position[ROW]
        if position[PHASE] == VOTE:
            _ask_bayes(bank, settings, scales, members, count, rows, row, score)
            _announce(
                records,
                owner,
                transfer,
                members,
                work.scratch,
                count,
                probabilities[row] if len(probabilities) > 0 else probabilities.ravel(),
            )
            position[PHASE] = WATCH
        if len(truth) > 0:
            if position[PHASE] == WATCH:
                status = _watch(members, tasks, truth[row], detectors, parameters, watching, position)
                if status != DONE:
                    return status
            _learn_bayes(bank, settings, scales, members, tasks, rows, row, truth[row], expected, work)
            if judging:
                _ask_bayes(bank, settings, scales, members, count, rows, row, score)
                votes = members.positive[0], members.negative[0]
                update_tasks(records, votes[0], votes[1], truth[row], members.active, count, work.scratch)
        position[PHASE] = VOTE
        position[ROW] += 1
    return DONE


@kernel
def run_linear(
    bank: Linear,
    settings: LinearSettings,
    scales: Scales,
    members: Members,
    count: int,
    records: Floats,
    owner: Ints,
    transfer: int,
    tasks: Tasks,
    rows: Rows,
    truth: Labels,
    judging: bool,
    probabilities: Floats,
    detectors: DDMOCIArrays,
    parameters: DDMOCIParameters,
    watching: int,
    expected: bool,
    work: Work,
) -> int:
    """Do what `run_bayes` does, with linear classifiers."""
    position, score = work.position, np.empty(bank.weight.shape[1])
    ids, slopes = np.empty(len(work.jobs.member), np.int64), np.empty(len(work.jobs.member))
    while position[ROW] < len(rows.starts) - 1:
        row = position[ROW]
        if position[PHASE] == VOTE:
            _ask_linear(bank, scales, members, count, rows, row, score)
            _announce(
                records,
                owner,
                transfer,
                members,
                work.scratch,
                count,
                probabilities[row] if len(probabilities) > 0 else probabilities.ravel(),
            )
            position[PHASE] = WATCH
        if len(truth) > 0:
            if position[PHASE] == WATCH:
                status = _watch(members, tasks, truth[row], detectors, parameters, watching, position)
                if status != DONE:
                    return status
            if judging:
                votes = members.positive[0], members.negative[0]
                update_tasks(records, votes[0], votes[1], truth[row], members.active, count, work.scratch)
            _learn_linear(bank, settings, scales, members, tasks, rows, row, truth[row], expected, work, ids, slopes)
        position[PHASE] = VOTE
        position[ROW] += 1
    return DONE
