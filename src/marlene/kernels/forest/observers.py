"""What a leaf learns of its features.

Absent features are zero, and a leaf stores only what was not zero; everything about zeros follows from the weight
it has seen. With n the weight of value 1 of a binary feature and s the weight of the class, an example without
any of the features has the log-likelihood Σ log((s - n + 1) / (s + 2)) over the features seen with that class. All
terms change with s, but they need not be visited: for features with 8 n <= s + 1 the sum is a power series in
1 / (s + 1) over the power sums of their counts, and of the others, the frequent ones, there are at most eight times
as many as an example has non-zeros.

For a numeric feature the same holds with densities. Where zeros are in the majority the density at zero is part of
that base sum, and a value x changes it by x (2 m - x) / (2 v); the other features stand in a list of their own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.forest.state import (
    ACTIVE_NUMERIC,
    ACTIVE_PRESENCE,
    BASE_NUMERIC,
    BASE_PRESENCE,
    CENTRE,
    FREQUENT,
    HIGH,
    LOW,
    MEAN,
    MET_MISSING,
    MISSING_VALUE,
    MOSTLY_NONZERO,
    NUMERIC_ORDER,
    NUMERIC_START,
    NUMERIC_USED,
    POWER_SUMS,
    POWERS,
    PRESENCE_ORDER,
    PRESENCE_START,
    PRESENCE_USED,
    SCALE,
    SEEN,
    SQUARES,
    VALUE_SHIFT,
    WEIGHT,
)
from marlene.kernels.forest.tables import SMALLEST_ORDER, append, find, find_after, first_look, move_block, order_for

LOG_2_PI = math.log(2.0 * math.pi)
RARE = 8.0
TINY, HUGE = 1e-100, 1e100
NO_VARIANCE = -1.0
ROUNDING = 1e-12
LEAST_VARIANCE = 1e-300  # anything less is none, for its inverse would be infinite


if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Int32s, Ints
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest
    from marlene.kernels.forest.tables import Arena
    from marlene.kernels.forest.trees import Example


@inlined
def presence_key(feature: int, value: float) -> int:
    """Return the key under which a feature's value, or its being missing, is counted."""
    if math.isnan(value):
        return (MISSING_VALUE << VALUE_SHIFT) | feature
    return (int(value) << VALUE_SHIFT) | feature


@inlined
def find_present(forest: Forest, leaf: int, example: Example, places: Ints) -> None:
    """Write the entry of every value that is not a number in the leaf's presence table, -1 where there is none.

    Tables of many leaves are not in the processor's cache. All cells are asked for before the first is looked at, so
    that the memory is waited for once and not for every value.
    """
    keys, index, kinds, indices, values = (
        forest.presence.key,
        forest.presence.cells,
        forest.kind,
        example.indices,
        example.values,
    )
    start, order = forest.leaf[leaf, PRESENCE_START], forest.leaf[leaf, PRESENCE_ORDER] - 1
    if order < 0:
        for j in range(example.others, len(indices)):
            places[j] = -1
        return
    for j in range(example.others, len(indices)):
        places[j] = 0
        if kinds[indices[j]] > 0 or math.isnan(values[j]):
            places[j] = first_look(index, start, order, presence_key(indices[j], values[j]))
    for j in range(example.others, len(indices)):
        if places[j] == 0:
            places[j] = -1
        else:
            places[j] = find_after(keys, index, start, order, presence_key(indices[j], values[j]), places[j])


@inlined
def count_present(stat: Floats, places: Ints, y: int, first: int, last: int, counts: Floats) -> None:
    """Write what entries say of a class, 0 for one that is not there; all are asked for before one is looked at."""
    for j in range(first, last):
        counts[j] = stat[max(places[j], 0), y, 0] * (places[j] >= 0)


