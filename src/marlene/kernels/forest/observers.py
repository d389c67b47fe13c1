"""What a leaf learns of its features.

Absent features are zero, and a leaf stores non-zero values only. All that concerns zeros follows from the weight the
leaf has seen.

Binary features: let n be the weight of value 1 and s the weight of the class. The *base sum*, the log-likelihood of an
example in which all features are zero, is Σ log((s - n + 1) / (s + 2)) over the features seen with the class. Every
term changes with s, but the terms need not be visited:

- *Rare* features have 8 n <= s + 1. With m of them, r = 1 / (s + 1) and the power sums P_k = Σ n^k, their terms are
  Σ log((s - n + 1) / (s + 2)) = m log((s + 1) / (s + 2)) - Σ_k P_k r^k / k. Twelve powers are enough.
- *Frequent* features stand in a list. It has at most eight times as many as an example has non-zeros.

Numeric features: see `gaussians.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.forest import state as layout
from marlene.kernels.forest import tables
from marlene.kernels.forest.gaussians import observe_numbers, refresh_numeric
from marlene.kernels.prefetch import prefetch

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Int32s, Ints
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest
    from marlene.kernels.forest.tables import Arena
    from marlene.kernels.forest.trees import Example

INVERSES = tuple(1.0 / k for k in range(1, layout.POWERS + 1))
RARE = 8.0
TINY = 1e-100
ROUNDING = 1e-12


@inlined
def presence_key(feature: int, value: float) -> int:
    """Return the key under which a value of a feature, or that it is missing (NaN), is counted."""
    if math.isnan(value):
        return (layout.MISSING_VALUE << layout.VALUE_SHIFT) | feature
    return (int(value) << layout.VALUE_SHIFT) | feature


@inlined
def find_present(forest: Forest, leaf: int, example: Example) -> None:
    """Write for every value that is no number its place in the leaf's presence table, from 0, or -1.

    The tables of many leaves are not in the processor's cache. The first loop requests all cells before the second one
    reads any, so that the loop waits for memory once and not for every value.
    """
    keys, index, kinds = forest.presence.key, forest.presence.cells, forest.kind
    indices, values, places = example.indices, example.values, example.places
    start, order = forest.leaf[leaf, layout.PRESENCE_START], forest.leaf[leaf, layout.PRESENCE_ORDER] - 1
    first = max(example.others, example.known)
    if order < 0:
        places[first : len(indices)] = -1
        return
    for j in range(first, len(indices)):
        places[j] = 0
        if kinds[indices[j]] > 0 or math.isnan(values[j]):
            places[j] = tables.first_look(index, start, order, presence_key(indices[j], values[j]))
    for j in range(first, len(indices)):
        if places[j] == 0:
            places[j] = -1
        else:
            key = presence_key(indices[j], values[j])
            entry = tables.find_after(keys, index, start, order, key, places[j])
            places[j] = entry - start if entry >= 0 else -1


@inlined
def request_present(forest: Forest, leaf: int, example: Example) -> None:
    """Request the cells that `find_present` will look into first."""
    indices, values = example.indices, example.values
    start, order = forest.leaf[leaf, layout.PRESENCE_START], forest.leaf[leaf, layout.PRESENCE_ORDER] - 1
    if order >= 0:
        for j in range(example.others, len(indices)):
            prefetch(forest.presence.cells, 2 * start + tables.first_cell(presence_key(indices[j], values[j]), order))


@inlined
def request_counts(forest: Forest, leaf: int, example: Example) -> None:
    """Request what is counted at the places that are known."""
    places, start, n_classes = example.places, forest.leaf[leaf, layout.PRESENCE_START], forest.node_count.shape[1]
    for j in range(example.others, example.known):
        prefetch(forest.presence.stat, (start + max(places[j], 0)) * n_classes)


@inlined
def count_present(stat: Floats, start: int, example: Example, y: int, counts: Floats) -> None:
    """Write the count of a class for every value that is no number; again, request all before reading any."""
    places = example.places
    for j in range(example.others, len(example.indices)):
        counts[j] = stat[start + max(places[j], 0), y, 0] * (places[j] >= 0)


@inlined
def observe(
    forest: Forest, leaf: int, example: Example, y: int, weight: float, variance_floor: float, space: Space
) -> None:
    """Count an example of class `y` in the leaf's tables, which have room for it, and refresh the base sums."""
    seen_before = forest.leaf_class[leaf, y, layout.SEEN]
    forest.leaf_class[leaf, y, layout.SEEN] = seen_before + weight
    if example.n_numeric > 0:
        observe_numbers(forest, leaf, example, y, weight)
    if example.n_numeric < len(example.indices):
        _observe_present(forest, leaf, example, y, weight, seen_before, space)
    refresh_presence(forest, leaf, y)
    if forest.n_numeric > 0:
        refresh_numeric(forest, leaf, y, variance_floor, space.terms)


