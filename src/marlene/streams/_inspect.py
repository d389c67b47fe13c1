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
    chosen = _list_column(table, columns, guess) or _label_columns(columns, guess)
    for column in columns:
        if column.name in chosen:
            continue
        if column.problem:
            guess.drop.append(column.name)
        elif column.kind in {"text", "date"}:
            guess.kinds[column.name] = column.kind
    return guess


def _list_column(table: RawTable, columns: Sequence[ColumnReport], guess: LoadOptions) -> set[str]:
    """Find a column that lists labels; one with a name for labels counts more."""
    named = [i for i, column in enumerate(columns) if column.name.lower().rpartition(".")[2] in LABEL_NAMES]
    others = [i for i in range(len(columns)) if i not in named]
    for i in (*named, *others):
        if columns[i].binary or columns[i].kind in {"numeric", "date"}:
            continue
        column = coded(table.column(i))
        lists = any(isinstance(value, tuple) for value in column.values)
        separator = None if lists else _separator(column, named=i in named)
        if lists or separator:
            guess.labels, guess.separator = as_pattern(columns[i].name), separator
            return {columns[i].name}
    return set()


def _separator(column: Coded, named: bool) -> str | None:
    """Return what seems to stand between labels: a sign that splits cells into few words that come again and again."""
    cells = [value.strip() for value in column.values if isinstance(value, str) and value.strip()]
    for separator in SEPARATORS:
        parts = [[item.strip() for item in cell.split(separator)] for cell in cells]
        several = sum(len(items) > 1 for items in parts)
        items = {item for cell in parts for item in cell if item}
        total = sum(map(len, parts))
        if several and len(items) <= MOST_LABELS and 2 * len(items) <= total and (named or separator == "|"):
            return separator
    if named and cells and len(cells) < len(column.codes) / 2:
        return SEPARATORS[0]  # one label per row
    return None


def _label_columns(columns: Sequence[ColumnReport], guess: LoadOptions) -> set[str]:
    """Find columns of truth values that are labels by their names, or are the last or the first columns."""
    names = [column.name for column in columns]
    for prefix in LABEL_PREFIXES:
        found = [column for column in columns if column.name.lower().startswith(prefix)]
        if found and len(found) < len(columns) and all(column.binary for column in found):
            pattern = found[0].name[: len(prefix)]
            if all(name.startswith(pattern) == any(name == column.name for column in found) for name in names):
                guess.labels = f"{as_pattern(pattern)}*"
                return {column.name for column in found}
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
