"""Pruned sets, a transformation: the frequent label sets are the classes of one classifier."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import MOST_COUNTED, arrays_under, with_prefix
from marlene.learners.baselines._committee import BasedTransformation, ClassifiersCommittee, Committee
from marlene.learners.classifiers._bases import FOREST
from marlene.learners.classifiers._classifiers import ForestClassifiers
from marlene.learners.input._rows import joined, repeated, restored_rows, slice_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.baselines._committee import Base, Keys
    from marlene.learners.classifiers._classifiers import Classifiers

LabelSet = frozenset[int]


def _are_different(sets: Array) -> bool:
    return len(np.unique(sets, axis=0)) == len(sets)


SETS = Layout(
    "a member with pruned sets",
    {
        "sets": Field("int8", ("sets", "labels"), "the label sets that were chosen", least=0, most=1),
        "given": Field("int8", ("examples", "labels"), "those of the examples until then", least=0, most=1),
        "weights": Field("int64", ("examples",), "the weights of these examples", least=1, most=MOST_COUNTED),
    },
    (
        Rule("there is a class for each set", lambda _, n: n["sets"] <= n["classes"]),
        Rule("there are fewer examples than have room", lambda _, n: n["examples"] < n["buffer"]),
        Rule("no set is chosen twice", lambda a, n: n["labels"] == 0 or _are_different(a["sets"])),
        Rule("examples are not kept once sets are chosen", lambda _, n: n["sets"] == 0 or n["examples"] == 0),
    ),
)


@dataclass(eq=False, repr=False)
class PrunedSets(BasedTransformation):
    """One classifier, a Hoeffding tree by default, whose classes are the frequent label sets (Read et al. 2008; 2012).

    A member keeps its first examples and meanwhile predicts the most frequent label set. Then it prunes the label sets
    seen once, and further ones, the rarest first, until at most `most` are left. An example with a pruned set is learnt
    once for each kept set that is part of its own set; if there is none, it is not learnt. An example with an unknown
    label is not learnt either. The score of a label is the probability of the sets that contain it.

    Parameters
    ----------
    buffer
        Number of examples that are kept before the sets are chosen.
    most
        Largest number of sets.
    parts
        Largest number of kept sets that an example with a pruned set is learnt as: the largest first, then the most
        frequent. None: no limit; 0: such examples are not learnt.
    base
        As of `BinaryRelevanceTrees`. A base other than a forest has one classifier per set, which separates it from all
        others.

    Examples
    --------
    >>> from marlene.learners import OnlineBagging
    >>> model = OnlineBagging(PrunedSets(buffer=20), members=3)
    >>> for i in range(100):
    ...     model.learn_one({"x": i % 10}, {"big": i % 10 > 4, "small": i % 10 < 5})
    >>> model.predict_one({"x": 9})
    {'big': True, 'small': False}
    """

    name = "pruned-sets"

    buffer: int = 100
    most: int = 10
    parts: int | None = None
    base: Base = FOREST

    def __post_init__(self) -> None:
        super().__post_init__()
        whole_number(self.buffer, "buffer", low=1)
        whole_number(self.most, "most", low=2)
        if self.parts is not None:
            whole_number(self.parts, "parts", low=0)

    def committee(self, size: int) -> Committee:
        """Return untrained members."""
        return SetsCommittee(size, self.classifiers(int(self.most)), int(self.buffer), self.parts)


def kept_sets(counts: Mapping[LabelSet, int], most: int) -> list[LabelSet]:
    """Return the label sets that are not pruned, the most frequent first; ties: the one seen first.

    Sets seen once are pruned, then those seen twice, and so on, until at most `most` are left. If none would be left,
    the `most` most frequent are kept.

    Examples
    --------
    >>> counts = {frozenset({0}): 5, frozenset({1}): 2, frozenset({0, 1}): 2, frozenset(): 1}
    >>> [sorted(labels) for labels in kept_sets(counts, 3)]
    [[0], [1], [0, 1]]
    >>> [sorted(labels) for labels in kept_sets(counts, 2)]
    [[0]]
    """
    frequent = sorted(counts, key=lambda labels: -counts[labels])
    # What is as rare as the first set beyond `most` goes too.
    rare = max(1, counts[frequent[most]]) if len(frequent) > most else 1
    kept = [labels for labels in frequent if counts[labels] > rare]
    return kept or frequent[:most]


def decomposed(labels: LabelSet, kept: Sequence[LabelSet], most: int | None = None) -> list[int]:
    """Return the places of the kept sets that an example is learnt as: its own set, or else all parts of it.

    Parts are in order of size, the largest first; ties: the most frequent first. There are at most `most`. The empty
    set is no part of any other.

    Examples
    --------
    >>> kept = [frozenset({0}), frozenset(), frozenset({1, 2}), frozenset({3})]
    >>> decomposed(frozenset({0, 1, 2}), kept)
    [2, 0]
    >>> decomposed(frozenset({0}), kept), decomposed(frozenset({4}), kept)
    ([0], [])
    """
    if labels in kept:
        return [kept.index(labels)]
    parts = [place for place, own in enumerate(kept) if own and own < labels]
    return sorted(parts, key=lambda place: -len(kept[place]))[:most]


class _Member:
    """A member: its label sets, and, until there are any, the examples it was given."""

    def __init__(self, sets: Sequence[LabelSet] = ()) -> None:
        self.sets = sets
        self.columns = [np.array(sorted(labels), np.int64) for labels in sets]
        self.rows: list[Rows] = []
        self.labels: list[LabelSet] = []
        self.weights: list[int] = []
        self.counts: Counter[LabelSet] = Counter()


class SetsCommittee(ClassifiersCommittee):
    """One classifier per member; its classes are label sets."""

    def __init__(self, size: int, classifiers: Classifiers, buffer: int, parts: int | None) -> None:
        super().__init__(size, classifiers)
        self.buffer = buffer
        self.parts = parts
        self.add_classifiers(1)
        self.members = [_Member() for _ in range(size)]

    def add_labels(self, count: int, keys: Keys) -> None:  # noqa: ARG002 (as of all)
        self.n_labels += count

    def renew(self, member: int, key: np.uint64) -> None:
        super().renew(member, key)
        self.members[member] = _Member()

    def run_members(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        known = (truth >= 0).all(axis=1)
        sets = [frozenset(np.flatnonzero(labels == 1).tolist()) for labels in truth] if weights.any() else []
        for m in range(self.size):
            offered = weights[:, m] * known
            row = 0
            while row < len(truth) and not self.members[m].sets:
                scores[row, m] = self._majority(self.members[m].counts)
                if offered[row]:
                    self._keep(m, slice_rows(rows, row, row + 1), sets[row], int(offered[row]))
                row += 1
            if row < len(truth):
                rest = slice_rows(rows, row, len(truth))
                scores[row:, m] = self._learn(m, rest, sets[row:], offered[row:])

    def _majority(self, counts: Mapping[LabelSet, int]) -> Floats:
        """Return the most frequent label set so far, as scores."""
        if not counts:
            return np.full(self.n_labels, 0.5)
        scores = np.zeros(self.n_labels)
        frequent: LabelSet = max(counts, key=lambda labels: counts[labels])
        scores[list(frequent)] = 1.0
        return scores

    def _keep(self, m: int, row: Rows, labels: LabelSet, weight: int) -> None:
        """Keep an example. When there are enough, choose the sets and learn the kept examples."""
        member = self.members[m]
        member.rows.append(joined([row]))
        member.labels.append(labels)
        member.weights.append(weight)
        member.counts[labels] += 1
        if len(member.rows) == self.buffer:
            self.members[m] = _Member(self.chosen(member.counts))
            self._learn(m, joined(member.rows), member.labels, np.array(member.weights))

    def chosen(self, counts: Mapping[LabelSet, int]) -> list[LabelSet]:
        """Return the label sets that become classes, from how often each was seen."""
        return kept_sets(counts, self.classifiers.n_classes)

    def _learn(self, m: int, rows: Rows, sets: Sequence[LabelSet], weights: Ints) -> Floats:
        """Let a member learn every row as all its sets; return the scores before each row."""
        member, n = self.members[m], len(weights)
        classes = [decomposed(labels, member.sets, self.parts) for labels in sets] or [[]] * n
        times = np.array([max(1, len(own)) if weight else 1 for own, weight in zip(classes, weights, strict=True)])
        firsts = np.cumsum(times) - times
        flat_classes = np.zeros((int(times.sum()), 1), np.int64)
        flat_weights = np.zeros_like(flat_classes)
        for first, own, weight in zip(firsts.tolist(), classes, weights.tolist(), strict=True):
            if weight:
                flat_classes[first : first + len(own), 0] = own
                flat_weights[first : first + len(own)] = weight
        given = rows if len(flat_classes) == n else repeated(rows, np.repeat(np.arange(n), times))
        votes = self.classifiers.run(self.ids[m], given, flat_classes, flat_weights)[firsts, 0]
        if not isinstance(self.classifiers, ForestClassifiers):
            # One against the rest votes for classes without a set, too.
            votes = votes[:, : len(member.sets)]
            votes = votes / np.maximum(votes.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        scores = np.zeros((n, self.n_labels))
        for place, labels in enumerate(member.columns):
            scores[:, labels] += votes[:, place, None]
        scores[votes.sum(axis=1) == 0] = 0.5
        return np.minimum(scores, 1.0)

    def load_kernels(self) -> None:
        self.classifiers.load_kernels()

    def classifiers_per_member(self, n_labels: int) -> int:  # noqa: ARG002
        return 1

    def state(self) -> Arrays:
        arrays = super().state()
        for m, member in enumerate(self.members):
            own = joined(member.rows)._asdict()
            own |= {"sets": self._as_matrix(member.sets), "given": self._as_matrix(member.labels)}
            own["weights"] = np.array(member.weights, np.int64)
            arrays |= with_prefix(own, f"member{m}.")
        return arrays

    def _as_matrix(self, sets: Sequence[LabelSet]) -> Labels:
        matrix = np.zeros((len(sets), self.n_labels), np.int8)
        for row, labels in zip(matrix, sets, strict=True):
            row[list(labels)] = 1
        return matrix

    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        super().restore(arrays, n_labels, kinds)
        for m in range(self.size):
            own = arrays_under(arrays, f"member{m}.")
            found = SETS.checked(own, labels=n_labels, classes=self.classifiers.n_classes, buffer=self.buffer)
            sets, given = (_as_sets(found[name]) for name in ("sets", "given"))
            rows = restored_rows(own, len(given), kinds)
            member = self.members[m] = _Member(sets)
            member.rows = [joined([slice_rows(rows, row, row + 1)]) for row in range(len(given))]
            member.labels, member.weights, member.counts = given, found["weights"].tolist(), Counter(given)


def _as_sets(matrix: Array) -> list[LabelSet]:
    return [frozenset(np.flatnonzero(row).tolist()) for row in matrix]
