"""A chain of Hoeffding trees over labels: every link sees the labels of those before it (Read et al. 2009)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.forest.branches import new_space
from marlene.kernels.forest.observers import entries_needed
from marlene.kernels.forest.trees import Arrival, Example, count_numeric, has_room, leaf_at, learn, root_of, route, vote

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


class Scratch(NamedTuple):
    """Arrays to work in.

    Attributes
    ----------
    indices, values, dense
        The row in the forest's columns.
    node, branch, bayes
        Per link: where the row arrives in its tree, and the class of naive Bayes.
    predicted, shown
        Per link: the label it predicts, and the label the later links learn with.
    """

    indices: Ints
    values: Floats
    dense: Floats
    node: Ints
    branch: Ints
    bayes: Ints
    predicted: Labels
    shown: Labels


class Links(NamedTuple):
    """A chain at work: its trees, and arrays to work in."""

    forest: Forest
    settings: Settings
    chain: Chain
    scratch: Scratch
    space: Space


@inlined
def _open_row(scratch: Scratch, column: Ints, rows: Rows, row: int) -> tuple[int, bool]:
    """Write a row in the forest's columns; return how many values it has and whether one is missing."""
    indices, values = scratch.indices, scratch.values
    count = 0
    missing = False
    for j in range(rows.starts[row], rows.starts[row + 1]):
        indices[count] = column[rows.indices[j]]
        values[count] = rows.values[j]
        scratch.dense[indices[count]] = values[count]
        missing = missing or math.isnan(values[count])
        count += 1
    return count, missing


@inlined
def _with_labels(scratch: Scratch, plain: Example, known: int) -> Example:
    """Return the row with the labels added so far, which has `known` values."""
    indices, values = scratch.indices[:known], scratch.values[:known]
    return Example(indices, values, scratch.dense, plain.missing, plain.n_numeric, plain.others, plain.places, 0)


@inlined
def _show(scratch: Scratch, column: int, known: int) -> int:
    """Add a label, by its column, to the row, which has `known` values; return the new number of values."""
    scratch.indices[known] = column
    scratch.values[known] = 1.0
    scratch.dense[column] = 1.0
    return known + 1


@inlined
def _hide(scratch: Scratch, begin: int, end: int) -> None:
    """Set the given values of the dense row to zero again."""
    for j in range(begin, end):
        scratch.dense[scratch.indices[j]] = 0.0


@subkernel
def _ask(links: Links, j: int, example: Example, learning: bool) -> None:
    """Let link j vote on a row with the labels shown to it."""
    forest, space, scratch = links.forest, links.space, links.scratch
    node, branch = route(forest, root_of(forest, links.chain.tree[j]), scratch.dense)
    scratch.node[j], scratch.branch[j] = node, branch
    scratch.bayes[j] = vote(forest, links.settings, node, branch, example, learning, space, space.votes)


@inlined
def _predict_row(links: Links, plain: Example, learning: bool, truth: Labels, out: Floats) -> None:
    """Let every link vote, with the labels that the links before it predict."""
    known = len(plain.indices)
    votes, chain, scratch = links.space.votes, links.chain, links.scratch
    for j in range(len(chain.tree)):
        label = chain.label[j]
        _ask(links, j, _with_labels(scratch, plain, known), learning)
        out[label] = votes[1] if votes[0] + votes[1] > 0.0 else 0.5
        scratch.predicted[j] = votes[1] > votes[0]
        scratch.shown[j] = scratch.predicted[j] if truth[label] < 0 else truth[label]
        if scratch.predicted[j] == 1:
            known = _show(scratch, chain.label_column[label], known)
    _hide(scratch, len(plain.indices), known)


@inlined
def _has_room(links: Links, plain: Example, position: Ints) -> bool:
    """Tell whether every link can learn the row; write the table entries it needs to `position`."""
    forest, chain, scratch = links.forest, links.chain, links.scratch
    presence, numeric = 0, 0
    known = len(plain.indices)
    for j in range(len(chain.tree)):
        node, branch = route(forest, root_of(forest, chain.tree[j]), scratch.dense)
        example = _with_labels(scratch, plain, known)
        more_presence, more_numeric = entries_needed(forest, leaf_at(forest, node, branch), example)
        presence += more_presence
        numeric += more_numeric
        if scratch.shown[j] == 1:
            known = _show(scratch, chain.label_column[chain.label[j]], known)
    _hide(scratch, len(plain.indices), known)
    position[1], position[2] = presence, numeric
    return has_room(forest, len(chain.tree), presence, numeric)


@inlined
def _learn_row(links: Links, plain: Example, truth: Labels, weight: int) -> None:
    """Train every link with the true labels before it.

    A link that has voted with other labels before it votes again: `learn` needs the class of naive Bayes.
    """
    chain, scratch = links.chain, links.scratch
    known = len(plain.indices)
    same = True
    for j in range(len(chain.tree)):
        # Arguments have the same types as elsewhere; with others, the trees would be compiled once more.
        y = int(np.int64(truth[chain.label[j]]))
        if y >= 0:
            example = _with_labels(scratch, plain, known)
            if not same:
                _ask(links, j, example, weight > 0)
            arrival = Arrival(chain.tree[j], scratch.node[j], scratch.branch[j], scratch.bayes[j])
            learn(links.forest, links.settings, arrival, example, y, weight, links.space)
        same = same and scratch.shown[j] == scratch.predicted[j]
        if scratch.shown[j] == 1:
            known = _show(scratch, chain.label_column[chain.label[j]], known)
    _hide(scratch, len(plain.indices), known)


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
    """Let a chain vote on every row and learn it where the weight is not 0, from `position` on.

    A link votes with the labels that the links before it predict, and learns with the true ones. A label that is not
    known (-1) is replaced by its prediction, and its own link learns nothing.

    Parameters
    ----------
    position
        Row, and needed entries of the presence and the numeric table. The kernel is done when the row is past the last.
        Otherwise the forest is too small for that row, to which nothing was done yet; the other two numbers say how
        many new entries it needs.
    out
        P(label) (rows × labels), 0.5 without evidence.
    """
    n, n_links = len(forest.kind), len(chain.tree)
    scratch = Scratch(
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
    links = Links(forest, settings, chain, scratch, space)
    for row in range(position[0], len(rows.starts) - 1):
        count, missing = _open_row(scratch, chain.column, rows, row)
        indices, values = scratch.indices[:count], scratch.values[:count]
        n_numeric, others = count_numeric(forest.kind, indices, values)
        plain = Example(indices, values, scratch.dense, missing, n_numeric, others, space.places, 0)
        weight = weights[row]
        _predict_row(links, plain, weight > 0, truth[row], out[row])
        if weight > 0:
            if not _has_room(links, plain, position):
                position[0] = row
                return
            _learn_row(links, plain, truth[row], weight)
        _hide(scratch, 0, len(plain.indices))
    position[0] = len(rows.starts) - 1
