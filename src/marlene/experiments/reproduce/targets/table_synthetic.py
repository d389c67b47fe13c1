"""The table of ranks on synthetic streams, with true drifts signalled, and with a detector."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from marlene.experiments import paper
from marlene.experiments._grid import ORACLE
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import DETECTED, MARLENE, PROPOSED, RESAMPLED, SETTINGS, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value, papers
from marlene.experiments.reproduce._words import SCORES, compare, say, seeds_in_words
from marlene.experiments.statistics import friedman_over_time
from marlene.learners import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    Setting = tuple[str, str]
    Stream = tuple[str, int]
    Ranks = dict[Stream, dict[Setting, float]]

NAME = "table-synthetic"
AVERAGE = "average"
BESIDE = ((RESAMPLED, "none"), (MARLENE, "none"), (MARLENE, "similar"))
"""Methods and sources that the paper does not have. They are not ranked."""
SHOWN = (*SETTINGS, *BESIDE)


def setting_name(method: str, sources: str) -> str:
    """Return a method and its sources in short.

    Examples
    --------
    >>> setting_name("brpw-marlene", "non-similar"), setting_name("br-marlene", "none")
    ('BRPW non-similar', 'BR none')
    """
    short = ("BRPW" if METHODS[method].pairs else "BR") if METHODS[method].proposed else method
    return f"{short} {sources}"


class SyntheticData:
    """Results on synthetic streams by stream and setting (method and sources).

    Parameters
    ----------
    plan, results
        What was to be run, and what has been.
    detector
        How learners hear of drifts.
    """

    def __init__(self, plan: Plan, results: Results, detector: str) -> None:
        self.plan = plan
        self.results = results
        self.detector = detector
        self._ranks = {stream: self._ranks_of(stream) for stream in plan.synthetic_streams()}

    def ranks(self, score: str) -> Ranks:
        """Return the mean ranks over time of the six settings, for every stream on which all of them ran."""
        place = paper.SCORES.index(score)
        return {stream: found[place] for stream, found in self._ranks.items() if found}

    def average(self, score: str) -> dict[Setting, float]:
        """Return the mean rank of every setting over the streams."""
        ranks = self.ranks(score).values()
        return {setting: statistics.fmean(found[setting] for found in ranks) for setting in SETTINGS if ranks}

    def cell(self, stream: Stream, setting: Setting, score: str) -> float | str | None:
        """Return the mean of a score over the seeds that all settings have; "failed" or None as of `Results.cell`."""
        cell = self.results.cell(self.run(stream, setting), score, self.seeds(stream))
        return cell if not isinstance(cell, float) or self._has_all(stream, setting) else None

    def half_width(self, stream: Stream, setting: Setting, score: str) -> float | None:
        """Return half the width of the 95 % interval of that mean."""
        if not self._has_all(stream, setting):
            return None
        return self.results.half_width(self.run(stream, setting), score, self.seeds(stream))

    def run(self, stream: Stream, setting: Setting) -> Run:
        """Return the run of a setting on a stream."""
        return self.plan.synthetic(*stream, *setting, detector=self.detector)

    def seeds(self, stream: Stream) -> tuple[int, ...]:
        """Return the seeds that all settings have. Data differ between seeds, so others would not compare."""
        used = [set(self.results.seeds(self.run(stream, setting))) for setting in SETTINGS]
        return tuple(sorted(set.intersection(*used)))

    def _has_all(self, stream: Stream, setting: Setting) -> bool:
        """Tell whether a setting was run with all seeds of a stream; with fewer it would not compare."""
        return set(self.seeds(stream)) <= set(self.results.seeds(self.run(stream, setting)))

    def _ranks_of(self, stream: Stream) -> list[dict[Setting, float]]:
        """Return the mean ranks of the settings by each score; empty if there is no seed that all have."""
        seeds = self.seeds(stream)
        if not seeds:
            return []
        steps = [self.results.mean_steps(self.run(stream, setting), seeds) for setting in SETTINGS]
        ranks = [
            friedman_over_time(np.column_stack([trace[:, place] for trace in steps])).ranks.tolist()
            for place in range(len(SCORES))
        ]
        return [dict(zip(SETTINGS, found, strict=True)) for found in ranks]


def runs(plan: Plan) -> Iterator[Run]:
    """Return every stream and setting with every seed: with true drifts, and with a detector."""
    streams = plan.synthetic_streams()
    yield from plan.synthetic_runs(streams)
    yield from plan.seeded(plan.synthetic(*stream, *setting) for stream in streams for setting in BESIDE)
    yield from (replace(run, options={"drift": DETECTED}) for run in plan.synthetic_runs(streams))


def page(plan: Plan, results: Results) -> Page:
    """Return the ranks on synthetic streams beside the paper's."""
    told, detected = (SyntheticData(plan, results, detector) for detector in (ORACLE, DETECTED))
    tables = [_ranks_table(told, score, NAME, "true drifts signalled") for score in SCORES]
    tables += [_means_table(told, score) for score in SCORES]
    tables += [_intervals_table(told, score) for score in SCORES]
    tables += [_ranks_table(detected, score, f"{NAME}-detected", DETECTED.upper()) for score in SCORES]
    found = [*_findings(told, "true drifts signalled"), *_sizes(told)]
    found += [*_findings(detected, f"drifts found by {DETECTED.upper()}"), compare(NAME, "why")]
    return Page(found, tables, notes=plan.notes(NAME, source_size=plan.source_size))


