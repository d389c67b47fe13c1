"""What is known of inputs, whatever is learnt from them: which are numbers, and where these lie.

An input is a number, or tells whether something is present. A number that is zero in most examples tells most by being
there at all; one that seldom is counts as *dense*, and where it lies among the others is what matters. Zero is then a
value like others, unless it lies far from them. Since examples do not store zeros, `complete_row` adds them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Floats, Ints
    from marlene.kernels.rows import Rows


PRESENCE = -1
"""In place of a number of a numeric input: it is not one."""
FURTHEST = 5.0
"""How many standard deviations from the mean a dense value counts at most."""
USUAL = 3.0
"""How many standard deviations from the mean zero may lie to be a value like others."""
LISTED, GOOD_UNTIL, CLOCKS = range(3)
"""Places of `FullRow.clock`: how many inputs are listed, and the number of examples up to which the list is good."""


class Scales(NamedTuple):
    """Inputs, and of the numeric ones the values that were not zero, for one stream.

    Attributes
    ----------
    numeric
        For every input its number among the numeric ones, or `PRESENCE`.
    met
        For every input whether an example ever had it.
    seen
        How many examples there were, and how many inputs were met.
    times, mean, squares
        Of every numeric input: how often it was not zero, the mean, and the sum of squared deviations from it.
    origin
        The first value of every numeric input. Curves are kept relative to it: far from zero they would be inexact.
    missing
        How often every numeric input was missing (NaN).
    """

    numeric: Ints
    met: Bools
    seen: Ints
    times: Floats
    mean: Floats
    squares: Floats
    origin: Floats
    missing: Floats


class FullRow(NamedTuple):
    """Work space: an example with its zeros, a block of one row; `listed`: the inputs whose zeros may count, ascending.

    The list may hold more inputs than needed, so nothing depends on when it was made.
    """

    rows: Rows
    listed: Ints
    clock: Ints


@subkernel
def observe_row(scales: Scales, rows: Rows, row: int) -> None:
    """Take the values of a row into account."""
    scales.seen[0] += 1
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot, x = rows.indices[j], rows.values[j]
        i = scales.numeric[slot]
        if math.isnan(x):
            if i != PRESENCE:
                scales.missing[i] += 1.0
            continue
        if not scales.met[slot]:
            scales.met[slot] = True
            scales.seen[1] += 1
        if i != PRESENCE:
            if scales.times[i] == 0.0:
                scales.origin[i] = x
            scales.times[i] += 1.0
            difference = x - scales.mean[i]
            scales.mean[i] += difference / scales.times[i]
            scales.squares[i] += difference * (x - scales.mean[i])


@inlined
def list_met(met: Bools, listed: Ints) -> int:
    """List the inputs that were met, in ascending order, and return how many they are."""
    count = 0
    for slot in range(len(met)):
        listed[count] = slot
        count += 1 if met[slot] else 0
    return count


@inlined
def is_dense(scales: Scales, i: int) -> bool:
    """Tell whether a numeric input is not zero in more than half of the examples."""
    return bool(2.0 * scales.times[i] > scales.seen[0])


@inlined
def scaled(scales: Scales, i: int, x: float) -> float:
    """Return a value of numeric input i in units of its size; a dense one is centred first."""
    count = scales.times[i]
    if count < 1.0:
        return float((x > 0.0) - (x < 0.0))
    variance, mean = scales.squares[i] / count, scales.mean[i]
    if is_dense(scales, i):
        part = count / (scales.seen[0] - scales.missing[i])
        all_mean, all_variance = part * mean, part * (variance + (1.0 - part) * mean * mean)
        if all_mean * all_mean <= USUAL * USUAL * all_variance:
            mean, variance = all_mean, all_variance
        elif x == 0.0:
            return 0.0
        z = (x - mean) / math.sqrt(variance) if variance > 0.0 else 0.0
    else:
        size = math.sqrt(variance + mean * mean)
        z = x / size if size > 0.0 else float((x > 0.0) - (x < 0.0))  # squares of the least numbers are 0
    return min(max(z, -FURTHEST), FURTHEST)


@inlined
def may_be_dense(times: float, seen: int, further: int) -> bool:
    """Tell whether a numeric input is dense, or may be after some further examples without being in the last."""
    return bool(times >= 1.0 and 2.0 * times > seen - further)


@inlined
def good_for(seen: int) -> int:
    """Return for how many examples a list of inputs that may be dense is made."""
    return seen // 4 + 1


@subkernel
def complete_row(full: FullRow, rows: Rows, row: int) -> None:
    """Write a row, and behind it a zero for every listed input that it lacks."""
    indices, values, j, stop = full.rows.indices, full.rows.values, rows.starts[row], rows.starts[row + 1]
    n = stop - j
    for i in range(n):
        indices[i], values[i] = rows.indices[j + i], rows.values[j + i]
    for i in range(full.clock[LISTED]):
        slot = full.listed[i]
        while j < stop and rows.indices[j] < slot:
            j += 1
        if j == stop or rows.indices[j] != slot:
            indices[n], values[n] = slot, 0.0
            n += 1
    full.rows.starts[1] = n
