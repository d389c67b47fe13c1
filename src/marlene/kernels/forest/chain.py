"""A chain of Hoeffding trees over labels: every link sees the labels of those before it (Read et al. 2009)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.forest.branches import new_space
from marlene.kernels.forest.observers import entries_needed
from marlene.kernels.forest.state import LEAF
from marlene.kernels.forest.tables import order_for
from marlene.kernels.forest.trees import Example, count_numeric, learn, route, vote

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest, Settings
    from marlene.kernels.rows import Rows


class Chain(NamedTuple):
    """One chain.

    Attributes
    ----------
    tree, label
        Tree and label of every link, in the order of the chain.
    column
        The forest's column of every feature.
    label_column
        The forest's column of every label.
    """

    tree: Ints
    label: Ints
    column: Ints
    label_column: Ints


class ChainWork(NamedTuple):
    """Arrays to work in: the row in the forest's columns, and of every link where the row comes to in its tree.

    `predicted` is what a link predicts, `shown` the label that the links after it learn with.
    """

    indices: Ints
    values: Floats
    dense: Floats
    node: Ints
    branch: Ints
    bayes: Ints
    predicted: Labels
    shown: Labels


@inlined
def _open_row(rows: Rows, row: int, column: Ints, work: ChainWork) -> tuple[int, bool]:
    """Write a row in the forest's columns; return how many values it has and whether one is missing."""
    indices, values = work.indices, work.values
    count = 0
    missing = False
    for j in range(rows.starts[row], rows.starts[row + 1]):
        indices[count] = column[rows.indices[j]]
        values[count] = rows.values[j]
        work.dense[indices[count]] = values[count]
        missing = missing or math.isnan(values[count])
        count += 1
    return count, missing


@inlined
def _with_labels(plain: Example, work: ChainWork, known: int) -> Example:
    """Return a row with the labels that were added to it; it has so many values then."""
    indices, values = work.indices[:known], work.values[:known]
    return Example(indices, values, work.dense, plain.missing, plain.n_numeric, plain.others)


@inlined
def _show(chain: Chain, work: ChainWork, j: int, known: int) -> int:
    """Add the label of link j to the row, which has so many values; return how many it has then."""
    work.indices[known] = chain.label_column[chain.label[j]]
    work.values[known] = 1.0
    work.dense[work.indices[known]] = 1.0
    return known + 1


@inlined
def _hide(work: ChainWork, begin: int, end: int) -> None:
    for j in range(begin, end):
        work.dense[work.indices[j]] = 0.0


@subkernel
def _ask(
    forest: Forest,
    settings: Settings,
    chain: Chain,
    j: int,
    plain: Example,
    known: int,
    learning: bool,
    work: ChainWork,
    space: Space,
) -> None:
    """Let a link vote on a row and the labels it was told: so many values."""
    example = _with_labels(plain, work, known)
    node, branch = route(forest, chain.tree[j], work.dense)
    work.node[j], work.branch[j] = node, branch
    work.bayes[j] = vote(forest, settings, node, branch, example, learning, space, space.votes)


@inlined
def _predict_row(
    forest: Forest,
    settings: Settings,
    chain: Chain,
    plain: Example,
    learning: bool,
    truth: Labels,
    work: ChainWork,
    space: Space,
    out: Floats,
) -> None:
    """Let every link vote, with the labels that those before it predict."""
    known = len(plain.indices)
    votes = space.votes
    for j in range(len(chain.tree)):
        label = chain.label[j]
        _ask(forest, settings, chain, j, plain, known, learning, work, space)
        out[label] = votes[1] if votes[0] + votes[1] > 0.0 else 0.5
        work.predicted[j] = votes[1] > votes[0]
        work.shown[j] = work.predicted[j] if truth[label] < 0 else truth[label]
        if work.predicted[j] == 1:
            known = _show(chain, work, j, known)
    _hide(work, len(plain.indices), known)


