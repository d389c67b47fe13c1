"""What a leaf of MLHAT learns, and how it votes: its one label set, its nearest neighbours or its linear models."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.rivals.tree_state import (
    FILLED,
    MOST_SETS,
    NEXT,
    SETS,
    SQUARES,
    SUM,
    TIMES,
    WEIGHT,
    AdaptiveTree,
    TreeSettings,
)

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.rows import Rows

CLOSEST = 1e-9
"""Examples that are closer than this count as if they were so close."""
STEEPEST = 500.0
"""The logistic function is not asked for larger numbers."""
INTERCEPT_RATE = 0.01


@inlined
def binary_entropy(share: float) -> float:
    """Return the entropy, in bits, of something with a probability; one outside of 0 to 1 counts as certain."""
    if share <= 0.0 or share >= 1.0:
        return 0.0
    return -(share * math.log2(share) + (1.0 - share) * math.log2(1.0 - share))


@subkernel
def entropy_of(tree: AdaptiveTree, leaf: int) -> float:
    """Return the entropy of the labels in a leaf, as if they were independent."""
    total, weight = 0.0, tree.leaf[leaf, WEIGHT]
    for label in range(tree.label.shape[1]):
        total += binary_entropy(tree.label[leaf, label] / weight)
    return total


@subkernel
def _neighbour_vote(
    tree: AdaptiveTree,
    settings: TreeSettings,
    leaf: int,
    rows: Rows,
    row: int,
    dense: Floats,
    near: Floats,
    out: Floats,
) -> None:
    """Vote by the nearest of the latest examples, weighted by 1 / distance; `near` is work space."""
    found, whole, n_labels = 0, 0.0, len(out)
    for j in range(rows.starts[row], rows.starts[row + 1]):
        whole += rows.values[j] * rows.values[j]
    for i in range(tree.counts[leaf, FILLED]):
        apart, common = 0.0, 0.0
        for j in range(tree.size[leaf, i]):
            x, other = dense[tree.where[leaf, i, j]], tree.value[leaf, i, j]
            apart += (x - other) * (x - other)
            common += x * x
        distance = math.sqrt(apart + max(0.0, whole - common))
        place = found
        while place > 0 and near[place - 1, 0] > distance:
            place -= 1
        if place < settings.neighbours:
            found = min(found + 1, settings.neighbours)
            for j in range(found - 1, place, -1):
                near[j, 0], near[j, 1] = near[j - 1, 0], near[j - 1, 1]
            near[place, 0], near[place, 1] = distance, i
    for label in range(n_labels):
        true, known = 0.0, 0.0
        for j in range(found):
            truth, weight = tree.truth[leaf, int(near[j, 1]), label], 1.0 / max(near[j, 0], CLOSEST)
            true += weight if truth == 1 else 0.0
            known += weight if truth >= 0 else 0.0
        out[label] = true / known if known > 0 else np.nan


@inlined
def _logistic(z: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-STEEPEST, min(STEEPEST, z))))


@subkernel
def _activate(tree: AdaptiveTree, leaf: int, rows: Rows, row: int, active: Floats) -> None:
    """Write the predictions of all linear models (members × labels), before the logistic function."""
    members, n_labels = active.shape
    for m in range(members):
        for label in range(n_labels):
            active[m, label] = tree.coefficient[leaf, 0, m, label]
    for j in range(rows.starts[row], rows.starts[row + 1]):
        place, x = 1 + rows.indices[j], rows.values[j]
        for m in range(members):
            for label in range(n_labels):
                active[m, label] += tree.coefficient[leaf, place, m, label] * x


@subkernel
def vote_of_leaf(
    tree: AdaptiveTree,
    settings: TreeSettings,
    leaf: int,
    rows: Rows,
    row: int,
    dense: Floats,
    near: Floats,
    active: Floats,
    out: Floats,
) -> None:
    """Write P(label); NaN without evidence."""
    weight, n_labels = tree.leaf[leaf, WEIGHT], len(out)
    if tree.counts[leaf, SETS] <= 1:
        for label in range(n_labels):
            out[label] = tree.label[leaf, label] / weight if weight > 0 else np.nan
    elif weight < settings.cardinality or entropy_of(tree, leaf) < settings.entropy:
        _neighbour_vote(tree, settings, leaf, rows, row, dense, near, out)
    else:
        _activate(tree, leaf, rows, row, active)
        for label in range(n_labels):
            total = 0.0
            for m in range(len(active)):
                total += _logistic(active[m, label])
            out[label] = total / len(active)


@inlined
def _count_set(tree: AdaptiveTree, leaf: int, truth: Labels) -> None:
    """Count a label set if it is new, by its hash (FNV); an unknown label counts as false."""
    code = np.uint64(14695981039346656037)
    for label in range(len(truth)):
        if truth[label] == 1:
            code = (code ^ np.uint64(label + 1)) * np.uint64(1099511628211)
    place = np.int64(code % np.uint64(MOST_SETS))
    code = code | np.uint64(1)  # 0 is an empty place
    for _ in range(MOST_SETS):
        if tree.sets[leaf, place] == code:
            return
        if tree.sets[leaf, place] == np.uint64(0):
            tree.sets[leaf, place] = code
            tree.counts[leaf, SETS] += 1
            return
        place = (place + 1) % MOST_SETS


@inlined
def _observe(tree: AdaptiveTree, leaf: int, rows: Rows, row: int, truth: Labels, weight: float) -> None:
    """Add a row to the moments and bounds of its inputs."""
    everything = len(truth)
    for j in range(rows.starts[row], rows.starts[row + 1]):
        i, x = rows.indices[j], rows.values[j]
        moment, bound = tree.moment[leaf, i], tree.bound[leaf, i]
        first = moment[everything, TIMES] == 0
        bound[0] = x if first else min(x, bound[0])
        bound[1] = x if first else max(x, bound[1])
        for label in range(everything + 1):
            if label == everything or truth[label] == 1:
                moment[label, TIMES] += weight
                moment[label, SUM] += weight * x
                moment[label, SQUARES] += weight * x * x


@inlined
def _remember(tree: AdaptiveTree, leaf: int, rows: Rows, row: int, truth: Labels) -> None:
    """Let a row take the place of the oldest of the latest examples."""
    i, size = tree.counts[leaf, NEXT], 0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        tree.where[leaf, i, size], tree.value[leaf, i, size] = rows.indices[j], rows.values[j]
        size += 1
    tree.size[leaf, i] = size
    for label in range(len(truth)):
        tree.truth[leaf, i, label] = truth[label]
    tree.counts[leaf, FILLED] = max(tree.counts[leaf, FILLED], i + 1)
    tree.counts[leaf, NEXT] = (i + 1) % tree.size.shape[1]


@subkernel
def _descend(
    tree: AdaptiveTree, rate: float, leaf: int, rows: Rows, row: int, truth: Labels, times: Ints, active: Floats
) -> None:
    """Let each linear model take so many gradient steps of the logistic loss as its member learns the row."""
    members, n_labels = active.shape
    most = 0
    for m in range(members):
        most = max(most, times[m])
    for step in range(most):
        _activate(tree, leaf, rows, row, active)
        for m in range(members):
            for label in range(n_labels):
                learns = times[m] > step and truth[label] >= 0
                active[m, label] = _logistic(active[m, label]) - truth[label] if learns else 0.0
                tree.coefficient[leaf, 0, m, label] -= INTERCEPT_RATE * active[m, label]
        for j in range(rows.starts[row], rows.starts[row + 1]):
            place, x = 1 + rows.indices[j], rows.values[j]
            for m in range(members):
                for label in range(n_labels):
                    tree.coefficient[leaf, place, m, label] -= rate * active[m, label] * x


@subkernel
def teach_leaf(
    tree: AdaptiveTree,
    settings: TreeSettings,
    leaf: int,
    rows: Rows,
    row: int,
    truth: Labels,
    times: Ints,
    active: Floats,
) -> None:
    """Let a leaf learn a row; `times` has its weight in the tree, then how often each linear model learns it."""
    weight = max(1, times[0])
    tree.leaf[leaf, WEIGHT] += weight
    for label in range(len(truth)):
        tree.label[leaf, label] += weight if truth[label] == 1 else 0
    _count_set(tree, leaf, truth)
    _observe(tree, leaf, rows, row, truth, weight)
    _remember(tree, leaf, rows, row, truth)
    _descend(tree, settings.learning_rate, leaf, rows, row, truth, times[1:], active)
