"""Grow the arrays of a forest, and convert them to and from a form that depends only on what was learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.kernels.forest import state as layout
from marlene.kernels.forest import trees as kernels
from marlene.kernels.forest.state import Forest, empty_forest, empty_table
from marlene.trees._validity import FOREST, TABLES, block_sizes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Ints
    from marlene.kernels.forest.tables import Arena


NODE_DATA = ("node_value", "node_count")
LEAF_DATA = ("leaf_weight", "leaf_class", "leaf_list")
TABLE_ARRAYS = ("key", "stat", "listed")
"""The arrays of a table as they are saved: all statistics are entries × classes × columns."""
NODE_ARRAYS = ("node", *NODE_DATA, "node_link")
LEAF_ARRAYS = ("leaf", *LEAF_DATA, "leaf_link")


def lengthened(array: Array, length: int) -> Array:
    """Return a copy of the given length with zeros at the end."""
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def grown(forest: Forest, trees: int, presence: int, numeric: int) -> Forest:
    """Return the forest with room to train `trees` trees on one more example.

    `presence` and `numeric` are the numbers of new entries that the two tables may need.
    """
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
            longer = {part: lengthened(getattr(table, part), length) for part in TABLE_ARRAYS}
            planes = np.zeros((*table.planes.shape[:2], length))
            planes[:, :, : len(table.key)] = table.planes
            changes[name] = table._replace(cells=lengthened(table.cells, 2 * length), planes=planes, **longer)
    return forest._replace(**changes)


def _within(starts: Ints, lengths: Ints) -> Ints:
    """Return start, start + 1, … for every start, as many numbers as its length says, in one array."""
    offsets = np.cumsum(lengths) - lengths
    return np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))


def compact(forest: Forest) -> Arrays:
    """Return the named arrays of a forest in an order that does not depend on how memory was used.

    Nodes are ordered level by level, leaves as their nodes, table entries as their leaves.
    """
    alive = np.flatnonzero(forest.tree[:, layout.ALIVE])
    tree = forest.tree[: int(alive.max(initial=-1)) + 1].copy()
    rooted = np.flatnonzero(tree[:, layout.ROOT])
    level = tree[rooted, layout.ROOT] - 1
    tree[rooted, layout.ROOT] = np.arange(len(rooted)) + 1
    levels, next_new = [level], len(rooted)
    children: list[Ints] = []
    while len(level):
        splits = level[forest.node[level, layout.STATE] == layout.IS_SPLIT]
        sizes = block_sizes(forest.node[splits, layout.BRANCHES])
        children.append(next_new + np.cumsum(sizes) - sizes)
        level = _within(forest.node[splits, layout.CHILDREN], sizes)
        next_new += len(level)
        levels.append(level)
    old = np.concatenate(levels)
    node = forest.node[old]
    node[node[:, layout.STATE] == layout.IS_SPLIT, layout.CHILDREN] = np.concatenate([*children, np.zeros(0, np.int64)])
    is_leaf = node[:, layout.STATE] == layout.IS_LEAF
    leaves = node[is_leaf, layout.LEAF]
    node[is_leaf, layout.LEAF] = np.arange(len(leaves))
    leaf = forest.leaf[leaves]
    arrays: Arrays = {"tree": tree, "node": node, "leaf": leaf, "kind": forest.kind.copy()}
    arrays |= {name: getattr(forest, name)[old] for name in NODE_DATA}
    arrays |= {name: getattr(forest, name)[leaves] for name in LEAF_DATA}
    for name, (start, _, used) in TABLES.items():
        entries = _within(leaf[:, start], leaf[:, used])
        table: Arena = getattr(forest, name)
        arrays |= {f"{name}_{part}": getattr(table, part)[entries] for part in TABLE_ARRAYS}
        planes = np.moveaxis(table.planes[:, :, entries], 2, 0)
        arrays[f"{name}_stat"] = np.concatenate([arrays[f"{name}_stat"], planes], axis=2)
        leaf[:, start] = 0
    return arrays


def expand(given: Mapping[str, Array], n_classes: int) -> Forest:
    """Return the forest that `compact` made the arrays of; raise an error if they cannot come from a forest."""
    forest = empty_forest(np.array(given["kind"]), n_classes)
    arrays = FOREST.checked(given, classes=n_classes)
    leaf = arrays["leaf"].copy()
    tables: dict[str, Any] = {}
    for name, (start, order, used) in TABLES.items():
        blocks = np.flatnonzero(leaf[:, order])
        sizes = np.int64(1) << (leaf[blocks, order] - 1)
        leaf[blocks, start] = np.cumsum(sizes) - sizes
        top = int(sizes.sum())
        columns, planes = getattr(forest, name).stat.shape[2], getattr(forest, name).planes.shape[1]
        table = empty_table(max(64, top), n_classes, columns, planes)
        entries = _within(leaf[:, start], leaf[:, used])
        table.key[entries], table.listed[entries] = arrays[f"{name}_key"], arrays[f"{name}_listed"]
        table.stat[entries] = arrays[f"{name}_stat"][:, :, :columns]
        table.planes[:, :, entries] = np.moveaxis(arrays[f"{name}_stat"][:, :, columns:], 0, 2)
        table.top[0] = top
        kernels.rebuild_index(table, leaf[blocks, start], leaf[blocks, order] - 1, leaf[blocks, used])
        tables[name] = table
    given_arrays = {name: arrays[name] for name in ("tree", "node", *NODE_DATA, *LEAF_DATA)} | {"leaf": leaf}
    for group in ("node", "leaf"):
        given_arrays[f"{group}_link"] = np.zeros(len(arrays[group]), np.int64)
    changes: dict[str, Any] = {name: lengthened(array, max(8, len(array))) for name, array in given_arrays.items()}
    forest = forest._replace(**changes, **tables)
    forest.node_top[0] = len(arrays["node"])
    forest.leaf_top[0] = len(arrays["leaf"])
    return forest
