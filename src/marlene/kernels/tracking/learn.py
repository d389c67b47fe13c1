"""A tracker at a row: score, vote, decide; then learn weights, thresholds and classifiers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from marlene.kernels.banks.linear import linear_learn, linear_scores, slope
from marlene.kernels.banks.naive_bayes import LARGEST, bayes_learn, bayes_scores
from marlene.kernels.banks.neighbours import remember
from marlene.kernels.banks.scales import observe_row
from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.decisions.decide import learn_scores
from marlene.kernels.smooth import log_of, probability, within
from marlene.kernels.tracking import state
from marlene.kernels.tracking.decisions import calibrate_labels, cuts_of
from marlene.kernels.tracking.inherit import (
    has_had_its_time,
    inherit,
    is_due,
    renew_young,
    take_snapshot,
    taken_over,
    wanted_by_young,
)
from marlene.kernels.tracking.lists import are_complete, find_scouts, first_guest
from marlene.kernels.tracking.search import is_any_searching, source_scores, write_offers
from marlene.kernels.tracking.state import (
    BAYES,
    KINDS,
    LINEAR,
    NAMESAKE,
    NEIGHBOURS,
    SEARCHING,
    TARGET,
    scales_of,
)
from marlene.kernels.tracking.touched import write_inputs
from marlene.kernels.tracking.voices import are_asked, blend, learn_errors, write_neighbours
from marlene.kernels.tracking.weights import (
    HASTE,
    SEARCHED,
    class_weight,
    fair_step,
    gather,
    move_weights,
    set_floors,
)
from marlene.kernels.tracking.zeros import add_zeros

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import Kinds, Model, Rooms, Streams, Weights, WorkSpace

SURE = 0.995
SUREST = math.log(SURE / (1.0 - SURE))
"""The probability, and the log odds, beyond which a vote counts no more in weights."""
HEAVIEST = 1000.0
"""The largest weight of an example that counts in the weights of candidates."""
FAMILIAR = 0.7
"""The share of an example's inputs that a source must have met to say anything of it."""


@subkernel
def _write_scores(
    kinds: Kinds, rooms: Rooms, room: int, rows: Rows, row: int, scratch: WorkSpace, first: int, stop: int
) -> None:
    """Write the log odds of columns of a room, and the probabilities that belong to them."""
    score = scratch.score
    scales = scales_of(rooms, room)
    if kinds.used[BAYES]:
        out, bayes = score[BAYES], kinds.bayes
        bayes_scores(bayes, kinds.bayes_settings, scales, rows, row, first, stop, out)
        for h in range(first, stop):
            if bayes.weights[0, h] == 0.0 or bayes.weights[1, h] == 0.0:  # a class that was never seen gets no vote
                out[h] = LARGEST * ((bayes.weights[1, h] > 0.0) - (bayes.weights[0, h] > 0.0))
    if kinds.used[LINEAR]:
        linear_scores(kinds.linear, scales, scratch.full.rows, 0, first, stop, score[LINEAR])
    for k in range(KINDS):
        if kinds.used[k]:
            odds, chance = score[k, first:stop], scratch.chance[k, first:stop]
            for h in range(len(odds)):
                chance[h] = probability(within(odds[h], LARGEST))


@subkernel
def _write_logs(scratch: WorkSpace, k: int, columns: int) -> None:
    """Write ln P(0) and ln P(1) of all columns, with bounds on how sure they may be."""
    score, chance = scratch.score[k, :columns], scratch.chance[k, :columns]
    positive, negative = scratch.logs[k, 1, :columns], scratch.logs[k, 0, :columns]
    for h in range(columns):
        p = chance[h] if chance[h] < SURE else SURE  # noqa: FURB136 (faster: no check for NaN)
        positive[h] = log_of(p if p > 1.0 - SURE else 1.0 - SURE)  # noqa: FURB136
        negative[h] = positive[h] - within(score[h], SUREST)


