"""Pages: what a target found, with its tables and figures; and the index of all pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from marlene._common.files import atomic_write
from marlene.experiments.reproduce import _drawing as drawing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from marlene.experiments.reproduce._table import ResultTable

TABLES, FIGURES = "tables", "figures"
INDEX = "index.md"


@dataclass(frozen=True)
class Drawn:
    """A figure with its name and what it shows."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Page:
    """What a target has to say and to show.

    Parameters
    ----------
    target
        Its name; the page is TARGET.md.
    title
        Its heading.
    findings
        What agrees, what does not, and why: paragraphs, each a sentence or more.
    tables, figures
        What it shows.
    notes
        How to read them.
    """

    target: str
    title: str
    findings: Sequence[str]
    tables: Sequence[ResultTable] = ()
    figures: Sequence[Drawn] = ()
    notes: Sequence[str] = field(default_factory=tuple)

    def write(self, out: Path) -> None:
        """Write the page, its tables as CSV and LaTeX, and its figures as PNG, SVG and PDF."""
        for folder in (TABLES, FIGURES):
            (out / folder).mkdir(parents=True, exist_ok=True)
        for table in self.tables:
            table.write(out / TABLES)
        for drawn in self.figures:
            drawing.save(drawn.figure, out / FIGURES, drawn.name)
        with atomic_write(out / f"{self.target}.md") as file:
            file.write(self.markdown().encode())

    def markdown(self) -> str:
        """Return the page; findings come first, up to the first heading below the title."""
        parts = [f"# {self.title}", *(f"- {finding}" for finding in self.findings)]
        for drawn in self.figures:
            others = ", ".join(f"[{kind.upper()}]({FIGURES}/{drawn.name}.{kind})" for kind in drawing.FORMATS[1:])
            picture = f"![{drawn.caption}]({FIGURES}/{drawn.name}.png)"
            parts += [f"## {drawn.name}", picture, f"{drawn.caption} ({others})"]
        for table in self.tables:
            files = f"[CSV]({TABLES}/{table.name}.csv), [LaTeX]({TABLES}/{table.name}.tex)"
            parts += [f"## {table.name}", f"{table.caption} ({files})", table.markdown()]
        if self.notes:
            parts += ["## How to read this", *(f"- {note}" for note in self.notes)]
        return "\n\n".join(parts) + "\n"


def write_index(out: Path, targets: Sequence[str], start: Sequence[str]) -> None:
    """Write the index: how to read it, then the findings of every page that is there."""
    parts = ["# The paper, reproduced", *start]
    for target in targets:
        page = out / f"{target}.md"
        if page.is_file():
            title, _, findings = page.read_text(encoding="utf-8").partition("\n## ")[0].partition("\n")
            parts += [f"## {title.removeprefix('# ')}", findings.strip(), f"Everything: [{target}.md]({target}.md)"]
    with atomic_write(out / INDEX) as file:
        file.write(("\n\n".join(parts) + "\n").encode())
