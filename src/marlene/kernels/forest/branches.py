"""What the branches of a split would hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.forest.leaves import value_count
from marlene.kernels.forest.observers import difference, gaussian, missing_weight
from marlene.kernels.forest.state import HIGH, LOW, SEEN, WEIGHT

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.forest.state import Forest

SQRT_2_PI = math.sqrt(2.0 * math.pi)
SQRT_HALF = math.sqrt(0.5)
SUMMARY_COLUMNS = 5
CERTAIN = 1e-6  # with less variance a density may be large enough for its rounding to matter


class Space(NamedTuple):
    """Arrays to work in.

    Attributes
    ----------
    branches, lengths
        Class counts of every branch of a split, and one more than the largest class ever counted in it.
    summary
        Weight, least and greatest value, mean and variance of a numeric feature, per class.
    found
        Best and second-best gain; feature, sort of test and value of the best.
    votes
        Votes per class.
    places, counts
        An entry of a leaf's table for every value of an example, and what is counted there.
    """

    branches: Floats
    lengths: Ints
    summary: Floats
    found: Floats
    votes: Floats
    places: Ints
    counts: Floats


@kernel
def new_space(widest: int, n_classes: int, n_features: int) -> Space:
    """Return arrays to work in, for splits of up to `widest` branches and examples of up to `n_features` values."""
    return Space(
        np.empty((widest, n_classes)),
        np.zeros(widest, np.int64),
        np.empty((n_classes, SUMMARY_COLUMNS)),
        np.empty(5),
        np.zeros(n_classes),
        np.empty(n_features, np.int64),
        np.empty(n_features),
    )


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
def summarise(forest: Forest, leaf: int, entry: int, summary: Floats) -> tuple[float, float]:
    """Write weight, least and greatest value, mean and variance of a feature within each class; return its range."""
    stat = forest.numeric.stat
    low, high = np.inf, -np.inf
    for c in range(len(summary)):
        seen = forest.leaf_class[leaf, c, SEEN] - missing_weight(forest, leaf, forest.numeric.key[entry], c)
        least = stat[entry, c, LOW]
        greatest = stat[entry, c, HIGH]
        if difference(seen, stat[entry, c, WEIGHT]) > 0.0:
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
    less = normal_cdf(distance / deviation) * weight - equal
    return less + equal, max(0.0, weight - equal - less)


@inlined
def normal_cdf(z: float) -> float:
    """Return how likely a standard normal number is at most z."""
    x = z * SQRT_HALF
    if abs(x) < SQRT_HALF:
        return 0.5 + 0.5 * math.erf(x)
    tail = 0.5 * math.erfc(abs(x))
    return 1.0 - tail if x > 0.0 else tail