@subkernel
def _mixed_votes(weights: Weights, score: Floats, chance: Floats, k: int, said: Floats) -> None:
    """Write what the leaders of every target label say together; those whose log odds are 0 say nothing."""
    for q in range(len(said)):
        p = total = 0.0
        for j in range(weights.leaders[k, q]):
            h, share = weights.leader[k, q, j], weights.share[k, q, j]
            if score[h] != 0.0:
                p += share * chance[h]
                total += share
        said[q] = p / total if total > 0.0 else 0.5


@inlined
def _is_familiar(rooms: Rooms, room: int, rows: Rows, row: int) -> bool:
    """Tell whether a source has met enough of a row's inputs."""
    known = 0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        known += 1 if rooms.scales.known[room, rows.indices[j]] else 0
    return bool(known >= FAMILIAR * (rows.starts[row + 1] - rows.starts[row]))


@subkernel
def vote(model: Model, rows: Rows, row: int, scores: Floats) -> None:
    """Write the score of every target label: P(label) for equal priors of both classes."""
    kinds, rooms, scratch, streams = model.kinds, model.rooms, model.scratch, model.streams
    add_zeros(scratch.full, rooms, rows, row)
    searched = is_any_searching(model)
    for room in range(len(rooms.first) - 1):
        first, stop = rooms.first[room], rooms.first[room + 1]
        awake = room == TARGET or _is_familiar(rooms, room, rows, row)
        if not awake:
            stop = state.source_column(rooms, room, 0)
            for k in range(KINDS):
                for h in range(stop, rooms.first[room + 1]):
                    scratch.score[k, h] = 0.0
        _write_scores(kinds, rooms, room, rows, row, scratch, first, stop)
        if searched and room != TARGET:
            write_offers(model, room, awake)
    n_labels = streams.labels[TARGET]
    for k in range(KINDS):
        if kinds.used[k]:
            _mixed_votes(model.weights, scratch.score[k], scratch.chance[k], k, scratch.said[k, :n_labels])
    if are_asked(model):
        write_neighbours(kinds, rooms, scratch, n_labels)
        blend(streams, TARGET, kinds.voices, scratch, scores)
    else:
        blend(streams, TARGET, kinds.used, scratch, scores)


@subkernel
def _write_slopes(model: Model, stream: int, first: int, start: int, stop: int, truth: Labels) -> None:
    """Write weights and slopes of the learners `start` to `stop` of those from column `first` on: a stream's labels."""
    settings, examples, importance = (
        model.kinds.linear_settings,
        model.streams.examples[stream],
        model.scratch.importance[0],
    )
    chance, slopes, weights = model.scratch.chance[LINEAR], model.scratch.slopes, model.scratch.work[3]
    for k in range(start, stop):
        slopes[k] = 0.0
        if truth[k] >= 0:
            weights[k] = class_weight(examples[k - start, 0], examples[k - start, 1], truth[k])
            slopes[k] = importance * slope(settings, chance[first + k], truth[k], weights[k])


@subkernel
def _train(model: Model, stream: int, room: int, first: int, young: int, rows: Rows, row: int, truth: Labels) -> None:
    """Train the learners of a stream's labels, in a room from column `first` on; from number `young` on once more."""
    kinds, scratch, scales = model.kinds, model.scratch, scales_of(model.rooms, room)
    work, importance = scratch.work, scratch.importance[0]
    _write_slopes(model, stream, first, 0, min(young, len(truth)), truth)
    _write_slopes(model, stream, first, young, len(truth), truth)
    if kinds.used[BAYES]:
        bank, settings, listed, weights = kinds.bayes, kinds.bayes_settings, scratch.touched.listed, work[3]
        bayes_learn(bank, settings, scales, rows, row, first, truth, weights, importance, young, work, listed)
    if kinds.used[LINEAR]:
        slopes = scratch.slopes[: len(truth)]
        linear_learn(kinds.linear, kinds.linear_settings, scales, scratch.full.rows, 0, first, slopes)


