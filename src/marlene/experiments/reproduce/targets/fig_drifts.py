"""A figure beyond the paper's: when labels drift."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._page import Drawn, Page, ReproduceTarget, Results, Run
from marlene.experiments.reproduce._plan import BR, DETECTED, WITH_RIVER, Plan
from marlene.experiments.reproduce._words import listed, say, seeds_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes


NAME = "fig-drifts"


def known(plan: Plan) -> tuple[str, Run]:
    """Return title and run of the synthetic stream on which found drifts are compared with true ones."""
    drift = "IA" if "IA" in plan.drift_types else plan.drift_types[0]
    size = plan.sizes[len(plan.sizes) // 2]
    return f"{drift}, size {size}", plan.synthetic(drift, size, BR, "none", detector=DETECTED)


def runs(plan: Plan) -> Iterator[Run]:
    """Return BR-MARLENE on Yeast and on the synthetic stream."""
    return plan.seeded([plan.real(WITH_RIVER, BR), known(plan)[1]])


def page(plan: Plan, results: Results) -> Page:
    """Draw when the labels of Yeast, and of a synthetic stream with known drifts, were found to drift."""
    title, synthetic = known(plan)
    real = plan.real(WITH_RIVER, BR)
    with drawing.new_figure(10, 4.2) as figure:
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        counts = _timeline(left, results, real, "Yeast")
        _timeline(right, results, synthetic, title)
        handles = [
            right.plot([], [], color=drawing.INK, marker="|", markersize=13, linestyle="", markeredgewidth=1.2)[0],
            right.plot([], [], color=drawing.VERMILION, marker="o", markersize=4.5, linestyle="", alpha=0.7)[0],
        ]
        figure.legend(handles, ["true drift", f"found by {DETECTED.upper()}"], loc="outside upper center", ncols=2)
    told = [_found_on_yeast(results.seeds(real), counts), *_delays(results, synthetic, title)]
    return Page(told, figures=[Drawn(NAME, say(NAME, "caption"), figure)], notes=plan.notes(NAME))


def _found_on_yeast(seeds: tuple[int, ...], counts: dict[str, int]) -> str:
    if not seeds:
        return say(NAME, "none")
    order = sorted((label for label in counts if counts[label]), key=lambda label: -counts[label])
    most = listed(f"{label} ({counts[label]})" for label in order[:5])
    mean = sum(counts.values()) / len(seeds)
    return say(NAME, "found", detector=DETECTED.upper(), mean=mean, seeds=seeds_in_words(seeds), most=most)


def _timeline(axes: Axes, results: Results, run: Run, title: str) -> dict[str, int]:
    """Draw a line of dots per label; return how many drifts of each were found."""
    rows = results.rows(run)
    if not rows:
        drawing.not_run(axes, title)
        return {}
    axes.set(title=title, xlabel="example")
    axes.margins(x=0.02)
    axes.grid(visible=False, axis="x")
    givers = results.traces(run, "transfer_from")[0]["transfer_from"]
    labels = [str(label) for stream, label in givers if not stream]
    counts = dict.fromkeys(labels, 0)
    for number, row in enumerate(rows):
        lift = 0.5 * ((number + 0.5) / len(rows) - 0.5)
        for label, times in row["found_drifts"].items():
            y = labels.index(label)
            counts[label] += len(times)
            axes.plot(times, [y + lift] * len(times), "o", color=drawing.VERMILION, markersize=4.5, alpha=0.7, mew=0)
    for label, times in rows[0]["true_drifts"].items():
        axes.plot(times, [labels.index(label)] * len(times), "|", color=drawing.INK, markersize=13, mew=1.2)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlim(0, rows[0]["examples"])
    return counts


def _delays(results: Results, run: Run, title: str) -> list[str]:
    """Say how many true drifts were found before the next one of the label, and after how many examples."""
    found, true, delays, alarms = 0, 0, [], 0
    for row in results.rows(run):
        reported = row["found_drifts"]
        for label, times in row["true_drifts"].items():
            true += len(times)
            alarms += len(reported.get(label, []))
            for begin, end in itertools.pairwise([*times, row["examples"]]):
                hits = [time for time in reported.get(label, []) if begin <= time < end]
                found += bool(hits)
                delays += [hits[0] - begin] if hits else []
    if not true:
        return []
    late = f", {np.median(delays):.0f} examples late in the median" if delays else ""
    told = {"title": title, "seeds": results.said_seeds([run]), "found": found, "true": true, "late": late}
    return [say(NAME, "delays", further=alarms - found, **told)]


TARGET = ReproduceTarget(NAME, (WITH_RIVER,), runs, page)
