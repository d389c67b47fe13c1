"""One run of a model over a stream: predictions, scores and costs so far."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.resources import memory_mb
from marlene._common.states import arrays_under, fill, with_prefix
from marlene.evaluation._adapter import as_block_learner, decided, tested
from marlene.metrics import TRACE, Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from river.base import MultiLabelClassifier

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.evaluation._measures import Measures
    from marlene.streams import Stream

BLOCK = 256
SECONDS_PER_BLOCK = 2.0


@dataclass(frozen=True, slots=True)
class Progress:
    """The argument of a callback, after every block of examples.

    Parameters
    ----------
    done, total
        Examples predicted so far, and all examples.
    current
        The four windowed scores now (empty before the first scored example).
    mean
        Their means over the scored steps so far.
    learn_seconds
        CPU time of the test-then-train calls so far.
    resumed
        Examples that were predicted before the checkpoint that this run resumes from.
    """

    done: int
    total: int
    current: dict[str, float]
    mean: dict[str, float]
    learn_seconds: float
    resumed: int = 0


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
    """

    def __init__(
        self,
        model: MultiLabelClassifier,
        stream: Stream,
        measures: Measures,
        window: int,
        start: int,
        delay: int,
        every: int | None,
    ) -> None:
        n, n_labels = stream.Y.shape
        self.stream = stream
        self.learner = as_block_learner(model, stream)
        self.measures = measures
        self.start = start
        self.delay = delay
        self.every = every
        self.done = 0
        self._counted = 0
        self.resumed = 0
        self.finished = False
        self.learn_seconds = 0.0
        self.windowed = Scores(n_labels, window=min(window, n))
        self.overall = Scores(n_labels)
        self.proba = np.empty((n, n_labels), dtype=np.float32)
        self.pred = np.empty((n, n_labels), dtype=np.int8)
        self.steps = np.empty((max(0, n - start - 1), len(TRACE)))
        self._earlier_peak = 0.0

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
            yield from self._delayed() if self.delay else self._undelayed()
            self.finished = True

    def _undelayed(self) -> Iterator[Progress]:
        """Run in blocks, one call each; blocks grow until a call takes `SECONDS_PER_BLOCK`."""
        n, size = len(self.stream), 1
        while self.done < n:
            stop = min(n, self.done + size)
            if self.every is not None:
                stop = min(stop, self.done + self.every - self.done % self.every)
            rows, before = slice(self.done, stop), self.learn_seconds
            self._record(*self._timed(tested, self.learner, self.stream.X[rows], self.stream.Y[rows]))
            yield self._progress()
            per_second = (stop - rows.start) / max(self.learn_seconds - before, 1e-3)
            size = max(1, min(4 * size, int(per_second * SECONDS_PER_BLOCK)))

    def _delayed(self) -> Iterator[Progress]:
        """Run example by example; at the end, learn the labels that are still delayed."""
        n, reported = len(self.stream), self.learn_seconds
        delay = min(self.delay, n)
        for t in range(self.done, n + delay):
            if t < n:
                self._record(*self._timed(decided, self.learner, self.stream.X[t : t + 1]))
            if t >= delay:
                row = slice(t - delay, t - delay + 1)
                self._timed(self.learner.learn_many, self.stream.X[row], self.stream.Y[row])
            slow = self.learn_seconds - reported > SECONDS_PER_BLOCK
            if t < n and (slow or self.done % (self.every or BLOCK) == 0 or self.done == n):
                reported = self.learn_seconds
                yield self._progress()

    def _timed(self, call: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401
        """Call a function; add its CPU time to that of learning."""
        began = time.process_time()
        result = call(*arguments)
        self.learn_seconds += time.process_time() - began
        return result

    def _record(self, probabilities: Floats, predictions: Labels) -> None:
        begin, end = self.done, self.done + len(probabilities)
        if probabilities.shape[1] == 0:
            probabilities = np.full((len(probabilities), self.proba.shape[1]), 0.5)
            predictions = np.zeros(probabilities.shape, np.int8)
        self.proba[begin:end] = probabilities
        self.pred[begin:end] = predictions
        self.done = end

    def score(self) -> None:
        """Score the examples that were predicted since the last call."""
        begin, end, first = self._counted, self.done, self.start + 1
        self._counted = end
        rows = slice(begin, end)
        truth, pred = self.stream.Y[rows], self.pred[rows]
        given = getattr(self.learner, "gives_probabilities", True)
        self.measures.update(begin, truth, pred, self.proba[rows] if given else None)
        if end > max(begin, first):
            later = slice(max(0, first - begin), None)
            steps = self.windowed.update_many(truth[later], pred[later], trace=True)
            self.steps[max(0, begin - first) : end - first] = steps
            self.overall.update_many(truth[later], pred[later])

    def mean(self) -> dict[str, float]:
        """Return the mean of every score over the scored steps; NaN if there are none."""
        if not self.scored:
            return dict.fromkeys(TRACE, float("nan"))
        return dict(zip(TRACE, self.steps[: self.scored].mean(axis=0).tolist(), strict=True))

    def _progress(self) -> Progress:
        self.score()
        current = dict(zip(TRACE, self.steps[self.scored - 1].tolist(), strict=True)) if self.scored else {}
        return Progress(self.done, len(self.stream), current, self.mean(), self.learn_seconds, self.resumed)

    def traces(self) -> dict[str, Any]:
        """Return scores, predictions and probabilities of the examples so far."""
        return {"steps": self.steps[: self.scored], "pred": self.pred[: self.done], "proba": self.proba[: self.done]}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return position and times as a JSON header, predictions and scores as named arrays."""
        position = {"done": self.done, "finished": self.finished}
        arrays: Arrays = self.traces()
        for name in ("windowed", "overall"):
            arrays |= with_prefix(getattr(self, name).state(), f"{name}.")
        arrays |= with_prefix(self.measures.state(), "measures.")
        return position | self.costs(), arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Return to a state that `state` gave."""
        self.done = int(header["done"])
        if not 0 <= self.done <= len(self.stream):
            raise ValueError(f"example {self.done} of {len(self.stream)}")
        for name, whole in self.traces().items():
            fill(whole, arrays[name], f"damaged: {name}")
        for name in ("windowed", "overall"):
            scores = Scores.from_state(arrays_under(arrays, f"{name}."))
            if (scores.n_labels, scores.window) != (getattr(self, name).n_labels, getattr(self, name).window):
                raise ValueError(f"the {name} scores are those of another run")
            setattr(self, name, scores)
        self.measures.restore(arrays_under(arrays, "measures."))
        self._counted = self.resumed = self.done
        self.finished = bool(header["finished"])
        self.learn_seconds, self._earlier_peak = float(header["learn_seconds"]), float(header["peak_rss_mb"])
        self.begin(float(header["cpu_seconds"]), float(header["wall_seconds"]))
