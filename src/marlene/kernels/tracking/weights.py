"""Fixed share: the weights of candidates move with what each says, and none falls below a small share.

After an example, the weight of a candidate that gave its class the probability p is multiplied by p to the power of
η·c, where c makes both classes count the same (Herbster and Warmuth 1998, "Tracking the best expert"). Weights are kept
as logarithms; a floor takes the place of the share that is handed round, so that candidates far behind cost one
addition. Only *leaders*, those within e⁵ of the best, vote.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.ensemble.thresholds import BINS
from marlene.kernels.tracking.state import (
    ABSENT,
    KINDS,
    LEADERS,
    learner_column,
    snapshot_column,
    source_column,
    young_column,
)

if TYPE_CHECKING:
    from marlene._common.arrays import Floats
    from marlene.kernels.tracking.state import Growth, Rooms, Streams, Weights

RATE = 0.2
"""η: how fast weights move."""
LARGEST_CLASS_WEIGHT = 10.0
"""How much an example of a rare class counts at most."""
SHARE = 0.003
"""The part of the weight that is handed round."""
OWN_PRIOR, YOUNG_PRIOR, OTHERS_PRIOR = 0.9, 0.05, 0.1
"""How that part is shared: the label's learners, its young learner, and all snapshots and sources together."""
BEHIND = 5.0
"""How far below the best a leader's logarithm may be."""
NAMED = 0.9
"""The first weight of a source's label of the same name, if it is to be trusted."""
UNNAMED = 0.1
"""The first weight of all labels of sources together, if they are to be trusted."""
PROVEN, PROVEN_NAMED = 2.5, 1.0
"""By how many standard errors a source must tell its own positive examples from its negative ones, to be trusted; less
is asked for the target's label of the same name."""
FAMILIAR = 0.5
"""The share of an example's inputs that a source must have met to be trusted from the start."""
GOOD = 0.2
"""The area under the ROC curve, above one half, from which on a source is trusted fully."""


@inlined
def class_weight(negative: float, positive: float, y: int) -> float:
    """Return by how much an example of class y counts, so that both classes count the same."""
    share = (positive + 1.0) / (negative + positive + 2.0)
    return 0.5 / share if y == 1 else 0.5 / (1.0 - share)


@inlined
def _vote_share(weights: Weights, k: int, q: int, columns: int) -> None:
    """Find the leaders of a label, and their shares."""
    log, leader, share = weights.log[k, q], weights.leader[k, q], weights.share[k, q]
    best = -np.inf
    for h in range(columns):
        best = max(best, log[h])
    count = 0
    for h in range(columns):
        if log[h] > best - BEHIND:
            place = count
            if count < LEADERS:
                count += 1
            else:
                place = 0
                for j in range(1, LEADERS):
                    place = j if log[leader[j]] <= log[leader[place]] else place
                if log[h] <= log[leader[place]]:
                    continue
            leader[place] = h
    total = 0.0
    for j in range(count):
        share[j] = math.exp(log[leader[j]] - best)
        total += share[j]
    for j in range(count):
        share[j] /= total
    weights.leaders[k, q] = count
    weights.total[k, q] = best + math.log(total)


@subkernel
def find_leaders(weights: Weights, k: int, q: int, columns: int) -> None:
    """Find the leaders of a label, and their shares."""
    _vote_share(weights, k, q, columns)


@inlined
def _lift(log: Floats, column: int, floor: float) -> None:
    if log[column] > ABSENT:
        log[column] = max(log[column], floor)


@subkernel
def move_weights(weights: Weights, rooms: Rooms, k: int, q: int, logs: Floats, step: float) -> bool:
    """Move the weights of a label's candidates by what each said of the true class; find the leaders anew.

    Return whether the leaders, or their shares, may have changed.
    """
    log, floor, total = weights.log[k, q], weights.floor[k], weights.total[k, q]
    columns = rooms.first[len(rooms.first) - 1]
    own = total + math.log(SHARE * OWN_PRIOR)
    for room in range(len(rooms.first) - 1):
        _lift(log, learner_column(rooms, room, q), own)
    _lift(log, young_column(rooms, q), total + math.log(SHARE * YOUNG_PRIOR))
    first = weights.leader[k, q, 0]
    close, bound = 0, log[first] + step * logs[first] - BEHIND
    for h in range(columns):
        least = floor[h] + total
        now = (log[h] if log[h] > least else least) + step * logs[h]  # noqa: FURB136 (faster: no check for NaN)
        log[h] = now
        close += 1 if now > bound else 0
    if close == 1 and weights.leaders[k, q] == 1:
        weights.total[k, q] = log[first]
        return False
    _vote_share(weights, k, q, columns)
    return True


@inlined
def hand_over(weights: Weights, k: int, q: int, giver: int, heir: int) -> None:
    """Give all the weight of a column to another."""
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
            count += 1 if trust(streams, stream, label, PROVEN) > 0.0 else 0
    floor = math.log(SHARE * OTHERS_PRIOR / count) if count > 0 else ABSENT
    for k in range(KINDS):
        for slot in range(len(growth.alive)):
            for q in range(streams.labels[0]):
                weights.floor[k, snapshot_column(rooms, slot, q)] = floor if growth.alive[slot, q] else ABSENT
        for stream in range(1, len(streams.labels)):
            for label in range(streams.labels[stream]):
                trusted = trust(streams, stream, label, PROVEN) > 0.0
                weights.floor[k, source_column(rooms, stream, label)] = floor if trusted else ABSENT
