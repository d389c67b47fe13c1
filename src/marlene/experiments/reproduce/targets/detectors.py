"""Beyond the paper: which drifts every detector finds and how late, how often it errs, and what BR-MARLENE scores.

Which drifts are found does not depend on the votes: a detector watches the latest sub-classifier of a label.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, FEW_SEEDS, PAPER_DATA_SETS, RESAMPLED, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import SCORES, largest, listed, say
from marlene.streams.synthetic import LABELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Options = dict[str, Any]
    Stream = tuple[str, int | str]
    """Type and size of a synthetic stream, or a data set and its change."""

NAME = "detectors"
OURS, PAPERS = "balanced", "ddm-oci"
DETECTORS: dict[str, Options] = {
    OURS: {"drift": OURS},
    PAPERS: {"drift": PAPERS},
    "ddm-oci, published rule": {"drift": {"name": PAPERS, "strict": False}},
    "ddm": {"drift": "ddm"},
    "adwin": {"drift": "adwin"},
}
WITHOUT = "none"
NOTHING: Options = {"drift": WITHOUT}
SETTINGS: dict[str, Options] = {
    "balanced, better (default)": DETECTORS[OURS],
    "balanced, all": DETECTORS[OURS] | {"retired": "all"},
    "ddm-oci, all (paper)": DETECTORS[PAPERS],
    "ddm-oci, better": DETECTORS[PAPERS] | {"retired": "better"},
    "ddm, all": DETECTORS["ddm"],
    "adwin, all": DETECTORS["adwin"],
    WITHOUT: NOTHING,
}
"""Detectors with rules for retired voters, whose scores are compared."""
ALONE = f"{RESAMPLED}, {OURS}"
"""The row of BR-MARLENE without transfer, with the default detector."""
DEFAULT, BEFORE = "balanced, better (default)", "ddm-oci, all (paper)"
BESIDE = (DEFAULT, BEFORE, WITHOUT)
CLEAR = 0.005
"""A loss that is larger matters."""
AS_IT_IS, ROTATED, GRADUAL = "as it is", "rotated", "gradual"
CHANGES = (ROTATED, GRADUAL)
CHANGED = (AS_IT_IS, *CHANGES)
STABLE, INCREMENTAL, ABRUPT = "S", "I", "A"
STATIONARY = STABLE + STABLE
PER = 10_000


@dataclass
class Tally:
    """Drifts and alarms of some labels of some runs.

    Parameters
    ----------
    true, found
        How many drifts there are, and how many were found before the next one of the label.
    late, share
        Of those found, after how many examples, and after which share of the time until the next one.
    alarms, examples
        How many alarms found no drift, and in how many examples (of each label).
    """

    true: int = 0
    found: int = 0
    late: list[int] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    alarms: int = 0
    examples: int = 0

    def add(self, true: list[int], alarms: list[int], examples: int) -> None:
        """Count what happened to one label."""
        self.true += len(true)
        self.examples += examples
        self.alarms += len(alarms)
        for begin, end in itertools.pairwise([*true, examples]):
            hits = [time for time in alarms if begin <= time < end]
            if hits:
                self.found += 1
                self.alarms -= 1
                self.late.append(hits[0] - begin)
                self.share.append((hits[0] - begin) / (end - begin))

    @property
    def rate(self) -> float | None:
        """Alarms that found no drift, per `PER` examples of a label."""
        return PER * self.alarms / self.examples if self.examples else None

    @property
    def part(self) -> float | None:
        """The share of drifts that were found."""
        return self.found / self.true if self.true else None

    def cells(self) -> list[Value]:
        """Return drifts, share found, median delay and further alarms."""
        late = float(statistics.median(self.late)) if self.late else None
        return [self.true, self.part, late, self.rate]


def runs(plan: Plan) -> Iterator[Run]:
    """Return every detector on every synthetic stream, and on data sets as they are and changed."""
    every = (*DETECTORS.values(), NOTHING)
    synthetic = itertools.product(plan.synthetic_streams(), every)
    yield from plan.seeded((_synthetic(plan, *cell) for cell in synthetic), FEW_SEEDS)
    yield from (_real(plan, *cell) for cell in itertools.product(plan.among(), CHANGES, every))
    as_they_are = itertools.product(plan.among(), [AS_IT_IS], (*DETECTORS.values(), *SETTINGS.values()))
    yield from plan.seeded((_real(plan, *cell) for cell in as_they_are), FEW_SEEDS)
    yield from plan.seeded((_alone(plan, data_set) for data_set in plan.among()), FEW_SEEDS)


def page(plan: Plan, results: Results) -> Page:
    """Return the tables and what they show."""
    tables = [_summary_table(plan, results), _synthetic_table(plan, results), _real_table(plan, results)]
    tables += [*(_score_table(plan, results, score) for score in SCORES), _drifting_table(plan, results)]
    findings = [*_said_summary(plan, results), *_said_scores(plan, results), *_said_drifting(plan, results)]
    return Page(findings or [say(NAME, "none")], tables, notes=plan.notes(NAME, per=PER, seeds=FEW_SEEDS))


def _synthetic(plan: Plan, stream: tuple[str, int], options: Options) -> Run:
    run = plan.synthetic(*stream, BR, "none")
    return Run(run.stream, BR, options)


def _real(plan: Plan, data_set: str, change: str, options: Options) -> Run:
    how = {} if change == AS_IT_IS else {"change": change} | ({"change_seed": 1} if change == GRADUAL else {})
    return plan.real(data_set, BR, options, how)


def _alone(plan: Plan, data_set: str) -> Run:
    """Return the run without transfer."""
    return plan.real(data_set, RESAMPLED, DETECTORS[OURS])


def _tallied(results: Results, asked: Iterable[Run], labels: dict[str, str] | None, letter: str = "") -> Tally:
    """Count drifts and alarms of all labels, or of those with a letter."""
    tally = Tally()
    for run in asked:
        for row in results.rows(run):
            found, true = row["found_drifts"] or {}, row["true_drifts"]
            names = [*true] if true else _labels_of(results, run)
            for label in names:
                if labels is None or labels[label] == letter:
                    times = [time for time in true.get(label, []) if time < row["examples"]]
                    tally.add(times, found.get(label, []), row["examples"])
    return tally


def _unchanged(plan: Plan, results: Results, change: str, options: Options) -> Tally:
    """Count what is found if nothing changes: alarms of data sets as they are, at the place of every drift."""
    tally = Tally()
    for data_set in plan.among():
        same = {row["seed"]: row for row in results.rows(_real(plan, data_set, AS_IT_IS, options))}
        for row in results.rows(_real(plan, data_set, change, options), same):
            for label, times in row["true_drifts"].items():
                alarms = (same[row["seed"]]["found_drifts"] or {}).get(label, [])
                tally.add([time for time in times if time < row["examples"]], alarms, row["examples"])
    return tally


def _labels_of(results: Results, run: Run) -> list[str]:
    """Return the labels of a data set that is as it is."""
    givers = results.traces(run, "transfer_from")[0]["transfer_from"]
    return [str(label) for stream, label in givers if not stream]


def _letters(drift: str) -> dict[str, str]:
    """Return how every label of a synthetic stream drifts."""
    return dict(zip(LABELS, [*drift, *STABLE * (len(LABELS) - len(drift))], strict=True))


def _of_letter(plan: Plan, results: Results, options: Options, letter: str) -> Tally:
    """Count the labels of all synthetic streams that drift so; of stable ones those where no label drifts."""
    tally = Tally()
    for drift, size in plan.synthetic_streams():
        if letter in drift and (letter != STABLE or drift == STATIONARY):
            one = _tallied(results, [_synthetic(plan, (drift, size), options)], _letters(drift), letter)
            for name in ("true", "found", "late", "share", "alarms", "examples"):
                setattr(tally, name, getattr(tally, name) + getattr(one, name))
    return tally


def _unchanged_of(change: str) -> str:
    """Return the name of the group in which nothing changes."""
    return f"{change}: unchanged"


def _groups(plan: Plan, results: Results, options: Options) -> dict[str, Tally]:
    """Return the tallies of the summary by what the streams are like."""
    changed = {
        how: _tallied(results, (_real(plan, data_set, how, options) for data_set in plan.among()), None)
        for how in CHANGED
    }
    unchanged = {_unchanged_of(change): _unchanged(plan, results, change, options) for change in CHANGES}
    return unchanged | {
        "stationary": _of_letter(plan, results, options, STABLE),
        AS_IT_IS: changed[AS_IT_IS],
        "abrupt": _of_letter(plan, results, options, ABRUPT),
        ROTATED: changed[ROTATED],
        GRADUAL: changed[GRADUAL],
        "incremental": _of_letter(plan, results, options, INCREMENTAL),
    }


def _summary_table(plan: Plan, results: Results) -> ResultTable:
    columns = [Column("detector"), Column("stationary: alarms", 2), Column("as it is: alarms", 2)]
    drifting = ("abrupt", ROTATED, GRADUAL, "incremental")
    for group in drifting:
        columns.append(Column(f"{group}: found", 2))
        columns += [Column(_unchanged_of(group), 2)] if group in CHANGES else []
        columns.append(Column(f"{group}: delay", 2, ""))
    rows: list[list[Value]] = []
    for name, options in DETECTORS.items():
        groups = _groups(plan, results, options)
        row: list[Value] = [name, groups["stationary"].rate, groups[AS_IT_IS].rate]
        for group in drifting:
            tally = groups[group]
            row.append(tally.part)
            row += [groups[_unchanged_of(group)].part] if group in CHANGES else []
            row.append(statistics.median(tally.share) if tally.share else None)
        rows.append(row)
    return ResultTable(f"{NAME}-summary", say(NAME, "summary", per=PER), columns, rows)


def _detail(heading: tuple[str, str, str], rows: list[list[Value]], name: str) -> ResultTable:
    columns = [*map(Column, heading), Column("detector"), Column("drifts", 0), Column("found", 2, "")]
    columns += [Column("delay", 0, ""), Column("alarms", 2), Column("seeds")]
    return ResultTable(f"{NAME}-{name}", say(NAME, name, per=PER), columns, rows)


def _synthetic_table(plan: Plan, results: Results) -> ResultTable:
    rows: list[list[Value]] = []
    for drift, size in plan.synthetic_streams():
        for letter in sorted({*drift, STABLE}):
            for name, options in DETECTORS.items():
                run = _synthetic(plan, (drift, size), options)
                tally = _tallied(results, [run], _letters(drift), letter)
                rows.append([drift, str(size), letter, name, *tally.cells(), results.said_seeds([run])])
    return _detail(("stream", "size", "labels"), rows, "synthetic")


def _real_table(plan: Plan, results: Results) -> ResultTable:
    rows: list[list[Value]] = []
    for data_set, change in itertools.product(plan.among(), CHANGED):
        for name, options in DETECTORS.items():
            run = _real(plan, data_set, change, options)
            tally = _tallied(results, [run], None)
            labels = str(len(_labels_of(results, run)) if results.rows(run) else 0)
            rows.append([data_set, change, labels, name, *tally.cells(), results.said_seeds([run])])
    return _detail(("data set", "change", "labels"), rows, "real")


def _score_table(plan: Plan, results: Results, score: str) -> ResultTable:
    names = plan.among()
    rows: list[list[Value]] = []
    for name, options in SETTINGS.items():
        values = [results.mean(_real(plan, data_set, AS_IT_IS, options), score) for data_set in names]
        rows.append([name, *values, _mean_of_all(values)])
    values = [results.mean(_alone(plan, data_set), score) for data_set in names]
    rows.append([ALONE, *values, _mean_of_all(values)])
    columns = [Column("detector, retired voters"), *(Column(name, best="max") for name in names), Column("mean")]
    short = SCORES[score]
    return ResultTable(f"{NAME}-{short.lower()}", say(NAME, "scores", short=short), columns, rows)


def _mean_of_all(values: list[float | None]) -> float | None:
    """Return the mean if every value is known."""
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known and len(known) == len(values) else None


def _drifting(plan: Plan, results: Results, options: Options) -> dict[str, float | None]:
    """Return the Macro-G-Mean by type of synthetic stream (mean over sizes) and change (mean over data sets)."""
    score = next(iter(SCORES))
    means = {
        drift: [results.mean(_synthetic(plan, (drift, size), options), score) for size in plan.sizes]
        for drift in plan.drift_types
    }
    means |= {
        change: [results.mean(_real(plan, data_set, change, options), score) for data_set in plan.among()]
        for change in CHANGED
    }
    return {group: _mean_of_all(values) for group, values in means.items()}


def _drifting_table(plan: Plan, results: Results) -> ResultTable:
    columns = [Column("detector"), *(Column(group, best="max") for group in (*plan.drift_types, *CHANGED))]
    compared = (DETECTORS | {WITHOUT: NOTHING}).items()
    rows: list[list[Value]] = [[name, *_drifting(plan, results, options).values()] for name, options in compared]
    return ResultTable(f"{NAME}-drifting", say(NAME, "drifting"), columns, rows)


def _said_drifting(plan: Plan, results: Results) -> Iterator[str]:
    every = [_drifting(plan, results, SETTINGS[name]) for name in BESIDE]
    values = {group: [found[group] for found in every] for group in every[0]}
    shown = [
        f"{group} {' / '.join(f'{value:.3f}' for value in found if value is not None)}"
        for group, found in values.items()
        if None not in found
    ]
    if shown:
        yield say(NAME, "beside", shown=", ".join(shown))


def _said_summary(plan: Plan, results: Results) -> Iterator[str]:
    alarms, shares, more = [], [], []
    for name, options in DETECTORS.items():
        groups = _groups(plan, results, options)
        rates = [groups[group].rate for group in ("stationary", AS_IT_IS)]
        parts = [groups[group].part for group in ("abrupt", ROTATED, GRADUAL, "incremental")]
        if None not in rates:
            alarms.append(f"`{name}` {' and '.join(f'{rate:.2f}' for rate in rates)}")
        shares.append(f"`{name}` {' / '.join('–' if part is None else f'{part:.0%}' for part in parts)}")
        same = {change: groups[_unchanged_of(change)].part for change in CHANGES}
        gains = [
            f"{100 * (found - part):+.0f}"
            for change, part in same.items()
            if part is not None and (found := groups[change].part) is not None
        ]
        more += [f"`{name}` {same[ROTATED]:.0%}, {' / '.join(gains)}"] if len(gains) == len(CHANGES) else []
    if alarms:
        yield say(NAME, "alarms", per=PER, shown="; ".join(alarms))
    if any("%" in share for share in shares):
        yield say(NAME, "found", shown="; ".join(shares))
    if more:
        yield say(NAME, "chance", shown="; ".join(more))


def _gains(plan: Plan, results: Results, over: Callable[[str], Run]) -> dict[str, float]:
    """Return by how much the default is above another run, for every data set and score that both have."""
    gains: dict[str, float] = {}
    for data_set, (score, short) in itertools.product(plan.among(), SCORES.items()):
        default = _real(plan, data_set, AS_IT_IS, SETTINGS[DEFAULT])
        ours, theirs = (results.mean(run, score) for run in (default, over(data_set)))
        if ours is not None and theirs is not None:
            gains[f"{data_set} {short}"] = ours - theirs
    return gains


def _said_scores(plan: Plan, results: Results) -> Iterator[str]:
    gains = _gains(plan, results, lambda data_set: _real(plan, data_set, AS_IT_IS, SETTINGS[BEFORE]))
    if gains:
        lost = [f"{cell} ({by:+.4f})" for cell, by in gains.items() if by < -CLEAR]
        best = max(gains, key=gains.__getitem__)
        mean = statistics.fmean(gains.values())
        yield say(
            NAME, "chosen", mean=mean, best=best, most=gains[best], lost=listed(lost), count=len(gains), clear=CLEAR
        )
        yield _said_where(plan, results, best.split()[0])
        yield from _said_transfer(plan, results)


def _said_transfer(plan: Plan, results: Results) -> Iterator[str]:
    """Say what transfer is worth with the default."""
    gains = _gains(plan, results, lambda data_set: _alone(plan, data_set))
    if gains:
        above = sum(by > 0 for by in gains.values())
        mean = statistics.fmean(gains.values())
        yield say(NAME, "transfer", above=above, count=len(gains), mean=mean, largest=largest(gains))


def _said_where(plan: Plan, results: Results, data_set: str) -> str:
    """Say the scores on a data set with the default, with the paper's detector and without any."""
    shown = []
    for name in BESIDE:
        means = [results.mean(_real(plan, data_set, AS_IT_IS, SETTINGS[name]), score) for score in SCORES]
        said = " / ".join("not run" if mean is None else f"{mean:.3f}" for mean in means)
        shown.append(f"{said} with *{name}*")
    return say(NAME, "where", data_set=data_set, shown=", ".join(shown))


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, runs, page, most_seeds=FEW_SEEDS)
