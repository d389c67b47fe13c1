"""How a leaf votes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.forest.observers import (
    LOG_2_PI,
    count_present,
    difference,
    find_present,
    gaussian,
    missing_weight,
    mostly_nonzero,
    value_weight,
)
from marlene.kernels.forest.state import (
    ADAPTIVE,
    BASE_NUMERIC,
    BASE_PRESENCE,
    BAYES_CORRECT,
    CENTRE,
    CLASSES,
    LEAF,
    MAJORITY,
    MAJORITY_CORRECT,
    MET_MISSING,
    MOSTLY_NONZERO,
    NUMERIC_ORDER,
    NUMERIC_START,
    NUMERIC_USED,
    PRESENCE_ORDER,
    PRESENCE_START,
    SCALE,
    SEEN,
    VALUE_SHIFT,
    WEIGHT,
)
from marlene.kernels.forest.tables import find

if TYPE_CHECKING:
    from marlene._common.arrays import Floats
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest, Settings
    from marlene.kernels.forest.trees import Example


FACTORS = 8
BY_MAJORITY, BY_MAJORITY_WATCHED, BY_BAYES = range(3)


@inlined
def rule_of(forest: Forest, settings: Settings, node: int, learning: bool) -> int:
    """Return how a leaf votes: by majority, by that while naive Bayes is watched (when `learning`), or by Bayes."""
    rule = settings.leaf_prediction
    weights = forest.leaf_weight[forest.node[node, LEAF]]
    if rule == MAJORITY or (rule == ADAPTIVE and weights[MAJORITY_CORRECT] > weights[BAYES_CORRECT]):
        return BY_MAJORITY_WATCHED if learning and rule == ADAPTIVE else BY_MAJORITY
    return BY_BAYES


@subkernel
def score(forest: Forest, settings: Settings, node: int, example: Example, space: Space, out: Floats) -> None:
    """Write the scores of a leaf's classes by naive Bayes."""
    log_scores(forest, settings, node, example, space, out)


@inlined
def decide(forest: Forest, node: int, rule: int, out: Floats) -> int:
    """Turn scores into votes, which sum to 1, or to 0 where there is no evidence; return naive Bayes' class.

    Where a rule needs no scores they are not looked at; a tree without nodes, -1, has no evidence.
    """
    winner = 0
    if rule != BY_MAJORITY:
        n_classes = forest.node[node, CLASSES]
        for c in range(1, n_classes):
            if out[c] > out[winner]:
                winner = c
    if rule != BY_BAYES:
        normalise(forest.node_count, node, out)
        return winner
    best = out[winner]
    for c in range(len(out)):
        out[c] = math.exp(out[c] - best) if best > -np.inf else 0.0
    total = 0.0
    for c in range(len(out)):
        total += out[c]
    if total > 0.0:
        for c in range(len(out)):
            out[c] /= total
    return winner


@inlined
def normalise(counts: Floats, node: int, out: Floats) -> None:
    """Write a node's counts divided by their sum; zeros where that is 0, or where there is no node (-1)."""
    total = 0.0
    for c in range(len(out)):
        total += counts[node, c] if node >= 0 else 0.0
    for c in range(len(out)):
        out[c] = counts[node, c] / total if total != 0.0 else 0.0


@inlined
def log_scores(forest: Forest, settings: Settings, node: int, example: Example, space: Space, out: Floats) -> None:
    """Write log prior plus log-likelihood of every class; -infinity for one that cannot be."""
    leaf = forest.node[node, LEAF]
    counts = forest.node_count
    total = 0.0
    seen = 0.0
    for c in range(len(out)):
        total += counts[node, c]
        seen += forest.leaf_class[leaf, c, SEEN]
    for c in range(len(out)):
        out[c] = math.log(counts[node, c] / total) if counts[node, c] > 0.0 else -np.inf
    if seen == 0.0:
        return
    if not is_simple(forest, leaf, example):
        _add_all_features(forest, settings.variance_floor, leaf, example, out)
        return
    for c in range(len(out)):
        if forest.leaf_class[leaf, c, SEEN] == 0.0 and len(forest.kind) > 0:
            out[c] = -np.inf
        else:
            out[c] += forest.leaf_class[leaf, c, BASE_PRESENCE] + forest.leaf_class[leaf, c, BASE_NUMERIC]
    if example.n_numeric < len(example.indices):
        _add_present(forest, leaf, example, space, out)
    if forest.n_numeric > 0:
        half_inverse_floor = 0.5 / settings.variance_floor if settings.variance_floor > 0.0 else np.inf
        _add_numeric(forest, leaf, example, half_inverse_floor, out)
    for feature in forest.nominal:
        _add_feature(forest, settings.variance_floor, leaf, feature, example.dense[feature], out)


