"""BR-MARLENE with and without transfer, with the paper's detector and with published settings."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from marlene.experiments import paper
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, PAPER_DATA_SETS, RESAMPLED, Plan
from marlene.experiments.reproduce._real_data import NEAR, PUBLISHED_ROW, RealData
from marlene.experiments.reproduce._table import Column, ResultTable, Value, papers
from marlene.experiments.reproduce._words import SCORES, compare, listed, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


NAME = "table-br-marlene"
SETTINGS: dict[str, Callable[[Plan, str, str], Run]] = {"detecting": Plan.real, "published": Plan.published}


def runs(plan: Plan) -> Iterator[Run]:
    """Return both methods with both settings on every data set."""
    cells = itertools.product(plan.data_sets, SETTINGS.values(), (BR, RESAMPLED))
    return plan.seeded(make(plan, data_set, method) for data_set, make, method in cells)


def page(plan: Plan, results: Results) -> Page:
    """Return a table for each of the settings."""
    real = RealData(plan, results)
    findings = [_judgement(*item) for item in zip(SETTINGS, map(real.over_paper, (BR, PUBLISHED_ROW)), strict=True)]
    tables = [_table(plan, results, setting) for setting in SETTINGS]
    return Page(findings, tables, notes=plan.notes(NAME, settings=" ".join(paper.CLOSEST_SETTINGS)))


def _table(plan: Plan, results: Results, setting: str) -> ResultTable:
    columns = [Column("data set"), Column("method"), *(Column(short) for short in SCORES.values())]
    columns += [Column("± Macro", absent=""), Column("drifts", 1), Column("CPU s", 2)]
    columns += [*(papers(short) for short in SCORES.values()), Column("seeds")]
    rows: list[list[Value]] = []
    for data_set in plan.data_sets:
        for method in (BR, RESAMPLED):
            run = SETTINGS[setting](plan, data_set, method)
            cells: list[Value] = [results.cell(run, score) for score in SCORES]
            cells += [results.half_width(run, "macro_gmean")]
            cells += [results.cell(run, column) for column in ("drifts", "learn_seconds")]
            cells += [paper.score(method, data_set, score) for score in SCORES]
            rows.append([data_set, method, *cells, results.said_seeds([run])])
    caption = say(NAME, "caption", setting=setting.capitalize())
    return ResultTable(f"{NAME}-{setting}", caption, columns, rows)


def _judgement(setting: str, differences: dict[str, float]) -> str:
    """Say in which cells BR-MARLENE is above the paper, and in which clearly below."""
    if not differences:
        return say(NAME, "none", setting=setting)
    above = sum(by > 0 for by in differences.values())
    below = [f"{cell} ({by:+.3f})" for cell, by in differences.items() if by < -NEAR]
    sizes = {"above": above, "count": len(differences), "near": NEAR, "below": len(below)}
    return compare(NAME, "judgement", setting=setting, cells=listed(below), **sizes)


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page)
