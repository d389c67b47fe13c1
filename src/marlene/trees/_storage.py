"""Growing the arrays of a forest, and bringing them into a form that depends on nothing but what was learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.kernels.forest import trees as kernels
from marlene.kernels.forest.state import (
    ALIVE,
    BRANCHES,
    CHILDREN,
    IS_LEAF,
    IS_SPLIT,
    LEAF,
    ROOT,
    STATE,
    Forest,
    empty_forest,
    empty_table,
)
from marlene.trees._validity import TABLES, block_sizes, checked_state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Ints
    from marlene.kernels.forest.tables import Arena


NODE_ARRAYS = ("node", "node_value", "node_count", "node_link")
LEAF_ARRAYS = ("leaf", "leaf_weight", "leaf_class", "leaf_list", "leaf_link")


def lengthened(array: Array, length: int) -> Array:
    """Return a copy of the given length with zeros at the end."""
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def grown(forest: Forest, trees: int, presence: int, numeric: int) -> Forest:
    """Return the forest with room for one more example in `trees` trees and so many further entries of the tables."""
    changes: dict[str, Any] = {}
    nodes = int(forest.node_top[0]) + trees * 4 * forest.widest
    leaves = int(forest.leaf_top[0]) + trees * (forest.widest + 1)
    for names, needed, have in ((NODE_ARRAYS, nodes, len(forest.node)), (LEAF_ARRAYS, leaves, len(forest.leaf))):
        if needed > have:
            changes |= {name: lengthened(getattr(forest, name), max(needed, 2 * have)) for name in names}
    for name, further in (("presence", presence), ("numeric", numeric)):
        table: Arena = getattr(forest, name)
        needed = int(table.top[0]) + further
        if needed > len(table.key):
            length = max(needed, 2 * len(table.key))
            changes[name] = table._replace(
                key=lengthened(table.key, length),
                stat=lengthened(table.stat, length),
                listed=lengthened(table.listed, length),
                cells=lengthened(table.cells, 2 * length),
            )
    return forest._replace(**changes)


def _within(starts: Ints, lengths: Ints) -> Ints:
    """Return start, start + 1, … for every start, as many as its length, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    return np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))


def compact(forest: Forest) -> Arrays:
    """Return the named arrays of a forest, laid out by what was learnt and not by how memory came to be used.

    Nodes stand level by level, leaves in the order of their nodes, table entries in the order of their leaves.
    """
    alive = np.flatnonzero(forest.tree[:, ALIVE])
    tree = forest.tree[: int(alive.max(initial=-1)) + 1].copy()
    rooted = np.flatnonzero(tree[:, ROOT])
    level = tree[rooted, ROOT] - 1
    tree[rooted, ROOT] = np.arange(len(rooted)) + 1
    levels, next_new = [level], len(rooted)
    children: list[Ints] = []
    while len(level):
        splits = level[forest.node[level, STATE] == IS_SPLIT]
        sizes = block_sizes(forest.node[splits, BRANCHES])
        children.append(next_new + np.cumsum(sizes) - sizes)
        level = _within(forest.node[splits, CHILDREN], sizes)
        next_new += len(level)
        levels.append(level)
    old = np.concatenate(levels)
    node = forest.node[old]
    node[node[:, STATE] == IS_SPLIT, CHILDREN] = np.concatenate([*children, np.zeros(0, np.int64)])
    is_leaf = node[:, STATE] == IS_LEAF
    leaves = node[is_leaf, LEAF]
    node[is_leaf, LEAF] = np.arange(len(leaves))
    leaf = forest.leaf[leaves]
    arrays: Arrays = {
        "tree": tree,
        "node": node,
        "node_value": forest.node_value[old],
        "node_count": forest.node_count[old],
    }
    for name, (start, _, used) in TABLES.items():
        entries = _within(leaf[:, start], leaf[:, used])
        table: Arena = getattr(forest, name)
        arrays |= {f"{name}_{part}": getattr(table, part)[entries] for part in ("key", "stat", "listed")}
        leaf[:, start] = 0
    arrays |= {"leaf": leaf} | {
        name: getattr(forest, name)[leaves] for name in ("leaf_weight", "leaf_class", "leaf_list")
    }
    return arrays | {"kind": forest.kind.copy()}


def expand(given: Mapping[str, Array], n_classes: int) -> Forest:
    """Return the forest that `compact` was called on; arrays that cannot come from there are an error."""
    forest = empty_forest(np.array(given["kind"]), n_classes)
    arrays = checked_state(given, compact(forest))
    leaf = arrays["leaf"].copy()
    tables: dict[str, Any] = {}
    for name, (start, order, used) in TABLES.items():
        blocks = np.flatnonzero(leaf[:, order])
        sizes = np.int64(1) << (leaf[blocks, order] - 1)
        leaf[blocks, start] = np.cumsum(sizes) - sizes
        top = int(sizes.sum())
        columns = getattr(forest, name).stat.shape[2]
        table = empty_table(max(64, top), n_classes, columns)
        entries = _within(leaf[:, start], leaf[:, used])
        for part in ("key", "stat", "listed"):
            getattr(table, part)[entries] = arrays[f"{name}_{part}"]
        table.top[0] = top
        kernels.rebuild_index(table, leaf[blocks, start], leaf[blocks, order] - 1, leaf[blocks, used])
        tables[name] = table
    names = ("tree", "node", "node_value", "node_count", "leaf_weight", "leaf_class", "leaf_list")
    changes: dict[str, Any] = {"leaf": leaf} | {name: arrays[name] for name in names}
    changes = {name: lengthened(array, max(8, len(array))) for name, array in changes.items()}
    changes["node_link"] = np.zeros(len(changes["node"]), np.int64)
    changes["leaf_link"] = np.zeros(len(changes["leaf"]), np.int64)
    forest = forest._replace(**changes, **tables)
    forest.node_top[0] = len(arrays["node"])
    forest.leaf_top[0] = len(arrays["leaf"])
    return forest
