"""When and on what a leaf splits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.forest import state as layout
from marlene.kernels.forest.branches import (
    about_beside,
    are_spread,
    fill_branches,
    nominal_branches,
    numeric_branches,
    summarise,
)
from marlene.kernels.forest.gains import LOG_2, cannot_exceed, entropy, merit, row_sum, surely_narrow
from marlene.kernels.forest.inheritance import hand_down
from marlene.kernels.forest.observers import known_weight
from marlene.kernels.forest.tables import allocate, free_table, order_for, release

if TYPE_CHECKING:
    from marlene._common.arrays import Floats
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest, Settings

BEST, SECOND, BEST_FEATURE, BEST_TYPE, BEST_VALUE = range(5)


@inlined
def may_grow(forest: Forest, settings: Settings, tree: int, node: int) -> bool:
    """Tell whether the limits of depth and size allow a split of this leaf."""
    if settings.max_depth > 0 and forest.node[node, layout.LEVEL] >= settings.max_depth:
        return False
    if settings.max_nodes == 0:
        return True
    size = forest.tree[tree, layout.SPLITS] + forest.tree[tree, layout.LEAVES]
    return bool(size + forest.widest <= settings.max_nodes)


@subkernel
def choose(forest: Forest, settings: Settings, node: int, space: Space) -> bool:
    """Write the best test to `space.found`; return whether to split on it.

    1. Compute the gain of the best test of every feature; keep the best two. At equal gain the last feature wins.
    2. Split if the difference of the two exceeds the Hoeffding bound, or if the bound is below the tie threshold.
    """
    leaf = forest.node[node, layout.LEAF]
    before = entropy(forest.node_count, node)
    branches, found = space.branches, space.found
    found[BEST], found[SECOND], found[BEST_FEATURE] = -np.inf, -np.inf, -1.0
    change = _change_of_entropy(forest, leaf, before, branches)
    _consider_binary(forest, leaf, before, change, branches, found)
    for feature in forest.nominal:
        _consider_nominal(forest, leaf, feature, before, space)
    start = forest.leaf[leaf, layout.NUMERIC_START]
    for entry in range(start, start + forest.leaf[leaf, layout.NUMERIC_USED]):
        _consider_numeric(forest, settings.split_points, leaf, entry, before, change, space)
    if found[BEST] == -np.inf:
        return False
    bound = _hoeffding_bound(forest, settings, node)
    return found[BEST] - found[SECOND] > bound or bound < settings.tie_threshold


@inlined
def _hoeffding_bound(forest: Forest, settings: Settings, node: int) -> float:
    """Return sqrt(R² ln(1 / δ) / (2 n)), where R = log2(classes) is the range of the gain and n the leaf's weight.

    With effective sizes, n is (Σw)² / Σw².
    """
    weight = row_sum(forest.node_count, node)
    squared = forest.leaf_weight[forest.node[node, layout.LEAF], layout.WEIGHTS_SQUARED]
    if settings.effective_size and squared > 0.0:
        weight *= weight / squared
    span = math.log(max(2, forest.node[node, layout.CLASSES])) / LOG_2
    return math.sqrt(span * span * settings.log_inverse_delta / (2.0 * weight))


@inlined
def _change_of_entropy(forest: Forest, leaf: int, before: float, branches: Floats) -> float:
    """Return the entropy before a split less that of the examples seen; infinite where missing values make it vary."""
    if forest.leaf[leaf, layout.MET_MISSING] != 0:
        return np.inf
    for c in range(branches.shape[1]):
        branches[0, c] = forest.leaf_class[leaf, c, layout.SEEN]
    return before - entropy(branches, 0)


@inlined
def _consider_binary(forest: Forest, leaf: int, before: float, change: float, branches: Floats, found: Floats) -> None:
    """Consider the test for 0 or 1 of every binary feature the leaf has seen as 1."""
    keys, stat, kinds, of_class = forest.presence.key, forest.presence.stat, forest.kind, forest.leaf_class[leaf]
    start, complete = forest.leaf[leaf, layout.PRESENCE_START], forest.leaf[leaf, layout.MET_MISSING] == 0
    for entry in range(start, start + forest.leaf[leaf, layout.PRESENCE_USED]):
        feature = keys[entry] & layout.FEATURE_MASK
        if kinds[feature] != 2 or keys[entry] >> layout.VALUE_SHIFT == layout.MISSING_VALUE:
            continue
        for c in range(branches.shape[1]):
            known = of_class[c, layout.SEEN] if complete else known_weight(forest, leaf, feature, c)
            branches[0, c], branches[1, c] = known - stat[entry, c, 0], stat[entry, c, 0]
        if not cannot_exceed(found[SECOND], change, branches):
            _consider(found, merit(before, branches, 2), feature, layout.MULTIWAY_TEST, np.nan)


@inlined
def _consider(found: Floats, gain: float, feature: int, test_type: int, value: float) -> None:
    """Keep a test if it is among the best two."""
    if gain > found[BEST] or (gain == found[BEST] and feature > found[BEST_FEATURE]):
        found[SECOND] = found[BEST]
        found[BEST] = gain
        found[BEST_FEATURE] = feature
        found[BEST_TYPE] = test_type
        found[BEST_VALUE] = value
    elif gain > found[SECOND]:
        found[SECOND] = gain


@subkernel
def _consider_nominal(forest: Forest, leaf: int, feature: int, before: float, space: Space) -> None:
    """Consider the multiway test, or the test for one value if that is strictly better."""
    n_values = nominal_branches(forest, leaf, feature, -1, space)
    best = merit(before, space.branches, n_values)
    test_type, value = layout.MULTIWAY_TEST, np.nan
    for v in range(n_values):
        nominal_branches(forest, leaf, feature, v, space)
        gain = merit(before, space.branches, 2)
        if gain > best:
            best, test_type, value = gain, layout.EQUALS_TEST, float(v)
    if best > -np.inf:
        _consider(space.found, best, feature, test_type, value)


@subkernel
def _consider_numeric(
    forest: Forest, split_points: int, leaf: int, entry: int, before: float, change: float, space: Space
) -> None:
    """Consider the best of evenly spaced thresholds between the least and the greatest value."""
    summary, branches, least = space.summary, space.branches, space.found[SECOND]
    low, high = summarise(forest, leaf, entry, summary)
    step = (high - low) / (split_points + 1.0)
    best, best_threshold = -np.inf, np.nan
    spread = are_spread(summary)
    for i in range(split_points):
        threshold = step * (i + 1) + low
        if low < threshold < high:
            close = about_beside(summary, threshold, branches)
            if spread and surely_narrow(branches, 1):
                break  # above greater thresholds there is even less
            if close and (surely_narrow(branches, 0) or cannot_exceed(least, change, branches)):
                continue
            numeric_branches(summary, threshold, branches)
            gain = merit(before, branches, 2)
            if gain > best:
                best, best_threshold = gain, threshold
    if best > -np.inf:
        _consider(space.found, best, forest.numeric.key[entry], layout.NUMERIC_TEST, best_threshold)


@subkernel
def new_leaf(forest: Forest, tree: int, node: int, level: int) -> int:
    """Turn a free node into an empty leaf; return the leaf."""
    leaf = allocate(forest.leaf_free, forest.leaf_top, forest.leaf_link, 0)
    forest.node[node, layout.STATE] = layout.IS_LEAF
    forest.node[node, layout.LEAF] = leaf
    forest.node[node, layout.LEVEL] = level
    forest.tree[tree, layout.LEAVES] += 1
    forest.tree[tree, layout.DEPTH] = max(forest.tree[tree, layout.DEPTH], level)
    return leaf


@subkernel
def drop_leaf(forest: Forest, leaf: int) -> None:
    """Clear a leaf's statistics and free them."""
    row = forest.leaf[leaf]
    free_table(forest.presence, row, layout.PRESENCE_START)
    free_table(forest.numeric, row, layout.NUMERIC_START)
    row[:] = 0
    forest.leaf_weight[leaf, :] = 0.0
    forest.leaf_class[leaf, :, :] = 0.0
    forest.leaf_list[leaf, :, :] = 0
    release(forest.leaf_free, forest.leaf_link, leaf, 0)


