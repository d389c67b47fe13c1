"""What is written down of the trees of a forest that learn no more, so that they vote quickly."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.forest import state as layout
from marlene.kernels.forest.frozen import MOST_LEAVES, SIZES, SPLITS, TREES, Frozen, freeze_tree

if TYPE_CHECKING:
    from marlene.trees import HoeffdingForest

MOST_FEATURES = 4096
"""With more features, what is written down would take more memory than the trees."""
LEAST_ROOM = 64


class Freezer:
    """The frozen trees of a forest. They are not saved: they follow from the forest and the ids of the trees."""

    def __init__(self, forest: HoeffdingForest) -> None:
        self._forest = forest
        self._trees: set[int] = set()
        self._waiting: list[int] = []
        self._arrays = NOTHING

    def freeze(self, tree: int) -> None:
        """Take in a tree that learns no more."""
        self._trees.add(tree)
        self._waiting.append(tree)

    def thaw(self, tree: int) -> None:
        """Forget a tree that is about to be removed: other trees will use its leaves."""
        if tree in self._trees:
            self._trees.remove(tree)
            self._start_again()

    def load_kernels(self, tree: int) -> None:
        """Compile the kernel, or load it from the cache; the tree has no leaves."""
        freeze_tree(self._forest.arrays, self._forest.parameters, tree, _enlarged(NOTHING, self._forest, 0))

    def _start_again(self) -> None:
        self._waiting = sorted(self._trees)
        self._arrays = NOTHING

    def arrays(self) -> Frozen:
        """Return what is written down of all frozen trees."""
        arrays, known = self._forest.arrays, self._arrays
        if not self._trees:
            return NOTHING
        if arrays.n_numeric or len(arrays.nominal) or len(arrays.kind) > MOST_FEATURES:
            return NOTHING
        if known.sizes[TREES] and len(known.weight) != len(arrays.kind):
            self._start_again()
        if self._waiting or len(known.order) != known.sizes[SPLITS]:
            self._write_down()
        return self._arrays

    def _write_down(self) -> None:
        forest = self._forest
        while self._waiting:
            tree = self._waiting[-1]
            n_splits = int(forest.arrays.tree[tree, layout.SPLITS])
            if n_splits < MOST_LEAVES:
                self._arrays = _enlarged(self._arrays, forest, n_splits)
                freeze_tree(forest.arrays, forest.parameters, tree, self._arrays)
            self._waiting.pop()
        features = self._arrays.feature[: self._arrays.sizes[SPLITS]]
        order = np.argsort(features, kind="stable")
        starts = np.searchsorted(features[order], np.arange(len(self._arrays.weight) + 1))
        self._arrays = self._arrays._replace(order=order, starts=starts)


def _empty(all_trees: int, features: int, trees: int, leaves: int, splits: int, slots: int) -> Frozen:
    return Frozen(
        place=np.zeros(all_trees, np.int32),
        first=np.zeros(trees, np.int64),
        reach=np.zeros(trees, np.int64),
        slot=np.zeros(leaves, np.int32),
        votes=np.zeros((leaves, 2)),
        feature=np.zeros(splits, np.int64),
        tree=np.zeros(splits, np.int32),
        left=np.zeros(splits, np.int64),
        starts=np.zeros(features + 1, np.int64),
        order=np.zeros(0, np.int64),
        weight=np.zeros((features, slots)),
        base=np.zeros(slots),
        total=np.zeros(slots),
        sizes=np.zeros(SIZES, np.int64),
    )


NOTHING = _empty(0, 0, 0, 0, 0, 0)


def _enlarged(old: Frozen, forest: HoeffdingForest, n_splits: int) -> Frozen:
    """Return what was written down with room for one more tree; the same if there is room."""
    trees, leaves, splits, slots = old.sizes.tolist()
    whole = len(forest.arrays.tree), len(forest.arrays.kind)
    room = len(old.first), len(old.slot), len(old.feature), len(old.base)
    wanted = trees + 1, leaves + n_splits + 1, splits + n_splits, slots + n_splits + 1
    if (len(old.place), len(old.weight)) == whole and all(map(operator.le, wanted, room)):
        return old
    doubled = (have if have >= want else max(LEAST_ROOM, 2 * want) for have, want in zip(room, wanted, strict=True))
    new = _empty(*whole, *doubled)._replace(order=old.order)
    for name, smaller in old._asdict().items():
        getattr(new, name)[tuple(map(slice, smaller.shape))] = smaller
    return new
