"""BR-MARLENE as the paper writes it down, with one plain object for every sub-classifier, record and task.

The learning and weighting knows its tasks by what they predict only: a label, or for BRPW-MARLENE
(:mod:`tests.naive.brpw_marlene`) a pair of labels. What it calls a label may be either.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from tests.naive.observers import total

Label = Hashable
Stream = Hashable | None
Votes = tuple[float, float]

TARGET: Stream = None
NO_EVIDENCE: Votes = (0.0, 0.0)
# An input takes this many forms: with the given label of a pair set to 0 and to 1.
KEPT_VOTES = 2


class Tree(Protocol):
    """Any incremental binary classifier."""

    def votes(self, x: Sequence[float]) -> Sequence[float]:
        """Votes for class 0 and class 1, summing to 1, or two zeros without evidence."""

    def learn(self, x: Sequence[float], y: int, w: int) -> None:
        """One update with weight ``w``."""


class Detector(Protocol):
    """Any drift detector that hears of both classes."""

    warning: bool
    drift: bool

    def update(self, correct: bool, y: int) -> None:
        """Take one prediction of an example of class ``y``."""


class Event(NamedTuple):
    """What a task reacted to at example ``t`` of its stream (the first is 0).

    ``kind`` is ``"warning"`` (a background classifier was trained), ``"drift"`` (it became the latest),
    ``"drift_without_background"`` or ``"signalled"`` (by the caller).
    """

    stream: Stream
    t: int
    label: Label
    kind: str


def expected(stream: Stream, label: Label, number: int, draw: int, rate: float) -> int:  # noqa: ARG001
    """Instead of a draw from the Poisson distribution its mean, rounded."""
    return math.floor(rate + 0.5)


class Example(NamedTuple):
    """What one task sees of an example: its input and its true class."""

    x: Sequence[float]
    y: int


def normalised(votes: Votes) -> Votes:
    """Votes that sum to 1; none stay none."""
    weight = votes[0] + votes[1]
    return (votes[0] / weight, votes[1] / weight) if weight > 0.0 else NO_EVIDENCE


def probabilities(evidence: Mapping[Label, Votes]) -> dict[Label, Votes]:
    """(P⁻, P⁺) of each label, (0.5, 0.5) without evidence."""
    return {label: normalised(votes) if sum(votes) > 0.0 else (0.5, 0.5) for label, votes in evidence.items()}


def predictions(evidence: Mapping[Label, Votes]) -> dict[Label, int]:
    """1 iff P⁺ > P⁻, so 0 on a tie or without evidence."""
    return {label: int(positive > negative) for label, (negative, positive) in evidence.items()}


class SubClassifier:
    """One binary classifier for one label of one stream during one concept (spec section 1)."""

    def __init__(self, stream: Stream, label: Label, number: int, tree: Tree) -> None:
        self.stream = stream
        self.label = label
        self.number = number
        self.tree = tree
        self.n_positive = 0
        self.n_negative = 0
        self._kept: list[tuple[list[float], Votes]] = []

    def votes(self, x: Sequence[float]) -> Votes:
        """(P⁻, P⁺), kept until the next training, as most inputs are voted on more than once."""
        for voted_on, votes in self._kept:
            if voted_on == x:
                return votes
        negative, positive = self.tree.votes(x)
        self._kept = [(list(x), (negative, positive)), *self._kept[: KEPT_VOTES - 1]]
        return negative, positive

    def predict(self, x: Sequence[float]) -> int:
        """1 iff P⁺ > P⁻."""
        negative, positive = self.votes(x)
        return int(positive > negative)

    def count(self, y: int) -> float:
        """Count an example first, then say at which rate it is to be learnt (section 2, point 3)."""
        self.n_positive += y
        self.n_negative += 1 - y
        return max(self.n_positive, self.n_negative) / (self.n_positive if y else self.n_negative)

    def learn(self, x: Sequence[float], y: int, k: int) -> None:
        """One update with weight k, not k updates; none if k is 0."""
        if k > 0:
            self.tree.learn(x, y, k)
            self._kept = []


class Record:
    """Performance of one sub-classifier on one target label (spec sections 1 and 3)."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.tp = self.fp = self.tn = self.fn = 0
        self.sc = self.sw = self.alpha = 0.0

    def reliability(self) -> tuple[float, float, float, float]:
        """PPV, 1 - PPV, NPV and 1 - NPV; both of a pair are 0 before the first such prediction."""
        n_positive, n_negative = self.tp + self.fn, self.fp + self.tn
        n = n_positive + n_negative
        kappa_positive = n / (2 * n_positive) if n_positive else 1.0
        kappa_negative = n / (2 * n_negative) if n_negative else 1.0
        ppv = not_ppv = npv = not_npv = 0.0
        if self.tp + self.fp:
            true, false = self.tp * kappa_positive, self.fp * kappa_negative
            ppv = true / (true + false)
            not_ppv = 1.0 - ppv
        if self.tn + self.fn:
            true, false = self.tn * kappa_negative, self.fn * kappa_positive
            npv = true / (true + false)
            not_npv = 1.0 - npv
        return ppv, not_ppv, npv, not_npv

    def calibrated(self, votes: Votes) -> Votes:
        """The votes of the sub-classifier in the light of how often it was right about this label."""
        negative, positive = votes
        ppv, not_ppv, npv, not_npv = self.reliability()
        return negative * npv + positive * not_ppv, positive * ppv + negative * not_npv

    def score(self, right: float, wrong: float, all_right: float, all_wrong: float) -> None:
        """Move the weight by calibrated votes for and against the true class, own and of all together."""
        difficulty = all_wrong / all_right if all_right > 0.0 else 0.0
        if all_right > 0.0:
            self.sc += difficulty * (right / all_right)
        if all_wrong > 0.0:
            self.sw += difficulty * (wrong / all_wrong)  # shares first: both may be tiny
        scores = self.sc + self.sw
        self.alpha = self.sc / scores if scores > 0.0 else 0.0

    def count(self, predicted: int, y: int) -> None:
        """Count one raw prediction."""
        self.tp += predicted and y
        self.fp += predicted and not y
        self.tn += not predicted and not y
        self.fn += not predicted and y


