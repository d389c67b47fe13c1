"""What transfer is worth right after a drift: the drifted label with it and without it."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import TYPE_CHECKING, NamedTuple

from scipy import stats

from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, RESAMPLED, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import say, seeds_in_words
from marlene.experiments.reproduce.targets.fig_labels import gmean_since_drift
from marlene.streams import synthetic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAME = "after-drift"
SOURCES = ("none", "non-similar", "similar")
SPANS = (50, 100, 250)
"""How many examples since the drift are scored."""
LARGEST, CONFIDENCE = 500, 0.95


class Gain(NamedTuple):
    """A mean difference with its interval of confidence; without an interval if there is one seed only."""

    mean: float
    low: float | None
    high: float | None


def runs(plan: Plan) -> Iterator[Run]:
    """Return both methods on all streams with drifts, which are signalled; only one of them learns from sources."""
    for stream in _streams(plan):
        wanted = [plan.synthetic(*stream, BR, sources) for sources in SOURCES]
        yield from plan.seeded([*wanted, plan.synthetic(*stream, RESAMPLED, "none")])


def page(plan: Plan, results: Results) -> Page:
    """Return a table for each size of streams."""
    findings: list[str] = []
    tables: list[ResultTable] = []
    for size in dict.fromkeys(size for _, size in _streams(plan)):
        found: dict[tuple[str, int], list[Gain]] = {}
        drifts = dict.fromkeys(drift for drift, _ in _streams(plan))
        settings = itertools.product(drifts, SOURCES, SPANS)
        rows = [_row(plan, results, (drift, size), sources, span, found) for drift, sources, span in settings]
        headings = ("drift", "sources", "examples since")
        columns = [Column(heading) for heading in headings] + [Column(BR), Column(RESAMPLED), Column("difference")]
        columns += [Column("low", absent=""), Column("high", absent=""), Column("seeds")]
        tables.append(ResultTable(f"{NAME}-{size}", say(NAME, "caption", size=size), columns, rows))
        findings += [
            _finding(size, sources, found[sources, SPANS[0]]) for sources in SOURCES if found.get((sources, SPANS[0]))
        ]
    return Page(findings or [say(NAME, "none")], tables, notes=plan.notes(NAME))


def gain(differences: Sequence[float]) -> Gain:
    """Return the mean of differences between pairs of runs, with its 95 % interval by Student's t.

    Examples
    --------
    >>> gain([0.5]), gain([0.5, 0.5])
    (Gain(mean=0.5, low=None, high=None), Gain(mean=0.5, low=0.5, high=0.5))
    """
    mean, count = statistics.fmean(differences), len(differences)
    if count < 2:
        return Gain(mean, None, None)
    half = float(stats.t.ppf((1 + CONFIDENCE) / 2, count - 1)) * statistics.stdev(differences) / math.sqrt(count)
    return Gain(mean, mean - half, mean + half)


def after_drifts(results: Results, run: Run, span: int) -> dict[int, float]:
    """Return for every seed the G-Mean over the first examples after a drift: mean over drifts of all labels."""
    values = {}
    for row, arrays in zip(results.rows(run), results.traces(run, "pred", "truth"), strict=True):
        scored = []
        for q, label in enumerate(synthetic.LABELS):
            drifts = row["true_drifts"].get(label)
            if not drifts:
                continue
            curve = gmean_since_drift(arrays["pred"][:, q], arrays["truth"][:, q], drifts)
            ends = zip(drifts, [*drifts[1:], len(curve)], strict=True)
            scored += [float(curve[min(begin + span, end) - 1]) for begin, end in ends]
        values[int(row["seed"])] = statistics.fmean(scored)
    return values


def _streams(plan: Plan) -> list[tuple[str, int]]:
    """Return type and size of the streams with drifts that are not too large."""
    return [(drift, size) for drift, size in plan.synthetic_streams() if set(drift) != {"S"} and size <= LARGEST]


def _row(
    plan: Plan,
    results: Results,
    stream: tuple[str, int],
    sources: str,
    span: int,
    found: dict[tuple[str, int], list[Gain]],
) -> list[Value]:
    """Return a row of a table; what it says is added to `found`."""
    ours = after_drifts(results, plan.synthetic(*stream, BR, sources), span)
    alone = after_drifts(results, plan.synthetic(*stream, RESAMPLED, "none"), span)
    seeds = tuple(seed for seed in ours if seed in alone)
    start: list[Value] = [stream[0], sources, span]
    if not seeds:
        return [*start, None, None, None, None, None, seeds_in_words(())]
    said = gain([ours[seed] - alone[seed] for seed in seeds])
    found.setdefault((sources, span), []).append(said)
    means = [statistics.fmean(values[seed] for seed in seeds) for values in (ours, alone)]
    return [*start, *means, *said, seeds_in_words(seeds)]


def _finding(size: int, sources: str, gains: Sequence[Gain]) -> str:
    sure = [one for one in gains if one.low is not None and one.high is not None]
    better, worse = sum(one.low > 0 for one in sure if one.low), sum(one.high < 0 for one in sure if one.high)
    means = [one.mean for one in gains]
    sizes = {"least": min(means), "most": max(means), "better": better, "worse": worse, "count": len(gains)}
    return say(NAME, "finding", size=size, sources=sources, span=SPANS[0], **sizes)


TARGET = ReproduceTarget(NAME, (), runs, page)
