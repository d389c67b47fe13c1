"""Beyond the paper: what each part of `Marlene` is worth, and what its gate does when all labels drift."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from scipy import stats

from marlene.experiments import paper
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, PAPER_DATA_SETS, RESAMPLED, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import SCORES, listed, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Known = dict[tuple[str, str, str], float]
    """A number by row, data set and score."""

NAME = "ablation"
WHOLE = "marlene"
VARIANTS: dict[str, tuple[str, dict[str, str]]] = {
    WHOLE: (WHOLE, {}),
    "naive Bayes alone": (WHOLE, {"base": "naive-bayes"}),
    "linear models alone": (WHOLE, {"base": "linear"}),
    "no transfer": (WHOLE, {"transfer": "own"}),
    "full vote": (WHOLE, {"transfer": "full"}),
    "no drift detector": (WHOLE, {"drift": "none"}),
    "thresholds at 0.5": (WHOLE, {"objective": "none"}),
    BR: (BR, {}),
    RESAMPLED: (RESAMPLED, {}),
    "br-marlene, inheriting trees": (BR, {"base": "inheriting-forest"}),
}
PEERS = (WHOLE, BR, RESAMPLED)
GATE = {"gated": {}, "own": {"transfer": "own"}, "full": {"transfer": "full"}}
ALARMS = 5
CLOSE, CLEAR = 0.01, 0.03


def runs(plan: Plan) -> Iterator[Run]:
    """Return every variant, the three votes with rotated labels, and three methods with injected false alarms."""
    for data_set in plan.among():
        for name in VARIANTS:
            yield from plan.seeded(variant(plan, data_set, name))
        for vote in GATE:
            yield from plan.seeded(rotated(plan, data_set, vote))
        for method in PEERS:
            for alarms in (0, ALARMS):
                yield from plan.seeded(alarmed(plan, data_set, method, alarms))


def measured(plan: Plan) -> Iterator[Run]:
    """Return the methods whose cost is compared, once on every data set."""
    for data_set, name in itertools.product(plan.among(), PEERS):
        yield variant(plan, data_set, name)


def variant(plan: Plan, data_set: str, name: str) -> Run:
    """Return a run of a variant, or of a method it is compared with."""
    method, options = VARIANTS[name]
    return replace(plan.real(data_set, method), options=dict(options))


def rotated(plan: Plan, data_set: str, vote: str) -> Run:
    """Return a run on a data set whose labels change places in the middle."""
    plain = plan.real(data_set, WHOLE)
    return replace(plain, stream=plain.stream | {"rotated": True}, options=dict(GATE[vote]))


def alarmed(plan: Plan, data_set: str, method: str, alarms: int = ALARMS) -> Run:
    """Return a run without a detector, or with injected false alarms."""
    plain = plan.real(data_set, method)
    if alarms == 0:
        return replace(plain, options={"drift": "none"})
    return replace(plain, stream=plain.stream | {"alarms": alarms}, options={"drift": "oracle"})


def page(plan: Plan, results: Results) -> Page:
    """Return the tables and what they show."""

    def known(names: Iterable[str], run: Callable[[str, str], Run]) -> Known:
        return {
            (name, data_set, score): mean
            for name in names
            for data_set in plan.among()
            for score in SCORES
            if (mean := results.mean(run(data_set, name), score)) is not None
        }

    parts = known(VARIANTS, lambda data_set, name: variant(plan, data_set, name))
    votes = known(GATE, lambda data_set, vote: rotated(plan, data_set, vote))
    without = known(PEERS, lambda data_set, method: alarmed(plan, data_set, method, 0))
    told = known(PEERS, lambda data_set, method: alarmed(plan, data_set, method))
    harm = {key: told[key] - without[key] for key in told if key in without}
    losses = _losses(votes)
    tables = [_parts_table(plan, results, parts, score) for score in SCORES]
    tables.append(
        _by_score(
            plan,
            f"{NAME}-rotated",
            say(NAME, "rotated"),
            [*(Column(vote, best="max") for vote in GATE), Column("gated less the better", absent="")],
            lambda *key: [*(votes.get((vote, *key)) for vote in GATE), losses.get(key)],
            lambda data_set: results.said_seeds(rotated(plan, data_set, vote) for vote in GATE),
        )
    )
    tables.append(
        _by_score(
            plan,
            f"{NAME}-alarms",
            say(NAME, "alarms", alarms=ALARMS),
            [*(Column(name, best="max") for name in PEERS), *(Column(f"{WHOLE} {w}") for w in ("without", "with"))],
            lambda *key: [*(harm.get((m, *key)) for m in PEERS), *(by.get((WHOLE, *key)) for by in (without, told))],
            lambda data_set: results.said_seeds(alarmed(plan, data_set, WHOLE, alarms) for alarms in (0, ALARMS)),
        )
    )
    findings = [*_wins(parts), *_ranks(plan, parts), *_worth(parts), *_rotation(losses), *_harm(harm)]
    return Page(findings, [*tables, _cost_table(plan, results)], notes=plan.notes(NAME, alarms=ALARMS))


def _parts_table(plan: Plan, results: Results, known: Known, score: str) -> ResultTable:
    names = plan.among()
    rows: list[list[Value]] = []
    for name in VARIANTS:
        there = [known.get((name, data_set, score)) for data_set in names]
        mean = statistics.fmean(value for value in there if value is not None) if None not in there else None
        rows.append([name, *there, mean, results.said_seeds(variant(plan, data_set, name) for data_set in names)])
    best = [_best_in_paper(name, score) for name in names]
    rows.append(["best of any method in the paper", *best, statistics.fmean(best), ""])
    short = SCORES[score]
    columns = [Column("variant"), *(Column(name, best="max") for name in names), Column("mean"), Column("seeds")]
    return ResultTable(f"{NAME}-{short.lower()}", say(NAME, "parts", short=short), columns, rows)


def _by_score(
    plan: Plan,
    name: str,
    caption: str,
    columns: list[Column],
    cells: Callable[[str, str], list[Value]],
    seeds: Callable[[str], str],
) -> ResultTable:
    """Return a table with a row for every data set and score."""
    rows: list[list[Value]] = [
        [data_set, short, *cells(data_set, score), seeds(data_set)]
        for data_set in plan.among()
        for score, short in SCORES.items()
    ]
    every = [Column("data set"), Column("score"), *columns, Column("seeds")]
    return ResultTable(name, caption, every, rows, compared="rows")


def _cost_table(plan: Plan, results: Results) -> ResultTable:
    columns = [Column("data set"), *(Column(f"{name}, CPU s", 2) for name in PEERS)]
    columns += [Column(f"{name}, MB", 0) for name in PEERS]
    rows: list[list[Value]] = [
        [data_set]
        + [
            results.measured.mean(variant(plan, data_set, name), column)
            for column in ("learn_seconds", "peak_rss_mb")
            for name in PEERS
        ]
        for data_set in plan.among()
    ]
    return ResultTable(f"{NAME}-cost", say(NAME, "cost"), columns, rows)


def _best_in_paper(data_set: str, score: str) -> float:
    return paper.best(data_set)[paper.SCORES.index(score)]


def _losses(votes: Known) -> dict[tuple[str, str], float]:
    """Return for data sets and scores by how much the gate is above the better of its alternatives."""
    keys = [(data_set, score) for vote, data_set, score in votes if vote == "gated"]
    return {
        key: votes["gated", *key] - max(votes["own", *key], votes["full", *key])
        for key in keys
        if all((vote, *key) in votes for vote in GATE)
    }


def _means(differences: Known, row: str) -> str:
    """Return the mean differences of a row over the data sets, by score; nothing if there are none."""
    by = [[d for (name, _, of), d in differences.items() if (name, of) == (row, score)] for score in SCORES]
    return " / ".join(f"{statistics.fmean(values):+.3f}" for values in by if values)


def _wins(known: Known) -> Iterator[str]:
    differences = {
        f"{data_set} {SCORES[score]}": value - _best_in_paper(data_set, score)
        for (name, data_set, score), value in known.items()
        if name == WHOLE
    }
    if not differences:
        yield say(NAME, "none")
        return
    lost = [f"{cell} ({by:+.3f})" for cell, by in differences.items() if by <= 0]
    yield say(NAME, "wins", won=len(differences) - len(lost), count=len(differences), lost=listed(lost))


def _ranks(plan: Plan, known: Known) -> Iterator[str]:
    parts = []
    for score, short in SCORES.items():
        rows = [[known.get((name, data_set, score)) for name in PEERS] for data_set in plan.among()]
        complete = [row for row in rows if None not in row]
        if complete:
            ranks = stats.rankdata([[-(value or 0.0) for value in row] for row in complete], axis=1).mean(axis=0)
            shown = (f"`{name}` {rank:.2f}" for name, rank in zip(PEERS, ranks, strict=True))
            parts.append(f"{short}: {', '.join(shown)}")
    if parts:
        yield say(NAME, "ranks", "; ".join(parts))


def _worth(known: Known) -> Iterator[str]:
    gains = {
        (name, data_set, score): known[WHOLE, data_set, score] - value
        for (name, data_set, score), value in known.items()
        if VARIANTS[name][0] == WHOLE and name != WHOLE and (WHOLE, data_set, score) in known
    }
    parts = [f"*{name}* {_means(gains, name)}" for name in VARIANTS if _means(gains, name)]
    if parts:
        yield say(NAME, "worth", "; ".join(parts))


def _rotation(losses: dict[tuple[str, str], float]) -> Iterator[str]:
    if losses:
        (data_set, score), by = min(losses.items(), key=lambda item: item[1])
        close, worse = (
            sum(loss >= -CLOSE for loss in losses.values()),
            sum(loss <= -CLEAR for loss in losses.values()),
        )
        sizes = {"near": CLOSE, "clear": CLEAR, "close": close, "worse": worse, "count": len(losses)}
        yield say(NAME, "rotation", worst=f"{data_set} {SCORES[score]}", by=by, **sizes)


def _harm(harm: Known) -> Iterator[str]:
    parts = [f"`{method}` {_means(harm, method)}" for method in PEERS if _means(harm, method)]
    if parts:
        yield say(NAME, "harm", alarms=ALARMS, shown="; ".join(parts))


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page, measured)