@inlined
def observe(
    forest: Forest, leaf: int, example: Example, y: int, weight: float, variance_floor: float, space: Space
) -> None:
    """Count an example in the leaf's tables, which have room for it."""
    # Taking a field of a tuple counts references, so that loops work on arrays taken before.
    row, state, lists = forest.leaf[leaf], forest.leaf_class[leaf, y], forest.leaf_list[leaf, y]
    keys, index = forest.presence.key, forest.presence.cells
    stat, listed = forest.presence.stat, forest.presence.listed
    numeric_keys, numeric_index, numeric_stat = forest.numeric.key, forest.numeric.cells, forest.numeric.stat
    kinds, indices, values = forest.kind, example.indices, example.values
    places, counts = space.places, space.counts
    before = state[SEEN]
    state[SEEN] = before + weight
    if example.n_numeric < len(indices):
        find_present(forest, leaf, example, places)
        count_present(stat, places, y, example.others, len(indices), counts)
    entry = row[NUMERIC_START] - 1
    for j in range(len(indices)):
        feature = indices[j]
        value = values[j]
        kind = kinds[feature]
        missing = math.isnan(value)
        if kind == 0 and not missing:
            # Features that come together were often met together, and then stand next to each other.
            entry += 1
            if entry >= row[NUMERIC_START] + row[NUMERIC_USED] or numeric_keys[entry] != feature:
                start, order = row[NUMERIC_START], row[NUMERIC_ORDER] - 1
                entry = find(numeric_keys, numeric_index, start, order, feature)
                if entry < 0:
                    entry = _new_entry(numeric_keys, numeric_index, row, NUMERIC_START, feature)
            _add_value(numeric_stat, state, entry, value, y, weight)
            continue
        present = places[j]
        if present < 0:
            present = _new_entry(keys, index, row, PRESENCE_START, presence_key(feature, value))
        if missing:
            row[MET_MISSING] = 1
        elif kind == 2:
            count_rare(counts[j], listed, state, lists, present, row[PRESENCE_START], y, weight, before)
        stat[present, y, 0] = counts[j] + weight
    refresh_presence(stat, listed, row, state, lists, y)
    if forest.n_numeric > 0:
        refresh_numeric(numeric_stat, forest.numeric.listed, row, state, lists, y, variance_floor)


@inlined
def _new_entry(keys: Ints, index: Ints, row: Ints, column: int, key: int) -> int:
    """Add a key to the leaf's table whose block, order and use stand from `column` on; return its entry."""
    row[column + 2] += 1
    return append(keys, index, row[column], row[column + 1] - 1, row[column + 2] - 1, key)


@inlined
def _add_power_sums(sums: Floats, count: float, sign: float) -> None:
    power = count
    for k in range(POWERS):
        sums[POWER_SUMS + k] += sign * power
        power *= count


@inlined
def count_rare(
    before: float,
    listed: Int32s,
    state: Floats,
    lists: Int32s,
    entry: int,
    start: int,
    y: int,
    weight: float,
    seen_before: float,
) -> None:
    """Keep power sums and the list of frequent features true while a count grows by `weight`."""
    if before == 0.0:
        state[ACTIVE_PRESENCE] += 1.0
    elif RARE * before > seen_before + 1.0:
        return
    else:
        _add_power_sums(state, before, -1.0)
    now = before + weight
    if RARE * now > state[SEEN] + 1.0:
        listed[start + lists[FREQUENT], y] = entry - start + 1
        lists[FREQUENT] += 1
    else:
        _add_power_sums(state, now, 1.0)


@inlined
def refresh_presence(stat: Floats, listed: Int32s, row: Ints, state: Floats, lists: Int32s, y: int) -> None:
    """Compute the base sum of the binary features anew; frequent ones that have become rare leave their list."""
    seen = state[SEEN]
    start = row[PRESENCE_START]
    total = 0.0
    product = 1.0
    frequent = lists[FREQUENT]
    rarer = False
    for i in range(frequent - 1, -1, -1):
        count = stat[start + listed[start + i, y] - 1, y, 0]
        if RARE * count > seen + 1.0:
            product *= (seen - count + 1.0) / (seen + 2.0)
            if product < TINY:
                total += math.log(product)
                product = 1.0
        else:
            _add_power_sums(state, count, 1.0)
            rarer = True
    if rarer:
        frequent = _drop_rare(stat, listed, start, frequent, y, seen)
        lists[FREQUENT] = frequent
    ratio = 1.0 / (seen + 1.0)
    power = ratio
    series = 0.0
    for k in range(POWERS):
        series += state[POWER_SUMS + k] * power / (k + 1)
        power *= ratio
    rare = state[ACTIVE_PRESENCE] - frequent
    state[BASE_PRESENCE] = rare * math.log1p(-1.0 / (seen + 2.0)) - series + (total + math.log(product))


@subkernel
def _drop_rare(stat: Floats, listed: Int32s, start: int, count: int, y: int, seen: float) -> int:
    """Take the features that are frequent no more off their list; return how many remain."""
    kept = 0
    for i in range(count):
        place = listed[start + i, y]
        listed[start + i, y] = 0
        if RARE * stat[start + place - 1, y, 0] > seen + 1.0:
            listed[start + kept, y] = place
            kept += 1
    return kept


