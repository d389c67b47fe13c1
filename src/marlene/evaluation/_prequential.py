"""Test-then-train: every example is predicted before it is learnt."""

from __future__ import annotations

import time
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.resources import memory_mb
from marlene.evaluation._adapter import as_block_learner
from marlene.evaluation._result import FIGURES, PrequentialResult
from marlene.metrics import Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt
    from river.base import MultiLabelClassifier

    from marlene.streams import Stream

BLOCK = 256
SECONDS_PER_BLOCK = 0.2


@dataclass(frozen=True, slots=True)
class Progress:
    """What a callback is told after every block of examples.

    Parameters
    ----------
    done, total
        Examples predicted so far, and in all.
    current
        The four windowed figures as they stand now (empty before the first scored example).
    mean
        Their means over the scored steps so far.
    learn_seconds
        CPU time of the test-then-train calls so far.
    """

    done: int
    total: int
    current: dict[str, float]
    mean: dict[str, float]
    learn_seconds: float


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
) -> PrequentialResult:
    """Predict and then learn every example of a stream, and score the predictions as the paper does (section V-C).

    Parameters
    ----------
    model
        A learner of this package, or any River-style multi-label model. It is trained in place.
    stream
        The examples, in their order.
    window
        Number of latest examples a windowed figure is taken over. Default: a tenth of the stream.
    start
        Examples with an index (from 0) greater than this are scored; -1 scores all. Default: a twentieth of the
        stream, so that chunk-based methods have had their first chunk.
    delay
        Number of further examples that are predicted before the labels of an example arrive.
    callbacks
        Called after every block of examples; one that returns True ends the run.
    method, seed
        Recorded in the result. Default: the model's class name, and none.

    Returns
    -------
    PrequentialResult
        Figures, traces, times and memory. Ctrl-C ends the run early; what was reached so far is returned.

    Examples
    --------
    >>> from marlene.learners import Majority
    >>> from marlene.streams import load
    >>> result = prequential(Majority(), load("yeast"))
    >>> round(result.hamming_score, 3), result.steps.shape
    (0.769, (2296, 4))
    """
    n = len(stream)
    window = max(1, n // 10) if window is None else _at_least(1, "window", window)
    start = n // 20 if start is None else _at_least(-1, "start", start)
    delay = _at_least(0, "delay", delay)
    run = _Run(model, stream, window, start)
    load_kernels(model)
    stopped = ""
    began_cpu, began_wall, base = time.process_time(), time.perf_counter(), memory_mb()
    try:
        for progress in run.undelayed() if delay == 0 else run.delayed(delay):
            answers = [callback(progress) for callback in callbacks]
            if any(answers):
                stopped = "callback"
                break
    except KeyboardInterrupt:
        stopped = "interrupted"
    tell_counts: Any = getattr(model, "counts", None)
    counts = tell_counts() if callable(tell_counts) else {}
    return PrequentialResult(
        stream=stream.name,
        method=method or type(model).__name__,
        seed=seed,
        examples=run.done,
        features=len(stream.features),
        labels=stream.labels,
        window=run.window,
        start=run.start,
        delay=delay,
        stopped=stopped,
        figures=run.mean(),
        overall=run.overall.as_dict(),
        models=int(counts.get("models", 0)),
        drifts=int(counts.get("drifts", 0)),
        cpu_seconds=time.process_time() - began_cpu,
        wall_seconds=time.perf_counter() - began_wall,
        learn_seconds=run.learn_seconds,
        peak_rss_mb=memory_mb(peak=True),
        base_rss_mb=base,
        **run.traces(),
    )


def load_kernels(model: MultiLabelClassifier) -> None:
    """Compile or load what the run will call, so that no time or memory of it counts as the learner's."""
    Scores(1, window=1).update_many(np.zeros((1, 1)), np.zeros((1, 1)), trace=True)
    if hasattr(model, "load_kernels"):
        model.load_kernels()


def _at_least(least: int, name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise MarleneError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)


class _Run:
    """The state of one evaluation: what was predicted so far, and how well."""

    def __init__(self, model: MultiLabelClassifier, stream: Stream, window: int, start: int) -> None:
        n, n_labels = stream.Y.shape
        self.stream = stream
        self.learner = as_block_learner(model, stream)
        self.window = window
        self.start = start
        self.done = 0
        self.learn_seconds = 0.0
        self.windowed = Scores(n_labels, window=min(window, n))
        self.overall = Scores(n_labels)
        self.proba = np.empty((n, n_labels), dtype=np.float32)
        self.pred = np.empty((n, n_labels), dtype=np.int8)
        self.steps = np.empty((max(0, n - start - 1), len(FIGURES)))
        self.scored = 0

    def undelayed(self) -> Iterator[Progress]:
        """Run in blocks, each one call, that grow until a call takes a noticeable time."""
        n, size = len(self.stream), 1
        while self.done < n:
            stop = min(n, self.done + size)
            rows = slice(self.done, stop)
            spent = self._timed(self.learner.test_then_train, self.stream.X[rows], self.stream.Y[rows])
            yield self._progress()
            size = max(1, min(4 * size, int(size * SECONDS_PER_BLOCK / max(spent, 1e-3))))

    def delayed(self, delay: int) -> Iterator[Progress]:
        """Run example by example; labels that are still under way at the end are learnt then."""
        n, reported = len(self.stream), 0.0
        delay = min(delay, n)
        for t in range(n + delay):
            if t < n:
                self._timed(self.learner.predict_proba_many, self.stream.X[t : t + 1])
            if t >= delay:
                self._learn(t - delay)
            slow = self.learn_seconds - reported > SECONDS_PER_BLOCK
            if t < n and (slow or self.done % BLOCK == 0 or self.done == n):
                reported = self.learn_seconds
                yield self._progress()

    def _learn(self, t: int) -> None:
        began = time.process_time()
        self.learner.learn_many(self.stream.X[t : t + 1], self.stream.Y[t : t + 1])
        self.learn_seconds += time.process_time() - began

    def _timed(self, predict: Callable[..., npt.NDArray[np.float64]], *block: Any) -> float:  # noqa: ANN401
        began = time.process_time()
        probabilities = predict(*block)
        spent = time.process_time() - began
        self.learn_seconds += spent
        self._score(probabilities)
        return spent

    def _score(self, probabilities: npt.NDArray[np.float64]) -> None:
        begin, end = self.done, self.done + len(probabilities)
        if probabilities.shape[1] == 0:
            probabilities = np.full((len(probabilities), self.proba.shape[1]), 0.5)
        self.proba[begin:end] = probabilities
        self.pred[begin:end] = probabilities > 0.5
        first = max(begin, self.start + 1)
        if first < end:
            truth, pred = self.stream.Y[first:end], self.pred[first:end]
            self.steps[self.scored : self.scored + end - first] = self.windowed.update_many(truth, pred, trace=True)
            self.overall.update_many(truth, pred)
            self.scored += end - first
        self.done = end

    def mean(self) -> dict[str, float]:
        """Return the mean of every figure over the scored steps; NaN if there are none."""
        if not self.scored:
            return dict.fromkeys(FIGURES, float("nan"))
        return dict(zip(FIGURES, self.steps[: self.scored].mean(axis=0).tolist(), strict=True))

    def _progress(self) -> Progress:
        current = dict(zip(FIGURES, self.steps[self.scored - 1].tolist(), strict=True)) if self.scored else {}
        return Progress(self.done, len(self.stream), current, self.mean(), self.learn_seconds)

    def traces(self) -> dict[str, Any]:
        """Return the arrays of the result."""
        return {
            "steps": self.steps[: self.scored],
            "pred": self.pred[: self.done],
            "proba": self.proba[: self.done],
            "truth": self.stream.Y[: self.done],
        }
