"""Java's Hoeffding trees over numeric features: MOA's, whose products over- and underflow, and WEKA's, whose do not.

Everything is dense and in the order of the features, because the order of the factors decides what a product becomes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints

GRACE, DELTA, TIE, POINTS, LEAST_PART = 200.0, 1e-7, 0.05, 10, 0.01
ROOT_OF_2_PI, ROOT_OF_HALF, LOG_2 = math.sqrt(2.0 * math.pi), math.sqrt(0.5), math.log(2.0)
PRECISION, LEAST_FACTOR, RESCUE = 0.01, 1e-75, 1e75
"""Of WEKA's naive Bayes: the width of an interval, the least factor, and by what small products are multiplied."""
LEAF = -1


class Trees(NamedTuple):
    """Trees, their nodes, and what leaves know; a leaf has a place, which its first child takes over.

    `length` is the highest class counted in a leaf, plus one. `seen` is the weight that a
    leaf itself has learnt of a class; `counts` include what it inherited. `zero` is the likelihood of 0.
    """

    root: Ints
    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    place: Ints
    counts: Floats
    length: Ints
    last: Floats
    majority: Floats
    bayes: Floats
    seen: Floats
    mean: Floats
    squares: Floats
    low: Floats
    high: Floats
    height: Floats
    spread: Floats
    zero: Floats
    used: Ints
    """Number of nodes and of places in use."""
    weka: bool
    """Whether leaves are WEKA's."""


def new_trees(trees: int, classes: int, features: int, *, weka: bool = False) -> Trees:
    """Return trees that have learnt nothing."""
    nodes = 2 * trees + 2
    per_class, per_value = (nodes, classes), (nodes, classes, features)
    shapes: dict[str, tuple[int, ...]] = {"counts": per_class, "seen": per_class}
    shapes |= dict.fromkeys(("mean", "squares", "low", "high", "height", "spread", "zero"), per_value)
    made: dict[str, Any] = {name: np.zeros(shapes.get(name, (nodes,))) for name in Trees._fields}
    made |= {name: np.full(nodes, LEAF, np.int64) for name in ("feature", "left", "right")}
    made |= {"place": np.arange(nodes), "length": np.zeros(nodes, np.int64), "used": np.array([trees, trees])}
    made |= {"root": np.arange(trees), "weka": weka}
    return Trees(**made)


KEPT = ("root", "used", "weka")


def with_room(trees: Trees) -> Trees:
    """Return the same trees in arrays that have room for half as many nodes again."""
    more = len(trees.feature) // 2 + 2
    grown: dict[str, Any] = {
        name: np.concatenate([array, np.zeros((more, *array.shape[1:]), array.dtype)])
        for name, array in trees._asdict().items()
        if name not in KEPT
    }
    grown["feature"][-more:] = LEAF
    return trees._replace(**grown)


@inlined
def has_room(trees: Trees, splits: int) -> bool:
    """Tell whether so many leaves can be split."""
    return bool(trees.used[0] + 2 * splits <= len(trees.feature))


@inlined
def log2(value: float) -> float:
    """Return the logarithm to base two as MOA computes it."""
    return math.log(value) / LOG_2


@subkernel
def find_leaf(trees: Trees, tree: int, x: Floats) -> int:
    """Return the node of the leaf of an example."""
    node = trees.root[tree]
    while trees.feature[node] != LEAF:
        node = trees.left[node] if x[trees.feature[node]] <= trees.threshold[node] else trees.right[node]
    return int(node)


@inlined
def density(height: float, spread: float, mean: float, value: float) -> float:
    """Return a normal density; without variance it is 1 at the mean and 0 elsewhere."""
    if height == 0.0:
        return 1.0 if value == mean else 0.0
    return height * math.exp(-((value - mean) * (value - mean) / spread))


@subkernel
def normal_cdf(z: float) -> float:
    """Return the standard normal distribution function, by erf near zero and by erfc in the tails."""
    x = z * ROOT_OF_HALF
    if abs(x) < ROOT_OF_HALF:
        return 0.5 + 0.5 * math.erf(x)
    tail = 0.5 * math.erfc(abs(x))
    return 1.0 - tail if x > 0.0 else tail


@subkernel
def interval(mean: float, squares: float, weight: float, value: float) -> float:
    """Return how likely a value is by WEKA's Gaussian: the mass of an interval around the rounded value."""
    deviation = math.sqrt(squares / weight) if squares > 0.0 else 0.0
    deviation = max(PRECISION / 6.0, deviation)
    distance = round(value / PRECISION) * PRECISION - mean
    mass = normal_cdf((distance + PRECISION / 2.0) / deviation) - normal_cdf((distance - PRECISION / 2.0) / deviation)
    return max(LEAST_FACTOR, mass)


