"""Targets and their pages: what a target needs and found, with its tables and figures."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from marlene._common.files import atomic_write
from marlene.experiments._grid import Run
from marlene.experiments.reproduce import _drawing as drawing
from marlene.experiments.reproduce._results import Results
from marlene.experiments.reproduce._words import Comparison, say, with_comparisons, without_comparisons

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._table import ResultTable

__all__ = ["Drawn", "Page", "ReproduceTarget", "Results", "Run", "joined"]

TABLES, FIGURES = "tables", "figures"
WIDTH = 120


@dataclass(frozen=True)
class ReproduceTarget:
    """What `marlene reproduce` can make: a table or figure.

    Parameters
    ----------
    name
        What the command is given; the page is NAME.md.
    needs
        The data sets that it needs.
    runs
        Returns the runs that it needs.
    page
        Makes its page from the results.
    measured
        Returns the runs whose memory it prints. Each has a process of its own; `Results.measured` has their rows.
    most_seeds
        The page counts only so many of the first seeds, so that all of its rows have the same. None: all that are
        there.
    """

    name: str
    needs: tuple[str, ...]
    runs: Callable[[Plan], Iterable[Run]]
    page: Callable[[Plan, Results], Page]
    measured: Callable[[Plan], Iterable[Run]] = lambda _: ()
    most_seeds: int | None = None


@dataclass(frozen=True)
class Drawn:
    """A figure with its name and caption."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Page:
    """What a target has to say and to show.

    Parameters
    ----------
    findings
        What agrees with the paper, what does not, and why: paragraphs.
    tables, figures
        What it shows.
    notes
        How to read them.
    """

    findings: Sequence[str]
    tables: Sequence[ResultTable] = ()
    figures: Sequence[Drawn] = ()
    notes: Sequence[str] = ()

    def alone(self) -> Page:
        """Return the page without comparisons with what the paper or others printed."""
        kept = [finding for finding in self.findings if not isinstance(finding, Comparison)]
        tables = [table.alone() for table in self.tables]
        notes = [left for note in self.notes if (left := without_comparisons(note))]
        return replace(self, findings=kept or [say("index", "alone")], tables=tables, notes=notes)

    def write(self, out: Path, name: str, mark: str = "") -> None:
        """Write the page, its tables as CSV and LaTeX, and its figures as PNG, SVG and PDF."""
        for folder in (TABLES, FIGURES):
            (out / folder).mkdir(parents=True, exist_ok=True)
        for table in self.tables:
            table.write(out / TABLES)
        for drawn in self.figures:
            drawing.save(drawn.figure, out / FIGURES, drawn.name)
        with atomic_write(out / f"{name}.md") as file:
            file.write(self.markdown(name, mark).encode())

    def markdown(self, name: str, mark: str = "") -> str:
        """Return the page with a mark after its title. Findings come first, before the second heading."""
        parts = [f"# {say(name, 'title')}{mark}", *(f"- {finding}" for finding in self.findings)]
        for drawn in self.figures:
            parts += [f"## {drawn.name}", f"![{drawn.caption}]({FIGURES}/{drawn.name}.png)", drawn.caption]
        for table in self.tables:
            caption = f"{with_comparisons(table.caption)} ([CSV]({TABLES}/{table.name}.csv))"
            parts += [f"## {table.name}", caption, table.markdown()]
        made = say("index", "made", name=name)
        parts += ["## How to read this", *(f"- {with_comparisons(note)}" for note in (*self.notes, made))]
        return joined(parts)


def joined(parts: Iterable[str]) -> str:
    """Return parts of a Markdown file with empty lines between; text is wrapped, tables and pictures are not."""
    return "\n\n".join(map(_wrapped, parts)) + "\n"


def _wrapped(part: str) -> str:
    """Wrap a paragraph, or the item of a list; a part of several paragraphs is wrapped already."""
    if part.startswith(("|", "#", "![")) or "\n" in part:
        return part
    indent = "  " if part.startswith("- ") else ""
    return textwrap.fill(part, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
