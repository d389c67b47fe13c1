"""Reports of stored runs: one of them, or several side by side with what a test says of their difference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene.evaluation import PrequentialResult
from marlene.evaluation._measures import label_rows
from marlene.experiments._store import DONE, ResultStore, number
from marlene.experiments.statistics import wilcoxon_holm
from marlene.metrics import TRACE, Calibration
from marlene.report import Compared, comparison_page, run_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Arrays, Floats
    from marlene._common.files import AnyPath
    from marlene.report import ReportPage

ALPHA = 0.05
LEAST_UNITS = 6
"""With fewer pairs, Wilcoxon's test can never find a difference at this level."""


def report_of(path: AnyPath) -> ReportPage:
    """Return the page of a saved result, of a folder of them, or of the folder of a grid."""
    source = Path(path)
    if source.is_dir() and (source / "runs").is_dir():
        return compare_store(ResultStore(source))
    if source.is_dir():
        saved = sorted(source.glob("*.npz"))
        if not saved:
            raise MarleneError(f"{source}: there is neither a saved result (*.npz) nor the folder runs of a grid")
        results = [PrequentialResult.load(file) for file in saved]
        return run_page(results[0]) if len(results) == 1 else compare_results(results)
    return run_page(PrequentialResult.load(source))


def compare_results(results: Sequence[PrequentialResult]) -> ReportPage:
    """Return the page of results side by side."""
    return _page([_of_result(result) for result in results])


def compare_store(store: ResultStore) -> ReportPage:
    """Return the page of all runs of a grid."""
    rows = [row for row in store.rows() if row["status"] == DONE]
    if not rows:
        raise MarleneError(f"{store.folder}: no run has ended")
    try:
        return _page([_of_row(row, store.traces(row["key"])) for row in rows])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        if isinstance(error, MarleneError):
            raise
        raise MarleneError(f"{store.folder}: a row or its traces are damaged ({error!r})") from error


def _page(runs: Sequence[Compared]) -> ReportPage:
    streams = list(dict.fromkeys(run.stream for run in runs))
    verdicts = {stream: _verdict_on([run for run in runs if run.stream == stream]) for stream in streams}
    overall = _verdict_on_all(runs, streams) if len(streams) > 1 else ""
    return comparison_page(runs, verdicts, overall)


def _of_result(result: PrequentialResult) -> Compared:
    return Compared(
        stream=result.stream,
        method=result.method,
        seed=result.seed,
        examples=result.examples,
        window=result.window,
        start=result.start,
        scores=result.scores,
        steps=result.steps,
        seconds=result.learn_seconds,
        memory=result.peak_rss_mb,
        predicted=result.cumulative["labels_predicted"],
        true=result.cumulative["labels_true"],
        labels={row["label"]: row["gmean"] for row in result.labels_table()},
        drifts=sorted({time for times in (result.history.drifts if result.history else {}).values() for time in times}),
    )


def _of_row(row: dict[str, Any], traces: Arrays) -> Compared:
    steps = traces.get("steps", np.zeros((0, len(TRACE))))
    return Compared(
        stream=str(row["name"]),
        method=_method_name(row),
        seed=row["seed"],
        examples=row["examples"],
        window=row["window"],
        start=row["start"],
        scores={score: number(row[score]) for score in TRACE},
        steps=steps,
        seconds=row["learn_seconds"],
        memory=row["peak_rss_mb"],
        predicted=number(row.get("labels_predicted")),
        true=number(row.get("labels_true")),
        labels=_label_scores(traces),
    )


def _method_name(row: Mapping[str, Any]) -> str:
    options = ", ".join(f"{name}={value}" for name, value in row["options"].items())
    return f"{row['method']} ({options})" if options else str(row["method"])


def _label_scores(traces: Mapping[str, Any]) -> dict[str, float]:
    """Return the G-Mean of every label; none for a run of an earlier version."""
    if "confusion" not in traces or "labels" not in traces:
        return {}
    rows = label_rows(tuple(traces["labels"].tolist()), traces["confusion"], Calibration(len(traces["labels"])))
    return {row["label"]: row["gmean"] for row in rows}


def _verdict_on(runs: Sequence[Compared]) -> str:
    """Say what a test finds over the windows of one stream that do not overlap."""
    blocks = {}
    for method in dict.fromkeys(run.method for run in runs):
        lines = [run.steps[:, 0] for run in runs if run.method == method]
        every = runs[0].window if len(lines[0]) >= runs[0].examples - runs[0].start - 1 else 1
        if len({len(line) for line in lines}) == 1:
            blocks[method] = np.mean(lines, axis=0)[every - 1 :: every]
    shortest = min((len(block) for block in blocks.values()), default=0)
    if len(blocks) < 2:
        return ""
    if shortest < LEAST_UNITS:
        return "There are too few windows for a test."
    table = np.stack([block[:shortest] for block in blocks.values()], axis=1)
    return _verdict(list(blocks), table, f"{shortest} windows of this stream that do not overlap")


def _verdict_on_all(runs: Sequence[Compared], streams: Sequence[str]) -> str:
    """Say what a test finds over streams, for the methods that ran on all of them."""
    means: dict[str, dict[str, list[float]]] = {}
    for run in runs:
        means.setdefault(run.method, {}).setdefault(run.stream, []).append(run.scores["macro_gmean"])
    methods = [method for method, found in means.items() if len(found) == len(streams)]
    if len(methods) < 2:
        return "No two methods ran on all streams."
    table = np.array([[np.mean(means[method][stream]) for method in methods] for stream in streams])
    ranks = (-table).argsort(axis=1).argsort(axis=1).mean(axis=0) + 1
    order = np.argsort(ranks, kind="stable")
    said = "Mean ranks by Macro-G-Mean: " + ", ".join(f"{methods[i]} {ranks[i]:.2f}" for i in order) + ". "
    if len(streams) < LEAST_UNITS:
        return said + f"A test over {len(streams)} streams could not find a difference."
    return said + _verdict(methods, table, f"{len(streams)} streams")


def _verdict(methods: Sequence[str], table: Floats, units: str) -> str:
    """Say which methods are significantly below the best by Wilcoxon's test, corrected by Holm."""
    best = int(np.argmax(table.mean(axis=0)))
    worse: list[str] = []
    alike: list[str] = []
    for found in wilcoxon_holm(table, control=best):
        other = found.second if found.first == best else found.first
        said = f"{methods[other]} (p = {found.corrected:.2g})"
        (worse if found.corrected < ALPHA else alike).append(said)
    test = f"By Macro-G-Mean over {units}, Wilcoxon's signed-rank test with Holm's correction finds"
    parts = []
    if worse:
        parts.append(f"{methods[best]} significantly better than {', '.join(worse)}")
    if alike:
        parts.append(f"no significant difference between {methods[best]} and {', '.join(alike)}")
    return f"{test} {', and '.join(parts)}."
