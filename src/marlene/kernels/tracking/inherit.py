"""Snapshots, young learners, and inheriting: whose column becomes a copy of whose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.banks.copies import bayes_clear, bayes_copy, linear_clear, linear_copy
from marlene.kernels.banks.scales import list_met
from marlene.kernels.compile import inlined, rare, subkernel
from marlene.kernels.decisions.calibration import CURVE, LINE
from marlene.kernels.decisions.cuts import BINS
from marlene.kernels.tracking import state
from marlene.kernels.tracking.lists import first_guest, is_pooled, join, learner_place, offer, place_of
from marlene.kernels.tracking.state import ABSENT, BAYES, KINDS, LINEAR, NOT_YET, OWN_PLACE, TARGET, YOUNG_PLACE
from marlene.kernels.tracking.touched import LOGGED, UNKNOWN, keep_up, list_since
from marlene.kernels.tracking.weights import BEHIND, OWN_PRIOR, SHARE, YOUNG_PRIOR, find_leaders, hand_over

if TYPE_CHECKING:
    from marlene._common.arrays import Ints
    from marlene.kernels.tracking.state import Growth, Model, Rooms, Streams, Weights

TAKEN_OVER = 0.75
"""The share of the weight from which on a label inherits."""
KEPT_POSITIVES = 100.0
"""How many positive examples of a snapshot's naive Bayes count at most."""
KEPT_SQUARES = 0.25
"""The part of AdaGrad's sums that is kept, so that the heir can still move."""
YOUNG_FOR = 16
"""Positive examples after which a young learner that has not taken over starts anew."""
NEGATIVES = 4
"""How many negative examples a young learner learns for each positive one at most, once there are some."""
RARER_CLASS, LEAST_EXAMPLES = 16, 200
"""A label's snapshot is due after this many examples of its rarer class, and this many in all."""
FEW_EXAMPLES = 200.0
"""A label with fewer examples also inherits the scores of a source's label, from which its threshold follows."""
NAMED_EXAMPLES, FOUND_EXAMPLES = 1000.0, 20.0
"""How many examples these scores count for at most, if the label has the same name, or another one."""


@subkernel
def copy_column(model: Model, k: int, inputs: Ints, giver: int, heir: int, positives: float, squares: float) -> None:
    """Make a column a copy of another: with at most so many positive examples, and a part of AdaGrad's sums.

    They differ in no other than these inputs.
    """
    kinds = model.kinds
    if k == BAYES:
        known = kinds.bayes.examples[1, giver]
        kept = min(1.0, positives / known) if known > 0.0 else 1.0
        bayes_copy(kinds.bayes, model.rooms.numeric, inputs, giver, heir, kept)
    else:
        linear_copy(kinds.linear, inputs, giver, heir, squares)


@subkernel
def _clear_young(model: Model, q: int) -> None:
    """Let a label's young learner forget everything."""
    kinds, growth, rooms, touched = model.kinds, model.growth, model.rooms, model.scratch.touched
    inputs = touched.listed[: list_since(touched, rooms, touched.young[q])]
    h = state.young_column(rooms, q)
    if kinds.used[BAYES]:
        bayes_clear(kinds.bayes, rooms.numeric, inputs, h)
    if kinds.used[LINEAR]:
        linear_clear(kinds.linear, inputs, h)
    growth.young[q, 0] = growth.young[q, 1] = 0


@subkernel
def _withdraw(weights: Weights, rooms: Rooms, k: int, q: int, place: int) -> None:
    """Take a candidate's weight for a label away, and give it to the label's own learner."""
    log = weights.log[k, q]
    leads = log[place] > weights.total[k, q] - 2.0 * BEHIND
    if leads:
        hand_over(weights, k, q, place, OWN_PLACE)
    log[place] = ABSENT
    if leads:
        find_leaders(weights, rooms, k, q)


