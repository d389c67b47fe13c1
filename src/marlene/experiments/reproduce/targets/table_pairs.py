"""What pairs of labels are worth in BRPW-MARLENE, with every combination of its options."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from marlene.experiments import paper
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, FEW_SEEDS, PAPER_DATA_SETS, PROPOSED, RESAMPLED, WITH_RIVER, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import SCORES, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    Setting = tuple[str, dict[str, Any]]

NAME = "table-pairs"
PAIRS = PROPOSED[1]
LIMITS: dict[str, dict[str, int]] = {"yeast": {}, "slashdot": {}, "tmc2007": {"limit": 3_000}}
"""The data sets with every combination, and how many examples of each are used."""
CHOICES = {
    "combine": ("predicted", "marginal"),
    "weighting": ("true", "predicted"),
    "pooling": ("sum", "mean"),
    "voters": ("all", "own"),
}
BAYES = {"base": "naive-bayes"}
SETTINGS: list[Setting] = [
    (BR, {}),
    (RESAMPLED, {}),
    *((PAIRS, dict(zip(CHOICES, values, strict=True))) for values in itertools.product(*CHOICES.values())),
    (PAIRS, {"pairs": 2}),
    (PAIRS, {"pairs": 2, "pooling": "mean"}),
    (PAIRS, {"pairs": 5}),
    (PAIRS, {"pairs": 5, "voters": "all"}),
    *((PAIRS, BAYES | {"voters": voters}) for voters in CHOICES["voters"]),
    (BR, BAYES),
]
EVERYWHERE: dict[str, Setting] = {
    BR: (BR, {}),
    "all pairs": (PAIRS, {"pairs": "all"}),
    "5 for each label": (PAIRS, {"pairs": 5}),
}


def runs(plan: Plan) -> Iterator[Run]:
    """Return every combination on a few data sets."""
    cells = itertools.product(plan.among(tuple(LIMITS)), SETTINGS)
    return plan.seeded((plan.real(name, *setting, LIMITS[name]) for name, setting in cells), FEW_SEEDS)


def measured(plan: Plan) -> Iterator[Run]:
    """Return three settings on all data sets, once."""
    return (plan.real(data_set, *setting) for data_set in plan.among() for setting in EVERYWHERE.values())


def page(plan: Plan, results: Results) -> Page:
    """Return a table for every data set with all combinations, and one of all data sets."""
    names = plan.among(tuple(LIMITS))
    tables = [_combinations(plan, results, name) for name in names]
    findings = [_ahead(name, table) for name, table in zip(names, tables, strict=True)]
    findings += _everywhere(plan, results)
    alone, pairs = (" / ".join(f"{value:.3f}" for value in paper.scores(name, WITH_RIVER)) for name in PROPOSED)
    return Page(findings, [*tables, _all_sets(plan, results)], notes=plan.notes(NAME, pairs=pairs, alone=alone))


def _combinations(plan: Plan, results: Results, data_set: str) -> ResultTable:
    limit = LIMITS[data_set]
    rows: list[list[Value]] = []
    bold = set()
    for i, (method, options) in enumerate(SETTINGS):
        run = plan.real(data_set, method, options, limit)
        alone = plan.real(data_set, BR, BAYES if "base" in options else {}, limit)
        for j, score in enumerate(SCORES, start=1):
            value, without = results.mean(run, score), results.mean(alone, score)
            if method == PAIRS and value is not None and without is not None and value > without:
                bold.add((i, j))
        words = [*([method] if method != PAIRS else []), *(f"{name}={value}" for name, value in options.items())]
        cells = [results.cell(run, score) for score in SCORES]
        rows.append([", ".join(words), *cells, results.said_seeds([run])])
    examples = f", the first {limit['limit']:,} examples" if limit else ""
    caption = say(NAME, "caption", data_set=data_set, examples=examples)
    columns = [Column("setting"), *(Column(short) for short in SCORES.values()), Column("seeds")]
    return ResultTable(f"{NAME}-{data_set}", caption, columns, rows, bold=bold)


def _ahead(data_set: str, table: ResultTable) -> str:
    """Say how many settings are above BR-MARLENE."""
    count = sum(method == PAIRS for method, _ in SETTINGS)
    by = (
        f"{sum(j == place for _, j in table.bold)} by {short}" for place, short in enumerate(SCORES.values(), start=1)
    )
    return say(NAME, "ahead", data_set=data_set, count=count, by=", ".join(by))


def _everywhere(plan: Plan, results: Results) -> Iterator[str]:
    """Say on how many data sets pairs are better than labels alone, and what they cost."""
    for name, setting in EVERYWHERE.items():
        ahead, costs = [], []
        for data_set in plan.among():
            run, alone = plan.real(data_set, *setting), plan.real(data_set, BR)
            values = [(results.measured.mean(run, score), results.measured.mean(alone, score)) for score in SCORES]
            seconds, memory = results.measured.mean(run, "learn_seconds"), _memory(results, run)
            if setting[0] != PAIRS or seconds is None or memory is None:
                continue
            ahead.append(all(one is not None and other is not None and one > other for one, other in values))
            costs.append(f"{data_set} {seconds / 60:.1f} and {memory:.0f}")
        if costs:
            told = {"ahead": sum(ahead), "count": len(ahead), "costs": ", ".join(costs)}
            yield say(NAME, "everywhere", name=name, **told)


def _memory(results: Results, run: Run) -> float | None:
    """Return the peak of the process less what it had before the first example."""
    peak, base = (results.measured.mean(run, column) for column in ("peak_rss_mb", "base_rss_mb"))
    return None if peak is None or base is None else peak - base


def _all_sets(plan: Plan, results: Results) -> ResultTable:
    rows: list[list[Value]] = []
    for data_set, (name, setting) in itertools.product(plan.among(), EVERYWHERE.items()):
        run = plan.real(data_set, *setting)
        cells = [results.measured.mean(run, column) for column in (*SCORES, "models", "learn_seconds")]
        rows.append([data_set, name, *cells, _memory(results, run)])
    columns = [Column("data set"), Column("pairs"), *(Column(short) for short in SCORES.values())]
    columns += [Column("models", 0), Column("CPU s", 2), Column("MB", 1)]
    return ResultTable(f"{NAME}-all", say(NAME, "all"), columns, rows)


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page, measured, FEW_SEEDS)
