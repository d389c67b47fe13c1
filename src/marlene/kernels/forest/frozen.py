"""Frozen trees: trees over binary features that no longer learn, written down so that an example costs little.

*Routes.* The leaves of a tree are numbered so that of every split those of the absent feature come first. A set of
leaves is a whole number, a bit for each. An example may reach any leaf at first. Every split on a feature that is
present rules out the leaves on its other side; the first leaf that is left is the one reached. So only splits on
features that are present are visited, whatever the number of trees (Lucchese et al., QuickScorer, 2015).

*Votes.* The votes of most leaves are constant. Naive Bayes is a sum over the features that are present, and the terms
of a leaf that no longer changes are written down once. The terms of one feature in all these leaves are neighbours, so
that an example costs one row of numbers per non-zero instead of a look-up in every leaf.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.cpython.unsafe import numbers as bits

from marlene.kernels.compile import inlined, kernel
from marlene.kernels.forest import state as layout
from marlene.kernels.forest.branches import new_space
from marlene.kernels.forest.leaves import BY_BAYES, BY_MAJORITY, add_one_present, decide, is_simple, rule_of, score
from marlene.kernels.forest.trees import Example, follow, leaf_at, root_of

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Int32s, Ints
    from marlene.kernels.forest.state import Forest, Settings

MOST_LEAVES = 64
TREES, LEAVES, SPLITS, SLOTS, SIZES = range(5)
"""Places of `Frozen.sizes`, and their number."""
_first_of: Any = bits.trailing_zeros
"""Returns the first leaf of a set."""


class Frozen(NamedTuple):
    """The frozen trees.

    Attributes
    ----------
    place
        For every tree of the forest its number among the frozen ones from 1, or 0.
    first, reach
        For every frozen tree its first leaf, and the set of leaves that the current example may reach.
    slot, votes
        For every leaf its slot from 1, or 0 where its votes are constant, and these votes.
    feature, tree, left
        For every split its feature, its tree, and the set of leaves that are left where the feature is present.
    starts, order
        The splits by their features, and where those of each feature begin.
    weight
        What a present feature adds to the log-odds of class 1 (features × slots).
    base
        The log-odds of an example without any feature.
    total
        The log-odds of the current example.
    sizes
        The numbers of trees, leaves, splits and slots in use.
    """

    place: Int32s
    first: Ints
    reach: Ints
    slot: Int32s
    votes: Floats
    feature: Ints
    tree: Int32s
    left: Ints
    starts: Ints
    order: Ints
    weight: Floats
    base: Floats
    total: Floats
    sizes: Ints


@inlined
def _range_of_leaves(first: int, last: int) -> int:
    """Return the set of the leaves from `first` up to, not including, `last`, of which there are at most 63."""
    return ((1 << (last - first)) - 1) << first


@kernel
def freeze_tree(forest: Forest, settings: Settings, tree: int, frozen: Frozen) -> bool:
    """Write down a tree, for which there is room; return False, and write nothing that counts, if it cannot be done.

    It cannot where a leaf has met missing values.
    """
    space = new_space(forest.widest, forest.node_count.shape[1], len(forest.kind))
    out, sizes = space.votes, frozen.sizes.copy()
    nothing = Example(forest.nominal, space.found, space.found, False, 0, 0, space.places, 0)
    first = sizes[LEAVES]
    stack = [(root_of(forest, tree), -1, -1)]  # a node, its branch if that does not exist, and the split
    while len(stack) > 0:  # above it whose other side is complete
        node, branch, complete = stack.pop()
        if complete >= 0:
            frozen.left[complete] = ~_range_of_leaves(frozen.left[complete], sizes[LEAVES] - first)
        if node >= 0 and branch < 0 and forest.node[node, layout.STATE] == layout.IS_SPLIT:
            split = sizes[SPLITS]
            sizes[SPLITS] += 1
            frozen.feature[split], frozen.tree[split] = forest.node[node, layout.FEATURE], sizes[TREES]
            frozen.left[split] = sizes[LEAVES] - first
            stack.append((*follow(forest, node, 1.0), split))
            stack.append((*follow(forest, node, 0.0), -1))
            continue
        leaf, place = leaf_at(forest, node, branch), sizes[LEAVES]
        sizes[LEAVES] += 1
        rule = rule_of(forest, settings, node, False) if leaf >= 0 else BY_MAJORITY
        frozen.slot[place] = 0
        if rule == BY_BAYES:
            if not is_simple(forest, leaf, nothing):
                return False
            score(forest, settings, node, nothing, space, out)
            if math.isfinite(out[1] - out[0]):
                sizes[SLOTS] += 1
                frozen.slot[place] = sizes[SLOTS]
                _write_terms(forest, leaf, frozen, sizes[SLOTS] - 1, out)
                continue
        decide(forest, node, rule, out)
        frozen.votes[place, 0], frozen.votes[place, 1] = out[0], out[1]
    frozen.first[sizes[TREES]] = first
    sizes[TREES] += 1
    frozen.place[tree] = sizes[TREES]
    frozen.sizes[:] = sizes
    return True


@inlined
def _write_terms(forest: Forest, leaf: int, frozen: Frozen, slot: int, out: Floats) -> None:
    """Write down the log-odds of a leaf; `out` holds the scores of an example without any feature."""
    frozen.base[slot] = out[1] - out[0]
    for feature in range(len(forest.kind)):
        out[0], out[1] = 0.0, 0.0
        add_one_present(forest, leaf, feature, out)
        frozen.weight[feature, slot] = out[1] - out[0]


@inlined
def rule_out(frozen: Frozen, feature: int) -> None:
    """Rule out the leaves that an example with this feature cannot reach."""
    for i in range(frozen.starts[feature], frozen.starts[feature + 1]):
        split = frozen.order[i]
        frozen.reach[frozen.tree[split]] &= frozen.left[split]


@inlined
def sum_up(frozen: Frozen, indices: Ints) -> None:
    """Compute what an example with these features reaches in all trees, and its log-odds for all slots."""
    total, base, n_slots = frozen.total, frozen.base, frozen.sizes[SLOTS]
    for slot in range(n_slots):
        total[slot] = base[slot]
    frozen.reach[: frozen.sizes[TREES]] = -1
    for j in range(len(indices)):
        rule_out(frozen, indices[j])
        terms = frozen.weight[indices[j]]
        for slot in range(n_slots):
            total[slot] += terms[slot]


@inlined
def frozen_vote(frozen: Frozen, place: int, feature: int, out: Floats) -> None:
    """Write the votes of a frozen tree, with a feature (-1: none) that is present besides those summed up."""
    leaf = frozen.first[place] + _first_of(frozen.reach[place])
    slot = frozen.slot[leaf] - 1
    if slot < 0:
        out[0], out[1] = frozen.votes[leaf, 0], frozen.votes[leaf, 1]
        return
    total = frozen.total[slot]
    if feature >= 0:
        total += frozen.weight[feature, slot]
    out[1] = 1.0 / (1.0 + math.exp(-total))
    out[0] = 1.0 - out[1]
