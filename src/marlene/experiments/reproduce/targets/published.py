"""Beyond the paper: `Marlene` beside methods that others have published, by the measures of that comparison."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from marlene.experiments import published
from marlene.experiments.reproduce import _measures as measures
from marlene.experiments.reproduce._measures import OURS, Measure, fitting, predicted_for_true
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import FEW_SEEDS, rivals
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import Comparison, compare, listed, say
from marlene.experiments.reproduce.targets._constants import CONSTANT, constants_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce.targets._constants import Floor

NAME = "published"
MEASURES: dict[str, Measure] = {
    "micro_f1": measures.MICRO_F1,
    "macro_f1": measures.MACRO_F1,
    "example_f1": measures.EXAMPLE_F1,
    "subset_acc": measures.SUBSET,
    "hamming": measures.HAMMING,
}
"""The published measures that are compared, and how we name and measure them."""
OWN_VERSION = "mlhat"
"""The rival that is our version of a published method."""
DIGITS = 4
"""As many as are published."""


def runs(plan: Plan) -> Iterator[Run]:
    """Return Marlene with the objective that fits each measure, and with its default; and its rivals."""
    cells = itertools.product(plan.among(published.DATA_SETS), MEASURES.values())
    fit = [run for cell in cells if (run := fitting(plan, *cell)) is not None]
    default = [plan.real(data_set, OURS) for data_set in plan.among(published.DATA_SETS)]
    others = [plan.real(*cell) for cell in itertools.product(plan.among(published.DATA_SETS), rivals())]
    return plan.seeded([*default, *fit, *others], FEW_SEEDS)


def page(plan: Plan, results: Results) -> Page:
    """Return a table for each measure, one of labels and probabilities, and how often the best of all is passed."""
    names = plan.among(published.DATA_SETS)
    floors = {name: constants_of(results, plan.real(name, OURS)) for name in names}
    findings = [_passed(plan, results, measure) for measure in MEASURES]
    findings += [_passed_by(plan, results, rival) for rival in rivals()]
    findings += _beside_its_own(plan, results)
    findings += [compare(NAME, "constant", cells=listed(cells))] if (cells := _constant_passes(floors)) else []
    shown = predicted_for_true(plan, results, names)
    findings.append(say(NAME, "counts", shown=shown) if shown else say(NAME, "no-counts"))
    tables = [_table(plan, results, floors, measure) for measure in MEASURES]
    return Page(findings, [*tables, _decisions(plan, results, names)], notes=plan.notes(NAME))


def _fitting(plan: Plan, results: Results, data_set: str, measure: str) -> float | None:
    """Return our mean with the objective that fits a measure."""
    run = fitting(plan, data_set, MEASURES[measure])
    return None if run is None else results.mean(run, MEASURES[measure].column)


def _passed(plan: Plan, results: Results, measure: str) -> str:
    """Say on how many data sets the best of the published methods is passed."""
    ours = MEASURES[measure]
    found = {name: _fitting(plan, results, name, measure) for name in plan.among(published.DATA_SETS)}
    there = {name: value for name, value in found.items() if value is not None}
    if not there:
        return say(NAME, "none", name=ours.name, objective=ours.objective)
    missed = []
    for name, value in there.items():
        method, theirs = published.best(name, measure)
        if not ours.better(value, theirs):
            missed.append(f"{name} ({value:.{DIGITS}f}, {method} {theirs:.{DIGITS}f})")
    counts = {"passed": len(there) - len(missed), "count": len(there), "methods": len(published.METHODS)}
    said = compare(NAME, "passed", name=ours.name, objective=ours.objective, **counts)
    return Comparison(" ".join([said, say(NAME, "missed", missed=listed(missed))])) if missed else said


def _passed_by(plan: Plan, results: Results, rival: str) -> str:
    """Say by which measures and on which data sets a rival passes Marlene with the objective that fits."""
    cells, count, by_default = [], 0, 0
    for (measure, ours), name in itertools.product(MEASURES.items(), plan.among(published.DATA_SETS)):
        value, theirs = _fitting(plan, results, name, measure), results.mean(plan.real(name, rival), ours.column)
        if value is None or theirs is None:
            continue
        count += 1
        default = results.mean(plan.real(name, OURS), ours.column)
        by_default += default is not None and ours.better(theirs, default)
        if ours.better(theirs, value):
            cells.append(f"{ours.name} on {name} ({theirs:.{DIGITS}f}, Marlene {value:.{DIGITS}f})")
    if not count:
        return say(NAME, "rival-not-run", rival=rival)
    said = say(NAME, "rival", rival=rival, passed=len(cells), count=count, default=by_default)
    return " ".join([said, say(NAME, "rival-cells", cells=listed(cells))]) if cells else said


def _beside_its_own(plan: Plan, results: Results) -> list[str]:
    """Say where our version of a published method is worse than the published figures, and where it is most above."""
    off: dict[str, float] = {}
    worse = []
    for (measure, ours), name in itertools.product(MEASURES.items(), plan.among(published.DATA_SETS)):
        value, theirs = results.mean(plan.real(name, OWN_VERSION), ours.column), _printed(name, measure)
        if value is not None:
            off[f"{ours.name} on {name}"] = value - theirs if ours.best == "max" else theirs - value
            if not ours.better(value, theirs):
                worse.append(f"{ours.name} on {name} ({value:.{DIGITS}f}, published {theirs:.{DIGITS}f})")
    if not off:
        return []
    most = max(off, key=off.__getitem__)
    told = {"better": len(off) - len(worse), "count": len(off), "most": most, "by": off[most], "worse": listed(worse)}
    return [compare(NAME, "own-version", method=OWN_VERSION, published=OWN_VERSION.upper(), **told)]


def _printed(data_set: str, measure: str) -> float:
    return published.scores()[data_set, OWN_VERSION.upper(), measure]


def _constant_passes(floors: dict[str, Floor]) -> list[str]:
    """Return the cells in which a constant answer passes the best of the published methods."""
    cells = []
    for (name, floor), (measure, ours) in itertools.product(floors.items(), MEASURES.items()):
        method, theirs = published.best(name, measure)
        value = floor[ours].value if ours in floor else None
        if value is not None and ours.better(value, theirs):
            cells.append(f"{ours.name} on {name} ({value:.{DIGITS}f}, {method} {theirs:.{DIGITS}f})")
    return cells


def _table(plan: Plan, results: Results, floors: dict[str, Floor], measure: str) -> ResultTable:
    ours, names = MEASURES[measure], list(floors)
    fit = [fitting(plan, name, ours) for name in names]
    rows: list[list[Value]] = [
        [
            f"{OURS}, objective {ours.objective}",
            *(None if run is None else results.cell(run, ours.column) for run in fit),
            results.said_seeds(run for run in fit if run is not None),
        ],
        [
            f"{OURS}, default",
            *(results.cell(plan.real(name, OURS), ours.column) for name in names),
            results.said_seeds(plan.real(name, OURS) for name in names),
        ],
    ]
    for rival in rivals():
        theirs = [plan.real(name, rival) for name in names]
        rows.append([rival, *(results.cell(run, ours.column) for run in theirs), results.said_seeds(theirs)])
    rows.append([CONSTANT, *(floor[ours].value if ours in floor else None for floor in floors.values()), ""])
    printed = range(len(rows), len(rows) + len(published.METHODS))
    rows += [
        [method, *(published.scores().get((name, method, measure), published.UNFINISHED) for name in names), ""]
        for method in published.METHODS
    ]
    columns = [Column("method"), *(Column(name, DIGITS, best=ours.best) for name in names), Column("seeds")]
    caption = say(NAME, "caption", name=ours.name, objective=ours.objective)
    return ResultTable(f"{NAME}-{measure.replace('_', '-')}", caption, columns, rows, theirs=printed)


def _decisions(plan: Plan, results: Results, names: list[str]) -> ResultTable:
    """Show how many labels every objective predicts, and how reliable the probabilities are."""
    rows: list[list[Value]] = []
    for name in names:
        default = plan.real(name, OURS)
        fit = [fitting(plan, name, measure) for measure in MEASURES.values()]
        predicted = [None if run is None else results.cell(run, "labels_predicted") for run in (default, *fit)]
        rows.append(
            [name, results.cell(default, "labels_true"), *predicted, results.cell(default, "calibration_error")]
        )
    columns = [Column("data set"), Column("true", 2), Column("default", 2)]
    columns += [Column(measure.objective, 2) for measure in MEASURES.values()]
    columns.append(Column("calibration error"))
    return ResultTable(f"{NAME}-decisions", say(NAME, "decisions"), columns, rows)


TARGET = ReproduceTarget(NAME, published.DATA_SETS, runs, page, most_seeds=FEW_SEEDS)
