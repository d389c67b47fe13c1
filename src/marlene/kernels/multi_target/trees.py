"""A multi-target tree (iSOUP, Osojnik et al. 2017) over labels as targets 0 and 1.

A leaf predicts each target by its mean or by a linear perceptron, whichever had the smaller faded error. It splits
where the variance of the targets falls most, averaged over them. Inputs are 0/1 or numeric; zeros are not stored.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.multi_target import state as layout
from marlene.kernels.multi_target.splits import choose, split
from marlene.kernels.rows import close_row, open_row

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.multi_target.state import MultiTargetSettings, TargetTrees
    from marlene.kernels.rows import Rows

FADING = 0.95
SMALLEST_DEVIATION = 1e-5


class TreeWork(NamedTuple):
    """What a tree learns with: its settings, and arrays to work in.

    Attributes
    ----------
    settings
        The parameters of the tree.
    dense
        The values of all inputs of a row.
    numeric
        The numeric inputs.
    places, values, size
        The non-zero inputs of the perceptrons: places in their weights (0 is the constant), values, how many.
    perceived
        The perceptron's output for every target, in standard deviations from the target's mean.
    """

    settings: MultiTargetSettings
    dense: Floats
    numeric: Ints
    places: Ints
    values: Floats
    size: Ints
    perceived: Floats


@inlined
def _deviation(weight: float, total: float, squares: float) -> float:
    """Return the standard deviation sqrt((Σx² - (Σx)² / n) / n), or 0 if it is negligible."""
    if weight <= 1.0:
        return 0.0
    variance = (squares - total * total / weight) / weight
    deviation = math.sqrt(variance) if variance > 0.0 else 0.0
    return deviation if SMALLEST_DEVIATION < deviation < np.inf else 0.0


@subkernel
def _standardise(tree: TargetTrees, rows: Rows, row: int, work: TreeWork) -> None:
    """Write the inputs of the perceptrons: numeric ones standardised, the others as they are."""
    index, value, place, sums = work.places, work.values, tree.place, tree.input_sum
    weight = tree.total[0]
    index[0], value[0] = 0, 1.0
    count = 1
    for j in range(rows.starts[row], rows.starts[row + 1]):
        if place[rows.indices[j]] < 0:
            index[count], value[count] = rows.indices[j] + 1, rows.values[j]
            count += 1
    for i in work.numeric:
        deviation = _deviation(weight, sums[i, 0], sums[i, 1])
        if deviation > 0.0:
            index[count], value[count] = i + 1, (work.dense[i] - sums[i, 0] / weight) / deviation
            count += 1
    work.size[0] = count


@inlined
def _find(tree: TargetTrees, dense: Floats) -> int:
    """Return the node of the leaf where a row arrives."""
    node = 0
    while tree.node[node, layout.INPUT] >= 0:
        node = tree.node[node, layout.CHILDREN] + (dense[tree.node[node, layout.INPUT]] > tree.node_value[node])
    return node


@subkernel
def _perceive(tree: TargetTrees, leaf: int, work: TreeWork) -> None:
    """Compute the output of the leaf's perceptron, Σ weight · input, for every target."""
    weights, index, value, out = tree.leaf_weight, work.places, work.values, work.perceived
    out[:] = 0.0
    for a in range(work.size[0]):
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
    """Return the mean of a target at a leaf, estimates of splits included."""
    target = tree.leaf_target[leaf, t]
    return target[layout.MEAN_SUM] / target[layout.MEAN_WEIGHT] if target[layout.MEAN_WEIGHT] > 0.0 else 0.0


@subkernel
def _predict(tree: TargetTrees, leaf: int, perceived: Floats, out: Floats) -> None:
    """Write for every target the mean or the perceptron's output, whichever has the smaller error, within 0 and 1."""
    for t in range(len(out)):
        target = tree.leaf_target[leaf, t]
        if target[layout.MEAN_WEIGHT] <= 0.0:
            out[t] = 0.5
        elif target[layout.PERCEPTRON_ERROR] < target[layout.MEAN_ERROR]:
            mean, deviation = _target(tree, t)
            out[t] = min(1.0, max(0.0, perceived[t] * deviation + mean))
        else:
            out[t] = _mean(tree, leaf, t)


@subkernel
def _practise(tree: TargetTrees, leaf: int, work: TreeWork, truth: Labels, rate: float) -> None:
    """Move the perceptron towards the known targets by the delta rule: weight += rate · error · input.

    The absolute weights of a target sum to 1 at most.
    """
    weights, index, value, perceived = tree.leaf_weight, work.places, work.values, work.perceived
    n_targets = len(truth)
    _perceive(tree, leaf, work)
    for t in range(n_targets):
        mean, deviation = _target(tree, t)
        wanted = (truth[t] - mean) / deviation if deviation > 0.0 else 0.0
        perceived[t] = rate * (wanted - perceived[t]) if truth[t] >= 0 else 0.0
    for a in range(work.size[0]):
        for t in range(n_targets):
            before = weights[leaf, index[a], t]
            now = before + perceived[t] * value[a]
            weights[leaf, index[a], t] = now
            tree.leaf_target[leaf, t, layout.NORM] += abs(now) - abs(before)
    for t in range(n_targets):
        norm = tree.leaf_target[leaf, t, layout.NORM]
        if norm > 1.0:
            for i in range(weights.shape[1]):
                weights[leaf, i, t] /= norm
            tree.leaf_target[leaf, t, layout.NORM] = 1.0


