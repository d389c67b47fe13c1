"""Label columns of a table: one truth value per row, or a list of labels per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError, quoted
from marlene._common.labels import UNKNOWN
from marlene.streams._cells import MISSING, TRUTH, YES_NO, Coded, as_text, coded, is_absent, read_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from marlene._common.arrays import Labels
    from marlene.streams._columns import RawTable

MOST_CELLS = 1 << 34


def truth_of(table: RawTable, index: int, separator: str | None) -> tuple[list[str], Labels]:
    """Return the names of the labels that a column holds, and their values (rows × labels).

    A column with a separator, or of lists, holds the labels that are true; they are ordered by name. Otherwise the
    column is one label.
    """
    name, column = table.names[index], coded(table.column(index))
    if separator is not None or any(isinstance(value, tuple) for value in column.values):
        names, truth = listed_truth(table, name, column, separator)
        if not names:
            raise MarleneError(f"{table.source}: column {name!r} holds no label")
        return names, truth
    codes = np.empty(len(column.values), np.int8)
    for place, cell in enumerate(column.values):
        codes[place] = _truth(table, name, column, place, cell)
    return [name], codes[column.codes][:, np.newaxis]


def _truth(table: RawTable, name: str, column: Coded, place: int, cell: Any) -> int:  # noqa: ANN401
    try:
        value = read_cell(cell, TRUTH | YES_NO)
    except TypeError:
        value = ""
    if value in {0, 1}:
        return int(value)
    if value != value:  # noqa: PLR0124 (true for a missing value only)
        return UNKNOWN
    several = (
        "; if it lists labels, say what stands between them: separator='|' (--separator '|')"
        if isinstance(cell, str)
        else ""
    )
    raise MarleneError(
        f"{table.where(column.row(place))}, label {name!r}: expected 0 or 1, true or false, yes or no, "
        f"found {quoted(cell)}{several}"
    )


def listed_truth(
    table: RawTable, name: str, column: Coded, separator: str | None, known: Sequence[str] = ()
) -> tuple[list[str], Labels]:
    """Return the labels that a column lists, new ones after those known, and their values."""
    if separator == "":
        raise MarleneError(f"{table.source}: the separator of labels is empty")
    found = [_items(cell, separator) for cell in column.values]
    for place, items in enumerate(found):
        if items is None and not is_absent(column.values[place]) and not _is_missing(column.values[place]):
            raise MarleneError(
                f"{table.where(column.row(place))}, labels {name!r}: expected a list of labels, "
                f"found {quoted(column.values[place])}"
            )
    names = [*known, *ordered({item for items in found for item in items or ()}.difference(known))]
    if len(names) * table.rows > MOST_CELLS:
        raise MarleneError(f"{table.source}: column {name!r} holds {len(names)} different labels, which are too many")
    places = {label: place for place, label in enumerate(names)}
    different = np.zeros((len(found), len(names)), np.int8)
    for row, items in zip(different, found, strict=True):
        if items is None:
            row[:] = UNKNOWN
        else:
            row[[places[item] for item in items]] = 1
    return names, different[column.codes]


def _items(cell: Any, separator: str | None) -> list[str] | None:  # noqa: ANN401 (whatever a table holds)
    """Return the labels of a cell; None if it has none to give."""
    if isinstance(cell, str) and separator is not None and (cell == "" or not _is_missing(cell)):
        return [item for item in map(str.strip, cell.split(separator)) if item]
    if isinstance(cell, tuple):
        try:
            return [as_text(item) for item in cell if not is_absent(item)]
        except (TypeError, ValueError, OverflowError):
            return None
    if separator is not None and isinstance(cell, int | float) and cell == cell:  # noqa: PLR0124 (false for NaN only)
        return [as_text(cell)]  # a column of single numbers
    return None


def _is_missing(cell: Any) -> bool:  # noqa: ANN401 (whatever a table holds)
    return cell.strip().lower() in MISSING if isinstance(cell, str) else cell != cell  # noqa: PLR0124


def ordered(names: Iterable[str]) -> list[str]:
    """Return names in alphabetical order; whole numbers by size, before all others.

    Examples
    --------
    >>> ordered(["b", "10", "9", "a"])
    ['9', '10', 'a', 'b']
    """
    return sorted(names, key=lambda name: (0, int(name), name) if _is_whole(name) else (1, 0, name))


def _is_whole(name: str) -> bool:
    return name.isascii() and name.removeprefix("-").isdecimal() and len(name) < 20
