"""A table, written as Markdown, CSV and LaTeX with the same text in every cell."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from marlene._common.files import atomic_write
from marlene.experiments.reproduce._words import with_comparisons, without_comparisons

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from pathlib import Path

Value = str | float | int | None
NOT_RUN = "not run"
PAPER = "(paper)"
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "±": r"$\pm$", "×": r"$\times$",
    "χ²": r"$\chi^2$", "|": r"$|$", "−": "$-$", "≤": r"$\le$",
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    heading
        What stands above it.
    digits
        How many digits after the point numbers have.
    absent
        What stands for None.
    best
        Whether the greatest or the least number is emphasised.
    compares
        Whether it compares with what the paper prints.
    """

    heading: str
    digits: int = 3
    absent: str = NOT_RUN
    best: Literal["max", "min", ""] = ""
    compares: bool = False

    @property
    def is_paper(self) -> bool:
        """Whether it holds what the paper prints."""
        return self.heading.endswith(PAPER)


@dataclass(frozen=True)
class ResultTable:
    """Rows of values under columns.

    Parameters
    ----------
    name
        What its files are called.
    caption
        What it shows, in a sentence or two.
    columns, rows
        The content.
    compared
        Where the best number is looked for: in each column; or in each row, among the paper's columns and among ours.
    bold
        Further cells (row and column) in bold.
    theirs
        Rows that the paper or others printed.

    Examples
    --------
    >>> table = ResultTable("t", "", [Column("method"), Column("Macro", best="max")], [["ebr", 0.25], ["ecc", 0.2]])
    >>> print(table.markdown())
    | method | Macro |
    |---|---|
    | ebr | **0.250** |
    | ecc | 0.200 |
    >>> print(table.csv(), end="")
    method,Macro
    ebr,0.250
    ecc,0.200
    """

    name: str
    caption: str
    columns: list[Column]
    rows: list[list[Value]]
    compared: Literal["columns", "rows"] = "columns"
    bold: set[tuple[int, int]] = field(default_factory=set)
    theirs: Container[int] = ()

    def __post_init__(self) -> None:
        if self.compared == "columns":
            groups = [[(i, j) for i in range(len(self.rows))] for j, column in enumerate(self.columns) if column.best]
        else:
            groups = [
                [(i, j) for j, column in enumerate(self.columns) if column.best and column.is_paper == papers]
                for i in range(len(self.rows))
                for papers in (False, True)
            ]
        for group in groups:
            self._mark(group)

    def alone(self) -> ResultTable:
        """Return the table without what the paper or others printed."""
        rows = [i for i in range(len(self.rows)) if i not in self.theirs]
        columns = [j for j, column in enumerate(self.columns) if not (column.is_paper or column.compares)]
        return replace(
            self,
            caption=without_comparisons(self.caption),
            columns=[self.columns[j] for j in columns],
            rows=[[self.rows[i][j] for j in columns] for i in rows],
            bold={(rows.index(i), columns.index(j)) for i, j in self.bold if i in rows and j in columns},
            theirs=(),
        )

    def text(self, row: int, column: int) -> str:
        """Return what stands in a cell."""
        value, described = self.rows[row][column], self.columns[column]
        if value is None:
            return described.absent
        return f"{value:.{described.digits}f}" if isinstance(value, float) else str(value)

    def markdown(self) -> str:
        """Return the table as Markdown; the best numbers are bold."""
        lines = self._texts(lambda text: f"**{text}**")
        head, *body = (f"| {' | '.join(cell.replace('|', r'&#124;') for cell in line)} |" for line in lines)
        return "\n".join([head, "|" + "---|" * len(self.columns), *body])

    def csv(self) -> str:
        """Return the table as comma-separated values, with a line of headings."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows(self._texts(str))
        return file.getvalue()

    def latex(self) -> str:
        """Return the table as a LaTeX `tabular` with rules of `booktabs`; the best numbers are bold."""
        numbers = "".join(
            "r" if any(isinstance(r[j], float) for r in self.rows) else "l" for j in range(len(self.columns))
        )
        lines = self._texts(lambda text: rf"\textbf{{{text}}}", in_latex)
        head, *body = (" & ".join(line) + r" \\" for line in lines)
        start = [
            f"% {' '.join(with_comparisons(self.caption).split())}",
            rf"\begin{{tabular}}{{{numbers}}}",
            r"\toprule",
            head,
            r"\midrule",
        ]
        return "\n".join([*start, *body, r"\bottomrule", r"\end{tabular}", ""])

    def write(self, folder: Path) -> None:
        """Write NAME.csv and NAME.tex into a folder."""
        for suffix, text in ((".csv", self.csv()), (".tex", self.latex())):
            with atomic_write(folder / f"{self.name}{suffix}") as file:
                file.write(text.encode())

    def _texts(self, emphasise: Callable[[str], str], escape: Callable[[str], str] = str) -> list[list[str]]:
        """Return the headings, then all cells, as escaped text; the best numbers are emphasised."""
        texts = [[escape(self.text(i, j)) for j in range(len(self.columns))] for i in range(len(self.rows))]
        for i, j in self.bold:
            texts[i][j] = emphasise(texts[i][j])
        return [[escape(column.heading) for column in self.columns], *texts]

    def _mark(self, places: list[tuple[int, int]]) -> None:
        """Mark the best number among these places as bold, and those that are printed alike."""
        numbers = {(i, j): value for i, j in places if isinstance(value := self.rows[i][j], float)}
        if len(numbers) > 1:
            choose = max if self.columns[places[0][1]].best == "max" else min
            best = choose(numbers, key=numbers.__getitem__)
            self.bold.update(place for place in numbers if self.text(*place) == self.text(*best))


def beside_paper(
    name: str,
    caption: str,
    rows: Iterable[str],
    columns: Iterable[str],
    ours: Callable[[str, str], Value],
    theirs: Callable[[str, str], Value],
    *,
    heading: str = "method",
    digits: tuple[int, int] = (3, 3),
    best: Literal["max", "min", ""] = "max",
    absent: str = NOT_RUN,
    seeds: Callable[[str], str] | None = None,
) -> ResultTable:
    """Return a table with two columns for each name: our number, and the paper's beside it.

    Examples
    --------
    >>> table = beside_paper("t", "", ["ebr"], ["yeast"], lambda row, column: 0.25, lambda row, column: None)
    >>> print(table.csv(), end="")
    method,yeast,yeast (paper)
    ebr,0.250,
    """
    names = list(columns)
    described = [Column(heading)]
    for column in names:
        described += [Column(column, digits[0], absent, best), papers(column, digits[1], best)]
    cells: list[list[Value]] = []
    for row in rows:
        pairs = [(ours(row, column), theirs(row, column)) for column in names]
        cells.append([row, *(value for pair in pairs for value in pair), *([seeds(row)] if seeds else [])])
    return ResultTable(name, caption, [*described, *([Column("seeds")] if seeds else [])], cells)


def papers(heading: str, digits: int = 3, best: Literal["max", "min", ""] = "") -> Column:
    """Return the column of the paper's own numbers beside the column with this heading.

    Examples
    --------
    >>> papers("yeast").heading
    'yeast (paper)'
    """
    return Column(f"{heading} {PAPER}", digits, "", best)


def in_latex(text: str) -> str:
    r"""Escape text for LaTeX.

    Examples
    --------
    >>> in_latex("macro_gmean ± 5 %")
    'macro\\_gmean $\\pm$ 5 \\%'
    """
    return re.sub("|".join(map(re.escape, LATEX)), lambda found: LATEX[found[0]], text)
