"""The arrays of a Hoeffding forest, and what their columns mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene.kernels.forest.tables import ORDERS, Arena

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Int32s, Ints


# The columns of the arrays. The last name of a group is the number of columns.

# Columns of Forest.tree. ROOT is a node, counted from 1; 0 before the first training.
ROOT, SPLITS, LEAVES, DEPTH, ALIVE, TREE_COLUMNS = range(6)

# Columns of Forest.node. CHILDREN is the first of a block of nodes, HEAVIEST the branch a missing value takes,
# CLASSES one more than the largest class counted here.
STATE, FEATURE, TEST, CHILDREN, BRANCHES, HEAVIEST, LEAF, LEVEL, CLASSES, NODE_COLUMNS = range(10)
ABSENT, IS_LEAF, IS_SPLIT = range(3)
NUMERIC_TEST, EQUALS_TEST, MULTIWAY_TEST = range(3)

# Columns of Forest.leaf: start, order + 1 and used entries of the two tables (see forest/tables.py), and whether the
# leaf has met a missing value. The presence table counts values of binary and nominal features and missing values; the
# numeric table describes numeric features.
PRESENCE_START, PRESENCE_ORDER, PRESENCE_USED = range(3)
NUMERIC_START, NUMERIC_ORDER, NUMERIC_USED, MET_MISSING, LEAF_COLUMNS = range(3, 8)

# Columns of Forest.leaf_weight.
LAST_ATTEMPT, MAJORITY_CORRECT, BAYES_CORRECT, WEIGHTS_SQUARED, LEAF_WEIGHT_COLUMNS = range(5)

# Columns of Forest.leaf_class, per class (see forest/observers.py): weight observed; log-likelihood of an example whose
# features are all zero (two parts); number of binary and of numeric features seen non-zero; power sums of the counts of
# rare binary features.
SEEN, BASE_PRESENCE, BASE_NUMERIC, ACTIVE_PRESENCE, ACTIVE_NUMERIC, POWER_SUMS = range(6)
POWERS = 12
LEAF_CLASS_COLUMNS = POWER_SUMS + POWERS

# Columns of Forest.leaf_list, per class: the lengths of the lists of frequent binary features and of mostly non-zero
# numeric features. The lists themselves are in the tables.
FREQUENT, MOSTLY_NONZERO, LEAF_LIST_COLUMNS = range(3)

# Planes of the numeric table, per class: weight, mean, sum of squared deviations, least and greatest of the
# non-zero values; mean and 1 / (2 variance) of all values, zeros included (negative: no variance).
WEIGHT, MEAN, SQUARES, LOW, HIGH, CENTRE, SCALE, NUMERIC_COLUMNS = range(8)

# A presence key is value << 32 | feature. A missing value has a code of its own.
VALUE_SHIFT = 32
MISSING_VALUE = (1 << 30) - 1
FEATURE_MASK = (1 << VALUE_SHIFT) - 1

MAJORITY, NAIVE_BAYES, ADAPTIVE = range(3)


class Forest(NamedTuple):
    """All trees of an ensemble."""

    tree: Ints
    node: Ints
    node_value: Floats
    node_count: Floats
    node_link: Ints
    node_free: Ints
    node_top: Ints
    leaf: Ints
    leaf_weight: Floats
    leaf_class: Floats
    leaf_list: Int32s
    leaf_link: Ints
    leaf_free: Ints
    leaf_top: Ints
    presence: Arena
    numeric: Arena
    kind: Ints
    nominal: Ints
    n_numeric: int
    widest: int
    inherit: bool


class Settings(NamedTuple):
    """The parameters of a forest, as the kernels take them."""

    grace_period: float
    log_inverse_delta: float
    tie_threshold: float
    split_points: int
    leaf_prediction: int
    max_depth: int
    max_nodes: int
    variance_floor: float
    effective_size: bool


class SplitTest(NamedTuple):
    """The test of a split: a feature, `NUMERIC_TEST`, `EQUALS_TEST` or `MULTIWAY_TEST`, and a threshold or value."""

    feature: int
    type: int
    value: float


def empty_table(capacity: int, n_classes: int, columns: int, planes: int = 0) -> Arena:
    """Return an arena of `capacity` unused entries."""
    return Arena(
        key=np.zeros(capacity, np.int64),
        stat=np.zeros((capacity, n_classes, columns)),
        planes=np.zeros((n_classes, planes, capacity)),
        listed=np.zeros((capacity, n_classes), np.int32),
        cells=np.zeros(2 * capacity, np.int64),
        free=np.zeros(ORDERS, np.int64),
        top=np.zeros(1, np.int64),
    )


def empty_forest(kind: Ints, n_classes: int, inherit: bool = False) -> Forest:
    """Return a forest without trees; `kind` holds 0 for a numeric feature, else the number of values."""
    nodes = leaves = 8
    return Forest(
        tree=np.zeros((8, TREE_COLUMNS), np.int64),
        node=np.zeros((nodes, NODE_COLUMNS), np.int64),
        node_value=np.zeros(nodes),
        node_count=np.zeros((nodes, n_classes)),
        node_link=np.zeros(nodes, np.int64),
        node_free=np.zeros(ORDERS, np.int64),
        node_top=np.zeros(1, np.int64),
        leaf=np.zeros((leaves, LEAF_COLUMNS), np.int64),
        leaf_weight=np.zeros((leaves, LEAF_WEIGHT_COLUMNS)),
        leaf_class=np.zeros((leaves, n_classes, LEAF_CLASS_COLUMNS)),
        leaf_list=np.zeros((leaves, n_classes, LEAF_LIST_COLUMNS), np.int32),
        leaf_link=np.zeros(leaves, np.int64),
        leaf_free=np.zeros(ORDERS, np.int64),
        leaf_top=np.zeros(1, np.int64),
        presence=empty_table(64, n_classes, 1),
        numeric=empty_table(64, n_classes, 0, NUMERIC_COLUMNS),
        inherit=inherit,
        **feature_fields(kind),
    )


def feature_fields(kind: Ints) -> dict[str, Any]:
    """Return the fields of a forest that depend on the kinds of its features."""
    kind = np.ascontiguousarray(kind, dtype=np.int64)
    return {
        "kind": kind,
        "nominal": np.flatnonzero(kind > 2),
        "n_numeric": int((kind == 0).sum()),
        "widest": max(2, int(kind.max(initial=0))),
    }
