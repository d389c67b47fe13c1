"""Snapshots of the trees of a forest that learn no more: they vote by one sum over the features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.forest.frozen import Frozen, freeze_tree

if TYPE_CHECKING:
    from marlene.trees import HoeffdingForest

MOST_FEATURES = 4096
"""With more features, the snapshots would take more memory than the trees."""


class Freezer:
    """The frozen trees of a forest. Snapshots are not saved: they follow from the forest and the ids of the trees."""

    def __init__(self, forest: HoeffdingForest) -> None:
        self._forest = forest
        self._trees: set[int] = set()
        self._waiting: list[int] = []
        self._arrays = _empty(0, 0, 0)

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
        freeze_tree(self._forest.arrays, self._forest.parameters, tree, _empty(0, 0, 0))

    def _start_again(self) -> None:
        self._waiting = sorted(self._trees)
        self._arrays = _empty(0, 0, 0)

    def arrays(self) -> Frozen:
        """Return the snapshots of all frozen trees."""
        arrays, forest = self._forest.arrays, self._forest
        plain = arrays.n_numeric == 0 and len(arrays.nominal) == 0 and len(arrays.kind) <= MOST_FEATURES
        if not plain:
            return self._arrays if not self._arrays.top[0] else _empty(0, 0, 0)
        if self._arrays.top[0] and len(self._arrays.weight) != len(arrays.kind):
            self._start_again()
        while self._waiting:
            tree = self._waiting[-1]
            top = int(self._arrays.top[0])
            if len(self._arrays.slot) < len(arrays.leaf_link) or len(self._arrays.weight) != len(arrays.kind):
                self._arrays = _enlarged(self._arrays, len(arrays.leaf_link), len(arrays.kind), len(self._arrays.base))
            if freeze_tree(arrays, forest.parameters, tree, self._arrays):
                self._waiting.pop()
            else:
                self._arrays.top[0] = top
                self._arrays = _enlarged(
                    self._arrays, len(arrays.leaf_link), len(arrays.kind), max(64, 2 * len(self._arrays.base))
                )
        return self._arrays


def _empty(leaves: int, features: int, slots: int) -> Frozen:
    return Frozen(
        slot=np.zeros(leaves, np.int32),
        weight=np.zeros((features, slots)),
        base=np.zeros(slots),
        total=np.zeros(slots),
        top=np.zeros(1, np.int64),
    )


def _enlarged(old: Frozen, leaves: int, features: int, slots: int) -> Frozen:
    new = _empty(leaves, features, slots)
    new.slot[: len(old.slot)] = old.slot
    new.weight[: len(old.weight), : len(old.base)] = old.weight
    new.base[: len(old.base)] = old.base
    new.top[0] = old.top[0]
    return new