@inlined
def _gather(model: Model, columns: Ints, k: int, y: int) -> None:
    """Write the floors of guests and what they say of class y."""
    gather(model.weights.floor, columns, model.scratch.guests[0])
    gather(model.scratch.logs[k, y], columns, model.scratch.guests[1 + y])


@inlined
def _is_asleep(model: Model, k: int, h: int) -> bool:
    """Tell whether a column is that of a source that says nothing of the present example."""
    return bool(h >= model.rooms.first[1] and model.scratch.score[k, h] == 0.0)


@inlined
def _count_sleepers(model: Model, k: int) -> tuple[int, int]:
    """Return how many learners of sources sleep, and how many are awake."""
    asleep = awake = 0
    for i in range(model.clock[state.POOL] if len(model.streams.labels) > 1 else 0):
        h = model.weights.pool[i]
        if _is_asleep(model, k, h):
            asleep += 1
        elif h >= model.rooms.first[1]:
            awake += 1
    return asleep, awake


@subkernel
def _keep_sleepers(model: Model, columns: Ints, k: int, q: int, y: int) -> None:
    """Let guests that sleep say of class y what all leaders that are awake say: so their part of the weight stays."""
    weights, logs, p, total = model.weights, model.scratch.logs[k, y], 0.0, 0.0
    for j in range(weights.leaders[k, q]):
        h = weights.leader[k, q, j]
        if not _is_asleep(model, k, h):
            p += weights.share[k, q, j] * math.exp(logs[h])
            total += weights.share[k, q, j]
    said = math.log(p / total) if total > 0.0 else math.log(0.5)
    for i in range(len(columns)):
        if _is_asleep(model, k, columns[i]):
            model.scratch.guests[1 + y, i] = said


@inlined
def _moderate(streams: Streams, scratch: WorkSpace, k: int, q: int, y: int) -> None:
    """Write what a label's own learner says of class y, with a bound on how sure it may be.

    After n examples of the rarer class these are odds of 1 + n.
    """
    importance = scratch.importance[0]
    negative = state.own_examples(streams, q, 0) - importance * (1 - y)
    positive = state.own_examples(streams, q, 1) - importance * y
    bound = min(SUREST, math.log(1.0 + max(0.0, min(negative, positive))))
    odds = min(max(scratch.score[k, q], -bound), bound)
    scratch.logs[k, y, q] = -math.log(1.0 + math.exp(-odds if y == 1 else odds))


@inlined
def _haste(seen: float, began: int) -> float:
    """Return by how much faster the weights of a label move; more than 1 if it is searched for."""
    return 1.0 + HASTE / (1.0 + seen / SEARCHED) if began == SEARCHING else 1.0


@inlined
def _step(model: Model, k: int, q: int, y: int, awake: int) -> float:
    """Return how far the weights of a label move; moderate its own learner if sources have something to say."""
    streams, began = model.streams, model.weights.began[q]
    step = fair_step(streams.examples[TARGET, q, 0], streams.examples[TARGET, q, 1], y)
    if began == NAMESAKE or (began == SEARCHING and awake > 0):
        _moderate(streams, model.scratch, k, q, y)
        step *= _haste(state.own_examples(streams, q, 0) + state.own_examples(streams, q, 1), began)
    return float(step * min(model.scratch.importance[0], HEAVIEST))


