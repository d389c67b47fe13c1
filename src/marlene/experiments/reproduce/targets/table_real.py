"""The table of results on real data: scores, ranks over time, and tests over data sets."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene.experiments import paper
from marlene.experiments._diagram import critical_difference_diagram
from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, PAPER_DATA_SETS, Plan, compared
from marlene.experiments.reproduce._real_findings import PUBLISHED_ROW, findings
from marlene.experiments.reproduce._table import Column, ResultTable, Value, beside_paper
from marlene.experiments.reproduce._words import SCORES, code, say, seeds_in_words
from marlene.experiments.statistics import FriedmanResult, friedman, friedman_over_time, nemenyi_critical_difference
from marlene.learners import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Ranks = dict[tuple[str, str], float]

NAME = "table-real"
RANKED = tuple(dict.fromkeys(row.method for row in paper.real_data() if row.rank is not None))
"""The methods that the paper ranks."""


def everywhere() -> tuple[str, ...]:
    """Return the compared methods that are run on every data set."""
    return tuple(name for name in compared() if not METHODS[name].pairs)


@dataclass(frozen=True)
class OverDataSets:
    """Methods compared by one score over the data sets on which all of them were run."""

    methods: tuple[str, ...]
    data_sets: tuple[str, ...]
    outcome: FriedmanResult
    critical_difference: float

    def best(self) -> str:
        """Return the method with the least mean rank."""
        return self.methods[int(np.argmin(self.outcome.ranks))]

    def rank(self, method: str) -> float:
        """Return the mean rank of a method."""
        return float(self.outcome.ranks[self.methods.index(method)])

    def differing(self, method: str) -> list[str]:
        """Return the methods that differ significantly from this one by Nemenyi's test."""
        return [name for name in self.methods if abs(self.rank(name) - self.rank(method)) > self.critical_difference]


class RealData:
    """Results on real data by row of the table and data set.

    Parameters
    ----------
    plan, results
        What was to be run, and what has been.
    """

    def __init__(self, plan: Plan, results: Results) -> None:
        self.plan = plan
        self.results = results

    def run(self, row: str, data_set: str) -> Run:
        """Return the run behind a row of the table."""
        return self.plan.published(data_set) if row == PUBLISHED_ROW else self.plan.real(data_set, row)

    def mean(self, row: str, data_set: str, score: str) -> float | None:
        """Return a score of a row; None if there is none."""
        return self.results.mean(self.run(row, data_set), score)

    def gains(self, row: str, over: str) -> dict[str, float]:
        """Return by how much a row is above another one, for every data set and score that both have."""
        return self._differences(row, lambda data_set, score: self.mean(over, data_set, score))

    def over_paper(self, row: str) -> dict[str, float]:
        """Return by how much a row is above the paper's, for every data set and score that both have."""
        return self._differences(row, lambda data_set, score: paper.score(method_of(row), data_set, score))

    def _differences(self, row: str, other: Callable[[str, str], float | None]) -> dict[str, float]:
        return {
            f"{data_set} {short}": ours - theirs
            for data_set in self.plan.data_sets
            for score, short in SCORES.items()
            if (ours := self.mean(row, data_set, score)) is not None and (theirs := other(data_set, score)) is not None
        }

    def ranks_over_time(self, marlene: str = BR) -> dict[str, Ranks]:
        """Rank the paper's methods at every step, and return the mean ranks by score, method and data set.

        BR-MARLENE is represented by the row `marlene`. What was not run on a data set is not ranked there.
        """
        rows = [marlene if method == BR else method for method in RANKED]
        ranks: dict[str, Ranks] = {score: {} for score in SCORES}
        for data_set in self.plan.data_sets:
            steps = {row: self.results.mean_steps(self.run(row, data_set)) for row in rows}
            there = [row for row in rows if len(steps[row])]
            if len(there) < 2:
                continue
            for place, found in enumerate(ranks.values()):
                means = friedman_over_time(np.column_stack([steps[row][:, place] for row in there])).ranks
                found |= {(row, data_set): float(rank) for row, rank in zip(there, means, strict=True)}
        return ranks

    def over_data_sets(self, score: str) -> OverDataSets | None:
        """Compare the methods that are run everywhere; None with fewer than two complete data sets."""
        methods = everywhere()
        scores = {name: [self.mean(method, name, score) for method in methods] for name in self.plan.data_sets}
        complete = {name: row for name, row in scores.items() if None not in row}
        if len(complete) < 2:
            return None
        cd = nemenyi_critical_difference(len(methods), len(complete))
        return OverDataSets(methods, tuple(complete), friedman(list(complete.values())), cd)

    def seeds(self, row: str) -> str:
        """Return the seeds of a row, and where they differ."""
        used = {name: seeds_in_words(self.results.seeds(self.run(row, name))) for name in self.plan.data_sets
                if self.plan.reaches(name, row)}  # fmt: skip
        usual = Counter(used.values()).most_common(1)[0][0] if used else "none"
        return "; ".join([usual, *(f"{name}: {seeds}" for name, seeds in used.items() if seeds != usual)])


