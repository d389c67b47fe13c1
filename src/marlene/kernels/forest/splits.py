"""When and on what a leaf splits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.forest.branches import about_beside, nominal_branches, numeric_branches, summarise
from marlene.kernels.forest.gains import LOG_2, cannot_exceed, entropy, merit, row_sum
from marlene.kernels.forest.inheritance import hand_down
from marlene.kernels.forest.observers import missing_weight
from marlene.kernels.forest.state import (
    BRANCHES,
    CHILDREN,
    CLASSES,
    DEPTH,
    EQUALS_TEST,
    FEATURE,
    FEATURE_MASK,
    HEAVIEST,
    IS_LEAF,
    IS_SPLIT,
    LAST_ATTEMPT,
    LEAF,
    LEAVES,
    LEVEL,
    MET_MISSING,
    MISSING_VALUE,
    MULTIWAY_TEST,
    NUMERIC_ORDER,
    NUMERIC_START,
    NUMERIC_TEST,
    NUMERIC_USED,
    PRESENCE_ORDER,
    PRESENCE_START,
    PRESENCE_USED,
    SEEN,
    SPLITS,
    STATE,
    TEST,
    VALUE_SHIFT,
    WEIGHTS_SQUARED,
)
from marlene.kernels.forest.tables import allocate, free_block, order_for, release

if TYPE_CHECKING:
    from marlene._common.arrays import Floats
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest, Settings

BEST, SECOND, BEST_FEATURE, BEST_TEST, BEST_VALUE = range(5)


@inlined
def may_grow(forest: Forest, settings: Settings, tree: int, node: int) -> bool:
    """Tell whether the limits of depth and size leave room for a split of this leaf."""
    if settings.max_depth > 0 and forest.node[node, LEVEL] >= settings.max_depth:
        return False
    if settings.max_nodes == 0:
        return True
    size = forest.tree[tree, SPLITS] + forest.tree[tree, LEAVES]
    return bool(size + forest.widest <= settings.max_nodes)


@subkernel
def choose(forest: Forest, settings: Settings, node: int, space: Space) -> bool:
    """Leave the best test in `space.found`; return whether to split on it.

    Among features of equal merit the last wins, and the difference of the best two must exceed the Hoeffding
    bound unless that is below the tie threshold.
    """
    leaf = forest.node[node, LEAF]
    before = entropy(forest.node_count, node)
    branches, found = space.branches, space.found
    found[BEST], found[SECOND], found[BEST_FEATURE] = -np.inf, -np.inf, -1.0
    change = _change_of_entropy(forest, leaf, before, branches)
    _consider_binary(forest, leaf, before, change, branches, found)
    for feature in forest.nominal:
        _consider_nominal(forest, leaf, feature, before, space)
    start = forest.leaf[leaf, NUMERIC_START]
    for entry in range(start, start + forest.leaf[leaf, NUMERIC_USED]):
        _consider_numeric(forest, settings.split_points, leaf, entry, before, change, space)
    if found[BEST] == -np.inf:
        return False
    weight = row_sum(forest.node_count, node)
    if settings.effective and forest.leaf_weight[leaf, WEIGHTS_SQUARED] > 0.0:
        weight *= weight / forest.leaf_weight[leaf, WEIGHTS_SQUARED]
    span = math.log(max(2, forest.node[node, CLASSES])) / LOG_2
    bound = math.sqrt(span * span * settings.log_inverse_delta / (2.0 * weight))
    return found[BEST] - found[SECOND] > bound or bound < settings.tie_threshold


@inlined
def _change_of_entropy(forest: Forest, leaf: int, before: float, branches: Floats) -> float:
    """Return by how much the entropy before a split exceeds that of what the leaf has seen; infinite if that varies."""
    if forest.leaf[leaf, MET_MISSING] != 0:
        return np.inf
    for c in range(branches.shape[1]):
        branches[0, c] = forest.leaf_class[leaf, c, SEEN]
    return before - entropy(branches, 0)


@inlined
def _consider_binary(forest: Forest, leaf: int, before: float, change: float, branches: Floats, found: Floats) -> None:
    keys, stat, kinds, seen = forest.presence.key, forest.presence.stat, forest.kind, forest.leaf_class[leaf]
    start, complete = forest.leaf[leaf, PRESENCE_START], forest.leaf[leaf, MET_MISSING] == 0
    for entry in range(start, start + forest.leaf[leaf, PRESENCE_USED]):
        feature = keys[entry] & FEATURE_MASK
        if kinds[feature] != 2 or keys[entry] >> VALUE_SHIFT == MISSING_VALUE:
            continue
        for c in range(branches.shape[1]):
            known = seen[c, SEEN] if complete else seen[c, SEEN] - missing_weight(forest, leaf, feature, c)
            branches[0, c], branches[1, c] = known - stat[entry, c, 0], stat[entry, c, 0]
        if not cannot_exceed(found[SECOND], change, branches):
            _consider(found, merit(before, branches, 2), feature, MULTIWAY_TEST, np.nan)


@inlined
def _consider(found: Floats, gain: float, feature: int, test: int, value: float) -> None:
    if gain > found[BEST] or (gain == found[BEST] and feature > found[BEST_FEATURE]):
        found[SECOND] = found[BEST]
        found[BEST] = gain
        found[BEST_FEATURE] = feature
        found[BEST_TEST] = test
        found[BEST_VALUE] = value
    elif gain > found[SECOND]:
        found[SECOND] = gain


@subkernel
def _consider_nominal(forest: Forest, leaf: int, feature: int, before: float, space: Space) -> None:
    """Consider the multiway test, or a test for one value where that is strictly better."""
    n_values = nominal_branches(forest, leaf, feature, -1, space)
    best = merit(before, space.branches, n_values)
    test, value = MULTIWAY_TEST, np.nan
    for v in range(n_values):
        nominal_branches(forest, leaf, feature, v, space)
        gain = merit(before, space.branches, 2)
        if gain > best:
            best, test, value = gain, EQUALS_TEST, float(v)
    if best > -np.inf:
        _consider(space.found, best, feature, test, value)


@subkernel
def _consider_numeric(
    forest: Forest, split_points: int, leaf: int, entry: int, before: float, change: float, space: Space
) -> None:
    summary, branches, least = space.summary, space.branches, space.found[SECOND]
    low, high = summarise(forest, leaf, entry, summary)
    step = (high - low) / (split_points + 1.0)
    best, best_threshold = -np.inf, np.nan
    for i in range(split_points):
        threshold = step * (i + 1) + low
        if low < threshold < high:
            if about_beside(summary, threshold, branches) and cannot_exceed(least, change, branches):
                continue
            numeric_branches(summary, threshold, branches)
            gain = merit(before, branches, 2)
            if gain > best:
                best, best_threshold = gain, threshold
    if best > -np.inf:
        _consider(space.found, best, forest.numeric.key[entry], NUMERIC_TEST, best_threshold)


@subkernel
def new_leaf(forest: Forest, tree: int, node: int, level: int) -> None:
    """Turn a free node into an empty leaf."""
    leaf = allocate(forest.leaf_free, forest.leaf_top, forest.leaf_link, 0)
    forest.node[node, STATE] = IS_LEAF
    forest.node[node, LEAF] = leaf
    forest.node[node, LEVEL] = level
    forest.tree[tree, LEAVES] += 1
    forest.tree[tree, DEPTH] = max(forest.tree[tree, DEPTH], level)


@subkernel
def drop_leaf(forest: Forest, leaf: int) -> None:
    """Clear a leaf's statistics and give them back."""
    row = forest.leaf[leaf]
    free_block(forest.presence, row[PRESENCE_START], row[PRESENCE_ORDER] - 1)
    free_block(forest.numeric, row[NUMERIC_START], row[NUMERIC_ORDER] - 1)
    for column in range(len(row)):
        row[column] = 0
    for column in range(forest.leaf_weight.shape[1]):
        forest.leaf_weight[leaf, column] = 0.0
    for c in range(forest.leaf_class.shape[1]):
        for column in range(forest.leaf_class.shape[2]):
            forest.leaf_class[leaf, c, column] = 0.0
        for column in range(forest.leaf_list.shape[2]):
            forest.leaf_list[leaf, c, column] = 0
    release(forest.leaf_free, forest.leaf_link, leaf, 0)


