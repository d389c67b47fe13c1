"""How all figures look, and how they are saved."""

from __future__ import annotations

import contextlib
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.extras import optional
from marlene._common.files import atomic_write
from marlene.learners import METHODS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from marlene._common.arrays import Floats

INK, FAINT = "#222222", "#8a8a8a"
# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
ORANGE, SKY, GREEN, YELLOW = "#e69f00", "#56b4e9", "#009e73", "#f0e442"
BLUE, VERMILION, PURPLE = "#0072b2", "#d55e00", "#cc79a7"
# An ensemble has a colour, a transformation a line style.
ENSEMBLES = {"bagging": ORANGE, "adwin-bagging": SKY, "goowe": GREEN}
TRANSFORMATIONS: dict[str, Any] = {
    "binary-relevance": "solid",
    "chain": (0, (5, 1.5)),
    "pruned-sets": (0, (1, 1.2)),
    "multi-target": (0, (4, 1.2, 1, 1.2)),
}
STYLE = resources.files(__package__).joinpath("figures.mplstyle")


@contextlib.contextmanager
def figure_style() -> Iterator[None]:
    """Draw in the one style that all figures have."""
    matplotlib = optional("matplotlib", "experiments", "drawing a figure")
    with resources.as_file(STYLE) as path, matplotlib.rc_context(fname=path):
        yield


@contextlib.contextmanager
def new_figure(width: float, height: float) -> Iterator[Figure]:
    """Give an empty figure of this size in inches, without a window, to draw on in the style of all figures."""
    made = optional("matplotlib.figure", "experiments", "drawing a figure")
    with figure_style():
        yield made.Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write NAME.png, NAME.svg and NAME.pdf; the same figure gives the same bytes on any day."""
    undated: dict[str, dict[str, None]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
    for suffix, metadata in undated.items():
        with figure_style(), atomic_write(folder / f"{name}.{suffix}") as file:
            figure.savefig(file, format=suffix, metadata=metadata, facecolor="white")


def colour_of(name: str) -> str:
    """Return the colour of a method: one per ensemble, and one per other type of method."""
    method = METHODS[name]
    if method.ensemble is not None:
        return ENSEMBLES.get(method.ensemble, PURPLE)
    if not method.transfer:
        return INK
    return BLUE if method.pairs else VERMILION


def line_of(name: str) -> dict[str, Any]:
    """Return how the curve of a method is drawn beside all others."""
    method = METHODS[name]
    if method.ensemble is None:
        return {"color": colour_of(name), "linewidth": 1.9, "label": name, "zorder": 3}
    style = TRANSFORMATIONS.get(method.transformation or "", "solid")
    return {"color": colour_of(name), "linestyle": style, "linewidth": 1.2, "label": name}


def not_run(axes: Axes, title: str) -> None:
    """Say in an empty panel that there is nothing to draw."""
    axes.set_title(title)
    axes.text(0.5, 0.5, "not run", transform=axes.transAxes, ha="center", color=FAINT)


def draw_band(axes: Axes, at: Any, values: Floats, **style: Any) -> None:  # noqa: ANN401
    """Draw the mean over the rows and, with several rows, a band from the least to the greatest."""
    axes.plot(at, values.mean(axis=0), **style)
    if len(values) > 1:
        axes.fill_between(at, values.min(axis=0), values.max(axis=0), color=style["color"], alpha=0.12, linewidth=0)


def leave_out_starts(axes: Axes, curves: Sequence[Floats]) -> None:
    """Begin the vertical axis below nearly all of the curves; their first steps from 0 would flatten the rest."""
    if not curves:
        return
    low = min(float(np.quantile(curve, 0.06)) for curve in curves)
    high = max(float(np.quantile(curve, 0.995)) for curve in curves)
    axes.set_ylim(max(0.0, low - 0.05), min(1.01, high + 0.05))


def mark_drifts(axes: Axes, times: Iterable[int]) -> None:
    """Draw a line where a label drifts."""
    for time in times:
        axes.axvline(time, color=INK, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