@subkernel
def _observe(tree: TargetTrees, leaf: int, rows: Rows, row: int, truth: Labels, weight: float) -> None:
    """Add an example to the statistics of a leaf; an unknown target counts as its mean there."""
    n_targets = len(truth)
    tree.leaf[leaf, layout.SEEN] += weight
    cross, moment, place, of_input = tree.leaf_cross, tree.leaf_moment, tree.place, tree.leaf_input
    for j in range(rows.starts[row], rows.starts[row + 1]):
        i, x = rows.indices[j], rows.values[j]
        known = of_input[leaf, i]
        known[layout.LOW] = x if known[layout.COUNT] == 0.0 else min(known[layout.LOW], x)
        known[layout.HIGH] = x if known[layout.COUNT] == 0.0 else max(known[layout.HIGH], x)
        known[layout.COUNT] += weight
        known[layout.SUM] += weight * x
        known[layout.SQUARES] += weight * x * x
        if x != 1.0:
            known[layout.NUMBERS] = 1.0
    for t in range(n_targets):
        target = tree.leaf_target[leaf, t]
        y = weight * (_mean(tree, leaf, t) if truth[t] < 0 else float(truth[t]))
        target[layout.OWN_SUM] += y
        if y != 0.0:
            for j in range(rows.starts[row], rows.starts[row + 1]):
                i, x = rows.indices[j], rows.values[j]
                cross[leaf, i, t] += y
                if place[i] >= 0:
                    moment[leaf, place[i], t, layout.MOMENT_SUM] += y * x
                    moment[leaf, place[i], t, layout.MOMENT_SQUARES] += y * x * x
        if truth[t] >= 0:
            target[layout.MEAN_WEIGHT] += weight
            target[layout.MEAN_SUM] += y


@subkernel
def _learn(tree: TargetTrees, node: int, rows: Rows, row: int, truth: Labels, weight: int, work: TreeWork) -> None:
    """Train a tree on one example, after `_perceive`.

    1. Update the faded errors of mean and perceptron.
    2. Train the perceptron, once for each unit of the weight.
    3. Add the example to the statistics of the leaf and of the whole tree.
    4. If the leaf has seen enough since the last attempt, try to split it.
    """
    leaf, settings, perceived = tree.node[node, layout.LEAF], work.settings, work.perceived
    for t in range(len(truth)):
        if truth[t] >= 0:
            target = tree.leaf_target[leaf, t]
            mean, deviation = _target(tree, t)
            target[layout.MEAN_ERROR] = FADING * target[layout.MEAN_ERROR] + abs(_mean(tree, leaf, t) - truth[t])
            error = abs(perceived[t] * deviation + mean - truth[t])
            target[layout.PERCEPTRON_ERROR] = FADING * target[layout.PERCEPTRON_ERROR] + error
    tree.leaf[leaf, layout.PRACTICE] += weight
    if tree.total[0] > 1.0:
        rate = settings.learning_rate / (1.0 + settings.decay * tree.leaf[leaf, layout.PRACTICE])
        for _ in range(weight):
            _practise(tree, leaf, work, truth, rate)
    _observe(tree, leaf, rows, row, truth, float(weight))
    tree.total[0] += weight
    for j in range(rows.starts[row], rows.starts[row + 1]):
        tree.input_sum[rows.indices[j], 0] += weight * rows.values[j]
        tree.input_sum[rows.indices[j], 1] += weight * rows.values[j] * rows.values[j]
    for t in range(len(truth)):
        if truth[t] >= 0:
            tree.target_sum[t, 0] += weight
            tree.target_sum[t, 1] += weight * truth[t]
    if tree.leaf[leaf, layout.SEEN] - tree.leaf[leaf, layout.LAST_ATTEMPT] >= settings.grace_period:
        tree.leaf[leaf, layout.LAST_ATTEMPT] = tree.leaf[leaf, layout.SEEN]
        i, threshold = choose(tree, settings, leaf)
        if i >= 0:
            split(tree, node, i, threshold)


@kernel
def _numeric_inputs(tree: TargetTrees) -> Ints:
    """Return the numeric inputs. Compiling `np.flatnonzero` takes longer."""
    found = np.empty(len(tree.place), np.int64)
    count = 0
    for i in range(len(tree.place)):
        if tree.place[i] >= 0:
            found[count] = i
            count += 1
    return found[:count]


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

    Return the number of rows, or the first row for which the tree has no room; nothing was done to that row yet. A
    split needs two further nodes and one further leaf.
    """
    n_inputs = len(tree.place)
    work = TreeWork(
        settings,
        np.zeros(n_inputs),
        _numeric_inputs(tree),
        np.zeros(n_inputs + 1, np.int64),
        np.zeros(n_inputs + 1),
        np.zeros(1, np.int64),
        np.zeros(truth.shape[1]),
    )
    for row in range(first, len(rows.starts) - 1):
        if weights[row] > 0 and (tree.top[0] + 2 > len(tree.node) or tree.top[1] + 1 > len(tree.leaf)):
            return row
        open_row(rows, row, work.dense)
        node = _find(tree, work.dense)
        leaf = tree.node[node, layout.LEAF]
        _standardise(tree, rows, row, work)
        _perceive(tree, leaf, work)
        _predict(tree, leaf, work.perceived, out[row])
        if weights[row] > 0:
            _learn(tree, node, rows, row, truth[row], weights[row], work)
        close_row(rows, row, work.dense)
    return len(rows.starts) - 1