@subkernel
def _fill_branches(forest: Forest, leaf: int, feature: int, test: int, value: float, space: Space) -> int:
    """Leave the class counts of a test's branches in `space`; return how many branches there are."""
    if test == EQUALS_TEST:
        nominal_branches(forest, leaf, feature, int(value), space)
        return 2
    if test != NUMERIC_TEST:
        return nominal_branches(forest, leaf, feature, -1, space)
    summary, lengths = space.summary, space.lengths
    entry = forest.leaf[leaf, NUMERIC_START]
    while forest.numeric.key[entry] != feature:
        entry += 1
    summarise(forest, leaf, entry, summary)
    numeric_branches(summary, value, space.branches)
    lengths[0] = lengths[1] = 0
    for c in range(len(summary)):
        if summary[c, 0] > 0.0 and value >= summary[c, 1]:
            lengths[0] = c + 1
        if summary[c, 0] > 0.0 and value < summary[c, 2]:
            lengths[1] = c + 1
    return 2


@subkernel
def split(forest: Forest, settings: Settings, tree: int, node: int, space: Space) -> None:
    """Replace a leaf by the chosen test; the children begin with the estimated class counts of their branches.

    If leaves inherit, they begin with as much of all else the leaf knew.
    """
    leaf, branches, lengths = forest.node[node, LEAF], space.branches, space.lengths
    found = space.found
    feature, test, value = int(found[BEST_FEATURE]), int(found[BEST_TEST]), found[BEST_VALUE]
    n_branches = _fill_branches(forest, leaf, feature, test, value, space)
    squared = forest.leaf_weight[leaf, WEIGHTS_SQUARED]
    weight = row_sum(forest.node_count, node)
    if not forest.inherit:
        drop_leaf(forest, leaf)
    first = allocate(forest.node_free, forest.node_top, forest.node_link, order_for(n_branches))
    row = forest.node[node]
    level = row[LEVEL]
    row[STATE] = IS_SPLIT
    row[FEATURE] = feature
    row[TEST] = test
    row[CHILDREN] = first
    row[BRANCHES] = n_branches
    row[LEAF] = 0
    forest.node_value[node] = value
    forest.tree[tree, SPLITS] += 1
    forest.tree[tree, LEAVES] -= 1
    heaviest, heaviest_weight = 0, 0.0
    for b in range(n_branches):
        child = first + b
        new_leaf(forest, tree, child, level + 1)
        forest.node[child, CLASSES] = lengths[b]
        total = 0.0
        for c in range(branches.shape[1]):
            forest.node_count[child, c] = branches[b, c]
            total += branches[b, c]
        own = forest.node[child, LEAF]
        forest.leaf_weight[own, LAST_ATTEMPT] = total
        forest.leaf_weight[own, WEIGHTS_SQUARED] = squared * (total / weight) if weight > 0.0 else 0.0
        if forest.inherit:
            hand_down(forest, settings.variance_floor, leaf, own, b, n_branches, feature, test, value, space)
        if total > heaviest_weight or b == 0:
            heaviest, heaviest_weight = b, total
    row[HEAVIEST] = heaviest
    if forest.inherit:
        drop_leaf(forest, leaf)


@subkernel
def clear_node(forest: Forest, node: int) -> None:
    """Make a node as good as new: absent."""
    for column in range(forest.node.shape[1]):
        forest.node[node, column] = 0
    forest.node_value[node] = 0.0
    for c in range(forest.node_count.shape[1]):
        forest.node_count[node, c] = 0.0


@subkernel
def move_node(forest: Forest, node: int, target: int) -> None:
    """Put a node elsewhere and clear its old place."""
    for column in range(forest.node.shape[1]):
        forest.node[target, column] = forest.node[node, column]
    forest.node_value[target] = forest.node_value[node]
    for c in range(forest.node_count.shape[1]):
        forest.node_count[target, c] = forest.node_count[node, c]
    clear_node(forest, node)
