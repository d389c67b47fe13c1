"""The methods of the comparison with what the published programs do otherwise, one switch for each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene.experiments.program._trees import LEAF, Trees, has_room, learn, new_trees, raw_votes, with_room
from marlene.kernels.compile import kernel
from marlene.learners import (
    GOOWE,
    METHODS,
    BinaryRelevanceTrees,
    ClassifierChain,
    MultiTargetTree,
    OnlineBagging,
    PrunedSets,
)
from marlene.learners.baselines._bagging import mean_over_members
from marlene.learners.baselines._chain import ChainCommittee
from marlene.learners.baselines._pruned_sets import LabelSet, SetsCommittee
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.baselines._committee import Committee, Transformation

SWITCHES = ("largest", "undivided", "normalised", "hard", "meka", "bare", "weka", "unsplit")
NEVER = 10**9
"""A grace period after which no tree splits."""


@dataclass(eq=False, repr=False)
class HalfOfLargest(GOOWE):
    """GOOWE-ML that predicts a label above half of the largest score, as the program did, not above 1 / |L|."""

    def _weighted(self, scores: Floats) -> Floats:
        if not self._active:
            return np.full((len(scores), scores.shape[2]), 0.5)
        return self._divided(np.tensordot(scores, self._weights[: self._active], axes=([1], [0])))

    def _divided(self, total: Floats) -> Floats:
        """Return votes by the largest of their row, without a vote nothing."""
        largest = total.max(axis=1, keepdims=True)
        return total / np.where(largest > 0.0, largest, 1.0)


@dataclass(eq=False, repr=False)
class Undivided(HalfOfLargest):
    """The same with votes divided in place, as the program does: once the largest is 1, it no longer divides.

    So a label after the one with the largest vote is predicted if its own vote is above 0.5.
    """

    def _divided(self, total: Floats) -> Floats:
        after = np.arange(total.shape[1]) > total.argmax(axis=1)[:, None]
        return np.where(after, np.minimum(total, 1.0), super()._divided(total))


@dataclass(eq=False, repr=False)
class NormalisedBagging(OnlineBagging):
    """Bagging that divides the scores of labels by their sum, and then compares them with 0.5."""

    def _combined(self, scores: Floats) -> Floats:
        means = mean_over_members(scores)
        total = means.sum(axis=1, keepdims=True)
        return means / np.where(total > 0.0, total, 1.0)


class HardCommittee(ChainCommittee):
    """Chains that vote 0 or 1."""

    def run_members(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        super().run_members(rows, truth, weights, scores)
        scores[:] = scores > 0.5


@dataclass(eq=False, repr=False)
class HardChain(ClassifierChain):
    """Chains as MEKA has them: what they say of a label is the decision that the next link sees."""

    def committee(self, size: int) -> Committee:
        return HardCommittee(size, self.classifiers())


def mekas_sets(counts: Mapping[LabelSet, int], most: int) -> list[LabelSet]:
    """Return the label sets that MEKA keeps: all, unless there are too many; then the rarest go until they are not.

    Examples
    --------
    >>> counts = {frozenset({0}): 3, frozenset({1}): 1, frozenset(): 1}
    >>> len(mekas_sets(counts, 3)), len(mekas_sets(counts, 2))
    (3, 1)
    """
    kept = sorted(counts, key=lambda labels: -counts[labels])
    least = 0
    while len(kept) > most:
        least += 1
        kept = [labels for labels in kept if counts[labels] > least]
    return kept or sorted(counts, key=lambda labels: -counts[labels])[:most]


class MekaCommittee(SetsCommittee):
    """Members whose label sets are chosen in MEKA's way."""

    def chosen(self, counts: Mapping[LabelSet, int]) -> list[LabelSet]:
        return mekas_sets(counts, self.classifiers.n_classes)


@dataclass(eq=False, repr=False)
class MekaSets(PrunedSets):
    """Pruned sets as MEKA has them by default: an example whose label set was pruned is not learnt."""

    parts: int | None = 0

    def committee(self, size: int) -> Committee:
        return MekaCommittee(size, self.classifiers(int(self.most)), int(self.buffer), self.parts)


@kernel
def ask(trees: Trees, ids: Ints, x: Floats, votes: Floats) -> None:
    """Write the normalised votes of trees."""
    for i in range(len(ids)):
        raw_votes(trees, ids[i], x, votes[i])
        total = votes[i].sum()
        if total > 0.0:
            votes[i] /= total


@kernel
def teach(trees: Trees, ids: Ints, x: Floats, y: Ints, weights: Floats, begin: int) -> int:
    """Let trees learn a row; return the first that had no room."""
    scratch = np.zeros((2, trees.seen.shape[1]))
    for i in range(begin, len(ids)):
        if not has_room(trees, 1):
            return i
        if weights[i] > 0.0:
            learn(trees, ids[i], x, y[i], weights[i], scratch)
    return len(ids)


