"""Demšar's critical-difference diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.experiments.statistics import groups_without_difference

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.figure import Figure

ROW = 0.26
BAR = 0.16
INK = "#222222"
ACCENT = "#d55e00"


def critical_difference_diagram(
    ranks: Sequence[float],
    names: Sequence[str],
    critical_difference: float,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "",
) -> Figure:
    """Draw mean ranks on a line, and join methods that do not differ significantly by bars.

    Parameters
    ----------
    ranks, names
        Mean rank and name of every method.
    critical_difference
        As `nemenyi_critical_difference` returns it.
    path
        Where to save the figure; the suffix says how (.svg, .png, .pdf).
    title
        Written above.

    Examples
    --------
    >>> figure = critical_difference_diagram([1.3, 2.9, 1.8], ["ours", "theirs", "another"], 0.9)
    >>> sorted(text.get_text() for text in figure.axes[0].texts)[-3:]
    ['CD = 0.90', 'another  1.80', 'ours  1.30']
    """
    if len(ranks) != len(names) or len(names) < 2:
        raise MarleneError(f"a diagram needs a name for every rank and at least two, not {len(names)} for {len(ranks)}")
    order = np.argsort(np.asarray(ranks), kind="stable").tolist()
    groups = groups_without_difference(ranks, critical_difference)
    left = (len(names) + 1) // 2
    height = 1.0 + BAR * len(groups) + ROW * left + (0.3 if title else 0)
    # Not pyplot: it keeps figures alive and picks a window system.
    figure: Figure = optional("matplotlib.figure", "experiments", "drawing a diagram").Figure(
        figsize=(7, height), layout="constrained"
    )
    axes = figure.add_subplot()
    last = len(names)
    axes.set(xlim=(0.1 - 0.28 * last, last + 0.9 + 0.28 * last), ylim=(-(height - 0.75), 0.75))
    axes.axis("off")
    axes.plot([1, last], [0, 0], color=INK, lw=1)
    for tick in range(1, last + 1):
        axes.plot([tick, tick], [0, 0.07], color=INK, lw=1)
        axes.text(tick, 0.1, str(tick), ha="center", va="bottom", fontsize=9)
    _draw_scale(axes, critical_difference)
    for number, group in enumerate(groups):
        y = -BAR * (number + 1)
        axes.plot([ranks[group[0]] - 0.04, ranks[group[-1]] + 0.04], [y, y], color=ACCENT, lw=3, solid_capstyle="round")
    first = -BAR * (len(groups) + 1) - 0.15
    for position, i in enumerate(order):
        on_left = position < left
        # The best and the worst stand highest, so that lines do not cross.
        y = first - ROW * (position if on_left else last - 1 - position)
        edge, side = (0.8, "right") if on_left else (last + 0.2, "left")
        axes.plot([ranks[i], ranks[i], edge], [0, y, y], color=INK, lw=0.8)
        text = f"{names[i]}  {ranks[i]:.2f}" if on_left else f"{ranks[i]:.2f}  {names[i]}"
        axes.text(edge - 0.05 if on_left else edge + 0.05, y, text, ha=side, va="center", fontsize=9)
    if title:
        axes.set_title(title, fontsize=10)
    if path is not None:
        figure.savefig(path)
    return figure


def _draw_scale(axes: Any, critical_difference: float) -> None:  # noqa: ANN401 (axes of a package that may be absent)
    y = 0.45
    axes.plot([1, 1 + critical_difference], [y, y], color=ACCENT, lw=1.5)
    for end in (1, 1 + critical_difference):
        axes.plot([end, end], [y - 0.05, y + 0.05], color=ACCENT, lw=1.5)
    axes.text(1 + critical_difference / 2, y + 0.07, f"CD = {critical_difference:.2f}", ha="center", fontsize=8)
