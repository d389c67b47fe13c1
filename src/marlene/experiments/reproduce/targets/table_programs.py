"""The methods compared with in the paper, beside the published programs."""

from __future__ import annotations

import itertools
import math
import statistics
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from marlene.experiments import paper
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._real_data import NEAR
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import SCORES, code, say
from marlene.learners import METHODS
from marlene.streams import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene._common.arrays import Floats
    from marlene.experiments.reproduce._plan import Plan

NAME = "table-programs"
DATA_SETS = tuple(dict.fromkeys(data_set for _, data_set in paper.program_scores()))
SPARSE = "slashdot"
MOST_SEEDS = 5
NUMERIC = {"features": "numeric"}
CHANGES: dict[str, list[dict[str, Any]]] = {
    "pruned-sets": [{"parts": 0}, {"parts": 0, "variance_floor": 0}],
    "multi-target": [{"grace_period": 10**9}],
}
"""Changed options of the methods over a transformation; with so long a grace period a tree never splits."""
LARGEST = math.log10(sys.float_info.max)
PLACES = (1000, 2000, 3500)


def variants() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the methods, and below them those with changed options, by the name of their row."""
    methods = [method for method in METHODS.values() if method.in_paper and not method.proposed]
    found: dict[str, tuple[str, dict[str, Any]]] = {method.name: (method.name, {}) for method in methods}
    for method in methods:
        for options in CHANGES.get(method.transformation or "", []):
            said = ", ".join(f"{name}={value}" for name, value in options.items())
            found[f"{method.name}, {said}"] = (method.name, options)
    return found


def runs(plan: Plan) -> Iterator[Run]:
    """Return every variant on the data sets on which the programs were run, like them with numeric features only."""
    cells = itertools.product(plan.among(DATA_SETS), variants().values())
    every = (plan.real(data_set, method, options, NUMERIC) for data_set, (method, options) in cells)
    return plan.seeded(every, MOST_SEEDS)


def page(plan: Plan, results: Results) -> Page:
    """Return a table for each data set, and one that shows why the programs predict few labels."""
    findings, tables = [], []
    for data_set in plan.among(DATA_SETS):
        table, far = _table(plan, results, data_set)
        tables.append(table)
        findings.append(say(NAME, "far", data_set=data_set, near=NEAR, rows=code(far) or "none"))
    if SPARSE in plan.among():
        tables.append(products(SPARSE))
    return Page(findings or [say(NAME, "none")], tables, notes=plan.notes(NAME))


def _table(plan: Plan, results: Results, data_set: str) -> tuple[ResultTable, list[str]]:
    """Return the table of a data set, and which rows are not close to the program."""
    rows: list[list[Value]] = []
    far = []
    for name, (method, options) in variants().items():
        run = plan.real(data_set, method, options, NUMERIC)
        program = paper.program_scores().get((method, data_set), ())
        ours = [results.mean(run, score) for score in SCORES]
        if any(mean is not None and abs(mean - theirs) > NEAR for mean, theirs in zip(ours, program, strict=False)):
            far.append(name)
        cells = [results.cell(run, column) for column in (*SCORES, "learn_seconds")]
        beside: list[Value] = [*program] or [None] * len(SCORES)
        rows.append([name, *cells, *beside, results.said_seeds([run])])
    columns = [Column("method"), *(Column(short) for short in SCORES.values()), Column("CPU s", 2)]
    columns += [*(Column(f"{short} (program)", absent="") for short in SCORES.values()), Column("seeds")]
    return ResultTable(f"{NAME}-{data_set}", say(NAME, "caption", data_set=data_set), columns, rows), far


def products(data_set: str) -> ResultTable:
    """Show how products of densities, as the Java trees compute them, leave the range of a double."""
    stream = load(data_set, features="numeric")
    X, Y = sp.csr_array(stream.X).toarray(), stream.Y
    rows: list[list[Value]] = []
    for place in PLACES:
        negative, positive = (
            [_log_product(X[:place][Y[:place, q] == y], X[place]) for q in range(Y.shape[1])] for y in (0, 1)
        )
        infinite = sum(value > LARGEST for value in negative)
        zero = sum(value == -math.inf for value in positive)
        rows.append([f"{place:,}", f"10^{statistics.median(negative):.0f}", infinite, zero])
    headings = ("examples", "product of a negative class (median)", "infinite as a double", "0 for the positive class")
    caption = say(NAME, "products", data_set=data_set, labels=Y.shape[1])
    return ResultTable(f"{NAME}-products", caption, [Column(heading) for heading in headings], rows)


def _log_product(seen: Floats, x: Floats) -> float:
    """Return the decimal logarithm of the product of Gaussian densities; a feature without variance has 1 or 0."""
    if len(seen) < 2:
        return 0.0
    mean, variance = seen.mean(axis=0), seen.var(axis=0, ddof=1)
    varies = variance > 0
    if (x[~varies] != mean[~varies]).any():
        return -math.inf
    distance, variance = (x - mean)[varies], variance[varies]
    return float((-0.5 * np.log(2 * np.pi * variance) - distance**2 / (2 * variance)).sum() / np.log(10))


TARGET = ReproduceTarget(NAME, DATA_SETS, runs, page)