@inlined
def _add_present(forest: Forest, leaf: int, example: Example, space: Space, out: Floats) -> None:
    """Add what the binary features that are 1 change; there is one logarithm for several factors."""
    kinds, indices, counts = forest.kind, example.indices, space.counts
    find_present(forest, leaf, example, space.places)
    for c in range(len(out)):
        count_present(forest.presence.stat, space.places, c, example.others, len(indices), counts)
        seen = forest.leaf_class[leaf, c, SEEN]
        present, absent = 1.0, 1.0
        pending = 0
        for j in range(example.others, len(indices)):
            if kinds[indices[j]] != 2:
                continue
            present *= counts[j] + 1.0
            absent *= seen - counts[j] + 1.0
            pending += 1
            if pending == FACTORS:
                out[c] += math.log(present / absent)
                present, absent = 1.0, 1.0
                pending = 0
        if pending > 0:
            out[c] += math.log(present / absent)


@inlined
def is_simple(forest: Forest, leaf: int, example: Example) -> bool:
    """Tell whether the features add to the scores one by one: nothing is, or ever was, missing."""
    return bool(not example.missing and forest.leaf[leaf, MET_MISSING] == 0)


@inlined
def add_one_present(forest: Forest, leaf: int, feature: int, out: Floats) -> None:
    """Add what it changes that a binary feature is 1 and not 0."""
    start, order = forest.leaf[leaf, PRESENCE_START], forest.leaf[leaf, PRESENCE_ORDER] - 1
    entry = find(forest.presence.key, forest.presence.cells, start, order, (1 << VALUE_SHIFT) | feature)
    for c in range(len(out)):
        count = 0.0 if entry < 0 else forest.presence.stat[entry, c, 0]
        out[c] += math.log((count + 1.0) / (forest.leaf_class[leaf, c, SEEN] - count + 1.0))


@inlined
def _add_numeric(forest: Forest, leaf: int, example: Example, half_inverse_floor: float, out: Floats) -> None:
    """Add what the numeric features change.

    The leaf's features are walked through where the example has a value for most of them; otherwise the example's
    values are looked up, and the features that are mostly non-zero, which the base sum leaves out, walked through.
    """
    used = forest.leaf[leaf, NUMERIC_USED]
    walk = 2 * example.n_numeric >= used
    if walk:
        _walk_through(forest, leaf, example.dense, half_inverse_floor, out)
    if not walk or (used < forest.n_numeric and _known(forest, leaf, example.dense) < example.n_numeric):
        _look_up(forest, leaf, example, not walk, half_inverse_floor, out)
    if not walk:
        keys, stat, listed = forest.numeric.key, forest.numeric.stat, forest.numeric.listed
        start, dense = forest.leaf[leaf, NUMERIC_START], example.dense
        for c in range(len(out)):
            for i in range(forest.leaf_list[leaf, c, MOSTLY_NONZERO] - 1, -1, -1):
                entry = start + listed[start + i, c] - 1
                out[c] -= _distance(stat[entry, c, CENTRE], stat[entry, c, SCALE], dense[keys[entry]])


@inlined
def _walk_through(forest: Forest, leaf: int, dense: Floats, half_inverse_floor: float, out: Floats) -> None:
    """Add what each of the leaf's numeric features changes."""
    start = forest.leaf[leaf, NUMERIC_START]
    stop = start + forest.leaf[leaf, NUMERIC_USED]
    features = forest.numeric.key[start:stop]
    for c in range(0, len(out), 2):  # two at a time, for one waits for its last sum
        d = min(c + 1, len(out) - 1)
        seen_c, seen_d = forest.leaf_class[leaf, c, SEEN], forest.leaf_class[leaf, d, SEEN]
        stat_c, stat_d = forest.numeric.stat[start:stop, c], forest.numeric.stat[start:stop, d]
        sum_c, sum_d = 0.0, 0.0
        for i in range(len(features)):
            value = dense[features[i]]
            sum_c += _effect(stat_c[i], seen_c, value, half_inverse_floor)
            sum_d += _effect(stat_d[i], seen_d, value, half_inverse_floor)
        out[c] += sum_c
        if d > c:
            out[d] += sum_d


@inlined
def _effect(stat: Floats, seen: float, value: float, half_inverse_floor: float) -> float:
    """Return what a feature adds to the score of a class beyond the base sum."""
    weight, centre, scale = stat[WEIGHT], stat[CENTRE], stat[SCALE]
    if mostly_nonzero(weight, scale, seen):
        return -_distance(centre, scale, value)
    return _change(weight, centre, scale, value, half_inverse_floor) if value != 0.0 else 0.0


@inlined
def _known(forest: Forest, leaf: int, dense: Floats) -> int:
    """Return how many of the leaf's numeric features are not zero."""
    start = forest.leaf[leaf, NUMERIC_START]
    features = forest.numeric.key[start : start + forest.leaf[leaf, NUMERIC_USED]]
    known = 0
    for i in range(len(features)):
        known += dense[features[i]] != 0.0
    return known


