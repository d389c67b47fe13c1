"""Convert the columns of a table to features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene._common.errors import MarleneError, quoted
from marlene.encoders import DATE_PARTS, FARTHEST, TextEncoder, date_inputs, date_seconds, looks_like_date
from marlene.streams._cells import DATES, MISSING, Coded, as_text, coded, is_absent, is_value, read_cell
from marlene.streams._matrix import inferred_kinds
from marlene.streams._stream import Feature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from marlene._common.arrays import Array, Floats, Ints

MANY_VALUES = 1000
DATE_FORMS = "such as 2024-05-01T09:30, or seconds since 1970 (date:ms for milliseconds, date:%d.%m.%Y for other forms)"
MANY_TEXTS = 100
WORDS_OF_TEXT = 3
MOST_DIGITS = 10
NUMBERS = ("", "numeric", "binary")
"""Kinds of columns of numbers; nothing is told with the first."""
UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6}
"""How many of a unit are a second, for dates that are numbers."""


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table whose columns have no type yet.

    `column(i)` returns the cells of a column: a numeric array, `Coded` cells, or any Python objects. `where(row)` names
    a row in an error message. `declared` holds the kinds of columns that the source declares nominal or dates. If rows
    may lack columns, `present(i)` returns the rows that have one and its values there, or None if some are no numbers.
    """

    source: str
    names: Sequence[str]
    rows: int
    column: Callable[[int], Any]
    where: Callable[[int], str]
    declared: Mapping[int, str] = field(default_factory=dict)
    present: Callable[[int], tuple[Ints, Floats] | None] | None = None


class ColumnPart(NamedTuple):
    """The features that one column of a table becomes.

    Attributes
    ----------
    features
        Name and kind of each.
    values
        Their values: one column, several columns, or None if they are sparse.
    starts, columns, data
        If they are sparse: their values in CSR form. Without `data` all are 1.
    clock
        The seconds of a date.
    guess
        What the column was taken for, and why, if that was a guess.
    """

    features: list[Feature]
    values: Floats | None
    starts: Ints | None = None
    columns: Array | None = None
    data: Floats | None = None
    clock: Floats | None = None
    guess: str = ""


def part_of(table: RawTable, index: int, kind: str | None) -> ColumnPart:
    """Return the features of a column; `kind` is guessed if it is None."""
    name, cells = table.names[index], table.column(index)
    base, _, option = (kind or "").partition(":")
    numbers = _plain_numbers(cells, texts=base in NUMBERS)
    if numbers is not None and base == "date":
        return _date(name, _checked_seconds(table, name, numbers / UNITS.get(option, 1.0)))
    if numbers is not None and base in NUMBERS:
        return _numeric(table, name, numbers)
    column = coded(cells)
    guess = ""
    if not base:
        base, guess = _guessed(table, name, column)
    if base == "nominal":
        return _nominal(table, name, column)
    if base == "text":
        return text_part(table, name, column, TextEncoder(**text_options(option)))._replace(guess=guess)
    if base == "date":
        unit = UNITS.get(option, 1.0)
        form = None if option in UNITS else option or None
        return _date(name, _seconds(table, name, column, form, unit))._replace(guess=guess)
    return _numeric(table, name, _numbers(table, name, column))


def _numbers(table: RawTable, name: str, column: Coded) -> Floats:
    read = _read(table, name, column)
    for place, value in enumerate(read):
        if isinstance(value, str):
            where = table.where(column.row(place))
            raise MarleneError(f"{where}, column {name!r}: expected a number, found {quoted(column.values[place])}")
    numbers: Floats = np.array(read, dtype=np.float64)[column.codes]
    return numbers


