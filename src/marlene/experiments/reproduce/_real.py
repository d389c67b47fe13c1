"""The table of results on real data: figures, ranks over time, and tests over data sets."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene.experiments import paper
from marlene.experiments._diagram import critical_difference_diagram
from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page
from marlene.experiments.reproduce._plan import REAL_METHODS, WITHOUT_CHANCE
from marlene.experiments.reproduce._real_findings import findings
from marlene.experiments.reproduce._results import seeds_in_words
from marlene.experiments.reproduce._table import Column, ResultTable, papers
from marlene.experiments.statistics import friedman, friedman_over_time, nemenyi_critical_difference

if TYPE_CHECKING:
    from marlene.experiments._grid import Run
    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._results import Results
    from marlene.experiments.reproduce._table import Value
    from marlene.experiments.statistics import FriedmanResult

TARGET = "table-real"
NAMES = {"macro_gmean": "Macro-G-Mean", "micro_gmean": "Micro-G-Mean", "label_set_gmean": "Label-set-G-Mean"}
SHORT = {"macro_gmean": "macro", "micro_gmean": "micro", "label_set_gmean": "label-set"}
PUBLISHED_ROW = "br-marlene, published settings"
RANKED = tuple(dict.fromkeys(row.method for row in paper.real_data() if row.rank is not None))
"""The methods that the paper ranks."""


@dataclass(frozen=True)
class OverDataSets:
    """Methods compared by one figure over the data sets on which all of them were run."""

    methods: tuple[str, ...]
    data_sets: tuple[str, ...]
    outcome: FriedmanResult
    critical_difference: float

    def best(self) -> str:
        """Return the method with the least mean rank."""
        return self.methods[int(np.argmin(self.outcome.ranks))]

    def rank(self, method: str) -> float | None:
        """Return the mean rank of a method; None if it was not compared."""
        return float(self.outcome.ranks[self.methods.index(method)]) if method in self.methods else None

    def differing(self, method: str) -> list[str]:
        """Return the methods that differ significantly from this one by Nemenyi's test."""
        own = self.rank(method)
        if own is None:
            return []
        return [
            other
            for other, rank in zip(self.methods, self.outcome.ranks, strict=True)
            if abs(rank - own) > self.critical_difference
        ]