class Task:
    """One label of one stream: its latest sub-classifier with a detector and perhaps a background one."""

    def __init__(self) -> None:
        self.n_models = 0
        self.latest: SubClassifier | None = None
        self.detector: Detector | None = None
        self.background: SubClassifier | None = None
        # Draws made by each sub-classifier number. A background classifier that is dropped leaves its number
        # to the next one, which goes on counting: no draw is ever used twice.
        self.draws: dict[int, int] = {}


class Ensemble:
    """All sub-classifiers of one kind of task, and how they learn, weigh and vote (spec sections 1 to 4 and 6).

    :class:`NaiveBRMarlene` says what the parameters are and how open questions were decided.
    """

    def __init__(
        self,
        make_tree: Callable[[], Tree],
        make_detector: Callable[[], Detector] | None = None,
        *,
        resampling: Callable[[Stream, Label, int, int, float], int] = expected,
        ignore_drift_without_background: bool = False,
        retired_only_where_better: bool = False,
    ) -> None:
        self.make_tree = make_tree
        self.make_detector = make_detector
        self.resampling = resampling
        self.ignore_drift_without_background = ignore_drift_without_background
        self.retired_only_where_better = retired_only_where_better
        self.own_voters_only = False
        self.models: list[SubClassifier] = []
        self.records: dict[tuple[SubClassifier, Label], Record] = {}
        self.tasks: dict[tuple[Stream, Label], Task] = {}
        self.n_examples: dict[Stream, int] = {}
        self.events: list[Event] = []
        self.last_k: dict[Label, int] = {}

    @property
    def target_labels(self) -> list[Label]:
        """Labels of the target stream in the order they appeared."""
        return [label for stream, label in self.tasks if stream == TARGET]

    def n_sub(self, label: Label, stream: Stream = TARGET) -> int:
        """Number of sub-classifiers of a label, old concepts included."""
        task = self.tasks.get((stream, label))
        return task.n_models if task else 0

    def learn_tasks(self, examples: Mapping[Label, Example], stream: Stream) -> None:
        """Learn one example of a stream, as each task sees it (spec section 2)."""
        t = self.n_examples.get(stream, 0)
        self.last_k = {}
        for label in examples:
            if (stream, label) not in self.tasks:
                self.tasks[stream, label] = Task()
                self._add_model(self._new_model(stream, label))
        for label, example in examples.items():
            task = self.tasks[stream, label]
            if task.detector is not None:
                self._watch(task, example, t)
            assert task.latest is not None
            self.last_k[label] = self._train(task, task.latest, example)
        if stream == TARGET:
            self._update_records(examples)
        self.n_examples[stream] = t + 1

    def _watch(self, task: Task, example: Example, t: int) -> None:
        """Ask the detector about the latest sub-classifier's prediction before training (section 2, point 2)."""
        model, detector = task.latest, task.detector
        assert model is not None
        assert detector is not None
        detector.update(model.predict(example.x) == example.y, example.y)
        if detector.drift:
            kind = "drift" if task.background is not None else "drift_without_background"
            self.events.append(Event(model.stream, t, model.label, kind))
            # An ignored drift leaves the detector to start afresh by itself with its next input.
            if task.background is not None or not self.ignore_drift_without_background:
                self._change_concept(task, task.background or self._new_model(model.stream, model.label))
        elif detector.warning:
            if task.background is None:
                task.background = self._new_model(model.stream, model.label)
            self._train(task, task.background, example)
            self.events.append(Event(model.stream, t, model.label, "warning"))
        else:
            task.background = None

    def _change_concept(self, task: Task, model: SubClassifier) -> None:
        """Make a sub-classifier the latest; on the target every record for the label starts again."""
        task.background = None
        self._add_model(model)
        if model.stream == TARGET:
            for other in self.models:
                self.records[other, model.label].reset()

    def signal_drift(self, labels: Iterable[Label], stream: Stream = TARGET) -> None:
        """Take drifts from the caller: they happened just before the next example (section 2, oracle)."""
        for label in labels:
            task = self.tasks.get((stream, label))
            if task is not None:
                self._change_concept(task, self._new_model(stream, label))
                self.events.append(Event(stream, self.n_examples[stream], label, "signalled"))

    def _new_model(self, stream: Stream, label: Label) -> SubClassifier:
        return SubClassifier(stream, label, self.tasks[stream, label].n_models, self.make_tree())

    def _add_model(self, model: SubClassifier) -> None:
        """Let a sub-classifier join the ensemble as the latest of its task, with a fresh detector."""
        task = self.tasks[model.stream, model.label]
        task.latest = model
        task.detector = self.make_detector() if self.make_detector else None
        task.n_models += 1
        self.models.append(model)
        for other in self.models:
            for target_label in self.target_labels:
                self.records.setdefault((other, target_label), Record())

    def _train(self, task: Task, model: SubClassifier, example: Example) -> int:
        rate = model.count(example.y)
        draw = task.draws.get(model.number, 0)
        task.draws[model.number] = draw + 1
        k = self.resampling(model.stream, model.label, model.number, draw, rate)
        model.learn(example.x, example.y, k)
        return k

    def _update_records(self, examples: Mapping[Label, Example]) -> None:
        """Everybody votes again, after training; counts of this example come last (spec section 3)."""
        for label, (x, truth) in examples.items():
            voters = self.voters(label)
            records = [self.records[model, label] for model in voters]
            calibrated = [record.calibrated(model.votes(x)) for model, record in zip(voters, records, strict=True)]
            all_right = total([votes[truth] for votes in calibrated])
            all_wrong = total([votes[1 - truth] for votes in calibrated])
            for model, record, votes in zip(voters, records, calibrated, strict=True):
                record.score(votes[truth], votes[1 - truth], all_right, all_wrong)
                record.count(model.predict(x), truth)

    def voters(self, label: Label) -> list[SubClassifier]:
        """Who votes on a target task: everybody, or those trained on it only."""
        if not self.own_voters_only:
            return self.models
        return [model for model in self.models if (model.stream, model.label) == (TARGET, label)]

    def task_evidence(self, label: Label, x: Sequence[float]) -> Votes:
        """Weighted sum of the calibrated votes for 0 and 1, for one target task (spec section 4)."""
        negative = positive = 0.0
        for model in self.voters(label):
            record = self.records[model, label]
            if not self.has_vote(model, label):
                continue
            against, in_favour = record.calibrated(model.votes(x))
            negative += record.alpha * against
            positive += record.alpha * in_favour
        return negative, positive

    def has_vote(self, model: SubClassifier, label: Label) -> bool:
        """Whether a sub-classifier has a vote: our rule may ask retired ones for more weight than the latest has."""
        latest = self.tasks[TARGET, label].latest
        if not self.retired_only_where_better or self.tasks[model.stream, model.label].latest is model:
            return True
        assert latest is not None
        return self.records[model, label].alpha > self.records[latest, label].alpha + 1e-6

    def swr(self, label: Label) -> float:
        """Part of a target label's weights on what was not trained on it (spec section 6)."""
        if (TARGET, label) not in self.tasks:
            return 0.0
        voters = [model for model in self.models if self.has_vote(model, label)]
        weights = [(model, self.records[model, label].alpha) for model in voters]
        everything = total([alpha for _, alpha in weights])
        elsewhere = total([alpha for model, alpha in weights if (model.stream, model.label) != (TARGET, label)])
        return elsewhere / everything if everything > 0.0 else 0.0

    def aswr(self) -> float:
        """Mean of :meth:`swr` over the target labels."""
        labels = self.target_labels
        return total([self.swr(label) for label in labels]) / len(labels) if labels else 0.0


