"""Figures beyond the paper's: who helps whom, when labels drift, and all methods over time."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.extras import optional
from marlene.experiments import paper
from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page
from marlene.experiments.reproduce._plan import DETECTED, REAL_METHODS, WITH_RIVER
from marlene.experiments.reproduce._results import seeds_in_words
from marlene.experiments.reproduce._words import listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from marlene._common.arrays import Floats
    from marlene.experiments._grid import Run
    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._results import Results

TRANSFER, DRIFTS, WINDOWS = "fig-transfer", "fig-drifts", "fig-windows"
NAMES = {"macro_gmean": "Macro-G-Mean", "micro_gmean": "Micro-G-Mean", "label_set_gmean": "Label-set-G-Mean"}
# An ensemble has a colour, a transformation a kind of line.
ENSEMBLES = {"ea": drawing.SKY, "go": drawing.GREEN, "e": drawing.ORANGE}
TRANSFORMATIONS: dict[str, Any] = {"br": "solid", "cc": (0, (5, 1.5)), "ps": (0, (1, 1.2)), "rt": (0, (4, 1.2, 1, 1.2))}
OWN = {"br-marlene": drawing.VERMILION, "brpw-marlene": drawing.BLUE, "br-resampled": drawing.INK}
POINTS = 400


def windows_page(plan: Plan, results: Results) -> Page:
    """Draw the windowed G-Means of all methods on Yeast."""
    steps = {method: results.mean_steps(plan.real(WITH_RIVER, method)) for method in REAL_METHODS}
    there = [method for method in REAL_METHODS if len(steps[method])]
    with drawing.figure_style():
        figure = drawing.new_figure(11, 4.2)
        panels = figure.subplots(1, len(paper.FIGURES))
        for place, (axes, (column, name)) in enumerate(zip(panels, NAMES.items(), strict=True)):
            for method in there:
                row = results.rows(plan.real(WITH_RIVER, method))[0]
                at = np.linspace(0, len(steps[method]) - 1, min(POINTS, len(steps[method]))).astype(int)
                values = steps[method][at, paper.FIGURES.index(column)]
                axes.plot(row["start"] + 1 + at, values, **_line(method))
            axes.set(title=name, xlabel="example", ylabel="G-Mean in the window" if place == 0 else "")
            drawing.leave_out_starts(axes, [steps[method][:, paper.FIGURES.index(column)] for method in there])
            axes.margins(x=0.01)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=7, handlelength=3)
    caption = (
        "All methods on Yeast: G-Means in a window of a tenth of the stream, mean over the seeds. MARLENE's methods "
        "are drawn thick; of the others, the colour tells the ensemble and the line the transformation. Of "
        "methods that coincide, one hides the other."
    )
    told = [_leaders(steps, there)]
    return Page(WINDOWS, "All methods over time", told, figures=[Drawn(WINDOWS, caption, figure)])


def _line(method: str) -> dict[str, Any]:
    if method in OWN:
        return {"color": OWN[method], "linewidth": 1.9, "label": method, "zorder": 3}
    ensemble = next(prefix for prefix in ENSEMBLES if method.startswith(prefix))
    return {
        "color": ENSEMBLES[ensemble],
        "linestyle": TRANSFORMATIONS[method[-2:]],
        "linewidth": 1.2,
        "label": method,
    }


def _leaders(steps: dict[str, Floats], there: list[str]) -> str:
    if not there:
        return "Yeast: not run."
    parts = []
    for place, name in enumerate(NAMES.values()):
        table = np.column_stack([steps[method][:, place] for method in there])
        ahead = np.bincount(table.argmax(axis=1), minlength=len(there)) / len(table)
        best = int(ahead.argmax())
        parts.append(f"`{there[best]}` by {name} (at {ahead[best]:.0%} of the steps)")
    return f"Most often ahead on Yeast: {', '.join(parts)}."


def stream_with_known_drifts(plan: Plan) -> tuple[str, int]:
    """Return type and size of the synthetic stream on which found drifts are held against true ones."""
    drift = "IA" if "IA" in plan.drift_types else plan.drift_types[0]
    return drift, plan.sizes[len(plan.sizes) // 2]


def drifts_page(plan: Plan, results: Results) -> Page:
    """Draw when the labels of Yeast, and of a synthetic stream with known drifts, were found to drift."""
    drift, size = stream_with_known_drifts(plan)
    known = plan.synthetic(drift, size, "br-marlene", "none", detector=DETECTED)
    with drawing.figure_style():
        figure = drawing.new_figure(10, 4.2)
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        counts = _timeline(left, results, plan.real(WITH_RIVER, "br-marlene"), "Yeast")
        _timeline(right, results, known, f"{drift}, size {size}")
        handles = [
            right.plot([], [], color=drawing.INK, marker="|", markersize=13, linestyle="", markeredgewidth=1.2)[0],
            right.plot([], [], color=drawing.VERMILION, marker="o", markersize=4.5, linestyle="", alpha=0.7)[0],
        ]
        figure.legend(handles, ["true drift", f"found by {DETECTED.upper()}"], loc="outside upper center", ncols=2)
    caption = (
        "When labels were found to drift, by BR-MARLENE: on Yeast, where nobody knows the truth, and on a synthetic "
        "stream, where it is known. A dot is a drift found with one seed; seeds lie above one another."
    )
    run = plan.real(WITH_RIVER, "br-marlene")
    told = [_found_on_yeast(results.seeds(run), counts), *_delays(results, known, f"{drift}, size {size}")]
    return Page(DRIFTS, "Drifts over time", told, figures=[Drawn(DRIFTS, caption, figure)])


def _found_on_yeast(seeds: tuple[int, ...], counts: dict[str, int]) -> str:
    if not seeds:
        return "Yeast: not run."
    return (
        f"On Yeast, {DETECTED.upper()} finds {sum(counts.values()) / len(seeds):.1f} drifts per run (seeds "
        f"{seeds_in_words(seeds)}), most of them in: {_most(counts)}."
    )


def _most(counts: dict[str, int]) -> str:
    order = sorted((label for label in counts if counts[label]), key=lambda label: -counts[label])
    return listed(f"{label} ({counts[label]})" for label in order[:5])


def _timeline(axes: Axes, results: Results, run: Run, title: str) -> dict[str, int]:
    """Draw a line of dots per label; return how many drifts of each were found."""
    rows = results.rows(run)
    axes.set(title=title, xlabel="example")
    axes.margins(x=0.02)
    axes.grid(visible=False, axis="x")
    if not rows:
        axes.text(0.5, 0.5, "not run", transform=axes.transAxes, ha="center", color=drawing.FAINT)
        return {}
    labels = _labels(results, run)
    counts = dict.fromkeys(labels, 0)
    true_drifts = json.loads(rows[0]["true_drifts"])
    for number, row in enumerate(rows):
        lift = 0.5 * ((number + 0.5) / len(rows) - 0.5)
        for label, times in json.loads(row["found_drifts"]).items():
            y = labels.index(label)
            counts[label] += len(times)
            axes.plot(times, [y + lift] * len(times), "o", color=drawing.VERMILION, markersize=4.5, alpha=0.7, mew=0)
    for label, times in true_drifts.items():
        axes.plot(times, [labels.index(label)] * len(times), "|", color=drawing.INK, markersize=13, mew=1.2)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlim(0, rows[0]["examples"])
    return counts


def _labels(results: Results, run: Run) -> list[str]:
    """Return the names of the target's labels, as the matrix of transfer has them."""
    found = results.traces(run, "transfer_from")[0]["transfer_from"]
    return [str(label) for stream, label in found if not stream]


