"""Bags of words: many columns of numbers that most rows lack, where an absent one is zero."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene.streams._columns import ColumnPart, part_of
from marlene.streams._stream import Feature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Floats, Ints
    from marlene.streams._columns import RawTable

BAG = "bag"
MANY_COLUMNS = 50
RARE = 0.2


def bags_of(table: RawTable, inputs: Sequence[int], wanted: Mapping[int, str]) -> list[list[int]]:
    """Return groups of columns that are bags.

    The columns of a group are fields of the same object. A group is a bag if that is told; or if it has at least 50
    columns of numbers that are not told, and on average a row has less than a fifth of them.
    """
    groups: dict[str, list[int]] = {}
    for i in inputs:
        if wanted.get(i) == BAG:
            groups.setdefault(f"told {above(table.names[i])}", []).append(i)
        elif table.present is not None and i not in wanted and i not in table.declared:
            groups.setdefault(above(table.names[i]), []).append(i)
    found = []
    for group in groups.values():
        if wanted.get(group[0]) == BAG:
            found.append(group)
        elif len(group) >= MANY_COLUMNS and table.present is not None:
            numbers = {i: len(there[0]) for i in group if (there := table.present(i)) is not None}
            rare = [i for i, count in numbers.items() if count < table.rows]
            if len(rare) >= MANY_COLUMNS and sum(numbers[i] for i in rare) < RARE * table.rows * len(rare):
                found.append(rare)
    return found


def above(name: str) -> str:
    """Return the object that a column is a field of."""
    return name.rpartition(".")[0]


def bag_entries(table: RawTable, bag: Sequence[tuple[int, int]]) -> tuple[Ints, Array, Floats]:
    """Return a bag in CSR form; it has pairs of a column of the table and its place."""
    rows, columns, values = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)], [np.zeros(0)]
    for i, place in bag:
        row, value = _present(table, i)
        kept = value != 0
        rows.append(row[kept])
        columns.append(np.full(int(kept.sum()), place, np.int32))
        values.append(value[kept])
    every = np.concatenate(rows)
    order = np.argsort(every, kind="stable")
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(every, minlength=table.rows))])
    return starts, np.concatenate(columns)[order], np.concatenate(values)[order]


def bag_part(table: RawTable, bag: Sequence[int], wanted: Mapping[int, str]) -> ColumnPart:
    """Return a bag as sparse features."""
    starts, column, value = bag_entries(table, [(i, place) for place, i in enumerate(bag)])
    numeric = np.zeros(len(bag), bool)
    numeric[column[~np.isnan(value) & (value != 1)]] = True
    features = [Feature(table.names[i], "numeric" if numeric[place] else "binary") for place, i in enumerate(bag)]
    first = table.names[bag[0]]
    guess = (
        "" if wanted.get(bag[0]) == BAG else f"{first!r} and {len(bag) - 1} other rare numbers as a bag (absent is 0)"
    )
    return ColumnPart(features, None, starts, column, value, guess=guess)


def _present(table: RawTable, index: int) -> tuple[Ints, Floats]:
    there = table.present(index) if table.present is not None else None
    if there is not None:
        return there
    values = part_of(table, index, "numeric").values
    if values is None or values.ndim != 1:
        raise MarleneError(f"{table.source}: column {table.names[index]!r} holds no numbers, so it cannot be in a bag")
    rows = np.flatnonzero(~np.isnan(values))
    return rows, values[rows]
