"""Frozen leaves: leaves that no longer learn, written down as linear functions.

With binary features, naive Bayes is a sum over the features that are present. The terms of a leaf that no longer
changes are written down once. The terms of one feature in all frozen leaves are neighbours, so that an example costs
one row of numbers per non-zero instead of a look-up in every leaf.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, kernel
from marlene.kernels.forest import state as layout
from marlene.kernels.forest.branches import new_space
from marlene.kernels.forest.leaves import BY_BAYES, add_one_present, is_simple, rule_of, score
from marlene.kernels.forest.trees import Example

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Int32s, Ints
    from marlene.kernels.forest.state import Forest, Settings


class Frozen(NamedTuple):
    """The frozen leaves.

    Attributes
    ----------
    slot
        For every leaf of the forest its slot from 1, or 0.
    weight
        What a present feature adds to the log-odds of class 1 (features × slots).
    base
        The log-odds of an example without any feature.
    total
        The log-odds of the current example.
    top
        The number of slots in use (an array of one).
    """

    slot: Int32s
    weight: Floats
    base: Floats
    total: Floats
    top: Ints


@kernel
def freeze_tree(forest: Forest, settings: Settings, tree: int, frozen: Frozen) -> bool:
    """Freeze the leaves of a tree that vote by naive Bayes; return False if the slots do not suffice for all."""
    space = new_space(forest.widest, forest.node_count.shape[1], len(forest.kind))
    out = space.votes
    nothing = Example(forest.nominal, space.found, space.found, False, 0, 0)
    stack = [forest.tree[tree, layout.ROOT] - 1]
    while len(stack) > 0:
        node = stack.pop()
        if node < 0:
            continue
        if forest.node[node, layout.STATE] == layout.IS_SPLIT:
            for b in range(forest.node[node, layout.BRANCHES]):
                stack.append(forest.node[node, layout.CHILDREN] + b)  # noqa: PERF401 (a compiled loop)
        leaf, is_leaf = forest.node[node, layout.LEAF], forest.node[node, layout.STATE] == layout.IS_LEAF
        if not is_leaf or rule_of(forest, settings, node, False) != BY_BAYES or not is_simple(forest, leaf, nothing):
            continue
        score(forest, settings, node, nothing, space, out)
        base = out[1] - out[0]
        if not math.isfinite(base):
            continue
        place = frozen.top[0]
        if place >= len(frozen.base):
            return False
        frozen.top[0] += 1
        frozen.slot[leaf] = place + 1
        frozen.base[place] = base
        for feature in range(len(forest.kind)):
            out[0], out[1] = 0.0, 0.0
            add_one_present(forest, leaf, feature, out)
            frozen.weight[feature, place] = out[1] - out[0]
    return True


@inlined
def sum_up(frozen: Frozen, indices: Ints) -> None:
    """Compute the log-odds of an example for all slots."""
    total, base = frozen.total, frozen.base
    for place in range(frozen.top[0]):
        total[place] = base[place]
    for j in range(len(indices)):
        terms = frozen.weight[indices[j]]
        for place in range(frozen.top[0]):
            total[place] += terms[place]


@inlined
def frozen_vote(frozen: Frozen, leaf: int, feature: int, out: Floats) -> None:
    """Write the votes of a frozen leaf, with a feature (-1: none) that is present besides those summed up."""
    slot = frozen.slot[leaf] - 1
    total = frozen.total[slot]
    if feature >= 0:
        total += frozen.weight[feature, slot]
    out[1] = 1.0 / (1.0 + math.exp(-total))
    out[0] = 1.0 - out[1]
