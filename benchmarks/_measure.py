"""What the measurements have in common: a clock, tables and bounds."""

from __future__ import annotations

import os
import statistics
import sys
import textwrap
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    Cell = str | int | float

DATA = "MARLENE_DATA"


class Bound(NamedTuple):
    """A number that should be at least, or else at most, some limit."""

    what: str
    measured: float
    limit: float
    unit: str
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the limit was kept."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def __str__(self) -> str:
        direction = "at least" if self.at_least else "at most"
        verdict = "holds" if self.holds else "MISSED"
        return (
            f"Bound: {self.what} {direction} {as_text(self.limit)} {self.unit}. "
            f"Measured {as_text(self.measured)} {self.unit}: {verdict}."
        )


@dataclass
class Table:
    """One measurement: how it was made, its numbers, and what they should be."""

    title: str
    method: str
    columns: tuple[str, ...] = ()
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    bounds: list[Bound] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [f"### {self.title}", textwrap.fill(self.method, 120)]
        if self.rows:
            parts.append(grid(self.columns, self.rows))
        if self.bounds:
            parts.append("\n".join(textwrap.fill(f"- {bound}", 120, subsequent_indent="  ") for bound in self.bounds))
        return "\n\n".join(parts)


def grid(columns: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> str:
    """Return a Markdown table that can be read as it stands; columns of numbers are aligned to the right."""
    text = [[as_text(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *text, strict=True)]
    right = [not isinstance(cell, str) for cell in rows[0]]
    lines = [_line(columns, widths, right)]
    lines.append("|" + "|".join("-" * (w + 1) + (":" if r else "-") for w, r in zip(widths, right, strict=True)) + "|")
    return "\n".join(lines + [_line(row, widths, right) for row in text])


def _line(cells: tuple[str, ...] | list[str], widths: list[int], right: list[bool]) -> str:
    padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
    return "| " + " | ".join(padded) + " |"


def as_text(cell: Cell) -> str:
    """Return a cell as text; fractions to about three digits."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 100:
        return f"{cell:,.0f}"
    if abs(cell) >= 1:
        return f"{cell:.1f}" if abs(cell) >= 10 else f"{cell:.2f}"
    return f"{cell:.3g}"


def cpu_seconds(function: Callable[[], object]) -> float:
    """Return the CPU seconds of this process that a call takes."""
    start = time.process_time()
    function()
    return time.process_time() - start


def median_seconds(function: Callable[[], object], rounds: int) -> float:
    """Return the median CPU seconds of several calls."""
    return statistics.median(cpu_seconds(function) for _ in range(rounds))


def absent_data() -> str:
    """Return one sentence if the data sets cannot be found, else nothing."""
    return "" if os.environ.get(DATA) else f"Not measured: ${DATA} does not say where the data sets are."


def progress(text: str) -> None:
    """Say on stderr what is being measured."""
    print(f"measuring {text}", file=sys.stderr, flush=True)
