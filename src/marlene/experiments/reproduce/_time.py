"""The table of execution times."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from marlene.experiments import paper
from marlene.experiments.reproduce._page import Page
from marlene.experiments.reproduce._plan import REAL_METHODS, WITH_RIVER
from marlene.experiments.reproduce._real import RealData
from marlene.experiments.reproduce._table import Column, ResultTable, papers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._results import Results
    from marlene.experiments.reproduce._table import Value

TARGET = "table-time"


def page(plan: Plan, results: Results) -> Page:
    """Return CPU seconds of every method beside the paper's."""
    real = RealData(plan, results)
    ours = {
        (method, name): real.mean(method, name, "learn_seconds") for method in REAL_METHODS for name in plan.data_sets
    }
    theirs = {(row.method, row.data_set): row.milliseconds / 1000 for row in paper.times()}
    columns = [Column("method")]
    for name in plan.data_sets:
        columns += [Column(name, 2, best="min"), papers(name, 1, best="min")]
    rows: list[list[Value]] = []
    for method in REAL_METHODS:
        cells: list[Value] = [method]
        for name in plan.data_sets:
            cells += [results.cell(plan.real(name, method), "learn_seconds"), theirs.get((method, name))]
        rows.append([*cells, real.seeds(method)])
    caption = "CPU seconds of learning and predicting, mean over the seeds, beside the paper's; the least is bold."
    table = ResultTable(TARGET, caption, [*columns, Column("seeds")], rows)
    timed = {row.method for row in paper.times()}
    there = {key: value for key, value in ours.items() if value and key[0] in timed}
    told = [*_findings(there, theirs), *_machines(real)]
    notes = [
        (
            "Ours is the CPU time of the test-then-train calls with our defaults, from which compiling is excluded; "
            "runs under way at the same time share memory and caches. The paper does not say what exactly it measured."
        ),
        *(f"{name} was not run: {reason}." for name, reason in plan.absent),
    ]
    return Page(TARGET, "Execution times", told, [table], notes=notes)


def _findings(ours: dict[tuple[str, str], float], theirs: dict[tuple[str, str], float]) -> Iterator[str]:
    both = {key: theirs[key] / ours[key] for key in ours if key in theirs}
    if not both:
        yield "No method that the paper timed has been run."
        return
    yield (
        f"In the {len(both)} cells that both have, the paper's time is {min(both.values()):.1f} to "
        f"{max(both.values()):.1f} times ours, {statistics.median(both.values()):.1f} times in the median. The "
        "machines differ; and here trees are compiled, their cost follows the features that are not zero, and an "
        "ensemble is one set of arrays."
    )
    names = dict.fromkeys(name for _, name in ours)
    by_name = {name: {m: seconds for (m, n), seconds in ours.items() if n == name} for name in names}
    fastest = {name: min(found, key=found.__getitem__) for name, found in by_name.items()}
    first = [name for name, method in fastest.items() if method == "br-marlene"]
    papers_first = [row.data_set for row in paper.times() if row.method == "br-marlene" and row.mark == "best"]
    yield (
        f"In the paper BR-MARLENE is the fastest on {', '.join(papers_first)}. Here the fastest is "
        + "; ".join(f"`{method}` on {name}" for name, method in fastest.items())
        + (f". BR-MARLENE is so on {', '.join(first)}." if first else ".")
    )
    slowest = {name: max(found, key=found.__getitem__) for name, found in by_name.items()}
    yield f"The slowest: {'; '.join(f'`{method}` on {name}' for name, method in slowest.items())}."
    pair = (("brpw-marlene", WITH_RIVER), ("br-marlene", WITH_RIVER))
    if all(key in ours for key in pair):
        yield (
            f"BRPW-MARLENE takes {ours[pair[0]] / ours[pair[1]]:.0f} times as long as BR-MARLENE on Yeast, in the "
            f"paper {theirs[pair[0]] / theirs[pair[1]]:.0f} times."
        )


def _machines(real: RealData) -> Iterator[str]:
    names = {
        f"{row['processor']} with {row['cores']} cores"
        for method in REAL_METHODS
        for name in real.plan.data_sets
        for row in real.results.rows(real.run(method, name))
    }
    if names:
        yield f"Measured on: {'; '.join(sorted(names))}. The paper does not name its machine."
