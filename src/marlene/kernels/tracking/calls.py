"""What Python calls: a tracker, over rows or one example. Tracker and rows come as tables, see `held`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.compile import borrower, subkernel
from marlene.kernels.decisions.decide import CUTS
from marlene.kernels.held import held
from marlene.kernels.tracking.begin import begin
from marlene.kernels.tracking.decisions import calibrate_labels, decide_labels, learn_labels, settle_labels
from marlene.kernels.tracking.given import read_given
from marlene.kernels.tracking.inherit import begin_concept
from marlene.kernels.tracking.learn import is_any, learn_source, learn_target, test_source, track, vote
from marlene.kernels.tracking.search import heed_decisions, heed_probabilities, is_any_searching, learn_search
from marlene.kernels.tracking.state import (
    EVENTS,
    INPUTS,
    KINDS,
    NEIGHBOURS,
    NO_STEP,
    STALE,
    STEP,
    TARGET,
    Model,
    Task,
    source_column,
)
from marlene.kernels.tracking.touched import SEEN, keep_up
from marlene.kernels.tracking.voices import learn_voices
from marlene.kernels.tracking.zeros import fits_window

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.rows import Rows

REFUSED = -1
"""An example that cannot be made a row."""


@borrower
def begin_labels(table: Ints) -> None:
    """Let target labels begin that have not yet."""
    model = held(table, Model)
    begin(model)
    model.steps[0] += 1


@borrower
def begin_concept_of(table: Ints, q: int) -> None:
    """Let a target label begin a new concept."""
    model = held(table, Model)
    begin_concept(model, q)
    model.steps[0] += 1


@borrower
def settle_cuts(table: Ints) -> None:
    """Choose all cuts of target labels, for an objective that is new."""
    model = held(table, Model)
    settle_labels(model.streams, model.objective, model.scratch.choice)
    model.steps[0] += 1


@subkernel
def _is_scored(model: Model, rows: Rows, row: int) -> bool:
    """Tell whether the scores of a row are still there; if not, take note that others will be."""
    start, n, scored, known = rows.starts[row], rows.starts[row + 1] - rows.starts[row], model.scratch.scored, True
    if scored[STEP] != model.steps[0] or scored[INPUTS] != n:
        known = False
    else:
        indices, values = model.scratch.full.rows.indices, model.scratch.full.rows.values
        for j in range(n):
            known = known and indices[j] == rows.indices[start + j] and values[j] == rows.values[start + j]
    if not known:
        scored[STEP] = NO_STEP
    return known


@subkernel
def _score(model: Model, rows: Rows, row: int) -> None:
    """Write the score, its log odds and the probability of every target label."""
    scratch, n_labels = model.scratch, model.streams.labels[TARGET]
    scores, odds = scratch.scores[:n_labels], scratch.odds[:n_labels]
    vote(model, rows, row, scores)
    calibrate_labels(model.streams, TARGET, scores, odds, scratch.probabilities[:n_labels])


@subkernel
def _decide(model: Model, odds: Floats, probabilities: Floats, out: Labels) -> None:
    """Write the predictions of all target labels; labels that search have other probabilities from now on."""
    searching = is_any_searching(model)
    if searching:
        heed_probabilities(model, probabilities)
    decide_labels(model.streams, model.sets, model.objective, odds, probabilities, out, model.scratch.choice)
    if searching and model.objective.rule == CUTS:
        heed_decisions(model, out)


@subkernel
def _begin_and_score(model: Model, rows: Rows, row: int, scored: bool) -> None:
    """Let labels begin that have not yet; then write scores, unless they are there and nothing has begun."""
    if model.clock[STALE]:
        begin(model)
        model.clock[STALE] = 0
        _score(model, rows, row)
    elif not scored:
        _score(model, rows, row)


@borrower
def decide_rows(table: Ints, task: Ints, row: int, stop: int, given: int) -> bool:
    """Write the score, the probability and the prediction of every target label for rows from `row` to `stop`.

    If `given` is not negative, the task is one example of so many features; tell whether it could be made a row.
    """
    model, work = held(table, Model), held(task, Task)
    rows, block, scratch, n_labels = work.rows, work.block, model.scratch, model.streams.labels[TARGET]
    if given >= 0 and not read_given(work.given, given, rows):
        return False
    while row < stop:
        if not _is_scored(model, rows, row):
            _score(model, rows, row)
            scratch.scored[STEP], scratch.scored[INPUTS] = model.steps[0], rows.starts[row + 1] - rows.starts[row]
        for q in range(n_labels):
            block.scores[row, q], block.probabilities[row, q] = scratch.scores[q], scratch.probabilities[q]
        _decide(model, scratch.odds[:n_labels], block.probabilities[row], block.predictions[row])
        row += 1
    return True


@borrower
def learn_target_rows(table: Ints, task: Ints, row: int, stop: int, given: int) -> int:
    """Predict and learn rows of the target from `row` to `stop`; return the first row that was not learnt.

    The kernel stops before a row when there may be no room for its events, or for its inputs among the neighbours. If
    `given` is not negative, the task is one example of so many features; `REFUSED`: it could not be made a row. Scores
    of a row that was just predicted are not made anew.
    """
    model, work = held(table, Model), held(task, Task)
    if given >= 0 and not read_given(work.given, given, work.rows):
        return REFUSED
    rows, block, streams, clock, sets = work.rows, work.block, model.streams, model.clock, model.sets
    n_labels, objective, choice = streams.labels[TARGET], model.objective, model.scratch.choice
    window, scores, odds, probabilities = (
        model.kinds.window,
        model.scratch.scores[:n_labels],
        model.scratch.odds[:n_labels],
        model.scratch.probabilities[:n_labels],
    )
    keep_up(model.scratch.touched, streams.seen[TARGET])
    while row < stop and clock[EVENTS] + KINDS * n_labels <= len(model.events):
        scored = _is_scored(model, rows, row)
        if model.kinds.voices[NEIGHBOURS] and not fits_window(window, model.scratch.full, model.rooms, rows, row):
            break
        truth = block.truth[row]
        model.scratch.importance[0] = block.weights[row]
        _begin_and_score(model, rows, row, scored)
        if len(block.scores) > 0:
            for q in range(n_labels):
                block.probabilities[row, q] = probabilities[q]
            _decide(model, odds, block.probabilities[row], block.predictions[row])
        learn_labels(streams, sets, objective, odds, probabilities, truth, block.weights[row], choice)
        learn_search(model, probabilities, truth)
        learn_voices(model, scores, truth)
        if is_any(truth, 0):  # of others nothing is learnt, not even of their inputs
            for k in range(KINDS):
                if model.kinds.used[k]:
                    track(model, k, truth)
            learn_target(model, rows, row, truth)
        streams.seen[TARGET] += 1
        model.scratch.touched.clock[SEEN] = streams.seen[TARGET]
        model.steps[0] += 1
        row += 1
    return row


@borrower
def learn_source_rows(table: Ints, task: Ints, stream: int, row: int, stop: int) -> int:
    """Learn rows of a source from `row` to `stop`; its learners vote alone on them.

    Return the first row that was not learnt: there may be no room for its inputs among the neighbours.
    """
    model, work = held(table, Model), held(task, Task)
    rows, block, full, window = work.rows, work.block, model.scratch.full, model.kinds.window
    while row < stop:
        if model.kinds.voices[NEIGHBOURS] and not fits_window(window, full, model.rooms, rows, row):
            break
        truth = block.truth[row]
        model.scratch.importance[0] = block.weights[row]
        test_source(model, stream, rows, row, truth)
        if is_any(truth, 0):
            learn_source(model, stream, source_column(model.rooms, stream, 0), rows, row, truth)
        model.streams.seen[stream] += 1
        model.steps[0] += 1
        row += 1
    model.streams.learnt[stream] = True
    model.clock[STALE] = 1
    return row