@subkernel
def multiply_in_wekas_way(trees: Trees, place: int, x: Floats, products: Floats) -> None:
    """Write WEKA's product for every class: priors are smoothed, and products that become too small are enlarged."""
    classes = trees.seen.shape[1]
    total = 0.0
    for y in range(classes):
        total += trees.seen[place, y]
    for y in range(classes):
        products[y] = (trees.seen[place, y] + 1.0) / (total + classes)
    for f in range(len(x)):
        largest = 0.0
        for y in range(classes):
            if trees.seen[place, y] == 0.0:
                products[y] *= interval(0.0, 0.0, 1.0, x[f])
            elif x[f] == 0.0:
                products[y] *= trees.zero[place, y, f]
            else:
                squares, weight = trees.squares[place, y, f], trees.seen[place, y]
                products[y] *= interval(trees.mean[place, y, f], squares, weight, x[f])
            largest = max(largest, products[y])
        if 0.0 < largest < LEAST_FACTOR:
            for y in range(classes):
                products[y] *= RESCUE


@subkernel
def multiply(trees: Trees, place: int, x: Floats, products: Floats) -> None:
    """Write the product of prior and densities for every class that the leaf has counted."""
    if trees.weka:
        multiply_in_wekas_way(trees, place, x, products)
        return
    total = trained = 0.0
    for y in range(trees.length[place]):
        total += trees.counts[place, y]
    for y in range(trees.seen.shape[1]):
        trained += trees.seen[place, y]
    for y in range(trees.length[place]):
        product = trees.counts[place, y] / total
        if trained > 0.0:
            if trees.seen[place, y] == 0.0:
                product = 0.0
            height, spread, mean, zero = (
                trees.height[place, y], trees.spread[place, y], trees.mean[place, y], trees.zero[place, y],
            )  # fmt: skip
            for f in range(len(x)):
                if product == 0.0:
                    break
                product *= zero[f] if x[f] == 0.0 else density(height[f], spread[f], mean[f], x[f])
        products[y] = product


@subkernel
def raw_votes(trees: Trees, tree: int, x: Floats, votes: Floats) -> None:
    """Write the votes of a tree as MOA gives them: counts or products."""
    votes[:] = 0.0
    place = trees.place[find_leaf(trees, tree, x)]
    if trees.majority[place] > trees.bayes[place]:
        for y in range(trees.length[place]):
            votes[y] = trees.counts[place, y]
    elif trees.length[place] > 0:
        multiply(trees, place, x, votes)


@subkernel
def repair(votes: Floats) -> None:
    """Normalise two votes as the program does: by the reciprocal of the sum; what is no number becomes certain."""
    total = votes[0] + votes[1]
    if total > 0.0:
        votes[0] *= 1.0 / total
        votes[1] *= 1.0 / total
    else:
        votes[:] = 0.0
    if math.isnan(votes[0]):
        votes[0], votes[1] = 1.0, 0.0
    if math.isnan(votes[1]):
        votes[0], votes[1] = 0.0, 1.0


@inlined
def first_largest(values: Floats, length: int) -> int:
    """Return the place of the first maximum; -1 if there is none."""
    best = -1
    for i in range(length):
        if best < 0 or values[i] > values[best]:
            best = i
    return best


@subkernel
def learn(trees: Trees, tree: int, x: Floats, y: int, weight: float, scratch: Floats) -> None:
    """Learn one example with a weight; `scratch` has room for two rows of classes."""
    node = find_leaf(trees, tree, x)
    place = trees.place[node]
    products = scratch[0]
    multiply(trees, place, x, products)
    if first_largest(trees.counts[place], trees.length[place]) == y:
        trees.majority[place] += weight
    if max(0, first_largest(products, trees.seen.shape[1] if trees.weka else trees.length[place])) == y:
        trees.bayes[place] += weight
    trees.counts[place, y] += weight
    trees.length[place] = max(trees.length[place], y + 1)
    observe(trees, place, x, y, weight)
    total, classes = 0.0, 0
    for c in range(trees.length[place]):
        total += trees.counts[place, c]
        classes += trees.counts[place, c] != 0.0
    if total - trees.last[place] >= GRACE:
        if classes > 1:
            attempt_split(trees, node, total, scratch)
        if trees.feature[node] == LEAF:
            trees.last[place] = total


@subkernel
def observe(trees: Trees, place: int, x: Floats, y: int, weight: float) -> None:
    """Let the Gaussians of a class see an example."""
    mean, squares, low, high = trees.mean[place, y], trees.squares[place, y], trees.low[place, y], trees.high[place, y]
    height, spread, zero = trees.height[place, y], trees.spread[place, y], trees.zero[place, y]
    first = trees.seen[place, y] == 0.0
    trees.seen[place, y] += weight
    total = trees.seen[place, y]
    for f in range(len(x)):
        value = x[f]
        if first:
            mean[f] = low[f] = high[f] = value
            squares[f] = 0.0
        else:
            before = mean[f]
            low[f], high[f] = min(low[f], value), max(high[f], value)
            mean[f] += weight * (value - before) / total
            squares[f] += weight * (value - before) * (value - mean[f])
        deviation = math.sqrt(squares[f] / (total - 1.0)) if total > 1.0 and squares[f] > 0.0 else 0.0
        height[f] = 1.0 / (ROOT_OF_2_PI * deviation) if deviation > 0.0 else 0.0
        spread[f] = 2.0 * deviation * deviation
        if trees.weka:
            zero[f] = interval(mean[f], squares[f], total, 0.0)
        else:
            zero[f] = density(height[f], spread[f], mean[f], 0.0)