class RealData:
    """All that the table of real data is made of.

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
        if row == PUBLISHED_ROW:
            return self.plan.published(data_set)
        return self.plan.real(data_set, row)

    def mean(self, row: str, data_set: str, figure: str) -> float | None:
        """Return a figure of a row; None if there is none."""
        return self.results.mean(self.run(row, data_set), figure)

    def ranks_over_time(self, marlene: str = "br-marlene") -> dict[str, dict[tuple[str, str], float]]:
        """Rank the paper's methods at every step, and return the mean ranks by figure, method and data set.

        BR-MARLENE is represented by the row `marlene`. What was not run on a data set is not ranked there.
        """
        rows = [marlene if method == "br-marlene" else method for method in RANKED]
        ranks: dict[str, dict[tuple[str, str], float]] = {figure: {} for figure in paper.FIGURES}
        for data_set in self.plan.data_sets:
            steps = {row: self.results.mean_steps(self.run(row, data_set)) for row in rows}
            there = [row for row in rows if len(steps[row])]
            if len(there) < 2:
                continue
            for place, found in enumerate(ranks.values()):
                means = friedman_over_time(np.column_stack([steps[row][:, place] for row in there])).ranks
                found |= {(row, data_set): float(rank) for row, rank in zip(there, means, strict=True)}
        return ranks

    def over_data_sets(self, figure: str) -> OverDataSets | None:
        """Compare all methods but BRPW-MARLENE, which is not run everywhere; None with fewer than two data sets."""
        methods = tuple(method for method in REAL_METHODS if method != "brpw-marlene")
        scores = {name: [self.mean(method, name, figure) for method in methods] for name in self.plan.data_sets}
        complete = {name: row for name, row in scores.items() if None not in row}
        if len(complete) < 2:
            return None
        cd = nemenyi_critical_difference(len(methods), len(complete))
        return OverDataSets(methods, tuple(complete), friedman(list(complete.values())), cd)

    def seeds(self, row: str) -> str:
        """Say with which seeds a row was run, and where with others."""
        used = {name: seeds_in_words(self.results.seeds(self.run(row, name))) for name in self.plan.data_sets
                if self.plan.reaches(name, row)}  # fmt: skip
        usual = Counter(used.values()).most_common(1)[0][0] if used else "none"
        return "; ".join([usual, *(f"{name}: {seeds}" for name, seeds in used.items() if seeds != usual)])


def page(plan: Plan, results: Results) -> Page:
    """Return the table of results on real data."""
    real = RealData(plan, results)
    over_time, published = real.ranks_over_time(), real.ranks_over_time(PUBLISHED_ROW)
    compared = {figure: real.over_data_sets(figure) for figure in paper.FIGURES}
    tables = [_figures_table(real, figure) for figure in paper.FIGURES]
    tables += [_ranks_table(real, figure, over_time[figure], published[figure]) for figure in paper.FIGURES]
    tables += [_mean_ranks_table(compared), _tests_table(compared), _spread_table(real)]
    figures = [_diagram(figure, found) for figure, found in compared.items() if found is not None]
    told = findings(real, over_time, compared, PUBLISHED_ROW, RANKED)
    return Page(TARGET, "Real data", told, tables, figures, _notes(plan))


def _figures_table(real: RealData, figure: str) -> ResultTable:
    columns = [Column("method")]
    for data_set in real.plan.data_sets:
        columns += [Column(data_set, best="max"), papers(data_set, best="max")]
    rows: list[list[Value]] = []
    for row in (*REAL_METHODS, PUBLISHED_ROW):
        cells: list[Value] = [row]
        for data_set in real.plan.data_sets:
            method = "br-marlene" if row == PUBLISHED_ROW else row
            printed = paper.figures(method, data_set)
            cells.append(real.results.cell(real.run(row, data_set), figure))
            cells.append(printed[paper.FIGURES.index(figure)] if printed else None)
        rows.append([*cells, real.seeds(row)])
    caption = f"{NAMES[figure]}: mean over the seeds, beside the paper's mean of 30 runs; the best of a column is bold."
    return ResultTable(f"{TARGET}-{SHORT[figure]}", caption, [*columns, Column("seeds")], rows)


def _ranks_table(
    real: RealData, figure: str, ranks: dict[tuple[str, str], float], published: dict[tuple[str, str], float]
) -> ResultTable:
    printed = {(r.method, r.data_set): r.rank for r in paper.real_data() if r.figure == figure}
    columns = [Column("method")]
    for data_set in (*real.plan.data_sets, "mean"):
        columns += [Column(data_set, best="min"), papers(data_set, best="min")]
    complete = [name for name in real.plan.data_sets if all((method, name) in ranks for method in RANKED)]
    rows: list[list[Value]] = []
    for row in (*RANKED, PUBLISHED_ROW):
        found, method = (published, "br-marlene") if row == PUBLISHED_ROW else (ranks, row)
        cells: list[Value] = [row]
        for data_set in real.plan.data_sets:
            cells += [found.get((row, data_set)), printed.get((method, data_set))]
        mean = [found[row, name] for name in complete if (row, name) in found]
        cells += [statistics.fmean(mean) if mean else None, printed.get((method, "average"))]
        rows.append(cells)
    caption = (
        f"Ranks by {NAMES[figure]}, taken at every time step among the {len(RANKED)} methods that the paper ranks and "
        f"averaged over the steps, beside the paper's. The mean is over {len(complete)} data sets on which all of them "
        f"were run (in the paper {len(paper.data_sets())}). In the last row BR-MARLENE takes part with those settings."
    )
    return ResultTable(f"{TARGET}-ranks-{SHORT[figure]}", caption, columns, rows)


def _mean_ranks_table(compared: dict[str, OverDataSets | None]) -> ResultTable:
    rows: list[list[Value]] = [
        [method, *(found.rank(method) if found else None for found in compared.values())]
        for method in REAL_METHODS
        if method != "brpw-marlene"
    ]
    columns = [Column("method"), *(Column(NAMES[figure], 2, best="min") for figure in compared)]
    caption = (
        "Mean ranks over data sets, one rank per data set (Demšar's way), over those on which all methods were run."
    )
    return ResultTable(f"{TARGET}-mean-ranks", caption, columns, rows)


def _tests_table(compared: dict[str, OverDataSets | None]) -> ResultTable:
    headings = (
        "figure",
        "data sets",
        "methods",
        "χ²",
        "p",
        "Iman–Davenport F",
        "p of F",
        "critical difference",
        "best",
    )
    rows: list[list[Value]] = []
    for figure, found in compared.items():
        if found is None:
            rows.append([NAMES[figure], *[None] * (len(headings) - 1)])
            continue
        outcome = found.outcome
        rows.append(
            [
                NAMES[figure], len(found.data_sets), len(found.methods), outcome.statistic, f"{outcome.p_value:.2g}",
                outcome.iman_davenport, f"{outcome.iman_davenport_p_value:.2g}", found.critical_difference,
                found.best(),
            ]
        )  # fmt: skip
    caption = "Friedman's test over data sets, and the difference in mean ranks that Nemenyi's test at 5 % asks for."
    columns = [Column(heading, 2, absent="too few data sets") for heading in headings]
    return ResultTable(f"{TARGET}-tests", caption, columns, rows)


def _spread_table(real: RealData) -> ResultTable:
    rows: list[list[Value]] = []
    for row in (*REAL_METHODS, PUBLISHED_ROW):
        cells: list[Value] = [row]
        for data_set in real.plan.data_sets:
            values = real.results.values(real.run(row, data_set), "macro_gmean")
            cells.append(statistics.stdev(values) if len(values) > 1 else None)
        rows.append([*cells, real.seeds(row)])
    columns = [Column("method"), *(Column(name, 4, "no two seeds") for name in real.plan.data_sets), Column("seeds")]
    return ResultTable(f"{TARGET}-spread", "Standard deviation of the Macro-G-Mean over the seeds.", columns, rows)


def _diagram(figure: str, found: OverDataSets) -> Drawn:
    with drawing.figure_style():
        drawn = critical_difference_diagram(
            found.outcome.ranks.tolist(),
            found.methods,
            found.critical_difference,
            title=f"Mean ranks by {NAMES[figure]} over {len(found.data_sets)} data sets; 1 is best",
        )
    caption = (
        f"Mean ranks by {NAMES[figure]} over {len(found.data_sets)} data sets ({', '.join(found.data_sets)}); bars "
        "join methods that Nemenyi's test at 5 % does not tell apart."
    )
    return Drawn(f"critical-difference-{SHORT[figure]}", caption, drawn)


def _notes(plan: Plan) -> list[str]:
    return [
        "Every figure is the mean over all scored steps of a window of a tenth of the stream, from a twentieth on.",
        f"*{PUBLISHED_ROW}* is `--features numeric --drift none`; all other rows have our defaults.",
        "`br-resampled` is BR-MARLENE without transfer; it is not in the paper.",
        (
            f"`brpw-marlene` has a classifier for every pair of labels. It is run on data sets of up to "
            f"{plan.most_labels} labels, in the paper on Yeast alone."
        ),
        f"{', '.join(f'`{name}`' for name in WITHOUT_CHANCE)} do not depend on the seed and are run once.",
        (
            "Ranks over time steps tell how often a method was ahead. Their p-values, which the paper prints, are not "
            "repeated here: neighbouring windows share nearly all examples, and any difference becomes significant."
        ),
        *(f"{name} was not run: {reason}." for name, reason in plan.absent),
    ]
