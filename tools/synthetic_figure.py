"""Draw docs/synthetic.svg: where the Gaussians of the paper's synthetic streams lie, and what drifts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import matplotlib.pyplot as plt

from marlene.streams.synthetic import DRIFT_TYPES, Concept, synthetic_concepts, synthetic_experiment

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ["#0072b2", "#d55e00", "#777777", "#777777", "#777777"]
WORDS = {"S": "stable", "I": "incremental", "A": "abrupt"}


def draw_concepts(axes: Axes, concepts: list[Concept]) -> None:
    """Draw every Gaussian as a circle of one standard deviation, its moves as fainter ones, its swaps as arrows."""
    first, last = concepts[0], concepts[-1]
    for q, colour in enumerate(COLOURS):
        for number, concept in enumerate(concepts):
            if number and (concept.means[q] == concepts[number - 1].means[q]).all():
                continue
            axes.add_patch(plt.Circle(concept.means[q], 1, color=colour, alpha=0.35 if not number else 0.12, lw=0))
            if number:
                axes.annotate(
                    "",
                    concept.means[q],
                    concepts[number - 1].means[q],
                    arrowprops={"arrowstyle": "->", "color": colour},
                )
        axes.text(*first.means[q], f"$l_{q + 1}$", ha="center", va="center", color="black")
        if first.positive[q] != last.positive[q]:
            arrow = {"arrowstyle": "->", "color": colour, "connectionstyle": "arc3,rad=0.35", "linestyle": "--"}
            arrow |= {"lw": 1.5, "shrinkA": 9, "shrinkB": 9}
            axes.annotate("", last.means[last.positive[q]], first.means[first.positive[q]], arrowprops=arrow)
    axes.set(xlim=(-5, 5), ylim=(-3.4, 5.4), aspect="equal", xticks=[], yticks=[])


def draw_timeline(axes: Axes, drift: str) -> None:
    """Draw the segments, and at which of their borders l1 and l2 drift."""
    made = synthetic_experiment(drift, size=1)
    segments = len(made.target) // 5
    for border in range(segments + 1):
        axes.axvline(border, color="#bbbbbb", lw=1)
    for row, label in enumerate(("l1", "l2")):
        axes.plot([0, segments], [-row, -row], color=COLOURS[row], lw=1)
        axes.plot([time / 5 for time in made.drifts[label]], [-row] * len(made.drifts[label]), "v", color=COLOURS[row])
        axes.text(-0.02 * segments, -row, f"$l_{row + 1}$", ha="right", va="center", fontsize=8)
    axes.set(xlim=(0, segments), ylim=(-1.8, 0.8))
    axes.axis("off")


def main() -> None:
    """Draw all six drift types and write the file."""
    # Text stays text, and nothing depends on the day: the file is small and the same every time.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "marlene", "font.family": "sans-serif"})
    figure, axes = plt.subplots(4, 3, figsize=(9, 7), height_ratios=[5, 1, 5, 1], layout="constrained")
    for number, drift in enumerate(DRIFT_TYPES):
        top, column = 2 * (number // 3), number % 3
        draw_concepts(axes[top, column], synthetic_concepts(drift))
        axes[top, column].set_title(f"{drift}: $l_1$ {WORDS[drift[0]]}, $l_2$ {WORDS[drift[1]]}", fontsize=10)
        draw_timeline(axes[top + 1, column], drift)
    figure.savefig(Path(__file__).parents[1] / "docs" / "synthetic.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
