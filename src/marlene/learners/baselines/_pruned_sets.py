"""Pruned sets, a transformation: the frequent label sets are the classes of one classifier."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import require
from marlene.kernels.rows import Rows
from marlene.learners.baselines._based import BasedTransformation
from marlene.learners.baselines._committee import Committee
from marlene.learners.classifiers._bases import FOREST
from marlene.learners.classifiers._models import Trees
from marlene.learners.input._rows import joined, repeated, slice_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from river.base import Classifier as RiverClassifier

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.learners.classifiers._models import Models
    from marlene.learners.classifiers._protocol import ClassifierBank

LabelSet = frozenset[int]


class PrunedSets(BasedTransformation):
    """One classifier, a Hoeffding tree by default, whose classes are the frequent label sets (Read et al. 2008; 2012).

    The first examples a member is given are kept; meanwhile it predicts the most frequent label set. Then the label
    sets seen once are pruned, and further ones, the rarest first, until no more than `most` are left. An example
    with a pruned set is learnt once for each kept set that is a part of its own; if there is none, not at all, and
    neither is one of whose labels any is not known. The score of a label is the probability of the sets it is in.

    Parameters
    ----------
    buffer
        Number of examples that are kept before the sets are chosen.
    most
        Largest number of sets.
    parts
        As how many kept sets an example with a pruned set is learnt at most, the largest and then the most frequent
        first. None for no limit; 0 leaves such examples out.
    base
        "hoeffding-forest" (default), "inheriting-forest", "naive-bayes", "linear" or "mixed"; a bank of other settings,
        such as ``HoeffdingForest([], grace_period=100)``; or a classifier of River's, which is slower and cannot be
        saved. What is not a forest has one classifier per set, for it against all others.

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

    def __init__(
        self,
        buffer: int = 100,
        most: int = 10,
        parts: int | None = None,
        base: str | ClassifierBank | RiverClassifier = FOREST,
    ) -> None:
        super().__init__(base)
        self.buffer = buffer
        self.most = most
        self.parts = parts
        for parameter, least in (("buffer", 1), ("most", 2), ("parts", 0)):
            value = getattr(self, parameter)
            if value is None and parameter == "parts":
                continue
            if not isinstance(value, int | np.integer) or value < least:
                raise MarleneError(f"{parameter} must be a whole number of at least {least}, not {value!r}")

    def _parameters(self) -> dict[str, Any]:
        parts = None if self.parts is None else int(self.parts)
        return {"buffer": int(self.buffer), "most": int(self.most), "parts": parts}

    def committee(self, size: int) -> Committee:
        """Return untrained members."""
        return _SetsCommittee(size, self.models(int(self.most)), int(self.buffer), self.parts)


def kept_sets(counts: Mapping[LabelSet, int], most: int) -> list[LabelSet]:
    """Return the label sets that are not pruned, the most frequent first, and of equals the one seen first.

    Sets seen once or less are pruned, then those seen twice or less, …, until there are at most `most`. Where that
    would leave none, the `most` most frequent are kept.

    Examples
    --------
    >>> counts = {frozenset({0}): 5, frozenset({1}): 2, frozenset({0, 1}): 2, frozenset(): 1}
    >>> [sorted(labels) for labels in kept_sets(counts, 3)]
    [[0], [1], [0, 1]]
    >>> [sorted(labels) for labels in kept_sets(counts, 2)]
    [[0]]
    """
    frequent = sorted(counts, key=lambda labels: -counts[labels])
    threshold = 1
    kept = [labels for labels in frequent if counts[labels] > threshold]
    while len(kept) > most:
        threshold += 1
        kept = [labels for labels in frequent if counts[labels] > threshold]
    return kept or frequent[:most]


