"""MLHAT: routes, votes and learning; what is to change about the tree itself is told, and happens in Python."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.drift.adwin import ADWINArrays, ADWINParameters, adwin_step
from marlene.kernels.drift.detectors import DRIFT
from marlene.kernels.rivals.tree_leaves import teach_leaf, vote_of_leaf
from marlene.kernels.rivals.tree_splits import AT, ON, should_split
from marlene.kernels.rivals.tree_state import (
    ALTERNATE,
    INPUT,
    LEAF,
    LEFT,
    NONE,
    RIGHT,
    AdaptiveTree,
    TreeSettings,
)
from marlene.kernels.rows import Rows, close_row, open_row

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels

LEAST_ERROR = 1e-6
"""A tree that made no errors is trusted as if it had made so many."""
SPLIT, START, SWITCH, DROP = range(4)
"""What is to change at a node: it splits; it gets an alternate tree, is replaced by it, or loses it."""
CHANGE_COLUMNS = 4
"""Of a change: which one, the node, the input and the threshold."""


@inlined
def _next(tree: AdaptiveTree, node: int, dense: Floats) -> int:
    """Return the child that an example goes to."""
    side = LEFT if dense[tree.node[node, INPUT]] <= tree.threshold[node] else RIGHT
    return int(tree.node[node, side])


@inlined
def _end(tree: AdaptiveTree, node: int, dense: Floats) -> int:
    """Return the node without a test that an example reaches from a node, past alternate trees."""
    while tree.node[node, INPUT] >= 0:
        node = _next(tree, node, dense)
    return node


@inlined
def _error(detector: ADWINArrays, node: int) -> float:
    """Return the mean of a node's recent errors."""
    return float(detector.total[node] / max(1, detector.width[node]))


@inlined
def _loss(part: Floats, truth: Labels) -> float:
    """Return the share of known labels that are predicted wrongly."""
    wrong, known = 0, 0
    for label in range(len(truth)):
        if truth[label] >= 0:
            known += 1
            wrong += 1 if (part[label] > 0.5) != (truth[label] == 1) else 0
    return wrong / known


@inlined
def _mix(part: Floats, error: float, votes: Floats) -> None:
    """Add a vote, weighted by 1 / its squared error."""
    trust = 1.0 / max(LEAST_ERROR, error) ** 2
    for label in range(len(part)):
        if not math.isnan(part[label]):
            votes[label, 0] += trust * part[label]
            votes[label, 1] += trust


@inlined
def _tell(changes: Floats, told: int, change: int, node: int) -> int:
    """Add a change; return how many there are."""
    changes[told, 0], changes[told, 1] = change, node
    return told + 1


@subkernel
def _watch(
    tree: AdaptiveTree,
    detector: ADWINArrays,
    parameters: ADWINParameters,
    node: int,
    dense: Floats,
    loss: float,
    changes: Floats,
    told: int,
    may_start: bool,
) -> int:
    """Give the loss to the detectors of all nodes on the way from a node; tell where errors rise."""
    while True:
        risen = adwin_step(detector, parameters, node, loss) == DRIFT
        if tree.node[node, INPUT] < 0:
            return told
        if may_start and risen and tree.node[node, ALTERNATE] == NONE:
            told = _tell(changes, told, START, node)
        node = _next(tree, node, dense)


@subkernel
def _judge(detector: ADWINArrays, settings: TreeSettings, node: int, other: int, changes: Floats, told: int) -> int:
    """Tell whether a branch is replaced by its alternate tree, or loses it, as their errors differ enough."""
    ours, theirs = detector.width[node], detector.width[other]
    if min(ours, theirs) > settings.patience:
        error = _error(detector, node)
        difference = error - _error(detector, other)
        spread = 2.0 * error * (1.0 - error) * settings.log_of_significance * (1.0 / ours + 1.0 / theirs)
        if abs(difference) > math.sqrt(max(0.0, spread)):
            return _tell(changes, told, SWITCH if difference > 0 else DROP, node)
    return told


@inlined
def _teach(
    tree: AdaptiveTree,
    settings: TreeSettings,
    node: int,
    rows: Rows,
    row: int,
    truth: Labels,
    times: Ints,
    active: Floats,
    found: Floats,
    changes: Floats,
    told: int,
) -> int:
    """Let a leaf learn a row; tell whether it splits."""
    leaf = tree.node[node, LEAF]
    teach_leaf(tree, settings, leaf, rows, row, truth, times, active)
    if should_split(tree, settings, leaf, found):
        changes[told, 2], changes[told, 3] = found[ON], found[AT]
        return _tell(changes, told, SPLIT, node)
    return told


@kernel
def run_adaptive_tree(
    tree: AdaptiveTree,
    detector: ADWINArrays,
    parameters: ADWINParameters,
    settings: TreeSettings,
    rows: Rows,
    truth: Labels,
    times: Ints,
    first: int,
    learning: bool,
    out: Floats,
    changes: Floats,
) -> tuple[int, int]:
    """For each row from `first` on, write P(label), NaN without evidence, and learn the row if a label is known.

    Return the next row, and how many changes are to happen before it. The vote of the leaf that a row reaches is mixed
    with those of the alternate trees on the way there.
    """
    n_labels = tree.label.shape[1]
    dense, near, found = np.zeros(len(tree.numeric)), np.empty((settings.neighbours, 2)), np.empty(4)
    active, part = np.empty((tree.coefficient.shape[2], n_labels)), np.empty(n_labels)
    own, votes = np.empty(n_labels), np.empty((n_labels, 2))
    for row in range(first, len(rows.starts) - 1):
        open_row(rows, row, dense)
        end = _end(tree, 0, dense)
        vote_of_leaf(tree, settings, tree.node[end, LEAF], rows, row, dense, near, active, own)
        votes[:] = 0.0
        _mix(own, _error(detector, 0), votes)
        node = 0
        while tree.node[node, INPUT] >= 0:
            other = tree.node[node, ALTERNATE]
            if other != NONE and detector.width[other] > settings.patience:
                leaf = tree.node[_end(tree, other, dense), LEAF]
                vote_of_leaf(tree, settings, leaf, rows, row, dense, near, active, part)
                _mix(part, _error(detector, other), votes)
            node = _next(tree, node, dense)
        for label in range(out.shape[1]):
            out[row, label] = votes[label, 0] / votes[label, 1] if votes[label, 1] > 0 else np.nan
        told = 0
        if learning and (truth[row] >= 0).any():
            labels, often = truth[row], times[row]
            told = _watch(tree, detector, parameters, 0, dense, _loss(own, labels), changes, told, True)
            node = 0
            while tree.node[node, INPUT] >= 0:
                other = tree.node[node, ALTERNATE]
                if other != NONE:
                    there = _end(tree, other, dense)
                    vote_of_leaf(tree, settings, tree.node[there, LEAF], rows, row, dense, near, active, part)
                    loss = _loss(part, labels)
                    told = _watch(tree, detector, parameters, other, dense, loss, changes, told, False)
                    told = _judge(detector, settings, node, other, changes, told)
                    told = _teach(tree, settings, there, rows, row, labels, often, active, found, changes, told)
                node = _next(tree, node, dense)
            told = _teach(tree, settings, end, rows, row, labels, often, active, found, changes, told)
        close_row(rows, row, dense)
        if told > 0:
            return row + 1, told
    return len(rows.starts) - 1, 0
