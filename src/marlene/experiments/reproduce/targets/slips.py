"""The methods compared with in the paper, with what the published programs do otherwise, beside the printed rows."""

from __future__ import annotations

from dataclasses import dataclass
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
UNSPLIT, CONSTANT_LABELS = "unsplit", ("slashdot",)
"""Multi-target trees of the program never split if a label is constant, as two labels of this data set are."""
UNCHANGED = "nothing"
OVER_RELEVANCE = [SHIFT, "largest", "undivided", "shift largest", "shift undivided"]
SETTINGS: dict[str, list[str]] = {
    "ebr": ["weka"],
    "ecc": ["hard", "weka", "hard weka"],
    "eps": ["meka", "bare", "meka bare"],
    "ert": ["normalised", "unsplit", "normalised unsplit"],
    "eabr": ["weka"],
    "eacc": ["hard", "weka", "hard weka"],
    "eaps": ["meka", "bare", "meka bare"],
    "gobr": [*OVER_RELEVANCE, "weka", "shift undivided weka"],
    "gocc": [
        *(*OVER_RELEVANCE, "hard", "weka", "shift undivided hard"),
        *("shift undivided weka", "shift undivided hard weka"),
    ],
    "gops": [*OVER_RELEVANCE, "meka", "bare", "shift undivided meka", "shift undivided meka bare"],
    "gort": [*OVER_RELEVANCE, "unsplit", "shift undivided unsplit"],
}
"""Switches that are tried, those of a setting with spaces between, beside no switch at all."""


@dataclass(frozen=True)
class Reason:
    """What a printed row comes from.

    Parameters
    ----------
    row
        The row of the table that has it.
    switches
        What explains it.
    off
        The largest difference that is left.
    """

    row: int
    switches: str
    off: float

    @property
    def near(self) -> bool:
        """Whether it explains the printed row."""
        return abs(self.off) <= NEAR


def tried(method: str, data_set: str) -> list[str]:
    """Return the settings that are tried on a data set, the one without switches first."""
    return ["", *(one for one in SETTINGS[method] if UNSPLIT not in one.split() or data_set in CONSTANT_LABELS)]


def runs(plan: Plan) -> Iterator[Run]:
    """Return every setting on the data sets, with one seed."""
    for data_set in plan.among(DATA_SETS):
        for method in SETTINGS:
            yield from plan.seeded((_run(plan, data_set, method, setting) for setting in tried(method, data_set)), 1)


def page(plan: Plan, results: Results) -> Page:
    """Return what explains each row, and a table for each data set."""
    made = {data_set: _table(plan, results, data_set) for data_set in plan.among(DATA_SETS)}
    findings = [said for data_set, (_, reasons) in made.items() for said in _findings(data_set, reasons)]
    summary = [] if plan.quick else [_summary({name: reasons for name, (_, reasons) in made.items()})]
    tables = [*summary, *(table for table, _ in made.values())]
    return Page(findings or [say(NAME, "none")], tables, notes=plan.notes(NAME))


def _findings(data_set: str, reasons: dict[str, Reason]) -> Iterator[str]:
    """Say which rows are near without switches, which with them, and which are not explained."""
    groups: dict[str, list[str]] = {"unchanged": [], "explained": [], "open": []}
    for method, reason in reasons.items():
        name = "open" if not reason.near else "unchanged" if reason.switches == UNCHANGED else "explained"
        said = {
            "unchanged": "",
            "explained": f" ({reason.switches})",
            "open": f" ({reason.switches}, {reason.off:+.3f})",
        }
        groups[name].append(f"`{method}`{said[name]}")
    if reasons:
        for name, rows in groups.items():
            yield compare(NAME, name, data_set=data_set, near=NEAR, rows=", ".join(rows) or "none")


def _summary(every: dict[str, dict[str, Reason]]) -> ResultTable:
    columns = [Column("method")]
    for data_set in every:
        columns += [Column(data_set, compares=True), Column(f"{data_set}: largest difference", compares=True)]
    rows: list[list[Value]] = []
    for method in SETTINGS:
        found = [reasons.get(method) for reasons in every.values()]
        rows.append([method, *(value for one in found for value in ((one.switches, one.off) if one else (None, None)))])
    return ResultTable(f"{NAME}-summary", say(NAME, "summary", near=NEAR), columns, rows)


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


def _chosen(found: list[Reason]) -> Reason:
    """Return the reason with the fewest switches of those that are near, if none is the nearest."""
    near = [one for one in found if one.near]
    if not near:
        return min(found, key=lambda one: abs(one.off))
    return min(near, key=lambda one: (one.switches != UNCHANGED, one.switches.count("+"), abs(one.off)))


def _table(plan: Plan, results: Results, data_set: str) -> tuple[ResultTable, dict[str, Reason]]:
    """Return the table of a data set, and what explains the printed row of every method best."""
    rows: list[list[Value]] = []
    reasons: dict[str, Reason] = {}
    bold: set[tuple[int, int]] = set()
    for method in SETTINGS:
        printed = paper.scores(method, data_set)
        found: list[Reason] = []
        for setting in tried(method, data_set):
            values = _values(plan, results, data_set, method, setting)
            off = [ours - theirs for ours, theirs in zip(values, printed, strict=False)]
            largest = max(off, key=abs) if off else None
            name = " + ".join(setting.split()) or UNCHANGED
            if largest is not None:
                found.append(Reason(len(rows), name, largest))
            cells: list[Value] = [*values] if values else [None] * len(SCORES)
            rows.append([method, name, *cells, *printed, largest])
        if found:
            reasons[method] = _chosen(found)
            bold |= set() if plan.quick else {(reasons[method].row, 1)}
    columns = [Column("method"), Column("switches"), *(Column(short) for short in SCORES.values())]
    columns += [*(papers(short) for short in SCORES.values()), Column("largest difference", compares=True)]
    caption = say(NAME, "caption", data_set=data_set)
    return ResultTable(f"{NAME}-{data_set}", caption, columns, rows, bold=bold), reasons


TARGET = ReproduceTarget(NAME, DATA_SETS, runs, page, most_seeds=1)