class NaiveBRMarlene(Ensemble):
    """BR-MARLENE (spec sections 1 to 4 and 6) in the order of one step of golden README section c.

    Decisions beyond those pages:

    * A label absent from ``y`` is unknown. Its task is left alone by the example: no detector, no training,
      no records. Its sub-classifiers still vote on the other labels. A label that appears later starts its
      sub-classifier, or its place among the target labels, with its first known value.
    * A background classifier promoted by a drift was last trained on the previous warning; it then learns the
      drifting example once, as the latest.
    * A background classifier carries the number it would have when promoted.
    * ``signal_drift`` for a label without a sub-classifier does nothing; otherwise it also drops the background
      classifier, which belongs to the concept that ended.
    * Before the first target label ASWR is 0.

    Parameters
    ----------
    make_tree
        Makes an empty sub-classifier.
    make_detector
        Makes a drift detector; None never reacts to drift unless it is signalled.
    resampling
        Called with stream, label, number of the sub-classifier, number of the draw and the rate; the weight k.
    ignore_drift_without_background
        Do what the published program does when no warning preceded a drift: nothing.
    retired_only_where_better
        Our rule: a retired sub-classifier has a vote on a label only with more weight than the label's latest.
    """

    def learn(self, x: Sequence[float], y: Mapping[Label, int], stream: Stream = TARGET) -> None:
        """Learn one example of a stream (spec section 2)."""
        self.learn_tasks({label: Example(x, truth) for label, truth in y.items()}, stream)

    def evidence(self, x: Sequence[float]) -> dict[Label, Votes]:
        """Weighted sum of the calibrated votes for 0 and 1, for each target label (spec section 4)."""
        return {label: self.task_evidence(label, x) for label in self.target_labels}

    def predict_proba(self, x: Sequence[float]) -> dict[Label, Votes]:
        """(P⁻, P⁺) of each target label, (0.5, 0.5) without evidence."""
        return probabilities(self.evidence(x))

    def predict(self, x: Sequence[float]) -> dict[Label, int]:
        """1 iff P⁺ > P⁻, so 0 on a tie or without evidence."""
        return predictions(self.evidence(x))
