"""Snapshots, young learners, and inheriting: whose column becomes a copy of whose."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.banks.linear import linear_clear, linear_copy
from marlene.kernels.banks.naive_bayes import bayes_clear, bayes_copy
from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.ensemble.thresholds import BINS
from marlene.kernels.tracking import state
from marlene.kernels.tracking.lists import fill, first_guest, is_pooled, join, learner_place, offer, place_of
from marlene.kernels.tracking.state import ABSENT, BAYES, KINDS, LINEAR, OWN_PLACE, TARGET, YOUNG_PLACE
from marlene.kernels.tracking.weights import (
    BEHIND,
    FAMILIAR,
    NAMED,
    OWN_PRIOR,
    PROVEN,
    PROVEN_NAMED,
    SHARE,
    UNNAMED,
    YOUNG_PRIOR,
    find_leaders,
    hand_over,
    set_floors,
    trust,
)

if TYPE_CHECKING:
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import Growth, Kinds, Model, Rooms, Streams, Weights

TAKEN_OVER = 0.9
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
"""A label with fewer examples also inherits the threshold of a source, which counts for this many."""


@subkernel
def _copy(kinds: Kinds, k: int, giver: int, heir: int, positives: float, squares: float) -> None:
    if k == BAYES:
        known = kinds.bayes.examples[1, giver]
        bayes_copy(kinds.bayes, giver, heir, min(1.0, positives / known) if known > 0.0 else 1.0)
    else:
        linear_copy(kinds.linear, giver, heir, squares)


@subkernel
def _clear(kinds: Kinds, h: int) -> None:
    if kinds.used[BAYES]:
        bayes_clear(kinds.bayes, h)
    if kinds.used[LINEAR]:
        linear_clear(kinds.linear, h)


@subkernel
def _withdraw(weights: Weights, k: int, q: int, place: int) -> None:
    """Take a candidate's weight for a label away, and give it to the label's own learner."""
    log = weights.log[k, q]
    leads = log[place] > weights.total[k, q] - 2.0 * BEHIND
    if leads:
        hand_over(weights, k, q, place, OWN_PLACE)
    log[place] = ABSENT
    if leads:
        find_leaders(weights, k, q)


@subkernel
def _inherit_threshold(streams: Streams, stream: int, label: int, q: int) -> None:
    """Let a target label have the scores, and the errors of both kinds, of a source's label."""
    total = 0.0
    for y in range(2):
        for b in range(BINS):
            total += streams.counts[stream, label, y, b]
    part = min(1.0, FEW_EXAMPLES / max(1.0, total))
    streams.cut[TARGET, q] = streams.cut[stream, label]
    for y in range(2):
        for b in range(BINS):
            streams.counts[TARGET, q, y, b] = part * streams.counts[stream, label, y, b]
            streams.shares[TARGET, q, y, b] = part * streams.shares[stream, label, y, b]
        for k in range(KINDS):
            streams.errors[TARGET, k, q, y] = streams.errors[stream, k, label, y]
            streams.counted[TARGET, k, q, y] = streams.counted[stream, k, label, y]


@inlined
def taken_over(weights: Weights, rooms: Rooms, k: int, q: int) -> int:
    """Return the column of another candidate than the label's learners that has taken over, -1 if there is none."""
    for j in range(weights.leaders[k, q]):
        if weights.share[k, q, j] > TAKEN_OVER:
            h = weights.leader[k, q, j]
            return int(h) if h != state.learner_column(rooms, state.room_of(rooms, h), q) else -1
    return -1


@subkernel
def inherit(model: Model, k: int, q: int, h: int) -> None:
    """Let a learner of a label become a copy of a candidate."""
    weights, rooms, streams = model.weights, model.rooms, model.streams
    room = state.room_of(rooms, h)
    heir = state.learner_column(rooms, room, q)
    if room == TARGET and h != state.young_column(rooms, q):
        _copy(model.kinds, k, h, heir, KEPT_POSITIVES, KEPT_SQUARES)
    else:
        _copy(model.kinds, k, h, heir, np.inf, 1.0)
    if room != TARGET and streams.examples[TARGET, q, 0] + streams.examples[TARGET, q, 1] < FEW_EXAMPLES:
        _inherit_threshold(streams, room, h - state.source_column(rooms, room, 0), q)
    model.scratch.score[k, heir] = model.scratch.score[k, h]  # what the heir says of the example it learns next
    hand_over(weights, k, q, place_of(weights, rooms, k, q, h), learner_place(room))
    find_leaders(weights, k, q)
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
def renew_young(kinds: Kinds, weights: Weights, rooms: Rooms, growth: Growth, q: int) -> None:
    """Start a label's young learner anew."""
    growth.young[q, 0] = growth.young[q, 1] = 0
    _clear(kinds, state.young_column(rooms, q))
    for k in range(KINDS):
        if kinds.used[k]:
            _withdraw(weights, k, q, YOUNG_PLACE)
            weights.log[k, q, YOUNG_PLACE] = weights.total[k, q] - 3.0 * BEHIND


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
    find_leaders(weights, k, q)


