"""A figure beyond the paper's: all methods over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import WITH_RIVER, Plan, compared
from marlene.experiments.reproduce._words import SCORES, say
from marlene.learners import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene._common.arrays import Floats

NAME = "fig-windows"
POINTS = 400


def runs(plan: Plan) -> Iterator[Run]:
    """Return all methods on Yeast."""
    return (run for run in plan.real_runs() if run.stream["load"] == WITH_RIVER)


def page(plan: Plan, results: Results) -> Page:
    """Draw the windowed G-Means of all methods on Yeast."""
    runs_of = {method: plan.real(WITH_RIVER, method) for method in compared()}
    steps = {method: found for method, run in runs_of.items() if len(found := results.mean_steps(run))}
    with drawing.new_figure(11, 4.2) as figure:
        panels = figure.subplots(1, len(SCORES))
        for place, (axes, short) in enumerate(zip(panels, SCORES.values(), strict=True)):
            for method, found in steps.items():
                row = results.rows(runs_of[method])[0]
                at = np.linspace(0, len(found) - 1, min(POINTS, len(found))).astype(int)
                axes.plot(row["start"] + 1 + at, found[at, place], **drawing.line_of(method))
            label = "G-Mean in the window" if place == 0 else ""
            axes.set(title=f"{short}-G-Mean", xlabel="example", ylabel=label)
            drawing.leave_out_starts(axes, [found[:, place] for found in steps.values()])
            axes.margins(x=0.01)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=7, handlelength=3)
    seeds = results.said_seeds(run for method, run in runs_of.items() if METHODS[method].random and method in steps)
    shown = [Drawn(NAME, say(NAME, "caption"), figure)]
    return Page([_leaders(steps, seeds)], figures=shown, notes=plan.notes(NAME))


def _leaders(steps: dict[str, Floats], seeds: str) -> str:
    if not steps:
        return say(NAME, "none")
    names, parts = list(steps), []
    for place, short in enumerate(SCORES.values()):
        table = np.column_stack([found[:, place] for found in steps.values()])
        ahead = np.bincount(table.argmax(axis=1), minlength=len(names)) / len(table)
        best = int(ahead.argmax())
        parts.append(f"`{names[best]}` by {short}-G-Mean (at {ahead[best]:.0%} of the steps)")
    return say(NAME, "leaders", seeds=seeds, shown=", ".join(parts))


TARGET = ReproduceTarget(NAME, (WITH_RIVER,), runs, page)
