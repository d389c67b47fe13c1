"""Test-then-train: every example is predicted before it is learnt."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene._common.resources import memory_mb
from marlene._common.states import arrays_under, with_prefix
from marlene.evaluation._adapter import as_block_learner, decided, tested
from marlene.evaluation._checkpoint import Checkpoint
from marlene.evaluation._result import PrequentialResult
from marlene.metrics import TRACE, Scores

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from river.base import MultiLabelClassifier

    from marlene._common.arrays import Array, Arrays, Floats, Labels
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


def prequential(
    model: MultiLabelClassifier,
    stream: Stream,
    *,
    window: int | None = None,
    start: int | None = None,
    delay: int = 0,
    callbacks: Sequence[Callable[[Progress], bool | None]] = (),
    method: str | None = None,
    seed: int | None = None,
    sources: Sequence[Stream] = (),
    checkpoint: str | os.PathLike[str] | None = None,
    every: int | None = None,
) -> PrequentialResult:
    """Predict and then learn every example of a stream, and score the predictions as the paper does (section VI-C).

    Parameters
    ----------
    model
        A learner of this package, or any River-style multi-label model. It is trained in place.
    stream
        The examples, in their order.
    window
        Number of latest examples that a windowed score is computed from. Default: a tenth of the stream.
    start
        Examples with an index (from 0) greater than this are scored; -1 scores all. Default: a twentieth of the
        stream, so that chunk-based methods have had their first chunk.
    delay
        Number of further examples that are predicted before the labels of an example arrive.
    callbacks
        Called after every block of examples. If one returns True, the run ends.
    method, seed
        Recorded in the result. Default: the model's class name, and none.
    sources
        Streams to learn whole, in this order, before the first example is predicted.
    checkpoint
        A file for the state of learner and evaluation. If it exists, the run resumes from it, and the result is to the
        bit that of a run without interruption; times add up. The checkpoint of another run is refused.
    every
        Write the checkpoint after every so many examples. Default: after about 10 s of learning, less often if
        writing takes long; and at the end.

    Returns
    -------
    PrequentialResult
        Scores, traces, times and memory. Ctrl-C ends the run early; the result then covers the examples so far.

    Examples
    --------
    >>> from marlene.learners import Majority
    >>> from marlene.streams import load
    >>> result = prequential(Majority(), load("yeast"))
    >>> round(result.hamming_score, 3), result.steps.shape
    (0.769, (2296, 4))
    """
    n = len(stream)
    window = max(1, n // 10) if window is None else whole_number(window, "window", 1)
    start = n // 20 if start is None else whole_number(start, "start", -1)
    delay = whole_number(delay, "delay", 0)
    every = None if every is None else whole_number(every, "every", 1)
    if every is not None and checkpoint is None:
        raise MarleneError("every= says how often a checkpoint is written, but there is no checkpoint=")
    method = method or type(model).__name__
    if sources and not hasattr(model, "declare"):
        raise MarleneError(f"{method} does not learn from other streams, so it cannot be given sources")
    run = _Run(model, stream, window, start, every)
    saved = None
    if checkpoint is not None:
        settings = {"method": method, "seed": seed, "window": window, "start": start, "delay": delay}
        saved = Checkpoint(checkpoint, every, model, stream, sources, settings)
    load_kernels(model)
    base = memory_mb()
    run.begin()
    try:
        if saved is None or not saved.resume(run):
            _prepare(model, stream, sources)
        stopped = _go_through(run, delay, callbacks, saved)
    except KeyboardInterrupt:
        stopped = "interrupted"
    tell_counts: Any = getattr(model, "counts", None)
    counts = tell_counts() if callable(tell_counts) else {}
    return PrequentialResult(
        stream=stream.name,
        method=method,
        seed=seed,
        examples=run.done,
        features=len(stream.features),
        labels=stream.labels,
        window=window,
        start=start,
        delay=delay,
        stopped=stopped,
        scores=run.mean(),
        overall=run.overall.as_dict(),
        models=int(counts.get("models", 0)),
        drifts=int(counts.get("drifts", 0)),
        base_rss_mb=base,
        truth=stream.Y[: run.done],
        **run.costs(),
        **run.traces(),
    )


def load_kernels(model: MultiLabelClassifier) -> None:
    """Compile or load the kernels now, so that their time and memory do not count as the learner's."""
    Scores(1, window=1).update_many(np.zeros((1, 1)), np.zeros((1, 1)), trace=True)
    if hasattr(model, "load_kernels"):
        model.load_kernels()


def _prepare(model: Any, stream: Stream, sources: Sequence[Stream]) -> None:  # noqa: ANN401 (may have more methods)
    """Teach the sources and announce the target, if the model has the methods."""
    for source in sources:
        model.declare(source.features, source.labels, stream=source.name)
        model.learn_many(source.X, source.Y, stream=source.name)
    if hasattr(model, "declare"):
        model.declare(stream.features, stream.labels)
    if hasattr(model, "prepare"):
        model.prepare(len(stream))


def _go_through(
    run: _Run, delay: int, callbacks: Sequence[Callable[[Progress], bool | None]], saved: Checkpoint | None
) -> str:
    """Run to the end, or until a callback returns True; return what ended the run early."""
    stopped = ""
    for progress in run.blocks(delay):
        answers = [callback(progress) for callback in callbacks]
        if any(answers):
            stopped = "callback"
            break
        if saved is not None:
            saved.offer(run)
    if saved is not None:
        saved.close(run)
    return stopped


