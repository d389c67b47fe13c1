"""The synthetic experiments as the authors' program has them, beside ours: what each of its settings changes."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from marlene.experiments import paper
from marlene.experiments.program import BRPW_PROGRAM
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import FEW_SEEDS, SETTINGS, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value, papers
from marlene.experiments.reproduce._words import SCORES, compare, say, seeds_in_words
from marlene.experiments.reproduce.targets.table_synthetic import setting_name
from marlene.experiments.statistics import friedman_over_time
from marlene.learners import METHODS
from marlene.metrics import Scores

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene._common.arrays import Floats

    Setting = tuple[str, str]
    Stream = tuple[str, int]

NAME = "synthetic-program"
LARGEST = 500


class Mode(NamedTuple):
    """Which of the program's settings are used."""

    given: bool = False
    one: bool = False
    first: bool = False


MODES = {
    "ours": Mode(),
    "pairs given the label begin anew": Mode(given=True),
    "one non-similar source": Mode(one=True),
    "scored from example 1": Mode(first=True),
    "all three, as the program": Mode(given=True, one=True, first=True),
}


def runs(plan: Plan) -> Iterator[Run]:
    """Return all six settings on every stream in every mode; how they are scored needs no run."""
    for stream in _streams(plan):
        every = {run.key: run for mode in MODES.values() for run in (_run(plan, stream, s, mode) for s in SETTINGS)}
        yield from plan.seeded(every.values(), FEW_SEEDS)


def page(plan: Plan, results: Results) -> Page:
    """Return the ranks in every mode, and those of every stream in the last beside the paper's."""
    ranks = {name: _ranks(plan, results, mode) for name, mode in MODES.items()}
    names = [setting_name(*setting) for setting in SETTINGS]
    tables: list[ResultTable] = []
    findings: list[str] = []
    for place, (score, short) in enumerate(SCORES.items()):
        printed = _printed(score)
        average = {name: _average(found, place) for name, found in ranks.items()}
        theirs = [
            statistics.fmean(printed[(*stream, *s)] for stream in _in_paper(plan)) for s in SETTINGS if _in_paper(plan)
        ]
        every = average | {"the paper, same streams": theirs}
        absent: list[Value] = [None] * len(SETTINGS)
        rows: list[list[Value]] = [[name, *(found or absent)] for name, found in every.items()]
        columns = [Column("setting"), *(Column(name, best="min") for name in names)]
        caption = say(NAME, "modes", short=short, count=len(_streams(plan)))
        tables.append(
            ResultTable(f"{NAME}-{short.lower()}", caption, columns, rows, compared="rows", theirs=(len(rows) - 1,))
        )
        if theirs and all(average.values()):
            shown = ", ".join(
                f"*{name}* {float(stats.kendalltau(found, theirs).statistic):.2f}" for name, found in average.items()
            )
            findings.append(compare(NAME, "agreement", short=short, shown=shown))
    tables.append(_streams_table(plan, results, ranks))
    if findings:
        findings.append(_changes(ranks))
    return Page(findings or [say(NAME, "none")], tables, notes=plan.notes(NAME))


def _streams(plan: Plan) -> list[Stream]:
    return [(drift, size) for drift, size in plan.synthetic_streams() if size <= LARGEST]


def _in_paper(plan: Plan) -> list[Stream]:
    known = {(row.drift, row.size) for row in paper.synthetic_ranks()}
    return [stream for stream in _streams(plan) if stream in known]


def _printed(score: str) -> dict[tuple[str, int | None, str, str], float]:
    rows = paper.synthetic_ranks()
    return {(row.drift, row.size, row.method, row.sources): row.rank for row in rows if row.score == score}


def _run(plan: Plan, stream: Stream, setting: Setting, mode: Mode) -> Run:
    method, sources = setting
    if mode.given and METHODS[method].pairs:
        method = BRPW_PROGRAM
    if mode.one and sources == "non-similar":
        sources = "one-non-similar"
    return plan.synthetic(*stream, method, sources)


def _steps(results: Results, run: Run, mode: Mode, seeds: tuple[int, ...]) -> Floats:
    """Return the scores at every scored step, as means over the seeds."""
    if not mode.first:
        return results.mean_steps(run, seeds)
    every = []
    for arrays in results.traces(run, "pred", "truth", seeds=seeds):
        scores = Scores(arrays["truth"].shape[1], window=max(1, len(arrays["truth"]) // 10))
        every.append(scores.update_many(arrays["truth"], arrays["pred"], trace=True))
    means: Floats = np.mean(every, axis=0)
    return means


def _ranks(plan: Plan, results: Results, mode: Mode) -> dict[Stream, list[list[float]]]:
    """Return for every stream on which all settings ran the ranks of the settings by each score."""
    found = {}
    for stream in _streams(plan):
        every = [_run(plan, stream, setting, mode) for setting in SETTINGS]
        seeds = _seeds(results, every)
        if seeds:
            steps = [_steps(results, run, mode, seeds) for run in every]
            found[stream] = [
                friedman_over_time(np.column_stack([trace[:, place] for trace in steps])).ranks.tolist()
                for place in range(len(SCORES))
            ]
    return found


def _seeds(results: Results, every: list[Run]) -> tuple[int, ...]:
    return tuple(sorted(set.intersection(*(set(results.seeds(run)) for run in every))))


def _average(found: dict[Stream, list[list[float]]], place: int) -> list[float]:
    return [statistics.fmean(column) for column in zip(*(ranks[place] for ranks in found.values()), strict=True)]


def _streams_table(plan: Plan, results: Results, ranks: dict[str, dict[Stream, list[list[float]]]]) -> ResultTable:
    """Return the Macro ranks of every stream as the program has it."""
    name, mode = list(MODES.items())[-1]
    printed = _printed(next(iter(SCORES)))
    rows: list[list[Value]] = []
    for stream in _streams(plan):
        ours: list[Value] = [*ranks[name][stream][0]] if stream in ranks[name] else [None] * len(SETTINGS)
        theirs = [printed.get((*stream, *setting)) for setting in SETTINGS]
        seeds = _seeds(results, [_run(plan, stream, setting, mode) for setting in SETTINGS])
        rows.append([*stream, *ours, *theirs, seeds_in_words(seeds)])
    names = [setting_name(*setting) for setting in SETTINGS]
    columns = [Column("drift"), Column("size"), *(Column(name, best="min") for name in names)]
    columns += [*(papers(name, best="min") for name in names), Column("seeds")]
    return ResultTable(f"{NAME}-streams", say(NAME, "streams"), columns, rows, compared="rows")


def _changes(ranks: dict[str, dict[Stream, list[list[float]]]]) -> str:
    """Say on which streams the rank of pairs with similar sources changes most if pairs given the label begin anew."""
    plain, given = (ranks[name] for name in list(MODES)[:2])
    best = SETTINGS.index(("brpw-marlene", "similar"))
    moved = {stream: (plain[stream][0][best], given[stream][0][best]) for stream in plain if stream in given}
    order = sorted(moved, key=lambda stream: -abs(moved[stream][1] - moved[stream][0]))[:4]
    shown = ", ".join(
        f"{drift}-{size} {moved[drift, size][0]:.2f} → {moved[drift, size][1]:.2f}" for drift, size in order
    )
    return say(NAME, "changes", shown=shown)


TARGET = ReproduceTarget(NAME, (), runs, page, most_seeds=FEW_SEEDS)
