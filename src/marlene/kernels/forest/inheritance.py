"""What a new leaf takes over from the leaf that was split, if leaves inherit.

Features count as independent within a class. So a branch that gets a share of a class gets that share of all counts of
the class. Only the feature of the split is known better: each value is inside or outside the branch, and a Gaussian is
truncated at the threshold.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.forest import observers
from marlene.kernels.forest import state as layout
from marlene.kernels.forest.branches import SQRT_2_PI, normal_cdf
from marlene.kernels.forest.gaussians import gaussian, refresh_numeric
from marlene.kernels.forest.observers import difference
from marlene.kernels.forest.tables import allocate

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.forest.state import Forest, SplitTest
    from marlene.kernels.forest.tables import Arena

LEAST_WEIGHT = 1e-9  # of a class in a branch; a smaller weight would be lost in the next addition


@subkernel
def hand_down(
    forest: Forest,
    variance_floor: float,
    parent: int,
    child: int,
    branch: int,
    test: SplitTest,
    branches: Floats,
    terms: Floats,
) -> None:
    """Give a new, empty leaf its share of what the split leaf knows; the arenas have room.

    `branches` holds the class counts of all branches; `terms` is work space, see `Space`.
    """
    old, new = forest.leaf[parent], forest.leaf[child]
    new[layout.MET_MISSING] = old[layout.MET_MISSING]
    _copy_keys(forest.presence, old, new, layout.PRESENCE_START)
    _copy_keys(forest.numeric, old, new, layout.NUMERIC_START)
    for c in range(branches.shape[1]):
        total = 0.0
        for b in range(len(branches)):
            total += branches[b, c]
        share = branches[branch, c] / total if branches[branch, c] > LEAST_WEIGHT else 0.0
        if share > 0.0:
            forest.leaf_class[child, c, layout.SEEN] = forest.leaf_class[parent, c, layout.SEEN] * share
            _share_presence(forest, parent, child, c, share, branch, test)
            _share_numeric(forest, parent, child, c, share, branch, test)
            observers.refresh_presence(forest, child, c)
            if forest.n_numeric > 0:
                refresh_numeric(forest, child, c, variance_floor, terms)


@inlined
def _copy_keys(table: Arena, old: Ints, new: Ints, column: int) -> None:
    """Give a leaf a table with the keys of another leaf's table."""
    start, order, used = column, column + 1, column + 2
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
    forest: Forest, parent: int, child: int, c: int, share: float, branch: int, test: SplitTest
) -> None:
    """Write the child's counts of values of binary and nominal features, for one class."""
    stat, keys, kinds = forest.presence.stat, forest.presence.key, forest.kind
    row, state, lists = forest.leaf[child], forest.leaf_class[child, c], forest.leaf_list[child, c]
    old, new = forest.leaf[parent, layout.PRESENCE_START], row[layout.PRESENCE_START]
    listed = forest.presence.listed[new:, c]
    for place in range(row[layout.PRESENCE_USED]):
        feature, code = keys[new + place] & layout.FEATURE_MASK, keys[new + place] >> layout.VALUE_SHIFT
        count = stat[old + place, c, 0] * share
        if feature == test.feature and code != layout.MISSING_VALUE:
            equals = test.type == layout.EQUALS_TEST
            inside = (code == test.value) == (branch == 0) if equals else code == branch
            count = stat[old + place, c, 0] if inside else 0.0
        if count > 0.0 and kinds[feature] == 2 and code == 1:
            observers.count_rare(state, lists, listed, place + 1, 0.0, count, 0.0)
        stat[new + place, c, 0] = count


@inlined
def _share_numeric(forest: Forest, parent: int, child: int, c: int, share: float, branch: int, test: SplitTest) -> None:
    """Write the child's Gaussians of numeric features, for one class."""
    planes, keys = forest.numeric.planes[c], forest.numeric.key
    row, state = forest.leaf[child], forest.leaf_class[child, c]
    old, new = forest.leaf[parent, layout.NUMERIC_START], row[layout.NUMERIC_START]
    for place in range(row[layout.NUMERIC_USED]):
        theirs, mine = old + place, new + place
        known = observers.known_weight(forest, parent, keys[mine], c)
        mean, variance = gaussian(planes, theirs, known) if known > 0.0 else (0.0, 0.0)
        planes[layout.WEIGHT, mine] = planes[layout.WEIGHT, theirs] * share
        planes[layout.MEAN, mine] = planes[layout.MEAN, theirs]
        planes[layout.LOW, mine] = planes[layout.LOW, theirs]
        planes[layout.HIGH, mine] = planes[layout.HIGH, theirs]
        # The variance, squares / (weight - 1), stays as it is.
        planes[layout.SQUARES, mine] = max(0.0, planes[layout.SQUARES, theirs] * share - variance * (1.0 - share))
        if test.type == layout.NUMERIC_TEST and keys[mine] == test.feature and share < 1.0:
            zeros = difference(known, planes[layout.WEIGHT, theirs])
            _truncate(planes, mine, mean, variance, zeros, known * share, test.value, branch)
        state[layout.ACTIVE_NUMERIC] += planes[layout.WEIGHT, mine] > 0.0


@inlined
def _truncate(
    planes: Floats, mine: int, mean: float, variance: float, zeros: float, seen: float, threshold: float, branch: int
) -> None:
    """Truncate a Gaussian at a threshold: write what is known of the `seen` values on the branch's side of it.

    With z = (threshold - mean) / deviation, the density φ and the share Φ of the branch, λ = φ(z) / Φ and a sign of -1
    below the threshold, +1 above: mean' = mean ± deviation λ, variance' = variance (1 ± z λ - λ²). `zeros` of the
    values are zero, all on one side.
    """
    has_zeros = (branch == 0) == (threshold >= 0.0)
    weight = difference(seen, zeros) if has_zeros else seen
    low, high = planes[layout.LOW, mine], planes[layout.HIGH, mine]
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
    # From all values to the non-zero ones: the reverse of `gaussian`.
    if weight == 0.0:
        mean, squares, low, high = 0.0, 0.0, 0.0, 0.0
    elif weight < seen:
        mean = min(max(mean * (seen / weight), low), high)
        squares = max(0.0, squares - mean * mean * (weight * (seen - weight) / seen))
    planes[layout.WEIGHT, mine] = weight
    planes[layout.MEAN, mine] = mean
    planes[layout.SQUARES, mine] = squares
    planes[layout.LOW, mine] = low
    planes[layout.HIGH, mine] = high
