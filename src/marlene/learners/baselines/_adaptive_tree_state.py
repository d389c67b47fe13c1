"""What the state of an adaptive tree must be like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.layouts import Field, Layout, Rule
from marlene.kernels.rivals import tree_state as layout
from marlene.kernels.rivals.tree_state import ALTERNATE, INPUT, IS_LEAF, LAST, LEAF, LEFT, NONE, RIGHT, WEIGHT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array

    Given = Mapping[str, Array]
    Lengths = Mapping[str, int]

MOST_WEIGHT = 2.0**53
"""Beyond it, 1 more is no more."""


def _branches(arrays: Given) -> tuple[Array, Array]:
    """Return the numbers of all nodes that test an input, and what lies below each."""
    numbers = np.flatnonzero(arrays["node"][:, INPUT] != IS_LEAF)
    return numbers, arrays["node"][numbers][:, [LEFT, RIGHT, ALTERNATE]]


def _have_two(arrays: Given, _: Lengths) -> bool:
    return bool((_branches(arrays)[1][:, :2] != NONE).all())


def _lie_below_one(arrays: Given, lengths: Lengths) -> bool:
    numbers, below = _branches(arrays)
    there = below != NONE
    once = np.array_equal(np.sort(below[there]), np.arange(1, lengths["nodes"]))
    return lengths["nodes"] > 0 and once and bool((below > numbers[:, None])[there].all())


def _are_leaves(arrays: Given, lengths: Lengths) -> bool:
    node = arrays["node"]
    ends = node[node[:, INPUT] == IS_LEAF]
    return np.array_equal(ends[:, LEAF], np.arange(lengths["leaves"])) and bool((ends[:, ALTERNATE] == NONE).all())


def _are_weights(arrays: Given, _: Lengths) -> bool:
    weight, last, times = arrays["leaf"][:, WEIGHT], arrays["leaf"][:, LAST], arrays["moment"][..., layout.TIMES]
    within = (last <= weight).all() and (arrays["label"] <= weight[:, None]).all()
    within = within and (times >= 0).all() and (times <= weight[:, None, None]).all()
    return bool(within) and all((each == np.floor(each)).all() for each in (weight, last, arrays["label"], times))


def _are_rings(arrays: Given, lengths: Lengths) -> bool:
    place, filled = arrays["counts"][:, layout.NEXT], arrays["counts"][:, layout.FILLED]
    full = filled == lengths["window"]
    return bool(
        (full | (place == filled)).all() and (place < lengths["window"]).all() and (filled <= lengths["window"]).all()
    )


def _are_seen(arrays: Given, lengths: Lengths) -> bool:
    counts = arrays["counts"]
    filled = counts[:, layout.FILLED]
    empty = np.arange(lengths["window"]) >= filled[:, None]
    told = np.array_equal(counts[:, layout.SETS] > 0, filled > 0) and bool((arrays["leaf"][:, WEIGHT] >= filled).all())
    return told and not arrays["size"][empty].any()


ADAPTIVE_TREE = Layout(
    "an adaptive tree",
    {
        "node": Field(
            "int64",
            ("nodes", layout.NODE_COLUMNS),
            "input of the test (-1: a leaf), children, root of an alternate tree, leaf; -1: none",
            least=NONE,
        ),
        "threshold": Field("float64", ("nodes",), "thresholds of the tests"),
        "leaf": Field(
            "float64", ("leaves", layout.LEAF_COLUMNS), "weight, and that at the last attempt to split", 0, MOST_WEIGHT
        ),
        "counts": Field(
            "int64",
            ("leaves", layout.COUNT_COLUMNS),
            "how many label sets there are, which of the latest examples is replaced next, how many there are",
            least=0,
        ),
        "label": Field("float64", ("leaves", "labels"), "weight of every label", 0, MOST_WEIGHT),
        "sets": Field("uint64", ("leaves", layout.MOST_SETS), "hashes of the label sets; 0: none"),
        "moment": Field(
            "float64",
            ("leaves", "inputs", "(labels + 1)", 3),
            "weight, sum and sum of squares of an input where it is not zero, by label and at last of all examples",
        ),
        "bound": Field("float64", ("leaves", "inputs", 2), "least and greatest value of an input that is not zero"),
        "size": Field("int64", ("leaves", "window"), "how many inputs of the latest examples are not zero", least=0),
        "where": Field("int64", ("entries",), "which inputs, one example after the other", least=0, most="inputs"),
        "value": Field("float64", ("entries",), "their values"),
        "truth": Field("int8", ("leaves", "window", "labels"), "their labels; -1 is unknown", least=-1, most=1),
        "coefficient": Field("float64", ("leaves", "(1 + inputs)", "members", "labels"), "linear models"),
    },
    (
        Rule("tests are of inputs that exist", lambda a, n: (a["node"][:, INPUT] < n["inputs"]).all()),
        Rule("a test has two branches", _have_two),
        Rule("every node but the first lies below one node before it", _lie_below_one),
        Rule("leaves are in the order of their nodes, and have no alternate tree", _are_leaves),
        Rule("weights are whole numbers, none above that of its leaf", _are_weights),
        Rule(
            "as many label sets are counted as there are",
            lambda a, _: np.array_equal(a["counts"][:, layout.SETS], (a["sets"] != 0).sum(axis=1)),
        ),
        Rule("the next place for an example is free, or any if none is free", _are_rings),
        Rule("a leaf has label sets and weight if it has examples, and inputs of these only", _are_seen),
        Rule("no example has more inputs than there are", lambda a, n: (a["size"] <= n["inputs"]).all()),
        Rule("`size` sums up to the number of entries", lambda a, n: int(a["size"].sum()) == n["entries"]),
    ),
)