@kernel
def begin_concept(kinds: Kinds, weights: Weights, rooms: Rooms, growth: Growth, q: int) -> None:
    """Let a label begin a new concept: weights as at the beginning, and a young learner that knows nothing."""
    for k in range(KINDS):
        if kinds.used[k]:
            _set_priors(weights, rooms, k, q)
    growth.young[q, 0] = growth.young[q, 1] = 0
    _clear(kinds, state.young_column(rooms, q))


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
    h = state.snapshot_column(rooms, slot, q)
    for k in range(KINDS):
        if kinds.used[k]:
            _copy(kinds, k, q, h, np.inf, 1.0)
            for other in range(model.streams.labels[TARGET]):
                place = place_of(weights, rooms, k, other, h)
                if place >= 0:
                    _withdraw(weights, k, other, place)
    further = not is_pooled(model, h)
    if further:
        _offer_all(model, h)
    return further


@subkernel
def _offer_all(model: Model, column: int) -> None:
    """Let a column join the pool, and offer it to all labels; those that have not begun take it later."""
    weights, streams = model.weights, model.streams
    join(model, column)
    for k in range(KINDS):
        if model.kinds.used[k]:
            for q in range(streams.labels[TARGET]):
                if weights.begun[q] and offer(weights, model.rooms, streams, k, q, column):
                    find_leaders(weights, k, q)


@subkernel
def _is_familiar(rooms: Rooms, stream: int, rows: Rows, row: int) -> bool:
    """Tell whether a source has met enough of a row's inputs."""
    met = 0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        met += 1 if rooms.met[stream, rows.indices[j]] else 0
    return bool(met >= FAMILIAR * (rows.starts[row + 1] - rows.starts[row]))


@subkernel
def _learn_trust(model: Model) -> None:
    """Find how much sources that have learnt are to be trusted now; those that are join the pool."""
    streams = model.streams
    for s in range(1, len(streams.labels)):
        if streams.learnt[s]:
            for label in range(streams.labels[s]):
                streams.trust[s, label] = trust(streams, s, label, PROVEN)
                h = state.source_column(model.rooms, s, label)
                if streams.trust[s, label] > 0.0 and not is_pooled(model, h):
                    _offer_all(model, h)
            streams.learnt[s] = False


@subkernel
def _write_trust(model: Model, rows: Rows, row: int) -> None:
    """Write how much every label of every source is to be trusted by target labels of other names."""
    streams, trusted = model.streams, model.scratch.trusted
    for s in range(1, len(streams.labels)):
        familiar = _is_familiar(model.rooms, s, rows, row)
        for label in range(streams.labels[s]):
            trusted[s, label] = streams.trust[s, label] if familiar else 0.0
        trusted[s, streams.labels[s]] = 1.0 if familiar else 0.0


@inlined
def _named_trust(model: Model, s: int, q: int) -> float:
    """Return the trust in the label of a source that has the name of target label q, 0 if there is none."""
    label, streams = model.streams.same[s, q], model.streams
    if label < 0 or model.scratch.trusted[s, streams.labels[s]] == 0.0:
        return 0.0
    return trust(streams, s, label, PROVEN_NAMED)


@subkernel
def begin(model: Model, rows: Rows, row: int) -> None:
    """Before a row, give the target labels that have none yet their first weights, from what sources have learnt.

    A tracker without snapshots takes nothing from sources either.
    """
    weights, streams = model.weights, model.streams
    if len(model.growth.alive) == 0:
        return
    _learn_trust(model)
    set_floors(weights, model.rooms, streams, model.growth)
    _write_trust(model, rows, row)
    total = best = 0.0
    for s in range(1, len(streams.labels)):
        for label in range(streams.labels[s]):
            total += model.scratch.trusted[s, label]
            best = max(best, model.scratch.trusted[s, label])
    for q in range(streams.labels[TARGET]):
        if not weights.begun[q]:
            _begin_label(model, q, total, best)
        weights.begun[q] = True


@subkernel
def _begin_label(model: Model, q: int, total: float, best: float) -> None:
    streams, named, giver = model.streams, 0.0, 0
    for s in range(1, len(streams.labels)):
        if _named_trust(model, s, q) > named:
            named, giver = _named_trust(model, s, q), s
    foreign = NAMED * named if named > 0.0 else UNNAMED * best
    for k in range(KINDS):
        if model.kinds.used[k]:
            fill(model, k, q)
    if foreign > 0.0:
        for k in range(KINDS):
            if model.kinds.used[k]:
                _first_weights(model, k, q, foreign, total, named)
    if named > 0.0:
        _inherit_threshold(streams, giver, streams.same[giver, q], q)


@subkernel
def _first_weights(model: Model, k: int, q: int, foreign: float, total: float, named: float) -> None:
    """Give the candidates of a label their first weights: `foreign` to all of sources together."""
    weights, rooms, streams = model.weights, model.rooms, model.streams
    log = weights.log[k, q]
    log[OWN_PLACE] = math.log(1.0 - foreign)
    unnamed = (1.0 - NAMED) * foreign if named > 0.0 else foreign
    for s in range(1, len(streams.labels)):
        for label in range(streams.labels[s]):
            trusted = model.scratch.trusted[s, label]
            place = place_of(weights, rooms, k, q, state.source_column(rooms, s, label)) if trusted > 0.0 else -1
            if place >= 0:
                log[place] = math.log(unnamed * trusted / total)
        same = _named_trust(model, s, q)
        if same > 0.0:
            h = state.learner_column(rooms, s, q)
            _copy(model.kinds, k, state.source_column(rooms, s, streams.same[s, q]), h, np.inf, 1.0)
            log[learner_place(s)] = math.log(NAMED * foreign * same / named)
    find_leaders(weights, k, q)
