"""How a leaf votes: by majority class or by naive Bayes.

Naive Bayes adds logarithms: score(c) = log P(c) + Σ over features log P(value | c). The observers keep the sum for an
example in which all features are zero; a vote adds what the non-zero values change.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.forest import gaussians, observers
from marlene.kernels.forest import state as layout
from marlene.kernels.forest.tables import find, look_up

if TYPE_CHECKING:
    from marlene._common.arrays import Floats
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest, Settings
    from marlene.kernels.forest.trees import Example


FACTORS = 8
BY_MAJORITY, BY_MAJORITY_WATCHED, BY_BAYES = range(3)


@inlined
def rule_of(forest: Forest, settings: Settings, node: int, learning: bool) -> int:
    """Return how a leaf votes.

    - `BY_MAJORITY`: by the majority class;
    - `BY_MAJORITY_WATCHED`: likewise, but the class of naive Bayes is wanted too, to count how often it is right (an
      adaptive leaf that is `learning`);
    - `BY_BAYES`: by naive Bayes.
    """
    adaptive = settings.leaf_prediction == layout.ADAPTIVE
    weights = forest.leaf_weight[forest.node[node, layout.LEAF]]
    majority_leads = adaptive and weights[layout.MAJORITY_CORRECT] > weights[layout.BAYES_CORRECT]
    if majority_leads or settings.leaf_prediction == layout.MAJORITY:
        return BY_MAJORITY_WATCHED if learning and adaptive else BY_MAJORITY
    return BY_BAYES


@inlined
def decide(forest: Forest, node: int, rule: int, out: Floats) -> int:
    """Turn scores into votes, which sum to 1, or to 0 without evidence; return the class of naive Bayes.

    Votes by naive Bayes are exp(score) / Σ exp(score). `BY_MAJORITY` does not read the scores. An untrained tree
    (node -1) has no evidence.
    """
    winner = 0
    if rule != BY_MAJORITY:
        n_classes = forest.node[node, layout.CLASSES]
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
    """Write a node's counts divided by their sum; zeros if the sum is 0 or there is no node (-1)."""
    total = 0.0
    for c in range(len(out)):
        total += counts[node, c] if node >= 0 else 0.0
    for c in range(len(out)):
        out[c] = counts[node, c] / total if total != 0.0 else 0.0


@subkernel
def score(forest: Forest, settings: Settings, node: int, example: Example, space: Space, out: Floats) -> None:
    """Write the naive Bayes score of every class at a leaf; -infinity for an impossible class."""
    leaf, counts = forest.node[node, layout.LEAF], forest.node_count
    of_class = forest.leaf_class[leaf]
    # 1. The log prior.
    total = 0.0
    seen = 0.0
    for c in range(len(out)):
        total += counts[node, c]
        seen += of_class[c, layout.SEEN]
    for c in range(len(out)):
        out[c] = math.log(counts[node, c] / total) if counts[node, c] > 0.0 else -np.inf
    if seen == 0.0:
        return
    # 2. The log-likelihoods; with missing values feature by feature.
    if not is_simple(forest, leaf, example):
        _add_all_features(forest, settings.variance_floor, leaf, example.dense, out)
        return
    # 3. Otherwise the sum for all features zero, and what binary, numeric and nominal features change.
    for c in range(len(out)):
        if of_class[c, layout.SEEN] == 0.0 and len(forest.kind) > 0:
            out[c] = -np.inf
        else:
            out[c] += of_class[c, layout.BASE_PRESENCE] + of_class[c, layout.BASE_NUMERIC]
    if example.n_numeric < len(example.indices):
        _add_present(forest, leaf, example, space, out)
    if forest.n_numeric > 0:
        half_inverse_floor = 0.5 / settings.variance_floor if settings.variance_floor > 0.0 else np.inf
        _add_numeric(forest, leaf, example, half_inverse_floor, space.terms, out)
    for feature in forest.nominal:
        _add_feature(forest, settings.variance_floor, leaf, feature, example.dense[feature], out)


