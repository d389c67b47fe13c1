"""The lists of candidates: for every kind and target label, their columns and weights.

The first places are those of a label's own learner, its young one, and its warm one in the room of each source. The
others, *guests*, come from the *pool*: snapshots, and learners of sources that have proved themselves. While lists have
places left, all of the pool are in every list. After that, *scouts* are sent: those of the pool that score highest on
a positive example of the label. Who is not in a list counts as being at the floor; a scout that would weigh more than
the lightest guest takes its place. Guests are in ascending order, as is the pool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, rare, subkernel
from marlene.kernels.tracking import state
from marlene.kernels.tracking.state import ABSENT, OWN_PLACE, TARGET, YOUNG_PLACE, room_of

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.tracking.state import Model, Rooms, Streams, Weights


@inlined
def first_guest(rooms: Rooms) -> int:
    """Return the first place of a list that is for guests."""
    return len(rooms.first)


@inlined
def learner_place(room: int) -> int:
    """Return the place of a label's learner in a room: its own, or a warm one."""
    return OWN_PLACE if room == TARGET else YOUNG_PLACE + room


@inlined
def _position(columns: Ints, first: int, stop: int, column: int) -> int:
    """Return where a column is, or would be, among columns in ascending order."""
    while first < stop:
        middle = (first + stop) // 2
        if columns[middle] < column:
            first = middle + 1
        else:
            stop = middle
    return first


@inlined
def place_of(weights: Weights, rooms: Rooms, k: int, q: int, column: int) -> int:
    """Return the place of a column in a label's list, -1 if it is not there."""
    candidate, guest, size = weights.candidate[k, q], first_guest(rooms), weights.size[k, q]
    place = 0
    while place < guest and candidate[place] != column:
        place += 1
    if place == guest:
        place = _position(candidate, guest, size, column)
    return int(place) if place < size and candidate[place] == column else -1


@inlined
def is_pooled(model: Model, column: int) -> bool:
    """Tell whether a column has joined the pool."""
    pool, size = model.weights.pool, model.clock[state.POOL]
    place = _position(pool, 0, size, column)
    return bool(place < size and pool[place] == column)


@subkernel
def join(model: Model, column: int) -> None:
    """Let a column join the pool."""
    pool, place = model.weights.pool, model.clock[state.POOL]
    while place > 0 and pool[place - 1] > column:
        pool[place] = pool[place - 1]
        place -= 1
    pool[place] = column
    model.clock[state.POOL] += 1


@inlined
def are_complete(model: Model) -> bool:
    """Tell whether all of the pool have a place in every list."""
    return bool(model.clock[state.POOL] <= model.weights.log.shape[2] - first_guest(model.rooms))


@inlined
def is_full(weights: Weights, k: int, q: int) -> bool:
    """Tell whether no place of a label's list is left."""
    return bool(weights.size[k, q] == weights.log.shape[2])


@subkernel
def _enter(weights: Weights, guest: int, k: int, q: int, column: int, log: float) -> None:
    """Add a guest to a list that is not full."""
    candidate, logs = weights.candidate[k, q], weights.log[k, q]
    place = weights.size[k, q]
    while place > guest and candidate[place - 1] > column:
        candidate[place], logs[place] = candidate[place - 1], logs[place - 1]
        place -= 1
    candidate[place], logs[place] = column, log
    weights.size[k, q] += 1


@subkernel
def _leave(weights: Weights, k: int, q: int, place: int) -> None:
    candidate, logs = weights.candidate[k, q], weights.log[k, q]
    weights.size[k, q] -= 1
    for j in range(place, weights.size[k, q]):
        candidate[j], logs[j] = candidate[j + 1], logs[j + 1]


@inlined
def _stays(rooms: Rooms, streams: Streams, q: int, column: int) -> bool:
    """Tell whether a guest of a label is to stay: its snapshots, and learners of the same name."""
    room = room_of(rooms, column)
    if room == TARGET:
        return bool(column % rooms.block == q)
    return bool(column - state.source_column(rooms, room, 0) == streams.same[room, q])


@subkernel
def _lightest(weights: Weights, rooms: Rooms, streams: Streams, k: int, q: int) -> int:
    """Return the place of the lightest guest that may leave a list, -1 if there is none."""
    candidate, log, place = weights.candidate[k, q], weights.log[k, q], -1
    for j in range(first_guest(rooms), weights.size[k, q]):
        if (place < 0 or log[j] < log[place]) and not _stays(rooms, streams, q, candidate[j]):
            place = j
    return place


@subkernel
def offer(weights: Weights, rooms: Rooms, streams: Streams, k: int, q: int, column: int) -> bool:
    """Offer a label a column that has joined the pool; return whether another had to leave for it.

    It finds a place if one is left, or if it is to stay.
    """
    full = is_full(weights, k, q)
    if full:
        if not _stays(rooms, streams, q, column):
            return False
        place = _lightest(weights, rooms, streams, k, q)
        if place < 0:
            return False
        _leave(weights, k, q, place)
    _enter(weights, first_guest(rooms), k, q, column, ABSENT)
    return full


@rare
def fill(model: Model, k: int, q: int) -> None:
    """Let the pool into the list of a label that begins, first those that are to stay."""
    weights, rooms = model.weights, model.rooms
    for others in range(2):
        for i in range(model.clock[state.POOL]):
            column = weights.pool[i]
            if is_full(weights, k, q):
                return
            if others + _stays(rooms, model.streams, q, column) == 1:
                _enter(weights, first_guest(rooms), k, q, column, ABSENT)


@subkernel
def find_scouts(model: Model, score: Floats) -> None:
    """Find the columns of the pool that score highest, the highest first; -1 where there are too few."""
    floor, scouts = model.weights.floor, model.scratch.scouts
    last = len(scouts) - 1
    for i in range(len(scouts)):
        scouts[i] = -1
    for j in range(model.clock[state.POOL]):
        h = model.weights.pool[j]
        if floor[h] > ABSENT and (scouts[last] < 0 or score[h] > score[scouts[last]]):
            i = last
            while i > 0 and (scouts[i - 1] < 0 or score[h] > score[scouts[i - 1]]):
                scouts[i] = scouts[i - 1]
                i -= 1
            scouts[i] = h


@subkernel
def send_scouts(
    weights: Weights, rooms: Rooms, streams: Streams, scouts: Ints, k: int, q: int, logs: Floats, step: float
) -> bool:
    """Let scouts into a label's list, each with the weight it would have, had it been at the floor till now.

    Return whether any came in.
    """
    came = False
    for i in range(len(scouts)):
        h = scouts[i]
        if h < 0 or place_of(weights, rooms, k, q, h) >= 0:
            continue
        log = weights.floor[h] + weights.total[k, q] + step * logs[h]
        if is_full(weights, k, q):
            place = _lightest(weights, rooms, streams, k, q)
            if place < 0 or weights.log[k, q, place] >= log:
                continue
            _leave(weights, k, q, place)
        _enter(weights, first_guest(rooms), k, q, h, log)
        came = True
    return came
