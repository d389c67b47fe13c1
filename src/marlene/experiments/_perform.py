"""Carry out one run, in any process on any machine: from its description to its row."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import os
import platform
import traceback
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene import __version__
from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.evaluation._adapter import as_block_learner
from marlene.experiments._grid import BURST, NO_ARCHIVE, WARM, Run
from marlene.experiments._store import DONE, FAILED, Outcome
from marlene.experiments._watched import Watched
from marlene.experiments.program import create
from marlene.streams import CATALOGUE, Stream, load, synthetic_experiment
from marlene.streams.archives import ARCHIVES, SAME
from marlene.streams.changes import changed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene._common.arrays import Arrays
    from marlene.evaluation import PrequentialResult
    from marlene.streams._stream import Drifts

PACKAGES = ("numpy", "scipy", "numba", "river")
EVALUATED = ("window", "start", "delay", "wall_seconds")
"""Columns of a row that `PrequentialResult.as_dict` does not have."""
MEASURED = ("overall", "cumulative", "faded")
"""Measures of a result that have columns of their own: `cumulative_micro_f1` and the like."""


def perform(run: Run, *, rows_only: bool = False) -> Outcome:
    """Carry out one run. An error in it becomes part of the outcome.

    With `rows_only`, weights are not recorded, and of traces only scores over time and counts of labels are kept.

    Examples
    --------
    >>> outcome = perform(Run({"load": "yeast", "limit": 100}, "majority"))
    >>> outcome.row["status"], outcome.row["examples"], outcome.traces["steps"].shape
    ('done', 100, (94, 4))
    >>> perform(Run({"load": "no such file"}, "majority")).row["error"][:14]
    'MarleneError: '
    """
    started = _now()
    try:
        stream = {name: value for name, value in run.stream.items() if name != "told"}
        stream |= {"seed": run.seed} if stream.get("seed") == "run" else {}
        target, sources, told, first = _streams(json.dumps(stream, sort_keys=True))
        model = create(run.method, run.seed, **run.options)
        if first is not None:
            _warm_up(model, first)
        due = told if run.told and hasattr(model, "signal_drift") else {}
        watched: Any = model if rows_only and not due else Watched(model, target, due)
        settings: Any = run.evaluation
        settings = settings | {"method": run.method, "seed": run.seed, "sources": sources}
        result = prequential(watched, target, history=False, **settings)
    except Exception as error:  # noqa: BLE001 (a run that fails is recorded, whatever the reason)
        return failed(run, error, started)
    if result.stopped:
        raise KeyboardInterrupt
    row = describe(run, started) | {"status": DONE, "error": None, "traceback": None}
    report = {
        name: value for name, value in result.as_dict(details=False).items() if name not in {*row, *MEASURED, "stopped"}
    }
    row |= {"name": result.stream} | report | {name: getattr(result, name) for name in EVALUATED}
    for part in MEASURED:
        row |= {f"{part}_{name}": value for name, value in getattr(result, part).items()}
    found = _events(model, 0 if first is None else len(first))
    row |= {"true_drifts": target.drifts, "found_drifts": _found_drifts(found), "inherited": _inherited(found)}
    return Outcome(row, _scores(result) if rows_only else _scores(result) | _traces(result, watched))


def failed(run: Run, error: BaseException, started: str | None = None) -> Outcome:
    """Return the outcome of a run that failed."""
    text = "".join(traceback.format_exception(error))
    told = {"status": FAILED, "error": f"{type(error).__name__}: {error}", "traceback": text}
    return Outcome(describe(run, started or _now()) | told, {})


def describe(run: Run, started: str) -> dict[str, Any]:
    """Return the columns that say what was run, when, with which versions and on what machine."""
    return {
        "key": run.key,
        "group": run.group,
        "title": run.title,
        "sources": run.sources,
        **asdict(run),
        "started": started,
        "finished": _now(),
        "marlene_version": __version__,
        "python_version": platform.python_version(),
        **{f"{package}_version": importlib.metadata.version(package) for package in PACKAGES},
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@functools.cache
def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


@functools.lru_cache(maxsize=2)
def _streams(description: str) -> tuple[Stream, tuple[Stream, ...], Drifts, Stream | None]:
    """Make target, sources, the drifts to signal and what is learnt as the target before it.

    This is cached, as many runs use the same stream.
    """
    stream = json.loads(description)
    if "synthetic" in stream:
        made = synthetic_experiment(stream.pop("synthetic"), stream.pop("size"), stream.pop("sources"), **stream)
        return made.target, made.sources, made.target.drifts, None
    alarms = stream.pop("alarms", 0)
    target, sources, first = _loaded(stream.pop("load"), **stream)
    if alarms and not isinstance(target, Stream):
        raise MarleneError(f"{target.name}: archive, change, shuffle and alarms need a stream in memory, without lazy")
    false = {len(target) // 4 + i * max(1, len(target) // BURST) for i in range(alarms)}
    told = {label: tuple(sorted({*target.drifts.get(label, ()), *false})) for label in target.labels}
    return target, sources, told, first


def _loaded(
    name: str,
    limit: int | None = None,
    sources: Sequence[str] = (),
    archive: str | None = None,
    archive_seed: int = 1,
    change: str | None = None,
    change_seed: int = 1,
    shuffle: int | None = None,
    **columns: Any,  # noqa: ANN401 (what `load` is told about columns)
) -> tuple[Stream, tuple[Stream, ...], Stream | None]:
    """Load target and sources, cut off the archive (a source, or learnt as the target), and change the target."""
    if columns.get("lazy") and (archive, change, shuffle) != (None, None, None):
        raise MarleneError(f"{name}: archive, change, shuffle and alarms need a stream in memory, without lazy")
    target: Any = load(name, limit=limit, **columns)
    if shuffle is not None:
        order = np.random.default_rng(shuffle).permutation(len(target))
        target = replace(target, X=target.X[order], Y=target.Y[order])
    learnt = [_source(one, columns) for one in sources]
    warm = None
    if archive is not None:
        first, target = target.halves(archive if archive in ARCHIVES else SAME, archive_seed)
        warm = first if archive == WARM else None
        if archive in ARCHIVES:
            learnt.append(first)
        elif archive not in (NO_ARCHIVE, WARM):
            learnt.append(_source(archive, columns, len(first)))
    return target if change is None else changed(target, change, change_seed), tuple(learnt), warm


def _source(name: str, columns: dict[str, Any], limit: int | None = None) -> Stream:
    """Load a source; a known data set has its own columns, a file those that the target has."""
    if name.lower() in CATALOGUE:
        columns = {key: value for key, value in columns.items() if key == "features"}
    source: Stream = load(name, limit=limit, **columns)
    return source


def _warm_up(model: Any, first: Stream) -> None:  # noqa: ANN401 (any learner)
    """Learn rows as the target's, before its evaluation begins."""
    if hasattr(model, "declare"):
        model.declare(first.features, first.labels)
    as_block_learner(model, first).learn_many(first.X, first.Y)


