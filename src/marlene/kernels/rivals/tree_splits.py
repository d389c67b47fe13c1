"""When and on what a leaf of MLHAT splits: by the entropy of its labels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.rivals.tree_leaves import binary_entropy, entropy_of
from marlene.kernels.rivals.tree_state import (
    LAST,
    SETS,
    SQUARES,
    SUM,
    TIMES,
    WEIGHT,
    AdaptiveTree,
    TreeSettings,
)

if TYPE_CHECKING:
    from marlene._common.arrays import Floats

LEAST_SHARE = 0.01
"""The share of the weight that each branch of a split must have."""
GAIN, SECOND, ON, AT = range(4)
"""The gain of the best test and of the best one on another input, 0 if there is none; what it asks for."""


@inlined
def _below(times: float, total: float, squares: float, threshold: float) -> float:
    """Return how much of a weight lies at or below a threshold if values are normally distributed."""
    if times <= 0.0:
        return 0.0
    mean = total / times
    variance = squares / times - mean * mean
    if variance <= 1e-12 * (1.0 + mean * mean):
        return times if mean <= threshold else 0.0
    return times * 0.5 * (1.0 + math.erf((threshold - mean) / math.sqrt(2.0 * variance)))


@subkernel
def _gain(tree: AdaptiveTree, leaf: int, i: int, threshold: float, before: float) -> float:
    """Return by how much a test lowers the entropy; -inf if one branch would get almost nothing."""
    weight, everything = tree.leaf[leaf, WEIGHT], tree.label.shape[1]
    moment, numeric = tree.moment[leaf, i], tree.numeric[i] >= 0
    times = moment[everything, TIMES]
    left = (
        _below(weight, moment[everything, SUM], moment[everything, SQUARES], threshold) if numeric else weight - times
    )
    right = weight - left
    if min(left, right) <= LEAST_SHARE * weight:
        return -np.inf
    after = 0.0
    for label in range(everything):
        total, seen = tree.label[leaf, label], moment[label]
        low = _below(total, seen[SUM], seen[SQUARES], threshold) if numeric else total - seen[TIMES]
        after += left * binary_entropy(low / left) + right * binary_entropy((total - low) / right)
    return float(before - after / weight)


@subkernel
def _find_test(tree: AdaptiveTree, settings: TreeSettings, leaf: int, found: Floats) -> None:
    """Write the best test, and the gain of the best one on another input; no test at all gains 0."""
    found[GAIN], found[SECOND], found[ON], found[AT] = 0.0, 0.0, -1.0, 0.0
    weight, before, everything = tree.leaf[leaf, WEIGHT], entropy_of(tree, leaf), tree.label.shape[1]
    for i in range(tree.moment.shape[1]):
        times = tree.moment[leaf, i, everything, TIMES]
        if times <= 0.0:
            continue
        best, at = -np.inf, 0.5
        if tree.numeric[i] >= 0:
            low, high = tree.bound[leaf, i, 0], tree.bound[leaf, i, 1]
            if times < weight:
                low, high = min(low, 0.0), max(high, 0.0)
            for step in range(1, settings.split_points + 1):
                threshold = low + (high - low) * step / (settings.split_points + 1)
                gain = _gain(tree, leaf, i, threshold, before)
                if gain > best:
                    best, at = gain, threshold
        else:
            best = _gain(tree, leaf, i, at, before)
        if best > found[GAIN]:
            found[SECOND] = found[GAIN]
            found[GAIN], found[ON], found[AT] = best, i, at
        elif best > found[SECOND]:
            found[SECOND] = best


@subkernel
def should_split(tree: AdaptiveTree, settings: TreeSettings, leaf: int, found: Floats) -> bool:
    """Tell whether a leaf splits now, and write on what."""
    weight = tree.leaf[leaf, WEIGHT]
    if weight - tree.leaf[leaf, LAST] < settings.grace_period or tree.counts[leaf, SETS] <= 1:
        return False
    tree.leaf[leaf, LAST] = weight
    _find_test(tree, settings, leaf, found)
    if found[ON] < 0:
        return False
    spread = math.log2(max(2.0, tree.counts[leaf, SETS]))
    bound = math.sqrt(spread * spread * settings.log_of_delta / (2.0 * weight))
    return found[GAIN] - found[SECOND] > bound or bound < settings.tie_threshold
