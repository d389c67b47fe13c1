"""Test-then-train: every example is predicted before it is learnt."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene._common.files import used_alone
from marlene._common.resources import memory_mb
from marlene._common.states import MOST_COUNTED
from marlene.evaluation._checkpoint import Checkpoint
from marlene.evaluation._delays import NEVER, Delays, as_delays
from marlene.evaluation._measures import FADING, Measures
from marlene.evaluation._recorder import Recorder
from marlene.evaluation._result import PrequentialResult
from marlene.evaluation._run import PrequentialRun
from marlene.metrics import Calibration, Scores
from marlene.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt
    from river.base import MultiLabelClassifier

    from marlene._common.files import AnyPath
    from marlene.evaluation._run import Progress
    from marlene.streams import LazyStream

    AnyStream = Stream | LazyStream

LAZY_WINDOW = 1000
"""The window, by default, for a stream whose length is not known."""


def prequential(
    model: MultiLabelClassifier,
    stream: AnyStream,
    *,
    window: int | None = None,
    start: int | None = None,
    delay: int | npt.ArrayLike | Callable[[int, dict[str, Any]], int | None] = 0,
    fading: float = FADING,
    after: int | None = None,
    callbacks: Sequence[Callable[[Progress], bool | None]] = (),
    method: str | None = None,
    seed: int | None = None,
    sources: Sequence[AnyStream] = (),
    checkpoint: AnyPath | None = None,
    every: int | None = None,
    history: bool = True,
) -> PrequentialResult:
    """Predict and then learn every example of a stream, and score the predictions as the paper does (section VI-C).

    Further measures are taken in the same pass: see `PrequentialResult`.

    Parameters
    ----------
    model
        A learner of this package, or any River-style multi-label model. It is trained in place.
    stream
        The examples, in their order. Of a `LazyStream`, predictions are not kept.
    window
        Number of latest examples that a windowed score is computed from. Default: a tenth of the stream; 1000 for a
        `LazyStream`.
    start
        Examples with an index (from 0) greater than this are scored; -1 scores all. Default: a twentieth of the
        stream, so that chunk-based methods have had their first chunk; 0 for a `LazyStream`.
    delay
        Number of further examples that are predicted before the labels of an example arrive. An array has a number for
        each example, -1 or NaN if its labels never arrive. A function is given the index of each example and the
        example itself, and returns a number, or None for never. Labels that arrive together are learnt in the order of
        the examples; scores are those of the predictions in the order in which they were made.
    fading
        Factor of all earlier examples in the fading measures, for each new one.
    after
        Probabilities of the first so many examples do not count for calibration. Default: a tenth of the stream; the
        window for a `LazyStream`.
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
    history
        Whether to note what the run is like over time, for `PrequentialResult.report`.

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
    n = len(stream) if isinstance(stream, Stream) else None
    window = _tenth(n) if window is None else whole_number(window, "window", 1)
    start = (n or 0) // 20 if start is None else whole_number(start, "start", -1)
    arrival = as_delays(delay, stream)
    told = NEVER if isinstance(arrival, Delays) else arrival
    every = None if every is None else whole_number(every, "every", 1)
    if every is not None and checkpoint is None:
        raise MarleneError("every= says how often a checkpoint is written, but there is no checkpoint=")
    if seed is not None:
        whole_number(seed, "seed", -MOST_COUNTED, MOST_COUNTED)  # larger ones could not be loaded again
    method = method or type(model).__name__
    if sources and not hasattr(model, "declare"):
        raise MarleneError(f"{method} does not learn from other streams, so it cannot be given sources")
    after = (window if n is None else n // 10) if after is None else whole_number(after, "after", 0)
    measures = Measures(len(stream.labels), fading, after)
    recorder = Recorder(len(stream.labels), n, start) if history else None
    run = PrequentialRun(model, stream, measures, window, start, arrival, every, recorder)
    saved = None
    settings: dict[str, Any] = {"method": method, "seed": seed, "window": window, "start": start, "delay": told}
    settings |= {"fading": measures.fading, "after": after}
    noted: dict[str, Any] = {"history": history}
    if checkpoint is not None:
        noted |= {"delay": arrival.digest} if isinstance(arrival, Delays) else {}
        saved = Checkpoint(checkpoint, every, model, run, sources, settings | noted)
    with contextlib.nullcontext() if saved is None else used_alone(saved.path):
        load_kernels(model)
        base = memory_mb()
        run.begin()
        try:
            if saved is None or not saved.resume():
                _prepare(model, stream, sources)
            stopped = _go_through(run, callbacks, saved)
        except KeyboardInterrupt:
            stopped = "interrupted"
    run.score()
    tell_counts: Any = getattr(model, "counts", None)
    counts = tell_counts() if callable(tell_counts) else {}
    drifts = stream.drifts if isinstance(stream, Stream) else {}
    return PrequentialResult(
        stream=stream.name,
        examples=run.done,
        features=run.features,
        labels=run.labels,
        stopped=stopped,
        scores=run.mean(),
        overall=run.overall.as_dict(),
        models=int(counts.get("models", 0)),
        drifts=int(counts.get("drifts", 0)),
        base_rss_mb=base,
        history=None if recorder is None else recorder.history(model, run.labels, drifts, run.done, run.learn_seconds),
        **settings,
        **run.costs(),
        **run.traces(),
        **measures.results(),
    )


def load_kernels(model: MultiLabelClassifier) -> None:
    """Compile or load the kernels now, so that their time and memory do not count as the learner's."""
    Scores(1, window=1).update_many(np.zeros((1, 1)), np.zeros((1, 1)), trace=True)
    Calibration(1).update_many(np.zeros((1, 1)), np.zeros((1, 1), np.float32))
    if hasattr(model, "load_kernels"):
        model.load_kernels()


def _tenth(examples: int | None) -> int:
    return LAZY_WINDOW if examples is None else max(1, examples // 10)


def _prepare(model: Any, stream: AnyStream, sources: Sequence[AnyStream]) -> None:  # noqa: ANN401 (may have more methods)
    """Teach the sources and announce the target, if the model has the methods."""
    for source in sources:
        for part in source.parts():
            model.declare(part.features, part.labels, stream=source.name)
            model.learn_many(part.X, part.Y, stream=source.name)
    if hasattr(model, "declare"):
        model.declare(stream.features, stream.labels)
    if hasattr(model, "prepare") and isinstance(stream, Stream):
        model.prepare(len(stream))


def _go_through(
    run: PrequentialRun, callbacks: Sequence[Callable[[Progress], bool | None]], saved: Checkpoint | None
) -> str:
    """Run to the end, or until a callback returns True; return what ended the run early."""
    stopped = ""
    for progress in run.blocks():
        answers = [callback(progress) for callback in callbacks]
        if any(answers):
            stopped = "callback"
            break
        if saved is not None:
            saved.offer()
    if saved is not None:
        saved.close()
    return stopped