@inlined
def _observe_present(
    forest: Forest, leaf: int, example: Example, y: int, weight: float, seen_before: float, space: Space
) -> None:
    """Count values of binary and nominal features, and missing values."""
    row, state, lists, table = forest.leaf[leaf], forest.leaf_class[leaf, y], forest.leaf_list[leaf, y], forest.presence
    kinds, indices, values, stat = forest.kind, example.indices, example.values, table.stat
    places, counts, start = example.places, space.counts, row[layout.PRESENCE_START]
    find_present(forest, leaf, example)
    count_present(stat, start, example, y, counts)
    listed = table.listed[start:, y]
    for j in range(example.others, len(indices)):
        feature, value = indices[j], values[j]
        missing = math.isnan(value)
        if kinds[feature] == 0 and not missing:
            continue
        if places[j] < 0:
            key = presence_key(feature, value)
            places[j] = tables.new_entry(table, row, layout.PRESENCE_START, key) - start
        if missing:
            row[layout.MET_MISSING] = 1
        elif kinds[feature] == 2:
            count_rare(state, lists, listed, places[j] + 1, counts[j], weight, seen_before)
        stat[start + places[j], y, 0] = counts[j] + weight


@inlined
def _power(count: float) -> tuple[float, float, float, float]:
    """Return the first four powers; four and eight of them more are these times the fourth, once and twice."""
    square = count * count
    return count, square, square * count, square * square


@inlined
def _change_power_sums(state: Floats, old: float, new: float) -> None:
    """Let a feature's count in the power sums be another one; a count of 0 adds nothing."""
    sums = state[layout.POWER_SUMS : layout.POWER_SUMS + layout.POWERS]
    a, b, c, d = _power(old)
    e, f, g, h = _power(new)
    old_factor, new_factor = 1.0, 1.0
    for k in range(0, layout.POWERS, 4):
        sums[k] += e * new_factor - a * old_factor
        sums[k + 1] += f * new_factor - b * old_factor
        sums[k + 2] += g * new_factor - c * old_factor
        sums[k + 3] += h * new_factor - d * old_factor
        old_factor *= d
        new_factor *= h


@inlined
def count_rare(
    state: Floats, lists: Int32s, listed: Int32s, place: int, count: float, weight: float, seen_before: float
) -> None:
    """Update power sums and list of frequent features when the count of the entry at `place` grows by `weight`."""
    if count == 0.0:
        state[layout.ACTIVE_PRESENCE] += 1.0
    elif RARE * count > seen_before + 1.0:  # in the list already
        return
    now = count + weight
    if RARE * now > state[layout.SEEN] + 1.0:
        listed[lists[layout.FREQUENT]] = place
        lists[layout.FREQUENT] += 1
        now = 0.0
    _change_power_sums(state, count, now)


@inlined
def refresh_presence(forest: Forest, leaf: int, y: int) -> None:
    """Compute the base sum of the binary features: Σ log((s - n + 1) / (s + 2)), see above."""
    state, lists = forest.leaf_class[leaf, y], forest.leaf_list[leaf, y]
    start = forest.leaf[leaf, layout.PRESENCE_START]
    counts, listed = forest.presence.stat[start:, y, 0], forest.presence.listed[start:, y]
    seen = state[layout.SEEN]
    # The frequent features, with one logarithm for many factors. Those that have become rare leave the list.
    total = 0.0
    product = 1.0
    frequent = lists[layout.FREQUENT]
    rarer = False
    for i in range(frequent - 1, -1, -1):
        count = counts[listed[i] - 1]
        if RARE * count > seen + 1.0:
            product *= (seen - count + 1.0) / (seen + 2.0)
            if product < TINY:
                total += math.log(product)
                product = 1.0
        else:
            _change_power_sums(state, 0.0, count)
            rarer = True
    if rarer:
        frequent = _drop_rare(counts, listed, frequent, seen)
        lists[layout.FREQUENT] = frequent
    # The rare features, by the power series.
    ratio = 1.0 / (seen + 1.0)
    power = ratio
    series = 0.0
    for k in range(layout.POWERS):
        series += state[layout.POWER_SUMS + k] * (power * INVERSES[k])
        power *= ratio
    rare = state[layout.ACTIVE_PRESENCE] - frequent
    state[layout.BASE_PRESENCE] = rare * math.log1p(-1.0 / (seen + 2.0)) - series + (total + math.log(product))


