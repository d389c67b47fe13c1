"""Marlene as a live user meets it: one example at a time, and labels that arrive later, against River."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from river import linear_model, multioutput

from benchmarks._measure import Bound, Table, absent_data, cpu_seconds, progress
from marlene.evaluation import prequential
from marlene.learners import BRMarlene, Marlene
from marlene.streams import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from river.base import MultiLabelClassifier

    from marlene.streams import Stream

    Example = tuple[dict[str, float], dict[str, bool]]
    Lesson = tuple[dict[str, float], dict[str, bool], Any, Any]

ROUNDS = 3
PAIRS_PER_SECOND, TIMES_RIVER, FEW_FEATURES = 10_000, 3.0, 50.0
"""Pairs of calls a second on sparse examples, how many times as many as River, and µs for two features."""
TIMES_BLOCKS = 2.0
"""How many times its cost in one call an example learnt alone may cost BR-MARLENE."""


def _river() -> MultiLabelClassifier:
    return multioutput.PerOutputClassifier(linear_model.LogisticRegression())


def _dictionaries(stream: Stream) -> list[Example]:
    """Return the non-zeros of each example by name, and its labels."""
    names, examples = [str(feature.name) for feature in stream.features], []
    for t in range(len(stream)):
        row = stream.X[[t]]
        places = row.indices if hasattr(row, "indices") else np.flatnonzero(row)
        values = row.data if hasattr(row, "indices") else row[0, places]
        x = {names[i]: float(value) for i, value in zip(places.tolist(), values, strict=True)}
        examples.append((x, dict(zip(stream.labels, map(bool, stream.Y[t]), strict=True))))
    return examples


def _few_features(n: int) -> list[Example]:
    """Return examples of two numbers and three labels."""
    X = np.random.default_rng(1).normal(size=(n, 2)).tolist()
    return [({"a": a, "b": b}, {"p": a > 0, "q": b > 0, "r": a > b}) for a, b in X]


def _microseconds(make: Callable[[], MultiLabelClassifier], examples: Sequence[Example]) -> float:
    """Return the least CPU time of a pair of calls, in some runs."""

    def run() -> None:
        model: Any = make()
        for x, y in examples:
            model.predict_one(x)
            model.learn_one(x, y)

    return 1e6 * min(cpu_seconds(run) for _ in range(ROUNDS)) / len(examples)


def pairs(sparse: Stream | None, n: int) -> Table:
    """Compare pairs of `predict_one` and `learn_one`, on sparse examples if there are any, and on two numbers."""
    progress("one example at a time, beside River")
    Marlene().load_kernels()
    given = {"two numbers, three labels": _few_features(n)}
    if sparse is not None:
        given[sparse.name] = _dictionaries(sparse)
    rows: list[tuple[str | int | float, ...]] = []
    bounds = []
    for name, examples in given.items():
        ours, theirs = _microseconds(Marlene, examples), _microseconds(_river, examples)
        rows.append((name, ours, theirs, 1e6 / ours, theirs / ours))
        if sparse is not None and name == sparse.name:
            bounds.append(Bound(f"pairs on {name}", 1e6 / ours, PAIRS_PER_SECOND, "a second", at_least=True))
            bounds.append(Bound(f"pairs on {name}", theirs / ours, TIMES_RIVER, "× River's", at_least=True))
        else:
            bounds.append(Bound(f"a pair for {name}", ours, FEW_FEATURES, "µs"))
    text = (
        "Marlene: one `predict_one` and one `learn_one` for each example, given as a dictionary of its non-zeros; "
        "River: the same with `PerOutputClassifier(LogisticRegression())`, in the same process. The dictionaries are "
        f"made before the clock starts. The least of {ROUNDS} runs, from an untrained model each."
    )
    columns = ("examples", "µs per pair", "River's µs per pair", "pairs a second", "× River's speed")
    return Table("One example at a time, beside River", text, columns, rows, bounds)


def _one_by_one(model: Any, stream: Stream, lessons: Sequence[Lesson]) -> None:  # noqa: ANN401, ARG001 (any learner)
    for x, y, *_ in lessons:
        model.learn_one(x, y)


def _in_pairs(model: Any, stream: Stream, lessons: Sequence[Lesson]) -> None:  # noqa: ANN401, ARG001
    for x, y, *_ in lessons:
        model.predict_one(x)
        model.learn_one(x, y)


def _row_by_row(model: Any, stream: Stream, lessons: Sequence[Lesson]) -> None:  # noqa: ANN401, ARG001
    for *_, X, Y in lessons:
        model.learn_many(X, Y)


def _in_one_call(model: Any, stream: Stream, lessons: Sequence[Lesson]) -> None:  # noqa: ANN401, ARG001
    model.decide_then_train(stream.X, stream.Y)


WAYS = {
    "`decide_then_train`, one call": _in_one_call,
    "`learn_one`": _one_by_one,
    "`predict_one` and `learn_one`": _in_pairs,
    "`learn_many` of one row": _row_by_row,
}


def _timed_ways(make: Callable[[], Any], stream: Stream) -> list[float]:
    """Return the least CPU time of each way of learning a stream, in turns: machines are not always equally fast."""
    make().load_kernels()
    lessons = [(x, y, stream.X[[t]], stream.Y[t : t + 1]) for t, (x, y) in enumerate(_dictionaries(stream))]
    times = [float("inf")] * len(WAYS)
    for _ in range(ROUNDS):
        for place, way in enumerate(WAYS.values()):
            model = make()
            model.declare(stream.features, stream.labels)
            cpu = cpu_seconds(lambda way=way, model=model: way(model, stream, lessons))  # type: ignore[misc]
            times[place] = min(times[place], cpu)
    return times


def ways(stream: Stream) -> Table:
    """Compare the ways of learning the same examples: in one call, row by row, and as dictionaries."""
    progress("one example at a time, and in one call")
    rows: list[tuple[str | int | float, ...]] = []
    for make in (Marlene, BRMarlene):
        times = _timed_ways(make, stream)
        rows += [
            (make.__name__, name, 1e6 * cpu / len(stream), cpu / times[0])
            for name, cpu in zip(WAYS, times, strict=True)
        ]
    alone = next(float(share) for name, way, _, share in rows if (name, way) == ("BRMarlene", "`learn_one`"))
    bound = Bound("learn_one of BR-MARLENE", alone, TIMES_BLOCKS, "× its cost in one call")
    text = (
        f"Both learners over the {len(stream):,} examples of {stream.name}, whose features and labels are declared "
        "first. Dictionaries and single rows are made before the clock starts. The least of "
        f"{ROUNDS} runs, taken in turns."
    )
    columns = ("learner", "calls", "µs per example", "× one call for all")
    return Table("One example at a time, and in one call", text, columns, rows, [bound])


def late(stream: Stream) -> Table:
    """Measure test-then-train with labels that arrive one example later."""
    progress("labels that arrive later")
    seconds = {
        delay: min(float(prequential(Marlene(), stream, delay=delay).learn_seconds) for _ in range(ROUNDS))
        for delay in (0, 1)
    }
    rows: list[tuple[str | int | float, ...]] = [
        (delay, cpu, 1e6 * cpu / len(stream), len(stream) / cpu) for delay, cpu in seconds.items()
    ]
    speed = len(stream) / seconds[1]
    bounds = [Bound("labels one example late", speed, PAIRS_PER_SECOND, "examples a second", at_least=True)]
    text = (
        f"`prequential(Marlene(), stream, delay=…)` over the {len(stream):,} examples of {stream.name}: CPU seconds of "
        f"predicting and learning, the least of {ROUNDS} runs. With a delay, every example is scored twice: when it is "
        "predicted, and when its labels arrive."
    )
    columns = ("delay", "CPU s", "µs per example", "examples a second")
    return Table("Labels that arrive later", text, columns, rows, bounds)


def tables(*, quick: bool = False) -> Iterator[Table]:
    """Return all tables."""
    limit = 200 if quick else None
    stream = None if absent_data() else load("slashdot", limit=limit)
    yield pairs(stream, limit or 3000)
    yield ways(load("yeast", limit=limit) if stream is None else stream)
    yield late(load("yeast", limit=limit) if stream is None else stream)
