"""Voting and learning of a forest, example by example and in blocks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.forest.branches import new_space
from marlene.kernels.forest.gains import is_pure, row_sum
from marlene.kernels.forest.leaves import BY_MAJORITY, decide, majority_class, rule_of, score
from marlene.kernels.forest.observers import entries_needed, make_room, observe, surely_fits
from marlene.kernels.forest.splits import (
    choose,
    clear_node,
    drop_leaf,
    may_grow,
    move_node,
    new_leaf,
    split,
)
from marlene.kernels.forest.state import (
    ABSENT,
    ADAPTIVE,
    BAYES_CORRECT,
    BRANCHES,
    CHILDREN,
    CLASSES,
    EQUALS_TEST,
    FEATURE,
    HEAVIEST,
    IS_LEAF,
    IS_SPLIT,
    LAST_ATTEMPT,
    LEAF,
    LEVEL,
    MAJORITY_CORRECT,
    NUMERIC_TEST,
    ROOT,
    STATE,
    TEST,
    WEIGHTS_SQUARED,
)
from marlene.kernels.forest.tables import allocate, append, order_for, release

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.forest.branches import Space
    from marlene.kernels.forest.state import Forest, Settings
    from marlene.kernels.forest.tables import Arena
    from marlene.kernels.rows import Rows


class Example(NamedTuple):
    """One example: what is stored of it, all its values, whether any is missing, and how many stored are numbers.

    Before the place `others` all stored values are numbers.
    """

    indices: Ints
    values: Floats
    dense: Floats
    missing: bool
    n_numeric: int
    others: int


@inlined
def count_numeric(kinds: Ints, indices: Ints, values: Floats) -> tuple[int, int]:
    """Return how many of the values are numbers that belong to numeric features, and how many before the others."""
    count = 0
    leading = 0
    for j in range(len(indices)):
        if kinds[indices[j]] == 0 and not math.isnan(values[j]):
            leading += count == j
            count += 1
    return count, leading


@inlined
def open_row(rows: Rows, row: int, dense: Floats) -> bool:
    """Write a row's values into `dense`, all zero before; return whether one is missing."""
    missing = False
    for j in range(rows.starts[row], rows.starts[row + 1]):
        dense[rows.indices[j]] = rows.values[j]
        missing = missing or math.isnan(rows.values[j])
    return missing


@inlined
def close_row(rows: Rows, row: int, dense: Floats) -> None:
    """Make `dense` all zero again."""
    for j in range(rows.starts[row], rows.starts[row + 1]):
        dense[rows.indices[j]] = 0.0


@inlined
def branch_of(forest: Forest, node: int, dense: Floats) -> int:
    """Return the branch an example takes at a split."""
    row = forest.node[node]
    value = dense[row[FEATURE]]
    if math.isnan(value):
        return int(row[HEAVIEST])
    if row[TEST] == NUMERIC_TEST:
        return 0 if value <= forest.node_value[node] else 1
    if row[TEST] == EQUALS_TEST:
        return 0 if value == forest.node_value[node] else 1
    return int(value)


@inlined
def route(forest: Forest, tree: int, dense: Floats) -> tuple[int, int]:
    """Return the node an example comes to and its branch: a leaf and -1, or a split whose branch does not exist yet.

    A tree that was never trained has node -1.
    """
    node = forest.tree[tree, ROOT] - 1
    while node >= 0 and forest.node[node, STATE] == IS_SPLIT:
        branch = branch_of(forest, node, dense)
        if branch >= forest.node[node, BRANCHES]:
            return node, branch
        child = forest.node[node, CHILDREN] + branch
        if forest.node[child, STATE] == ABSENT:
            return node, branch
        node = child
    return node, -1


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
    """Write the votes of a tree whose `route` is given; return naive Bayes' class, for `learn`.

    A branch that does not exist yet votes as its split node would have.
    """
    rule = rule_of(forest, settings, node, learning) if node >= 0 and branch < 0 else BY_MAJORITY
    if rule != BY_MAJORITY:
        score(forest, settings, node, example, space, out)
    return decide(forest, node, rule, out)


@inlined
def can_learn(forest: Forest, node: int, branch: int, example: Example) -> bool:
    """Tell whether there is room for all that one example can bring to a tree; nothing is changed."""
    if forest.node_top[0] + (2 << order_for(forest.widest)) > len(forest.node_link):
        return False
    if forest.leaf_top[0] + forest.widest + 1 > len(forest.leaf_link):
        return False
    leaf = forest.node[node, LEAF] if node >= 0 and branch < 0 else -1
    if leaf >= 0 and not forest.inherit and surely_fits(forest, leaf, example):
        return True
    presence, numeric = entries_needed(forest, leaf, example)
    enough = forest.presence.top[0] + presence <= len(forest.presence.key)
    return bool(enough and forest.numeric.top[0] + numeric <= len(forest.numeric.key))


