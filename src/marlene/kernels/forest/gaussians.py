"""What a leaf learns of its numeric features: a Gaussian for each, within each class.

Absent features are zero, and a leaf stores non-zero values only. The *base sum* is the log-likelihood of an example in
which all features are zero. Where most values are zero, the density at zero is part of the base sum, and a value x
changes it by x (2 mean - x) / (2 variance). The mostly non-zero features stand in a list of their own.

All Gaussians of a class change with every example of it. So they are computed by loops over whole planes, many features
at a time, and sums are taken lane by lane: their order depends on the number of features only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined
from marlene.kernels.forest import state as layout
from marlene.kernels.forest import tables

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Int32s, Ints
    from marlene.kernels.forest.state import Forest
    from marlene.kernels.forest.trees import Example

LOG_2, LOG_2_PI = math.log(2.0), math.log(2.0 * math.pi)
NO_VARIANCE = -1.0
LEAST_VARIANCE = 1e-300  # less counts as none, because its inverse would be infinite
LANES = 8
MOST_FACTORS = 512  # numbers below 2 whose product is surely finite
EXPONENT_SHIFT, BIAS, ONE = 52, 1023, 1023 << 52
MANTISSA = (1 << 52) - 1


@inlined
def in_lanes(count: int) -> int:
    """Return the number of places that whole lanes of `count` entries take; a table has them all."""
    return (count + LANES - 1) // LANES * LANES


@inlined
def lane_sum(values: Floats, stop: int) -> float:
    """Return the sum of the first `stop` values, a multiple of `LANES`."""
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(0, stop, LANES):
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        e += values[i + 4]
        f += values[i + 5]
        g += values[i + 6]
        h += values[i + 7]
    return ((a + e) + (b + f)) + ((c + g) + (d + h))


@inlined
def _sum_of_logarithms(values: Floats, stop: int) -> float:
    """Return Σ log of the first `stop` values, a multiple of `LANES`, all greater than 1e-300; they are overwritten.

    A number is 2^e m with 1 <= m < 2. The exponents are added, and the logarithm of a product of many m is taken.
    """
    bits = values.view(np.int64)
    exponents = 0
    for i in range(stop):
        exponents += bits[i] >> EXPONENT_SHIFT
        bits[i] = (bits[i] & MANTISSA) | ONE
    total = (exponents - BIAS * stop) * LOG_2
    for first in range(0, stop, MOST_FACTORS):
        a, b, c, d, e, f, g, h = 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0
        for i in range(first, min(first + MOST_FACTORS, stop), LANES):
            a *= values[i]
            b *= values[i + 1]
            c *= values[i + 2]
            d *= values[i + 3]
            e *= values[i + 4]
            f *= values[i + 5]
            g *= values[i + 6]
            h *= values[i + 7]
        total += math.log(((a * e) * (b * f)) * ((c * g) * (d * h)))
    return total


@inlined
def observe_numbers(forest: Forest, leaf: int, example: Example, y: int, weight: float) -> None:
    """Update the Gaussians of the numeric features."""
    row, state, table = forest.leaf[leaf], forest.leaf_class[leaf, y], forest.numeric
    kinds, indices, values, keys, planes = forest.kind, example.indices, example.values, table.key, table.planes[y]
    start, used = row[layout.NUMERIC_START], row[layout.NUMERIC_USED]
    if example.n_numeric == len(indices) == used and _are_in_order(keys[start : start + used], indices):
        state[layout.ACTIVE_NUMERIC] += _add_values(planes, start, values, weight)
        return
    entry = start - 1
    for j in range(len(indices)):
        feature, value = indices[j], values[j]
        if kinds[feature] != 0 or math.isnan(value):
            continue
        # Features that come together were often met together. Their entries are then neighbours.
        entry += 1
        if entry >= start + row[layout.NUMERIC_USED] or keys[entry] != feature:
            entry = tables.look_up(table, row, layout.NUMERIC_START, feature)
            if entry < 0:
                entry = tables.new_entry(table, row, layout.NUMERIC_START, feature)
        _add_value(planes, entry, state, value, weight)


@inlined
def _are_in_order(keys: Ints, indices: Ints) -> bool:
    """Tell whether the features of an example are those of a table, one by one."""
    others = 0
    for j in range(len(indices)):
        others += keys[j] != indices[j]
    return others == 0


@inlined
def _add_values(planes: Floats, start: int, values: Floats, weight: float) -> int:
    """Do for all features of a table what `_add_value` does, many at a time; return how many had no value."""
    stop = start + len(values)
    weights, means = planes[layout.WEIGHT, start:stop], planes[layout.MEAN, start:stop]
    lows, highs = planes[layout.LOW, start:stop], planes[layout.HIGH, start:stop]
    squares = planes[layout.SQUARES, start:stop]
    new = 0
    for i in range(len(values)):
        value, first = values[i], weights[i] == 0.0
        low, high = min(lows[i], value), max(highs[i], value)
        lows[i], highs[i] = value if first else low, value if first else high
        new += first
    for i in range(len(values)):
        value, mean, before = values[i], means[i], weights[i]
        after = before + weight
        now = mean + weight * (value - mean) / after
        more = weight * (value - mean) * (value - now)
        weights[i] = after
        means[i] = value if before == 0.0 else now
        squares[i] += 0.0 if before == 0.0 else more
    return new


@inlined
def _add_value(planes: Floats, entry: int, state: Floats, value: float, weight: float) -> None:
    """Update the Gaussian over non-zero values by Welford's rule: one update of weight w, not w updates.

    mean' = mean + w (x - mean) / n', squares' = squares + w (x - mean) (x - mean').
    """
    if planes[layout.WEIGHT, entry] == 0.0:
        state[layout.ACTIVE_NUMERIC] += 1.0
        planes[layout.WEIGHT, entry] = weight
        planes[layout.MEAN, entry] = value
        planes[layout.LOW, entry] = value
        planes[layout.HIGH, entry] = value
        return
    planes[layout.LOW, entry] = min(planes[layout.LOW, entry], value)
    planes[layout.HIGH, entry] = max(planes[layout.HIGH, entry], value)
    now_weight = planes[layout.WEIGHT, entry] + weight
    planes[layout.WEIGHT, entry] = now_weight
    mean = planes[layout.MEAN, entry]
    now = mean + weight * (value - mean) / now_weight
    planes[layout.MEAN, entry] = now
    planes[layout.SQUARES, entry] += weight * (value - mean) * (value - now)


@inlined
def gaussian(planes: Floats, entry: int, seen: float) -> tuple[float, float]:
    """Return mean and variance of a feature within a class of weight `seen`, zeros included.

    With n non-zero values of mean m among s: mean = m n / s, variance = (squares + m² n (s - n) / s) / (s - 1).
    """
    nonzero = planes[layout.WEIGHT, entry]
    mean = planes[layout.MEAN, entry]
    squares = planes[layout.SQUARES, entry] + mean * mean * (nonzero * (seen - nonzero) / seen)
    variance = squares / (seen - 1.0) if seen > 1.0 else 0.0
    return mean * (nonzero / seen), (variance if variance > LEAST_VARIANCE else 0.0)


@inlined
def _refresh_planes(
    planes: Floats, start: int, stop: int, seen: float, variance_floor: float, variances: Floats
) -> None:
    """Compute all Gaussians of a class by the formula of `gaussian`, with two divisions less for each.

    Writes the variances too: 1 where there is none, or no value.
    """
    weights, means, sums = (
        planes[layout.WEIGHT, start:stop],
        planes[layout.MEAN, start:stop],
        planes[layout.SQUARES, start:stop],
    )
    centres, scales = planes[layout.CENTRE, start:stop], planes[layout.SCALE, start:stop]
    inverse = 1.0 / seen
    inverse_less_one = 1.0 / (seen - 1.0) if seen > 1.0 else 0.0
    for i in range(stop - start):
        nonzero, mean = weights[i], means[i]
        some_zero = nonzero != seen
        more = mean * mean * (nonzero * (seen - nonzero) * inverse)
        squares = sums[i] + (more if some_zero else 0.0)
        variance = squares * inverse_less_one
        variances[i] = max(variance_floor, variance)
        less = mean * (nonzero * inverse)
        centres[i] = less if some_zero else mean
    for i in range(stop - start):
        variance = variances[i]
        disperse = (weights[i] > 0.0) & (variance > LEAST_VARIANCE)
        scale = 0.5 / variance
        none = NO_VARIANCE if weights[i] > 0.0 else 0.0
        scales[i] = scale if disperse else none
        variances[i] = variance if disperse else 1.0


@inlined
def refresh_numeric(forest: Forest, leaf: int, y: int, variance_floor: float, terms: Floats) -> None:
    """Compute all Gaussians of a class, the list of mostly non-zero features, and the base sum over the others.

    The base sum is Σ log density at 0 = -Σ (mean² / (2 variance) + log(2 π variance) / 2); of the listed features only
    the second term is in it. A feature that was always zero has the density 1 / sqrt(2 π floor) there. The sum is taken
    relative to that density for all features, which is the same for every class: a new feature changes nothing.
    """
    state, lists, planes = forest.leaf_class[leaf, y], forest.leaf_list[leaf, y], forest.numeric.planes[y]
    start, used = forest.leaf[leaf, layout.NUMERIC_START], forest.leaf[leaf, layout.NUMERIC_USED]
    stop = start + in_lanes(used)
    seen, variances, at_zero = state[layout.SEEN], terms[0], terms[1]
    _refresh_planes(planes, start, stop, seen, variance_floor, variances)
    weights, centres, scales = (
        planes[layout.WEIGHT, start:stop],
        planes[layout.CENTRE, start:stop],
        planes[layout.SCALE, start:stop],
    )
    n_listed = 0
    dispersed = 0
    for i in range(stop - start):
        listed = mostly_nonzero(weights[i], scales[i], seen)
        term = centres[i] * centres[i] * scales[i]
        at_zero[i] = 0.0 if listed else term
        n_listed += listed
        dispersed += scales[i] > 0.0
    _list_again(weights, scales, seen, n_listed, lists, forest.numeric.listed[start : start + used, y])
    total = -lane_sum(at_zero, stop - start)
    total -= 0.5 * (dispersed * LOG_2_PI + _sum_of_logarithms(variances, stop - start))
    if variance_floor > 0.0:
        total += 0.5 * state[layout.ACTIVE_NUMERIC] * (LOG_2_PI + math.log(variance_floor))
    state[layout.BASE_NUMERIC] = total


@inlined
def _list_again(weights: Floats, scales: Floats, seen: float, count: int, lists: Int32s, places: Int32s) -> None:
    """List the `count` mostly non-zero features, unless these are in the list already."""
    same = lists[layout.MOSTLY_NONZERO] == count
    if same and count < len(places):
        for i in range(count):
            entry = places[i] - 1
            same = same and mostly_nonzero(weights[entry], scales[entry], seen)
    if same:
        return
    listed = 0
    for i in range(len(places)):
        if mostly_nonzero(weights[i], scales[i], seen):
            places[listed] = i + 1
            listed += 1
    places[listed : lists[layout.MOSTLY_NONZERO]] = 0
    lists[layout.MOSTLY_NONZERO] = listed


@inlined
def mostly_nonzero(weight: float, scale: float, seen: float) -> bool:
    """Tell whether the base sum leaves out a feature's density at zero, because it might be tiny."""
    return (2.0 * weight > seen) | (scale < 0.0)
