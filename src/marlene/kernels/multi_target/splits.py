"""When and on what a leaf of a multi-target tree splits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.multi_target import state as layout

if TYPE_CHECKING:
    from marlene.kernels.multi_target.state import MultiTargetSettings, TargetTrees

LEAST_SHARE = 0.01
SQRT_HALF = math.sqrt(0.5)


@inlined
def _share_below(threshold: float, weight: float, total: float, squares: float) -> float:
    """Return weight · Φ((threshold - mean) / deviation), the weight at most a threshold, of a Gaussian by its sums."""
    if weight <= 0.0:
        return 0.0
    mean = total / weight
    variance = squares / weight - mean * mean
    if variance <= 0.0 or not variance < np.inf:
        return weight if mean <= threshold else 0.0
    return weight * 0.5 * math.erfc(-(threshold - mean) / math.sqrt(variance) * SQRT_HALF)


@inlined
def below(tree: TargetTrees, leaf: int, i: int, t: int, threshold: float) -> tuple[float, float]:
    """Return the weight of the examples whose input is at most a threshold, and of those of them whose target is 1.

    Exact for inputs that were always 0 or 1; otherwise estimated by one Gaussian for each value of the target.
    """
    seen, ones = tree.leaf[leaf, layout.SEEN], tree.leaf_target[leaf, t, layout.OWN_SUM]
    of_input = tree.leaf_input[leaf, i]
    if of_input[layout.NUMBERS] == 0.0:
        return seen - of_input[layout.COUNT], ones - tree.leaf_cross[leaf, i, t]
    moment = tree.leaf_moment[leaf, tree.place[i], t]
    of_ones = _share_below(threshold, ones, moment[layout.MOMENT_SUM], moment[layout.MOMENT_SQUARES])
    total = of_input[layout.SUM] - moment[layout.MOMENT_SUM]
    squares = of_input[layout.SQUARES] - moment[layout.MOMENT_SQUARES]
    of_zeros = _share_below(threshold, seen - ones, total, squares)
    return of_ones + of_zeros, of_ones


@inlined
def _spread(weight: float, ones: float) -> float:
    """Return weight times variance, n p (1 - p), of a target that is 1 with weight `ones`."""
    return ones * (weight - ones) / weight if weight > 0.0 else 0.0


@subkernel
def merit(tree: TargetTrees, leaf: int, i: int, threshold: float) -> float:
    """Return the relative reduction of the targets' variance by a test, averaged over targets.

    Reduction = 1 - (n_left var_left + n_right var_right) / (n var); 0 if a side has at most 1 % of the weight.
    """
    seen = tree.leaf[leaf, layout.SEEN]
    n_targets = tree.leaf_target.shape[1]
    total = 0.0
    least = np.inf
    for t in range(n_targets):
        weight, ones = below(tree, leaf, i, t, threshold)
        least = min(least, weight, seen - weight)
        all_ones = tree.leaf_target[leaf, t, layout.OWN_SUM]
        before = _spread(seen, all_ones)
        if before > 0.0:
            total += 1.0 - (_spread(weight, ones) + _spread(seen - weight, all_ones - ones)) / before
    return total / n_targets if least > LEAST_SHARE * seen else 0.0


@subkernel
def _best_threshold(tree: TargetTrees, leaf: int, i: int, split_points: int) -> tuple[float, float]:
    """Return the best merit of evenly spaced thresholds of an input, and its threshold."""
    of_input = tree.leaf_input[leaf, i]
    low, high, points = 0.0, 1.0, 1
    if of_input[layout.NUMBERS] != 0.0:
        low, high, points = of_input[layout.LOW], of_input[layout.HIGH], split_points
        if of_input[layout.COUNT] < tree.leaf[leaf, layout.SEEN]:
            low, high = min(0.0, low), max(0.0, high)
    best, threshold = 0.0, 0.0
    for point in range(points):
        at = low + (high - low) * (point + 1) / (points + 1)
        gain = merit(tree, leaf, i, at)
        if gain > best:
            best, threshold = gain, at
    return best, threshold


@subkernel
def choose(tree: TargetTrees, settings: MultiTargetSettings, leaf: int) -> tuple[int, float]:
    """Return input and threshold to split on; -1 if it is too early to tell.

    Split if the ratio of the second-best to the best merit is below 1 - ε, with the Hoeffding bound
    ε = sqrt(ln(1 / δ) / (2 n)), or if ε is below the tie threshold.
    """
    best, second, best_input, best_threshold = 0.0, 0.0, -1, 0.0
    for i in range(len(tree.place)):
        if tree.leaf_input[leaf, i, layout.COUNT] == 0.0:
            continue
        gain, threshold = _best_threshold(tree, leaf, i, settings.split_points)
        if gain > best:
            best, second, best_input, best_threshold = gain, best, i, threshold
        elif gain > second:
            second = gain
    if best_input < 0:
        return -1, 0.0
    bound = math.sqrt(settings.log_inverse_delta / (2.0 * tree.leaf[leaf, layout.SEEN]))
    if second / best < 1.0 - bound or bound < settings.tie_threshold:
        return best_input, best_threshold
    return -1, 0.0


@subkernel
def split(tree: TargetTrees, node: int, i: int, threshold: float) -> None:
    """Replace a leaf by a test.

    The left child takes the place of the leaf, the right child a new one. Both begin with the leaf's perceptron and
    faded errors, and with the mean of every target as estimated for their side; all other statistics are empty.
    """
    left_leaf, right_leaf = tree.node[node, layout.LEAF], tree.top[1]
    first = tree.top[0]
    tree.top[0] += 2
    tree.top[1] += 1
    tree.node[node, layout.INPUT], tree.node[node, layout.CHILDREN], tree.node[node, layout.LEAF] = i, first, 0
    tree.node_value[node] = threshold
    tree.node[first, layout.INPUT], tree.node[first, layout.LEAF] = -1, left_leaf
    tree.node[first + 1, layout.INPUT], tree.node[first + 1, layout.LEAF] = -1, right_leaf
    seen = tree.leaf[left_leaf, layout.SEEN]
    for t in range(tree.leaf_target.shape[1]):
        left, right = tree.leaf_target[left_leaf, t], tree.leaf_target[right_leaf, t]
        weight, ones = below(tree, left_leaf, i, t, threshold)
        right[layout.MEAN_WEIGHT], right[layout.MEAN_SUM] = seen - weight, left[layout.OWN_SUM] - ones
        left[layout.MEAN_WEIGHT], left[layout.MEAN_SUM], left[layout.OWN_SUM] = weight, ones, 0.0
        for column in (layout.MEAN_ERROR, layout.PERCEPTRON_ERROR, layout.NORM):
            right[column] = left[column]
    tree.leaf[right_leaf, layout.PRACTICE] = tree.leaf[left_leaf, layout.PRACTICE]
    tree.leaf[left_leaf, layout.SEEN] = 0.0
    tree.leaf[left_leaf, layout.LAST_ATTEMPT] = 0.0
    weights = tree.leaf_weight
    for row in range(weights.shape[1]):
        for t in range(weights.shape[2]):
            weights[right_leaf, row, t] = weights[left_leaf, row, t]
    tree.leaf_input[left_leaf, :, :] = 0.0
    tree.leaf_cross[left_leaf, :, :] = 0.0
    tree.leaf_moment[left_leaf, :, :, :] = 0.0
