"""The learner to reach for: naive Bayes and linear classifiers, transfer by tracking, thresholds learnt online."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import one_of, whole_number
from marlene._common.errors import MarleneError
from marlene.banks import SIMPLE_BANKS, InputBank, MixedBank, Neighbours
from marlene.kernels.tracking.state import NEIGHBOURS, Block
from marlene.learners._block_learner import LARGEST_WEIGHT
from marlene.learners._saved import SavedLearner
from marlene.learners.input._frames import like_input
from marlene.learners.input._labels import labels_of_block
from marlene.learners.marlene._changes import Changes
from marlene.learners.marlene._decisions import make_objective
from marlene.learners.marlene._desk import NOTHING_WANTED, RowDesk
from marlene.learners.marlene._givers import shares_by_giver
from marlene.learners.marlene._terms import Terms, entries_of, input_names, latest, spoken
from marlene.learners.marlene._tracker import Tracker
from marlene.learners.marlene._tracker_layout import OWN, WARM
from marlene.learners.marlene._tracker_state import restore_tracker, tracker_state

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.input._additions import Additions
    from marlene.learners.input._features import FeatureSpace
    from marlene.learners.marlene._givers import Source
    from marlene.learners.marlene._terms import Voter


ALL, MIXED = "all", MixedBank.name
TRANSFER = ("tracking", "own")
NUMBERS = (float, int)


@dataclass(eq=False, repr=False)
class Marlene(SavedLearner):
    """MARLENE with simple classifiers, transfer by tracking, and decisions made for what the user wants.

    Every label has a naive Bayes classifier, which learns fast, and logistic regression, which is better in the end.
    The most similar of the latest examples vote, too, which is best if few numbers interact. Whose errors were smaller
    of late counts more. Of each kind of classifiers a label has several *candidates*: its own learner;
    a young one, which starts anew now and then; frozen snapshots of the learners of all labels; the learners of other
    streams. Their weights move with what each says of the label, so that the one that serves it best soon leads. A
    candidate that holds nearly all of the weight is *inherited*: the label's own learner becomes a copy of it and
    goes on learning. If labels change places, each finds its concept again under another label's name.

    `predict_one` and `predict_many` decide for an objective, not at 0.5: by thresholds learnt online, or for all labels
    of an example together. `predict_proba_one` and `predict_proba_many` return calibrated probabilities, learnt from
    the past; `score_one` and `score_many` the scores below them, P(label) if both classes were equally frequent.
    Nothing is random. Work follows the non-zeros of an example.

    Parameters
    ----------
    base
        "all" (both kinds, and neighbours), "mixed" (both kinds), "naive-bayes", "linear", an empty bank with other
        settings, such as ``NaiveBayesBank(smoothing=1)``, one of each kind, or a `MixedBank` of both. `Neighbours` may
        be added to a list of banks.
    features
        As for `BRMarlene`.
    transfer
        "tracking", as described; "own": only a label's own learner and its young one are candidates.
    objective
        What predictions are to be good at: "macro", "micro" or "label-set" (G-Means), "mix" (all three, the default),
        "macro-f1", "micro-f1", "example-f1", "jaccard", "subset" (all labels of an example right), "hamming", "none"
        (scores are cut at 0.5), or costs, such as ``{"false_positive": 1, "false_negative": 5}``. G-Means ask for many
        predicted labels, since a rare label's positives count as much as its negatives.
    seed
        Without effect: here for programs that give all learners one.
    absent
        As for `BRMarlene`.
    max_labels
        As for `BRMarlene`.
    max_features
        The largest number of features, counting the values of nominal ones. If an example brings further ones, those
        that were not zero in the fewest examples are forgotten, an eighth of all at once, of equals the oldest. After
        as many were forgotten as there may be, the counts of the others are halved. Nominal features and the columns
        of arrays stay.

    Examples
    --------
    >>> from marlene.streams import load
    >>> stream = load("yeast")
    >>> model = Marlene()
    >>> model.learn_many(stream.X[:500], stream.Y[:500])
    >>> model.predict_many(stream.X[500:503]).shape
    (3, 14)
    >>> cautious = Marlene(objective={"false_positive": 10, "false_negative": 1})
    >>> cautious.learn_many(stream.X[:500], stream.Y[:500])
    >>> bool(cautious.predict_many(stream.X[500:]).sum() < model.predict_many(stream.X[500:]).sum())
    True
    """

    _method = "marlene"
    _weighs = True
    _forgets = True
    _settles = True
    _objects = ("base",)

    base: str | InputBank | MixedBank | Sequence[InputBank | Neighbours] = ALL
    features: str | Mapping[Hashable, str] = "auto"
    transfer: str = "tracking"
    objective: str | Mapping[str, float] = "mix"
    seed: int = 1
    absent: str = "unknown"
    max_labels: int | None = field(default=None, kw_only=True)
    max_features: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        one_of(self.transfer, "transfer", TRANSFER)
        whole_number(self.seed, "seed")
        self._begin()

    @property
    def _tracker(self) -> Tracker:
        return self._changes.settled()

    @property
    def _space(self) -> FeatureSpace:
        self._changes.settled()
        return self._changes.space

    @_space.setter
    def _space(self, space: FeatureSpace) -> None:
        banks, neighbours = _make_banks(self.base)
        tracker = Tracker(banks, make_objective(self.objective), self.transfer == "tracking", neighbours=neighbours)
        self._changes = Changes(space, tracker)

    def _labels(self, stream: str | None) -> list[Hashable]:
        tracker = self._tracker
        return tracker.labels[tracker.names.index(stream)] if stream in tracker.names else []

    def _count_labels(self) -> int:
        return sum(map(len, self._tracker.labels))

    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        self._changes.declare(stream, labels)

    def _take_in(self, stream: str | None, additions: Additions, labels: Sequence[Hashable]) -> None:
        self._changes.admit(stream, additions, labels)

    def _learn_weighted(self, stream: str | None, rows: Rows, truth: Labels, weights: Floats) -> None:
        super()._learn_weighted(stream, rows, truth, weights)
        self._keep_additions()  # of examples without weight nothing else is learnt

    def _forget(self, columns: Ints) -> None:
        self._changes.forget(columns, self.max_features or 0)

    def _keep_additions(self) -> None:
        self._changes.finish()

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        if probabilities.shape[1] > 0:
            self._test(rows, truth, probabilities)
        else:
            self._run_weighted(stream, rows, truth, np.ones(len(truth)))

    def _run_weighted(self, stream: str | None, rows: Rows, truth: Labels, weights: Floats) -> None:
        self._changes.learn(stream, rows, Block(truth, weights, *NOTHING_WANTED))

    def _test(self, rows: Rows, truth: Labels, probabilities: Floats) -> Labels:
        predictions = np.zeros(probabilities.shape, np.int8)
        block = Block(truth, np.ones(len(truth)), np.zeros(probabilities.shape), probabilities, predictions)
        self._changes.learn(None, rows, block)
        return predictions

    def _predict(self, rows: Rows, scores: Floats) -> None:
        scores[:] = self._tracker.predict(rows).scores

    def _decisions(self, rows: Rows) -> tuple[Floats, Labels]:
        found = self._tracker.predict(rows)
        return found.probabilities, found.predictions

    def _learnt_plainly(self, x: Any, y: Any, w: Any, stream: str | None) -> bool:  # noqa: ANN401
        if type(x) is not dict or type(y) is not dict or not self._is_plain(w, stream):
            return False
        return self._saw(self._changes.learnt_plainly(x, y, w))

    def _learnt_row_plainly(self, X: Any, Y: Any, w: Any, stream: str | None) -> bool:  # noqa: ANN401
        return self._is_plain(w, stream) and self._saw(self._changes.learnt_row(X, Y, w))

    def _is_plain(self, w: Any, stream: str | None) -> bool:  # noqa: ANN401
        """Tell whether nothing but numbers changes when an example of this weight is learnt."""
        return stream is None and self.max_features is None and type(w) in NUMBERS and 0.0 < w <= LARGEST_WEIGHT

    def _saw(self, desk: RowDesk | None) -> bool:
        """Take note of an example that was learnt, if one was."""
        if desk is None:
            return False
        self._never_false.see(None, desk.labels, desk.truth)
        return True

    def _decided_plainly(self, x: Any, what: str) -> dict[Hashable, Any] | None:  # noqa: ANN401
        return self._changes.decided_plainly(x, what) if type(x) is dict else None

    def score_one(self, x: dict[Hashable, Any]) -> dict[Hashable, float]:
        """Return the score of every target label: P(label) if both classes were equally frequent."""
        plain = self._decided_plainly(x, "scores")
        if plain is not None:
            return plain
        scores = self._scores(self._space.rows_of_dicts([x], learning=False)[0])[0].tolist()
        return dict(zip(self._labels(None), scores, strict=True))

    def score_many(self, X: Any) -> Any:  # noqa: ANN401 (an array or a frame)
        """Return the scores (examples × target labels); for a frame as a frame with its index."""
        return like_input(X, self._scores(self._space.rows(X, None, learning=False)[0]), self._labels(None))

    def decide_then_train_late(self, X: Any, Y: Any, delay: int) -> tuple[Floats, Labels]:  # noqa: ANN401 (array-likes)
        """Predict examples, and learn after each the one that came `delay` examples earlier.

        The first `delay` rows of `X` are examples that were predicted before; the labels of the last ones are not yet
        learnt. Return P(label) and the predictions of the others.
        """
        known = self._labels(None)
        rows, additions = self._space.rows(X, None, learning=True)
        labels, truth = labels_of_block(known, Y, self.absent)
        if not additions and labels == known and self._space.reads_plainly() and len(truth) == len(rows.starts) - 1:
            self._never_false.see(None, labels, truth[: max(0, len(truth) - delay)])
            block = self._changes.change(lambda tracker: tracker.learn_late(rows, truth, delay))
            return block.probabilities[delay:], block.predictions[delay:]
        probabilities, predictions = np.full(truth.shape, 0.5), np.zeros(truth.shape, np.int8)
        for row in range(delay, len(truth)):
            found = self.decide_many(X[row : row + 1])
            n_labels = found[0].shape[1]
            probabilities[row, :n_labels], predictions[row, :n_labels] = found[0][0], found[1][0]
            self.learn_many(X[row - delay : row - delay + 1], Y[row - delay : row - delay + 1])
        return probabilities[delay:], predictions[delay:]

    def set_objective(self, objective: str | Mapping[str, float]) -> None:
        """Make predictions that are good at something else from now on; scores and probabilities stay."""
        self._changes.change(lambda tracker: tracker.set_objective(make_objective(objective)))
        self.objective = objective

    def thresholds(self) -> dict[Hashable, float]:
        """Return for every target label the score (`score_one`) from which on it is predicted at present.

        It takes a higher score if another label of the example has a higher one, above 0.5.
        NaN where predictions rest on probabilities: for costs, "hamming", "label-set", "example-f1", "jaccard" and
        "subset".
        """
        return dict(zip(self._labels(None), self._tracker.thresholds().tolist(), strict=True))

    def signal_drift(self, labels: Sequence[Hashable], stream: str | None = None) -> None:
        """Take note that each of the labels begins a new concept now: an oracle's word.

        All candidates get their first weights again, and the young learner starts anew. A label of a source only is
        checked: the source's learners go on.
        """
        known = self._known_labels(stream)
        for label in labels:
            if label not in known:
                raise MarleneError(f"there is no label {label!r} in {'the target' if stream is None else repr(stream)}")
        if stream is None:
            self._changes.change(lambda tracker: tracker.signal([known[label] for label in labels]))

    def _known_labels(self, stream: str | None) -> dict[Hashable, int]:
        if stream not in self._tracker.names:
            raise MarleneError(f"there is no stream {stream!r}")
        return self._tracker.column[self._tracker.names.index(stream)]

    def explain(self, label: Hashable, most: int = 5) -> list[dict[str, Any]]:
        """Return which classifiers vote on a target label, the heaviest first.

        Each comes with its base, its role ("own", "young", "snapshot", "source", or "inherited" from a source), the
        stream (None: the target) and label it was trained on, and its share of the weight. Naive Bayes and linear
        classifiers also tell which features spoke most `for` and `against` the label in the latest examples, at most
        `most` of each, with their log odds; see `telling_features`.
        """
        column = self._target_column(label)
        tracker, names = self._tracker, {bank.which: bank.name for bank in self._tracker.banks}
        voices, rows = tracker.voices(column), []
        leaders = tracker.leaders(column)
        spoke = self._spoken([(column, [(kind, h, 1.0)]) for kind, h, _ in leaders], most) if most else []
        for number, (kind, h, share) in enumerate(leaders):
            place = tracker.place(h)
            of = tracker.labels[0 if place.role == WARM else place.stream][place.label]
            found: dict[str, Any] = {"base": names[kind], "role": place.role, "label": of}
            found["stream"] = tracker.names[place.stream]
            found |= spoke[number] if spoke else {}
            rows.append(found | {"share": share * voices[kind]})
        if tracker.neighbours:
            found = {"base": Neighbours.name, "role": OWN, "stream": None, "label": label}
            rows.append(found | {"share": voices[NEIGHBOURS]})
        return sorted(rows, key=lambda row: -row["share"])

    def explain_one(self, x: dict[Hashable, Any], most: int = 10) -> dict[Hashable, dict[str, Any]]:
        """Return for every target label what is said of an example, and by which of its features.

        `score` and `threshold` are those of `score_one` and `thresholds`, `probability` and `predicted` what
        `predict_proba_one` and `predict_one` return. `features` are the log odds that the features of the example add,
        the greatest first, at most `most`: positive ones speak for the label. They are a mean over the naive Bayes and
        linear classifiers that vote; a missing value says nothing, and neighbours have no terms.

        Examples
        --------
        >>> model = Marlene()
        >>> for i in range(60):
        ...     model.learn_one({"late": i % 2, "old": i % 3 == 0}, {"refund": i % 2 == 1})
        >>> next(iter(model.explain_one({"late": 1, "old": True})["refund"]["features"]))
        'late'
        """
        rows = self._space.rows_of_dicts([x], learning=False)[0]
        tracker = self._tracker
        block, thresholds = tracker.predict(rows), list(self.thresholds().values())
        entries = entries_of(tracker.inputs_of(rows), tracker.model())
        found, spoken_by = {}, Terms(tracker.model(), entries)
        for q, label in enumerate(self._labels(None)):
            spoke = spoken_by.of(self._voters(q))
            best = np.argsort(-np.abs(spoke), kind="stable")[:most]
            best = best[spoke[best] != 0]
            told = {"score": float(block.scores[0, q]), "threshold": thresholds[q]}
            told |= {"probability": float(block.probabilities[0, q]), "predicted": bool(block.predictions[0, q])}
            found[label] = told | {"features": self._named(entries.slot[best], spoke[best])}
        return found

    def telling_features(
        self, labels: Sequence[Hashable] | None = None, most: int = 5
    ) -> dict[Hashable, dict[str, dict[str, float]]]:
        """Return which features spoke most `for` and `against` target labels, by default all, in the latest examples.

        Features that speak for it are those that add most to its positive examples on average, in log odds; those
        against it take most from its negative ones. Empty if `base` has no neighbours: these keep the latest examples.

        Examples
        --------
        >>> model = Marlene()
        >>> for i in range(60):
        ...     model.learn_one({"late": i % 2 == 1, "paid": i % 2 == 0}, {"refund": i % 2 == 1})
        >>> said = model.telling_features()["refund"]
        >>> list(said["for"]), list(said["against"])
        (['late'], ['paid'])
        """
        wanted = self._labels(None) if labels is None else list(labels)
        columns = [self._target_column(label) for label in wanted]
        found = self._spoken([(column, self._voters(column)) for column in columns], most)
        return dict(zip(wanted, found, strict=True))

    def _spoken(self, asked: Sequence[tuple[int, list[Voter]]], most: int) -> list[dict[str, dict[str, float]]]:
        """Return for target labels, each with voters, the features that spoke most for and against them."""
        if self._tracker.neighbours is None:
            return [{"for": {}, "against": {}} for _ in asked]
        model = self._tracker.model()
        entries, truth = latest(model)
        by, found = Terms(model, entries), []
        for column, voters in asked:
            spoke = spoken(by.of(voters), entries, truth[:, column], most)
            found.append({word: self._named(*one) for word, one in zip(("for", "against"), spoke, strict=True)})
        return found

    def _target_column(self, label: Hashable) -> int:
        known = self._known_labels(None)
        if label not in known:
            raise MarleneError(f"there is no target label {label!r}")
        return known[label]

    def _voters(self, column: int) -> list[Voter]:
        """Return all classifiers that vote on a target label, with their shares of the vote."""
        voices = self._tracker.voices(column)
        return [(kind, h, share * voices[kind]) for kind, h, share in self._tracker.leaders(column)]

    def _named(self, slots: Ints, spoke: Floats) -> dict[str, float]:
        return dict(zip(input_names(self._tracker, self._space, slots), spoke.tolist(), strict=True))

    def transfer_matrix(self) -> dict[Hashable, dict[Source, float]]:
        """Return for every target label the share of its weight that each (stream, label) has."""
        return {label: shares_by_giver(self.explain(label, most=0)) for label in self._labels(None)}

    def swr(self) -> dict[Hashable, float]:
        """Return for every target label the weight share of classifiers of other labels and streams."""
        return {
            label: 1.0 - sum(share for giver, share in row.items() if giver == (None, label))
            for label, row in self.transfer_matrix().items()
        }

    def aswr(self) -> float:
        """Return the average source weight ratio: the weight of other labels and streams (paper, VII-C)."""
        ratios = self.swr()
        return float(np.mean(list(ratios.values()))) if ratios else 0.0

    def concepts(self, stream: str | None = None) -> dict[Hashable, dict[int, Source | None]]:
        """Return for every label the examples at which it changed, and from whom it inherited then.

        That is (stream, label): another label or stream, or the label itself if its young learner or a snapshot of its
        own took over; None if the drift was signalled. Labels of sources do not inherit. The latest 10,000 changes of
        all labels are kept.
        """
        times: dict[Hashable, dict[int, Source | None]] = {label: {} for label in self._known_labels(stream)}
        if stream is None:
            tracker = self._tracker
            for event in tracker.events:
                giver = event.giver
                given = giver and (tracker.names[giver.stream], tracker.labels[giver.stream][giver.label])
                times[tracker.labels[0][event.label]][event.time] = given
        return times

    def counts(self) -> dict[str, int]:
        """Return the number of classifiers, and how often labels changed, as far as `concepts` tells."""
        return {"models": self._tracker.count(), "drifts": sum(len(times) for times in self.concepts().values())}

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        return tracker_state(self._tracker)

    @classmethod
    def _restored_objects(cls, header: Mapping[str, Any]) -> dict[str, Any]:
        banks: list[InputBank | Neighbours] = [SIMPLE_BANKS[name](**settings) for name, settings in header["banks"]]
        if header["neighbours"] is not None:
            banks.append(Neighbours(**header["neighbours"]))
        for name in (ALL, MIXED, *SIMPLE_BANKS):
            if _described(_make_banks(name)) == _described(_make_banks(banks)):
                return {"base": name}
        return {"base": banks}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        restore_tracker(self._tracker, header, arrays, self._space.forest_kinds())

    def _load_rare_kernels(self) -> None:
        self.learn_many(np.zeros((2, 1)), np.array([[0, 1], [1, 0]]), stream="source")
        self._add(None, [2])  # a label that has not begun
        self.predict_many(np.zeros((1, 1)))


def _make_banks(
    base: str | InputBank | MixedBank | Sequence[InputBank | Neighbours],
) -> tuple[list[InputBank], Neighbours | None]:
    """Return empty banks, and an empty window of neighbours if there is to be one, from the parameter `base`."""
    names = (ALL, MIXED, *SIMPLE_BANKS)
    expected = f"base must be one of {', '.join(names)}, a bank, or one of each kind, not {base!r}"
    if isinstance(base, str):
        if base not in names:
            raise MarleneError(expected)
        banks = [bank() for name, bank in SIMPLE_BANKS.items() if base in (ALL, MIXED, name)]
        return banks, Neighbours() if base == ALL else None
    parts = list(base.banks if isinstance(base, MixedBank) else base if isinstance(base, Iterable) else [base])
    banks = [part for part in parts if isinstance(part, InputBank)]
    windows = [part for part in parts if isinstance(part, Neighbours)]
    if not banks or len(banks) + len(windows) < len(parts) or len(windows) > 1:
        raise MarleneError(expected)
    if len({bank.which for bank in banks}) < len(banks):
        raise MarleneError(expected)
    return [bank.clone() for bank in sorted(banks, key=lambda bank: bank.which)], windows[
        0
    ].clone() if windows else None


def _described(made: tuple[list[InputBank], Neighbours | None]) -> tuple[Any, ...]:
    """Return the names and settings of banks, and the settings of neighbours."""
    banks, neighbours = made
    return [(bank.name, bank.settings()) for bank in banks], neighbours and neighbours.settings()
