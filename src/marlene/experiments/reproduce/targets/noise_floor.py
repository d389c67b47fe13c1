"""Beyond the paper: what every measure gives to an answer that ignores the features."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from marlene.experiments.reproduce._measures import (
    GMEANS,
    LABEL_SET,
    MEASURES,
    MICRO,
    OURS,
    fitting,
    predicted_for_true,
)
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, FEW_SEEDS, PAPER_DATA_SETS
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import code, listed, say
from marlene.experiments.reproduce.targets._constants import CONSTANT, constants_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce.targets._constants import Floor

NAME = "noise-floor"
GUESSES = ("prior", "coin")
METHODS = (OURS, BR, "ebr")
FITTING = f"{OURS}, fitting objective"


def runs(plan: Plan) -> Iterator[Run]:
    """Return guesses, a few methods, and Marlene with every objective."""
    plain = itertools.product(plan.among(), (*GUESSES, *METHODS))
    fit = (fitting(plan, *cell) for cell in itertools.product(plan.among(), MEASURES))
    return plan.seeded([*itertools.starmap(plan.real, plain), *(run for run in fit if run is not None)], FEW_SEEDS)


def page(plan: Plan, results: Results) -> Page:
    """Return a table for every data set, and what they show."""
    floors = {name: constants_of(results, plan.real(name, GUESSES[0])) for name in plan.among()}
    tables = [_table(plan, results, name, floors[name]) for name in plan.among()]
    findings = [*_highest(floors), *_above(plan, results, floors)]
    shown = predicted_for_true(plan, results, plan.among())
    findings += [say(NAME, "counts", shown=shown)] if shown else []
    return Page(findings or [say(NAME, "none")], tables, notes=plan.notes(NAME, guesses=code(GUESSES)))


def _table(plan: Plan, results: Results, data_set: str, floor: Floor) -> ResultTable:
    fit = [fitting(plan, data_set, measure) for measure in MEASURES]
    cells: list[Value] = [floor[measure].value if floor else None for measure in MEASURES]
    rows: list[list[Value]] = [[CONSTANT, *cells, "", ""]]
    if floor:
        rows.append(["its number of labels", *(floor[measure].labels for measure in MEASURES), "", ""])
    for method in (*GUESSES, *METHODS):
        run = plan.real(data_set, method)
        cells = [results.cell(run, measure.column) for measure in MEASURES]
        rows.append([method, *cells, results.cell(run, "labels_predicted"), results.said_seeds([run])])
    cells = [
        None if run is None else results.cell(run, measure.column) for run, measure in zip(fit, MEASURES, strict=True)
    ]
    rows.append([FITTING, *cells, "", results.said_seeds(run for run in fit if run is not None)])
    true = results.mean(plan.real(data_set, GUESSES[0]), "labels_true")
    columns = [Column("answer"), *(Column(one.name, one.digits, best=one.best) for one in MEASURES)]
    columns += [Column("labels predicted", 2), Column("seeds")]
    caption = say(NAME, "caption", data_set=data_set, true="?" if true is None else f"{true:.2f}")
    return ResultTable(f"{NAME}-{data_set}", caption, columns, rows)


def _highest(floors: dict[str, Floor]) -> Iterator[str]:
    """Say how high a constant answer comes by the G-Means that let it."""
    for measure in (MICRO, LABEL_SET):
        found = {name: floor[measure] for name, floor in floors.items() if floor}
        if found:
            most = max(found, key=lambda name: found[name].value)
            shown = ", ".join(f"{name} {one.value:.3f}" for name, one in found.items())
            yield say(NAME, "highest", measure=measure.name, most=most, labels=found[most].labels, shown=shown)


def _above(plan: Plan, results: Results, floors: dict[str, Floor]) -> Iterator[str]:
    """Say in how many cells each method is above constant and guesses."""
    for method in (*METHODS, FITTING):
        missed, count = [], 0
        for name, measure in itertools.product(plan.among(), MEASURES):
            run = fitting(plan, name, measure) if method == FITTING else plan.real(name, method)
            value = None if run is None else results.mean(run, measure.column)
            guesses = [results.mean(plan.real(name, guess), measure.column) for guess in GUESSES]
            rivals = [guess for guess in guesses if guess is not None]
            rivals += [floors[name][measure].value] if floors[name] else []
            if value is None or not rivals:
                continue
            count += 1
            if not all(measure.better(value, rival) for rival in rivals):
                missed.append((name, measure))
        if count:
            cells = listed(f"{measure.name} on {name}" for name, measure in missed)
            gmeans = sum(measure in GMEANS for _, measure in missed)
            above = count - len(missed)
            said = say(NAME, "above", method=method, above=above, count=count)
            below = say(NAME, "below", missed=cells, gmeans=gmeans, count=len(missed))
            yield f"{said} {below}" if missed else said


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page, most_seeds=FEW_SEEDS)
