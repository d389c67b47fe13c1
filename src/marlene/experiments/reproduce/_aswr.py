"""The figure of transfer: the share of weight that other labels and streams have, over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page
from marlene.experiments.reproduce._plan import PROPOSED, WITH_RIVER
from marlene.experiments.reproduce._results import seeds_in_words
from marlene.experiments.reproduce._table import Column, ResultTable
from marlene.streams import synthetic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from marlene._common.arrays import Floats, Ints
    from marlene.experiments._grid import Run
    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._results import Results
    from marlene.experiments.reproduce._table import Value

TARGET = "fig-aswr"
COLOURS = {"br-marlene": drawing.VERMILION, "brpw-marlene": drawing.BLUE}
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
        What it would be if every label (or pair) of every stream had the same weight.
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


def page(plan: Plan, results: Results) -> Page:
    """Return the weight of transfer on one synthetic stream and on Yeast."""
    drift, size = plan.transfer
    streams = {f"{drift}, size {size}, similar sources": drift, "Yeast": WITH_RIVER}
    found = {
        title: {method: shares(results, _run(plan, name, method), method) for method in PROPOSED}
        for title, name in streams.items()
    }
    drifts = _true_drifts(drift, size)
    caption = (
        "Average source weight ratio over time: the share of weight held by sub-classifiers of other labels and "
        "streams (of other pairs, for BRPW-MARLENE). Lines: mean over the seeds, with a band from the least to the "
        "greatest where there are several; dashes: what it would be if every label (or pair) of every stream had the "
        "same weight."
    )
    figure = _draw(found, drifts)
    return Page(
        TARGET,
        "The weight of transfer",
        [*_findings(found)],
        [_table(found)],
        [Drawn(TARGET, caption, figure)],
    )


def shares(results: Results, run: Run, method: str) -> Shares | None:
    """Return what was recorded of a run; None if it was not run."""
    traces = results.traces(run, "aswr", "aswr_at", "transfer", "transfer_from")
    if not traces:
        return None
    labels = traces[0]["transfer"].shape[0]
    streams = len(np.unique(traces[0]["transfer_from"][:, 0]))
    of_stream = labels if method == "br-marlene" else labels * (labels - 1)
    values = np.array([found["aswr"] for found in traces])
    return Shares(traces[0]["aswr_at"], values, 1 - 1 / (streams * of_stream), results.seeds(run))


def _run(plan: Plan, name: str, method: str) -> Run:
    if name == WITH_RIVER:
        return plan.real(WITH_RIVER, method)
    return plan.synthetic(*plan.transfer, method, "similar")


def _true_drifts(drift: str, size: int) -> list[int]:
    segments = len(synthetic.synthetic_concepts(drift))
    return [segment * size * len(synthetic.LABELS) for segment in range(1, segments)]


def _draw(found: dict[str, dict[str, Shares | None]], drifts: list[int]) -> Figure:
    with drawing.figure_style():
        figure = drawing.new_figure(9, 3.4)
        panels = figure.subplots(1, len(found), sharey=True)
        for place, (axes, (title, by_method)) in enumerate(zip(panels, found.items(), strict=True)):
            for method, curve in by_method.items():
                if curve is not None:
                    _curve(axes, method, curve)
            if place == 0:
                drawing.mark_drifts(axes, drifts)
                axes.set_ylabel("average source weight ratio")
            axes.set(title=title, xlabel="example", ylim=(_lowest(found), 1.01))
            axes.margins(x=0.01)
        handles = [panels[0].plot([], [], color=COLOURS[method])[0] for method in PROPOSED]
        handles.append(panels[0].plot([], [], color=drawing.FAINT, linestyle=(0, (4, 3)), linewidth=1)[0])
        handles.append(panels[0].plot([], [], color=drawing.INK, linestyle=(0, (1, 2)), linewidth=0.9)[0])
        figure.legend(handles, [*PROPOSED, "all weights even", "drift"], loc="outside upper center", ncols=4)
    return figure


def _lowest(found: dict[str, dict[str, Shares | None]]) -> float:
    """Return where the axis begins: a tenth below all that comes after the start, where nothing has weight yet."""
    curves = [curve for by_method in found.values() for curve in by_method.values() if curve is not None]
    return max(0.0, min((float(curve.settled().min()) for curve in curves), default=0.1) - 0.1)


def _curve(axes: Axes, method: str, curve: Shares) -> None:
    colour = COLOURS[method]
    axes.plot(curve.at, curve.values.mean(axis=0), color=colour)
    if len(curve.values) > 1:
        axes.fill_between(
            curve.at, curve.values.min(axis=0), curve.values.max(axis=0), color=colour, alpha=0.15, linewidth=0
        )
    axes.axhline(curve.even, color=colour, linestyle=(0, (4, 3)), linewidth=1, alpha=0.7)


def _table(found: dict[str, dict[str, Shares | None]]) -> ResultTable:
    rows: list[list[Value]] = []
    for title, by_method in found.items():
        for method, curve in by_method.items():
            if curve is None:
                rows.append([title, method, None, None, None, None, "none"])
                continue
            later = curve.settled()
            numbers = [float(later.mean()), float(later.min()), float(later[-1]), curve.even]
            rows.append([title, method, *numbers, seeds_in_words(curve.seeds)])
    headings = ("stream", "method", "mean", "least", "at the end", "all weights even", "seeds")
    caption = (
        "Average source weight ratio after the first twentieth of the stream. The paper prints curves without numbers."
    )
    return ResultTable(TARGET, caption, [Column(heading) for heading in headings], rows)


def _findings(found: dict[str, dict[str, Shares | None]]) -> Iterator[str]:
    for title, by_method in found.items():
        there = {method: curve for method, curve in by_method.items() if curve is not None}
        if len(there) < len(PROPOSED):
            yield f"{title}: not run with {' and '.join(m for m in PROPOSED if m not in there)}."
            continue
        means = {method: float(curve.settled().mean()) for method, curve in there.items()}
        higher = means["brpw-marlene"] > means["br-marlene"]
        shown = " and ".join(
            f"{means[method]:.3f} for {method} (even weights: {curve.even:.3f})" for method, curve in there.items()
        )
        yield (
            f"{title}: the ratio is {shown} on average. It is "
            f"{'higher' if higher else 'not higher'} for BRPW-MARLENE; the paper finds it higher."
        )
    yield (
        "The paper reads a ratio that stays high as a sign that transfer helps. A high ratio alone says little: with "
        "many labels and streams it is near 1 even if all weights are the same, hence the dashed lines; what transfer "
        "is worth is in the rows `br-marlene` and `br-resampled` of the table of real data."
    )
