"""The index of all pages: what each of them found, and what the runs behind them took."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from marlene._common.files import atomic_write
from marlene.experiments.reproduce._page import joined
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import say, seeds_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from marlene.experiments._grid import Run
    from marlene.experiments.reproduce._page import ReproduceTarget
    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._results import Results

INDEX = "index.md"
HOUR = 3600


@dataclass(frozen=True)
class Cost:
    """What a target takes, without the runs that an earlier target needs as well.

    Parameters
    ----------
    target
        Its name.
    seeds
        The seeds of the runs that are there.
    runs, seconds
        How many runs are there, and their CPU time.
    planned, needed
        How many runs the plan has, and their CPU time: a run that is absent takes as long as the same with other
        seeds on average.
    unknown
        How many runs of the plan are absent with every seed. Their time is not counted.
    """

    target: str
    seeds: tuple[int, ...]
    runs: int
    seconds: float
    planned: int
    needed: float
    unknown: int


def costs(plan: Plan, results: Results, targets: Mapping[str, ReproduceTarget]) -> list[Cost]:
    """Return what every target took, and what it takes with this plan; a run counts for the first that needs it."""
    counted: set[str] = set()
    counted_alone: set[str] = set()
    return [
        _sum(
            name,
            [
                _cost(name, target.runs(plan), results, counted),
                _cost(name, target.measured(plan), results.measured, counted_alone),
            ],
        )
        for name, target in targets.items()
    ]


def _cost(name: str, planned: Iterable[Run], results: Results, counted: set[str]) -> Cost:
    """Return what these runs and the same with other seeds took, but those counted before; count them."""
    wanted = {run.key: run for run in planned}
    taken: dict[str, float] = {}
    seeds: set[int] = set()
    needed, unknown = 0.0, 0
    for key, run in wanted.items():
        rows = results.rows(run)
        seconds = {row["key"]: float(row["cpu_seconds"]) for row in rows}
        new = {row["key"]: row["seed"] for row in rows if row["key"] not in counted}
        taken |= {each: seconds[each] for each in new}
        seeds |= set(new.values())
        if key in counted:
            continue
        if seconds:
            needed += seconds.get(key, statistics.fmean(seconds.values()))
        else:
            unknown += 1
    left = len([key for key in wanted if key not in counted])
    counted |= {*wanted, *taken}
    return Cost(name, tuple(sorted(seeds)), len(taken), sum(taken.values()), left, needed, unknown)


def _sum(name: str, parts: Sequence[Cost]) -> Cost:
    """Return parts as one."""
    return Cost(
        name,
        tuple(sorted({seed for one in parts for seed in one.seeds})),
        sum(one.runs for one in parts),
        sum(one.seconds for one in parts),
        sum(one.planned for one in parts),
        sum(one.needed for one in parts),
        sum(one.unknown for one in parts),
    )


def write_index(
    out: Path, targets: Mapping[str, ReproduceTarget], start: Sequence[str], plan: Plan, results: Results
) -> None:
    """Write the index: how to read it, the findings of every page that is there, and what everything took."""
    parts = [f"# {say('index', 'title')}", *start]
    for target in targets:
        page = out / f"{target}.md"
        if page.is_file():
            title, _, findings = page.read_text(encoding="utf-8").partition("\n## ")[0].partition("\n")
            parts += [f"## {title.removeprefix('# ')}", findings.strip(), f"Everything: [{target}.md]({target}.md)"]
    parts += _cost_section(costs(plan, results, targets), plan, results)
    with atomic_write(out / INDEX) as file:
        file.write(joined(parts).encode())


def _cost_section(every: Sequence[Cost], plan: Plan, results: Results) -> list[str]:
    """Return what everything took, by target."""
    whole = _sum("all", every)
    rows: list[list[Value]] = [
        [
            one.target,
            *(str(number) for number in (one.runs, one.planned)),
            one.seconds / HOUR,
            one.needed / HOUR,
            seeds_in_words(one.seeds),
        ]
        for one in (*every, whole)
        if one.planned
    ]
    columns = [Column("target"), Column("runs"), Column("runs of the plan"), Column("CPU hours", 2)]
    columns += [Column("CPU hours of the plan", 2), Column("seeds")]
    machines = "; ".join(sorted(results.machines())) or "no machine"
    said = {"runs": whole.runs, "hours": whole.seconds / HOUR, "machines": machines, "seeds": len(plan.seeds)}
    said |= {"planned": whole.planned, "needed": whole.needed / HOUR}
    said |= {"bound": "more than" if whole.unknown else "about"}
    plans = [] if plan.quick else [say("index", "cost-plan", **said)]
    plans += [say("index", "cost-unknown", unknown=whole.unknown)] if whole.unknown else []
    return [
        f"## {say('index', 'cost-title')}",
        " ".join([say("index", "cost", **said), *plans]),
        ResultTable("costs", "", columns, rows).markdown(),
        say("index", "cost-note"),
    ]