def _plain_numbers(cells: Any, *, texts: bool) -> Floats | None:  # noqa: ANN401 (an array or any sequence)
    """Return cells of a numeric type, and if wanted texts that are all numbers; None for others."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    if isinstance(cells, Coded) or not texts:
        return None
    try:
        written = cells.tolist() if isinstance(cells, np.ndarray) else cells
        # Python's float accepts 1_000, which is a name in tables.
        return None if "_" in "".join(written) else np.fromiter(map(float, written), np.float64, len(written))
    except (TypeError, ValueError):
        return None


def _guessed(table: RawTable, name: str, column: Coded) -> tuple[str, str]:
    """Return a kind and, if it needs saying, why."""
    if any(isinstance(value, DATES) and not is_absent(value) for value in column.values):
        return "date", ""
    read = _read(table, name, column)
    words = [value for value in read if isinstance(value, str)]
    if not words:
        return "numeric", ""
    different = sum(value == value for value in read)  # noqa: PLR0124 (false for a missing value only)
    if len(words) == different and all(map(looks_like_date, words)):
        return "date", f"{name!r} as date"
    length = sum(len(word.split()) for word in words) / len(words)
    if len(words) > MANY_TEXTS and length >= WORDS_OF_TEXT:
        return "text", f"{name!r} as text ({different} different values of {length:.0f} words)"
    if different > MANY_VALUES:
        missing = np.array([value != value for value in read])  # noqa: PLR0124 (true for a missing value only)
        known = int((~missing[column.codes]).sum())
        refuse_identifier(table.source, name, different, known)
    return "nominal", ""


def refuse_identifier(source: str, name: str, different: int, known: int) -> None:
    """Refuse a column with many values, different ones in more than half of the rows where they are known."""
    if different > MANY_VALUES and 2 * different > known:
        raise MarleneError(
            f"{source}: column {name!r} has {different} different values in {known} rows and looks like "
            f"an identifier; leave it out (drop={name!r}, --drop {name}), or say that it is text or nominal "
            f"(kinds={{{name!r}: 'text'}}, --kinds {name}=text)"
        )


def _numeric(table: RawTable, name: str, numbers: Floats) -> ColumnPart:
    infinite = np.isinf(numbers)
    if infinite.any():
        raise MarleneError(f"{table.where(int(np.argmax(infinite)))}, column {name!r}: the value is infinite")
    return ColumnPart([Feature(name, inferred_kinds(numbers[:, np.newaxis])[0])], numbers)


def _nominal(table: RawTable, name: str, column: Coded) -> ColumnPart:
    codes: list[float] = []
    values: dict[str, int] = {}
    for cell, value in zip(column.values, _read(table, name, column), strict=True):
        missing = value != value  # noqa: PLR0124 (true for a missing value only)
        codes.append(np.nan if missing else values.setdefault(as_text(cell), len(values)))
    return ColumnPart([Feature(name, "nominal", tuple(values))], np.array(codes, dtype=np.float64)[column.codes])


def text_part(table: RawTable, name: str, column: Coded, encoder: TextEncoder) -> ColumnPart:
    """Return the words of a column as features."""
    try:
        texts = [_plain_text(cell) for cell in column.values]
    except TypeError:
        _read(table, name, column)  # says which cell is neither a text nor a number
        raise
    starts, columns = encoder.encode(texts)
    # From different texts to rows.
    lengths = np.diff(starts)[column.codes]
    row_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    places = np.repeat(starts[:-1][column.codes] - row_starts[:-1], lengths) + np.arange(row_starts[-1])
    features = [Feature(f"{name}: {word}", "binary") for word in encoder.names()]
    return ColumnPart(features, None, row_starts, columns[places])


def text_options(option: str) -> dict[str, Any]:
    """Return the settings of a `TextEncoder` from what follows `text:`.

    Examples
    --------
    >>> text_options("pairs:5000")
    {'pairs': True, 'words': 5000}
    """
    settings: dict[str, Any] = {}
    for part in filter(None, option.split(":")):
        if part == "pairs":
            settings["pairs"] = True
        elif part.isdecimal() and len(part) < MOST_DIGITS:
            settings["words"] = int(part)
        else:
            raise MarleneError(f"the kind text takes 'pairs' or a number of words, as in text:pairs:5000, not {part!r}")
    return settings


def _plain_text(cell: Any) -> str | None:  # noqa: ANN401 (whatever a table holds)
    if isinstance(cell, str):
        return None if cell.strip().lower() in MISSING else cell
    if isinstance(cell, tuple):
        return " ".join(filter(None, map(_plain_text, cell)))
    if isinstance(cell, DATES):
        return None if is_absent(cell) else str(cell)
    return None if read_cell(cell) != read_cell(cell) else str(cell)


def _seconds(table: RawTable, name: str, column: Coded, form: str | None, unit: float) -> Floats:
    seconds = np.empty(len(column.values))
    for place, cell in enumerate(column.values):
        if is_absent(cell) or (isinstance(cell, str) and cell.strip().lower() in MISSING) or cell != cell:  # noqa: PLR0124
            seconds[place] = np.nan
            continue
        number = isinstance(cell, int | float) or (isinstance(cell, str) and is_value(cell) and form is None)
        try:
            seconds[place] = date_seconds(float(cell) / unit if number else cell, form)
        except ValueError:
            written = f"written as {form!r}" if form else DATE_FORMS
            raise MarleneError(
                f"{table.where(column.row(place))}, column {name!r}: expected a date {written}, found {quoted(cell)}"
            ) from None
    return seconds[column.codes]


def _checked_seconds(table: RawTable, name: str, seconds: Floats) -> Floats:
    far = np.abs(seconds) > FARTHEST
    if far.any():
        row = int(np.argmax(far))
        raise MarleneError(
            f"{table.where(row)}, column {name!r}: expected a date {DATE_FORMS}, found {seconds[row]:g} seconds"
        )
    return seconds


def _date(name: str, seconds: Floats) -> ColumnPart:
    features = [Feature(f"{name}{part}") for part in DATE_PARTS]
    return ColumnPart(features, date_inputs(seconds), clock=seconds)


def _read(table: RawTable, name: str, column: Coded) -> list[float | str]:
    """Return what every different cell means."""
    read = []
    for place, cell in enumerate(column.values):
        try:
            read.append(read_cell(cell))
        except TypeError:
            kind = "list" if isinstance(cell, tuple) else type(cell).__name__
            hint = f"; leave it out (drop={name!r}, --drop {name})"
            hint += f", or read the items as words (kinds={{{name!r}: 'text'}})" if kind == "list" else ""
            raise MarleneError(
                f"{table.where(column.row(place))}, column {name!r}: expected a number, a truth value or a text, "
                f"found a value of type {kind}{hint}"
            ) from None
    return read
