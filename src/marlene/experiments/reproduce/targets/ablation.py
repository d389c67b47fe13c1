"""Beyond the paper: what each part of `Marlene` is worth, and what tracking does when all labels drift."""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING

from scipy import stats

from marlene.experiments import paper
from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, FEW_SEEDS, PAPER_DATA_SETS, RESAMPLED, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import SCORES, compare, listed, say

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    Setting = tuple[str, dict[str, str], dict[str, object]]
    """A method, its options, and further keys of the stream."""
    Scores = dict[tuple[str, str], float]
    """A number by data set and score."""

NAME = "ablation"
WHOLE = "marlene"
ALARMS, FALSE_ALARMS = 5, "false alarms"
VARIANTS: dict[str, Setting] = {
    WHOLE: (WHOLE, {}, {}),
    "naive Bayes alone": (WHOLE, {"base": "naive-bayes"}, {}),
    "linear models alone": (WHOLE, {"base": "linear"}, {}),
    "no neighbours": (WHOLE, {"base": "mixed"}, {}),
    "no transfer": (WHOLE, {"transfer": "own"}, {}),
    "thresholds at 0.5": (WHOLE, {"objective": "none"}, {}),
    FALSE_ALARMS: (WHOLE, {}, {"alarms": ALARMS, "told": True}),
    BR: (BR, {}, {}),
    RESAMPLED: (RESAMPLED, {}, {}),
    "br-marlene, inheriting trees": (BR, {"base": "inheriting-forest"}, {}),
}
PEERS = (WHOLE, BR, RESAMPLED)
TRANSFER: dict[str, dict[str, str]] = {"tracking": {}, "own": {"transfer": "own"}}
ROTATED: dict[str, Setting] = {name: (WHOLE, options, {"change": "rotated"}) for name, options in TRANSFER.items()}
"""With and without transfer while the labels change places in the middle of the stream."""
UNDISTURBED: dict[str, Setting] = {name: (name, {"drift": "none"}, {}) for name in (BR, RESAMPLED)}
UNDISTURBED = {WHOLE: (WHOLE, {}, {})} | UNDISTURBED
ALARMED: dict[str, Setting] = {name: (name, {"drift": "oracle"}, {"alarms": ALARMS}) for name in (BR, RESAMPLED)}
ALARMED = {WHOLE: VARIANTS[FALSE_ALARMS]} | ALARMED
"""Three methods without a drift detector, and told of false alarms."""
EXPERIMENTS = (VARIANTS, ROTATED, UNDISTURBED, ALARMED)
CLEAR = 0.03


def runs(plan: Plan) -> Iterator[Run]:
    """Return every setting of every experiment."""
    settings = [setting for experiment in EXPERIMENTS for setting in experiment.values()]
    cells = itertools.product(plan.among(), settings)
    return plan.seeded((plan.real(data_set, *setting) for data_set, setting in cells), FEW_SEEDS)


def measured(plan: Plan) -> Iterator[Run]:
    """Return the methods whose cost is compared, once on every data set."""
    return (plan.real(data_set, *VARIANTS[name]) for data_set in plan.among() for name in PEERS)


def page(plan: Plan, results: Results) -> Page:
    """Return the tables and what they show."""
    parts, turned, without, told = (
        {name: _scores(plan, results, setting) for name, setting in settings.items()} for settings in EXPERIMENTS
    )
    worth = {
        name: _above(parts[WHOLE], parts[name])
        for name, (method, *_) in VARIANTS.items()
        if method == WHOLE and name != WHOLE
    }
    gains = _above(turned["tracking"], turned["own"])
    harm = {name: _above(told[name], without[name]) for name in PEERS}
    rotated = {Column(name, best="max"): turned[name] for name in TRANSFER}
    alarmed = {Column(name, best="max"): harm[name] for name in PEERS}
    beside = {Column(f"{WHOLE} without"): without[WHOLE], Column(f"{WHOLE} with"): told[WHOLE]}
    rotated[Column("tracking less own", absent="")] = gains
    tables = [
        *(_parts_table(plan, results, parts, score) for score in SCORES),
        _by_score(plan, results, "rotated", rotated, ROTATED.values()),
        _by_score(plan, results, "alarms", alarmed | beside, (UNDISTURBED[WHOLE], ALARMED[WHOLE])),
        _cost_table(plan, results),
    ]
    findings = [*_wins(parts[WHOLE]), *_ranks(plan, parts), *_means("worth", "*{}*", worth)]
    findings += [*_rotation(gains), *_means("harm", "`{}`", harm)]
    return Page(findings, tables, notes=plan.notes(NAME, alarms=ALARMS, seeds=FEW_SEEDS))


def _scores(plan: Plan, results: Results, setting: Setting) -> Scores:
    """Return the mean scores of a setting on every data set on which it was run."""
    return {
        (data_set, score): mean
        for data_set, score in itertools.product(plan.among(), SCORES)
        if (mean := results.mean(plan.real(data_set, *setting), score)) is not None
    }