@subkernel
def divide(trees: Trees, place: int, f: int, threshold: float, left: Floats, right: Floats) -> None:
    """Write the estimated weight of every class at most and above a threshold."""
    left[:] = 0.0
    right[:] = 0.0
    for y in range(len(left)):
        weight, mean = trees.seen[place, y], trees.mean[place, y, f]
        if weight == 0.0:
            continue
        if threshold < trees.low[place, y, f]:
            right[y] = weight
        elif threshold >= trees.high[place, y, f]:
            left[y] = weight
        else:
            height, spread = trees.height[place, y, f], trees.spread[place, y, f]
            equal = density(height, spread, mean, threshold) * weight
            if height > 0.0:
                deviation = math.sqrt(trees.squares[place, y, f] / (weight - 1.0))
                less = normal_cdf((threshold - mean) / deviation) * weight - equal
            else:
                less = weight - equal if threshold < mean else 0.0
            left[y] = less + equal
            right[y] = max(0.0, weight - equal - less)


@subkernel
def entropy(counts: Floats) -> float:
    """Return the entropy of class counts in bits; counts that are not positive are left out."""
    negative = weight = 0.0
    for count in counts:
        if count > 0.0:
            negative -= count * log2(count)
            weight += count
    return (negative + weight * log2(weight)) / weight if weight > 0.0 else 0.0


@subkernel
def merit(before: float, left: Floats, right: Floats) -> float:
    """Return the information gain; -infinity unless both branches hold more than 1 % of the weight."""
    at_most = above = 0.0
    for y in range(len(left)):
        at_most += left[y]
        above += right[y]
    total = at_most + above
    if total <= 0.0 or at_most / total <= LEAST_PART or above / total <= LEAST_PART:
        return -np.inf
    return before - (at_most * entropy(left) + above * entropy(right)) / total


@subkernel
def best_threshold(trees: Trees, place: int, f: int, before: float, scratch: Floats) -> tuple[float, float]:
    """Return the merit and the place of the best test on a feature; NaN for the latter if it is constant."""
    left, right = scratch[0], scratch[1]
    low, high = np.inf, -np.inf
    for y in range(len(left)):
        if trees.seen[place, y] > 0.0:
            low, high = min(low, trees.low[place, y, f]), max(high, trees.high[place, y, f])
    step = (high - low) / (POINTS + 1.0)
    best, where = -np.inf, np.nan
    for i in range(POINTS):
        point = step * (i + 1) + low
        if low < point < high:
            divide(trees, place, f, point, left, right)
            gain = merit(before, left, right)
            if math.isnan(where) or gain > best:
                best, where = gain, point
    return best, where


@subkernel
def attempt_split(trees: Trees, node: int, total: float, scratch: Floats) -> None:
    """Split a leaf if the best feature is clearly better than the second, or it has seen enough."""
    place = trees.place[node]
    before = entropy(trees.counts[place])
    best = second = -np.inf
    feature, threshold = -1, 0.0
    for f in range(trees.mean.shape[2]):
        own, where = best_threshold(trees, place, f, before, scratch)
        if math.isnan(where):
            continue
        if own >= best:  # of equal merits the last wins, even if all are -infinity
            best, second, feature, threshold = own, best, f, where
        else:
            second = max(second, own)
    if feature < 0:
        return
    span = log2(max(2.0, float(trees.length[place])))
    bound = math.sqrt(span * span * math.log(1.0 / DELTA) / (2.0 * total))
    if best - second > bound or bound < TIE:
        divide(trees, place, feature, threshold, scratch[0], scratch[1])
        make_children(trees, node, feature, threshold, scratch[0], scratch[1])


@subkernel
def make_children(trees: Trees, node: int, feature: int, threshold: float, left: Floats, right: Floats) -> None:
    """Turn a leaf into a split; new leaves have the estimated counts and have seen nothing."""
    place, child, new = trees.place[node], trees.used[0], trees.used[1]
    trees.used[0] += 2
    trees.used[1] += 1
    low, high = trees.low[place, :, feature], trees.high[place, :, feature]
    lengths = (0, 0)
    for y in range(len(left)):
        if trees.seen[place, y] > 0.0:
            lengths = (
                lengths[0] if threshold < low[y] else y + 1,
                lengths[1] if threshold >= high[y] else y + 1,
            )
    trees.feature[node], trees.threshold[node] = feature, threshold
    trees.left[node], trees.right[node] = child, child + 1
    trees.place[child], trees.place[child + 1] = place, new
    begin_leaf(trees, place, left, lengths[0])
    begin_leaf(trees, new, right, lengths[1])


@subkernel
def begin_leaf(trees: Trees, place: int, counts: Floats, length: int) -> None:
    """Let a place hold a leaf that inherited counts and has seen nothing."""
    trees.majority[place] = trees.bayes[place] = trees.last[place] = 0.0
    trees.length[place] = length
    for y in range(len(counts)):
        trees.counts[place, y] = counts[y]
        trees.seen[place, y] = 0.0
        trees.last[place] += counts[y]
