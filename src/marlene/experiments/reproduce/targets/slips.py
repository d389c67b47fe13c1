"""The methods compared with in the paper, with what the published programs do otherwise, beside the printed rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.experiments import paper
from marlene.experiments.program import PROGRAM
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._real_data import NEAR
from marlene.experiments.reproduce._table import Column, ResultTable, Value, papers
from marlene.experiments.reproduce._words import SCORES, compare, say
from marlene.metrics import Scores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene._common.arrays import Arrays
    from marlene.experiments.reproduce._plan import Plan

NAME = "slips"
DATA_SETS = ("yeast", "slashdot")
NUMERIC = {"features": "numeric"}
SHIFT = "shift"
SETTINGS: dict[str, list[str]] = {
    "ebr": ["weka"],
    "ecc": ["hard"],
    "eps": ["meka", "bare", "meka bare"],
    "ert": ["normalised", "unsplit", "normalised unsplit"],
    "eabr": ["weka"],
    "eacc": ["hard"],
    "eaps": ["meka", "bare", "meka bare"],
    "gobr": [SHIFT, "largest", "undivided", "weka", "shift undivided", "shift undivided weka"],
    "gocc": [SHIFT, "largest", "undivided", "hard", "shift undivided", "shift undivided hard"],
    "gops": [
        *(SHIFT, "largest", "undivided", "meka", "bare"),
        *("shift undivided", "shift undivided meka", "shift undivided meka bare"),
    ],
    "gort": [SHIFT, "largest", "undivided", "unsplit", "shift undivided", "shift undivided unsplit"],
}
"""Switches that are tried, those of a setting with spaces between, beside no switch at all."""


def runs(plan: Plan) -> Iterator[Run]:
    """Return every setting on the data sets, with one seed."""
    for data_set in plan.among(DATA_SETS):
        for method, settings in SETTINGS.items():
            yield from plan.seeded((_run(plan, data_set, method, setting) for setting in ["", *settings]), 1)


def page(plan: Plan, results: Results) -> Page:
    """Return a table for each data set."""
    findings: list[str] = []
    tables: list[ResultTable] = []
    for data_set in plan.among(DATA_SETS):
        table, nearest = _table(plan, results, data_set)
        tables.append(table)
        near = [f"`{method}` ({setting})" for method, (setting, off) in nearest.items() if abs(off) <= NEAR]
        far = [f"`{method}` ({setting}, {off:+.3f})" for method, (setting, off) in nearest.items() if abs(off) > NEAR]
        if nearest:
            findings.append(compare(NAME, "explained", data_set=data_set, near=NEAR, rows=", ".join(near) or "none"))
            findings.append(compare(NAME, "open", data_set=data_set, rows=", ".join(far) or "none"))
    return Page(findings or [say(NAME, "none")], tables, notes=plan.notes(NAME))


def shifted(arrays: Arrays) -> list[float]:
    """Return the three G-Means if predictions are scored against the labels of |D|/20 + 1 examples before."""
    pred, truth = arrays["pred"], arrays["truth"]
    apart = len(pred) // 20 + 1
    scores = Scores(truth.shape[1], window=max(1, len(pred) // 10))
    steps = scores.update_many(truth[:-apart], pred[apart:], trace=True)
    return [float(value) for value in steps.mean(axis=0)[: len(SCORES)]]


def _run(plan: Plan, data_set: str, method: str, setting: str) -> Run:
    """Return the run of a setting; the shift is a matter of scoring alone."""
    switches = {switch: True for switch in setting.split() if switch != SHIFT}
    return plan.real(data_set, f"{PROGRAM}{method}" if switches else method, switches, NUMERIC)


def _values(plan: Plan, results: Results, data_set: str, method: str, setting: str) -> list[float]:
    """Return the scores of a setting; nothing if it was not run."""
    run = _run(plan, data_set, method, setting)
    if SHIFT in setting.split():
        return next(map(shifted, results.traces(run, "pred", "truth", seeds=(1,))), [])
    means = [results.mean(run, score, (1,)) for score in SCORES]
    return [mean for mean in means if mean is not None]


def _table(plan: Plan, results: Results, data_set: str) -> tuple[ResultTable, dict[str, tuple[str, float]]]:
    """Return the table of a data set, and for every method the nearest setting with its largest difference."""
    rows: list[list[Value]] = []
    nearest: dict[str, tuple[str, float]] = {}
    bold: set[tuple[int, int]] = set()
    for method, settings in SETTINGS.items():
        printed = paper.scores(method, data_set)
        found: dict[int, tuple[str, float]] = {}
        for setting in ["", *settings]:
            values = _values(plan, results, data_set, method, setting)
            off = [ours - theirs for ours, theirs in zip(values, printed, strict=False)]
            largest = max(off, key=abs) if off else None
            name = " + ".join(setting.split()) or "nothing"
            if largest is not None:
                found[len(rows)] = (name, largest)
            cells: list[Value] = [*values] if values else [None] * len(SCORES)
            rows.append([method, name, *cells, *printed, largest])
        if found:
            best = min(found, key=lambda row: abs(found[row][1]))
            nearest[method] = found[best]
            bold |= set() if plan.quick else {(best, 1)}
    columns = [Column("method"), Column("switches"), *(Column(short) for short in SCORES.values())]
    columns += [*(papers(short) for short in SCORES.values()), Column("largest difference", compares=True)]
    caption = say(NAME, "caption", data_set=data_set)
    return ResultTable(f"{NAME}-{data_set}", caption, columns, rows, bold=bold), nearest


TARGET = ReproduceTarget(NAME, DATA_SETS, runs, page, most_seeds=1)
