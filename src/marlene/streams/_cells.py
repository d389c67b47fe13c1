"""Cells of tables: what they mean, and columns with every different cell only once."""

from __future__ import annotations

from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Ints

MISSING = frozenset({"", "?", "na", "nan", "null"})
TRUTH = {"true": 1.0, "false": 0.0}
YES_NO = {"yes": 1.0, "no": 0.0}
NUMBERS = (bool, np.bool_, Real, Decimal)
SPANS = (timedelta, np.timedelta64)
DATES = (date, np.datetime64)  # a datetime is a date
LISTS = (list, set, frozenset, np.ndarray)


class Coded(NamedTuple):
    """A column: its different cells in the order of first appearance, and for every row which of them it holds."""

    values: list[Any]
    codes: Ints

    def row(self, value: int) -> int:
        """Return the first row with a value."""
        return int(np.argmax(self.codes == value))


def coded(cells: Any) -> Coded:  # noqa: ANN401 (an array or any sequence)
    """Return a column with every different cell only once; a list becomes a tuple.

    Examples
    --------
    >>> coded(["red", "blue", "red"])
    Coded(values=['red', 'blue'], codes=array([0, 1, 0]))
    """
    if isinstance(cells, Coded):
        return cells
    if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
        values, first, codes = np.unique(cells, return_index=True, return_inverse=True)
        order = np.argsort(first)
        return Coded(values[order].tolist(), np.argsort(order)[codes])
    if isinstance(cells, np.ndarray):
        cells = cells.tolist()
    try:
        places = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
    except TypeError:
        cells = [_hashable(cell) for cell in cells]
        places = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
    codes = np.fromiter(map(places.__getitem__, cells), np.int64, len(cells))
    return Coded([cell.value if isinstance(cell, _Other) else cell for cell in places], codes)


class _Other:
    """A cell that cannot be the key of a dictionary."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


def _hashable(cell: object) -> object:
    if isinstance(cell, set | frozenset):
        cell = sorted(cell, key=str)
    elif isinstance(cell, np.ndarray):
        cell = cell.tolist()
    cell = tuple(cell) if isinstance(cell, list) else cell
    try:
        hash(cell)
    except TypeError:
        return _Other(cell)
    return cell


def read_cell(cell: Any, words: Mapping[str, float] = TRUTH) -> float | str:  # noqa: ANN401 (whatever a table holds)
    """Return a cell as a number, as NaN if it is missing, else as text; a span of time is a number of seconds.

    Raises
    ------
    TypeError
        If it is of another type.
    """
    if isinstance(cell, str):
        return _read_text(cell.strip(), words)
    if is_absent(cell):
        return np.nan
    if isinstance(cell, SPANS):
        return _seconds(cell)
    if isinstance(cell, time):
        whole = (cell.hour * 60 + cell.minute) * 60 + cell.second
        return (whole * 1_000_000 + cell.microsecond) / 1e6
    if not isinstance(cell, NUMBERS):
        raise TypeError
    try:
        return float(cell)
    except OverflowError:
        return np.inf


def _seconds(span: timedelta | np.timedelta64) -> float:
    if isinstance(span, np.timedelta64):
        return np.nan if np.isnat(span) else float(span / np.timedelta64(1, "us")) / 1e6
    return span.total_seconds()


def is_absent(cell: object) -> bool:
    """Tell whether a cell is None or the like; NaN and texts such as `?` are not meant."""
    return type(cell).__name__ in {"NoneType", "NAType", "NaTType"}


def is_value(text: str) -> bool:
    """Tell whether a cell of a text file is a number, a truth value or missing."""
    return not isinstance(read_cell(text, TRUTH | YES_NO), str)


def _read_text(text: str, words: Mapping[str, float]) -> float | str:
    word = text.lower()
    if word in MISSING:
        return np.nan
    if word in words:
        return words[word]
    try:
        # Python's float accepts 1_000, which is a name in tables.
        return text if "_" in text else float(text)
    except ValueError:
        return text


def as_text(cell: Any) -> str:  # noqa: ANN401 (a text or a number of any type)
    """Return a cell as the name of a nominal value."""
    if isinstance(cell, str):
        return cell.strip()
    number = float(cell)
    return str(int(number)) if number.is_integer() else repr(number)
