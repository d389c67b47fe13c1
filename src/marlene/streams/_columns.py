"""Convert the columns of a table to features and labels."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.labels import UNKNOWN
from marlene.streams._labels import LabelChoice, label_columns
from marlene.streams._matrix import inferred_kinds
from marlene.streams._stream import KINDS, Feature, Stream, refuse_duplicates

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from marlene._common.arrays import Floats, Labels
    from marlene.streams._stream import FeatureKinds

MISSING = frozenset({"", "?", "na", "nan", "null"})
TRUTH = {"true": 1.0, "false": 0.0}
YES_NO = {"yes": 1.0, "no": 0.0}
NUMBERS = (bool, np.bool_, Real, Decimal)
MANY_VALUES = 1000


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table whose columns have no type yet.

    `column(i)` returns the cells of a column: a numeric array, or any Python objects. `where(row)` names a row in an
    error message. `nominal` holds the columns that the source declares nominal.
    """

    source: str
    names: Sequence[str]
    rows: int
    column: Callable[[int], Any]
    where: Callable[[int], str]
    nominal: frozenset[int] = frozenset()


def table_to_stream(table: RawTable, labels: LabelChoice, kinds: FeatureKinds, name: str) -> Stream:
    """Split a table into features and labels, and infer the kind of every feature that is not named in `kinds`."""
    if not isinstance(labels, int):
        refuse_duplicates(table.source, "columns", table.names)
    chosen = label_columns(table.names, labels, table.source)
    inputs = [i for i in range(len(table.names)) if i not in set(chosen)]
    wanted = {} if isinstance(kinds, str) else {column: kind for column, kind in kinds.items() if kind in KINDS}
    X = np.empty((table.rows, len(inputs)))
    features = []
    for position, i in enumerate(inputs):
        kind = wanted.get(table.names[i], "nominal" if i in table.nominal else None)
        feature, X[:, position] = _feature(table, i, kind)
        features.append(feature)
    Y = np.column_stack([_label(table, i) for i in chosen])
    stream = Stream(X, Y, tuple(features), tuple(table.names[i] for i in chosen), name)
    return stream.with_kinds(kinds)


def is_value(text: str) -> bool:
    """Tell whether a cell of a text file is a number, a truth value or missing."""
    return not isinstance(_read(text, TRUTH | YES_NO), str)


def _feature(table: RawTable, index: int, kind: str | None) -> tuple[Feature, Floats]:
    name, cells = table.names[index], table.column(index)
    if kind == "nominal":
        return _nominal(table, name, _objects(cells))
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        numbers = cells.astype(np.float64)
    else:
        cells = _objects(cells)
        read = _distinct(table, name, cells, TRUTH)
        words = [cell for cell, value in read.items() if isinstance(value, str)]
        if words and kind is None:
            _refuse_free_text(table, name, cells, read)
            return _nominal(table, name, cells)
        if words:
            row = cells.index(words[0])
            raise MarleneError(f"{table.where(row)}, column {name!r}: expected a number, found {words[0]!r}")
        numbers = np.array([read[cell] for cell in cells], dtype=np.float64)
    infinite = np.isinf(numbers)
    if infinite.any():
        raise MarleneError(f"{table.where(int(np.argmax(infinite)))}, column {name!r}: the value is infinite")
    return Feature(name, inferred_kinds(numbers[:, np.newaxis])[0]), numbers


def _label(table: RawTable, index: int) -> Labels:
    name, cells = table.names[index], _objects(table.column(index))
    read = _distinct(table, name, cells, TRUTH | YES_NO)
    codes = {}
    for cell, value in read.items():
        if value in {0, 1}:
            codes[cell] = int(value)
        elif value != value:  # noqa: PLR0124 (true for a missing value only)
            codes[cell] = UNKNOWN
        else:
            raise MarleneError(
                f"{table.where(cells.index(cell))}, label {name!r}: expected 0 or 1, true or false, yes or no, "
                f"found {cell!r}"
            )
    return np.array([codes[cell] for cell in cells], dtype=np.int8)


def _nominal(table: RawTable, name: str, cells: list[Any]) -> tuple[Feature, Floats]:
    codes: dict[Any, float] = {}
    values: dict[str, int] = {}
    for cell, value in _distinct(table, name, cells, TRUTH).items():
        if value != value:  # noqa: PLR0124 (true for a missing value only)
            codes[cell] = np.nan
        else:
            codes[cell] = values.setdefault(_text(cell), len(values))
    return Feature(name, "nominal", tuple(values)), np.array([codes[cell] for cell in cells], dtype=np.float64)


def _text(cell: Any) -> str:  # noqa: ANN401 (a text or a number of any type)
    if isinstance(cell, str):
        return cell.strip()
    number = float(cell)
    return str(int(number)) if number.is_integer() else repr(number)


def _refuse_free_text(table: RawTable, name: str, cells: list[Any], read: dict[Any, float | str]) -> None:
    different = sum(value == value for value in read.values())  # noqa: PLR0124 (false for a missing value only)
    known = sum(read[cell] == read[cell] for cell in cells)
    if different > MANY_VALUES and 2 * different > known:
        raise MarleneError(
            f"{table.source}: column {name!r} has {different} different values in {known} rows and looks like "
            "free text or an identifier; drop it, or declare it nominal"
        )


def _objects(cells: Any) -> list[Any]:  # noqa: ANN401 (an array or any sequence)
    return cells.tolist() if isinstance(cells, np.ndarray) else list(cells)


def _distinct(table: RawTable, name: str, cells: list[Any], words: Mapping[str, float]) -> dict[Any, float | str]:
    """Return what every different cell means, in the order of first appearance."""
    try:
        return {cell: _read(cell, words) for cell in dict.fromkeys(cells)}
    except TypeError:
        row = next(i for i, cell in enumerate(cells) if not isinstance(cell, (str, *NUMBERS)) and not _absent(cell))
        raise MarleneError(
            f"{table.where(row)}, column {name!r}: expected a number, a truth value or a text, "
            f"found a value of type {type(cells[row]).__name__}"
        ) from None


def _read(cell: Any, words: Mapping[str, float]) -> float | str:  # noqa: ANN401 (whatever a table holds)
    """Return a cell as a number, as NaN if it is missing, else as text."""
    if isinstance(cell, str):
        return _read_text(cell.strip(), words)
    if _absent(cell):
        return np.nan
    if not isinstance(cell, NUMBERS):
        raise TypeError
    try:
        return float(cell)
    except OverflowError:
        return np.inf


def _absent(cell: object) -> bool:
    return type(cell).__name__ in {"NoneType", "NAType", "NaTType"}


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
