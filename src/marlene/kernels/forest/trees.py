"""Voting and learning of a forest, example by example and in blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.forest import state as layout
from marlene.kernels.forest.branches import new_space
from marlene.kernels.forest.gains import is_pure, row_sum
from marlene.kernels.forest.leaves import BY_MAJORITY, decide, majority_class, rule_of, score
from marlene.kernels.forest.observers import entries_needed, make_room, observe, surely_fits
from marlene.kernels.forest.splits import choose, clear_node, drop_leaf, may_grow, move_node, new_leaf, split
from marlene.kernels.forest.tables import allocate, append, order_for, release
from marlene.kernels.rows import close_row, open_row

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest, Settings
    from marlene.kernels.forest.tables import Arena
    from marlene.kernels.rows import Rows


class Example(NamedTuple):
    """One example.

    Attributes
    ----------
    indices, values
        The non-zero and the missing values, and their features.
    dense
        The values of all features.
    missing
        Whether a value is missing.
    n_numeric, others
        How many values are numbers of numeric features, and how many of these come before the first other value.
    places, known
        For every other value its place in the presence table of the leaf that is asked, or -1. Those of the first
        `known` values are there already; `find_present` writes the rest.
    """

    indices: Ints
    values: Floats
    dense: Floats
    missing: bool
    n_numeric: int
    others: int
    places: Ints
    known: int


class Arrival(NamedTuple):
    """Where an example arrives in a tree (see `route`), and the class naive Bayes predicts there."""

    tree: int
    node: int
    branch: int
    bayes_class: int


@inlined
def count_numeric(kinds: Ints, indices: Ints, values: Floats) -> tuple[int, int]:
    """Return `n_numeric` and `others` of an example."""
    count = 0
    leading = 0
    for j in range(len(indices)):
        if kinds[indices[j]] == 0 and not math.isnan(values[j]):
            leading += count == j
            count += 1
    return count, leading


@inlined
def branch_of(forest: Forest, node: int, value: float) -> int:
    """Return the branch that a value takes at a split."""
    row = forest.node[node]
    if math.isnan(value):
        return int(row[layout.HEAVIEST])
    if row[layout.TEST] == layout.NUMERIC_TEST:
        return 0 if value <= forest.node_value[node] else 1
    if row[layout.TEST] == layout.EQUALS_TEST:
        return 0 if value == forest.node_value[node] else 1
    return int(value)


@inlined
def follow(forest: Forest, node: int, value: float) -> tuple[int, int]:
    """Return where a value leads from a split: a node and -1, or the split and a branch that does not exist yet."""
    branch = branch_of(forest, node, value)
    if branch >= forest.node[node, layout.BRANCHES]:
        return node, branch
    child = forest.node[node, layout.CHILDREN] + branch
    if forest.node[child, layout.STATE] == layout.ABSENT:
        return node, branch
    return int(child), -1


@inlined
def root_of(forest: Forest, tree: int) -> int:
    """Return the first node of a tree; -1 if it is untrained."""
    return int(forest.tree[tree, layout.ROOT]) - 1


@inlined
def route(forest: Forest, start: int, dense: Floats) -> tuple[int, int]:
    """Return the node where an example arrives from a node on its way, and a branch.

    - a leaf and -1;
    - a split and the branch to take, which does not exist yet;
    - -1 and -1 in an untrained tree.
    """
    node, branch = start, -1
    while node >= 0 and branch < 0 and forest.node[node, layout.STATE] == layout.IS_SPLIT:
        node, branch = follow(forest, node, dense[forest.node[node, layout.FEATURE]])
    return node, branch


@inlined
def leaf_at(forest: Forest, node: int, branch: int) -> int:
    """Return the leaf a route ends at; -1 if it does not exist yet."""
    return int(forest.node[node, layout.LEAF]) if node >= 0 and branch < 0 else -1


@inlined
def vote(
    forest: Forest,
    settings: Settings,
    node: int,
    branch: int,
    example: Example,
    learning: bool,
    space: Space,
    out: Floats,
) -> int:
    """Write the votes of a tree at the end of a route; return the class of naive Bayes, for `learn`.

    A branch that does not exist yet votes as its split node did when it was a leaf.
    """
    rule = rule_of(forest, settings, node, learning) if node >= 0 and branch < 0 else BY_MAJORITY
    if rule != BY_MAJORITY:
        score(forest, settings, node, example, space, out)
    return decide(forest, node, rule, out)


@inlined
def has_room(forest: Forest, trees: int, presence: int, numeric: int) -> bool:
    """Tell whether there is room to train `trees` trees on an example that needs so many new table entries."""
    return bool(
        forest.node_top[0] + trees * (2 << order_for(forest.widest)) <= len(forest.node_link)
        and forest.leaf_top[0] + trees * (forest.widest + 1) <= len(forest.leaf_link)
        and forest.presence.top[0] + presence <= len(forest.presence.key)
        and forest.numeric.top[0] + numeric <= len(forest.numeric.key)
    )


@inlined
def can_learn(forest: Forest, leaf: int, example: Example) -> bool:
    """Tell whether there is room for all that one example can bring to a leaf; nothing is changed."""
    if leaf >= 0 and not forest.inherit and surely_fits(forest, leaf, example):
        return has_room(forest, 1, 0, 0)
    presence, numeric = entries_needed(forest, leaf, example)
    return has_room(forest, 1, presence, numeric)


@subkernel
def _grow_leaf(forest: Forest, tree: int, node: int, branch: int) -> int:
    """Make the leaf an example needs: the root, or a branch that a multiway split has not had yet."""
    if node < 0:
        root = allocate(forest.node_free, forest.node_top, forest.node_link, 0)
        forest.tree[tree, layout.ROOT] = root + 1
        new_leaf(forest, tree, root, 0)
        return root
    row = forest.node[node]
    n_branches = row[layout.BRANCHES]
    if branch >= n_branches:
        old_order, new_order = order_for(n_branches), order_for(branch + 1)
        if new_order > old_order:
            first = allocate(forest.node_free, forest.node_top, forest.node_link, new_order)
            for b in range(n_branches):
                move_node(forest, row[layout.CHILDREN] + b, first + b)
            release(forest.node_free, forest.node_link, row[layout.CHILDREN], old_order)
            row[layout.CHILDREN] = first
        row[layout.BRANCHES] = branch + 1
    child = row[layout.CHILDREN] + branch
    new_leaf(forest, tree, child, row[layout.LEVEL] + 1)
    return int(child)


@subkernel
def learn(
    forest: Forest, settings: Settings, arrival: Arrival, example: Example, y: int, weight: int, space: Space
) -> None:
    """Train a tree on one example of class `y` and an integer weight, as one update; there is room for it.

    1. Make the leaf if it does not exist yet.
    2. Count whether majority class and naive Bayes were right.
    3. Add the example to the statistics of the leaf.
    4. If the leaf has seen enough since the last attempt, try to split it.
    """
    tree, node = arrival.tree, arrival.node
    if node < 0 or arrival.branch >= 0:
        node = _grow_leaf(forest, tree, node, arrival.branch)
    leaf = forest.node[node, layout.LEAF]
    weights = forest.leaf_weight[leaf]
    if settings.leaf_prediction == layout.ADAPTIVE:
        if majority_class(forest, node) == y:
            weights[layout.MAJORITY_CORRECT] += weight
        if arrival.bayes_class == y:
            weights[layout.BAYES_CORRECT] += weight
    if not surely_fits(forest, leaf, example):
        make_room(forest, leaf, example)
    forest.node_count[node, y] += weight
    weights[layout.WEIGHTS_SQUARED] += float(weight) * weight
    forest.node[node, layout.CLASSES] = max(forest.node[node, layout.CLASSES], y + 1)
    observe(forest, leaf, example, y, weight, settings.variance_floor, space)
    total = row_sum(forest.node_count, node)
    if total - weights[layout.LAST_ATTEMPT] < settings.grace_period:
        return
    if may_grow(forest, settings, tree, node):
        weights[layout.LAST_ATTEMPT] = total
        if not is_pure(forest.node_count, node) and choose(forest, settings, node, space):
            split(forest, settings, tree, node, space)


@kernel
def run_block(
    forest: Forest,
    settings: Settings,
    trees: Ints,
    rows: Rows,
    y: Ints,
    weights: Ints,
    position: Ints,
    out: Floats,
) -> None:
    """Let `trees` vote on every row and learn it where the weight is not 0, from `position` on.

    Parameters
    ----------
    y, weights
        Classes and weights (rows × trees).
    position
        Row, tree, and needed entries of the presence and the numeric table. The kernel moves it forward. It is done
        when the row is past the last. Otherwise the arrays are too small for that row and tree, to which nothing was
        done yet; the last two numbers say how many new entries it needs.
    out
        Votes before training (rows × trees × classes).
    """
    dense = np.zeros(len(forest.kind))
    space = new_space(forest.widest, forest.node_count.shape[1], len(forest.kind))
    for row in range(position[0], len(rows.starts) - 1):
        missing = open_row(rows, row, dense)
        stored = slice(rows.starts[row], rows.starts[row + 1])
        indices, values = rows.indices[stored], rows.values[stored]
        n_numeric, others = count_numeric(forest.kind, indices, values)
        example = Example(indices, values, dense, missing, n_numeric, others, space.places, 0)
        for t in range(position[1], len(trees)):
            node, branch = route(forest, root_of(forest, trees[t]), dense)
            weight = weights[row, t]
            bayes_class = vote(forest, settings, node, branch, example, weight > 0, space, out[row, t])
            if weight > 0:
                leaf = leaf_at(forest, node, branch)
                if not can_learn(forest, leaf, example):
                    position[0], position[1] = row, t
                    position[2], position[3] = entries_needed(forest, leaf, example)
                    return
                arrival = Arrival(trees[t], node, branch, bayes_class)
                learn(forest, settings, arrival, example, y[row, t], weight, space)
        position[1] = 0
        close_row(rows, row, dense)
    position[0] = len(rows.starts) - 1


@kernel
def rebuild_index(table: Arena, starts: Ints, orders: Ints, used: Ints) -> None:
    """Build the index of every block from its keys."""
    for b in range(len(starts)):
        for place in range(used[b]):
            key = table.key[starts[b] + place]
            append(table.key, table.cells, starts[b], orders[b], place, key)


@kernel
def remove_tree(forest: Forest, tree: int) -> None:
    """Free everything a tree has, and its number."""
    root = forest.tree[tree, layout.ROOT] - 1
    if root >= 0:
        stack = [root]
        while len(stack) > 0:
            node = stack.pop()
            state = forest.node[node, layout.STATE]
            if state == layout.IS_LEAF:
                drop_leaf(forest, forest.node[node, layout.LEAF])
            elif state == layout.IS_SPLIT:
                first, n_branches = forest.node[node, layout.CHILDREN], forest.node[node, layout.BRANCHES]
                for b in range(n_branches):
                    stack.append(first + b)  # noqa: PERF401 (a compiled loop)
            clear_node(forest, node)
            if state == layout.IS_SPLIT:
                release(forest.node_free, forest.node_link, first, order_for(n_branches))
        release(forest.node_free, forest.node_link, root, 0)
    forest.tree[tree, :] = 0