class _Run:
    """The state of one evaluation: predictions and scores so far."""

    def __init__(self, model: MultiLabelClassifier, stream: Stream, window: int, start: int, every: int | None) -> None:
        n, n_labels = stream.Y.shape
        self.stream = stream
        self.learner = as_block_learner(model, stream)
        self.start = start
        self.every = every
        self.done = 0
        self.resumed = 0
        self.finished = False
        self.learn_seconds = 0.0
        self.windowed = Scores(n_labels, window=min(window, n))
        self.overall = Scores(n_labels)
        self.proba = np.empty((n, n_labels), dtype=np.float32)
        self.pred = np.empty((n, n_labels), dtype=np.int8)
        self.steps = np.empty((max(0, n - start - 1), len(TRACE)))
        self.scored = 0
        self._earlier_peak = 0.0

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

    def blocks(self, delay: int) -> Iterator[Progress]:
        """Run to the end; between two blocks, learner and scores include all examples done."""
        if self.resumed:
            yield self._progress()
        if not self.finished:
            yield from self._undelayed() if delay == 0 else self._delayed(delay)
            self.finished = True

    def _undelayed(self) -> Iterator[Progress]:
        """Run in blocks, one call each; blocks grow until a call takes `SECONDS_PER_BLOCK`."""
        n, size = len(self.stream), 1
        while self.done < n:
            stop = min(n, self.done + size)
            if self.every is not None:
                stop = min(stop, self.done + self.every - self.done % self.every)
            rows = slice(self.done, stop)
            spent = self._timed(tested, self.stream.X[rows], self.stream.Y[rows])
            yield self._progress()
            size = max(1, min(4 * size, int((stop - rows.start) * SECONDS_PER_BLOCK / max(spent, 1e-3))))

    def _delayed(self, delay: int) -> Iterator[Progress]:
        """Run example by example; at the end, learn the labels that are still delayed."""
        n, reported = len(self.stream), self.learn_seconds
        delay = min(delay, n)
        for t in range(self.done, n + delay):
            if t < n:
                self._timed(decided, self.stream.X[t : t + 1])
            if t >= delay:
                self._learn(t - delay)
            slow = self.learn_seconds - reported > SECONDS_PER_BLOCK
            if t < n and (slow or self.done % (self.every or BLOCK) == 0 or self.done == n):
                reported = self.learn_seconds
                yield self._progress()

    def _learn(self, t: int) -> None:
        began = time.process_time()
        self.learner.learn_many(self.stream.X[t : t + 1], self.stream.Y[t : t + 1])
        self.learn_seconds += time.process_time() - began

    def _timed(self, predict: Callable[..., tuple[Floats, Labels]], *block: Any) -> float:  # noqa: ANN401
        began = time.process_time()
        probabilities, predictions = predict(self.learner, *block)
        spent = time.process_time() - began
        self.learn_seconds += spent
        self._score(probabilities, predictions)
        return spent

    def _score(self, probabilities: Floats, predictions: Labels) -> None:
        begin, end = self.done, self.done + len(probabilities)
        if probabilities.shape[1] == 0:
            probabilities = np.full((len(probabilities), self.proba.shape[1]), 0.5)
            predictions = np.zeros(probabilities.shape, np.int8)
        self.proba[begin:end] = probabilities
        self.pred[begin:end] = predictions
        first = max(begin, self.start + 1)
        if first < end:
            truth, pred = self.stream.Y[first:end], self.pred[first:end]
            self.steps[self.scored : self.scored + end - first] = self.windowed.update_many(truth, pred, trace=True)
            self.overall.update_many(truth, pred)
            self.scored += end - first
        self.done = end

    def mean(self) -> dict[str, float]:
        """Return the mean of every score over the scored steps; NaN if there are none."""
        if not self.scored:
            return dict.fromkeys(TRACE, float("nan"))
        return dict(zip(TRACE, self.steps[: self.scored].mean(axis=0).tolist(), strict=True))

    def _progress(self) -> Progress:
        current = dict(zip(TRACE, self.steps[self.scored - 1].tolist(), strict=True)) if self.scored else {}
        return Progress(self.done, len(self.stream), current, self.mean(), self.learn_seconds, self.resumed)

    def traces(self) -> dict[str, Any]:
        """Return scores, predictions and probabilities of the examples so far."""
        return {"steps": self.steps[: self.scored], "pred": self.pred[: self.done], "proba": self.proba[: self.done]}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return position and times as a JSON header, predictions and scores as named arrays."""
        position = {"done": self.done, "scored": self.scored, "finished": self.finished}
        arrays: Arrays = self.traces()
        for name in ("windowed", "overall"):
            arrays |= with_prefix(getattr(self, name).state(), f"{name}.")
        return position | self.costs(), arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Return to a state that `state` gave."""
        self.done, self.scored = int(header["done"]), int(header["scored"])
        if not 0 <= self.done <= len(self.stream) or self.scored != max(0, self.done - self.start - 1):
            raise ValueError(f"example {self.done} of {len(self.stream)}, {self.scored} scored")
        for name, whole in self.traces().items():
            if arrays[name].shape != whole.shape or arrays[name].dtype != whole.dtype:
                raise ValueError(f"{name} is {arrays[name].dtype} of shape {arrays[name].shape}")
            whole[:] = arrays[name]
        for name in ("windowed", "overall"):
            scores = Scores.from_state(arrays_under(arrays, f"{name}."))
            if (scores.n_labels, scores.window) != (getattr(self, name).n_labels, getattr(self, name).window):
                raise ValueError(f"the {name} scores are those of another run")
            setattr(self, name, scores)
        self.resumed, self.finished = self.done, bool(header["finished"])
        self.learn_seconds, self._earlier_peak = float(header["learn_seconds"]), float(header["peak_rss_mb"])
        self.begin(float(header["cpu_seconds"]), float(header["wall_seconds"]))