class WekaBank:
    """WEKA's Hoeffding trees for two classes as a bank of base classifiers; all features are taken as numbers.

    Examples
    --------
    >>> bank = WekaBank()
    >>> bank.add_features([0])
    >>> ids = bank.add(1)
    >>> for i in range(40):
    ...     bank.learn(ids, [float(i % 2)], [i % 2])
    >>> bank.votes([1.0]).round(3).tolist()
    [[0.0, 1.0]]
    """

    n_classes = 2

    def __init__(self) -> None:
        self._features = 0
        self._trees: Trees | None = None
        self._ids: list[int] = []
        self._made = 0

    @property
    def ids(self) -> list[int]:
        """The ids of all trees."""
        return list(self._ids)

    def add(self, count: int = 1) -> Ints:
        """Add untrained trees and return their ids."""
        new = np.arange(self._made, self._made + count)
        self._made += count
        self._ids += new.tolist()
        return new

    def remove(self, ids: npt.ArrayLike) -> None:
        """Forget trees."""
        gone = set(np.asarray(ids).ravel().tolist())
        self._ids = [one for one in self._ids if one not in gone]

    def add_features(self, kinds: list[int | str]) -> None:
        """Append features, of whatever kind: the labels before a link of a chain are numbers, too."""
        if self._trees is not None:
            raise MarleneError("the imitation of WEKA's trees needs all features at the beginning")
        self._features += len(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        """Do nothing: values are numbers."""

    def votes(self, x: Any, ids: npt.ArrayLike | None = None) -> Floats:  # noqa: ANN401 (array-like)
        """Return the votes of trees on a row."""
        asked = np.asarray(self._ids if ids is None else ids, np.int64)
        votes = np.zeros((len(asked), self.n_classes))
        ask(self._grown(), asked, np.ascontiguousarray(x, np.float64), votes)
        return votes

    def learn(self, ids: npt.ArrayLike, x: Any, y: npt.ArrayLike, weights: npt.ArrayLike = 1) -> None:  # noqa: ANN401
        """Train trees on a row."""
        taught, row = np.asarray(ids, np.int64), np.ascontiguousarray(x, np.float64)
        classes = np.broadcast_to(np.asarray(y, np.int64), taught.shape).copy()
        amounts = np.broadcast_to(np.asarray(weights, np.float64), taught.shape).copy()
        begin = 0
        while begin < len(taught):
            begin = teach(self._grown(), taught, row, classes, amounts, begin)
            if begin < len(taught):
                self._trees = with_room(self._grown())

    def clone(self) -> WekaBank:
        """Return an empty bank."""
        return WekaBank()

    def _grown(self) -> Trees:
        """Return the trees, with a root for every id."""
        trees = self._trees or new_trees(self._made, self.n_classes, self._features, weka=True)
        missing = self._made - len(trees.root)
        if missing:
            while not has_room_for(trees, missing):
                trees = with_room(trees)
            roots = trees.used[0] + np.arange(missing)
            trees.place[roots] = trees.used[1] + np.arange(missing)
            trees.feature[roots] = LEAF
            trees.used[:] += missing
            trees = trees._replace(root=np.concatenate([trees.root, roots]))
        self._trees = trees
        return trees


def has_room_for(trees: Trees, roots: int) -> bool:
    """Tell whether there is room for so many further trees."""
    return bool(trees.used[0] + roots <= len(trees.feature))


def slipped(name: str, seed: int, switches: Mapping[str, bool]) -> OnlineBagging | GOOWE:
    """Return a method of the comparison with switches.

    Parameters
    ----------
    name
        The method.
    seed
        What its random numbers depend on.
    switches
        "largest": GOOWE-ML predicts above half of the largest score. "undivided": the same for labels up to that of
        the largest score; later ones are compared with 0.5. "normalised": bagging compares with 0.5 after dividing by
        the sum over labels. "hard": chains vote 0 or 1. "meka": sets are pruned in MEKA's way. "bare": their trees
        have no least variance. "weka": binary relevance or chains of WEKA's trees. "unsplit": multi-target trees
        never split.
    """
    for switch in switches:
        if switch not in SWITCHES:
            raise MarleneError(f"there is no switch {switch!r}; known: {', '.join(SWITCHES)}")
    plain: Any = METHODS[name].build(seed=seed)
    ensemble: Any = type(plain)
    transformation: Transformation = plain.transformation
    if switches.get("largest"):
        ensemble = HalfOfLargest
    if switches.get("undivided"):
        ensemble = Undivided
    if switches.get("normalised"):
        ensemble = NormalisedBagging
    trees = HoeffdingForest([], variance_floor=0.0) if switches.get("bare") else HoeffdingForest([])
    if switches.get("meka") or switches.get("bare"):
        transformation = (MekaSets if switches.get("meka") else PrunedSets)(base=trees)
    base = WekaBank() if switches.get("weka") else HoeffdingForest([])
    if isinstance(transformation, ClassifierChain):
        transformation = (HardChain if switches.get("hard") else ClassifierChain)(base)
    elif switches.get("weka"):
        transformation = BinaryRelevanceTrees(base)
    if switches.get("unsplit"):
        transformation = MultiTargetTree(grace_period=NEVER)
    kept = {field.name: getattr(plain, field.name) for field in fields(plain) if field.init}
    made: OnlineBagging | GOOWE = ensemble(**kept | {"transformation": transformation})
    return made