@inlined
def _add_present(forest: Forest, leaf: int, example: Example, space: Space, out: Floats) -> None:
    """Add log((n + 1) / (s - n + 1)) for every binary feature that is 1, with one logarithm for several factors."""
    kinds, indices, counts = forest.kind, example.indices, space.counts
    observers.find_present(forest, leaf, example)
    start = forest.leaf[leaf, layout.PRESENCE_START]
    for c in range(len(out)):
        observers.count_present(forest.presence.stat, start, example, c, counts)
        seen = forest.leaf_class[leaf, c, layout.SEEN]
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
    """Tell whether the base sums of the leaf apply: nothing is missing, now or in what the leaf has seen."""
    return bool(not example.missing and forest.leaf[leaf, layout.MET_MISSING] == 0)


@inlined
def add_one_present(forest: Forest, leaf: int, feature: int, out: Floats) -> None:
    """Add log((n + 1) / (s - n + 1)): the change of the scores when a binary feature is 1 instead of 0."""
    entry = look_up(forest.presence, forest.leaf[leaf], layout.PRESENCE_START, (1 << layout.VALUE_SHIFT) | feature)
    for c in range(len(out)):
        count = 0.0 if entry < 0 else forest.presence.stat[entry, c, 0]
        out[c] += math.log((count + 1.0) / (forest.leaf_class[leaf, c, layout.SEEN] - count + 1.0))


@inlined
def _add_numeric(
    forest: Forest, leaf: int, example: Example, half_inverse_floor: float, terms: Floats, out: Floats
) -> None:
    """Add what the numeric features change.

    If the example has a value for most of the leaf's features, walk through the features. Otherwise look up the values
    of the example, and walk through the list of mostly non-zero features, which the base sum leaves out.
    """
    used = forest.leaf[leaf, layout.NUMERIC_USED]
    walk = 2 * example.n_numeric >= used
    if walk:
        _walk_through(forest, leaf, example.dense, half_inverse_floor, terms, out)
    if not walk or (used < forest.n_numeric and _known(forest, leaf, example.dense) < example.n_numeric):
        _look_up(forest, leaf, example, not walk, half_inverse_floor, out)
    if not walk:
        keys, listed = forest.numeric.key, forest.numeric.listed
        start, dense = forest.leaf[leaf, layout.NUMERIC_START], example.dense
        for c in range(len(out)):
            planes = forest.numeric.planes[c]
            for i in range(forest.leaf_list[leaf, c, layout.MOSTLY_NONZERO] - 1, -1, -1):
                entry = start + listed[start + i, c] - 1
                out[c] -= _distance(planes[layout.CENTRE, entry], planes[layout.SCALE, entry], dense[keys[entry]])


@inlined
def _walk_through(
    forest: Forest, leaf: int, dense: Floats, half_inverse_floor: float, terms: Floats, out: Floats
) -> None:
    """Add what each of the leaf's numeric features changes, many at a time."""
    start, used = forest.leaf[leaf, layout.NUMERIC_START], forest.leaf[leaf, layout.NUMERIC_USED]
    stop = start + used
    features, values, changes = forest.numeric.key[start:stop], terms[0], terms[1]
    for i in range(used):
        values[i] = dense[features[i]]
    changes[used : gaussians.in_lanes(used)] = 0.0
    for c in range(len(out)):
        planes, seen = forest.numeric.planes[c], forest.leaf_class[leaf, c, layout.SEEN]
        weights, centres = planes[layout.WEIGHT, start:stop], planes[layout.CENTRE, start:stop]
        scales = planes[layout.SCALE, start:stop]
        for i in range(used):
            listed = gaussians.mostly_nonzero(weights[i], scales[i], seen)
            distance = _distance(centres[i], scales[i], values[i])
            change = _change(weights[i], centres[i], scales[i], values[i], half_inverse_floor)
            changes[i] = -distance if listed else change
        out[c] += gaussians.lane_sum(changes, gaussians.in_lanes(used))


@inlined
def _known(forest: Forest, leaf: int, dense: Floats) -> int:
    """Return how many of the leaf's numeric features are not zero."""
    start = forest.leaf[leaf, layout.NUMERIC_START]
    features = forest.numeric.key[start : start + forest.leaf[leaf, layout.NUMERIC_USED]]
    known = 0
    for i in range(len(features)):
        known += dense[features[i]] != 0.0
    return known