def _delays(results: Results, run: Run, title: str) -> list[str]:
    """Say how many true drifts were found before the next one of the label, and after how many examples."""
    found, true, delays, alarms = 0, 0, [], 0
    for row in results.rows(run):
        reported = json.loads(row["found_drifts"])
        for label, times in json.loads(row["true_drifts"]).items():
            ends = [*times, row["examples"]]
            true += len(times)
            alarms += len(reported.get(label, []))
            for begin, end in itertools.pairwise(ends):
                hits = [time for time in reported.get(label, []) if begin <= time < end]
                found += bool(hits)
                delays += [hits[0] - begin] if hits else []
    if not true:
        return []
    late = f", {np.median(delays):.0f} examples late in the median" if delays else ""
    return [f"On {title}, {found} of {true} true drifts were found{late}; {alarms - found} further alarms were given."]


def transfer_page(plan: Plan, results: Results) -> Page:
    """Draw the matrix of transfer at the end of Yeast and of a synthetic stream with similar sources."""
    drift, size = plan.transfer
    runs = {
        "Yeast": plan.real(WITH_RIVER, "br-marlene"),
        f"{drift}, size {size}, similar sources": plan.synthetic(drift, size, "br-marlene", "similar"),
    }
    told = []
    with drawing.figure_style():
        figure = drawing.new_figure(11, 4.6)
        panels = figure.subplots(1, 2, width_ratios=(1, 1.15))
        for axes, (title, run) in zip(panels, runs.items(), strict=True):
            found = mean_transfer(results, run)
            if found is None:
                axes.set_title(title)
                axes.text(0.5, 0.5, "not run", transform=axes.transAxes, ha="center", color=drawing.FAINT)
                told.append(f"{title}: not run.")
                continue
            matrix, givers = found
            image = _heat_map(axes, matrix, givers, title)
            figure.colorbar(image, ax=axes, shrink=0.75, label="weight, in even shares")
            told.append(_own_share(matrix, givers, title))
    caption = (
        "Whose sub-classifiers carry the vote on a label (row) at the end of the stream: the share of its weight that "
        "every label of every stream (column) has, by BR-MARLENE, mean over the seeds; 1 is what it would have if all "
        "had the same. Boxes: the label's own. A label that was found to drift "
        "has several sub-classifiers, and so more weight with all labels."
    )
    return Page(TRANSFER, "Who helps whom", told, figures=[Drawn(TRANSFER, caption, figure)])


