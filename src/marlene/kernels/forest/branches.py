"""Class counts of the branches of a split: counted for nominal features, estimated by Gaussians for numeric ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.forest import state as layout
from marlene.kernels.forest.gaussians import LANES, gaussian
from marlene.kernels.forest.leaves import value_count
from marlene.kernels.forest.observers import difference, known_weight

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.forest.state import Forest

SQRT_2_PI = math.sqrt(2.0 * math.pi)
SQRT_HALF = math.sqrt(0.5)
# Columns of Space.summary, and their number.
SEEN, LEAST, GREATEST, MEAN, VARIANCE, SUMMARY_COLUMNS = range(6)
CERTAIN = 1e-6  # with less variance, the rounding of a large density may matter


class Space(NamedTuple):
    """Arrays to work in.

    Attributes
    ----------
    branches, lengths
        Class counts of every branch of a split, and one more than the largest class ever counted in it.
    summary
        Weight, least and greatest value, mean and variance of a numeric feature, per class.
    found
        Best and second-best gain; feature, type and value of the best test.
    votes
        Votes per class.
    places, counts
        For every value of an example, its place in a leaf's table and what is counted there.
    terms
        Numbers for every entry of a leaf's numeric table, in whole lanes.
    """

    branches: Floats
    lengths: Ints
    summary: Floats
    found: Floats
    votes: Floats
    places: Ints
    counts: Floats
    terms: Floats


def space_for(widest: int, n_classes: int, n_features: int) -> Space:
    """Return work arrays for splits of up to `widest` branches and examples of up to `n_features` values."""
    return Space(
        np.empty((widest, n_classes)),
        np.zeros(widest, np.int64),
        np.empty((n_classes, SUMMARY_COLUMNS)),
        np.empty(5),
        np.zeros(n_classes),
        np.empty(n_features, np.int64),
        np.empty(n_features),
        np.empty((2, n_features + LANES)),
    )


new_space = kernel(space_for)
"""The same for kernels. Not for Python: Numba does not expect an interrupt as it makes a tuple."""


@subkernel
def nominal_branches(forest: Forest, leaf: int, feature: int, value: int, space: Space) -> int:
    """Write the class counts of a split on a nominal feature; return the number of values met at the leaf.

    With `value` -1 there is a branch for every value met, otherwise one for that value and one for all others.
    """
    n_values = 0
    branches, lengths = space.branches, space.lengths
    lengths[:] = 0
    branches[:, :] = 0.0
    for c in range(branches.shape[1]):
        seen = known_weight(forest, leaf, feature, c)
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
    low, high = np.inf, -np.inf
    for c in range(len(summary)):
        planes, row = forest.numeric.planes[c], summary[c]
        seen = known_weight(forest, leaf, forest.numeric.key[entry], c)
        least, greatest = planes[layout.LOW, entry], planes[layout.HIGH, entry]
        if difference(seen, planes[layout.WEIGHT, entry]) > 0.0:  # some values were zero
            least, greatest = min(0.0, least), max(0.0, greatest)
        mean, variance = gaussian(planes, entry, seen) if seen > 0.0 else (0.0, 0.0)
        row[SEEN], row[LEAST], row[GREATEST], row[MEAN], row[VARIANCE] = seen, least, greatest, mean, variance
        if seen > 0.0:
            low = min(low, least)
            high = max(high, greatest)
    return low, high


@inlined
def numeric_branches(summary: Floats, threshold: float, branches: Floats) -> None:
    """Write the class counts at most and above a threshold: weight · Φ((threshold - mean) / deviation) and the rest."""
    for c in range(len(summary)):
        row = summary[c]
        seen = row[SEEN]
        if seen == 0.0 or threshold < row[LEAST]:
            branches[0, c], branches[1, c] = 0.0, seen
        elif threshold >= row[GREATEST]:
            branches[0, c], branches[1, c] = seen, 0.0
        else:
            branches[0, c], branches[1, c] = _weights_beside(threshold, row[MEAN], row[VARIANCE], seen)


@inlined
def are_spread(summary: Floats) -> bool:
    """Tell whether `about_beside` is close enough for all thresholds."""
    spread = True
    for c in range(len(summary)):
        spread = spread and (summary[c, SEEN] == 0.0 or summary[c, VARIANCE] > CERTAIN)
    return spread


@inlined
def about_beside(summary: Floats, threshold: float, branches: Floats) -> bool:
    """Do what `numeric_branches` does up to rounding, and faster; return whether that is close enough."""
    close = True
    for c in range(len(summary)):
        row = summary[c]
        seen, variance = row[SEEN], row[VARIANCE]
        below = 0.0
        if threshold >= row[GREATEST]:
            below = seen
        elif threshold >= row[LEAST] and seen > 0.0:
            close = close and variance > CERTAIN
            below = seen * (0.5 + 0.5 * math.erf((threshold - row[MEAN]) / math.sqrt(2.0 * variance)))
        branches[0, c], branches[1, c] = below, seen - below
    return close


@inlined
def _weights_beside(threshold: float, mean: float, variance: float, weight: float) -> tuple[float, float]:
    """Return the weights at most and above a threshold, in MOA's steps: less, equal and greater."""
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
    """Return Φ(z), the probability that a standard normal number is at most z."""
    x = z * SQRT_HALF
    if abs(x) < SQRT_HALF:
        return 0.5 + 0.5 * math.erf(x)
    tail = 0.5 * math.erfc(abs(x))
    return 1.0 - tail if x > 0.0 else tail


@subkernel
def fill_branches(forest: Forest, leaf: int, test: layout.SplitTest, space: Space) -> int:
    """Write the class counts of a test's branches to `space`; return the number of branches."""
    if test.type == layout.EQUALS_TEST:
        nominal_branches(forest, leaf, test.feature, int(test.value), space)
        return 2
    if test.type == layout.MULTIWAY_TEST:
        return nominal_branches(forest, leaf, test.feature, -1, space)
    summary, lengths = space.summary, space.lengths
    entry = forest.leaf[leaf, layout.NUMERIC_START]
    while forest.numeric.key[entry] != test.feature:
        entry += 1
    summarise(forest, leaf, entry, summary)
    numeric_branches(summary, test.value, space.branches)
    lengths[0] = lengths[1] = 0
    for c in range(len(summary)):
        if summary[c, SEEN] > 0.0 and test.value >= summary[c, LEAST]:
            lengths[0] = c + 1
        if summary[c, SEEN] > 0.0 and test.value < summary[c, GREATEST]:
            lengths[1] = c + 1
    return 2
