"""Growing the arrays of a forest, and bringing them into a form that depends on nothing but what was learnt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene.kernels import forest as kernels
from marlene.kernels.forest_state import (
    BRANCHES,
    CHILDREN,
    CLASSES,
    FEATURE,
    HEAVIEST,
    IS_LEAF,
    IS_SPLIT,
    LEAF,
    LEAF_CLASS_COLUMNS,
    LEAF_COLUMNS,
    LEAF_LIST_COLUMNS,
    LEAF_WEIGHT_COLUMNS,
    LEVEL,
    NODE_COLUMNS,
    NUMERIC_COLUMNS,
    NUMERIC_ORDER,
    NUMERIC_START,
    NUMERIC_USED,
    PRESENCE_ORDER,
    PRESENCE_START,
    PRESENCE_USED,
    ROOT,
    STATE,
    TEST,
    TREE_COLUMNS,
    Forest,
    empty_forest,
    empty_table,
)
from marlene.kernels.tables import ORDERS, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    Arrays = dict[str, npt.NDArray[Any]]
    Ints = npt.NDArray[np.int64]

NODE_ARRAYS = ("node", "node_value", "node_count", "node_link")
LEAF_ARRAYS = ("leaf", "leaf_weight", "leaf_class", "leaf_list", "leaf_link")
TABLES = {
    "presence": (PRESENCE_START, PRESENCE_ORDER, PRESENCE_USED),
    "numeric": (NUMERIC_START, NUMERIC_ORDER, NUMERIC_USED),
}


def lengthened(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Return a copy of the given length with zeros at the end."""
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def grown(forest: Forest, presence: int, numeric: int) -> Forest:
    """Return the forest with room for one more example, which needs so many further entries of the two tables."""
    changes: dict[str, Any] = {}
    nodes = int(forest.node_top[0]) + 4 * forest.widest
    leaves = int(forest.leaf_top[0]) + forest.widest + 1
    for names, needed, have in ((NODE_ARRAYS, nodes, len(forest.node)), (LEAF_ARRAYS, leaves, len(forest.leaf))):
        if needed > have:
            changes |= {name: lengthened(getattr(forest, name), max(needed, 2 * have)) for name in names}
    for name, further in (("presence", presence), ("numeric", numeric)):
        table: Table = getattr(forest, name)
        needed = int(table.top[0]) + further
        if needed > len(table.key):
            length = max(needed, 2 * len(table.key))
            changes[name] = table._replace(
                key=lengthened(table.key, length),
                stat=lengthened(table.stat, length),
                chain=lengthened(table.chain, length),
                cells=lengthened(table.cells, 2 * length),
            )
    return forest._replace(**changes)


def _block_sizes(branches: Ints) -> Ints:
    return np.int64(1) << np.ceil(np.log2(branches)).astype(np.int64)