def _events(model: Any, first: int) -> dict[str, Any] | None:  # noqa: ANN401 (some can tell)
    """Return what `concepts` tells of every label, with times counted from example `first` on."""
    if not hasattr(model, "concepts"):
        return None
    events: dict[str, Any] = {}
    for label, times in model.concepts().items():
        later = [time for time in times if time >= first]
        known = isinstance(times, Mapping)
        events[str(label)] = {time - first: times[time] for time in later} if known else [t - first for t in later]
    return events


def _found_drifts(events: dict[str, Any] | None) -> dict[str, list[int]] | None:
    """Return when the learner found the target's labels to drift."""
    return None if events is None else {label: list(times) for label, times in events.items() if times}


def _inherited(events: dict[str, Any] | None) -> dict[str, list[list[Any]]] | None:
    """Return when each label inherited, and from which label of which stream; None if the learner cannot tell."""
    if not events or not all(isinstance(times, Mapping) for times in events.values()):
        return None
    return {
        label: [[time, giver[0], str(giver[1])] for time, giver in times.items() if giver]
        for label, times in events.items()
        if any(times.values())
    }


def _scores(result: PrequentialResult) -> Arrays:
    """Return the scores over time, and the counts of every label."""
    return {"steps": result.steps, "confusion": result.confusion, "labels": np.array(result.labels, np.str_)}


def _traces(result: PrequentialResult, watched: Watched) -> Arrays:
    """Return the further arrays that figures are drawn from. Probabilities are not kept: they are large."""
    traces: Arrays = {"pred": result.pred, "truth": result.truth}
    if watched.aswr:
        at, values = zip(*watched.aswr, strict=True)
        traces |= {"aswr_at": np.array(at), "aswr": np.array(values)}
    if hasattr(watched.model, "transfer_matrix"):
        matrix = watched.model.transfer_matrix()
        labels = list(matrix)
        # The target first, and labels in its order: a row of the matrix begins with the greatest share.
        givers = sorted(
            {giver for row in matrix.values() for giver in row},
            key=lambda giver: (giver[0] or "", labels.index(giver[1]) if giver[1] in labels else len(labels)),
        )
        traces["transfer"] = np.array(
            [[row.get(giver, 0.0) for giver in givers] for row in matrix.values()], np.float32
        )
        traces["transfer_from"] = np.array([[stream or "", str(label)] for stream, label in givers], dtype=np.str_)
    return traces
