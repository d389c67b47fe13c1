"""Votes of nearest neighbours in a window of the latest examples.

The inputs of an example are scaled as linear classifiers scale them: numbers by their sizes, a constant of 1 beside
them, and all to length one. The *similarity* of two examples is the scalar product. The constant makes it an angle if
there are many inputs, as in texts, and a distance if there are few numbers.

Of n examples, the ⌊√n⌋ most similar ones vote. Their weight falls to 0 at the similarity of the next one. So nothing
depends on the order of equally similar examples.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.banks.linear import length_of_row, value_of_input
from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Floats32, Int32s, Ints, Labels
    from marlene.kernels.banks.scales import Scales
    from marlene.kernels.rows import Rows

MOST_PLACES = 1 << 14
"""How many rows the table has at most. Further inputs share a row with others."""
SAME = 1e-5
"""Examples whose similarity is closer to 1 than this count as equal."""
FILLED, NEXT, RING = range(3)
"""Places of `Window.ring`: how many examples there are, and which one is the next to be replaced."""


class WindowSettings(NamedTuple):
    """How many pseudo-examples of each class vote, all as important as an equal example of a class of one half."""

    smoothing: float


class Window(NamedTuple):
    """The latest examples.

    Attributes
    ----------
    table
        Their inputs (inputs × examples).
    constant
        The constant of each.
    where, value, sizes
        Their inputs again, as lists: which, what, and how many (examples × inputs of an example).
    weight
        How much each counts.
    truth
        Their labels (examples × labels).
    known
        The weight of negative and positive examples of each label (labels × 2).
    ring
        See `FILLED`.
    """

    table: Floats32
    constant: Floats32
    where: Int32s
    value: Floats32
    sizes: Ints
    weight: Floats
    truth: Labels
    known: Floats
    ring: Ints


class WindowSpace(NamedTuple):
    """Work space: the similarity of each example, the highest of them, a list of examples, and votes on labels.

    `chosen` are the similarities of the listed examples. Votes are against and in favour of each label (2 × labels).
    """

    similar: Floats32
    highest: Floats32
    chosen: Floats32
    listed: Ints
    votes: Floats


@inlined
def _scaled(scales: Scales, rows: Rows, j: int, length: float) -> np.float32:
    """Return what an input counts in the similarity."""
    return np.float32(value_of_input(scales, rows.indices[j], rows.values[j]) / length)


@subkernel
def _compare(window: Window, scales: Scales, rows: Rows, row: int, similar: Floats32) -> None:
    """Write the similarity of a row to each example of the window."""
    length, count = length_of_row(scales, rows, row), window.ring[FILLED]
    own = np.float32(1.0 / length)
    for s in range(count):
        similar[s] = own * window.constant[s]
    j, stop = rows.starts[row], rows.starts[row + 1]
    while j < stop:  # two inputs at a time: half of the time would go into reading and writing sums
        first = window.table[rows.indices[j] % MOST_PLACES]
        z0, z1, second = _scaled(scales, rows, j, length), np.float32(0.0), first
        if j + 1 < stop:
            z1, second = _scaled(scales, rows, j + 1, length), window.table[rows.indices[j + 1] % MOST_PLACES]
        for s in range(count):
            similar[s] = (similar[s] + z0 * first[s]) + z1 * second[s]
        j += 2


@subkernel
def _shortlist(space: WindowSpace, count: int, wanted: int) -> tuple[int, float]:
    """List the examples whose similarity exceeds a bound that at least `wanted` of them reach.

    Return how many these are, and the bound: the least of the highest similarities in `wanted` parts of the window.
    """
    similar, highest, chosen, listed = space.similar, space.highest, space.chosen, space.listed
    for i in range(wanted):
        highest[i] = similar[i]
    for start in range(wanted, count - wanted + 1, wanted):
        for i in range(wanted):
            highest[i] = max(highest[i], similar[start + i])
    bound = np.float32(1.0 - SAME)
    for i in range(wanted):
        bound = min(bound, highest[i])
    found = 0
    for s in range(count):
        listed[found], chosen[found] = s, similar[s]
        found += 1 if similar[s] > bound else 0
    return found, float(bound)


@subkernel
def _rank(space: WindowSpace, found: int, wanted: int, bound: float) -> float:
    """Return the similarity of number `wanted` of the examples, the most similar one first, if it exceeds the bound."""
    chosen, low, high, count = space.chosen[:found], np.float32(bound), np.float32(2.0), found
    while count >= wanted:  # `wanted` or more reach `low`, fewer reach `high`
        middle = np.float32(0.5) * (low + high)
        if middle <= low or middle >= high:  # there is nothing between
            break
        reach = 0
        for j in range(found):
            reach += 1 if chosen[j] >= middle else 0
        if reach >= wanted:
            low, count = middle, reach
        else:
            high = middle
    return min(float(low), 1.0 - SAME)


@subkernel
def neighbour_votes(
    window: Window, settings: WindowSettings, scales: Scales, rows: Rows, row: int, space: WindowSpace, out: Floats
) -> None:
    """Write P(label) of a row for every label, as if both classes were equally likely beforehand."""
    count, against, in_favour = window.ring[FILLED], space.votes[0], space.votes[1]
    labels = min(window.truth.shape[1], space.votes.shape[1])  # both have room for more labels, but not the same
    for q in range(labels):
        against[q], in_favour[q] = 0.0, 0.0
    for q in range(len(out)):
        out[q] = 0.5
    if count < 2:
        return
    _compare(window, scales, rows, row, space.similar)
    wanted = 1 + int(math.sqrt(count))
    found, bound = _shortlist(space, count, wanted)
    least = _rank(space, found, wanted, bound)
    for j in range(found):
        s = space.listed[j]
        if space.similar[s] > least:
            weight, truth = window.weight[s] * (space.similar[s] - least) / (1.0 - least), window.truth[s]
            for q in range(labels):
                against[q] += weight if truth[q] == 0 else 0.0
                in_favour[q] += weight if truth[q] == 1 else 0.0
    for q in range(len(out)):
        negative, positive = window.known[q, 0], window.known[q, 1]
        share = (positive + 1.0) / (negative + positive + 2.0)
        no, yes = settings.smoothing + against[q] / (1.0 - share), settings.smoothing + in_favour[q] / share
        out[q] = yes / (yes + no)


@inlined
def _forget(window: Window, s: int) -> None:
    """Take an example out of the table, and out of what is known."""
    for i in range(window.sizes[s]):
        window.table[window.where[s, i] % MOST_PLACES, s] = 0.0
    for q in range(len(window.known)):
        if window.truth[s, q] >= 0:
            left = window.known[q, window.truth[s, q]] - window.weight[s]
            window.known[q, window.truth[s, q]] = max(left, 0.0)
            window.truth[s, q] = -1


@inlined
def put_example(window: Window, s: int) -> None:
    """Put the inputs of an example, known as a list, into the table."""
    for i in range(window.sizes[s]):
        window.table[window.where[s, i] % MOST_PLACES, s] += window.value[s, i]


@subkernel
def remember(window: Window, scales: Scales, rows: Rows, row: int, truth: Labels, weight: float) -> None:
    """Let a row and its labels take the place of the oldest example."""
    s, count, length = window.ring[NEXT], 0, length_of_row(scales, rows, row)
    _forget(window, s)
    window.constant[s], window.weight[s] = np.float32(1.0 / length), weight
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot = rows.indices[j]
        z = np.float32(value_of_input(scales, slot, rows.values[j]) / length)
        if z != 0.0:
            window.where[s, count], window.value[s, count] = slot, z
            count += 1
    window.sizes[s] = count
    put_example(window, s)
    for q in range(len(truth)):
        window.truth[s, q] = truth[q]
        if truth[q] >= 0:
            window.known[q, truth[q]] += weight
    window.ring[FILLED] = max(window.ring[FILLED], s + 1)
    window.ring[NEXT] = (s + 1) % len(window.constant)
