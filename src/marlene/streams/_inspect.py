"""What a table seems to hold: the kinds of its columns, its labels, and what is better left out."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene.streams._assemble import table_to_stream
from marlene.streams._cells import Coded, coded, is_absent, read_cell
from marlene.streams._columns import part_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene.streams._assemble import Choices
    from marlene.streams._columns import RawTable
    from marlene.streams._stream import Stream

LABEL_NAMES = frozenset(
    ("labels", "label", "tags", "tag", "categories", "category", "topics", "topic", "classes", "class", "targets", "y")
)
LABEL_PREFIXES = ("label", "tag", "is_", "is ", "has_", "y_", "target", "class", "topic", "category")
SEPARATORS = ("|", ";", ",", "/")
MOST_LABELS = 1000
SAMPLES = 3
IDENTIFIER = re.compile(r"(^|[_. ])(id|uuid|guid|key)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ColumnReport:
    """What is known of a column: its kind if it is a feature, and why it cannot be one."""

    name: str
    kind: str
    missing: int
    different: int
    first: list[str]
    binary: bool
    problem: str = ""


@dataclass(slots=True)
class LoadOptions:
    """What the options of `load` could be; empty where nothing needs saying."""

    labels: str | int | None = None
    separator: str | None = None
    drop: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)


def report_column(table: RawTable, index: int, kind: str | None = None) -> ColumnReport:
    """Return what is known of a column."""
    name = table.names[index]
    column = coded(table.column(index))
    read = [_meaning(value) for value in column.values]
    gap = np.array([value is None for value in read], bool)
    missing = int(gap[column.codes].sum())
    first = [shown(column.values[code]) for code in column.codes[:SAMPLES].tolist()]
    known = {value for value in read if value is not None}
    binary = bool(known) and known <= {0.0, 1.0, "yes", "no", "Yes", "No"}
    try:
        part = part_of(table, index, kind if kind is not None else table.declared.get(index))
    except MarleneError as error:
        return ColumnReport(name, "-", missing, len(known), first, binary, _reason(str(error), table.source, name))
    found = "text" if part.values is None else "date" if part.clock is not None else part.features[0].kind
    problem = ""
    if IDENTIFIER.search(name) and len(known) == table.rows > 1 and found == "numeric":
        problem = "it has another value in every row and is named like an identifier"
    return ColumnReport(name, found, missing, len(known), first, binary, problem)


def _reason(message: str, source: str, name: str) -> str:
    """Return the part of an error message that says what is wrong."""
    reason = message.removeprefix(source).lstrip(":, ").partition("; leave it out")[0]
    start = f"column {name!r} "
    return "it " + reason.removeprefix(start) if reason.startswith(start) else "of " + reason


def _meaning(cell: object) -> object:
    """Return a cell as something that can be counted; None if it is missing."""
    try:
        value = read_cell(cell)
    except TypeError:
        return None if is_absent(cell) else str(cell)
    return None if value != value else value  # noqa: PLR0124 (true for a missing value only)


def shown(cell: object) -> str:
    """Return a cell as a table shows it."""
    if is_absent(cell) or cell == "" or cell != cell:  # noqa: PLR0124 (true for NaN only)
        return "?"
    if isinstance(cell, float):
        return f"{cell:g}"
    return f"[{', '.join(map(str, cell))}]" if isinstance(cell, tuple) else str(cell)


def guess_options(table: RawTable, columns: Sequence[ColumnReport]) -> LoadOptions:
    """Return the options that would make a stream of a table, as far as they can be guessed."""
    guess = LoadOptions()
    chosen = (
        _list_column(table, columns, guess)
        or _prefixed_columns(columns, guess)
        or _single_column(table, columns, guess)
        or _outer_columns(columns, guess)
    )
    for column in columns:
        if column.name in chosen:
            continue
        if column.problem:
            guess.drop.append(column.name)
        elif column.kind in {"text", "date"}:
            guess.kinds[column.name] = column.kind
    return guess


def _list_column(table: RawTable, columns: Sequence[ColumnReport], guess: LoadOptions) -> set[str]:
    """Find a column that lists labels: one of lists, else one whose cells have a separator; names for labels first."""
    named = [i for i, column in enumerate(columns) if _is_label_name(column.name)]
    likely = [i for i in (*named, *(j for j in range(len(columns)) if j not in named)) if _may_list(columns[i])]
    cells = {i: coded(table.column(i)) for i in likely}
    for i in likely:
        if any(isinstance(value, tuple) for value in cells[i].values):
            return _chosen(columns[i], None, guess)
    for i in likely:
        separator = _separator(cells[i], named=i in named)
        if separator:
            return _chosen(columns[i], separator, guess)
    return set()


def _single_column(table: RawTable, columns: Sequence[ColumnReport], guess: LoadOptions) -> set[str]:
    """Find a column with a name for labels that holds one label per row, of few that come again and again."""
    for i, column in enumerate(columns):
        if _is_label_name(column.name) and _may_list(column):
            cells = coded(table.column(i))
            known = [value for value in cells.values if isinstance(value, str) and value.strip()]
            if known and len(known) < len(cells.codes) / 2:
                return _chosen(column, SEPARATORS[0], guess)
    return set()


def _is_label_name(name: str) -> bool:
    return name.lower().rpartition(".")[2] in LABEL_NAMES


def _may_list(column: ColumnReport) -> bool:
    return not column.binary and column.kind not in {"numeric", "date"}


def _chosen(column: ColumnReport, separator: str | None, guess: LoadOptions) -> set[str]:
    guess.labels, guess.separator = as_pattern(column.name), separator
    return {column.name}


def _separator(column: Coded, named: bool) -> str | None:
    """Return what seems to stand between labels: a sign that splits cells into few words that come again and again."""
    times = np.bincount(column.codes, minlength=len(column.values)).tolist()
    cells = [(cell, n) for cell, n in zip(column.values, times, strict=True) if isinstance(cell, str) and cell.strip()]
    for separator in SEPARATORS:
        parts = [([item.strip() for item in cell.split(separator)], n) for cell, n in cells]
        several = any(len(items) > 1 for items, _ in parts)
        items = {item for found, _ in parts for item in found if item}
        total = sum(n * len(found) for found, n in parts)
        if several and len(items) <= MOST_LABELS and 2 * len(items) <= total and (named or separator == "|"):
            return separator
    return None


def _prefixed_columns(columns: Sequence[ColumnReport], guess: LoadOptions) -> set[str]:
    """Find columns of truth values whose names begin as those of labels do."""
    names = [column.name for column in columns]
    for prefix in LABEL_PREFIXES:
        found = [column for column in columns if column.name.lower().startswith(prefix)]
        if found and len(found) < len(columns) and all(column.binary for column in found):
            pattern = found[0].name[: len(prefix)]
            if all(name.startswith(pattern) == any(name == column.name for column in found) for name in names):
                guess.labels = f"{as_pattern(pattern)}*"
                return {column.name for column in found}
    return set()


def _outer_columns(columns: Sequence[ColumnReport], guess: LoadOptions) -> set[str]:
    """Find truth values in the last or the first columns."""
    names = [column.name for column in columns]
    binary = [column.binary for column in columns]
    last = next((i for i, is_binary in enumerate(reversed(binary)) if not is_binary), len(binary))
    first = next((i for i, is_binary in enumerate(binary) if not is_binary), len(binary))
    if 0 < last < len(binary):
        guess.labels = -last
        return set(names[-last:])
    if 0 < first < len(binary):
        guess.labels = first
        return set(names[:first])
    return set()


def as_pattern(name: str) -> str:
    """Return a name as an option takes it, where some signs have a meaning.

    Examples
    --------
    >>> as_pattern("a,b*[c]")
    'a?b??c?'
    """
    return re.sub(r"[,*\[\]=]", "?", name)


def quiet_stream(table: RawTable, choices: Choices, name: str) -> Stream:
    """Make a stream of a table whose guesses are told elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return table_to_stream(table, choices, name)
