"""One run of a model over a stream: predictions, scores and costs so far."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.layouts import Field, Layout
from marlene._common.resources import memory_mb
from marlene._common.states import arrays_under, restored_count, with_prefix
from marlene.evaluation._adapter import as_block_learner, decided, tested
from marlene.evaluation._delays import Delays
from marlene.evaluation._parts import RunningDigest, after
from marlene.evaluation._traces import KeptSteps, RunningSteps
from marlene.metrics import TRACE, Scores
from marlene.report._tables import ratios
from marlene.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from river.base import MultiLabelClassifier

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.evaluation._measures import Measures
    from marlene.evaluation._recorder import Recorder
    from marlene.streams import LazyStream
    from marlene.streams._matrix import Matrix

BLOCK = 256
SECONDS_PER_BLOCK = 2.0


@dataclass(frozen=True, slots=True)
class Progress:
    """The argument of a callback, after every block of examples.

    Parameters
    ----------
    done, total
        Examples predicted so far, and all examples: of a lazy stream an estimate, or None.
    current
        The four windowed scores now (empty before the first scored example).
    mean
        Their means over the scored steps so far.
    learn_seconds
        CPU time of the test-then-train calls so far.
    resumed
        Examples that were predicted before the checkpoint that this run resumes from.
    labels
        The windowed G-Mean of every label now; NaN for a label without both classes in the window.
    """

    done: int
    total: int | None
    current: dict[str, float]
    mean: dict[str, float]
    learn_seconds: float
    resumed: int = 0
    labels: tuple[float, ...] = ()


PREDICTIONS = Layout(
    "the predictions of a run",
    {
        "pred": Field("int8", ("rows", "labels"), "predictions", least=0, most=1),
        "proba": Field("float32", ("rows", "labels"), "probabilities; NaN if there are none", bounded=False),
    },
)


class PrequentialRun:
    """The state of one evaluation.

    Parameters
    ----------
    model, stream
        The model and the examples.
    measures
        The measures over the whole stream, before the first example.
    window, start, delay
        As in `prequential`.
    every
        End a block whenever the number of examples done is a multiple of this.
    recorder
        Collects what the run is like over time.
    """

    def __init__(
        self,
        model: MultiLabelClassifier,
        stream: Stream | LazyStream,
        measures: Measures,
        window: int,
        start: int,
        delay: int | Delays,
        every: int | None,
        recorder: Recorder | None = None,
    ) -> None:
        self.recorder = recorder
        self.stream, self.model = stream, model
        self.lazy = not isinstance(stream, Stream)
        self.learner = as_block_learner(model, stream)
        self.measures = measures
        self.start = start
        self.delay = 0 if isinstance(delay, Delays) else delay
        self.arrivals = delay if isinstance(delay, Delays) else None
        self.every = every
        self.done = 0
        self._counted = 0
        self.resumed = 0
        self.finished = False
        self.learn_seconds = 0.0
        self.labels, self.features = stream.labels, len(stream.features)
        length = stream.total if isinstance(stream, Stream) else None
        self.windowed = Scores(len(stream.labels), window=window if length is None else min(window, length))
        self.overall = Scores(len(stream.labels))
        self.steps = RunningSteps(window) if length is None else KeptSteps(max(0, length - start - 1))
        self._digest: RunningDigest | None = None
        self._hashed = 0
        self._expected = ""
        self._size = 1
        self._earlier_peak = 0.0
        self._part: Stream | None = None
        self._first = 0
        if isinstance(stream, Stream):
            self._enter(stream, 0)

    def _enter(self, part: Stream, first: int) -> None:
        """Make a part of the stream the one at hand; `first` is the index of its first example."""
        self.score()
        if self._part is not None and self.delay:
            waiting = self._part.rows(slice(max(0, len(self._part) - self.delay), None))
            part, first = after(waiting, part), first - len(waiting)
        self._part, self._first = part, first
        self.proba = np.empty((len(part), len(part.labels)), dtype=np.float32)
        self.pred = np.empty((len(part), len(part.labels)), dtype=np.int8)

    def _parts(self) -> Iterator[Stream]:
        """Go through the parts of the stream; yield those that have examples left to run."""
        if not self.lazy:
            yield self._at_hand()
            return
        end, declared = 0, None
        for part in self.stream.parts():
            begin, end = end, end + len(part)
            self._enter(part, begin)
            if begin < self.resumed:
                self._skip(min(end, self.resumed))
            if end > self.done:
                self._grow(part.labels, len(part.features))
                if hasattr(self.model, "declare") and (part.features, part.labels) != declared:
                    declared = part.features, part.labels
                    self.model.declare(*declared)
                yield self._at_hand()
        if end < self.done:
            raise MarleneError(
                f"{self.stream.name}: the checkpoint is at example {self.done}, but there are only {end}"
            )

    def _at_hand(self) -> Stream:
        if self._part is None:
            raise RuntimeError("no part of the stream is at hand")
        return self._part

    def _grow(self, labels: tuple[str, ...], features: int) -> None:
        more = len(labels) - self.windowed.n_labels
        self.labels, self.features = labels, features
        if more > 0:
            for scores in (self.windowed, self.overall, self.measures, self.recorder):
                if scores is not None:
                    scores.add_labels(more)

    def _skip(self, end: int) -> None:
        """Check, from part to part, that examples that were learnt before are still the same."""
        if self._digest is None:
            return
        part = self._at_hand()
        rows = slice(self._hashed - self._first, end - self._first)
        self._note(part.X[rows], part.Y[rows])
        if self._hashed == self.resumed and self._digest.digest() != self._expected:
            raise MarleneError(
                f"{self.stream.name}: the checkpoint is that of another run: the first {self.resumed} examples differ"
            )

    def watch(self) -> None:
        """Keep a checksum of the examples of a lazy stream, for a checkpoint."""
        if self.lazy:
            self._digest, self._hashed = RunningDigest(), 0

    def _note(self, X: Matrix, Y: Labels) -> None:
        if self._digest is not None:
            self._digest.update(X, Y)
            self._hashed += len(Y)

    @property
    def scored(self) -> int:
        """Number of examples scored so far."""
        return max(0, self.done - self.start - 1)

    def begin(self, cpu_seconds: float = 0.0, wall_seconds: float = 0.0) -> None:
        """Start the clocks, at the times of the run before."""
        self._began_cpu = time.process_time() - cpu_seconds
        self._began_wall = time.perf_counter() - wall_seconds

    def costs(self) -> dict[str, Any]:
        """Return CPU time, wall-clock time and peak memory since the beginning, and CPU time of learning."""
        return {
            "cpu_seconds": time.process_time() - self._began_cpu,
            "wall_seconds": time.perf_counter() - self._began_wall,
            "learn_seconds": self.learn_seconds,
            "peak_rss_mb": max(self._earlier_peak, memory_mb(peak=True)),
        }

    def blocks(self) -> Iterator[Progress]:
        """Run to the end; between two blocks, learner and scores include all examples done."""
        if self.resumed:
            yield self._progress()
        if not self.finished:
            for part in self._parts():
                if self.arrivals is not None:
                    yield from self._arriving(part, self.arrivals)
                else:
                    yield from self._delayed(part) if self.delay else self._undelayed(part)
            if self._part is not None and self.delay:
                rows = slice(max(0, len(self._part) - self.delay), None)
                self._timed(self.learner.learn_many, self._part.X[rows], self._part.Y[rows])
            self.finished = True

    def _undelayed(self, part: Stream) -> Iterator[Progress]:
        """Run in blocks, one call each; blocks grow until a call takes `SECONDS_PER_BLOCK`."""
        end = self._first + len(part)
        while self.done < end:
            stop = self._next_stop(min(end, self.done + self._size), self.every)
            rows, before = slice(self.done - self._first, stop - self._first), self.learn_seconds
            X, Y = part.X[rows], part.Y[rows]
            self._record(*self._timed(tested, self.learner, X, Y))
            self._note(X, Y)
            self._look()
            yield self._progress()
            per_second = len(Y) / max(self.learn_seconds - before, 1e-3)
            self._size = max(1, min(4 * self._size, int(per_second * SECONDS_PER_BLOCK)))

    def _delayed(self, part: Stream) -> Iterator[Progress]:
        """Run example by example; at the end of the stream, the labels of some are still delayed."""
        if hasattr(self.learner, "decide_then_train_late"):
            yield from self._late(part)
            return
        end, reported = len(part), self.learn_seconds
        for t in range(self.done - self._first, end):
            X = part.X[t : t + 1]
            self._record(*self._timed(decided, self.learner, X))
            self._note(X, part.Y[t : t + 1])
            if self.done > self.delay:
                row = slice(t - self.delay, t - self.delay + 1)
                self._timed(self.learner.learn_many, part.X[row], part.Y[row])
            self._look()
            slow = self.learn_seconds - reported > SECONDS_PER_BLOCK
            if slow or self.done % (self.every or BLOCK) == 0 or t + 1 == end:
                reported = self.learn_seconds
                yield self._progress()

    def _late(self, part: Stream) -> Iterator[Progress]:
        """Do the same with a learner that takes a block of examples, and of earlier ones whose labels arrive then."""
        end = self._first + len(part)
        while self.done < end:
            stop = self._next_stop(end, self.every or BLOCK)
            if self.done < self.delay:  # no labels yet
                stop = min(stop, self.delay)
                found = self._timed(decided, self.learner, part.X[self.done - self._first : stop - self._first])
            else:
                rows = slice(self.done - self._first - self.delay, stop - self._first)
                found = self._timed(self.learner.decide_then_train_late, part.X[rows], part.Y[rows], self.delay)
            rows = slice(self.done - self._first, stop - self._first)
            self._record(*found)
            self._note(part.X[rows], part.Y[rows])
            self._look()
            yield self._progress()

    def _next_stop(self, stop: int, *others: int | None) -> int:
        """Return where a block ends: where the recorder looks, and at multiples of other numbers, at the latest."""
        for every in (None if self.recorder is None else self.recorder.pace, *others):
            if every is not None:
                stop = min(stop, self.done + every - self.done % every)
        return stop

    def _arriving(self, part: Stream, arrivals: Delays) -> Iterator[Progress]:
        """Run example by example; after each, learn those whose labels arrive then, in their order."""
        reported = self.learn_seconds
        for t in range(self.done, len(part)):
            self._record(*self._timed(decided, self.learner, part.X[t : t + 1]))
            due = arrivals.due(t)
            if len(due):
                self._timed(self.learner.learn_many, part.X[due], part.Y[due])
            self._look()
            if t + 1 == len(part):
                late = arrivals.late()
                self._timed(self.learner.learn_many, part.X[late], part.Y[late])
            slow = self.learn_seconds - reported > SECONDS_PER_BLOCK
            if slow or self.done % (self.every or BLOCK) == 0 or t + 1 == len(part):
                reported = self.learn_seconds
                yield self._progress()

    def _look(self) -> None:
        if self.recorder is not None and self.done % self.recorder.pace == 0:
            self.recorder.look(self.model, self.labels, self.done, self.learn_seconds)

    def _timed(self, call: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401
        """Call a function; add its CPU time to that of learning."""
        began = time.process_time()
        result = call(*arguments)
        self.learn_seconds += time.process_time() - began
        return result

    def _record(self, probabilities: Floats, predictions: Labels) -> None:
        begin = self.done - self._first
        end = begin + len(probabilities)
        if probabilities.shape[1] == 0:
            probabilities = np.full((len(probabilities), self.proba.shape[1]), 0.5)
            predictions = np.zeros(probabilities.shape, np.int8)
        self.proba[begin:end] = probabilities
        self.pred[begin:end] = predictions
        self.done += len(probabilities)

    def score(self) -> None:
        """Score the examples that were predicted since the last call."""
        begin, end, first = self._counted, self.done, self.start + 1
        if begin == end or self._part is None:
            return
        self._counted = end
        rows = slice(begin - self._first, end - self._first)
        truth, pred = self._part.Y[rows], self.pred[rows]
        given = getattr(self.learner, "gives_probabilities", True)
        part, proba = self._part, self.proba[rows] if given else None
        self.measures.update(begin, truth, pred, proba)
        if self.recorder is not None:
            place = begin - self._first
            self.recorder.add(begin, truth, pred, proba, lambda row: part.example(place + row))
        if end > max(begin, first):
            later = slice(max(0, first - begin), None)
            self.steps.add(self.windowed.update_many(truth[later], pred[later], trace=True))
            self.overall.update_many(truth[later], pred[later])

    def mean(self) -> dict[str, float]:
        """Return the mean of every score over the scored steps; NaN if there are none."""
        if not self.scored:
            return dict.fromkeys(TRACE, float("nan"))
        return dict(zip(TRACE, self.steps.mean().tolist(), strict=True))

    def _progress(self) -> Progress:
        self.score()
        current = dict(zip(TRACE, self.steps.last().tolist(), strict=True)) if self.scored else {}
        labels = tuple(ratios(self.windowed.confusion)[0].tolist())
        return Progress(self.done, self.stream.total, current, self.mean(), self.learn_seconds, self.resumed, labels)

    def traces(self) -> dict[str, Any]:
        """Return scores, and of a stream in memory predictions, probabilities and truth of the examples so far."""
        return {"steps": self.steps.steps, **self._predictions()}

    def _predictions(self) -> Arrays:
        if self._part is None or self.lazy:
            none = (0, len(self.labels))
            return {
                "pred": np.empty(none, np.int8),
                "proba": np.empty(none, np.float32),
                "truth": np.empty(none, np.int8),
            }
        rows = slice(self.done)
        return {"pred": self.pred[rows], "proba": self.proba[rows], "truth": self._part.Y[rows]}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return position and times as a JSON header, predictions and scores as named arrays."""
        position: dict[str, Any] = {"done": self.done, "finished": self.finished}
        if self._digest is not None:
            position |= {"labels": list(self.labels), "features": self.features, "digest": self._digest.digest()}
        predictions = self._predictions()
        del predictions["truth"]
        arrays: Arrays = {**self.steps.state(), **predictions}
        for name in ("windowed", "overall"):
            arrays |= with_prefix(getattr(self, name).state(), f"{name}.")
        arrays |= with_prefix(self.measures.state(), "measures.")
        if self.recorder is not None:
            position["history"], history = self.recorder.state()
            arrays |= with_prefix(history, "history.")
        return position | self.costs(), arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Return to a state that `state` gave."""
        self.done = restored_count(header["done"], "the number of examples")
        if not 0 <= self.done <= (self.done if self.lazy else self.stream.total or 0):
            raise ValueError(f"example {self.done} of {self.stream.total}")
        if self._digest is not None:
            self._expected = str(header["digest"])
            self._grow(tuple(map(str, header["labels"])), int(header["features"]))
        mine = self._predictions()
        for name, found in PREDICTIONS.checked(arrays, rows=len(mine["pred"]), labels=len(self.labels)).items():
            mine[name][:] = found
        self.steps.restore(arrays, self.scored)
        for name in ("windowed", "overall"):
            scores = Scores.from_state(arrays_under(arrays, f"{name}."))
            if (scores.n_labels, scores.window) != (getattr(self, name).n_labels, getattr(self, name).window):
                raise ValueError(f"the {name} scores are those of another run")
            setattr(self, name, scores)
        self.measures.restore(arrays_under(arrays, "measures."))
        if self.recorder is not None:
            self.recorder.restore(header["history"], arrays_under(arrays, "history."))
        self._counted = self.resumed = self.done
        self.finished = header["finished"]
        if self.finished not in (True, False) or (self.finished and not self.lazy and self.done != self.stream.total):
            raise ValueError(f"finished after example {self.done} of {self.stream.total}")
        seconds = [float(header[f"{name}_seconds"]) for name in ("learn", "cpu", "wall")]
        if not all(math.isfinite(number) and number >= 0 for number in seconds):
            raise ValueError(f"impossible times: {seconds}")
        self.learn_seconds, self._earlier_peak = seconds[0], float(header["peak_rss_mb"])
        self.begin(*seconds[1:])
