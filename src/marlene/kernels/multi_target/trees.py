"""A multi-target tree (iSOUP, Osojnik et al. 2017) over labels as targets 0 and 1.

A leaf predicts each target by its mean or by a linear perceptron, whichever was closer lately. It splits where the
variance within the targets, averaged over them, falls most. Inputs are 0/1 or numeric; what is zero is not stored.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.multi_target.splits import choose, split
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
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.multi_target.state import MultiTargetSettings, TargetTrees
    from marlene.kernels.rows import Rows

FADING = 0.95
SMALLEST_DEVIATION = 1e-5


class Active(NamedTuple):
    """The inputs of a perceptron that are not zero: places in its weights (0 is the constant), values, how many."""

    places: Ints
    values: Floats
    size: Ints


@inlined
def _deviation(weight: float, total: float, squares: float) -> float:
    """Return a standard deviation, 0 if there is none to speak of."""
    if weight <= 1.0:
        return 0.0
    variance = (squares - total * total / weight) / weight
    deviation = math.sqrt(variance) if variance > 0.0 else 0.0
    return deviation if SMALLEST_DEVIATION < deviation < np.inf else 0.0


@subkernel
def _standardise(tree: TargetTrees, rows: Rows, row: int, dense: Floats, numeric: Ints, active: Active) -> None:
    """Fill in the inputs of the perceptrons: numeric ones standardised, the others as they are."""
    index, value, place, sums = active.places, active.values, tree.place, tree.input_sum
    weight = tree.total[0]
    index[0], value[0] = 0, 1.0
    count = 1
    for j in range(rows.starts[row], rows.starts[row + 1]):
        if place[rows.indices[j]] < 0:
            index[count], value[count] = rows.indices[j] + 1, rows.values[j]
            count += 1
    for i in numeric:
        deviation = _deviation(weight, sums[i, 0], sums[i, 1])
        if deviation > 0.0:
            index[count], value[count] = i + 1, (dense[i] - sums[i, 0] / weight) / deviation
            count += 1
    active.size[0] = count


@inlined
def _find(tree: TargetTrees, dense: Floats) -> int:
    """Return the leaf's node."""
    node = 0
    while tree.node[node, INPUT] >= 0:
        node = tree.node[node, CHILDREN] + (dense[tree.node[node, INPUT]] > tree.node_value[node])
    return node


@subkernel
def _perceive(tree: TargetTrees, leaf: int, active: Active, out: Floats) -> None:
    """Write what the perceptron says, in standard deviations from the mean of every target."""
    weights, index, value = tree.leaf_weight, active.places, active.values
    for t in range(len(out)):
        out[t] = 0.0
    for a in range(active.size[0]):
        for t in range(len(out)):
            out[t] += weights[leaf, index[a], t] * value[a]


@inlined
def _target(tree: TargetTrees, t: int) -> tuple[float, float]:
    """Return mean and standard deviation of a target over all examples."""
    weight = tree.target_sum[t, 0]
    if weight <= 0.0:
        return 0.0, 0.0
    mean = tree.target_sum[t, 1] / weight
    return mean, (math.sqrt(max(0.0, mean * (1.0 - mean))) if weight > 1.0 else 0.0)


@inlined
def _mean(tree: TargetTrees, leaf: int, t: int) -> float:
    target = tree.leaf_target[leaf, t]
    return target[MEAN_SUM] / target[MEAN_WEIGHT] if target[MEAN_WEIGHT] > 0.0 else 0.0


@subkernel
def _predict(tree: TargetTrees, leaf: int, perceived: Floats, out: Floats) -> None:
    """Write the better of mean and perceptron, within 0 and 1."""
    for t in range(len(out)):
        target = tree.leaf_target[leaf, t]
        if target[MEAN_WEIGHT] <= 0.0:
            out[t] = 0.5
        elif target[PERCEPTRON_ERROR] < target[MEAN_ERROR]:
            mean, deviation = _target(tree, t)
            out[t] = min(1.0, max(0.0, perceived[t] * deviation + mean))
        else:
            out[t] = _mean(tree, leaf, t)


@subkernel
def _practise(tree: TargetTrees, leaf: int, active: Active, truth: Labels, rate: float, perceived: Floats) -> None:
    """Move the perceptron towards the targets that are known; the absolute weights of each sum to 1 at most."""
    weights, index, value = tree.leaf_weight, active.places, active.values
    n_targets = len(truth)
    _perceive(tree, leaf, active, perceived)
    for t in range(n_targets):
        mean, deviation = _target(tree, t)
        wanted = (truth[t] - mean) / deviation if deviation > 0.0 else 0.0
        perceived[t] = rate * (wanted - perceived[t]) if truth[t] >= 0 else 0.0
    for a in range(active.size[0]):
        for t in range(n_targets):
            before = weights[leaf, index[a], t]
            now = before + perceived[t] * value[a]
            weights[leaf, index[a], t] = now
            tree.leaf_target[leaf, t, NORM] += abs(now) - abs(before)
    for t in range(n_targets):
        norm = tree.leaf_target[leaf, t, NORM]
        if norm > 1.0:
            for i in range(weights.shape[1]):
                weights[leaf, i, t] /= norm
            tree.leaf_target[leaf, t, NORM] = 1.0


