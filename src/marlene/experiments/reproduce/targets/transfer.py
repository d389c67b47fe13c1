"""Beyond the paper: what `Marlene` gains from other labels when labels drift, and from an archive."""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.experiments._grid import NO_ARCHIVE, WARM
from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import PAPER_DATA_SETS, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import SCORES, say
from marlene.metrics import Scores
from marlene.streams.archives import NOISE, RENAMED, SAME
from marlene.streams.changes import CHANGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes

    from marlene._common.arrays import Arrays, Floats

    Means = dict[tuple[str, str, str, str], float]
    """A number by data set, score, row and column of the tables."""

NAME = "transfer"
METHOD = "marlene"
AS_IT_IS, SWAPPED = "as it is", "swapped"
CHANGED = (AS_IT_IS, SWAPPED, "recurring", "gradual", "few", "replaced")
OWN, TRACKING, TOLD = "own", "tracking", "told"
OPTIONS: dict[str, dict[str, str]] = {OWN: {"transfer": OWN}, TRACKING: {}, TOLD: {}}
"""The columns: without transfer, with it, and told of every drift besides."""
ARCHIVES = (NO_ARCHIVE, WARM, SAME, RENAMED, NOISE)
BEGINNING, WHOLE = "first 5 %", "whole"
MOST_SEEDS = 3
PICTURED = "20ng"
PARTS = 40
"""The window of the picture is one part in this many of the stream."""


def runs(plan: Plan) -> Iterator[Run]:
    """Return every change with and without transfer, and every archive, on every data set."""
    for data_set, change, how in itertools.product(plan.among(), CHANGED, OPTIONS):
        yield from _changed(plan, data_set, change, how)
    for data_set, archive in itertools.product(plan.among(), ARCHIVES):
        yield from _archived(plan, data_set, archive)


def page(plan: Plan, results: Results) -> Page:
    """Return the tables, the picture and what they show."""
    drifts, archives = _drift_means(plan, results), _archive_means(plan, results)
    tables = [_drift_table(plan, drifts, score) for score in SCORES]
    tables += [_archive_table(plan, archives, score) for score in SCORES]
    findings = [*_gains(drifts), *_told_gains(drifts), *_archive_gains(archives)] or [say(NAME, "none")]
    seeds = _seeds(plan)
    return Page(findings, tables, [_picture(plan, results)], plan.notes(NAME, seeds=len(seeds)))


def _seeds(plan: Plan) -> tuple[int, ...]:
    """Return the seeds of random changes and archives: `Marlene` itself is not random."""
    return plan.seeds[:MOST_SEEDS]


def _changed(plan: Plan, data_set: str, change: str, how: str) -> list[Run]:
    """Return a run for every seed of a change; only one if the change is not random, none if nothing can be told."""
    if change == AS_IT_IS:
        return [] if how == TOLD else [plan.real(data_set, METHOD, OPTIONS[how])]
    told = {"told": True} if how == TOLD else {}
    kinds = [{"change_seed": seed} for seed in _seeds(plan)] if CHANGES[change].random else [{}]
    return [plan.real(data_set, METHOD, OPTIONS[how], {"change": change} | kind | told) for kind in kinds]


def _archived(plan: Plan, data_set: str, archive: str) -> list[Run]:
    kinds = [{"archive_seed": seed} for seed in _seeds(plan)] if archive == NOISE else [{}]
    return [plan.real(data_set, METHOD, {}, {"archive": archive} | kind) for kind in kinds]


def _drift_means(plan: Plan, results: Results) -> Means:
    """Return the mean scores over the repetitions of every change that was run."""
    means: Means = {}
    for data_set, change, how in itertools.product(plan.among(), CHANGED, OPTIONS):
        repeated = _changed(plan, data_set, change, how)
        for score in SCORES:
            found = [value for run in repeated for value in results.values(run, score)]
            if found:
                means[data_set, score, change, how] = statistics.fmean(found)
    return means


def _archive_means(plan: Plan, results: Results) -> Means:
    """Return the mean scores after every archive, over the beginning of the target and over the whole."""
    means: Means = {}
    for data_set, archive in itertools.product(plan.among(), ARCHIVES):
        repeated = _archived(plan, data_set, archive)
        begun = [_beginning(arrays) for run in repeated for arrays in results.traces(run, "pred", "truth")]
        for score in SCORES:
            found = [value for run in repeated for value in results.values(run, score)]
            if found and begun:
                means[data_set, score, WHOLE, archive] = statistics.fmean(found)
                means[data_set, score, BEGINNING, archive] = statistics.fmean(one[score] for one in begun)
    return means


