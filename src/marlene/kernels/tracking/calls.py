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
def _check_scores(model: Model, rows: Rows, row: int) -> None:
    """Take note if the scores that are there are not those of a row; before its zeros are added."""
    start, n, scored = rows.starts[row], rows.starts[row + 1] - rows.starts[row], model.scratch.scored
    known = scored[STEP] == model.steps[0] and scored[INPUTS] == n
    if known:
        indices, values = model.scratch.full.rows.indices, model.scratch.full.rows.values
        for j in range(n):
            known = known and indices[j] == rows.indices[start + j] and values[j] == rows.values[start + j]
    if not known:
        scored[STEP] = NO_STEP


@subkernel
def _score(model: Model, rows: Rows, row: int) -> None:
    """Write the score, its log odds and the probability of every target label, unless they are there."""
    scratch, n_labels = model.scratch, model.streams.labels[TARGET]
    if scratch.scored[STEP] == NO_STEP:
        scores, odds = scratch.scores[:n_labels], scratch.odds[:n_labels]
        vote(model, rows, row, scores)
        calibrate_labels(model.streams, TARGET, scores, odds, scratch.probabilities[:n_labels])
        scratch.scored[STEP], scratch.scored[INPUTS] = model.steps[0], rows.starts[row + 1] - rows.starts[row]


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
def _can_learn(model: Model, rows: Rows, row: int) -> bool:
    """Tell whether events have room, and a row among the neighbours; then let labels begin that have not yet."""
    kinds, events = model.kinds, model.clock[EVENTS] + KINDS * model.streams.labels[TARGET]
    fits = not kinds.voices[NEIGHBOURS] or fits_window(kinds.window, model.scratch.full, model.rooms, rows, row)
    if not fits or events > len(model.events):
        return False
    if model.clock[STALE]:
        begin(model)
        model.clock[STALE] = 0
        model.scratch.scored[STEP] = NO_STEP
    return True


@subkernel
def _learn(model: Model, rows: Rows, row: int, truth: Labels, weight: float) -> None:
    """Learn a row of the target, which has scores."""
    streams, scratch, n_labels = model.streams, model.scratch, model.streams.labels[TARGET]
    odds, probabilities = scratch.odds[:n_labels], scratch.probabilities[:n_labels]
    learn_labels(streams, model.sets, model.objective, odds, probabilities, truth, weight, scratch.choice)
    learn_search(model, probabilities, truth)
    learn_voices(model, scratch.scores[:n_labels], truth)
    if is_any(truth, 0):  # of others nothing is learnt, not even of their inputs
        for k in range(KINDS):
            if model.kinds.used[k]:
                track(model, k, truth)
        learn_target(model, rows, row, truth)
    streams.seen[TARGET] += 1
    scratch.touched.clock[SEEN] = streams.seen[TARGET]
    model.steps[0] += 1


@borrower
def run_target_rows(table: Ints, task: Ints, row: int, stop: int, given: int, learning: bool) -> int:
    """Predict rows of the target from `row` to `stop`, and learn each of them; return the first that was not.

    Scores, probabilities and predictions are written if the task has room for them. Without `learning` the model stays
    as it is. The kernel stops before a row when there may be no room for its events, or for its inputs among the
    neighbours. If `given` is not negative, the task is one example of so many features; `REFUSED`: it could not be made
    a row. Scores of a row that was just predicted are not made anew.
    """
    model, work = held(table, Model), held(task, Task)
    if given >= 0 and not read_given(work.given, given, work.rows):
        return REFUSED
    rows, block, streams, scratch = work.rows, work.block, model.streams, model.scratch
    n_labels = streams.labels[TARGET]
    if learning:
        keep_up(scratch.touched, streams.seen[TARGET])
    while row < stop:
        _check_scores(model, rows, row)
        if learning and not _can_learn(model, rows, row):
            break
        _score(model, rows, row)
        if len(block.scores) > 0:
            for q in range(n_labels):
                block.scores[row, q], block.probabilities[row, q] = scratch.scores[q], scratch.probabilities[q]
            _decide(model, scratch.odds[:n_labels], block.probabilities[row], block.predictions[row])
        if learning:
            scratch.importance[0] = block.weights[row]
            _learn(model, rows, row, block.truth[row], block.weights[row])
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
