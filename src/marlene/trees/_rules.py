"""A tree in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from marlene.kernels.forest.state import (
    ABSENT,
    BRANCHES,
    CHILDREN,
    EQUALS_TEST,
    FEATURE,
    IS_LEAF,
    IS_SPLIT,
    NUMERIC_TEST,
    ROOT,
    STATE,
    TEST,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marlene.kernels.forest.state import Forest


def rules(forest: Forest, tree: int, names: Sequence[str] | None) -> str:
    """Return one line per leaf: the conditions that lead to it, its class, weight and purity."""
    lines = []
    for node, conditions in _walk(forest, tree, names):
        if forest.node[node, STATE] == IS_LEAF:
            counts = forest.node_count[node]
            weight = counts.sum()
            share = 100 * counts.max() / weight if weight > 0 else 0
            where = " and ".join(conditions) or "always"
            lines.append(f"{where}: class {counts.argmax()} of weight {weight:.1f} ({share:.0f} %)")
    return "\n".join(lines) or "not trained yet"


def feature_use(forest: Forest, tree: int) -> dict[int, int]:
    """Return how many splits test each feature, the most used first."""
    used = Counter(
        int(forest.node[node, FEATURE]) for node, _ in _walk(forest, tree, None) if forest.node[node, STATE] == IS_SPLIT
    )
    return dict(used.most_common())


def _walk(forest: Forest, tree: int, names: Sequence[str] | None) -> Iterator[tuple[int, list[str]]]:
    """Give every node of a tree, the left branch first, with the conditions that lead to it."""
    root = int(forest.tree[tree, ROOT]) - 1
    waiting: list[tuple[int, list[str]]] = [(root, [])] if root >= 0 else []
    while waiting:
        node, conditions = waiting.pop()
        row = forest.node[node]
        yield node, conditions
        if row[STATE] == IS_SPLIT:
            for branch in reversed(range(int(row[BRANCHES]))):
                child = int(row[CHILDREN]) + branch
                if forest.node[child, STATE] != ABSENT:
                    waiting.append((child, [*conditions, _condition(forest, node, branch, names)]))


def _condition(forest: Forest, node: int, branch: int, names: Sequence[str] | None) -> str:
    feature, test = int(forest.node[node, FEATURE]), forest.node[node, TEST]
    value = float(forest.node_value[node])
    name = names[feature] if names is not None else f"x{feature}"
    if test == NUMERIC_TEST:
        return f"{name} {'<=' if branch == 0 else '>'} {value:.4g}"
    if test == EQUALS_TEST:
        return f"{name} {'=' if branch == 0 else '≠'} {int(value)}"
    return f"{name} = {branch}"