@inlined
def _add_value(stat: Floats, state: Floats, entry: int, value: float, y: int, weight: float) -> None:
    """One update of the Gaussian over non-zero values with weight `weight`, not `weight` updates."""
    if stat[entry, y, WEIGHT] == 0.0:
        state[ACTIVE_NUMERIC] += 1.0
        stat[entry, y, WEIGHT] = weight
        stat[entry, y, MEAN] = value
        stat[entry, y, LOW] = value
        stat[entry, y, HIGH] = value
        return
    stat[entry, y, LOW] = min(stat[entry, y, LOW], value)
    stat[entry, y, HIGH] = max(stat[entry, y, HIGH], value)
    stat[entry, y, WEIGHT] += weight
    mean = stat[entry, y, MEAN]
    now = mean + weight * (value - mean) / stat[entry, y, WEIGHT]
    stat[entry, y, MEAN] = now
    stat[entry, y, SQUARES] += weight * (value - mean) * (value - now)


@inlined
def difference(whole: float, part: float) -> float:
    """Return whole - part; inherited weights are no whole numbers, and what is left by rounding is nothing."""
    rest = whole - part
    return rest if rest > ROUNDING * whole else 0.0


@inlined
def gaussian(stat: Floats, entry: int, y: int, seen: float) -> tuple[float, float]:
    """Return mean and variance of a feature within a class of weight `seen`, zeros included."""
    nonzero = stat[entry, y, WEIGHT]
    mean = stat[entry, y, MEAN]
    squares = stat[entry, y, SQUARES] + mean * mean * (nonzero * (seen - nonzero) / seen)
    variance = squares / (seen - 1.0) if seen > 1.0 else 0.0
    return mean * (nonzero / seen), (variance if variance > LEAST_VARIANCE else 0.0)


@inlined
def refresh_numeric(
    stat: Floats, listed: Int32s, row: Ints, state: Floats, lists: Int32s, y: int, variance_floor: float
) -> None:
    """Compute every Gaussian of a class anew, the base sum over them and the list of mostly non-zero features.

    A feature that is always zero has the density 1 / sqrt(2 π floor) there. The sum is taken relative to all features
    being so, which is the same for every class: it need not be touched when features are added.
    """
    seen = state[SEEN]
    # A division takes longer than the rest of the loop: `gaussian` with two divisions for all features.
    inverse = 1.0 / seen
    inverse_less_one = 1.0 / (seen - 1.0) if seen > 1.0 else 0.0
    start = row[NUMERIC_START]
    total = 0.0
    logarithms = 0.0
    product = 1.0
    dispersed = 0
    n_listed = 0
    stop = start + row[NUMERIC_USED]
    stat, places = stat[start:stop, y], listed[start:stop, y]
    weights, means, sums = stat[:, WEIGHT], stat[:, MEAN], stat[:, SQUARES]
    centres, scales = stat[:, CENTRE], stat[:, SCALE]
    for i in range(len(places)):
        nonzero, mean, squares = weights[i], means[i], sums[i]
        if nonzero == 0.0:
            continue
        if nonzero != seen:
            squares += mean * mean * (nonzero * (seen - nonzero) * inverse)
            mean *= nonzero * inverse
        variance = max(squares * inverse_less_one, variance_floor)
        scale = NO_VARIANCE
        if variance > LEAST_VARIANCE:
            scale = 0.5 / variance
            dispersed += 1
            if TINY < variance < HUGE:
                product *= variance
                if not TINY < product < HUGE:
                    logarithms += math.log(product)
                    product = 1.0
            else:
                logarithms += math.log(variance)
        centres[i], scales[i] = mean, scale
        if mostly_nonzero(nonzero, scale, seen):
            places[n_listed] = i + 1
            n_listed += 1
        else:
            total -= mean * mean * scale
    for i in range(n_listed, lists[MOSTLY_NONZERO]):
        places[i] = 0
    lists[MOSTLY_NONZERO] = n_listed
    total -= 0.5 * (dispersed * LOG_2_PI + (logarithms + math.log(product)))
    if variance_floor > 0.0:
        total += 0.5 * state[ACTIVE_NUMERIC] * (LOG_2_PI + math.log(variance_floor))
    state[BASE_NUMERIC] = total


