"""A window of examples that adjusts its size and removes neighbours that mislead (MLSAMPkNN)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.rows import Rows, close_row, open_row

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Floats, Ints, Labels

    Places = npt.NDArray[np.int32]

COUNT, CLOCK, SEEN, SHORTENED = range(4)
"""Places in `Memory.told`: examples in the window, examples that ever were, rows learnt, how often it was shortened."""
DEAD = -1


class MemorySettings(NamedTuple):
    """Parameters."""

    neighbours: int
    least: int
    most: int
    penalty: float
    reduction: float


class Memory(NamedTuple):
    """The window. An example has a slot; `line` has the slots of all examples, the oldest first.

    Row i of `order` has the slots of the examples that were there when example i came, the nearest first, as long as
    `length` says. One that is no longer there, or came later into the same slot, is passed over: see `born`.
    """

    where: Ints
    value: Floats
    size: Ints
    truth: Labels
    errors: Ints
    born: Ints
    order: Places
    length: Ints
    line: Ints
    told: Ints
    low: Floats
    high: Floats
    times: Ints


@subkernel
def _measure(memory: Memory, scale: Floats) -> None:
    """Write 1 / the range of every input so far; 0 if it had one value only."""
    for feature in range(len(scale)):
        low, high = memory.low[feature], memory.high[feature]
        if memory.times[feature] < memory.told[SEEN]:
            low, high = min(low, 0.0), max(high, 0.0)
        scale[feature] = 1.0 / (high - low) if high > low else 0.0


@subkernel
def _compare(memory: Memory, rows: Rows, row: int, scale: Floats, dense: Floats, distance: Floats) -> None:
    """Write the squared distance to every example in the window, in the order of `line`."""
    whole = 0.0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        x = rows.values[j] * scale[rows.indices[j]]
        whole += x * x
    for i in range(memory.told[COUNT]):
        slot, apart, common = memory.line[i], 0.0, 0.0
        for j in range(memory.size[slot]):
            feature = memory.where[slot, j]
            x, other = dense[feature] * scale[feature], memory.value[slot, j] * scale[feature]
            apart += (x - other) * (x - other)
            common += x * x
        distance[i] = apart + max(0.0, whole - common)


@subkernel
def _nearest(memory: Memory, distance: Floats, nearest: Ints) -> int:
    """Write the slots of the nearest examples, of equally near ones the oldest; return how many there are."""
    found = 0
    for i in range(memory.told[COUNT]):
        place = found
        while place > 0 and distance[nearest[place - 1]] > distance[i]:
            place -= 1
        if place < len(nearest):
            found = min(found + 1, len(nearest))
            for j in range(found - 1, place, -1):
                nearest[j] = nearest[j - 1]
            nearest[place] = i
    for j in range(found):
        nearest[j] = memory.line[nearest[j]]
    return found


@inlined
def _share(memory: Memory, nearest: Ints, found: int, label: int) -> float:
    """Return the share of neighbours with a label among those of which it is known; NaN if there are none."""
    true, known = 0, 0
    for j in range(found):
        truth = memory.truth[nearest[j], label]
        true += 1 if truth == 1 else 0
        known += 1 if truth >= 0 else 0
    return true / known if known > 0 else np.nan


@subkernel
def _punish(memory: Memory, truth: Labels, nearest: Ints, found: int) -> None:
    """Count for every neighbour the labels in which it differs."""
    for j in range(found):
        slot = nearest[j]
        for label in range(len(truth)):
            other = memory.truth[slot, label]
            if truth[label] >= 0 and other >= 0 and other != truth[label]:
                memory.errors[slot] += 1


@inlined
def _widen(memory: Memory, rows: Rows, row: int) -> None:
    """Take a row into the ranges of the inputs."""
    memory.told[SEEN] += 1
    for j in range(rows.starts[row], rows.starts[row + 1]):
        feature, value = rows.indices[j], rows.values[j]
        first = memory.times[feature] == 0
        memory.low[feature] = value if first else min(value, memory.low[feature])
        memory.high[feature] = value if first else max(value, memory.high[feature])
        memory.times[feature] += 1


@subkernel
def _append(memory: Memory, rows: Rows, row: int, truth: Labels, nearness: Ints) -> None:
    """Give a row a free slot; `nearness` are the places in the line of all others, the nearest first."""
    count, slot = memory.told[COUNT], 0
    while memory.born[slot] != DEAD:
        slot += 1
    for i in range(count):
        memory.order[slot, i] = memory.line[nearness[i]]
    memory.length[slot], memory.errors[slot] = count, 0
    memory.born[slot] = memory.told[CLOCK]
    memory.told[CLOCK] += 1
    size = 0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        memory.where[slot, size], memory.value[slot, size] = rows.indices[j], rows.values[j]
        size += 1
    memory.size[slot] = size
    for label in range(len(truth)):
        memory.truth[slot, label] = truth[label]
    memory.line[count] = slot
    memory.told[COUNT] += 1


@subkernel
def _drop(memory: Memory, first: int, most_errors: float) -> None:
    """Remove the examples before place `first` of the line, and those with too many errors."""
    left = 0
    for i in range(memory.told[COUNT]):
        slot = memory.line[i]
        if i < first or memory.errors[slot] > most_errors:
            memory.born[slot] = DEAD
        else:
            memory.line[left] = slot
            left += 1
    memory.told[COUNT] = left


@subkernel
def _is_right(memory: Memory, slot: int, since: int, nearest: Ints) -> bool:
    """Tell whether the nearest of the examples before this one, born at `since` or later, have exactly its labels."""
    found, born = 0, memory.born[slot]
    for i in range(memory.length[slot]):
        other = memory.order[slot, i]
        if since <= memory.born[other] < born:  # a dead one was born at -1
            nearest[found] = other
            found += 1
            if found == len(nearest):
                break
    for label in range(memory.truth.shape[1]):
        truth = memory.truth[slot, label]
        if truth >= 0 and (_share(memory, nearest, found, label) > 0.5) != (truth == 1):
            return False
    return True


@subkernel
def _best_size(memory: Memory, settings: MemorySettings, nearest: Ints) -> int:
    """Return the size, of this one and its reductions, whose examples predict each other best, the largest first."""
    count = int(memory.told[COUNT])
    size, best, highest = count, count, -1.0
    while True:
        right, first = 0, count - size
        since = memory.born[memory.line[first]]
        for i in range(first, count):
            right += 1 if _is_right(memory, memory.line[i], since, nearest) else 0
        if right / size > highest:
            highest, best = right / size, size
        if size < 2 * settings.least:
            return best
        size = max(1, int(size * settings.reduction))


@inlined
def _adjust(memory: Memory, settings: MemorySettings, nearest: Ints) -> None:
    """Shorten the window to its best size, and to less than the largest one."""
    count = memory.told[COUNT]
    size = _best_size(memory, settings, nearest) if count >= 2 * settings.least else count
    if size < count:
        _drop(memory, count - size, np.inf)
        memory.told[SHORTENED] += 1
    if memory.told[COUNT] == settings.most:
        _drop(memory, 1, np.inf)


@kernel
def run_memory(
    memory: Memory, settings: MemorySettings, rows: Rows, truth: Labels, learning: bool, out: Floats
) -> None:
    """For each row in turn, write P(label), NaN without evidence, and learn the row if any of its labels is known."""
    scale, dense, distance = np.empty(len(memory.low)), np.zeros(len(memory.low)), np.empty(len(memory.born))
    nearest = np.empty(settings.neighbours, np.int64)
    _measure(memory, scale)
    for row in range(len(rows.starts) - 1):
        open_row(rows, row, dense)
        _compare(memory, rows, row, scale, dense, distance)
        found = _nearest(memory, distance, nearest)
        for label in range(out.shape[1]):
            out[row, label] = _share(memory, nearest, found, label)
        if learning and (truth[row] >= 0).any():
            _punish(memory, truth[row], nearest, found)
            nearness = np.argsort(distance[: memory.told[COUNT]], kind="mergesort")
            _append(memory, rows, row, truth[row], nearness)
            _drop(memory, 0, settings.penalty * memory.truth.shape[1])
            _adjust(memory, settings, nearest)
            _widen(memory, rows, row)
            _measure(memory, scale)
        close_row(rows, row, dense)
