"""A tree as text: one rule per leaf."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from marlene.kernels.forest import state as layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marlene._common.arrays import Floats
    from marlene.kernels.forest.state import Forest


def rules(forest: Forest, tree: int, names: Sequence[str] | None) -> str:
    """Return one line per leaf: the conditions that lead to it, its class, its weight and the share of the class."""
    lines = []
    for node, conditions in _walk(forest, tree, names):
        if forest.node[node, layout.STATE] == layout.IS_LEAF:
            counts = forest.node_count[node]
            weight = counts.sum()
            share = 100 * counts.max() / weight if weight > 0 else 0
            where = " and ".join(conditions) or "always"
            lines.append(f"{where}: class {counts.argmax()} of weight {weight:.1f} ({share:.0f} %)")
    return "\n".join(lines) or "not trained yet"


def feature_use(forest: Forest, tree: int) -> dict[int, int]:
    """Return how many splits test each feature, the most used first."""
    used = Counter(
        int(forest.node[node, layout.FEATURE])
        for node, _ in _walk(forest, tree, None)
        if forest.node[node, layout.STATE] == layout.IS_SPLIT
    )
    return dict(used.most_common())


def path(forest: Forest, tree: int, dense: Floats, names: Sequence[str] | None) -> list[str]:
    """Return the conditions on the way of an example through a tree, as far as it leads."""
    node, conditions = int(forest.tree[tree, layout.ROOT]) - 1, []
    while node >= 0 and forest.node[node, layout.STATE] == layout.IS_SPLIT:
        row = forest.node[node]
        branch = _branch(forest, node, float(dense[row[layout.FEATURE]]))
        child = int(row[layout.CHILDREN]) + branch
        if branch >= row[layout.BRANCHES] or forest.node[child, layout.STATE] == layout.ABSENT:
            break
        conditions.append(_condition(forest, node, branch, names))
        node = child
    return conditions


def _branch(forest: Forest, node: int, value: float) -> int:
    """Return the branch that a value takes at a split; see `kernels.forest.trees.branch_of`."""
    row = forest.node[node]
    if math.isnan(value):
        return int(row[layout.HEAVIEST])
    if row[layout.TEST] == layout.NUMERIC_TEST:
        return 0 if value <= forest.node_value[node] else 1
    if row[layout.TEST] == layout.EQUALS_TEST:
        return 0 if value == forest.node_value[node] else 1
    return int(value)


def _walk(forest: Forest, tree: int, names: Sequence[str] | None) -> Iterator[tuple[int, list[str]]]:
    """Yield every node of a tree, the left branch first, with the conditions that lead to it."""
    root = int(forest.tree[tree, layout.ROOT]) - 1
    waiting: list[tuple[int, list[str]]] = [(root, [])] if root >= 0 else []
    while waiting:
        node, conditions = waiting.pop()
        row = forest.node[node]
        yield node, conditions
        if row[layout.STATE] == layout.IS_SPLIT:
            for branch in reversed(range(int(row[layout.BRANCHES]))):
                child = int(row[layout.CHILDREN]) + branch
                if forest.node[child, layout.STATE] != layout.ABSENT:
                    waiting.append((child, [*conditions, _condition(forest, node, branch, names)]))


def _condition(forest: Forest, node: int, branch: int, names: Sequence[str] | None) -> str:
    feature, test = int(forest.node[node, layout.FEATURE]), forest.node[node, layout.TEST]
    value = float(forest.node_value[node])
    name = names[feature] if names is not None else f"x{feature}"
    if test == layout.NUMERIC_TEST:
        return f"{name} {'<=' if branch == 0 else '>'} {value:.4g}"
    if test == layout.EQUALS_TEST:
        return f"{name} {'=' if branch == 0 else '≠'} {int(value)}"
    return f"{name} = {branch}"
