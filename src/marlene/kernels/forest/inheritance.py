"""What a new leaf takes over from the leaf that was split, if leaves inherit.

Features being independent within a class, a branch that gets a share of a class gets that share of all the leaf counted
of it. Only the feature of the split is known better: its values are in the branch or not, and a Gaussian is cut off at
the threshold.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.forest.branches import SQRT_2_PI, normal_cdf
from marlene.kernels.forest.observers import (
    count_rare,
    difference,
    gaussian,
    missing_weight,
    refresh_numeric,
    refresh_presence,
)
from marlene.kernels.forest.state import (
    ACTIVE_NUMERIC,
    EQUALS_TEST,
    FEATURE_MASK,
    HIGH,
    LOW,
    MEAN,
    MET_MISSING,
    MISSING_VALUE,
    NUMERIC_ORDER,
    NUMERIC_START,
    NUMERIC_TEST,
    NUMERIC_USED,
    PRESENCE_ORDER,
    PRESENCE_START,
    PRESENCE_USED,
    SEEN,
    SQUARES,
    VALUE_SHIFT,
    WEIGHT,
)
from marlene.kernels.forest.tables import allocate

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest
    from marlene.kernels.forest.tables import Arena

LEAST_WEIGHT = 1e-9  # of a class in a branch; less would be lost when something is added to it


@subkernel
def hand_down(
    forest: Forest,
    variance_floor: float,
    parent: int,
    child: int,
    branch: int,
    n_branches: int,
    feature: int,
    test: int,
    value: float,
    space: Space,
) -> None:
    """Let a new, empty leaf begin with its share of what the leaf that was split knows; the arenas have room."""
    old, new = forest.leaf[parent], forest.leaf[child]
    new[MET_MISSING] = old[MET_MISSING]
    _copy_keys(forest.presence, old, new, PRESENCE_START, PRESENCE_ORDER, PRESENCE_USED)
    _copy_keys(forest.numeric, old, new, NUMERIC_START, NUMERIC_ORDER, NUMERIC_USED)
    branches = space.branches
    for c in range(branches.shape[1]):
        total = 0.0
        for b in range(n_branches):
            total += branches[b, c]
        share = branches[branch, c] / total if branches[branch, c] > LEAST_WEIGHT else 0.0
        if share > 0.0:
            forest.leaf_class[child, c, SEEN] = forest.leaf_class[parent, c, SEEN] * share
            _share_presence(forest, parent, child, c, share, branch, feature, test, value)
            _share_numeric(forest, parent, child, c, share, branch, feature, test, value, variance_floor)


@inlined
def _copy_keys(table: Arena, old: Ints, new: Ints, start: int, order: int, used: int) -> None:
    """Give a leaf a table with the keys of another."""
    new[order], new[used] = old[order], old[used]
    if old[order] == 0:
        return
    size = 1 << (old[order] - 1)
    new[start] = allocate(table.free, table.top, table.key, old[order] - 1)
    for place in range(old[used]):
        table.key[new[start] + place] = table.key[old[start] + place]
    for cell in range(2 * size):
        table.cells[2 * new[start] + cell] = table.cells[2 * old[start] + cell]


@inlined
def _share_presence(
    forest: Forest, parent: int, child: int, c: int, share: float, branch: int, feature: int, test: int, value: float
) -> None:
    stat, listed, keys, kinds = forest.presence.stat, forest.presence.listed, forest.presence.key, forest.kind
    row, state, lists = forest.leaf[child], forest.leaf_class[child, c], forest.leaf_list[child, c]
    old, new = forest.leaf[parent, PRESENCE_START], row[PRESENCE_START]
    for place in range(row[PRESENCE_USED]):
        own, code = keys[new + place] & FEATURE_MASK, keys[new + place] >> VALUE_SHIFT
        count = stat[old + place, c, 0] * share
        if own == feature and code != MISSING_VALUE:
            inside = (code == value) == (branch == 0) if test == EQUALS_TEST else code == branch
            count = stat[old + place, c, 0] if inside else 0.0
        if count > 0.0 and kinds[own] == 2 and code == 1:
            count_rare(0.0, listed, state, lists, new + place, new, c, count, 0.0)
        stat[new + place, c, 0] = count
    refresh_presence(stat, listed, row, state, lists, c)


@inlined
def _share_numeric(
    forest: Forest,
    parent: int,
    child: int,
    c: int,
    share: float,
    branch: int,
    feature: int,
    test: int,
    value: float,
    variance_floor: float,
) -> None:
    stat, keys = forest.numeric.stat, forest.numeric.key
    row, state, lists = forest.leaf[child], forest.leaf_class[child, c], forest.leaf_list[child, c]
    old, new = forest.leaf[parent, NUMERIC_START], row[NUMERIC_START]
    for place in range(row[NUMERIC_USED]):
        theirs, mine = stat[old + place, c], stat[new + place, c]
        known = forest.leaf_class[parent, c, SEEN] - missing_weight(forest, parent, keys[new + place], c)
        mean, variance = gaussian(stat, old + place, c, known) if known > 0.0 else (0.0, 0.0)
        mine[WEIGHT], mine[MEAN], mine[LOW], mine[HIGH] = (
            theirs[WEIGHT] * share,
            theirs[MEAN],
            theirs[LOW],
            theirs[HIGH],
        )
        # The variance stays what it was, which is a sum of squares over the weight less one.
        mine[SQUARES] = max(0.0, theirs[SQUARES] * share - variance * (1.0 - share))
        if test == NUMERIC_TEST and keys[new + place] == feature and share < 1.0:
            _cut_off(mine, mean, variance, difference(known, theirs[WEIGHT]), known * share, value, branch)
        state[ACTIVE_NUMERIC] += mine[WEIGHT] > 0.0
    if forest.n_numeric > 0:
        refresh_numeric(stat, forest.numeric.listed, row, state, lists, c, variance_floor)


@inlined
def _cut_off(
    mine: Floats, mean: float, variance: float, zeros: float, seen: float, threshold: float, branch: int
) -> None:
    """Write what is known of values on one side of a threshold, of which so many are seen, zeros included."""
    has_zeros = (branch == 0) == (threshold >= 0.0)
    weight = difference(seen, zeros) if has_zeros else seen
    low, high = mine[LOW], mine[HIGH]
    if branch == 0:
        low, high = min(low, threshold), min(high, threshold)
    else:
        low, high = max(low, threshold), max(high, threshold)
    if variance > 0.0:
        deviation = math.sqrt(variance)
        z = (threshold - mean) / deviation
        below = normal_cdf(z)
        part = below if branch == 0 else 1.0 - below
        ratio = math.exp(-0.5 * z * z) / SQRT_2_PI / part if part > 0.0 else 0.0
        sign = -1.0 if branch == 0 else 1.0
        mean += sign * deviation * ratio
        variance *= max(0.0, 1.0 + sign * z * ratio - ratio * ratio)
    mean = min(max(mean, min(low, 0.0) if has_zeros else low), max(high, 0.0) if has_zeros else high)
    squares = variance * max(0.0, seen - 1.0)
    if weight == 0.0:
        mean, squares, low, high = 0.0, 0.0, 0.0, 0.0
    elif weight < seen:
        mean = min(max(mean * (seen / weight), low), high)
        squares = max(0.0, squares - mean * mean * (weight * (seen - weight) / seen))
    mine[WEIGHT], mine[MEAN], mine[SQUARES], mine[LOW], mine[HIGH] = weight, mean, squares, low, high
