"""Fixed share: the weights of candidates move with what each says, and none falls below a small share.

After an example, the weight of a candidate that gave its class the probability p is multiplied by p to the power of
η·c, where c makes both classes count the same (Herbster and Warmuth 1998, "Tracking the best expert"). Weights are kept
as logarithms; a floor takes the place of the share that is handed round, so that candidates far behind cost one
addition. Only *leaders*, those within e⁵ of the best, vote. A young or foreign candidate must also be better than
silence, that is, than always saying 0.5: where a label's own learner is too sure, the timid win, though they know
nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.decisions.cuts import BINS
from marlene.kernels.tracking.lists import first_guest, learner_place, place_of, send_scouts
from marlene.kernels.tracking.state import (
    ABSENT,
    LEADERS,
    SILENT_GUEST,
    SILENT_YOUNG,
    YOUNG_PLACE,
    snapshot_column,
    source_column,
)

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.tracking.state import Growth, Model, Rooms, Streams, Weights

RATE = 0.4
"""η: how fast weights move."""
LARGEST_CLASS_WEIGHT = 5.0
"""How much an example of a rare class counts at most in weights; examples of the other class then count less, too."""
SHARE = 0.003
"""The part of the weight that is handed round."""
OWN_PRIOR, YOUNG_PRIOR, OTHERS_PRIOR = 0.9, 0.05, 0.1
"""How that part is shared: the label's learners, its young learner, and all snapshots and sources together."""
TEMPER = 0.5
"""The power of a weight by which a leader votes: it takes twice as long to have nearly all of the say."""
OWN_FLOOR, YOUNG_FLOOR, SILENCE = math.log(SHARE * OWN_PRIOR), math.log(SHARE * YOUNG_PRIOR), math.log(0.5)
"""The least weights of a label's learners and of its young one, and what silence says; as logarithms."""
BEHIND = 5.0
"""How far below the best a leader's logarithm may be."""
HASTE, SEARCHED = 8.0, 32.0
"""How much faster the weights of a label move at first if it is searched for among labels of other names, and after how
many examples half of that is left."""
PROVEN, PROVEN_NAMED = 2.5, 1.0
"""By how many standard errors a source must tell its own positive examples from its negative ones, to be trusted; less
is asked for the target's label of the same name."""
GOOD = 0.2
"""The area under the ROC curve, above one half, from which on a source is trusted fully."""


@inlined
def class_weight(negative: float, positive: float, y: int) -> float:
    """Return by how much an example of class y counts, so that both classes count the same."""
    return 0.5 * (negative + positive + 2.0) / ((positive if y == 1 else negative) + 1.0)


@inlined
def fair_step(negative: float, positive: float, y: int) -> float:
    """Return how far weights move after an example of class y; both classes count the same.

    This is η × the class weight, less by as much as that of the rarer class exceeds `LARGEST_CLASS_WEIGHT`.
    """
    rarer, own = min(negative, positive) + 1.0, (positive if y == 1 else negative) + 1.0
    return RATE * min(0.5 * (negative + positive + 2.0), LARGEST_CLASS_WEIGHT * rarer) / own


@inlined
def _is_heard(log: float, silent: Floats, place: int, guest: int) -> bool:
    """Tell whether a candidate is better than silence, or a label's own or warm learner."""
    if place == YOUNG_PLACE:
        return bool(log > silent[SILENT_YOUNG])
    return bool(place < guest or log > silent[SILENT_GUEST])


@inlined
def _vote_share(weights: Weights, k: int, q: int, size: int, guest: int, bound: float) -> None:
    """Find the leaders of a label among the first `size` of its list, and their shares; none is at the bound or below.

    Of more than `LEADERS`, those with the largest weights lead.
    """
    leader, share, candidate = weights.leader[k, q], weights.share[k, q], weights.candidate[k, q]
    log, silent, best, found = weights.log[k, q, :size], weights.silent[k, q], -np.inf, 0
    for h in range(size):
        if log[h] > bound and _is_heard(log[h], silent, h, guest):
            best = max(best, log[h])
            bound = max(bound, best - BEHIND)
            place = found
            if found < LEADERS:
                found += 1
            else:
                place = 0
                for j in range(1, LEADERS):
                    place = j if log[leader[j]] <= log[leader[place]] else place
                if log[h] <= log[leader[place]]:
                    continue
            leader[place] = h
    count = 0
    for j in range(found):
        if log[leader[j]] > best - BEHIND:
            leader[count] = leader[j]
            count += 1
    total = 0.0
    for j in range(count):
        share[j] = math.exp(TEMPER * (log[leader[j]] - best))
        total += share[j]
    for j in range(count):
        share[j] /= total
        leader[j] = candidate[leader[j]]
    weights.leaders[k, q] = count
    weights.total[k, q] = best + math.log(total)