def _within(starts: Ints, lengths: Ints) -> Ints:
    """Return start, start + 1, … for every start, as many as its length, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    return np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))


def compact(forest: Forest) -> Arrays:
    """Return the named arrays of a forest, laid out by what was learnt and not by how memory came to be used.

    Nodes stand level by level, leaves in the order of their nodes, table entries in the order of their leaves.
    """
    alive = np.flatnonzero(forest.tree[:, -1])
    tree = forest.tree[: int(alive.max(initial=-1)) + 1].copy()
    rooted = np.flatnonzero(tree[:, ROOT])
    level = tree[rooted, ROOT] - 1
    tree[rooted, ROOT] = np.arange(len(rooted)) + 1
    levels, next_new = [level], len(rooted)
    children: list[Ints] = []
    while len(level):
        splits = level[forest.node[level, STATE] == IS_SPLIT]
        sizes = _block_sizes(forest.node[splits, BRANCHES])
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
        table: Table = getattr(forest, name)
        arrays |= {f"{name}_{part}": getattr(table, part)[entries] for part in ("key", "stat", "chain")}
        leaf[:, start] = 0
    arrays |= {"leaf": leaf} | {
        name: getattr(forest, name)[leaves] for name in ("leaf_weight", "leaf_class", "leaf_list")
    }
    return arrays | {"kind": forest.kind.copy()}


def expand(arrays: Mapping[str, npt.NDArray[Any]], n_classes: int) -> Forest:
    """Return the forest that `compact` was called on; arrays that cannot come from there are an error."""
    _check(arrays, n_classes)
    forest = empty_forest(arrays["kind"], n_classes)
    leaf = np.array(arrays["leaf"], np.int64)
    tables: dict[str, Any] = {}
    for name, (start, order, used) in TABLES.items():
        blocks = np.flatnonzero(leaf[:, order])
        sizes = np.int64(1) << (leaf[blocks, order] - 1)
        leaf[blocks, start] = np.cumsum(sizes) - sizes
        top = int(sizes.sum())
        columns = getattr(forest, name).stat.shape[2]
        table = empty_table(max(64, top), n_classes, columns)
        entries = _within(leaf[:, start], leaf[:, used])
        for part in ("key", "stat", "chain"):
            getattr(table, part)[entries] = arrays[f"{name}_{part}"]
        table.top[0] = top
        kernels.rebuild_index(table, leaf[blocks, start], leaf[blocks, order] - 1, leaf[blocks, used])
        tables[name] = table
    changes: dict[str, Any] = {"leaf": leaf}
    for name in ("tree", "node", "node_value", "node_count", "leaf_weight", "leaf_class", "leaf_list"):
        changes[name] = np.ascontiguousarray(arrays[name], getattr(forest, name).dtype)
    changes = {name: lengthened(array, max(8, len(array))) for name, array in changes.items()}
    changes["node_link"] = np.zeros(len(changes["node"]), np.int64)
    changes["leaf_link"] = np.zeros(len(changes["leaf"]), np.int64)
    forest = forest._replace(**changes, **tables)
    forest.node_top[0] = len(arrays["node"])
    forest.leaf_top[0] = len(arrays["leaf"])
    return forest


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise MarleneError(f"not the state of a forest, or damaged: {what}")


def _check(arrays: Mapping[str, npt.NDArray[Any]], n_classes: int) -> None:
    """Refuse arrays that would make a kernel leave its bounds or run for ever."""
    shapes = {
        "kind": (),
        "tree": (TREE_COLUMNS,),
        "node": (NODE_COLUMNS,),
        "node_value": (),
        "node_count": (n_classes,),
        "leaf": (LEAF_COLUMNS,),
        "leaf_weight": (LEAF_WEIGHT_COLUMNS,),
        "leaf_class": (n_classes, LEAF_CLASS_COLUMNS),
        "leaf_list": (n_classes, LEAF_LIST_COLUMNS),
    }
    for name, columns in (("presence", 1), ("numeric", NUMERIC_COLUMNS)):
        shapes |= {f"{name}_key": (), f"{name}_stat": (n_classes, columns), f"{name}_chain": (n_classes,)}
    for name, shape in shapes.items():
        _require(name in arrays, f"there is no array {name!r}")
        _require(arrays[name].shape[1:] == shape and arrays[name].ndim == len(shape) + 1, f"the shape of {name!r}")
        _require(arrays[name].dtype.kind in "if", f"the type of {name!r}")
    groups = (("node", "node_value", "node_count"), ("leaf", "leaf_weight", "leaf_class", "leaf_list"))
    for group in (*groups, *((f"{t}_key", f"{t}_stat", f"{t}_chain") for t in TABLES)):
        _require(len({len(arrays[name]) for name in group}) == 1, f"the lengths of {', '.join(group)}")
    _check_nodes(arrays, n_classes)
    _check_leaves(arrays, n_classes)


def _check_nodes(arrays: Mapping[str, npt.NDArray[Any]], n_classes: int) -> None:
    tree, node = arrays["tree"], arrays["node"]
    n = len(node)
    kind = arrays["kind"]
    _require(bool(((kind == 0) | (kind >= 2)).all()), "the kinds of the features")
    roots = tree[tree[:, ROOT] != 0, ROOT] - 1
    _require(bool(((roots >= 0) & (roots < n)).all()), "the roots of the trees")
    _require(bool(np.isin(node[:, STATE], (0, IS_LEAF, IS_SPLIT)).all()), "the states of the nodes")
    _require(bool(((node[:, CLASSES] >= 0) & (node[:, CLASSES] <= n_classes)).all()), "the classes of the nodes")
    split = node[node[:, STATE] == IS_SPLIT]
    _require(bool(((split[:, FEATURE] >= 0) & (split[:, FEATURE] < len(kind))).all()), "the features of the splits")
    _require(bool(np.isin(split[:, TEST], (0, 1, 2)).all()), "the tests of the splits")
    _require(bool(((split[:, BRANCHES] >= 1) & (split[:, BRANCHES] <= n)).all()), "the branches of the splits")
    _require(
        bool(((split[:, HEAVIEST] >= 0) & (split[:, HEAVIEST] < split[:, BRANCHES])).all()), "the heaviest branches"
    )
    _require(bool(((node[:, LEVEL] >= 0) & (node[:, LEVEL] <= n)).all()), "the levels of the nodes")
    # Nodes stand level by level: every node but the roots belongs to one block, and blocks follow each other.
    sizes = _block_sizes(split[:, BRANCHES])
    expected = len(roots) + np.cumsum(sizes) - sizes
    _require(np.array_equal(split[:, CHILDREN], expected), "the children of the splits")
    _require(np.array_equal(np.sort(roots), np.arange(len(roots))), "the roots of the trees")
    _require(n == len(roots) + int(sizes.sum()), "the number of nodes")
    _require(bool((np.flatnonzero(node[:, STATE] == IS_SPLIT) < expected).all()), "the order of the nodes")


def _check_leaves(arrays: Mapping[str, npt.NDArray[Any]], n_classes: int) -> None:
    node, leaf, kind = arrays["node"], arrays["leaf"], arrays["kind"]
    owned = node[node[:, STATE] == IS_LEAF, LEAF]
    _require(np.array_equal(owned, np.arange(len(leaf))), "the leaves of the nodes")
    for which, (name, (_, order, used)) in enumerate(TABLES.items()):
        _require(bool(((leaf[:, order] >= 0) & (leaf[:, order] < ORDERS)).all()), f"the sizes of the {name} tables")
        room = np.where(leaf[:, order] > 0, np.int64(1) << np.maximum(leaf[:, order] - 1, 0), 0)
        filled = (leaf[:, used] >= 0) & (leaf[:, used] <= room) & (room <= np.maximum(8, 4 * leaf[:, used]))
        _require(bool(filled.all()), f"the use of the {name} tables")
        key, chain = arrays[f"{name}_key"], arrays[f"{name}_chain"]
        _require(int(leaf[:, used].sum()) == len(key), f"the length of the {name} tables")
        feature = key & 0xFFFFFFFF if name == "presence" else key
        _require(bool(((key >= 0) & (feature >= 0) & (feature < len(kind))).all()), f"the keys of the {name} tables")
        owner = np.repeat(np.arange(len(leaf)), leaf[:, used])
        distinct = len(np.unique(np.stack([owner, key]), axis=1).T) == len(key)
        _require(distinct, f"the keys of the {name} tables")
        limit = np.repeat(leaf[:, used], leaf[:, used])[:, None]
        _require(bool(((chain >= 0) & (chain <= limit)).all()), f"the lists of the {name} tables")
        heads = arrays["leaf_list"][:, :, which]
        _require(bool(((heads >= 0) & (heads <= leaf[:, used][:, None])).all()), f"the lists of the {name} tables")
        _require(_lists_end(heads, chain, leaf[:, used], n_classes), f"the lists of the {name} tables")


def _lists_end(heads: Ints, chain: Ints, used: Ints, n_classes: int) -> bool:
    """Tell whether every list of entries comes to its end within as many steps as there are entries."""
    starts = np.cumsum(used) - used
    for c in range(n_classes):
        place, begin, left = heads[:, c].astype(np.int64), starts, used.astype(np.int64)
        while len(place):
            going = place > 0
            place, begin, left = place[going], begin[going], left[going] - 1
            if (left < 0).any():
                return False
            place = chain[begin + place - 1, c].astype(np.int64)
    return True
