"""The page of several runs side by side."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.report import _charts as charts
from marlene.report import _sentences as sentences
from marlene.report import _tables as tables
from marlene.report._page import ReportPage, coded
from marlene.report._run import SCORE_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Floats

POINTS = 300
"""How many points a line has at most."""
DRAWN = 8
"""How many streams are drawn; others have a table only."""
MOST_LINES = 16
"""How many methods are drawn: those with the highest Macro-G-Mean."""


@dataclass(frozen=True, eq=False)
class Compared:
    """What a comparison needs of one run.

    Parameters
    ----------
    stream, method, seed
        What was run; runs of one method on one stream are averaged over seeds.
    examples, window, start
        The length of the stream, and the settings of the scores.
    scores
        The means of the four scores.
    steps
        The scores over time (steps × 4).
    seconds, memory
        CPU time of learning, and peak memory in MB.
    predicted, true
        Labels per example.
    labels
        The G-Mean of every label over the stream; may be empty.
    drifts
        The examples at which labels are known to drift.
    """

    stream: str
    method: str
    seed: int | None
    examples: int
    window: int
    start: int
    scores: Mapping[str, float]
    steps: Floats
    seconds: float
    memory: float
    predicted: float
    true: float
    labels: Mapping[str, float]
    drifts: Sequence[int] = ()


def comparison_page(runs: Sequence[Compared], verdicts: Mapping[str, str], overall: str = "") -> ReportPage:
    """Return the page of runs; `verdicts` says for every stream what a test finds, `overall` for all streams."""
    by_stream: dict[str, dict[str, list[Compared]]] = {}
    for run in runs:
        by_stream.setdefault(run.stream, {}).setdefault(run.method, []).append(run)
    methods = list(dict.fromkeys(run.method for run in runs))
    title = f"{sentences.listed(methods, 4)} on {sentences.listed(list(by_stream), 4)}"
    lead = (
        f"{sentences.counted(len(runs), 'run')}: {sentences.counted(len(methods), 'method')} on "
        f"{sentences.counted(len(by_stream), 'stream')}. Scores are windowed, and averaged over the stream."
    )
    page = ReportPage(title, lead)
    if overall:
        page.section("verdict", "All streams", overall)
    for number, (stream, found) in enumerate(by_stream.items()):
        said = (_best(found), verdicts.get(stream, ""), _said_of_labels(found), _said_of_costs(found))
        page.section(f"stream-{number}", stream, " ".join(filter(None, said)))
        _score_table(page, found)
        if number < DRAWN:
            _over_time(page, number, found)
            _labels(page, number, found)
            _costs(page, number, found)
    return page


def _best(found: Mapping[str, list[Compared]]) -> str:
    means = {method: _mean(runs, "macro_gmean") for method, runs in found.items()}
    known = {method: mean for method, mean in means.items() if np.isfinite(mean)}
    if not known:
        return "No run scored an example."
    ordered = sorted(known, key=lambda method: -known[method])
    said = f"{ordered[0]} has the highest Macro-G-Mean, {known[ordered[0]]:.3f}"
    if len(ordered) == 1:
        return f"{said}."
    return f"{said}, followed by {ordered[1]} with {known[ordered[1]]:.3f}."


def _said_of_labels(found: Mapping[str, list[Compared]]) -> str:
    """Say on how many labels each method is best."""
    means = _label_means(found)
    labels = [label for label in means if np.isfinite(list(means[label].values())).any()]
    if len(found) < 2 or not labels:
        return ""
    wins = [max(means[label], key=lambda method: np.nan_to_num(means[label][method], nan=-1.0)) for label in labels]
    ordered = sorted(set(wins), key=lambda method: -wins.count(method))
    first, *others = ordered
    said = f"{first} has the highest G-Mean on {wins.count(first)} of {sentences.counted(len(labels), 'label')}"
    rest = [f"{method} on {wins.count(method)}" for method in others]
    return f"{said}, {sentences.listed(rest, 4)}." if rest else f"{said}."


def _said_of_costs(found: Mapping[str, list[Compared]]) -> str:
    if len(found) < 2:
        return ""
    said = []
    for name, what, form in (("seconds", "CPU time", "{:.2f} s"), ("memory", "peak memory", "{:,.0f} MB")):
        means = {method: float(np.mean([getattr(run, name) for run in runs])) for method, runs in found.items()}
        ends = [
            f"{form.format(means[method])} ({method})"
            for method in (min(means, key=means.__getitem__), max(means, key=means.__getitem__))
        ]
        said.append(f"{what} between {ends[0]} and {ends[1]}")
    return f"Runs took {' and '.join(said)}."


def _mean(runs: Sequence[Compared], score: str) -> float:
    return float(np.mean([run.scores[score] for run in runs]))


def _score_table(page: ReportPage, found: Mapping[str, list[Compared]]) -> None:
    heading = ["method", *SCORE_NAMES.values(), "labels predicted / true", "CPU s", "memory MB", "runs"]
    best = {score: max((_mean(runs, score) for runs in found.values()), default=np.nan) for score in SCORE_NAMES}
    rows = []
    for method, runs in found.items():
        cells = [escape(method)]
        for score in SCORE_NAMES:
            values = [run.scores[score] for run in runs]
            text = f"{np.mean(values):.3f}" + (f" ± {np.std(values, ddof=1):.3f}" if len(values) > 1 else "")
            cells.append(f"<b>{text}</b>" if np.mean(values) == best[score] else text)
        cells.append(f"{np.mean([r.predicted for r in runs]):.2f} / {np.mean([r.true for r in runs]):.2f}")
        cells += [f"{np.mean([r.seconds for r in runs]):.2f}", f"{np.mean([r.memory for r in runs]):,.0f}"]
        rows.append([*cells, str(len(runs))])
    page.table(heading, rows, numbers=range(1, len(heading)))
    page.note("Mean ± standard deviation over seeds; the best mean is bold.")


def _over_time(page: ReportPage, number: int, found: Mapping[str, list[Compared]]) -> None:
    columns: dict[str, Any] = {"t": [], "method": [], **{name: [] for name in SCORE_NAMES}}
    examples = max(run.examples for runs in found.values() for run in runs)
    ordered = sorted(found, key=lambda method: -_mean(found[method], "macro_gmean"))[:MOST_LINES]
    for method in ordered:
        runs = [run for run in found[method] if len(run.steps) == len(found[method][0].steps)]
        steps = np.mean([run.steps for run in runs], axis=0)
        times = tables.step_times(steps, runs[0].start, runs[0].window, runs[0].examples)
        values, at = tables.thinned(steps, times, POINTS)
        columns["t"] += at.tolist()
        columns["method"] += [method] * len(at)
        for place, name in enumerate(SCORE_NAMES):
            columns[name] += values[:, place].tolist()
    if not columns["t"]:
        return
    key = f"lines_{number}"
    page.tables[key] = columns | {"method": coded(columns["method"])}
    param = f"score_{number}"
    page.texts[param] = dict.fromkeys(SCORE_NAMES.values(), "")
    page.chooser(param, "Score", SCORE_NAMES.values())
    spec = charts.lines(key, "value", "score", examples, "method", ordered)
    names = "{" + ", ".join(f"'{name}': datum.{score}" for score, name in SCORE_NAMES.items()) + "}"
    spec["params"] = [{"name": param, "value": next(iter(SCORE_NAMES.values()))}]
    spec["transform"] = [{"calculate": f"{names}[{param}]", "as": "value"}]
    drifts = sorted({int(time) for runs in found.values() for run in runs for time in run.drifts})
    if drifts:
        page.tables[f"drifts_{number}"] = {"t": drifts, "says": [f"true drift at example {time:,}" for time in drifts]}
        spec = charts.with_rules(spec, f"drifts_{number}", dashes=True)
    left = len(found) - len(ordered)
    page.chart(f"lines-{number}", spec, "Over time" + (f", without the {left} lowest" if left else ""))


def _label_means(found: Mapping[str, list[Compared]]) -> dict[str, dict[str, float]]:
    """Return the mean G-Mean of every label and method."""
    means: dict[str, dict[str, float]] = {}
    for method, runs in found.items():
        for label in runs[0].labels:
            means.setdefault(label, {})[method] = float(np.mean([run.labels.get(label, np.nan) for run in runs]))
    return means


def _labels(page: ReportPage, number: int, found: Mapping[str, list[Compared]]) -> None:
    rows = [(label, method, mean) for label, means in _label_means(found).items() for method, mean in means.items()]
    if not rows:
        return
    labels = list(dict.fromkeys(label for label, _, _ in rows))[: tables.MOST_LABELS]
    kept = set(labels)
    names, methods, values = zip(*(row for row in rows if row[0] in kept), strict=True)
    key = f"labels_{number}"
    page.tables[key] = {"label": coded(names), "method": coded(methods), "gmean": list(values)}
    spec = charts.matrix(
        key, "method", ("gmean", "G-Mean", 1.0), (labels, [m for m in found if m in set(methods)]), ("label", "method")
    )
    page.chart(f"labels-{number}", spec, "G-Mean of every label over the stream")
    page.ramp("G-Mean", "0", "1")


def _costs(page: ReportPage, number: int, found: Mapping[str, list[Compared]]) -> None:
    ordered = sorted(found, key=lambda method: float(np.mean([run.seconds for run in found[method]])))
    key = f"costs_{number}"
    page.tables[key] = {
        "method": coded(ordered),
        "seconds": [float(np.mean([run.seconds for run in found[method]])) for method in ordered],
        "memory": [float(np.mean([run.memory for run in found[method]])) for method in ordered],
        "place": list(range(len(ordered))),
    }
    page.beside(
        (
            f"seconds-{number}",
            charts.bars(key, ("seconds", "s", ",.3~f"), "method", len(ordered)),
            "CPU time of learning",
        ),
        (f"memory-{number}", charts.bars(key, ("memory", "MB", ",.3~f"), "method", len(ordered)), "Peak memory"),
    )
