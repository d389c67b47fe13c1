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
from marlene.kernels.tracking.state import EVENTS, KINDS, NEIGHBOURS, STALE, TARGET, Model, Task, source_column
from marlene.kernels.tracking.touched import SEEN, keep_up
from marlene.kernels.tracking.voices import learn_voices
from marlene.kernels.tracking.zeros import fits_window

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels

REFUSED = -1
"""An example that cannot be made a row."""


@borrower
def begin_labels(table: Ints) -> None:
    """Let target labels begin that have not yet."""
    begin(held(table, Model))


@borrower
def begin_concept_of(table: Ints, q: int) -> None:
    """Let a target label begin a new concept."""
    begin_concept(held(table, Model), q)


@borrower
def settle_cuts(table: Ints) -> None:
    """Choose all cuts of target labels, for an objective that is new."""
    model = held(table, Model)
    settle_labels(model.streams, model.objective, model.scratch.choice)


@subkernel
def _decide(model: Model, odds: Floats, probabilities: Floats, out: Labels) -> None:
    """Write the predictions of all target labels; labels that search have other probabilities from now on."""
    searching = is_any_searching(model)
    if searching:
        heed_probabilities(model, probabilities)
    decide_labels(model.streams, model.sets, model.objective, odds, probabilities, out, model.scratch.choice)
    if searching and model.objective.rule == CUTS:
        heed_decisions(model, out)


@borrower
def decide_rows(table: Ints, task: Ints, row: int, stop: int, given: int) -> bool:
    """Write the score, the probability and the prediction of every target label for rows from `row` to `stop`.

    If `given` is not negative, the task is one example of so many features; tell whether it could be made a row.
    """
    model, work = held(table, Model), held(task, Task)
    rows, block, streams, n_labels = work.rows, work.block, model.streams, model.streams.labels[TARGET]
    if given >= 0 and not read_given(work.given, given, rows):
        return False
    while row < stop:
        scores, probabilities, out = block.scores[row, :n_labels], block.probabilities[row], block.predictions[row]
        vote(model, rows, row, scores)
        odds = model.scratch.odds[:n_labels]
        calibrate_labels(streams, TARGET, scores, odds, probabilities)
        _decide(model, odds, probabilities, out)
        row += 1
    return True


@borrower
def learn_target_rows(table: Ints, task: Ints, row: int, stop: int, given: int) -> int:
    """Predict and learn rows of the target from `row` to `stop`; return the first row that was not learnt.

    The kernel stops before a row when there may be no room for its events, or for its inputs among the neighbours. If
    `given` is not negative, the task is one example of so many features; `REFUSED`: it could not be made a row.
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
        if model.kinds.voices[NEIGHBOURS] and not fits_window(window, model.scratch.full, model.rooms, rows, row):
            break
        truth = block.truth[row]
        model.scratch.importance[0] = block.weights[row]
        if clock[STALE]:
            begin(model)
            clock[STALE] = 0
        vote(model, rows, row, scores)
        calibrate_labels(streams, TARGET, scores, odds, probabilities)
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
        row += 1
    model.streams.learnt[stream] = True
    model.clock[STALE] = 1
    return row