@subkernel
def split(forest: Forest, settings: Settings, tree: int, node: int, space: Space) -> None:
    """Replace a leaf by the chosen test.

    1. Estimate the class counts of the branches: the children begin with them.
    2. Turn the node into a split.
    3. Make the children. If leaves inherit, each takes over its share of all the leaf knows.
    """
    leaf, branches, lengths, found = forest.node[node, layout.LEAF], space.branches, space.lengths, space.found
    test = layout.SplitTest(int(found[BEST_FEATURE]), int(found[BEST_TYPE]), found[BEST_VALUE])
    n_branches = fill_branches(forest, leaf, test, space)
    squared = forest.leaf_weight[leaf, layout.WEIGHTS_SQUARED]
    weight = row_sum(forest.node_count, node)
    if not forest.inherit:
        drop_leaf(forest, leaf)
    first = allocate(forest.node_free, forest.node_top, forest.node_link, order_for(n_branches))
    row = forest.node[node]
    row[layout.STATE] = layout.IS_SPLIT
    row[layout.FEATURE] = test.feature
    row[layout.TEST] = test.type
    row[layout.CHILDREN] = first
    row[layout.BRANCHES] = n_branches
    row[layout.LEAF] = 0
    forest.node_value[node] = test.value
    forest.tree[tree, layout.SPLITS] += 1
    forest.tree[tree, layout.LEAVES] -= 1
    heaviest, heaviest_weight = 0, 0.0
    for b in range(n_branches):
        child = first + b
        own = new_leaf(forest, tree, child, row[layout.LEVEL] + 1)
        forest.node[child, layout.CLASSES] = lengths[b]
        total = 0.0
        for c in range(branches.shape[1]):
            forest.node_count[child, c] = branches[b, c]
            total += branches[b, c]
        forest.leaf_weight[own, layout.LAST_ATTEMPT] = total
        forest.leaf_weight[own, layout.WEIGHTS_SQUARED] = squared * (total / weight) if weight > 0.0 else 0.0
        if forest.inherit:
            hand_down(forest, settings.variance_floor, leaf, own, b, test, branches[:n_branches], space.terms)
        if total > heaviest_weight or b == 0:
            heaviest, heaviest_weight = b, total
    row[layout.HEAVIEST] = heaviest
    if forest.inherit:
        drop_leaf(forest, leaf)


@subkernel
def clear_node(forest: Forest, node: int) -> None:
    """Make a node absent, as if it were new."""
    forest.node[node, :] = 0
    forest.node_value[node] = 0.0
    forest.node_count[node, :] = 0.0


@subkernel
def move_node(forest: Forest, node: int, target: int) -> None:
    """Move a node to another place and clear its old one."""
    for column in range(forest.node.shape[1]):
        forest.node[target, column] = forest.node[node, column]
    forest.node_value[target] = forest.node_value[node]
    for c in range(forest.node_count.shape[1]):
        forest.node_count[target, c] = forest.node_count[node, c]
    clear_node(forest, node)
