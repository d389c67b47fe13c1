"""What each part of `Marlene` is worth, and what its gate does when all labels drift: beyond the paper."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from marlene.experiments import paper
from marlene.experiments.reproduce._page import Page
from marlene.experiments.reproduce._plan import WITH_RIVER
from marlene.experiments.reproduce._results import seeds_in_words
from marlene.experiments.reproduce._table import Column, ResultTable
from marlene.experiments.reproduce._words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene.experiments._grid import Run
    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._results import Results
    from marlene.experiments.reproduce._table import Value

TARGET = "ablation"
WHOLE = "marlene"
VARIANTS: dict[str, tuple[str, dict[str, str]]] = {
    WHOLE: ("marlene", {}),
    "naive Bayes alone": ("marlene", {"base": "naive-bayes"}),
    "linear models alone": ("marlene", {"base": "linear"}),
    "no transfer": ("marlene", {"transfer": "own"}),
    "full vote": ("marlene", {"transfer": "full"}),
    "no drift detector": ("marlene", {"drift": "none"}),
    "thresholds at 0.5": ("marlene", {"objective": "none"}),
    "br-marlene": ("br-marlene", {}),
    "br-resampled": ("br-resampled", {}),
    "br-marlene, inheriting trees": ("br-marlene", {"base": "inheriting-forest"}),
}
PEERS = ("br-marlene", "br-resampled")
GATE = {"gated": {}, "own": {"transfer": "own"}, "full": {"transfer": "full"}}
ALARMED = (WHOLE, *PEERS)
ALARMS = 5
CLOSE, CLEAR = 0.01, 0.03
FIGURES = {"macro_gmean": "Macro", "micro_gmean": "Micro", "label_set_gmean": "Label-set"}


def runs(plan: Plan) -> Iterator[Run]:
    """Give every variant on every data set, the three votes with rotated labels, and methods that are told nonsense."""
    for data_set in _data_sets(plan):
        for seed in plan.seeds:
            for name in VARIANTS:
                yield replace(variant(plan, data_set, name), seed=seed)
            for vote in GATE:
                yield replace(rotated(plan, data_set, vote), seed=seed)
            for method in ALARMED:
                for alarms in (0, ALARMS):
                    yield replace(alarmed(plan, data_set, method, alarms), seed=seed)


def _data_sets(plan: Plan) -> tuple[str, ...]:
    """Return what is compared on; one data set if it is only to see that this works."""
    return (WITH_RIVER,) if plan.quick else plan.data_sets


def variant(plan: Plan, data_set: str, name: str) -> Run:
    """Return a run of a variant, or of a method it is compared with."""
    method, options = VARIANTS[name]
    return replace(plan.real(data_set, method), options=dict(options))


def rotated(plan: Plan, data_set: str, vote: str) -> Run:
    """Return a run on a data set whose labels change places in the middle."""
    plain = plan.real(data_set, "marlene")
    return replace(plain, stream=plain.stream | {"rotated": True}, options=dict(GATE[vote]))


def alarmed(plan: Plan, data_set: str, method: str, alarms: int) -> Run:
    """Return a run without a detector, or one that is told of drifts that there are not."""
    plain = plan.real(data_set, method)
    if alarms == 0:
        return replace(plain, options={"drift": "none"})
    return replace(plain, stream=plain.stream | {"alarms": alarms}, options={"drift": "oracle"})


def page(plan: Plan, results: Results) -> Page:
    """Return the tables and what they show."""
    values = {
        (name, data_set, figure): results.mean(variant(plan, data_set, name), figure)
        for name in VARIANTS
        for data_set in _data_sets(plan)
        for figure in FIGURES
    }
    votes = {
        (vote, data_set, figure): results.mean(rotated(plan, data_set, vote), figure)
        for vote in GATE
        for data_set in _data_sets(plan)
        for figure in FIGURES
    }
    known = {key: value for key, value in values.items() if value is not None}
    known_votes = {key: value for key, value in votes.items() if value is not None}
    findings = [*_wins(known), *_ranks(plan, known), *_worth(plan, known), *_rotation(plan, known_votes)]
    findings += _nonsense(plan, results)
    tables = [_parts(plan, results, known, figure) for figure in FIGURES]
    tables += [_rotated_table(plan, results, known_votes), _alarmed_table(plan, results), _cost(plan, results)]
    notes = [
        "This is not in the paper: it shows what the parts of `Marlene`, the default learner, are worth.",
        "Settings were chosen on Slashdot, Yeast, the first half of TMC2007 and synthetic streams.",
        "*Rotated*: from the middle of the stream on every label has the values of the label before it.",
        f"*False alarms*: {ALARMS} in a row for every label, from a quarter of the stream on, and no detector besides.",
        *(f"{name} was not run: {reason}." for name, reason in plan.absent),
    ]
    return Page(TARGET, "What the parts of Marlene are worth", findings, tables, notes=notes)


def _parts(plan: Plan, results: Results, known: dict[tuple[str, str, str], float], figure: str) -> ResultTable:
    columns = [
        Column("variant"),
        *(Column(name, best="max") for name in _data_sets(plan)),
        Column("mean"),
        Column("seeds"),
    ]
    rows: list[list[Value]] = []
    for name in VARIANTS:
        there = [known.get((name, data_set, figure)) for data_set in _data_sets(plan)]
        seeds = {results.seeds(variant(plan, data_set, name)) for data_set in _data_sets(plan)}
        mean = statistics.fmean(value for value in there if value is not None) if None not in there else None
        rows.append([name, *there, mean, "; ".join(seeds_in_words(one) for one in sorted(seeds))])
    best = [paper.best(name)[list(FIGURES).index(figure)] for name in _data_sets(plan)]
    rows.append(["best of any method in the paper", *best, statistics.fmean(best), ""])
    kind = FIGURES[figure]
    caption = f"{kind}-G-Mean of Marlene, of Marlene without one of its parts, and of the methods it grew from."
    return ResultTable(f"{TARGET}-{kind.lower()}", caption, columns, rows)


def _rotated_table(plan: Plan, results: Results, known: dict[tuple[str, str, str], float]) -> ResultTable:
    columns = [Column("data set"), Column("figure"), *(Column(vote, best="max") for vote in GATE)]
    columns += [Column("gated less the better", absent=""), Column("seeds")]
    rows: list[list[Value]] = []
    for data_set in _data_sets(plan):
        seeds = {results.seeds(rotated(plan, data_set, vote)) for vote in GATE}
        for figure, kind in FIGURES.items():
            cells = [known.get((vote, data_set, figure)) for vote in GATE]
            said = "; ".join(seeds_in_words(one) for one in sorted(seeds))
            rows.append([data_set, kind, *cells, _loss(known, data_set, figure), said])
    caption = "Labels rotated in the middle: the gate beside a label's own sub-classifiers alone and the vote of all."
    return ResultTable(f"{TARGET}-rotated", caption, columns, rows, compared="rows")


def _harm(plan: Plan, results: Results, data_set: str, method: str, figure: str) -> float | None:
    """Return what false alarms change."""
    without, told = (results.mean(alarmed(plan, data_set, method, alarms), figure) for alarms in (0, ALARMS))
    return None if without is None or told is None else told - without


def _alarmed_table(plan: Plan, results: Results) -> ResultTable:
    columns = [Column("data set"), Column("figure"), *(Column(method, best="max") for method in ALARMED)]
    columns += [Column(f"{WHOLE} without"), Column(f"{WHOLE} with"), Column("seeds")]
    rows: list[list[Value]] = []
    for data_set in _data_sets(plan):
        both = [alarmed(plan, data_set, WHOLE, alarms) for alarms in (0, ALARMS)]
        seeds = "; ".join(seeds_in_words(one) for one in sorted({results.seeds(run) for run in both}))
        for figure, kind in FIGURES.items():
            changes = [_harm(plan, results, data_set, method, figure) for method in ALARMED]
            rows.append([data_set, kind, *changes, *(results.mean(run, figure) for run in both), seeds])
    caption = f"What {ALARMS} false alarms for every label change, and the figures of Marlene without and with them."
    return ResultTable(f"{TARGET}-alarms", caption, columns, rows, compared="rows")


def _nonsense(plan: Plan, results: Results) -> Iterator[str]:
    parts = []
    for method in ALARMED:
        by = [[_harm(plan, results, data_set, method, f) for data_set in _data_sets(plan)] for f in FIGURES]
        if all(value is not None for values in by for value in values):
            means = " / ".join(f"{statistics.fmean(value or 0.0 for value in values):+.3f}" for values in by)
            parts.append(f"`{method}` {means}")
    if parts:
        yield (
            f"What {ALARMS} false alarms in a row for every label change (Macro / Micro / Label-set, mean over data "
            f"sets): {'; '.join(parts)}."
        )


def _cost(plan: Plan, results: Results) -> ResultTable:
    columns = [Column("data set"), *(Column(f"{name}, CPU s", 2) for name in (WHOLE, *PEERS))]
    columns += [Column(f"{name}, MB", 0) for name in (WHOLE, *PEERS)]
    rows: list[list[Value]] = []
    for data_set in _data_sets(plan):
        there = [variant(plan, data_set, name) for name in (WHOLE, *PEERS)]
        seconds: list[Value] = [results.mean(run, "learn_seconds") for run in there]
        memory: list[Value] = [results.mean(run, "peak_rss_mb") for run in there]
        rows.append([data_set, *seconds, *memory])
    caption = "CPU seconds of learning and predicting, and peak memory of the process that did it, mean over the seeds."
    return ResultTable(f"{TARGET}-cost", caption, columns, rows)


def _loss(known: dict[tuple[str, str, str], float], data_set: str, figure: str) -> float | None:
    cells = [known.get((vote, data_set, figure)) for vote in GATE]
    gated, own, full = cells
    return None if gated is None or own is None or full is None else gated - max(own, full)


def _wins(known: dict[tuple[str, str, str], float]) -> Iterator[str]:
    differences = {
        f"{data_set} {FIGURES[figure]}": value - paper.best(data_set)[list(FIGURES).index(figure)]
        for (name, data_set, figure), value in known.items()
        if name == WHOLE
    }
    lost = [f"{cell} ({by:+.3f})" for cell, by in differences.items() if by <= 0]
    yield (
        f"Marlene is above the best of all methods in the paper's table in {len(differences) - len(lost)} of "
        f"{len(differences)} cells; not in: {listed(lost)}."
    )


def _ranks(plan: Plan, known: dict[tuple[str, str, str], float]) -> Iterator[str]:
    compared = (WHOLE, *PEERS)
    parts = []
    for figure, kind in FIGURES.items():
        ranks: dict[str, list[float]] = {name: [] for name in compared}
        for data_set in _data_sets(plan):
            if all((name, data_set, figure) in known for name in compared):
                for name in compared:
                    mine = known[name, data_set, figure]
                    others = [known[other, data_set, figure] for other in compared if other != name]
                    ranks[name].append(1 + sum(o > mine for o in others) + sum(o == mine for o in others) / 2)
        if ranks[WHOLE]:
            parts.append(f"{kind}: " + ", ".join(f"`{name}` {statistics.fmean(ranks[name]):.2f}" for name in compared))
    if parts:
        yield f"Average ranks over the data sets among the three, 1 is best. {'; '.join(parts)}."


def _worth(plan: Plan, known: dict[tuple[str, str, str], float]) -> Iterator[str]:
    parts = []
    for name, (method, options) in VARIANTS.items():
        if method == "marlene" and options:
            by = {
                kind: [
                    known[WHOLE, data_set, figure] - known[name, data_set, figure]
                    for data_set in _data_sets(plan)
                    if {(WHOLE, data_set, figure), (name, data_set, figure)} <= known.keys()
                ]
                for figure, kind in FIGURES.items()
            }
            if all(by.values()):
                means = " / ".join(f"{statistics.fmean(values):+.3f}" for values in by.values())
                parts.append(f"*{name}* {means}")
    if parts:
        said = "; ".join(parts)
        yield f"What Marlene gains over each variant (Macro / Micro / Label-set, mean over data sets): {said}."


def _rotation(plan: Plan, known: dict[tuple[str, str, str], float]) -> Iterator[str]:
    losses = {
        f"{data_set} {kind}": loss
        for data_set in _data_sets(plan)
        for figure, kind in FIGURES.items()
        if (loss := _loss(known, data_set, figure)) is not None
    }
    if losses:
        worst = min(losses, key=losses.__getitem__)
        yield (
            f"With rotated labels the gate is within {CLOSE} of the better of no transfer and the full vote in "
            f"{sum(loss >= -CLOSE for loss in losses.values())} of {len(losses)} cells, and worse by {CLEAR} in "
            f"{sum(loss <= -CLEAR for loss in losses.values())}; the worst is {worst} ({losses[worst]:+.3f})."
        )
