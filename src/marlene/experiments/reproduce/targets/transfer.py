"""Beyond the paper: what `Marlene` gains from other labels when labels drift, and from an archive."""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.experiments._grid import NO_ARCHIVE, WARM
from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce import _gate as gate
from marlene.experiments.reproduce._page import Drawn, Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import FEW_SEEDS, PAPER_DATA_SETS, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import SCORES, say
from marlene.experiments.reproduce.targets import _transfer_figure as transfer_figure
from marlene.metrics import Scores
from marlene.streams.archives import NOISE, RENAMED, SAME
from marlene.streams.changes import CHANGES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
GATES = {how: f"{how} (recorded)" for how in gate.HOW}
"""Rows of what the gate had that tracking replaced."""
ANOTHER = "another data set"
ARCHIVES = (NO_ARCHIVE, WARM, SAME, RENAMED, NOISE, ANOTHER)
BEGINNING, WHOLE = "first 5 %", "whole"
PICTURED = gate.CURVE_OF
PARTS = 40
"""The window of the picture is one part in this many of the stream."""
NO_DRIFT, WITHOUT = "no drift", "without transfer (own)"
STYLES: dict[str, dict[str, Any]] = {
    NO_DRIFT: {"color": drawing.FAINT, "linestyle": (0, (4, 1.5))},
    WITHOUT: {"color": drawing.BLUE},
    TRACKING: {"color": drawing.VERMILION, "linewidth": 2.2},
    GATES[gate.GATE]: {"color": drawing.GREEN},
}
"""How the curves of the picture are drawn."""


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
    findings = [*_gains(drifts), *_gate_gains(drifts), *_told_gains(drifts), *_archive_gains(archives)]
    notes = plan.notes(NAME, seeds=len(_seeds(plan)))
    notes += [say(NAME, "gate_note")] if _is_comparable(plan) else []
    return Page(findings or [say(NAME, "none")], tables, [_picture(plan, results)], notes)


def _seeds(plan: Plan) -> tuple[int, ...]:
    """Return the seeds of random changes and archives: `Marlene` itself is not random."""
    return plan.seeds[:FEW_SEEDS]


def _is_comparable(plan: Plan) -> bool:
    """Tell whether the plan has the streams on which the gate was recorded."""
    return plan.limit is None and _seeds(plan) == gate.SEEDS


def _another(data_set: str) -> str:
    """Return the data set that is another one's archive."""
    return "slashdot" if data_set == "ohsumed" else "ohsumed"


def _changed(plan: Plan, data_set: str, change: str, how: str) -> list[Run]:
    """Return a run for every seed of a change; only one if the change is not random, none if nothing can be told."""
    if change == AS_IT_IS:
        return [] if how == TOLD else [plan.real(data_set, METHOD, OPTIONS[how])]
    told = {"told": True} if how == TOLD else {}
    kinds = [{"change_seed": seed} for seed in _seeds(plan)] if CHANGES[change].random else [{}]
    return [plan.real(data_set, METHOD, OPTIONS[how], {"change": change} | kind | told) for kind in kinds]


def _archived(plan: Plan, data_set: str, archive: str) -> list[Run]:
    """Return a run for every seed of noise, otherwise one; none if there is no other data set."""
    if archive == ANOTHER:
        archive = _another(data_set)
        if archive not in plan.data_sets:
            return []
    kinds = [{"archive_seed": seed} for seed in _seeds(plan)] if archive == NOISE else [{}]
    return [plan.real(data_set, METHOD, {}, {"archive": archive} | kind) for kind in kinds]


def _archives(plan: Plan) -> list[str]:
    """Return the archives that at least one data set has."""
    return [archive for archive in ARCHIVES if any(_archived(plan, data_set, archive) for data_set in plan.among())]


def _drift_means(plan: Plan, results: Results) -> Means:
    """Return the mean scores over the repetitions of every change that was run, and what the gate had."""
    means: Means = {}
    if _is_comparable(plan):
        means = {
            (data_set, score, change, GATES[how]): value
            for (data_set, score, change, how), value in gate.scores().items()
            if data_set in plan.among()
        }
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
        for change, how in itertools.product(CHANGED, (*OPTIONS, *GATES.values()))
        if (how in OPTIONS and (change, how) != (AS_IT_IS, TOLD))
        or any((data_set, score, change, how) in means for data_set in plan.among())
    ]
    columns = [Column("labels"), Column("transfer"), *_columns(plan)]
    short = SCORES[score]
    return ResultTable(f"{NAME}-drifts-{short.lower()}", say(NAME, "drifts", short=short), columns, rows)