@subkernel
def find_leaders(weights: Weights, rooms: Rooms, k: int, q: int) -> None:
    """Find the leaders of a label, and their shares."""
    _vote_share(weights, k, q, weights.size[k, q], first_guest(rooms), -np.inf)


@inlined
def gather(values: Floats, columns: Ints, out: Floats) -> None:
    """Write the values of some columns."""
    for i in range(len(columns)):
        out[i] = values[columns[i]]


@inlined
def _lift(log: Floats, place: int, floor: float) -> None:
    if log[place] > ABSENT:
        log[place] = max(log[place], floor)


@inlined
def move_weights(model: Model, k: int, q: int, y: int, step: float, scouted: bool) -> bool:
    """Move the weights of a label's candidates by what each said of the true class; find the leaders anew.

    Return whether the leaders, or their shares, may have changed.
    """
    weights, rooms, logs = model.weights, model.rooms, model.scratch.logs[k, y]
    log, candidate, total = weights.log[k, q], weights.candidate[k, q], weights.total[k, q]
    own, guest = total + OWN_FLOOR, first_guest(rooms)
    for room in range(len(rooms.first) - 1):
        _lift(log, learner_place(room), own)
    _lift(log, YOUNG_PLACE, total + YOUNG_FLOOR)
    first = place_of(weights, rooms, k, q, weights.leader[k, q, 0])
    silent, said = weights.silent[k, q], step * SILENCE
    silent[SILENT_YOUNG] = max(silent[SILENT_YOUNG], total + YOUNG_FLOOR) + said
    silent[SILENT_GUEST] = max(silent[SILENT_GUEST], total + weights.least[0]) + said
    close, bound = 0, log[first] + step * logs[candidate[first]] - BEHIND
    for place in range(guest):
        log[place] += step * logs[candidate[place]]
        close += 1 if log[place] > bound else 0
    guests, floor, said = log[guest : weights.size[k, q]], model.scratch.guests[0], model.scratch.guests[1 + y]
    residents = close
    for i in range(len(guests)):
        least = floor[i] + total
        now = (guests[i] if guests[i] > least else least) + step * said[i]  # noqa: FURB136 (faster: no check for NaN)
        guests[i] = now
        close += 1 if now > bound else 0
    came = scouted and send_scouts(weights, rooms, model.streams, model.scratch.scouts, k, q, logs, step)
    if close == 1 and weights.leaders[k, q] == 1 and not came:
        weights.total[k, q] = log[first]
        return False
    if came or not _is_heard(log[first], silent, first, guest):
        find_leaders(weights, rooms, k, q)
    else:  # none of those that are not close leads
        _vote_share(weights, k, q, guest if close == residents else weights.size[k, q], guest, bound)
    return True


@inlined
def hand_over(weights: Weights, k: int, q: int, giver: int, heir: int) -> None:
    """Give all the weight of a candidate to another; both by their places."""
    log = weights.log[k, q]
    high = max(log[giver], log[heir])
    if high > ABSENT:
        log[heir] = high + math.log(math.exp(log[giver] - high) + math.exp(log[heir] - high))
    log[giver] = ABSENT


@subkernel
def trust(streams: Streams, stream: int, label: int, proven: float) -> float:
    """Return from 0 to 1 how well a source tells the positive examples of its label from the negative ones.

    This is the area under the ROC curve above one half, from the counts of scores; 0 unless it is significant.
    """
    counts = streams.counts[stream, label]
    positives = negatives = above = 0.0
    for b in range(BINS):
        above += counts[1, b] * (negatives + 0.5 * counts[0, b])
        positives += counts[1, b]
        negatives += counts[0, b]
    if positives < 1.0 or negatives < 1.0:
        return 0.0
    area = above / (positives * negatives) - 0.5
    error = math.sqrt((positives + negatives + 1.0) / (12.0 * positives * negatives))
    return min(1.0, area / GOOD) if area > proven * error else 0.0


@subkernel
def set_floors(weights: Weights, rooms: Rooms, streams: Streams, growth: Growth) -> None:
    """Share the part of the weight that is handed round among snapshots and sources that are to be trusted."""
    count = 0
    for slot in range(len(growth.alive)):
        for q in range(streams.labels[0]):
            count += 1 if growth.alive[slot, q] else 0
    for stream in range(1, len(streams.labels)):
        for label in range(streams.labels[stream]):
            count += 1 if streams.trust[stream, label] > 0.0 else 0
    floor = math.log(SHARE * OTHERS_PRIOR / count) if count > 0 else ABSENT
    weights.least[0] = floor
    for slot in range(len(growth.alive)):
        for q in range(streams.labels[0]):
            weights.floor[snapshot_column(rooms, slot, q)] = floor if growth.alive[slot, q] else ABSENT
    for stream in range(1, len(streams.labels)):
        for label in range(streams.labels[stream]):
            trusted = streams.trust[stream, label] > 0.0
            weights.floor[source_column(rooms, stream, label)] = floor if trusted else ABSENT
