"""The figure of transfer: the share of weight that other labels and streams have, over time."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import PROPOSED, WITH_RIVER, Plan
from marlene.experiments.reproduce._table import Column, ResultTable, Value
from marlene.experiments.reproduce._words import compare, say, seeds_in_words
from marlene.learners import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from marlene._common.arrays import Floats, Ints

    Found = dict[str, dict[str, "Shares"]]
    """What was recorded, by stream and method; methods that were not run are absent."""

NAME = "fig-aswr"
SETTLED = 0.05


@dataclass(frozen=True)
class Shares:
    """The average source weight ratio of one method on one stream.

    Parameters
    ----------
    at
        After how many examples.
    values
        Seeds × places.
    even
        The ratio with uniform weights: every label (or pair) of every stream has the same.
    seeds
        The seeds.
    """

    at: Ints
    values: Floats
    even: float
    seeds: tuple[int, ...]

    def settled(self) -> Floats:
        """Return the mean over seeds at all places but those in the first twentieth of the stream."""
        later: Floats = self.values.mean(axis=0)[self.at > SETTLED * self.at[-1]]
        return later

    def summary(self) -> list[float]:
        """Return mean, least and last of these, and the ratio with uniform weights."""
        later = self.settled()
        return [float(later.mean()), float(later.min()), float(later[-1]), self.even]


def page(plan: Plan, results: Results) -> Page:
    """Return the weight of transfer on one synthetic stream and on Yeast."""
    found: Found = {}
    for method in PROPOSED:
        for title, run in plan.transfer_streams(method).items():
            one = shares(results, run)
            found.setdefault(title, {}).update({method: one} if one else {})
    synthetic, _ = plan.transfer_streams(PROPOSED[0]).values()
    drifts = {time for row in results.rows(synthetic) for times in row["true_drifts"].values() for time in times}
    figure = Drawn(NAME, say(NAME, "caption"), _draw(found, drifts))
    return Page([*_findings(found)], [_table(found)], [figure], plan.notes(NAME))


def shares(results: Results, run: Run) -> Shares | None:
    """Return what was recorded of a run; None if it was not run."""
    traces = results.traces(run, "aswr", "aswr_at", "transfer", "transfer_from")
    if not traces:
        return None
    labels = traces[0]["transfer"].shape[0]
    streams = len(np.unique(traces[0]["transfer_from"][:, 0]))
    of_stream = labels * (labels - 1) if METHODS[run.method].pairs else labels
    values = np.array([found["aswr"] for found in traces])
    return Shares(traces[0]["aswr_at"], values, 1 - 1 / (streams * of_stream), results.seeds(run))


def _draw(found: Found, drifts: set[int]) -> Figure:
    with drawing.new_figure(9, 3.4) as figure:
        panels = figure.subplots(1, len(found), sharey=True)
        for place, (axes, (title, by_method)) in enumerate(zip(panels, found.items(), strict=True)):
            for method, curve in by_method.items():
                colour = drawing.colour_of(method)
                drawing.draw_band(axes, curve.at, curve.values, color=colour)
                axes.axhline(curve.even, color=colour, linestyle=(0, (4, 3)), linewidth=1, alpha=0.7)
            if place == 0:
                drawing.mark_drifts(axes, drifts)
                axes.set_ylabel("average source weight ratio")
            axes.set(title=title, xlabel="example", ylim=(_lowest(found), 1.01))
            axes.margins(x=0.01)
        handles = [panels[0].plot([], [], color=drawing.colour_of(method))[0] for method in PROPOSED]
        handles.append(panels[0].plot([], [], color=drawing.FAINT, linestyle=(0, (4, 3)), linewidth=1)[0])
        handles.append(panels[0].plot([], [], color=drawing.INK, linestyle=(0, (1, 2)), linewidth=0.9)[0])
        figure.legend(handles, [*PROPOSED, "uniform weights", "drift"], loc="outside upper center", ncols=4)
    return figure


def _lowest(found: Found) -> float:
    """Return where the axis begins: a tenth below all that comes after the start, where nothing has weight yet."""
    curves = [curve for by_method in found.values() for curve in by_method.values()]
    return max(0.0, min((float(curve.settled().min()) for curve in curves), default=0.1) - 0.1)


def _table(found: Found) -> ResultTable:
    rows: list[list[Value]] = []
    for title, method in itertools.product(found, PROPOSED):
        curve = found[title].get(method)
        numbers = curve.summary() if curve else [None] * 4
        rows.append([title, method, *numbers, seeds_in_words(curve.seeds if curve else ())])
    headings = ("stream", "method", "mean", "least", "at the end", "uniform weights", "seeds")
    return ResultTable(NAME, say(NAME, "table"), [Column(heading) for heading in headings], rows)


def _findings(found: Found) -> Iterator[str]:
    for title, there in found.items():
        if len(there) < len(PROPOSED):
            yield say(NAME, "none", title=title, names=" and ".join(m for m in PROPOSED if m not in there))
            continue
        means = {method: float(curve.settled().mean()) for method, curve in there.items()}
        shown = (say(NAME, "one", mean=means[method], method=method, even=c.even) for method, c in there.items())
        single, pairs = means.values()
        higher = "higher" if pairs > single else "not higher"
        yield compare(NAME, "ratio", title=title, shown=" and ".join(shown), higher=higher)
    yield say(NAME, "reading")


TARGET = ReproduceTarget(NAME, (WITH_RIVER,), Plan.transfer_runs, page)
