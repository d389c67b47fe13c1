"""The picture of `transfer`: scores around a swap of all labels, and which label inherited from which."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.experiments.reproduce import _drawing as drawing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from marlene._common.arrays import Floats

MOST_LABELS = 22
KNEW, OTHER, OWN_PAST = "from the label that had learnt it", "from another label", "from its own past"
MARKS: dict[str, dict[str, Any]] = {
    OWN_PAST: {"marker": "|", "color": drawing.FAINT, "markersize": 5},
    OTHER: {"marker": "o", "color": drawing.VERMILION, "markersize": 4.5, "markerfacecolor": "white"},
    KNEW: {"marker": "o", "color": drawing.VERMILION, "markersize": 4.5},
}
"""How it is shown from whom a label inherits."""


@dataclass(frozen=True)
class Curve:
    """A score over time, and how it is drawn."""

    at: Floats
    values: Floats
    style: dict[str, Any]


@dataclass(frozen=True)
class Swap:
    """What is known of the first swap of a run.

    Parameters
    ----------
    time, begin, end
        When it is, and the first and last example that are drawn.
    labels
        The labels in order.
    knew
        For every label, the one that had learnt its values before the swap.
    events
        For every label, when it inherited and from which label, while the picture lasts.
    """

    time: int
    begin: int
    end: int
    labels: list[str]
    knew: dict[str, str]
    events: dict[str, list[tuple[int, str]]]

    @classmethod
    def of(cls, row: dict[str, Any], truth: Any, unswapped: Any) -> Swap:  # noqa: ANN401 (arrays)
        """Read a row and the true labels of the same stream, with and without swaps."""
        times = sorted({time for times in row["true_drifts"].values() for time in times})
        first, following = times[0], (*times, row["examples"])[1]
        begin, end = max(0, first - row["examples"] // 20), min(following, first + row["examples"] // 6)
        labels = list(row["true_drifts"])
        part = slice(first, following)
        knew = {}
        for j, label in enumerate(labels):
            same = (unswapped[part] == truth[part, j : j + 1]).all(axis=0)
            knew[label] = labels[int(same.argmax())] if same.any() else ""
        inherited = row["inherited"] or {}
        events = {
            label: [(time, giver) for time, _, giver in inherited.get(label, []) if begin <= time < end]
            for label in labels
        }
        return cls(first, begin, end, labels, knew, events)

    def origin(self, label: str, giver: str, time: int) -> str:
        """Return from whom a label inherits: one of `MARKS`."""
        if giver == label:
            return OWN_PAST
        return KNEW if time >= self.time and giver == self.knew[label] else OTHER

    def firsts(self) -> Iterator[tuple[str, int, str]]:
        """Return for every label when it first inherited from another after the swap, and from which."""
        for label, events in self.events.items():
            for time, giver in events:
                if time >= self.time and giver != label:
                    yield label, time, giver
                    break

    def found(self) -> tuple[int, int]:
        """Return how many labels found the one that had learnt their values, and after how many examples (median)."""
        first = {}
        for label, events in self.events.items():
            for time, giver in reversed(events):
                if self.origin(label, giver, time) == KNEW:
                    first[label] = time - self.time
        return len(first), int(statistics.median(first.values())) if first else 0


def draw(figure: Figure, title: str, curves: dict[str, Curve], swap: Swap) -> None:
    """Draw the curves, and below them a line for every label with a mark wherever it inherited."""
    labels = swap.labels[:MOST_LABELS]
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 0.4 + len(labels) / 15))
    for name, curve in curves.items():
        inside = (swap.begin <= curve.at) & (curve.at < swap.end)
        above.plot(curve.at[inside], curve.values[inside], label=name, **curve.style)
    above.set(ylabel="Macro-G-Mean", title=title, xlim=(swap.begin, swap.end))
    above.legend(loc="lower right", ncols=2)
    place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "ha": "center"}
    above.annotate("all labels change places", (swap.time, 1), (0, 4), **place)
    _draw_heirs(below, swap, labels)
    for axes in (above, below):
        drawing.mark_drifts(axes, [swap.time])


def _draw_heirs(axes: Axes, swap: Swap, labels: list[str]) -> None:
    """Draw a line for every label, a mark for every time it inherited, and the first giver after the swap."""
    for kind, style in MARKS.items():
        marks = [
            (time, row)
            for row, label in enumerate(labels)
            for time, giver in swap.events[label]
            if swap.origin(label, giver, time) == kind
        ]
        axes.plot(*np.array(marks).reshape(-1, 2).T, linestyle="none", label=kind, zorder=3, **style)
    for label, time, giver in swap.firsts():
        if label in labels:
            place = (time, labels.index(label))
            axes.annotate(f"← {giver}", place, (3, 1.5), textcoords="offset points", va="bottom", fontsize=6.5)
    axes.set_yticks(range(len(labels)), labels, fontsize=7.5)
    axes.set(xlabel="example", ylim=(len(labels) - 0.4, -0.8), title="A label inherits")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3, borderaxespad=0, columnspacing=1.5, handlelength=1)
