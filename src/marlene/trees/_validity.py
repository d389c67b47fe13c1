"""Check that named arrays can be the state of a forest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import require
from marlene.kernels.forest import state as layout
from marlene.kernels.forest.observers import RARE
from marlene.kernels.forest.tables import ORDERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Bools, Ints


TABLES = {
    "presence": (layout.PRESENCE_START, layout.PRESENCE_ORDER, layout.PRESENCE_USED),
    "numeric": (layout.NUMERIC_START, layout.NUMERIC_ORDER, layout.NUMERIC_USED),
}


def block_sizes(branches: Ints) -> Ints:
    """Return the size of the block of children of every split."""
    return np.int64(1) << np.ceil(np.log2(branches)).astype(np.int64)


_require = partial(require, whose="a forest")


def _require_within(values: Ints, least: int, most: int | Ints, what: str) -> None:
    _require(((values >= least) & (values <= most)).all(), what)


def _check_trees(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    tree, node, leaf = arrays["tree"], arrays["node"], arrays["leaf"]
    alive, state = tree[:, layout.ALIVE], node[:, layout.STATE]
    _require(np.isin(alive, (0, 1)).all() and not tree[alive == 0].any(), "the trees")
    roots = tree[tree[:, layout.ROOT] != 0, layout.ROOT] - 1
    # Nodes are ordered level by level: first the roots, then one block per split, in the order of the splits.
    _require(np.array_equal(np.sort(roots), np.arange(len(roots))) and len(roots) <= len(node), "the roots")
    _require((state[roots] != layout.ABSENT).all(), "the roots")
    is_split = state == layout.IS_SPLIT
    _require(np.isin(state, (layout.ABSENT, layout.IS_LEAF, layout.IS_SPLIT)).all(), "the states of the nodes")
    _require_within(node[:, layout.CLASSES], 0, arrays["node_count"].shape[1], "the classes of the nodes")
    _require_within(node[:, layout.LEVEL], 0, len(node), "the levels of the nodes")
    _require((tree >= 0).all() and (tree[:, layout.DEPTH] <= len(node)).all(), "the trees")
    for column, count in ((layout.SPLITS, is_split.sum()), (layout.LEAVES, len(leaf))):
        _require((tree[:, column] <= len(node)).all() and tree[:, column].sum() == count, "the sizes of the trees")
    _require(
        np.array_equal(node[state == layout.IS_LEAF, layout.LEAF], np.arange(len(leaf))), "the leaves of the nodes"
    )
    branches = node[is_split, layout.BRANCHES]
    _require_within(branches, 1, len(node), "the branches of the splits")
    sizes = block_sizes(branches)
    children = len(roots) + np.cumsum(sizes) - sizes
    _require(np.array_equal(node[is_split, layout.CHILDREN], children), "the children of the splits")
    _require(len(node) == len(roots) + int(sizes.sum()), "the number of nodes")
    _require((np.flatnonzero(is_split) < children).all(), "the order of the nodes")
    return True


def _check_splits(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    is_split = arrays["node"][:, layout.STATE] == layout.IS_SPLIT
    split, value = arrays["node"][is_split], arrays["node_value"][is_split]
    feature, test, branches = split[:, layout.FEATURE], split[:, layout.TEST], split[:, layout.BRANCHES]
    _require_within(feature, 0, len(arrays["kind"]) - 1, "the features of the splits")
    kind = arrays["kind"][feature]
    numeric = (test == layout.NUMERIC_TEST) & (kind == 0) & (branches == 2) & np.isfinite(value)
    equals = (test == layout.EQUALS_TEST) & (branches == 2) & (value >= 0) & (value < kind)
    multiway = (test == layout.MULTIWAY_TEST) & (branches <= kind)
    _require((numeric | equals | multiway).all(), "the tests of the splits")
    _require_within(split[:, layout.HEAVIEST], 0, branches - 1, "the heaviest branches")
    return True


def _check_tables(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    for which, name in enumerate(TABLES):
        _check_table(arrays, which, name)
    return True


def _check_table(arrays: Mapping[str, Array], which: int, name: str) -> None:
    leaf, key, stat = arrays["leaf"], arrays[f"{name}_key"], arrays[f"{name}_stat"]
    start, order, used = (leaf[:, column] for column in TABLES[name])
    _require((start == 0).all(), f"the starts of the {name} tables")
    _require_within(order, 0, ORDERS - 1, f"the sizes of the {name} tables")
    room = np.where(order > 0, np.int64(1) << np.maximum(order - 1, 0), 0)
    filled = (used >= 0) & (used <= len(key)) & (used <= room) & (room <= np.maximum(8, 4 * used))
    _require(filled.all() and int(used.sum()) == len(key), f"the use of the {name} tables")
    value, feature = key >> layout.VALUE_SHIFT, key & ((1 << layout.VALUE_SHIFT) - 1)
    _require(((key >= 0) & (feature < len(arrays["kind"]))).all(), f"the keys of the {name} tables")
    kind = arrays["kind"][feature]
    owner = np.repeat(np.arange(len(leaf)), used)
    distinct = len(np.unique(np.stack([owner, key]), axis=1).T) == len(key)
    seen = arrays["leaf_class"][owner, :, layout.SEEN]
    weight = stat[:, :, layout.WEIGHT if which else 0]
    _require((seen >= 0).all() and (weight >= 0).all(), f"the weights of the {name} tables")
    if which == 0:
        right = (value == layout.MISSING_VALUE) | ((value > 0) & (value < kind))
        binary = ((value == 1) & (kind == 2))[:, None]
        _require((~binary | (weight < seen + 1.0)).all(), f"the weights of the {name} tables")
        listed = binary & (RARE * weight > seen + 1.0)
    else:
        right = (value == 0) & (kind == 0)
        listed = (weight > 0) & ((2.0 * weight > seen) | (stat[:, :, layout.SCALE] < 0.0))
    _require(right.all() and distinct, f"the keys of the {name} tables")
    lengths, places = arrays["leaf_list"][:, :, which], arrays[f"{name}_listed"]
    _require_within(lengths, 0, used[:, None], f"the lists of the {name} tables")
    _require_within(places, 0, used[owner][:, None], f"the lists of the {name} tables")
    _require(_lists_hold(lengths, places, used, listed), f"the lists of the {name} tables")


def _lists_hold(lengths: Ints, places: Ints, used: Ints, listed: Bools) -> bool:
    """Tell whether the list of every leaf and class holds exactly the `listed` entries, each once."""
    starts = np.repeat(np.cumsum(used) - used, used)
    within = np.arange(len(places)) - starts < np.repeat(lengths, used, axis=0).T
    if not np.array_equal(within.T, places > 0):
        return False
    count = np.zeros(listed.shape, np.int64)
    for c in range(listed.shape[1]):
        np.add.at(count[:, c], (starts + places[:, c] - 1)[within[c]], 1)
    return np.array_equal(count, listed)


def _table_fields(name: str, columns: int) -> dict[str, Field]:
    entries = f"{name} entries"
    return {
        f"{name}_key": Field("int64", (entries,), "feature and value of each entry, leaf by leaf", least=0),
        f"{name}_stat": Field("float64", (entries, "classes", columns), "what was counted, by class"),
        f"{name}_listed": Field("int32", (entries, "classes"), "places of listed entries, from 1; 0 is none", least=0),
    }


FOREST = Layout(
    "a forest",
    {
        "tree": Field("int64", ("trees", layout.TREE_COLUMNS), "root, splits, leaves, depth, existence", least=0),
        "node": Field("int64", ("nodes", layout.NODE_COLUMNS), "state, test, children; level by level"),
        "node_value": Field("float64", ("nodes",), "threshold or value of a test; NaN without one", bounded=False),
        "node_count": Field("float64", ("nodes", "classes"), "weight of each class", least=0),
        "leaf": Field("int64", ("leaves", layout.LEAF_COLUMNS), "sizes of its tables, whether a value was missing"),
        "leaf_weight": Field("float64", ("leaves", layout.LEAF_WEIGHT_COLUMNS), "weights of attempts, hits", least=0),
        "leaf_class": Field("float64", ("leaves", "classes", layout.LEAF_CLASS_COLUMNS), "what is known of each class"),
        "leaf_list": Field("int32", ("leaves", "classes", layout.LEAF_LIST_COLUMNS), "lengths of lists", least=0),
        "kind": Field("int64", ("features",), "0 for a numeric feature, else the number of its values", least=0),
        **_table_fields("presence", 1),
        **_table_fields("numeric", layout.NUMERIC_COLUMNS),
    },
    (
        Rule("nodes are in order: roots, then the children of every split; every leaf has one node", _check_trees),
        Rule("splits test features that exist, with values that these have", _check_splits),
        Rule("tables have room for their entries, and lists hold exactly the entries they must", _check_tables),
    ),
)