def decomposed(labels: LabelSet, kept: Sequence[LabelSet], most: int | None = None) -> list[int]:
    """Return which of the kept sets an example is learnt as: its own, or else all that are a part of it.

    The largest come first, and of equals the most frequent; if `most` is given, there are no more parts than that. The
    empty set is a part of no other.

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
    """The label sets of one member, or while it has none the examples it was given."""

    def __init__(self) -> None:
        self.sets: list[LabelSet] = []
        self.counts: Counter[LabelSet] = Counter()
        self.given: list[tuple[Rows, LabelSet, int]] = []
        self._columns: list[Ints] = []

    @property
    def columns(self) -> list[Ints]:
        """The labels of every set."""
        if len(self._columns) != len(self.sets):
            self._columns = [np.array(sorted(labels), np.int64) for labels in self.sets]
        return self._columns


class _SetsCommittee(Committee):
    """A classifier per member, and the label sets its classes are."""

    def __init__(self, size: int, models: Models, buffer: int, parts: int | None) -> None:
        super().__init__(size)
        self.models = models
        self.buffer = buffer
        self.parts = parts
        self.ids: Ints = models.add(size)
        self.members = [_Member() for _ in range(size)]

    def add_features(self, kinds: Sequence[int]) -> None:
        self.models.add_features(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        self.models.widen(feature, n_values)

    def add_labels(self, count: int) -> None:
        self.n_labels += count

    def renew(self, member: int, key: np.uint64) -> None:  # noqa: ARG002 (nothing about a classifier is random)
        self.models.remove(self.ids[member : member + 1])
        self.ids[member] = self.models.add()[0]
        self.members[member] = _Member()

    def run(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        for begin, end in self.models.steps(len(truth)):
            here = slice(begin, end)
            self._run_members(slice_rows(rows, begin, end), truth[here], weights[here], scores[here])

    def _run_members(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        known = (truth >= 0).all(axis=1)
        sets = [frozenset(np.flatnonzero(labels == 1).tolist()) for labels in truth] if weights.any() else []
        for m, member in enumerate(self.members):
            offered = weights[:, m] * known
            row = 0
            while row < len(truth) and not member.sets:
                scores[row, m] = self._majority(member)
                if offered[row]:
                    self._keep(m, member, slice_rows(rows, row, row + 1), sets[row], int(offered[row]))
                row += 1
            if row < len(truth):
                rest = slice_rows(rows, row, len(truth))
                scores[row:, m] = self._learn(m, rest, sets[row:], offered[row:])

    def _majority(self, member: _Member) -> Floats:
        """Return the most frequent label set so far, as scores."""
        scores = np.full(self.n_labels, 0.5 if not member.counts else 0.0)
        if member.counts:
            frequent: LabelSet = max(member.counts, key=lambda labels: member.counts[labels])
            scores[list(frequent)] = 1.0
        return scores

    def _keep(self, m: int, member: _Member, row: Rows, labels: LabelSet, weight: int) -> None:
        """Keep an example; if there are enough, choose the sets and learn what was kept."""
        member.counts[labels] += 1
        member.given.append((joined([row]), labels, weight))
        if len(member.given) < self.buffer:
            return
        member.sets = kept_sets(member.counts, self.models.n_classes)
        given, member.given, member.counts = member.given, [], Counter()
        rows = joined([row for row, _, _ in given])
        self._learn(m, rows, [labels for _, labels, _ in given], np.array([weight for *_, weight in given]))

    def _learn(self, m: int, rows: Rows, sets: Sequence[LabelSet], weights: Ints) -> Floats:
        """Let a member learn rows, each as all its sets; return the scores before each."""
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
        votes = self.models.run(self.ids[m : m + 1], given, flat_classes, flat_weights)[firsts, 0]
        if not isinstance(self.models, Trees):  # one against the rest says something of sets that there are not, too
            votes = votes[:, : len(member.sets)]
            votes = votes / np.maximum(votes.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        scores = np.zeros((n, self.n_labels))
        for place, labels in enumerate(member.columns):
            scores[:, labels] += votes[:, place, None]
        scores[votes.sum(axis=1) == 0] = 0.5
        return np.minimum(scores, 1.0)

    def n_models(self) -> int:
        return self.size

    def load_kernels(self) -> None:
        self.models.load_kernels()

    def state(self) -> Arrays:
        arrays = self.models.state() | {"ids": self.ids.copy()}
        for m, member in enumerate(self.members):
            rows = joined([row for row, _, _ in member.given])
            arrays |= {f"member{m}.{name}": array for name, array in rows._asdict().items()}
            arrays[f"member{m}.sets"] = self._as_matrix(member.sets)
            arrays[f"member{m}.given"] = self._as_matrix([labels for _, labels, _ in member.given])
            arrays[f"member{m}.weights"] = np.array([weight for *_, weight in member.given], np.int64)
        return arrays

    def _as_matrix(self, sets: Sequence[LabelSet]) -> Labels:
        matrix = np.zeros((len(sets), self.n_labels), np.int8)
        for row, labels in zip(matrix, sets, strict=True):
            row[list(labels)] = 1
        return matrix

    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        self.models.restore(arrays, kinds)
        self.ids = self.models.restored_ids(arrays["ids"], (self.size,))
        self.n_labels = n_labels
        for m, member in enumerate(self.members):
            part = {
                name: np.asarray(arrays[f"member{m}.{name}"]) for name in (*Rows._fields, "sets", "given", "weights")
            }
            member.sets, given = (_as_sets(part[name], n_labels) for name in ("sets", "given"))
            require(len(member.sets) <= self.models.n_classes and len(given) < self.buffer, "the label sets")
            require(len(set(member.sets)) == len(member.sets) and not (given and member.sets), "the label sets")
            rows = checked_rows(Rows(*(part[name] for name in Rows._fields)), len(given), np.asarray(kinds, np.int64))
            require(part["weights"].shape == (len(given),) and bool((part["weights"] > 0).all()), "the weights")
            member.counts = Counter(given)
            member.given = [
                (joined([slice_rows(rows, row, row + 1)]), labels, int(part["weights"][row]))
                for row, labels in enumerate(given)
            ]


def _as_sets(matrix: Array, n_labels: int) -> list[LabelSet]:
    require(matrix.ndim == 2 and matrix.shape[1] == n_labels and np.isin(matrix, (0, 1)).all(), "the label sets")
    return [frozenset(np.flatnonzero(row).tolist()) for row in matrix]


def checked_rows(rows: Rows, count: int, kinds: Ints) -> Rows:
    """Return rows that were saved; those that cannot have been are an error."""
    starts, indices = (np.array(array, np.int64) for array in (rows.starts, rows.indices))
    values = np.array(rows.values, np.float64)
    require(starts.shape == (count + 1,) and starts[0] == 0 and bool((np.diff(starts) >= 0).all()), "the rows")
    require(indices.shape == values.shape == (starts[-1],), "the rows")
    require(bool(((indices >= 0) & (indices < len(kinds))).all()), "the rows")
    kind = kinds[indices]
    whole = np.isnan(values) | ((values >= 0) & (values < kind) & (values == np.floor(values)))
    require(bool((np.where(kind == 0, ~np.isinf(values), whole)).all()), "the rows")
    return Rows(starts, indices, values)
