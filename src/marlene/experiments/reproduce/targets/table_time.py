"""The table of execution times."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from marlene.experiments import paper
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results
from marlene.experiments.reproduce._plan import BR, PAPER_DATA_SETS, PROPOSED, WITH_RIVER, Plan, compared
from marlene.experiments.reproduce._real_data import RealData
from marlene.experiments.reproduce._table import beside_paper
from marlene.experiments.reproduce._words import compare, listed, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    Times = dict[tuple[str, str], float]

NAME = "table-time"


def page(plan: Plan, results: Results) -> Page:
    """Return CPU seconds of every method beside the paper's."""
    real = RealData(plan, results)
    theirs = {(row.method, row.data_set): row.milliseconds / 1000 for row in paper.times()}
    table = beside_paper(
        NAME,
        say(NAME, "caption"),
        compared(),
        plan.data_sets,
        lambda method, data_set: results.cell(plan.real(data_set, method), "learn_seconds"),
        lambda method, data_set: theirs.get((method, data_set)),
        digits=(2, 1),
        best="min",
        seeds=real.seeds,
    )
    timed = {method for method, _ in theirs}
    ours = {
        (method, data_set): seconds
        for method in compared()
        for data_set in plan.data_sets
        if method in timed and (seconds := real.mean(method, data_set, "learn_seconds"))
    }
    machines = say(NAME, "machines", names="; ".join(sorted(results.machines())) or "not run")
    return Page([*_findings(ours, theirs), machines], [table], notes=plan.notes(NAME))


def _findings(ours: Times, theirs: Times) -> Iterator[str]:
    both = sorted(theirs[key] / ours[key] for key in ours if key in theirs)
    if not both:
        yield say(NAME, "none")
        return
    median = statistics.median(both)
    yield compare(NAME, "ratio", count=len(both), least=both[0], most=both[-1], median=median)
    names = dict.fromkeys(name for _, name in ours)
    by_name = {name: {method: ours[method, on] for method, on in ours if on == name} for name in names}
    fastest, slowest = (
        "; ".join(f"`{chosen(found, key=found.__getitem__)}` on {name}" for name, found in by_name.items())
        for chosen in (min, max)
    )
    first = listed(row.data_set for row in paper.times() if row.method == BR and row.mark == "best")
    yield compare(NAME, "fastest", first=first, fastest=fastest)
    yield say(NAME, "slowest", slowest=slowest)
    single, pairs = ((method, WITH_RIVER) for method in PROPOSED)
    if single in ours and pairs in ours:
        yield compare(NAME, "pairs", ours=ours[pairs] / ours[single], theirs=theirs[pairs] / theirs[single])


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, Plan.real_runs, page)