@subkernel
def _observe(tree: TargetTrees, leaf: int, rows: Rows, row: int, truth: Labels, weight: float) -> None:
    """Count an example in the statistics of a leaf; a target that is not known counts as its mean there."""
    n_targets = len(truth)
    tree.leaf[leaf, SEEN] += weight
    cross, moment, place, of_input = tree.leaf_cross, tree.leaf_moment, tree.place, tree.leaf_input
    for j in range(rows.starts[row], rows.starts[row + 1]):
        i, x = rows.indices[j], rows.values[j]
        known = of_input[leaf, i]
        known[LOW] = x if known[COUNT] == 0.0 else min(known[LOW], x)
        known[HIGH] = x if known[COUNT] == 0.0 else max(known[HIGH], x)
        known[COUNT] += weight
        known[SUM] += weight * x
        known[SQUARES] += weight * x * x
        if x != 1.0:
            known[NUMBERS] = 1.0
    for t in range(n_targets):
        target = tree.leaf_target[leaf, t]
        y = weight * (_mean(tree, leaf, t) if truth[t] < 0 else float(truth[t]))
        target[OWN_SUM] += y
        if y != 0.0:
            for j in range(rows.starts[row], rows.starts[row + 1]):
                i, x = rows.indices[j], rows.values[j]
                cross[leaf, i, t] += y
                if place[i] >= 0:
                    moment[leaf, place[i], t, MOMENT_SUM] += y * x
                    moment[leaf, place[i], t, MOMENT_SQUARES] += y * x * x
        if truth[t] >= 0:
            target[MEAN_WEIGHT] += weight
            target[MEAN_SUM] += y


@subkernel
def _learn(
    tree: TargetTrees,
    settings: MultiTargetSettings,
    node: int,
    rows: Rows,
    row: int,
    truth: Labels,
    weight: int,
    active: Active,
    perceived: Floats,
) -> None:
    """Train a tree on one example, of which the perceptron's answer is given."""
    leaf = tree.node[node, LEAF]
    for t in range(len(truth)):
        if truth[t] >= 0:
            target = tree.leaf_target[leaf, t]
            mean, deviation = _target(tree, t)
            target[MEAN_ERROR] = FADING * target[MEAN_ERROR] + abs(_mean(tree, leaf, t) - truth[t])
            error = abs(perceived[t] * deviation + mean - truth[t])
            target[PERCEPTRON_ERROR] = FADING * target[PERCEPTRON_ERROR] + error
    tree.leaf[leaf, PRACTICE] += weight
    if tree.total[0] > 1.0:
        rate = settings.learning_rate / (1.0 + settings.decay * tree.leaf[leaf, PRACTICE])
        for _ in range(weight):
            _practise(tree, leaf, active, truth, rate, perceived)
    _observe(tree, leaf, rows, row, truth, float(weight))
    tree.total[0] += weight
    for j in range(rows.starts[row], rows.starts[row + 1]):
        tree.input_sum[rows.indices[j], 0] += weight * rows.values[j]
        tree.input_sum[rows.indices[j], 1] += weight * rows.values[j] * rows.values[j]
    for t in range(len(truth)):
        if truth[t] >= 0:
            tree.target_sum[t, 0] += weight
            tree.target_sum[t, 1] += weight * truth[t]
    if tree.leaf[leaf, SEEN] - tree.leaf[leaf, LAST_ATTEMPT] >= settings.grace_period:
        tree.leaf[leaf, LAST_ATTEMPT] = tree.leaf[leaf, SEEN]
        i, threshold = choose(tree, settings, leaf)
        if i >= 0:
            split(tree, node, i, threshold)


@kernel
def run_tree(
    tree: TargetTrees,
    settings: MultiTargetSettings,
    rows: Rows,
    truth: Labels,
    weights: Ints,
    first: int,
    out: Floats,
) -> int:
    """Predict every row from `first` on, and learn it where the weight is not 0.

    Return the number of rows, or that of a row for which the tree has no room and to which nothing was done. There is
    room for one more split as long as there are two further nodes and one further leaf.
    """
    n_inputs, n_targets = len(tree.place), truth.shape[1]
    dense = np.zeros(n_inputs)
    perceived = np.zeros(n_targets)
    numeric = np.flatnonzero(tree.place >= 0)
    active = Active(np.zeros(n_inputs + 1, np.int64), np.zeros(n_inputs + 1), np.zeros(1, np.int64))
    for row in range(first, len(rows.starts) - 1):
        if weights[row] > 0 and (tree.top[0] + 2 > len(tree.node) or tree.top[1] + 1 > len(tree.leaf)):
            return row
        for j in range(rows.starts[row], rows.starts[row + 1]):
            dense[rows.indices[j]] = rows.values[j]
        node = _find(tree, dense)
        _standardise(tree, rows, row, dense, numeric, active)
        _perceive(tree, tree.node[node, LEAF], active, perceived)
        _predict(tree, tree.node[node, LEAF], perceived, out[row])
        if weights[row] > 0:
            _learn(tree, settings, node, rows, row, truth[row], weights[row], active, perceived)
        for j in range(rows.starts[row], rows.starts[row + 1]):
            dense[rows.indices[j]] = 0.0
    return len(rows.starts) - 1
