"""The table of results on real data: scores, ranks over time, and tests over data sets."""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING

from marlene.experiments import paper
from marlene.experiments._diagram import critical_difference_diagram
from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import MARLENE, PAPER_DATA_SETS, Plan, compared, rivals
from marlene.experiments.reproduce._real_data import PUBLISHED_ROW, RANKED, OverDataSets, RealData, findings, method_of
from marlene.experiments.reproduce._table import Column, ResultTable, Value, beside_paper
from marlene.experiments.reproduce._words import SCORES, code, say
from marlene.learners import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene.experiments.reproduce._real_data import Ranks

NAME = "table-real"


def runs(plan: Plan) -> Iterator[Run]:
    """Return all methods, Marlene and rivals with default settings, and BR-MARLENE with the published ones."""
    yield from plan.real_runs()
    beside = itertools.product(plan.data_sets, (MARLENE, *rivals()))
    yield from plan.seeded(plan.real(*cell) for cell in beside)
    yield from plan.seeded(map(plan.published, plan.data_sets))


def page(plan: Plan, results: Results) -> Page:
    """Return the tables of results on real data."""
    real = RealData(plan, results)
    rows = [*compared(), MARLENE, *rivals(), PUBLISHED_ROW]
    over_time, published = real.ranks_over_time(), real.ranks_over_time(PUBLISHED_ROW)
    tested = {score: real.over_data_sets(score) for score in SCORES}
    tables = [_scores_table(real, rows, score) for score in SCORES]
    tables += [_ranks_table(real, score, over_time[score] | published[score]) for score in SCORES]
    tables += [_mean_ranks_table(real, tested), _tests_table(tested)]
    tables += [_intervals_table(real, rows, score) for score in SCORES]
    figures = [_diagram(SCORES[score], found) for score, found in tested.items() if found is not None]
    return Page(findings(real, over_time, tested), tables, figures, _notes(plan))


def _scores_table(real: RealData, rows: list[str], score: str) -> ResultTable:
    short = SCORES[score]
    return beside_paper(
        f"{NAME}-{short.lower()}",
        say(NAME, "scores", short=short),
        rows,
        real.plan.data_sets,
        lambda row, data_set: real.results.cell(real.run(row, data_set), score),
        lambda row, data_set: paper.score(method_of(row), data_set, score),
        seeds=real.seeds,
    )


def _ranks_table(real: RealData, score: str, ranks: Ranks) -> ResultTable:
    printed = {(r.method, r.data_set): r.rank for r in paper.real_data() if r.score == score}
    data_sets = real.complete(ranks)

    def ours(row: str, data_set: str) -> float | None:
        if data_set != "mean":
            return ranks.get((row, data_set))
        found = [ranks[row, name] for name in data_sets if (row, name) in ranks]
        return statistics.fmean(found) if found else None

    short = SCORES[score]
    sizes = {"ranked": len(RANKED), "complete": len(data_sets), "known": len(paper.data_sets())}
    return beside_paper(
        f"{NAME}-ranks-{short.lower()}",
        say(NAME, "ranks", short=short, **sizes),
        [*RANKED, PUBLISHED_ROW],
        [*real.plan.data_sets, "mean"],
        ours,
        lambda row, data_set: printed.get((method_of(row), "average" if data_set == "mean" else data_set)),
        best="min",
    )


def _mean_ranks_table(real: RealData, tested: dict[str, OverDataSets | None]) -> ResultTable:
    rows: list[list[Value]] = [
        [method, *(found.ranks[method] if found else None for found in tested.values())] for method in real.everywhere()
    ]
    columns = [Column("method"), *(Column(f"{SCORES[score]}-G-Mean", 2, best="min") for score in tested)]
    return ResultTable(f"{NAME}-mean-ranks", say(NAME, "mean-ranks"), columns, rows)


def _tests_table(tested: dict[str, OverDataSets | None]) -> ResultTable:
    headings = ("score", "data sets", "methods", "χ²", "p", "Iman–Davenport F", "p of F", "critical difference", "best")
    rows: list[list[Value]] = []
    for score, found in tested.items():
        cells: list[Value] = [None] * (len(headings) - 1)
        if found is not None:
            test = found.outcome
            cells = [len(found.data_sets), len(found.ranks), test.statistic, f"{test.p_value:.2g}",
                     test.iman_davenport, f"{test.iman_davenport_p_value:.2g}", found.critical_difference,
                     found.best()]  # fmt: skip
        rows.append([f"{SCORES[score]}-G-Mean", *cells])
    columns = [Column(heading, 2, absent="too few data sets") for heading in headings]
    return ResultTable(f"{NAME}-tests", say(NAME, "tests"), columns, rows)


def _intervals_table(real: RealData, names: list[str], score: str) -> ResultTable:
    rows: list[list[Value]] = []
    for row in names:
        widths = [real.results.half_width(real.run(row, data_set), score) for data_set in real.plan.data_sets]
        rows.append([row, *widths, real.seeds(row)])
    columns = [Column("method"), *(Column(name, 4, "no two seeds") for name in real.plan.data_sets), Column("seeds")]
    short = SCORES[score]
    return ResultTable(f"{NAME}-intervals-{short.lower()}", say(NAME, "intervals", short=short), columns, rows)


def _diagram(short: str, found: OverDataSets) -> Drawn:
    what = say(NAME, "diagram", short=short, count=len(found.data_sets))
    with drawing.figure_style():
        figure = critical_difference_diagram(
            list(found.ranks.values()), list(found.ranks), found.critical_difference, title=f"{what}; 1 is best"
        )
    caption = f"{what} {say(NAME, 'bars', names=', '.join(found.data_sets))}"
    return Drawn(f"critical-difference-{short.lower()}", caption, figure)


def _notes(plan: Plan) -> list[str]:
    every = [METHODS[name] for name in [*compared(), MARLENE, *rivals()]]
    return plan.notes(
        NAME,
        published=PUBLISHED_ROW,
        settings=" ".join(paper.CLOSEST_SETTINGS),
        beyond=code(method.name for method in every if not method.in_paper),
        pairs=code(method.name for method in every if method.pairs),
        fixed=code(method.name for method in every if not method.random),
        most=plan.most_labels,
    )


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page)
