"""When and on what a leaf splits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.forest_state import (
    BRANCHES,
    CHILDREN,
    CLASSES,
    DEPTH,
    EQUALS_TEST,
    FEATURE,
    HEAVIEST,
    HIGH,
    IS_LEAF,
    IS_SPLIT,
    LAST_ATTEMPT,
    LEAF,
    LEAVES,
    LEVEL,
    LOW,
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
    WEIGHT,
)
from marlene.kernels.gains import LOG_2, cannot_exceed, entropy, merit, row_sum
from marlene.kernels.leaves import value_count
from marlene.kernels.observers import gaussian, missing_weight
from marlene.kernels.tables import allocate, free_block, order_for, release

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene.kernels.forest_state import Floats, Forest, Settings

SQRT_2_PI = math.sqrt(2.0 * math.pi)
SQRT_HALF = math.sqrt(0.5)
SUMMARY_COLUMNS = 5
CERTAIN = 1e-6  # with less variance a density may be large enough for its rounding to matter
BEST, SECOND, BEST_FEATURE, BEST_TEST, BEST_VALUE = range(5)
FEATURE_MASK = (1 << VALUE_SHIFT) - 1


class Space(NamedTuple):
    """Arrays to work in.

    Attributes
    ----------
    scores
        Two rows of numbers per class.
    branches, lengths
        Class counts of every branch of a split, and one more than the largest class ever counted in it.
    summary
        Weight, least and greatest value, mean and variance of a numeric feature, per class.
    found
        Best and second-best gain; feature, sort of test and value of the best.
    votes
        Votes per class.
    """

    scores: npt.NDArray[np.float64]
    branches: npt.NDArray[np.float64]
    lengths: npt.NDArray[np.int64]
    summary: npt.NDArray[np.float64]
    found: npt.NDArray[np.float64]
    votes: npt.NDArray[np.float64]


@kernel
def new_space(widest: int, n_classes: int) -> Space:
    """Return arrays to work in, for splits of up to `widest` branches."""
    return Space(
        np.empty((2, n_classes)),
        np.empty((widest, n_classes)),
        np.zeros(widest, np.int64),
        np.empty((n_classes, SUMMARY_COLUMNS)),
        np.empty(5),
        np.zeros(n_classes),
    )


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
def nominal_branches(forest: Forest, leaf: int, feature: int, value: int, space: Space) -> int:
    """Fill in the class counts of a split on a nominal feature; return the number of values met at the leaf.

    With `value` -1 there is a branch for every value met, otherwise one for that value and one for the others.
    """
    n_values = 0
    branches, lengths = space.branches, space.lengths
    for b in range(len(branches)):
        lengths[b] = 0
        for c in range(branches.shape[1]):
            branches[b, c] = 0.0
    for c in range(branches.shape[1]):
        seen = forest.leaf_class[leaf, c, SEEN] - missing_weight(forest, leaf, feature, c)
        if seen == 0.0:
            continue
        highest = value_count(forest, leaf, feature, 0, c, seen)[1]
        n_values = max(n_values, highest + 1)
        for v in range(highest + 1):
            branch = v if value < 0 else int(v != value)
            branches[branch, c] += value_count(forest, leaf, feature, v, c, seen)[0]
            lengths[branch] = c + 1
    return n_values


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
def summarise(forest: Forest, leaf: int, entry: int, summary: Floats) -> tuple[float, float]:
    """Write weight, least and greatest value, mean and variance of a feature within each class; return its range."""
    stat = forest.numeric.stat
    low, high = np.inf, -np.inf
    for c in range(len(summary)):
        seen = forest.leaf_class[leaf, c, SEEN] - missing_weight(forest, leaf, forest.numeric.key[entry], c)
        least = stat[entry, c, LOW]
        greatest = stat[entry, c, HIGH]
        if seen > stat[entry, c, WEIGHT]:
            least, greatest = min(0.0, least), max(0.0, greatest)
        mean, variance = gaussian(stat, entry, c, seen) if seen > 0.0 else (0.0, 0.0)
        summary[c, 0] = seen
        summary[c, 1] = least
        summary[c, 2] = greatest
        summary[c, 3] = mean
        summary[c, 4] = variance
        if seen > 0.0:
            low = min(low, least)
            high = max(high, greatest)
    return low, high


@inlined
def numeric_branches(summary: Floats, threshold: float, branches: Floats) -> None:
    """Fill in the class counts at most and above a threshold, estimated from the Gaussians."""
    for c in range(len(summary)):
        seen = summary[c, 0]
        if seen == 0.0 or threshold < summary[c, 1]:
            branches[0, c], branches[1, c] = 0.0, seen
        elif threshold >= summary[c, 2]:
            branches[0, c], branches[1, c] = seen, 0.0
        else:
            branches[0, c], branches[1, c] = _weights_beside(threshold, summary[c, 3], summary[c, 4], seen)


@inlined
def about_beside(summary: Floats, threshold: float, branches: Floats) -> bool:
    """Do the same up to rounding, and faster; return whether that is close enough."""
    close = True
    for c in range(len(summary)):
        seen, variance = summary[c, 0], summary[c, 4]
        below = 0.0
        if threshold >= summary[c, 2]:
            below = seen
        elif threshold >= summary[c, 1] and seen > 0.0:
            close = close and variance > CERTAIN
            below = seen * (0.5 + 0.5 * math.erf((threshold - summary[c, 3]) / math.sqrt(2.0 * variance)))
        branches[0, c], branches[1, c] = below, seen - below
    return close


@inlined
def _weights_beside(threshold: float, mean: float, variance: float, weight: float) -> tuple[float, float]:
    if variance <= 0.0:
        return (weight, 0.0) if threshold <= mean else (0.0, weight)
    deviation = math.sqrt(variance)
    distance = threshold - mean
    density = (1.0 / (SQRT_2_PI * deviation)) * math.exp(-(distance * distance / (2.0 * deviation * deviation)))
    equal = density * weight
    less = _normal_cdf(distance / deviation) * weight - equal
    return less + equal, max(0.0, weight - equal - less)


@inlined
def _normal_cdf(z: float) -> float:
    x = z * SQRT_HALF
    if abs(x) < SQRT_HALF:
        return 0.5 + 0.5 * math.erf(x)
    tail = 0.5 * math.erfc(abs(x))
    return 1.0 - tail if x > 0.0 else tail


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
def split(forest: Forest, tree: int, node: int, space: Space) -> None:
    """Replace a leaf by the chosen test; the children begin with the estimated class counts of their branches."""
    leaf = forest.node[node, LEAF]
    found, branches, lengths = space.found, space.branches, space.lengths
    feature, test, value = int(found[BEST_FEATURE]), int(found[BEST_TEST]), found[BEST_VALUE]
    n_branches = 2
    if test == NUMERIC_TEST:
        start = forest.leaf[leaf, NUMERIC_START]
        entry = start
        while forest.numeric.key[entry] != feature:
            entry += 1
        summary = space.summary
        summarise(forest, leaf, entry, summary)
        numeric_branches(summary, value, branches)
        lengths[0] = lengths[1] = 0
        for c in range(len(summary)):
            if summary[c, 0] > 0.0 and value >= summary[c, 1]:
                lengths[0] = c + 1
            if summary[c, 0] > 0.0 and value < summary[c, 2]:
                lengths[1] = c + 1
    elif test == EQUALS_TEST:
        nominal_branches(forest, leaf, feature, int(value), space)
    else:
        n_branches = nominal_branches(forest, leaf, feature, -1, space)
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
        forest.leaf_weight[forest.node[child, LEAF], LAST_ATTEMPT] = total
        if total > heaviest_weight or b == 0:
            heaviest, heaviest_weight = b, total
    row[HEAVIEST] = heaviest


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