@rare
def inherit_threshold(streams: Streams, stream: int, label: int, q: int, examples: float) -> None:
    """Let a target label have the cut, the line, the errors of both kinds, and so many scores of a source's label."""
    total = 0.0
    for y in range(2):
        for b in range(BINS):
            total += streams.counts[stream, label, y, b]
    part = min(1.0, examples / max(1.0, total))
    streams.cut[TARGET, q] = streams.cut[stream, label]
    for i in range(LINE):
        streams.lines[TARGET, q, i] = (part if i >= CURVE else 1.0) * streams.lines[stream, label, i]
    for y in range(2):
        for b in range(BINS):
            streams.counts[TARGET, q, y, b] += part * streams.counts[stream, label, y, b]
            streams.shares[TARGET, q, y, b] += part * streams.shares[stream, label, y, b]
        for k in range(KINDS):
            streams.errors[TARGET, k, q, y] = streams.errors[stream, k, label, y]
            streams.counted[TARGET, k, q, y] = streams.counted[stream, k, label, y]


@rare
def lend_examples(streams: Streams, stream: int, label: int, q: int, examples: float) -> None:
    """Let a target label have so many examples of a source's label: they tell how rare it is."""
    given = streams.examples[stream, label]
    part = min(1.0, examples / max(1.0, given[0] + given[1]))
    for y in range(2):
        streams.examples[TARGET, q, y] += part * given[y]
        streams.lent[TARGET, q, y] += part * given[y]


@inlined
def taken_over(weights: Weights, rooms: Rooms, k: int, q: int) -> int:
    """Return the column of another candidate than the label's learners that has taken over, -1 if there is none."""
    for j in range(weights.leaders[k, q]):
        if weights.share[k, q, j] > TAKEN_OVER:
            h = weights.leader[k, q, j]
            return int(h) if h != state.learner_column(rooms, state.room_of(rooms, h), q) else -1
    return -1


@rare
def inherit(model: Model, k: int, q: int, h: int) -> None:
    """Let a learner of a label become a copy of a candidate."""
    weights, rooms, streams = model.weights, model.rooms, model.streams
    room = state.room_of(rooms, h)
    heir, touched = state.learner_column(rooms, room, q), model.scratch.touched
    inputs = touched.listed[: list_met(rooms.scales.met[room], touched.listed)]
    if room == TARGET and h != state.young_column(rooms, q):
        copy_column(model, k, inputs, h, heir, KEPT_POSITIVES, KEPT_SQUARES)
    else:
        copy_column(model, k, inputs, h, heir, np.inf, 1.0)
    if room == TARGET:
        for slot in range(len(touched.frozen)):
            touched.frozen[slot, q] = UNKNOWN
    if room != TARGET and state.own_examples(streams, q, 0) + state.own_examples(streams, q, 1) < FEW_EXAMPLES:
        inherit_threshold(streams, room, h - state.source_column(rooms, room, 0), q, FOUND_EXAMPLES)
    score, chance = model.scratch.score[k], model.scratch.chance[k]
    score[heir], chance[heir] = score[h], chance[h]  # what the heir says of the example it learns next
    hand_over(weights, k, q, place_of(weights, rooms, k, q, h), learner_place(room))
    find_leaders(weights, rooms, k, q)
    event = model.events[model.clock[state.EVENTS]]
    event[state.EVENT_TIME], event[state.EVENT_KIND] = streams.seen[TARGET], k
    event[state.EVENT_LABEL], event[state.EVENT_COLUMN] = q, h
    model.clock[state.EVENTS] += 1


@inlined
def wanted_by_young(growth: Growth, q: int, y: int) -> int:
    """Return the class of an example as a label's young learner is to learn it, -1 if it is not."""
    if y == 0 and growth.young[q, 0] >= NEGATIVES * (growth.young[q, 1] + NEGATIVES):
        return -1
    if y >= 0:
        growth.young[q, y] += 1
    return y


@inlined
def has_had_its_time(growth: Growth, q: int) -> bool:
    """Tell whether a label's young learner is to start anew."""
    return bool(growth.young[q, 1] >= YOUNG_FOR)