@subkernel
def _grow_leaf(forest: Forest, tree: int, node: int, branch: int) -> int:
    """Make the leaf an example needs: the root, or a branch that a multiway split has not had yet."""
    if node < 0:
        root = allocate(forest.node_free, forest.node_top, forest.node_link, 0)
        forest.tree[tree, ROOT] = root + 1
        new_leaf(forest, tree, root, 0)
        return root
    row = forest.node[node]
    n_branches = row[BRANCHES]
    if branch >= n_branches:
        old_order, new_order = order_for(n_branches), order_for(branch + 1)
        if new_order > old_order:
            first = allocate(forest.node_free, forest.node_top, forest.node_link, new_order)
            for b in range(n_branches):
                move_node(forest, row[CHILDREN] + b, first + b)
            release(forest.node_free, forest.node_link, row[CHILDREN], old_order)
            row[CHILDREN] = first
        row[BRANCHES] = branch + 1
    child = row[CHILDREN] + branch
    new_leaf(forest, tree, child, row[LEVEL] + 1)
    return int(child)


@subkernel
def learn(
    forest: Forest,
    settings: Settings,
    tree: int,
    node: int,
    branch: int,
    bayes_class: int,
    example: Example,
    y: int,
    weight: int,
    space: Space,
) -> None:
    """Train a tree on one example with an integer weight, as one update.

    Its `route` and naive Bayes' class of the example are given; `can_learn` was asked before.
    """
    if node < 0 or branch >= 0:
        node = _grow_leaf(forest, tree, node, branch)
    leaf = forest.node[node, LEAF]
    if settings.leaf_prediction == ADAPTIVE:
        if majority_class(forest, node) == y:
            forest.leaf_weight[leaf, MAJORITY_CORRECT] += weight
        if bayes_class == y:
            forest.leaf_weight[leaf, BAYES_CORRECT] += weight
    if not surely_fits(forest, leaf, example):
        make_room(forest, leaf, example)
    forest.node_count[node, y] += weight
    forest.leaf_weight[leaf, WEIGHTS_SQUARED] += float(weight) * weight
    forest.node[node, CLASSES] = max(forest.node[node, CLASSES], y + 1)
    observe(forest, leaf, example, y, weight, settings.variance_floor, space)
    total = row_sum(forest.node_count, node)
    if total - forest.leaf_weight[leaf, LAST_ATTEMPT] < settings.grace_period:
        return
    if may_grow(forest, settings, tree, node):
        forest.leaf_weight[leaf, LAST_ATTEMPT] = total
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
    """Let `trees` vote on every row, and train them on it where a weight is not 0, from `position` on.

    Classes `y` and weights are given per row and tree. `position` (row, tree, …) is moved forward; the block is done
    when the row is past the last, and otherwise the arrays are too small for that row and tree, to which nothing was
    done: it needs as many further entries of the presence and of the numeric table as the other two numbers say. The
    votes before training are written to `out` (rows × trees × classes).
    """
    dense = np.zeros(len(forest.kind))
    space = new_space(forest.widest, forest.node_count.shape[1], len(forest.kind))
    for row in range(position[0], len(rows.starts) - 1):
        missing = open_row(rows, row, dense)
        stored = slice(rows.starts[row], rows.starts[row + 1])
        indices, values = rows.indices[stored], rows.values[stored]
        n_numeric, others = count_numeric(forest.kind, indices, values)
        example = Example(indices, values, dense, missing, n_numeric, others)
        for t in range(position[1], len(trees)):
            node, branch = route(forest, trees[t], dense)
            weight = weights[row, t]
            bayes_class = vote(forest, settings, node, branch, example, weight > 0, space, out[row, t])
            if weight > 0:
                if not can_learn(forest, node, branch, example):
                    leaf = forest.node[node, LEAF] if node >= 0 and branch < 0 else -1
                    position[0], position[1] = row, t
                    position[2], position[3] = entries_needed(forest, leaf, example)
                    return
                learn(forest, settings, trees[t], node, branch, bayes_class, example, y[row, t], weight, space)
        position[1] = 0
        close_row(rows, row, dense)
    position[0] = len(rows.starts) - 1


@kernel
def rebuild_index(table: Arena, starts: Ints, orders: Ints, used: Ints) -> None:
    """Make the index of every block anew from its keys."""
    for b in range(len(starts)):
        for place in range(used[b]):
            key = table.key[starts[b] + place]
            append(table.key, table.cells, starts[b], orders[b], place, key)


@kernel
def remove_tree(forest: Forest, tree: int) -> None:
    """Give back everything a tree has, and its number."""
    root = forest.tree[tree, ROOT] - 1
    if root >= 0:
        stack = [root]
        while len(stack) > 0:
            node = stack.pop()
            state = forest.node[node, STATE]
            if state == IS_LEAF:
                drop_leaf(forest, forest.node[node, LEAF])
            elif state == IS_SPLIT:
                first, n_branches = forest.node[node, CHILDREN], forest.node[node, BRANCHES]
                for b in range(n_branches):
                    stack.append(first + b)  # noqa: PERF401 (a compiled loop)
            clear_node(forest, node)
            if state == IS_SPLIT:
                release(forest.node_free, forest.node_link, first, order_for(n_branches))
        release(forest.node_free, forest.node_link, root, 0)
    for column in range(forest.tree.shape[1]):
        forest.tree[tree, column] = 0