@inlined
def _look_up(
    forest: Forest, leaf: int, example: Example, all_of_them: bool, half_inverse_floor: float, out: Floats
) -> None:
    """Add what the example's values change: all of them, or only those of features that are new to the leaf."""
    keys, cells, planes = forest.numeric.key, forest.numeric.cells, forest.numeric.planes
    kinds, leaf_class, indices, values = forest.kind, forest.leaf_class, example.indices, example.values
    start, order = forest.leaf[leaf, layout.NUMERIC_START], forest.leaf[leaf, layout.NUMERIC_ORDER] - 1
    for j in range(len(indices)):
        if kinds[indices[j]] != 0:
            continue
        value = values[j]
        entry = find(keys, cells, start, order, indices[j])
        for c in range(len(out)):
            if entry < 0:
                out[c] -= value * half_inverse_floor * value
            elif all_of_them:
                weight, scale = planes[c, layout.WEIGHT, entry], planes[c, layout.SCALE, entry]
                if not gaussians.mostly_nonzero(weight, scale, leaf_class[leaf, c, layout.SEEN]):
                    out[c] += _change(weight, planes[c, layout.CENTRE, entry], scale, value, half_inverse_floor)


@inlined
def _change(weight: float, centre: float, scale: float, value: float, half_inverse_floor: float) -> float:
    """Return x (2 mean - x) / (2 variance): what a value x of a mostly zero feature changes."""
    new, known = value * half_inverse_floor * value, value * (2.0 * centre - value) * scale
    changed = -new if weight == 0.0 else known
    return changed if value != 0.0 else 0.0


@inlined
def _distance(centre: float, scale: float, value: float) -> float:
    """Return (x - mean)² / (2 variance)."""
    distance = value - centre
    certain = 0.0 if distance == 0.0 else np.inf
    return distance * distance * scale if scale >= 0.0 else certain


@subkernel
def _add_all_features(forest: Forest, variance_floor: float, leaf: int, dense: Floats, out: Floats) -> None:
    """Add the log-likelihoods of all features that are not missing, one by one."""
    for feature in range(len(forest.kind)):
        if not math.isnan(dense[feature]):
            _add_feature(forest, variance_floor, leaf, feature, dense[feature], out)


@subkernel
def _add_feature(forest: Forest, variance_floor: float, leaf: int, feature: int, value: float, out: Floats) -> None:
    """Add the log-likelihoods of one feature of any kind, with or without missing values in the leaf.

    A value counted n times in s has the likelihood (n + 1) / (s + number of values).
    """
    total = 0.0
    for c in range(len(out)):
        total += observers.known_weight(forest, leaf, feature, c)
    if total == 0.0:
        return
    for c in range(len(out)):
        seen = observers.known_weight(forest, leaf, feature, c)
        if seen == 0.0:
            out[c] = -np.inf
        elif forest.kind[feature] == 0:
            entry = look_up(forest.numeric, forest.leaf[leaf], layout.NUMERIC_START, feature)
            mean, variance = (0.0, 0.0) if entry < 0 else gaussians.gaussian(forest.numeric.planes[c], entry, seen)
            out[c] += _log_density(value, mean, max(variance, variance_floor))
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
        weight = observers.value_weight(forest, leaf, (v << layout.VALUE_SHIFT) | feature, c)
        if weight > 0.0:
            highest = v
            nonzero += weight
            if v == value:
                count = weight
    return (observers.difference(seen, nonzero) if value == 0 else count), highest


@inlined
def _log_density(value: float, mean: float, variance: float) -> float:
    """Return -log(2 π variance) / 2 - (x - mean)² / (2 variance); without variance only the mean is possible."""
    distance = value - mean
    if variance > 0.0:
        return -0.5 * (gaussians.LOG_2_PI + math.log(variance)) - distance * distance * (0.5 / variance)
    return 0.0 if distance == 0.0 else -np.inf


@inlined
def majority_class(forest: Forest, node: int) -> int:
    """Return the first class with the largest count; -1 before the first example."""
    best = -1
    for c in range(forest.node[node, layout.CLASSES]):
        if best < 0 or forest.node_count[node, c] > forest.node_count[node, best]:
            best = c
    return best