@inlined
def mostly_nonzero(weight: float, scale: float, seen: float) -> bool:
    """Tell whether a feature's density at zero is left out of the base sum, where it might be tiny."""
    return 2.0 * weight > seen or scale < 0.0


@subkernel
def missing_weight(forest: Forest, leaf: int, feature: int, y: int) -> float:
    """Return the weight of the examples of class `y` that came to the leaf without a value of the feature."""
    if forest.leaf[leaf, MET_MISSING] == 0:
        return 0.0
    return value_weight(forest, leaf, (MISSING_VALUE << VALUE_SHIFT) | feature, y)


@subkernel
def value_weight(forest: Forest, leaf: int, key: int, y: int) -> float:
    """Return the weight of class `y` counted under a presence key."""
    row = forest.leaf[leaf]
    entry = find(forest.presence.key, forest.presence.cells, row[PRESENCE_START], row[PRESENCE_ORDER] - 1, key)
    return 0.0 if entry < 0 else float(forest.presence.stat[entry, y, 0])


@subkernel
def _order_needed(forest: Forest, table: Arena, row: Ints, column: int, example: Example, numeric: bool) -> int:
    """Return the order a leaf's table needs for an example: its own, unless the example brings too many new keys."""
    start, order, used = row[column], row[column + 1] - 1, row[column + 2]
    capacity = 0 if order < 0 else 1 << order
    coming = example.n_numeric if numeric else len(example.indices) - example.n_numeric
    if used + coming <= capacity or (numeric and used == forest.n_numeric):
        return int(order)
    new = 0
    keys, index, kinds, indices, values = table.key, table.cells, forest.kind, example.indices, example.values
    for j in range(len(indices)):
        feature, value = indices[j], values[j]
        if (kinds[feature] == 0 and not math.isnan(value)) == numeric:
            key = feature if numeric else presence_key(feature, value)
            new += find(keys, index, start, order, key) < 0
    if used + new <= capacity:
        return int(order)
    return max(SMALLEST_ORDER, order_for(used + new))


@inlined
def surely_fits(forest: Forest, leaf: int, example: Example) -> bool:
    """Tell whether a leaf's tables have room for an example even if all its features are new to them."""
    row = forest.leaf[leaf]
    n = example.n_numeric
    numeric = row[NUMERIC_USED] + n <= (1 << row[NUMERIC_ORDER]) >> 1 or row[NUMERIC_USED] == forest.n_numeric
    return bool(numeric and row[PRESENCE_USED] + len(example.indices) - n <= (1 << row[PRESENCE_ORDER]) >> 1)


@subkernel
def entries_needed(forest: Forest, leaf: int, example: Example) -> tuple[int, int]:
    """Return how many further entries of the two arenas an example may need; -1 stands for an empty leaf."""
    if leaf < 0:
        size = 1 << max(SMALLEST_ORDER, order_for(len(example.indices)))
        return size, size
    row = forest.leaf[leaf]
    presence_order = _order_needed(forest, forest.presence, row, PRESENCE_START, example, False)
    numeric_order = _order_needed(forest, forest.numeric, row, NUMERIC_START, example, True)
    presence = 1 << presence_order if presence_order >= row[PRESENCE_ORDER] else 0
    numeric = 1 << numeric_order if numeric_order >= row[NUMERIC_ORDER] else 0
    if forest.inherit:  # a split copies the tables for every branch
        presence += forest.widest << presence_order if presence_order >= 0 else 0
        numeric += forest.widest << numeric_order if numeric_order >= 0 else 0
    return presence, numeric


@subkernel
def make_room(forest: Forest, leaf: int, example: Example) -> None:
    """Move the tables of a leaf into larger blocks where an example needs them; the arenas have room."""
    row = forest.leaf[leaf]
    order = _order_needed(forest, forest.presence, row, PRESENCE_START, example, False)
    if order >= row[PRESENCE_ORDER]:
        start = move_block(forest.presence, row[PRESENCE_START], row[PRESENCE_ORDER] - 1, row[PRESENCE_USED], order)
        row[PRESENCE_START], row[PRESENCE_ORDER] = start, order + 1
    order = _order_needed(forest, forest.numeric, row, NUMERIC_START, example, True)
    if order >= row[NUMERIC_ORDER]:
        start = move_block(forest.numeric, row[NUMERIC_START], row[NUMERIC_ORDER] - 1, row[NUMERIC_USED], order)
        row[NUMERIC_START], row[NUMERIC_ORDER] = start, order + 1