def _beginning(arrays: Arrays) -> dict[str, float]:
    """Return the scores of the first twentieth of a stream, all of its examples together."""
    truth, pred = arrays["truth"], arrays["pred"]
    first = max(1, len(truth) // 20)
    scores = Scores(truth.shape[1])
    scores.update_many(truth[:first], pred[:first])
    return scores.as_dict()


def _drift_table(plan: Plan, means: Means, score: str) -> ResultTable:
    rows: list[list[Value]] = [
        [change, how, *_row(plan, means, score, change, how)]
        for change, how in itertools.product(CHANGED, OPTIONS)
        if (change, how) != (AS_IT_IS, TOLD)
    ]
    columns = [Column("labels"), Column("transfer"), *_columns(plan)]
    short = SCORES[score]
    return ResultTable(f"{NAME}-drifts-{short.lower()}", say(NAME, "drifts", short=short), columns, rows)


def _archive_table(plan: Plan, means: Means, score: str) -> ResultTable:
    rows: list[list[Value]] = [
        [part, archive, *_row(plan, means, score, part, archive)] for part in (BEGINNING, WHOLE) for archive in ARCHIVES
    ]
    columns = [Column("scored"), Column("archive"), *_columns(plan)]
    short = SCORES[score]
    return ResultTable(f"{NAME}-archives-{short.lower()}", say(NAME, "archives", short=short), columns, rows)


def _columns(plan: Plan) -> list[Column]:
    return [*(Column(name) for name in plan.among()), Column("mean")]


def _row(plan: Plan, means: Means, score: str, row: str, column: str) -> list[float | None]:
    """Return a number for every data set, and their mean if there is one for each."""
    found = [means.get((data_set, score, row, column)) for data_set in plan.among()]
    known = [value for value in found if value is not None]
    return [*found, statistics.fmean(known) if known and len(known) == len(found) else None]


def _differences(means: Means, row: str, column: str, other: str) -> dict[str, list[float]]:
    """Return for every score by how much a column is above another, on every data set that has both."""
    return {
        score: [
            value - means[data_set, score, row, other]
            for (data_set, of, in_row, here), value in means.items()
            if (of, in_row, here) == (score, row, column) and (data_set, score, row, other) in means
        ]
        for score in SCORES
    }


def _shown(found: Mapping[str, tuple[Means, str, str, str]]) -> str:
    """Return mean differences (Macro / Micro / Label-set) under their names, where there are any."""
    said = []
    for name, asked in found.items():
        by = _differences(*asked)
        if all(by.values()):
            said.append(f"*{name}* {' / '.join(f'{statistics.fmean(values):+.3f}' for values in by.values())}")
    return "; ".join(said)


def _gains(means: Means) -> Iterator[str]:
    shown = _shown({change: (means, change, TRACKING, OWN) for change in CHANGED})
    if shown:
        yield say(NAME, "gains", shown=shown)
    drifting = [by for change in CHANGED[1:] for by in _differences(means, change, TRACKING, OWN)["macro_gmean"]]
    if drifting:
        better = sum(by > 0 for by in drifting)
        yield say(NAME, "better", better=better, count=len(drifting), least=min(drifting), most=max(drifting))


def _told_gains(means: Means) -> Iterator[str]:
    shown = _shown({change: (means, change, TOLD, TRACKING) for change in CHANGED[1:]})
    if shown:
        yield say(NAME, "told", shown=shown)


def _archive_gains(means: Means) -> Iterator[str]:
    for part in (BEGINNING, WHOLE):
        shown = _shown({archive: (means, part, archive, NO_ARCHIVE) for archive in ARCHIVES[1:]})
        if shown:
            yield say(NAME, "archived", part=part, shown=shown)


def _picture(plan: Plan, results: Results) -> Drawn:
    data_set = PICTURED if PICTURED in plan.among() else next(iter(plan.among()), PICTURED)
    curves = {
        "no drift": (plan.real(data_set, METHOD), drawing.FAINT),
        OWN: (_changed(plan, data_set, SWAPPED, OWN)[0], drawing.BLUE),
        TRACKING: (_changed(plan, data_set, SWAPPED, TRACKING)[0], drawing.VERMILION),
    }
    with drawing.new_figure(8, 3.6) as figure:
        axes: Axes = figure.subplots()
        rows = results.rows(curves[TRACKING][0])
        lines = {name: (_macro(results, run), colour) for name, (run, colour) in curves.items()}
        if rows and all(len(line) for line, _ in lines.values()):
            _draw(axes, rows[0], lines)
            axes.set_title(f"{data_set}, labels swapped")
            figure.legend(loc="outside upper center", ncols=len(lines) + 1)
        else:
            drawing.not_run(axes, data_set)
    return Drawn(NAME, say(NAME, "caption", parts=PARTS), figure)


def _macro(results: Results, run: Run) -> Floats:
    """Return the Macro-G-Mean in a short window after every example."""
    for arrays in results.traces(run, "pred", "truth"):
        truth, pred = arrays["truth"], arrays["pred"]
        window = max(1, len(truth) // PARTS)
        return Scores(truth.shape[1], window=window).update_many(truth, pred, trace=True)[:, 0]
    return np.zeros(0)


def _draw(axes: Axes, row: dict[str, Any], lines: Mapping[str, tuple[Floats, str]]) -> None:
    """Draw the curves around the first drift, and below them a mark wherever a label inherited."""
    swaps = sorted({time for times in row["true_drifts"].values() for time in times})
    begin, end = _around(swaps, row["examples"])
    for name, (line, colour) in lines.items():
        axes.plot(np.arange(begin, end), line[begin:end], color=colour, label=name)
    drawing.mark_drifts(axes, [time for time in swaps if begin <= time < end])
    times = [time for events in row["inherited"].values() for time, *_ in events if begin <= time < end]
    low = min(float(line[begin:end].min()) for line, _ in lines.values())
    axes.plot(times, [low - 0.03] * len(times), "|", color=drawing.VERMILION, alpha=0.6, label="a label inherits")
    axes.set(xlabel="example", ylabel="Macro-G-Mean", xlim=(begin, end))


def _around(swaps: Sequence[int], examples: int) -> tuple[int, int]:
    """Return the examples that are drawn: some before the first swap, and as far as the next one at most."""
    first = swaps[0] if swaps else 0
    following = swaps[1] if len(swaps) > 1 else examples
    return max(0, first - examples // 8), following


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page)
