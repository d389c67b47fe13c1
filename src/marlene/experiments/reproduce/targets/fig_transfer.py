"""A figure beyond the paper's: whose sub-classifiers carry the votes on a label."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.extras import optional
from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, WITH_RIVER, Plan
from marlene.experiments.reproduce._words import say

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from marlene._common.arrays import Floats

NAME = "fig-transfer"


def page(plan: Plan, results: Results) -> Page:
    """Draw the matrix of transfer at the end of Yeast and of a synthetic stream with similar sources."""
    synthetic, real = plan.transfer_streams(BR).items()
    told = []
    with drawing.new_figure(11, 4.6) as figure:
        panels = figure.subplots(1, 2, width_ratios=(1, 1.15))
        for axes, (title, run) in zip(panels, (real, synthetic), strict=True):
            found = mean_transfer(results, run)
            if found is None:
                drawing.not_run(axes, title)
                told.append(say(NAME, "none", title=title))
                continue
            matrix, givers = found
            image = _heat_map(axes, matrix, givers, title)
            figure.colorbar(image, ax=axes, shrink=0.75, label="weight, in uniform shares")
            told.append(_own_share(matrix, givers, title, results.said_seeds([run])))
    return Page(told, figures=[Drawn(NAME, say(NAME, "caption"), figure)], notes=plan.notes(NAME))


def mean_transfer(results: Results, run: Run) -> tuple[Floats, list[tuple[str, str]]] | None:
    """Return the shares of weight (labels × givers), mean over the seeds, and the givers; None if it was not run."""
    traces = results.traces(run, "transfer", "transfer_from")
    if not traces:
        return None
    every = [[(str(stream), str(label)) for stream, label in found["transfer_from"]] for found in traces]
    # Sorting is stable: the target, whose name is empty, comes first, and labels keep their order.
    givers = sorted(dict.fromkeys(itertools.chain(*every)), key=lambda giver: giver[0])
    total = np.zeros((traces[0]["transfer"].shape[0], len(givers)))
    for found, own in zip(traces, every, strict=True):
        total[:, [givers.index(giver) for giver in own]] += found["transfer"]
    return total / len(traces), givers


def _heat_map(axes: Axes, matrix: Floats, givers: list[tuple[str, str]], title: str) -> Any:  # noqa: ANN401
    axes.grid(visible=False)
    multiples = matrix * len(givers)
    colours: Any = optional("matplotlib.colors", "experiments", "drawing a figure")
    norm = colours.TwoSlopeNorm(1, 0, max(2, float(multiples.max())))
    image = axes.imshow(multiples, cmap="PuOr_r", norm=norm, aspect="auto")
    labels = [label for stream, label in givers if not stream]
    axes.set_yticks(range(len(labels)), labels)
    names = [label if not stream else f"{stream} {label}" for stream, label in givers]
    axes.set_xticks(range(len(givers)), names, rotation=90)
    patches: Any = optional("matplotlib.patches", "experiments", "drawing a figure")
    for row, label in enumerate(labels):
        corner = (givers.index(("", label)) - 0.5, row - 0.5)
        box = patches.Rectangle(corner, 1, 1, fill=False, edgecolor=drawing.INK, linewidth=1.3, clip_on=False)
        axes.add_patch(box)
    for edge in range(1, len(givers)):
        if givers[edge][0] != givers[edge - 1][0]:
            axes.axvline(edge - 0.5, color="white", linewidth=4)
    axes.tick_params(length=0)
    axes.set(title=title, ylabel="label that is predicted", xlabel="label that was learnt")
    return image


def _own_share(matrix: Floats, givers: list[tuple[str, str]], title: str, seeds: str) -> str:
    labels = [label for stream, label in givers if not stream]
    own = [float(matrix[row, givers.index(("", label))]) for row, label in enumerate(labels)]
    first = sum(matrix[row].argmax() == givers.index(("", label)) for row, label in enumerate(labels))
    shares = {"least": min(own), "most": max(own), "even": 1 / len(givers)}
    return say(NAME, "own", title=title, first=first, labels=len(labels), seeds=seeds, **shares)


TARGET = ReproduceTarget(NAME, (WITH_RIVER,), Plan.transfer_runs, page)