def method_of(row: str) -> str:
    """Return the method behind a row of the table."""
    return BR if row == PUBLISHED_ROW else row


def runs(plan: Plan) -> Iterator[Run]:
    """Return all methods with default settings, and BR-MARLENE with the published ones."""
    yield from plan.real_runs()
    for data_set in plan.data_sets:
        yield from plan.seeded(plan.published(data_set))


def page(plan: Plan, results: Results) -> Page:
    """Return the tables of results on real data."""
    real = RealData(plan, results)
    rows = [*compared(), PUBLISHED_ROW]
    over_time, published = real.ranks_over_time(), real.ranks_over_time(PUBLISHED_ROW)
    tested = {score: real.over_data_sets(score) for score in SCORES}
    tables = [_scores_table(real, rows, score) for score in SCORES]
    tables += [_ranks_table(real, score, over_time[score] | published[score]) for score in SCORES]
    tables += [_mean_ranks_table(tested), _tests_table(tested), _spread_table(real, rows)]
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
    complete = [name for name in real.plan.data_sets if all((method, name) in ranks for method in RANKED)]

    def ours(row: str, data_set: str) -> float | None:
        if data_set != "mean":
            return ranks.get((row, data_set))
        found = [ranks[row, name] for name in complete if (row, name) in ranks]
        return statistics.fmean(found) if found else None

    short = SCORES[score]
    sizes = {"ranked": len(RANKED), "complete": len(complete), "known": len(paper.data_sets())}
    return beside_paper(
        f"{NAME}-ranks-{short.lower()}",
        say(NAME, "ranks", short=short, **sizes),
        [*RANKED, PUBLISHED_ROW],
        [*real.plan.data_sets, "mean"],
        ours,
        lambda row, data_set: printed.get((method_of(row), "average" if data_set == "mean" else data_set)),
        best="min",
    )


def _mean_ranks_table(tested: dict[str, OverDataSets | None]) -> ResultTable:
    rows: list[list[Value]] = [
        [method, *(found.rank(method) if found else None for found in tested.values())] for method in everywhere()
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
            cells = [len(found.data_sets), len(found.methods), test.statistic, f"{test.p_value:.2g}",
                     test.iman_davenport, f"{test.iman_davenport_p_value:.2g}", found.critical_difference,
                     found.best()]  # fmt: skip
        rows.append([f"{SCORES[score]}-G-Mean", *cells])
    columns = [Column(heading, 2, absent="too few data sets") for heading in headings]
    return ResultTable(f"{NAME}-tests", say(NAME, "tests"), columns, rows)


def _spread_table(real: RealData, names: list[str]) -> ResultTable:
    rows: list[list[Value]] = []
    for row in names:
        every = [real.results.values(real.run(row, data_set), "macro_gmean") for data_set in real.plan.data_sets]
        rows.append([row, *(statistics.stdev(v) if len(v) > 1 else None for v in every), real.seeds(row)])
    columns = [Column("method"), *(Column(name, 4, "no two seeds") for name in real.plan.data_sets), Column("seeds")]
    return ResultTable(f"{NAME}-spread", say(NAME, "spread"), columns, rows)


def _diagram(short: str, found: OverDataSets) -> Drawn:
    what = say(NAME, "diagram", short=short, count=len(found.data_sets))
    with drawing.figure_style():
        figure = critical_difference_diagram(
            found.outcome.ranks.tolist(), found.methods, found.critical_difference, title=f"{what}; 1 is best"
        )
    caption = f"{what} {say(NAME, 'bars', names=', '.join(found.data_sets))}"
    return Drawn(f"critical-difference-{short.lower()}", caption, figure)


def _notes(plan: Plan) -> list[str]:
    every = [METHODS[name] for name in compared()]
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