@subkernel
def _drop_rare(counts: Floats, listed: Int32s, length: int, seen: float) -> int:
    """Drop the features that are rare now from the list of frequent ones; return its new length."""
    kept = 0
    for i in range(length):
        place = listed[i]
        listed[i] = 0
        if RARE * counts[place - 1] > seen + 1.0:
            listed[kept] = place
            kept += 1
    return kept


@inlined
def difference(whole: float, part: float) -> float:
    """Return whole - part, or 0 where only rounding is left (inherited weights are not whole numbers)."""
    rest = whole - part
    return rest if rest > ROUNDING * whole else 0.0


@subkernel
def known_weight(forest: Forest, leaf: int, feature: int, y: int) -> float:
    """Return the weight of the leaf's examples of class `y` in which the feature was not missing."""
    seen = float(forest.leaf_class[leaf, y, layout.SEEN])
    if forest.leaf[leaf, layout.MET_MISSING] == 0:
        return seen
    return seen - value_weight(forest, leaf, (layout.MISSING_VALUE << layout.VALUE_SHIFT) | feature, y)


@subkernel
def value_weight(forest: Forest, leaf: int, key: int, y: int) -> float:
    """Return the weight of class `y` counted under a presence key."""
    entry = tables.look_up(forest.presence, forest.leaf[leaf], layout.PRESENCE_START, key)
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
            new += tables.find(keys, index, start, order, key) < 0
    if used + new <= capacity:
        return int(order)
    return max(tables.SMALLEST_ORDER, tables.order_for(used + new))


@inlined
def surely_fits(forest: Forest, leaf: int, example: Example) -> bool:
    """Tell whether a leaf's tables have room for an example even if all its features are new to them."""
    row = forest.leaf[leaf]
    used, n = row[layout.NUMERIC_USED], example.n_numeric
    numeric = used + n <= (1 << row[layout.NUMERIC_ORDER]) >> 1 or used == forest.n_numeric
    present = row[layout.PRESENCE_USED] + len(example.indices) - n
    return bool(numeric and present <= (1 << row[layout.PRESENCE_ORDER]) >> 1)


@subkernel
def entries_needed(forest: Forest, leaf: int, example: Example) -> tuple[int, int]:
    """Return how many new entries of the two arenas an example may need; leaf -1 is an empty leaf."""
    if leaf < 0:
        size = 1 << max(tables.SMALLEST_ORDER, tables.order_for(len(example.indices)))
        return size, size
    row = forest.leaf[leaf]
    presence_order = _order_needed(forest, forest.presence, row, layout.PRESENCE_START, example, False)
    numeric_order = _order_needed(forest, forest.numeric, row, layout.NUMERIC_START, example, True)
    presence = 1 << presence_order if presence_order >= row[layout.PRESENCE_ORDER] else 0
    numeric = 1 << numeric_order if numeric_order >= row[layout.NUMERIC_ORDER] else 0
    if forest.inherit:  # a split copies the tables for every branch
        presence += forest.widest << presence_order if presence_order >= 0 else 0
        numeric += forest.widest << numeric_order if numeric_order >= 0 else 0
    return presence, numeric


@subkernel
def make_room(forest: Forest, leaf: int, example: Example) -> None:
    """Move the tables of a leaf into larger blocks where an example needs them; the arenas have room."""
    row = forest.leaf[leaf]
    order = _order_needed(forest, forest.presence, row, layout.PRESENCE_START, example, False)
    if order >= row[layout.PRESENCE_ORDER]:
        tables.move_table(forest.presence, row, layout.PRESENCE_START, order)
    order = _order_needed(forest, forest.numeric, row, layout.NUMERIC_START, example, True)
    if order >= row[layout.NUMERIC_ORDER]:
        tables.move_table(forest.numeric, row, layout.NUMERIC_START, order)
