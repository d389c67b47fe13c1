"""The authors' program, imitated, beside the paper's row of BR-MARLENE."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from marlene.experiments import paper
from marlene.experiments.program import BR_PROGRAM
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, FEW_SEEDS, PAPER_DATA_SETS, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value, papers
from marlene.experiments.reproduce._words import SCORES, compare, say

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "imitation"
NEAR = 0.01
NUMERIC = {"features": "numeric"}
LARGE = "imdb"
REORDERED = "tmc2007"
ORDERS = (1, 2, 3)
"""Seeds of random orders of the examples."""


def runs(plan: Plan) -> Iterator[Run]:
    """Return the imitation on every data set, and on one of them in other orders."""
    large = [name for name in plan.data_sets if name == LARGE]
    small = [name for name in plan.data_sets if name != LARGE]
    yield from plan.seeded(map(_run, itertools.repeat(plan), small), FEW_SEEDS)
    yield from plan.seeded([*map(_run, itertools.repeat(plan), large), *_orders(plan)], 1)


def page(plan: Plan, results: Results) -> Page:
    """Return one table beside the paper's, and one of the orders."""
    columns = [Column("data set"), *(Column(short) for short in SCORES.values())]
    columns += [
        *(papers(short) for short in SCORES.values()),
        Column("largest difference", compares=True),
        Column("CPU s", 1),
    ]
    rows: list[list[Value]] = []
    far: list[str] = []
    for data_set in plan.data_sets:
        run, printed = _run(plan, data_set), paper.scores(BR, data_set)
        means = [results.mean(run, score) for score in SCORES]
        # 0.0 is added so that no difference is shown as -0.
        off = [round(ours - theirs, 3) + 0.0 for ours, theirs in zip(means, printed, strict=True) if ours is not None]
        largest = max(off, key=abs) if off else None
        far += [data_set] if largest is not None and abs(largest) > NEAR else []
        cells = [results.cell(run, score) for score in SCORES]
        rows.append(
            [data_set, *cells, *printed, largest, results.cell(run, "learn_seconds"), results.said_seeds([run])]
        )
    table = ResultTable(NAME, say(NAME, "caption"), [*columns, Column("seeds")], rows)
    done = sum(row[-3] is not None for row in rows)
    findings = [compare(NAME, "near", count=done, near=NEAR, close=done - len(far))] if done else [say(NAME, "none")]
    if not plan.quick:
        findings += [say(NAME, "order" if name == REORDERED else "unknown", name=name) for name in far]
    tables = [table, *([_order_table(plan, results)] if list(_orders(plan)) else [])]
    return Page(findings, tables, notes=plan.notes(NAME))


def _run(plan: Plan, data_set: str, **stream: int) -> Run:
    return plan.real(data_set, BR_PROGRAM, {}, NUMERIC | stream)


def _orders(plan: Plan) -> Iterator[Run]:
    if REORDERED in plan.among():
        yield from (_run(plan, REORDERED, shuffle=seed) for seed in ORDERS)


def _order_table(plan: Plan, results: Results) -> ResultTable:
    columns = [Column("order"), *(Column(short) for short in SCORES.values())]
    named = {"as in the file": _run(plan, REORDERED)}
    named |= {f"random, seed {seed}": run for seed, run in zip(ORDERS, _orders(plan), strict=True)}
    rows: list[list[Value]] = [[name, *(results.cell(run, s, (1,)) for s in SCORES)] for name, run in named.items()]
    rows.append(["the paper", *paper.scores(BR, REORDERED)])
    return ResultTable(f"{NAME}-orders", say(NAME, "orders", name=REORDERED), columns, rows)


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page, most_seeds=FEW_SEEDS)
