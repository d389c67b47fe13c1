"""One model at work: it answers, waits for labels, learns, and keeps its scores."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import arrays_under, require, restored_count, with_prefix
from marlene.learners.input._examples import flat
from marlene.live._blocks import Blocks
from marlene.live._events import changes
from marlene.live._messages import Output, check_kept, dumped
from marlene.live._waiting import EVICTED, WaitingExample, WaitingStore, checksum
from marlene.metrics import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.kernels.rows import Rows
    from marlene.live._blocks import Lesson
    from marlene.live._messages import Id, Message
    from marlene.live._settings import WorkerSettings
    from marlene.live._slots import Slots

WATCHED = 256
"""Changes of the model are looked for after so many examples."""

OUTCOMES = {outcome: dumped({"outcome": outcome}) for outcome in ("learnt", "waits", "duplicate")}


class Job(NamedTuple):
    """Something to predict (no lesson), to learn (no row), or to predict and then learn."""

    name: Id
    row: Rows | None
    lesson: Lesson | None
    example: WaitingExample
    complete: bool = False
    weight: float | None = None
    version: int = 0
    slot: int = -1
    record: int = -1


class ModelDesk:
    """A model, the examples that wait for labels, and scores.

    Every prediction is made by the model as it is after all labels before it. Work is put off and done in blocks;
    blocks change nothing but the time it takes.

    Parameters
    ----------
    learner
        The learner.
    key
        Which model it is.
    settings
        The settings of the worker.
    counts
        Counters of the worker, by name.
    slots
        Where outputs go.
    """

    def __init__(
        self,
        learner: Any,  # noqa: ANN401
        key: str | None,
        settings: WorkerSettings,
        counts: dict[str, int],
        slots: Slots,
    ) -> None:
        limits = settings.max_features, settings.max_labels, settings.max_streams
        self.blocks = Blocks(learner, *limits)
        self.waiting = WaitingStore(settings.max_waiting, settings.max_age)
        self.key, self._settings, self._counts, self._slots = key, settings, counts, slots
        self.learnt = 0
        self.scores: Scores | None = None
        self.changes: dict[str, dict[str, int]] = {"drift": {}, "inherited": {}}
        self._seen = -1
        self.lessons: deque[bytes] = deque(maxlen=settings.lessons if key and key == settings.teach else 0)
        self._jobs: list[Job] = []

    def take(self, message: Message, body: bytes, clock: float, record: int) -> None:
        """Take a message; an error means that it cannot be used, and nothing was changed."""
        known = message.id in self.waiting.examples
        if message.x is None:
            self._label(message, record)
        elif known:
            self._ask_again(message, record)
        elif message.y is None:
            self._ask(message, body, clock, record)
        else:
            self._ask_and_label(message, clock, record)
        for name, example, reason in self.waiting.overdue(clock):
            self._evict(name, example, reason, record)

    def _ask(self, message: Message, body: bytes, clock: float, record: int) -> None:
        if message.id in self.waiting.gone:
            self._answer_again(message, clock, record)
            return
        example = WaitingExample(body, clock)
        if message.stream is None:
            self._predict(message, example, record)
        else:
            self.blocks.labels(message.stream)  # refuses sources
            self._say_told(record, "waits")
        self.waiting.put(message.id, example)

    def _answer_again(self, message: Message, clock: float, record: int) -> None:
        """Answer a request whose example no longer waits: as then, if that is still known; nothing is learnt."""
        self._counts["duplicates"] += 1
        self.flush()
        before = self.waiting.answer(message.id)
        if before:
            self._slots.say(Output("answer", before, record))
        elif message.stream is None:
            self._predict(message, WaitingExample(b"", clock), record)
        else:
            self._say_told(record, "duplicate")

    def _ask_again(self, message: Message, record: int) -> None:
        """Answer a request that came before as it was answered then."""
        self.flush()
        example = self.waiting.examples[message.id]
        if flat(json.loads(example.body)["x"]) != message.x:
            self._counts["contradictions"] += 1
            raise MarleneError(f"id {message.id!r} waits for labels with another x")
        self._counts["duplicates"] += 1
        if example.answer:
            self._slots.say(Output("answer", example.answer, record))
        if message.y is not None:
            self._label(message, record)

    def _ask_and_label(self, message: Message, clock: float, record: int) -> None:
        if message.id in self.waiting.gone:
            self._refuse_labels(message.id, checksum(message.y))
            self._answer_again(message, clock, record)
            return
        example = WaitingExample(
            dumped({"x": message.x, "stream": message.stream}), clock, pieces=(checksum(message.y),)
        )
        weight = 1.0 if message.w is None else message.w
        lesson = self.blocks.lesson(message.x or {}, message.y, weight, message.stream)
        if message.stream is None:
            self._predict(message, example, record, lesson)
        self.waiting.put(message.id, example)
        self._learn(message, lesson, example, record)

    def _predict(self, message: Message, example: WaitingExample, record: int, lesson: Lesson | None = None) -> None:
        if lesson is not None and not lesson.new:
            made, complete = lesson.row, True
        else:
            made, complete = self.blocks.row(message.x or {}, new=lesson is not None and bool(lesson.additions))
        slot = self._slots.reserve()
        job = Job(message.id, made, None, example, complete, message.w, self.learnt, slot, record)
        self._jobs.append(job)
        self._counts["predictions"] += 1

    def _label(self, message: Message, record: int) -> None:
        """Take labels of an example that waits."""
        name, y = message.id, message.y
        example = self.waiting.examples.get(name)
        told = checksum(y)
        if example is None:
            self._refuse_labels(name, told)
        if example is None or told in example.pieces:
            self._counts["duplicates"] += 1
            self._say_told(record, "duplicate")
            return
        given = example.told or {}
        if given and isinstance(y, dict):
            if any(given.get(label, value) != value for label, value in y.items() if value is not None):
                self._counts["contradictions"] += 1
                raise MarleneError(f"id {name!r}: a label was told before with another value")
            y = {label: value for label, value in y.items() if value is not None and label not in given}
        elif given:
            self._counts["contradictions"] += 1
            raise MarleneError(f"id {name!r}: a list of labels after single ones")
        last, row = self._jobs[-1] if self._jobs else None, None
        if last is not None and last.example is example and last.complete:
            asked: dict[str, Any] = {"x": {}, "w": last.weight}
            row = last.row
        else:
            asked = json.loads(example.body)
        weight = message.w if message.w is not None else asked.get("w")
        lesson = self.blocks.lesson(asked["x"], y, 1.0 if weight is None else weight, asked.get("stream"), row)
        example.pieces = (*example.pieces, told)
        self._learn(message._replace(y=y), lesson, example, record)

    def _refuse_labels(self, name: Id, told: int) -> None:
        """Count labels of an example that does not wait; raise an error unless they are the same as before."""
        pieces = self.waiting.gone.get(name)
        if pieces is None:
            self._counts["unknown_ids"] += 1
            raise MarleneError(f"labels of id {name!r}, which was never asked for, or too long ago")
        if told in pieces:
            return
        if EVICTED in pieces:
            self._counts["late"] += 1
            raise MarleneError(f"labels of id {name!r} came too late")
        self._counts["contradictions"] += 1
        raise MarleneError(f"id {name!r}: its labels came before with other values")

    def _learn(self, message: Message, lesson: Lesson, example: WaitingExample, record: int) -> None:
        """Learn an example; its prediction comes first, if it is not made yet."""
        self._settle(message, lesson, example)
        last = self._jobs[-1] if self._jobs else None
        if lesson.new:
            self.flush()
            before = len(self.blocks.labels(lesson.stream))
            lesson = self.blocks.admit(lesson)
            for label in self.blocks.labels(lesson.stream)[before:]:
                self._counts["new_labels"] += 1
                self._say_event({"event": "new label", "label": label, "stream": lesson.stream}, record)
            self._run([Job(message.id, None, lesson, example)])
        elif last is not None and last.example is example and last.lesson is None and self._is_plain(lesson):
            self._jobs[-1] = last._replace(lesson=lesson)
        else:
            self._jobs.append(Job(message.id, None, lesson, example))
        self.learnt += 1
        self._counts["learnt"] += 1
        if self.key is not None and self.key == self._settings.teach and lesson.stream is None:
            self.lessons.append(dumped({"x": json.loads(example.body)["x"], "y": message.y}))
        self._say_told(record, "learnt")
        if self.learnt % WATCHED == 0:
            self.flush()
            self._watch(record)

    def _settle(self, message: Message, lesson: Lesson, example: WaitingExample) -> None:
        """Close an example, unless more of its labels may come."""
        complete = self.blocks.learner.absent == "false" or not isinstance(message.y, dict)
        if not complete and isinstance(message.y, dict):
            told = {**(example.told or {}), **{k: v for k, v in message.y.items() if v is not None}}
            complete = all(label in told for label in lesson.labels)
            example.told = told
        if complete:
            self.waiting.close(message.id, example, example.pieces)

    @staticmethod
    def _is_plain(lesson: Lesson) -> bool:
        return lesson.stream is None and lesson.weight == 1.0

    def _evict(self, name: Id, example: WaitingExample, reason: str, record: int) -> None:
        self._counts["evicted"] += 1
        if self._settings.never == "unknown" and not example.told:
            self.flush()
            self._learn_unknown(json.loads(example.body))
        self._say_event({"event": "evicted", "id": name, "reason": reason}, record)

    def _learn_unknown(self, asked: Mapping[str, Any]) -> None:
        try:
            lesson = self.blocks.lesson(asked["x"], None, 1.0, asked.get("stream"))
        except MarleneError:  # other examples have decided since what its features are
            return
        self.blocks.learn([self.blocks.admit(lesson) if lesson.new else lesson])
        self.learnt += 1

    def flush(self) -> None:
        """Do what was put off: blocks of predictions, of lessons, and of both in turn."""
        jobs, self._jobs = self._jobs, []
        begin = 0
        for end in range(1, len(jobs) + 1):
            if end == len(jobs) or _kind(jobs[end]) != _kind(jobs[begin]):
                self._run(jobs[begin:end])
                begin = end

    def _run(self, jobs: Sequence[Job]) -> None:
        """Do jobs of one kind."""
        lessons = [job.lesson for job in jobs if job.lesson is not None]
        if jobs[0].row is None:
            self.blocks.learn(lessons)
        else:
            if lessons:
                probabilities, predictions = self.blocks.test(lessons)
            else:
                probabilities, predictions = self.blocks.decide([job.row for job in jobs if job.row is not None])
            self._answer(jobs, probabilities, predictions)
        if lessons and lessons[0].stream is None:
            self._score(jobs, np.concatenate([lesson.truth for lesson in lessons]))

    def _answer(self, jobs: Sequence[Job], probabilities: Floats, predictions: Labels) -> None:
        labels = self.blocks.labels()
        about: dict[str, Any] = {} if self.key is None else {"key": self.key}
        rows = zip(jobs, np.round(probabilities, 6).tolist(), predictions, strict=True)
        for job, row, predicted in rows:
            found = np.flatnonzero(predicted).tolist()
            answer = {"id": job.name, "labels": [labels[i] for i in found], "proba": _named(labels, row)}
            job.example.answer = dumped(answer | {"model": job.version} | about)
            job.example.predicted = tuple(found)
            self._slots.fill(job.slot, Output("answer", job.example.answer, job.record))

    def _score(self, jobs: Sequence[Job], truth: Labels) -> None:
        n_labels = truth.shape[1]
        if not n_labels:
            return
        if self.scores is None:
            self.scores = Scores(n_labels, window=self._settings.window)
        elif n_labels > self.scores.n_labels:
            self.scores.add_labels(n_labels - self.scores.n_labels)
        predictions = np.zeros(truth.shape, np.int8)
        for row, job in enumerate(jobs):
            predictions[row, list(job.example.predicted)] = 1
        self.scores.update_many(truth, predictions)

    def _watch(self, record: int) -> None:
        """Tell of changes of the model since the last time."""
        for time, event in changes(self.blocks.learner, self._seen):
            self._seen = max(self._seen, time)
            by_label = self.changes[event["event"]]
            by_label[str(event["label"])] = by_label.get(str(event["label"]), 0) + 1
            self._say_event(event, record)

    def _say_event(self, event: dict[str, Any], record: int) -> None:
        about: dict[str, Any] = {"model": self.learnt} | ({} if self.key is None else {"key": self.key})
        self._slots.say(Output("event", dumped(event | about), record))

    def _say_told(self, record: int, outcome: str) -> None:
        self._slots.say(Output("told", OUTCOMES[outcome], record))

    def study(self, lessons: Sequence[bytes], stream: str) -> None:
        """Learn examples of another model as a source."""
        for body in lessons:
            found = json.loads(body)
            lesson = self.blocks.lesson(found["x"], found["y"], 1.0, stream)
            self.blocks.learn([self.blocks.admit(lesson) if lesson.new else lesson])

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything as a JSON header and named arrays; nothing may be put off."""
        learner, learnt = self.blocks.learner.state()
        waiting, examples = self.waiting.state()
        scores = self.scores.state() if self.scores is not None else {}
        header = {"learner": learner, "waiting": waiting, "learnt": self.learnt}
        header |= {"changes": self.changes, "seen": self._seen, "streams": sorted(self.blocks.streams)}
        header |= {"labels": [str(label) for label in self.blocks.labels()]}
        header |= {"lessons": [text.decode() for text in self.lessons]}
        arrays = with_prefix(learnt, "learner.") | with_prefix(examples, "waiting.") | with_prefix(scores, "scores.")
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Take over what `state` gave; the learner is restored already."""
        n_labels = len(self.blocks.labels())
        self.waiting.restore(header["waiting"], arrays_under(arrays, "waiting."), n_labels)
        self.learnt = restored_count(header["learnt"], "the number of examples")
        self.changes = {
            name: {label: restored_count(n, "the changes") for label, n in header["changes"][name].items()}
            for name in ("drift", "inherited")
        }
        self._seen = restored_count(header["seen"], "the changes", -1)
        self.blocks.streams = set(header["streams"])
        for text in header["lessons"]:
            check_kept(text.encode())
            self.lessons.append(text.encode())
        scores = arrays_under(arrays, "scores.")
        self.scores = Scores.from_state(scores) if scores else None
        if self.scores is not None:
            fits = self.scores.n_labels <= n_labels and self.scores.window == self._settings.window
            require(fits, "the scores", "a worker")


def _kind(job: Job) -> tuple[bool, bool, str | None]:
    lesson = job.lesson
    return job.row is None, lesson is None, lesson.stream if lesson else None


def _named(labels: Sequence[Any], row: Sequence[float]) -> dict[str, float]:
    return {str(label): value for label, value in zip(labels, row, strict=True)}