def _above(scores: Scores, others: Scores) -> Scores:
    """Return by how much scores are above others, where both are known."""
    return {key: value - others[key] for key, value in scores.items() if key in others}


def _parts_table(plan: Plan, results: Results, parts: dict[str, Scores], score: str) -> ResultTable:
    names = plan.among()
    rows: list[list[Value]] = []
    for name, setting in VARIANTS.items():
        there = [parts[name].get((data_set, score)) for data_set in names]
        mean = statistics.fmean(value for value in there if value is not None) if None not in there else None
        seeds = results.said_seeds(plan.real(data_set, *setting) for data_set in names)
        rows.append([name, *there, mean, seeds])
    best = [_best_in_paper(name, score) for name in names]
    rows.append(["best of any method in the paper", *best, statistics.fmean(best), ""])
    short = SCORES[score]
    columns = [Column("variant"), *(Column(name, best="max") for name in names), Column("mean"), Column("seeds")]
    return ResultTable(
        f"{NAME}-{short.lower()}", say(NAME, "parts", short=short), columns, rows, theirs=(len(rows) - 1,)
    )


def _by_score(
    plan: Plan, results: Results, name: str, columns: Mapping[Column, Scores], settings: Collection[Setting]
) -> ResultTable:
    """Return a table with a row for every data set and score, and the seeds of these settings."""
    rows: list[list[Value]] = []
    for data_set, (score, short) in itertools.product(plan.among(), SCORES.items()):
        seeds = results.said_seeds(plan.real(data_set, *setting) for setting in settings)
        rows.append([data_set, short, *(values.get((data_set, score)) for values in columns.values()), seeds])
    every = [Column("data set"), Column("score"), *columns, Column("seeds")]
    return ResultTable(f"{NAME}-{name}", say(NAME, name, alarms=ALARMS), every, rows, compared="rows")


def _cost_table(plan: Plan, results: Results) -> ResultTable:
    columns = [Column("data set"), *(Column(f"{name}, CPU s", 2) for name in PEERS)]
    columns += [Column(f"{name}, MB", 0) for name in PEERS]
    rows: list[list[Value]] = []
    for data_set in plan.among():
        runs_here = [plan.real(data_set, *VARIANTS[name]) for name in PEERS]
        costs = itertools.product(("learn_seconds", "peak_rss_mb"), runs_here)
        rows.append([data_set, *(results.measured.mean(run, column) for column, run in costs)])
    return ResultTable(f"{NAME}-cost", say(NAME, "cost"), columns, rows)


def _best_in_paper(data_set: str, score: str) -> float:
    return paper.best(data_set)[paper.SCORES.index(score)]


def _wins(whole: Scores) -> Iterator[str]:
    best = {key: _best_in_paper(*key) for key in whole}
    if not whole:
        yield say(NAME, "none")
        return
    lost = [
        f"{data_set} {SCORES[score]} ({by:+.3f})" for (data_set, score), by in _above(whole, best).items() if by <= 0
    ]
    yield compare(NAME, "wins", won=len(whole) - len(lost), count=len(whole), lost=listed(lost))


def _ranks(plan: Plan, parts: dict[str, Scores]) -> Iterator[str]:
    shown = []
    for score, short in SCORES.items():
        rows = [[parts[name].get((data_set, score)) for name in PEERS] for data_set in plan.among()]
        complete = [row for row in rows if None not in row]
        if complete:
            ranks = stats.rankdata([[-(value or 0.0) for value in row] for row in complete], axis=1).mean(axis=0)
            each = (f"`{name}` {rank:.2f}" for name, rank in zip(PEERS, ranks, strict=True))
            shown.append(f"{short}: {', '.join(each)}")
    if shown:
        yield say(NAME, "ranks", "; ".join(shown))


def _rotation(gains: Scores) -> Iterator[str]:
    if gains:
        (least, most), mean = _extremes(gains), statistics.fmean(gains.values())
        counted = {"clear": CLEAR, "count": len(gains), "better": sum(by >= CLEAR for by in gains.values())}
        worse = sum(by <= -CLEAR for by in gains.values())
        yield say(NAME, "rotation", mean=mean, least=least, most=most, worse=worse, **counted)


def _extremes(gains: Scores) -> tuple[str, str]:
    """Return the least and the greatest gain in words."""
    ordered = sorted(gains, key=gains.__getitem__)
    least, *_, most = [f"{name} {SCORES[score]} ({gains[name, score]:+.3f})" for name, score in [*ordered, ordered[-1]]]
    return least, most


def _means(key: str, form: str, differences: dict[str, Scores]) -> Iterator[str]:
    """Say the mean differences over the data sets, score by score, of every row that has any."""
    shown = []
    for name, found in differences.items():
        by = [[value for (_, of), value in found.items() if of == score] for score in SCORES]
        if found:
            means = " / ".join(f"{statistics.fmean(values):+.3f}" for values in by if values)
            shown.append(f"{form.format(name)} {means}")
    if shown:
        yield say(NAME, key, alarms=ALARMS, shown="; ".join(shown))


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page, measured, FEW_SEEDS)