def _archive_table(plan: Plan, means: Means, score: str) -> ResultTable:
    rows: list[list[Value]] = [
        [part, archive, *_row(plan, means, score, part, archive)]
        for part, archive in itertools.product((BEGINNING, WHOLE), _archives(plan))
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


def _gate_gains(means: Means) -> Iterator[str]:
    shown = _shown({change: (means, change, TRACKING, GATES[gate.GATE]) for change in CHANGED})
    if shown:
        yield say(NAME, "gate", shown=shown)
    others = {how: (means, SWAPPED, TRACKING, GATES[how]) for how in (gate.TOLD_GATE, gate.NEW_GATE)}
    if _shown(others):
        yield say(NAME, "gate_helped", shown=_shown(others))


def _told_gains(means: Means) -> Iterator[str]:
    shown = _shown({change: (means, change, TOLD, TRACKING) for change in CHANGED[1:]})
    if shown:
        yield say(NAME, "told", shown=shown)


def _archive_gains(means: Means) -> Iterator[str]:
    for part in (BEGINNING, WHOLE):
        shown = _shown({archive: (means, part, archive, NO_ARCHIVE) for archive in ARCHIVES[1:]})
        if shown:
            yield say(NAME, "archived", part=part, shown=shown)
        won = [f"*{archive}* {parts}" for archive in ARCHIVES[2:] if (parts := _won_back(means, part, archive))]
        if won:
            yield say(NAME, "won_back", part=part, shown="; ".join(won))


def _won_back(means: Means, part: str, archive: str) -> str:
    """Return in per cent, for every score, how much an archive gains of what a warm start gains on the same data."""
    shares = []
    for score in SCORES:
        gains = [
            (value - none, means[data_set, score, part, WARM] - none)
            for (data_set, *rest), value in means.items()
            if rest == [score, part, archive]
            and (data_set, score, part, WARM) in means
            and (none := means.get((data_set, score, part, NO_ARCHIVE))) is not None
        ]
        gap = sum(by_warm for _, by_warm in gains)
        shares.append(f"{round(100 * sum(by for by, _ in gains) / gap)} %" if gap > 0 else "no gap")
        if not gains:
            return ""
    return " / ".join(shares)


def _picture(plan: Plan, results: Results) -> Drawn:
    data_set = PICTURED if PICTURED in plan.among() else next(iter(plan.among()), PICTURED)
    runs = {
        NO_DRIFT: plan.real(data_set, METHOD),
        WITHOUT: _changed(plan, data_set, SWAPPED, OWN)[0],
        TRACKING: _changed(plan, data_set, SWAPPED, TRACKING)[0],
    }
    traces = {name: results.traces(run, "pred", "truth") for name, run in runs.items()}
    rows = results.rows(runs[TRACKING])
    with drawing.new_figure(8, 7.6) as figure:
        if not rows or not all(traces.values()):
            drawing.not_run(figure.subplots(), data_set)
            return Drawn(NAME, say(NAME, "not_drawn"), figure)
        curves = {name: _curve(found[0], STYLES[name]) for name, found in traces.items()}
        if _is_comparable(plan) and data_set == gate.CURVE_OF:
            curves[GATES[gate.GATE]] = transfer_figure.Curve(*gate.curve(), STYLES[GATES[gate.GATE]])
        swap = transfer_figure.Swap.of(rows[0], traces[TRACKING][0]["truth"], traces[NO_DRIFT][0]["truth"])
        transfer_figure.draw(figure, data_set, curves, swap)
    found, median = swap.found()
    said = say(NAME, "caption", parts=PARTS, found=found, count=len(swap.labels), median=median)
    return Drawn(NAME, said, figure)


def _curve(arrays: Arrays, style: dict[str, Any]) -> transfer_figure.Curve:
    """Return the Macro-G-Mean in a short window after every example."""
    truth, pred = arrays["truth"], arrays["pred"]
    scores = Scores(truth.shape[1], window=max(1, len(truth) // PARTS))
    values: Floats = scores.update_many(truth, pred, trace=True)[:, 0]
    return transfer_figure.Curve(np.arange(len(values), dtype=float), values, style)


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page)
