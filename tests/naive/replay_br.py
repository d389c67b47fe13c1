"""The naive BR-MARLENE run over a golden trace, with and without the imitation of the published program."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marlene.streams import load
from tests.naive.br_marlene import Event, NaiveBRMarlene
from tests.naive.detectors import NaiveDDMOCI
from tests.naive.hoeffding_tree import Leaf, NaiveHoeffdingTree, Split, first_maximum
from tests.naive.observers import NominalObserver, add_to, total
from tests.naive.replay import BINARY, load_trace

BR_TRACES = ["BR_syn0src_detk", "BR_syn2src_detk", "BR_slashdot1500_nominal_detk", "BR_yeast_detk"]
DATASETS = {"BR_slashdot1500_nominal_detk": "slashdot", "BR_yeast_detk": "yeast"}
SOURCES = {"BR_syn2src_detk": (1, 2)}


class RememberingLeaf(Leaf):
    """A leaf that remembers its naive Bayes scores from the vote on an example to the training on it."""

    asked: list[float] | None = None
    scores: list[float]

    def products(self, x: Sequence[float]) -> list[float]:
        """Prior times likelihoods."""
        if self.asked is None or self.asked != x:
            self.asked, self.scores = list(x), super().products(x)
        return self.scores

    def log_scores(self, x: Sequence[float]) -> list[float]:
        """Log prior plus log likelihoods."""
        if self.asked is None or self.asked != x:
            self.asked, self.scores = list(x), super().log_scores(x)
        return self.scores

    def learn(self, x: Sequence[float], y: int, weight: float) -> None:
        """Learn, and forget the scores."""
        super().learn(x, y, weight)
        self.asked = None


class BinaryLeaf(Leaf):
    """A leaf for binary features only, none ever missing: the counts of its nominal observers as arrays."""

    def __init__(self, tree: NaiveHoeffdingTree, counts: list[float], path: str, depth: int) -> None:
        super().__init__(tree, counts, path, depth)
        # By class, value and feature.
        self.shown = np.zeros((tree.n_classes, BINARY, len(tree.kinds)))

    def products(self, x: Sequence[float]) -> list[float]:
        """Prior times likelihoods, multiplied in feature order."""
        return np.multiply.accumulate(self._terms(x), axis=1)[:, -1].tolist()

    def log_scores(self, x: Sequence[float]) -> list[float]:
        """Log prior plus log likelihoods, added in feature order."""
        with np.errstate(divide="ignore"):
            return np.add.accumulate(np.log(self._terms(x)), axis=1)[:, -1].tolist()

    def _terms(self, x: Sequence[float]) -> NDArray[np.float64]:
        """For each class counted here its prior and then the likelihoods, 0 for a class never seen (item 6)."""
        priors = np.array(self.counts)[:, None] / (total(self.counts) or 1.0)
        if not self.shown.any():
            return priors
        zeros, ones = self.shown[: len(priors), 0], self.shown[: len(priors), 1]
        seen = zeros + ones
        likelihoods = (np.where(np.array(x) == 1.0, ones, zeros) + 1.0) / (seen + (1.0 + (ones > 0.0)))
        return np.hstack([priors, np.where(seen > 0.0, likelihoods, 0.0)])

    def learn(self, x: Sequence[float], y: int, weight: float) -> None:
        """Score both predictors on the example, then count it, as any leaf does."""
        bayes = self.products(x) if self.tree.imitate_underflow else self.log_scores(x)
        if first_maximum(self.counts) == y:
            self.majority_correct += weight
        if max(0, first_maximum(bayes)) == y:
            self.naive_bayes_correct += weight
        add_to(self.counts, y, weight)
        self.shown[y] += weight * np.array([np.array(x) == 0.0, np.array(x) == 1.0])

    @property
    def observers(self) -> list[NominalObserver]:
        """The observers an ordinary leaf would have, made for a split."""
        observers = [NominalObserver(self.tree.n_classes) for _ in self.tree.kinds] if self.shown.any() else []
        for feature, observer in enumerate(observers):
            for y in range(self.tree.n_classes):
                # The highest value first: the lower ones then have their entries already.
                for value in (1, 0):
                    if self.shown[y, value, feature]:
                        observer.observe(value, y, self.shown[y, value, feature].item())
        return observers

    @observers.setter
    def observers(self, none: list[NominalObserver]) -> None:
        assert not none


class QuickTree(NaiveHoeffdingTree):
    """The naive adaptive tree, the same bit for bit but for ``numpy.log``, in less time."""

    def _add_leaf(self, counts: list[float], parent: Split | None, branch: int) -> Leaf:
        slow = super()._add_leaf(counts, parent, branch)
        leaf = (BinaryLeaf if set(self.kinds) == {BINARY} else RememberingLeaf)(self, counts, slow.path, slow.depth)
        self._attach(leaf, parent, branch)
        return leaf


class Replay(NamedTuple):
    """What happened at each step, all (n, L) but for ``aswr``, and where it ended.

    On the target before training: P⁻ and P⁺ (0.5 each without evidence), predictions and transfer ratios. For
    each stream, 0 being the target: the weight given to the latest sub-classifier of each label, and its number
    of sub-classifiers after training. ``final`` has the columns of the trace: stream (0 = target), label,
    number, target label, TP, FP, TN, FN, SC, SW, alpha, n⁺, n⁻.
    """

    negative: NDArray[np.float64]
    positive: NDArray[np.float64]
    pred: NDArray[np.int64]
    swr: NDArray[np.float64]
    aswr: NDArray[np.float64]
    k: dict[int, NDArray[np.int64]]
    n_sub: dict[int, NDArray[np.int64]]
    events: list[Event]
    final: NDArray[np.float64]


def target_rows(name: str) -> tuple[NDArray[np.float64], NDArray[np.integer], list[int]]:
    """Features and labels of the target stream of a trace, and the kinds of the features."""
    trace = load_trace(name)
    if name not in DATASETS:
        return trace["X"], trace["Y"], [0] * trace["X"].shape[1]
    stream = load(DATASETS[name], limit=len(trace["Y"]))
    dense = stream.X if isinstance(stream.X, np.ndarray) else stream.X.toarray()
    return dense, stream.Y, [0 if feature.kind == "numeric" else BINARY for feature in stream.features]


def before_training(learner: NaiveBRMarlene, x: list[float], n_labels: int) -> tuple[Any, ...]:
    """P⁻, P⁺, prediction and transfer ratio of each target label, and the mean ratio."""
    labels = range(n_labels)
    # Before the first target example there is no target label yet.
    proba = learner.predict_proba(x) or dict.fromkeys(labels, (0.5, 0.5))
    pred = learner.predict(x) or dict.fromkeys(labels, 0)
    negative, positive = zip(*(proba[label] for label in labels), strict=True)
    swr = [learner.swr(label) for label in labels]
    return negative, positive, [pred[label] for label in labels], swr, learner.aswr()


@functools.cache
def replay_br(name: str, imitate: bool) -> Replay:
    """Run over one BR trace with the published detector and expected weights k.

    ``imitate`` turns on the trees' imitation switches and ignores a drift without a background classifier.
    """
    trace = load_trace(name)
    X, Y, kinds = target_rows(name)

    def make_tree() -> NaiveHoeffdingTree:
        return QuickTree(
            kinds=kinds,
            variance_floor=0.0,
            imitate_underflow=imitate,
            split_on_all_minus_infinity=imitate,
            grace_tolerance=0.0,
        )

    learner = NaiveBRMarlene(make_tree, lambda: NaiveDDMOCI(strict=False), ignore_drift_without_background=imitate)
    streams = {source: (trace[f"src{source}_X"], trace[f"src{source}_Y"]) for source in SOURCES.get(name, ())}
    streams[0] = X, Y
    before = []
    k: dict[int, list[list[int]]] = {}
    n_sub: dict[int, list[list[int]]] = {}
    for number, (rows, labels) in streams.items():
        stream = number or None
        k[number], n_sub[number] = [], []
        for x, y in zip(rows.tolist(), labels.tolist(), strict=True):
            if stream is None:
                before.append(before_training(learner, x, len(y)))
            learner.learn(x, dict(enumerate(y)), stream)
            k[number].append([learner.last_k[label] for label in range(len(y))])
            n_sub[number].append([learner.n_sub(label, stream) for label in range(len(y))])
    return Replay(
        *map(np.array, zip(*before, strict=True)),
        k={number: np.array(rows) for number, rows in k.items()},
        n_sub={number: np.array(rows) for number, rows in n_sub.items()},
        events=learner.events,
        final=final_table(learner),
    )


def final_table(learner: NaiveBRMarlene) -> NDArray[np.float64]:
    """Every record with the sub-classifier it belongs to, in the order of the traces' tables."""
    rows = []
    for (model, label), record in learner.records.items():
        counts = (record.tp, record.fp, record.tn, record.fn, record.sc, record.sw, record.alpha)
        rows.append((model.stream or 0, model.label, model.number, label, *counts, model.n_positive, model.n_negative))
    return np.array(sorted(rows))