@inlined
def _look_up(
    forest: Forest, leaf: int, example: Example, all_of_them: bool, half_inverse_floor: float, out: Floats
) -> None:
    """Add what the example's values change: all of them, or only those of features new to the leaf."""
    keys, cells, stat = forest.numeric.key, forest.numeric.cells, forest.numeric.stat
    kinds, leaf_class, indices, values = forest.kind, forest.leaf_class, example.indices, example.values
    start, order = forest.leaf[leaf, NUMERIC_START], forest.leaf[leaf, NUMERIC_ORDER] - 1
    for j in range(len(indices)):
        if kinds[indices[j]] != 0:
            continue
        value = values[j]
        entry = find(keys, cells, start, order, indices[j])
        for c in range(len(out)):
            if entry < 0:
                out[c] -= value * half_inverse_floor * value
            elif all_of_them:
                weight, scale = stat[entry, c, WEIGHT], stat[entry, c, SCALE]
                if not mostly_nonzero(weight, scale, leaf_class[leaf, c, SEEN]):
                    out[c] += _change(weight, stat[entry, c, CENTRE], scale, value, half_inverse_floor)


@inlined
def _change(weight: float, centre: float, scale: float, value: float, half_inverse_floor: float) -> float:
    """Return what a non-zero value of a mostly zero feature changes."""
    if weight == 0.0:
        return -value * half_inverse_floor * value
    return value * (2.0 * centre - value) * scale


@inlined
def _distance(centre: float, scale: float, value: float) -> float:
    """Return the squared distance from the mean over twice the variance."""
    distance = value - centre
    if scale >= 0.0:
        return distance * distance * scale
    return 0.0 if distance == 0.0 else np.inf


@subkernel
def _add_all_features(forest: Forest, variance_floor: float, leaf: int, example: Example, out: Floats) -> None:
    """Add the log-likelihoods of all features one by one, as missing values make it necessary."""
    for feature in range(len(forest.kind)):
        value = example.dense[feature]
        if not math.isnan(value):
            _add_feature(forest, variance_floor, leaf, feature, value, out)


@subkernel
def _add_feature(forest: Forest, variance_floor: float, leaf: int, feature: int, value: float, out: Floats) -> None:
    """Add the log-likelihoods of one feature, whatever its kind and whether or not the leaf has met missing values."""
    total = 0.0
    for c in range(len(out)):
        total += forest.leaf_class[leaf, c, SEEN] - missing_weight(forest, leaf, feature, c)
    if total == 0.0:
        return
    for c in range(len(out)):
        seen = forest.leaf_class[leaf, c, SEEN] - missing_weight(forest, leaf, feature, c)
        if seen == 0.0:
            out[c] = -np.inf
        elif forest.kind[feature] == 0:
            out[c] += _log_density(forest, variance_floor, leaf, feature, value, c, seen)
        else:
            count, highest = value_count(forest, leaf, feature, int(value), c, seen)
            out[c] += math.log((count + 1.0) / (seen + highest + 1.0))


@subkernel
def value_count(forest: Forest, leaf: int, feature: int, value: int, c: int, seen: float) -> tuple[float, int]:
    """Return the weight of one value of a nominal feature within a class, and the highest value met there."""
    nonzero = 0.0
    count = 0.0
    highest = 0
    for v in range(1, forest.kind[feature]):
        weight = value_weight(forest, leaf, (v << VALUE_SHIFT) | feature, c)
        if weight > 0.0:
            highest = v
            nonzero += weight
            if v == value:
                count = weight
    return (difference(seen, nonzero) if value == 0 else count), highest


@subkernel
def _log_density(
    forest: Forest, variance_floor: float, leaf: int, feature: int, value: float, c: int, seen: float
) -> float:
    row = forest.leaf[leaf]
    entry = find(forest.numeric.key, forest.numeric.cells, row[NUMERIC_START], row[NUMERIC_ORDER] - 1, feature)
    mean, variance = 0.0, 0.0
    if entry >= 0:
        mean, variance = gaussian(forest.numeric.stat, entry, c, seen)
    variance = max(variance, variance_floor)
    distance = value - mean
    if variance > 0.0:
        return -0.5 * (LOG_2_PI + math.log(variance)) - distance * distance * (0.5 / variance)
    return 0.0 if distance == 0.0 else -np.inf


@inlined
def majority_class(forest: Forest, node: int) -> int:
    """Return the first class with the largest count; -1 where nothing was counted yet."""
    best = -1
    for c in range(forest.node[node, CLASSES]):
        if best < 0 or forest.node_count[node, c] > forest.node_count[node, best]:
            best = c
    return best