@inlined
def _has_room(forest: Forest, chain: Chain, plain: Example, work: ChainWork, position: Ints) -> bool:
    """Tell whether every link can learn the row; if not, leave in `position` what entries that takes."""
    n = len(chain.tree)
    presence, numeric = 0, 0
    known = len(plain.indices)
    for j in range(n):
        node, branch = route(forest, chain.tree[j], work.dense)
        leaf = forest.node[node, LEAF] if node >= 0 and branch < 0 else -1
        example = _with_labels(plain, work, known)
        more_presence, more_numeric = entries_needed(forest, leaf, example)
        presence += more_presence
        numeric += more_numeric
        if work.shown[j] == 1:
            known = _show(chain, work, j, known)
    _hide(work, len(plain.indices), known)
    position[1], position[2] = presence, numeric
    return bool(
        forest.node_top[0] + n * (2 << order_for(forest.widest)) <= len(forest.node_link)
        and forest.leaf_top[0] + n * (forest.widest + 1) <= len(forest.leaf_link)
        and forest.presence.top[0] + presence <= len(forest.presence.key)
        and forest.numeric.top[0] + numeric <= len(forest.numeric.key)
    )


@inlined
def _learn_row(
    forest: Forest,
    settings: Settings,
    chain: Chain,
    plain: Example,
    truth: Labels,
    weight: int,
    work: ChainWork,
    space: Space,
) -> None:
    """Train every link with the true labels before it; where all of them were predicted, it has voted already."""
    # Arguments have the types they have elsewhere: for others, the trees would be compiled once more.
    known = len(plain.indices)
    same = True
    for j in range(len(chain.tree)):
        y = int(np.int64(truth[chain.label[j]]))
        if y >= 0:
            if not same:
                _ask(forest, settings, chain, j, plain, known, weight > 0, work, space)
            example = _with_labels(plain, work, known)
            node, branch, bayes = work.node[j], work.branch[j], work.bayes[j]
            learn(forest, settings, chain.tree[j], node, branch, bayes, example, y, weight, space)
        same = same and work.shown[j] == work.predicted[j]
        if work.shown[j] == 1:
            known = _show(chain, work, j, known)
    _hide(work, len(plain.indices), known)


@kernel
def run_chain(
    forest: Forest,
    settings: Settings,
    chain: Chain,
    rows: Rows,
    truth: Labels,
    weights: Ints,
    position: Ints,
    out: Floats,
) -> None:
    """Let a chain vote on every row, and train it where the weight is not 0, from row `position[0]` on.

    A link votes with the labels predicted by those before it and learns with the true ones; where one is not known
    (-1), with the predicted one, and the link of that label learns nothing. P(label) is written to `out` (rows ×
    labels), 0.5 without evidence. If the row `position` ends at is not past the last, the forest is too small for it,
    and nothing was done to it: it needs as many further entries of the two tables as the other two numbers say.
    """
    n, n_links = len(forest.kind), len(chain.tree)
    work = ChainWork(
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n_links, np.int64),
        np.zeros(n_links, np.int64),
        np.zeros(n_links, np.int64),
        np.zeros(n_links, np.int8),
        np.zeros(n_links, np.int8),
    )
    space = new_space(forest.widest, forest.node_count.shape[1], len(forest.kind))
    for row in range(position[0], len(rows.starts) - 1):
        count, missing = _open_row(rows, row, chain.column, work)
        indices, values = work.indices[:count], work.values[:count]
        n_numeric, others = count_numeric(forest.kind, indices, values)
        plain = Example(indices, values, work.dense, missing, n_numeric, others)
        weight = weights[row]
        _predict_row(forest, settings, chain, plain, weight > 0, truth[row], work, space, out[row])
        if weight > 0:
            if not _has_room(forest, chain, plain, work, position):
                position[0] = row
                return
            _learn_row(forest, settings, chain, plain, truth[row], weight, work, space)
        _hide(work, 0, len(plain.indices))
    position[0] = len(rows.starts) - 1