@subkernel
def renew_young(model: Model, q: int) -> None:
    """Start a label's young learner anew."""
    kinds, weights, rooms = model.kinds, model.weights, model.rooms
    _clear_young(model, q)
    model.scratch.touched.young[q] = model.scratch.touched.clock[LOGGED]
    for k in range(KINDS):
        if kinds.used[k]:
            _withdraw(weights, rooms, k, q, YOUNG_PLACE)
            weights.log[k, q, YOUNG_PLACE] = weights.total[k, q] - 3.0 * BEHIND
            weights.silent[k, q, state.SILENT_YOUNG] = weights.log[k, q, YOUNG_PLACE]


@inlined
def is_due(growth: Growth, q: int) -> bool:
    """Tell whether a snapshot of a label is due."""
    negative, positive = growth.since[q, 0], growth.since[q, 1]
    enough = min(negative, positive) >= RARER_CLASS and negative + positive >= LEAST_EXAMPLES
    return bool(enough and len(growth.alive) > 0)


@subkernel
def _set_priors(weights: Weights, rooms: Rooms, k: int, q: int) -> None:
    """Give all candidates of a label their prior weights again; those that have none lose theirs."""
    log, total = weights.log[k, q], weights.total[k, q]
    for room in range(len(rooms.first) - 1):
        if log[learner_place(room)] > ABSENT:
            log[learner_place(room)] = total + math.log(OWN_PRIOR)
    log[YOUNG_PLACE] = total + math.log(YOUNG_PRIOR)
    for place in range(first_guest(rooms), weights.size[k, q]):
        floor = weights.floor[weights.candidate[k, q, place]]
        log[place] = total + floor - math.log(SHARE) if floor > ABSENT else ABSENT
    weights.silent[k, q, state.SILENT_YOUNG] = weights.silent[k, q, state.SILENT_GUEST] = ABSENT
    find_leaders(weights, rooms, k, q)


@subkernel
def begin_concept(model: Model, q: int) -> None:
    """Let a label begin a new concept: weights as at the beginning, and a young learner that knows nothing."""
    for k in range(KINDS):
        if model.kinds.used[k]:
            _set_priors(model.weights, model.rooms, k, q)
    keep_up(model.scratch.touched, model.streams.seen[TARGET])
    _clear_young(model, q)


@subkernel
def take_snapshot(model: Model, q: int) -> bool:
    """Freeze a label's own learner; tell whether there is one snapshot more.

    The n-th snapshot goes to the slot that says how often 2 divides n: the slots hold snapshots of about one, two, four
    and eight times the age.
    """
    growth, rooms, weights, kinds = model.growth, model.rooms, model.weights, model.kinds
    growth.since[q, 0] = growth.since[q, 1] = 0
    growth.taken[q] += 1
    slot, number = 0, growth.taken[q]
    while number % 2 == 0 and slot < len(growth.alive) - 1:
        number //= 2
        slot += 1
    growth.alive[slot, q] = True
    h, touched = state.snapshot_column(rooms, slot, q), model.scratch.touched
    inputs = touched.listed[: list_since(touched, rooms, touched.frozen[slot, q])]
    touched.frozen[slot, q] = touched.clock[LOGGED]
    for k in range(KINDS):
        if kinds.used[k]:
            copy_column(model, k, inputs, q, h, np.inf, 1.0)
            for other in range(model.streams.labels[TARGET]):
                place = place_of(weights, rooms, k, other, h)
                if place >= 0:
                    _withdraw(weights, rooms, k, other, place)
    further = not is_pooled(model, h)
    if further:
        offer_all(model, h)
    return further


@subkernel
def offer_all(model: Model, column: int) -> None:
    """Let a column join the pool, and offer it to all labels; those that have not begun take it later."""
    weights, streams = model.weights, model.streams
    join(model, column)
    for k in range(KINDS):
        if model.kinds.used[k]:
            for q in range(streams.labels[TARGET]):
                if weights.began[q] != NOT_YET and offer(weights, model.rooms, streams, k, q, column):
                    find_leaders(weights, model.rooms, k, q)