@subkernel
def track(model: Model, k: int, truth: Labels) -> None:
    """Move the weights of all target labels, and let those inherit whose candidate has taken over."""
    weights, rooms, streams, scratch = model.weights, model.rooms, model.streams, model.scratch
    complete, guest = are_complete(model), first_guest(rooms)
    asleep, awake = _count_sleepers(model, k)
    _write_logs(scratch, k, rooms.first[len(rooms.first) - 1])
    if complete:  # the pool are the guests of every label
        for y in range(2):
            _gather(model, weights.pool[: model.clock[state.POOL]], k, y)
    elif is_any(truth, 1):
        find_scouts(model, scratch.score[k])
    for q in range(streams.labels[TARGET]):
        y = truth[q]
        if y < 0:
            continue
        guests = weights.candidate[k, q, guest : weights.size[k, q]]
        if not complete:
            _gather(model, guests, k, y)
        step = _step(model, k, q, y, awake)
        if asleep > 0:
            _keep_sleepers(model, guests, k, q, y)
        if move_weights(model, k, q, y, step, y == 1 and not complete):
            h = taken_over(weights, rooms, k, q)
            if h >= 0:
                inherit(model, k, q, h)


@inlined
def is_any(truth: Labels, least: int) -> bool:
    """Tell whether any label of an example is 1, or, with `least` 0, known."""
    found = False
    for q in range(len(truth)):
        found = found or truth[q] >= least
    return found


@subkernel
def learn_target(model: Model, rows: Rows, row: int, truth: Labels) -> None:
    """Learn a row of the target."""
    rooms, growth, streams = model.rooms, model.growth, model.streams
    if model.kinds.voices[NEIGHBOURS]:
        importance = model.scratch.importance[0]
        remember(model.kinds.window, scales_of(rooms, TARGET), model.scratch.full.rows, 0, truth, importance)
    n_labels, block, lesson = streams.labels[TARGET], rooms.block, model.scratch.lesson
    for q in range(block):
        lesson[q] = truth[q] if q < n_labels else -1
        lesson[block + q] = wanted_by_young(growth, q, truth[q]) if q < n_labels else -1
    for room in range(len(rooms.first) - 1):
        observe_row(scales_of(rooms, room), rows, row)
        learning = lesson[: 2 * block if room == TARGET else block]
        _train(model, TARGET, room, rooms.first[room], block, rows, row, learning)
    write_inputs(model.scratch.touched, model.scratch.full.rows)
    frozen = False
    for q in range(n_labels):
        if truth[q] >= 0:
            growth.since[q, truth[q]] += 1
            if has_had_its_time(growth, q):
                renew_young(model, q)
            if is_due(growth, q):
                frozen = take_snapshot(model, q) or frozen
    if frozen:
        set_floors(model.weights, rooms, streams, growth)


@subkernel
def learn_source(model: Model, stream: int, first: int, rows: Rows, row: int, truth: Labels) -> None:
    """Learn a row of a source."""
    observe_row(scales_of(model.rooms, stream), rows, row)
    for j in range(rows.starts[row], rows.starts[row + 1]):
        model.rooms.scales.known[stream, rows.indices[j]] = True
    n_labels = model.streams.labels[stream]
    _train(model, stream, stream, first, n_labels, rows, row, truth[:n_labels])


@subkernel
def test_source(model: Model, stream: int, rows: Rows, row: int, truth: Labels) -> None:
    """Let the learners of a source vote alone on a row, and learn lines, cuts and errors from that."""
    streams, scratch, n_labels = model.streams, model.scratch, model.streams.labels[stream]
    first, scores, probabilities = state.source_column(model.rooms, stream, 0), scratch.scores, scratch.probabilities
    add_zeros(scratch.full, model.rooms, rows, row)
    _write_scores(model.kinds, model.rooms, stream, rows, row, scratch, first, model.rooms.first[stream + 1])
    source_scores(model, stream, scores)
    odds = scratch.odds[:n_labels]
    calibrate_labels(streams, stream, scores[:n_labels], odds, probabilities[:n_labels])
    lines, weight, work = streams.lines[stream], scratch.importance[0], scratch.choice
    learn_scores(cuts_of(streams, stream), lines, model.objective, odds, probabilities, truth, weight, work)
    learn_errors(streams, stream, model.kinds.used, scratch, truth)
