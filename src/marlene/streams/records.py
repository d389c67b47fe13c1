"""Streams from dictionaries: data sets of River, and lists of records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene.streams._assemble import Choices, table_to_stream
from marlene.streams._columns import RawTable
from marlene.streams._truth import ordered

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.streams._stream import FeatureKinds, Stream

LISTS = (set, frozenset, list)
PLAIN = {bool, int, float, type(None), np.bool_, np.float64, np.int64}


def from_river(
    dataset: Iterable[tuple[Mapping[Any, Any], Mapping[Any, Any]]],
    *,
    limit: int | None = None,
    kinds: FeatureKinds = "auto",
    name: str | None = None,
) -> Stream:
    """Make a stream from a multi-label data set of River, or any iterable of such pairs.

    A feature that is absent from an example is missing in it; an absent label is not known. Where most examples lack
    most of many features, as in bags of words, an absent one is zero, and the stream is sparse.

    Parameters
    ----------
    dataset
        Pairs of a dictionary of features and a dictionary from labels to truth values, or a set or list of the labels
        that are true: all others are false.
    limit
        Take at most this many examples; needed for an endless generator.
    kinds
        As in `read_csv`.
    name
        What the stream is called in reports. Default: the name of the class.

    Examples
    --------
    >>> pairs = [({"length": 12, "shouts": True}, {"spam": True}), ({"length": 7}, {"spam": False})]
    >>> stream = from_river(pairs, name="mail")
    >>> stream.X
    array([[12.,  1.],
           [ 7., nan]])
    """
    table, labels = pairs_table(dataset, limit, name or pairs_name(dataset))
    return table_to_stream(table, Choices(labels, kinds=kinds), table.source)


def pairs_name(dataset: object) -> str:
    """Return what a data set is called."""
    return type(dataset).__name__.lower()


def pairs_table(dataset: Iterable[Any], limit: int | None, name: str) -> tuple[RawTable, int]:
    """Return the cells of a data set, labels first, and the number of labels."""
    if limit is not None:
        whole_number(limit, f"{name}: limit", 1)
    elif getattr(dataset, "n_samples", 0) is None:
        raise MarleneError(f"{name}: the data set has no end; say with limit= how many examples to take")
    inputs, truths = _Fields(), _Fields()
    listed: list[int] = []
    for pair in islice(dataset, limit):
        right = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], Mapping)
        if not right or not isinstance(pair[1], (Mapping, *LISTS)):
            raise MarleneError(f"{name}, example {inputs.rows}: expected a dictionary of inputs and one of labels")
        inputs.add(pair[0])
        if not isinstance(pair[1], Mapping):
            listed.append(truths.rows)
        truths.add(pair[1] if isinstance(pair[1], Mapping) else dict.fromkeys(ordered(map(str, pair[1])), True))
    for rows, values in truths.columns.values():
        others = sorted({*listed} - {*rows})
        rows.extend(others)
        values.extend([False] * len(others))
    if not truths.columns:
        raise MarleneError(f"{name}: there is no label")
    return _table(name, "example", truths, inputs), len(truths.columns)


def records_table(records: Iterable[Any], limit: int | None, name: str) -> RawTable:
    """Return the cells of dictionaries, one per row; `a.b` is the key b of the dictionary a."""
    if limit is not None:
        whole_number(limit, f"{name}: limit", 1)
    fields = _Fields()
    for record in islice(records, limit):
        if not isinstance(record, Mapping):
            raise MarleneError(f"{name}, row {fields.rows}: expected a dictionary, found {type(record).__name__}")
        fields.add(record)
    return _table(name, "row", fields)


class _Fields:
    """The cells of dictionaries, by key; only those that are there."""

    def __init__(self) -> None:
        self.rows = 0
        self.columns: dict[str, tuple[list[int], list[Any]]] = {}

    def add(self, record: Mapping[Any, Any]) -> None:
        """Add a row."""
        self._add(record, "")
        self.rows += 1

    def _add(self, record: Mapping[Any, Any], above: str) -> None:
        for key, value in record.items():
            name = f"{above}{key}"
            if isinstance(value, Mapping):
                self._add(value, f"{name}.")
                continue
            column = self.columns.get(name)
            if column is None:
                column = self.columns[name] = ([], [])
            column[0].append(self.rows)
            column[1].append(value)


def _table(name: str, what: str, *groups: _Fields) -> RawTable:
    rows = groups[0].rows
    columns = {(group, key): cells for group, fields in enumerate(groups) for key, cells in fields.columns.items()}
    keys = [key for key in columns if not _is_object(key, columns)]
    cells = [columns[key] for key in keys]

    def present(i: int) -> tuple[Ints, Floats] | None:
        if not PLAIN.issuperset(map(type, cells[i][1])):
            return None
        try:
            return np.array(cells[i][0], np.int64), np.array(cells[i][1], np.float64)
        except OverflowError:
            return None

    def column(i: int) -> Any:  # noqa: ANN401 (an array or a list)
        numbers = present(i)
        if numbers is not None:
            values = np.full(rows, np.nan)
            values[numbers[0]] = numbers[1]
            return values
        spread: list[Any] = [None] * rows
        for row, cell in zip(*cells[i], strict=True):
            spread[row] = cell
        return spread

    return RawTable(name, [key for _, key in keys], rows, column, lambda row: f"{name}, {what} {row}", present=present)


def _is_object(key: tuple[int, str], columns: Mapping[tuple[int, str], tuple[list[int], list[Any]]]) -> bool:
    """Tell whether a column is missing wherever it is no dictionary, and a dictionary somewhere."""
    group, name = key
    if any(cell is not None and not (isinstance(cell, float) and math.isnan(cell)) for cell in columns[key][1]):
        return False
    return any(other.startswith(f"{name}.") and one == group for one, other in columns)
