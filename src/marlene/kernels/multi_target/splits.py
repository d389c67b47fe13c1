"""When and on what a leaf of a multi-target tree splits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.multi_target.state import (
    CHILDREN,
    COUNT,
    HIGH,
    INPUT,
    LAST_ATTEMPT,
    LEAF,
    LOW,
    MEAN_ERROR,
    MEAN_SUM,
    MEAN_WEIGHT,
    MOMENT_SQUARES,
    MOMENT_SUM,
    NORM,
    NUMBERS,
    OWN_SUM,
    PERCEPTRON_ERROR,
    PRACTICE,
    SEEN,
    SQUARES,
    SUM,
)

if TYPE_CHECKING:
    from marlene.kernels.multi_target.state import MultiTargetSettings, TargetTrees

LEAST_SHARE = 0.01
SQRT_HALF = math.sqrt(0.5)


@inlined
def _share_below(threshold: float, weight: float, total: float, squares: float) -> float:
    """Return the weight at most a threshold of a Gaussian with these sums."""
    if weight <= 0.0:
        return 0.0
    mean = total / weight
    variance = squares / weight - mean * mean
    if variance <= 0.0 or not variance < np.inf:
        return weight if mean <= threshold else 0.0
    return weight * 0.5 * math.erfc(-(threshold - mean) / math.sqrt(variance) * SQRT_HALF)


@inlined
def below(tree: TargetTrees, leaf: int, i: int, t: int, threshold: float) -> tuple[float, float]:
    """Return the weight of all examples with a target whose input is at most a threshold, and of those where it is 1.

    Exact where the input was 0 and 1 only; otherwise estimated from a Gaussian for either value of the target.
    """
    seen, ones = tree.leaf[leaf, SEEN], tree.leaf_target[leaf, t, OWN_SUM]
    of_input = tree.leaf_input[leaf, i]
    if of_input[NUMBERS] == 0.0:
        return seen - of_input[COUNT], ones - tree.leaf_cross[leaf, i, t]
    moment = tree.leaf_moment[leaf, tree.place[i], t]
    of_ones = _share_below(threshold, ones, moment[MOMENT_SUM], moment[MOMENT_SQUARES])
    of_zeros = _share_below(
        threshold, seen - ones, of_input[SUM] - moment[MOMENT_SUM], of_input[SQUARES] - moment[MOMENT_SQUARES]
    )
    return of_ones + of_zeros, of_ones


@inlined
def _spread(weight: float, ones: float) -> float:
    """Return the weight times the variance of a target that is 1 so often."""
    return ones * (weight - ones) / weight if weight > 0.0 else 0.0


@subkernel
def merit(tree: TargetTrees, leaf: int, i: int, threshold: float) -> float:
    """Return by how much a test lowers the variance within the targets, on average; 0 if it sets too little apart."""
    seen = tree.leaf[leaf, SEEN]
    n_targets = tree.leaf_target.shape[1]
    total = 0.0
    least = np.inf
    for t in range(n_targets):
        weight, ones = below(tree, leaf, i, t, threshold)
        least = min(least, weight, seen - weight)
        all_ones = tree.leaf_target[leaf, t, OWN_SUM]
        before = _spread(seen, all_ones)
        if before > 0.0:
            total += 1.0 - (_spread(weight, ones) + _spread(seen - weight, all_ones - ones)) / before
    return total / n_targets if least > LEAST_SHARE * seen else 0.0


@subkernel
def _best_threshold(tree: TargetTrees, leaf: int, i: int, split_points: int) -> tuple[float, float]:
    """Return the merit of an input's best test, and its threshold."""
    of_input = tree.leaf_input[leaf, i]
    low, high, points = 0.0, 1.0, 1
    if of_input[NUMBERS] != 0.0:
        low, high, points = of_input[LOW], of_input[HIGH], split_points
        if of_input[COUNT] < tree.leaf[leaf, SEEN]:
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
    """Return input and threshold to split on; -1 if it is too early to tell."""
    best, second, best_input, best_threshold = 0.0, 0.0, -1, 0.0
    for i in range(len(tree.place)):
        if tree.leaf_input[leaf, i, COUNT] == 0.0:
            continue
        gain, threshold = _best_threshold(tree, leaf, i, settings.split_points)
        if gain > best:
            best, second, best_input, best_threshold = gain, best, i, threshold
        elif gain > second:
            second = gain
    if best_input < 0:
        return -1, 0.0
    bound = math.sqrt(settings.log_inverse_delta / (2.0 * tree.leaf[leaf, SEEN]))
    if second / best < 1.0 - bound or bound < settings.tie_threshold:
        return best_input, best_threshold
    return -1, 0.0


@subkernel
def split(tree: TargetTrees, node: int, i: int, threshold: float) -> None:
    """Replace a leaf by a test; both children inherit the perceptron, and the mean that is estimated for them."""
    left_leaf, right_leaf = tree.node[node, LEAF], tree.top[1]
    first = tree.top[0]
    tree.top[0] += 2
    tree.top[1] += 1
    tree.node[node, INPUT], tree.node[node, CHILDREN], tree.node[node, LEAF] = i, first, 0
    tree.node_value[node] = threshold
    tree.node[first, INPUT], tree.node[first, LEAF] = -1, left_leaf
    tree.node[first + 1, INPUT], tree.node[first + 1, LEAF] = -1, right_leaf
    seen = tree.leaf[left_leaf, SEEN]
    for t in range(tree.leaf_target.shape[1]):
        left, right = tree.leaf_target[left_leaf, t], tree.leaf_target[right_leaf, t]
        weight, ones = below(tree, left_leaf, i, t, threshold)
        right[MEAN_WEIGHT], right[MEAN_SUM] = seen - weight, left[OWN_SUM] - ones
        left[MEAN_WEIGHT], left[MEAN_SUM], left[OWN_SUM] = weight, ones, 0.0
        for column in (MEAN_ERROR, PERCEPTRON_ERROR, NORM):
            right[column] = left[column]
    tree.leaf[right_leaf, PRACTICE] = tree.leaf[left_leaf, PRACTICE]
    tree.leaf[left_leaf, SEEN] = 0.0
    tree.leaf[left_leaf, LAST_ATTEMPT] = 0.0
    weights = tree.leaf_weight
    for row in range(weights.shape[1]):
        for t in range(weights.shape[2]):
            weights[right_leaf, row, t] = weights[left_leaf, row, t]
    tree.leaf_input[left_leaf, :, :] = 0.0
    tree.leaf_cross[left_leaf, :, :] = 0.0
    tree.leaf_moment[left_leaf, :, :, :] = 0.0