def _printed(score: str) -> dict[tuple[tuple[str, int | None], Setting], float]:
    """Return the ranks that the paper prints, by stream and setting."""
    rows = [row for row in paper.synthetic_ranks() if row.score == score]
    return {((row.drift, row.size), (row.method, row.sources)): row.rank for row in rows}


def _ranks_table(data: SyntheticData, score: str, name: str, how: str) -> ResultTable:
    printed, ranks, average = _printed(score), data.ranks(score), data.average(score)
    rows: list[list[Value]] = []
    for stream in data.plan.synthetic_streams():
        ours: list[Value] = [*ranks.get(stream, {}).values()]
        ours = ours or [data.cell(stream, setting, score) for setting in SETTINGS]
        theirs = [printed.get((stream, setting)) for setting in SETTINGS]
        rows.append([*stream, *ours, *theirs, seeds_in_words(data.seeds(stream))])
    theirs = [printed.get(((AVERAGE, None), setting)) for setting in SETTINGS]
    rows.append([AVERAGE, None, *(average.get(setting) for setting in SETTINGS), *theirs, ""])
    names = [setting_name(*setting) for setting in SETTINGS]
    columns = [Column("drift"), Column("size", absent=""), *(Column(name, best="min") for name in names)]
    columns += [*(papers(name, best="min") for name in names), Column("seeds")]
    short = SCORES[score]
    caption = say(NAME, "ranks", short=short, how=how)
    return ResultTable(f"{name}-{short.lower()}", caption, columns, rows, compared="rows")


def _means_table(data: SyntheticData, score: str) -> ResultTable:
    rows: list[list[Value]] = []
    for stream in data.plan.synthetic_streams():
        cells = [data.cell(stream, setting, score) for setting in SHOWN]
        rows.append([*stream, *cells, seeds_in_words(data.seeds(stream))])
    columns = [Column("drift"), Column("size"), *(Column(setting_name(*s), 4, best="max") for s in SHOWN)]
    short = SCORES[score]
    caption = say(NAME, "means", short=short)
    return ResultTable(f"{NAME}-means-{short.lower()}", caption, [*columns, Column("seeds")], rows, compared="rows")


def _intervals_table(data: SyntheticData, score: str) -> ResultTable:
    rows: list[list[Value]] = []
    for stream in data.plan.synthetic_streams():
        widths = [data.half_width(stream, setting, score) for setting in SHOWN]
        rows.append([*stream, *widths, seeds_in_words(data.seeds(stream))])
    columns = [Column("drift"), Column("size"), *(Column(setting_name(*s), 4, "no two seeds") for s in SHOWN)]
    short = SCORES[score]
    caption = say(NAME, "intervals", short=short)
    return ResultTable(f"{NAME}-intervals-{short.lower()}", caption, [*columns, Column("seeds")], rows)


def _findings(data: SyntheticData, how: str) -> Iterator[str]:
    if not data.ranks(paper.SCORES[0]):
        yield say(NAME, "none", how=how)
        return
    single, pairs = PROPOSED
    parts, correlations, first, ahead = [], [], [], []
    for score, short in SCORES.items():
        average, printed = data.average(score), _printed(score)
        order = sorted(SETTINGS, key=average.__getitem__)
        first.append(order[0])
        theirs = [printed[(AVERAGE, None), setting] for setting in average]
        correlations.append(f"{float(stats.kendalltau(list(average.values()), theirs).statistic):.2f}")
        shown = ", ".join(f"{setting_name(*setting)} {average[setting]:.2f}" for setting in order)
        parts.append(f"{short}-G-Mean: {shown}")
        ahead += [
            ranks[pairs, sources] < ranks[single, sources]
            for ranks in data.ranks(score).values()
            for sources in dict.fromkeys(sources for _, sources in SETTINGS)
        ]
    yes = all(setting == (pairs, "similar") for setting in first)
    comes, like = ("comes", "as") if yes else ("does not come", "unlike")
    shown, count = "; ".join(parts), len(data.ranks(paper.SCORES[0]))
    yield compare(
        NAME, "order", how=how, comes=comes, like=like, count=count, ranks=shown, taus=", ".join(correlations)
    )
    yield compare(NAME, "ahead", how=how, ahead=sum(ahead), count=len(ahead))


def _sizes(data: SyntheticData) -> Iterator[str]:
    """Say at which size similar sources help most."""
    for method in PROPOSED:
        gains: dict[int, list[float]] = {}
        for stream in data.plan.synthetic_streams():
            for score in SCORES:
                with_them, without = (data.cell(stream, (method, s), score) for s in ("similar", "none"))
                if isinstance(with_them, float) and isinstance(without, float):
                    gains.setdefault(stream[1], []).append(with_them - without)
        if gains:
            means = {size: statistics.fmean(found) for size, found in gains.items()}
            shown = ", ".join(f"{mean:+.4f} at size {size}" for size, mean in means.items())
            yield compare(NAME, "sizes", method=method, shown=shown, most=max(means, key=means.__getitem__))


TARGET = ReproduceTarget(NAME, (), runs, page)
