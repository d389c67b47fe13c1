"""The figure of labels: the G-Mean of single labels since their last drift."""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import PROPOSED, SETTINGS, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import compare, say, seeds_in_words
from marlene.experiments.reproduce.targets.table_synthetic import setting_name
from marlene.learners import METHODS
from marlene.streams import synthetic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from marlene._common.arrays import Array, Floats

    Found = dict[tuple[tuple[str, int], str], dict[tuple[str, str], "Curves | None"]]

NAME = "fig-labels"
DRAWN = synthetic.LABELS[:2]
COLOURS = {"none": drawing.INK, "non-similar": drawing.ORANGE, "similar": drawing.BLUE}
LINES = {name: "solid" if METHODS[name].pairs else (0, (3, 1.2)) for name in PROPOSED}
POINTS = 300
ENDS = ((0.0, 0.1), (0.9, 1.0))
"""The first and the last tenth of a concept."""


@dataclass(frozen=True)
class Curves:
    """The G-Mean of a label over time with one setting, every seed a row.

    Parameters
    ----------
    values
        Seeds × examples.
    drifts
        Examples before which the label drifts.
    seeds
        The seeds.
    """

    values: Floats
    drifts: tuple[int, ...]
    seeds: tuple[int, ...]

    def parts(self) -> list[slice]:
        """Return the examples of every concept of the label."""
        return concepts(self.drifts, self.values.shape[1])

    def mean_of_part(self, first: float, last: float) -> float:
        """Return the mean from one share of every concept to another (0 is its start, 1 its end)."""
        chosen = []
        for part in self.parts():
            length = part.stop - part.start
            chosen.append(self.values[:, part][:, int(first * length) : max(1, int(last * length))])
        return float(np.concatenate(chosen, axis=1).mean())


def concepts(drifts: Sequence[int], examples: int) -> list[slice]:
    """Return the examples of every concept of a label."""
    return [slice(begin, end) for begin, end in itertools.pairwise([0, *drifts, examples])]


def gmean_since_drift(pred: Array, truth: Array, drifts: Sequence[int]) -> Floats:
    """Return the G-Mean over all examples since the last drift, at every example; 0 while a class has no hit.

    Examples
    --------
    >>> gmean_since_drift(np.array([1, 0, 1, 1]), np.array([1, 0, 0, 1]), drifts=[2])
    array([0., 1., 0., 0.])
    """
    values = np.zeros(len(truth))
    for part in concepts(drifts, len(truth)):
        right, positive = pred[part] == truth[part], truth[part] == 1
        rates = []
        for of_class in (positive, ~positive):
            seen = np.cumsum(of_class)
            rates.append(np.divide(np.cumsum(right & of_class), seen, out=np.zeros(len(seen)), where=seen > 0))
        values[part] = np.sqrt(rates[0] * rates[1])
    return values


def curves(results: Results, run: Run, label: str) -> Curves | None:
    """Return the curves of a label of a run; None if it was not run."""
    rows = results.rows(run)
    if not rows:
        return None
    drifts = tuple(rows[0]["true_drifts"][label])
    q = synthetic.LABELS.index(label)
    traces = results.traces(run, "pred", "truth")
    values = [gmean_since_drift(found["pred"][:, q], found["truth"][:, q], drifts) for found in traces]
    return Curves(np.array(values), drifts, results.seeds(run))


def page(plan: Plan, results: Results) -> Page:
    """Return the curves of two labels on every stream of the paper's figure."""
    found = {
        (stream, label): {s: curves(results, plan.synthetic(*stream, *s), label) for s in SETTINGS}
        for stream in plan.panels
        for label in DRAWN
    }
    figure = Drawn(NAME, say(NAME, "caption"), _draw(plan, found))
    return Page([*_findings(found)], [_table(found)], [figure], plan.notes(NAME))


def _draw(plan: Plan, found: Found) -> Figure:
    rows = -(-len(plan.panels) // 2)
    with drawing.new_figure(11, 0.55 + 2.05 * rows) as figure:
        axes = figure.subplots(rows, 4, squeeze=False).ravel()
        for place, ((stream, label), settings) in enumerate(found.items()):
            _panel(axes[place], stream, label, settings)
            if place % 4 == 0:
                axes[place].set_ylabel("G-Mean since drift")
            if place + 4 >= len(found):
                axes[place].set_xlabel("example")
        for unused in axes[len(found) :]:
            unused.axis("off")
        handles, names = [], []
        # Legends are filled column by column.
        for sources, colour in COLOURS.items():
            for method in PROPOSED:
                handles += axes[0].plot([], [], color=colour, linestyle=LINES[method])
                names.append(f"{method}, {sources} sources" if sources != "none" else f"{method}, no sources")
        figure.legend(handles, names, loc="outside upper center", ncols=3)
    return figure


def _panel(axes: Axes, stream: tuple[str, int], label: str, settings: dict[tuple[str, str], Curves | None]) -> None:
    for (method, sources), curve in settings.items():
        if curve is None:
            continue
        for part in curve.parts():
            step = max(1, (part.stop - part.start) * len(curve.parts()) // POINTS)
            at = np.unique(np.append(np.arange(part.start, part.stop, step), part.stop - 1))
            style = {"color": COLOURS[sources], "linestyle": LINES[method], "linewidth": 1.3}
            drawing.draw_band(axes, at, curve.values[:, at], **style)
        drawing.mark_drifts(axes, curve.drifts if sources == "none" else ())
    axes.set_title(f"{stream[0]}, size {stream[1]}: {label}")
    drawing.leave_out_starts(axes, [curve.values.mean(axis=0) for curve in settings.values() if curve is not None])
    axes.margins(x=0.01)
    axes.ticklabel_format(axis="x", style="plain")
    axes.locator_params(axis="x", nbins=4)


def _table(found: Found) -> ResultTable:
    rows: list[list[Value]] = []
    for ((drift, size), label), settings in found.items():
        cells: list[Value] = [None if c is None else float(c.values.mean()) for c in settings.values()]
        seeds = dict.fromkeys(seeds_in_words(c.seeds if c else ()) for c in settings.values())
        rows.append([drift, size, label, *cells, "; ".join(seeds)])
    columns = [Column(heading) for heading in ("drift", "size", "label")]
    columns += [Column(setting_name(*setting), best="max") for setting in SETTINGS]
    return ResultTable(NAME, say(NAME, "table"), [*columns, Column("seeds")], rows, compared="rows")


def _findings(found: Found) -> Iterator[str]:
    """Say what similar sources are worth at the start and at the end of a concept, with and without drift."""
    gains: dict[str, list[list[float]]] = {}
    for settings in found.values():
        for method in PROPOSED:
            with_them, without = settings[method, "similar"], settings[method, "none"]
            if with_them is not None and without is not None:
                gain = [with_them.mean_of_part(*part) - without.mean_of_part(*part) for part in ENDS]
                gains.setdefault("drift" if with_them.drifts else "do not drift", []).append(gain)
    if not gains:
        yield say(NAME, "none")
        return
    means = {drift: [statistics.fmean(values) for values in zip(*both, strict=True)] for drift, both in gains.items()}
    parts = [say(NAME, "part", drift=drift, first=first, last=last) for drift, (first, last) in means.items()]
    yield compare(NAME, "gains", parts="; ".join(parts))
    yield compare(NAME, "fades" if all(abs(last) < abs(first) for first, last in means.values()) else "stays")


TARGET = ReproduceTarget(NAME, (), lambda plan: plan.synthetic_runs(plan.panels), page)