def mean_transfer(results: Results, run: Run) -> tuple[Floats, list[tuple[str, str]]] | None:
    """Return the shares of weight (labels × givers), mean over the seeds, and the givers; None if it was not run."""
    traces = results.traces(run, "transfer", "transfer_from")
    if not traces:
        return None
    givers = list(dict.fromkeys(tuple(map(str, giver)) for found in traces for giver in found["transfer_from"]))
    givers.sort(key=lambda giver: giver[0])  # stable: the target, whose name is empty, comes first
    total = np.zeros((traces[0]["transfer"].shape[0], len(givers)))
    for found in traces:
        for column, giver in enumerate(found["transfer_from"]):
            total[:, givers.index(tuple(map(str, giver)))] += found["transfer"][:, column]
    return total / len(traces), [(giver[0], giver[1]) for giver in givers]


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
    for place in range(len(labels)):
        axes.add_patch(_box(place, givers.index(("", labels[place]))))
    for edge in range(1, len(givers)):
        if givers[edge][0] != givers[edge - 1][0]:
            axes.axvline(edge - 0.5, color="white", linewidth=4)
    axes.tick_params(length=0)
    axes.set(title=title, ylabel="label that is predicted", xlabel="label that was learnt")
    return image


def _box(row: int, column: int) -> Any:  # noqa: ANN401
    patches: Any = optional("matplotlib.patches", "experiments", "drawing a figure")
    return patches.Rectangle(
        (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=drawing.INK, linewidth=1.3, clip_on=False
    )


def _own_share(matrix: Floats, givers: list[tuple[str, str]], title: str) -> str:
    labels = [label for stream, label in givers if not stream]
    own = [float(matrix[row, givers.index(("", label))]) for row, label in enumerate(labels)]
    first = sum(matrix[row].argmax() == givers.index(("", label)) for row, label in enumerate(labels))
    return (
        f"{title}: a label's own sub-classifiers hold {min(own):.1%} to {max(own):.1%} of its weight at the end (even "
        f"weights: {1 / len(givers):.1%}); for {first} of {len(labels)} labels they hold more than any other."
    )
