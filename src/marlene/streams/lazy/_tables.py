"""Tables of one source, one after the other, as streams that agree in their columns."""

from __future__ import annotations

import functools
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.labels import UNKNOWN
from marlene.encoders import TextEncoder
from marlene.streams._assemble import as_matrix_of, refuse_columns, say, wanted_kinds
from marlene.streams._bags import BAG, above, bag_entries, bags_of
from marlene.streams._cells import coded
from marlene.streams._columns import ColumnPart, RawTable, part_of, refuse_identifier, text_options, text_part
from marlene.streams._labels import DROPPED, matching_columns
from marlene.streams._stream import Feature, Stream, refuse_duplicates
from marlene.streams._truth import listed_truth, truth_of
from marlene.streams.frames import parquet_parts
from marlene.streams.json_files import json_parts
from marlene.streams.tables import csv_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from marlene._common.arrays import Labels
    from marlene.streams._assemble import Choices
    from marlene.streams._lines import Meter
    from marlene.streams._stream import Kind
    from marlene.streams.lazy._stream import Opened

TABLES: dict[str, Callable[[Path, int, Meter], Iterator[RawTable]]] = {
    "csv": csv_parts,
    "tsv": functools.partial(csv_parts, delimiter="\t"),
    "jsonl": json_parts,
    "ndjson": json_parts,
    "json": json_parts,
    "parquet": lambda path, size, meter: parquet_parts(path, size // 8, meter),
}


def table_streams(path: Path, size: int, meter: Meter, name: str, suffix: str, choices: Choices) -> Opened:
    """Yield the parts of a table."""
    reading = TableReading(choices, name)
    # No table is held while the next one is read.
    yield from map(reading.stream, TABLES[suffix](path, size, meter))


class Columns:
    """The columns of features, and what each became where it first appeared.

    Parameters
    ----------
    rest
        The kind of columns of numbers that are not told: numeric, binary (whether a number is non-zero), or "auto".
    """

    def __init__(self, rest: str) -> None:
        self._rest = rest
        self._columns: dict[str, _Column] = {}
        self._bags: list[_Bag] = []

    def known(self, name: str) -> bool:
        """Tell whether there is a column of this name."""
        return name in self._columns or any(name in bag.places for bag in self._bags)

    def add(self, table: RawTable, inputs: Sequence[int], told: Mapping[int, str]) -> list[str]:
        """Decide on new columns; return what is wrong with those that cannot be used."""
        inputs = [i for i in inputs if not any(bag.takes(table, i, told.get(i)) for bag in self._bags)]
        new = bags_of(table, inputs, told)
        self._bags += [_Bag(table, bag, told.get(bag[0]) == BAG) for bag in new]
        problems = []
        for i in inputs:
            if any(i in bag for bag in new):
                continue
            try:
                column = _Column(table, i, told.get(i, table.declared.get(i)), self._rest)
                self._columns[table.names[i]] = column
            except MarleneError as error:
                problems.append(str(error))
        return problems

    def parts(self, table: RawTable) -> list[ColumnPart]:
        """Return the features of all columns, those of bags last; a column that is not in the table is missing."""
        places = {name: i for i, name in enumerate(table.names)}
        parts = [column.part(table, places.get(name)) for name, column in self._columns.items()]
        return [*parts, *(bag.part(table, places) for bag in self._bags)]


class _Column:
    """A column that is not in a bag."""

    def __init__(self, table: RawTable, index: int, told: str | None, rest: str) -> None:
        part = part_of(table, index, told)
        self.name, self.told, self.guess, self.read = table.names[index], told is not None, part.guess, False
        base, _, option = (told or "").partition(":")
        self.presence = False
        self.kind = told or ""
        if part.starts is not None:
            self.base, self.encoder = "text", TextEncoder(**text_options(option))
        elif part.clock is not None:
            self.base, self.kind = "date", self.kind or "date"
        elif part.features[0].kind == "nominal":
            self.base, self.kind = "nominal", "nominal"
            self.values: dict[str, int] = {}
            self.known = 0
        else:
            wanted = base or (rest if rest != "auto" else "")
            self.base, self.kind = "number", wanted or part.features[0].kind
            self.presence = wanted == "binary"

    def part(self, table: RawTable, index: int | None) -> ColumnPart:
        if index is None:
            table = replace(table, names=[self.name], column=lambda _: np.full(table.rows, np.nan))
        try:
            part = self._part(table, index or 0)
        except MarleneError as error:
            if self.told or not self.read or "expected" not in str(error):
                raise
            kind = "text" if self.base == "text" else self.kind
            other = "nominal" if self.base == "number" else "text"
            other = "numeric" if self.kind == "binary" and "0 or 1" in str(error) else other
            raise MarleneError(
                f"{error}; the column began as {kind}: kinds={{{self.name!r}: {other!r}}} "
                f"(--kinds {self.name}={other}) says otherwise"
            ) from None
        guess, self.guess, self.read = self.guess, "", True
        return part._replace(guess=guess)

    def _part(self, table: RawTable, index: int) -> ColumnPart:
        if self.base == "text":
            return text_part(table, self.name, coded(table.column(index)), self.encoder)
        part = part_of(table, index, "numeric" if self.base == "number" else self.kind)
        if part.values is None or self.base == "date":
            return part
        if self.base == "nominal":
            places = [self.values.setdefault(value, len(self.values)) for value in part.features[0].values]
            missing = np.isnan(part.values)
            self.known += int((~missing).sum())
            if not self.told:
                refuse_identifier(table.source, self.name, len(self.values), self.known)
            codes = np.array([*places, 0], np.float64)[np.where(missing, len(places), part.values).astype(np.intp)]
            codes[missing] = np.nan
            return part._replace(features=[Feature(self.name, "nominal", tuple(self.values))], values=codes)
        kind: Kind = "binary" if self.kind == "binary" else "numeric"
        values = part.values
        if self.presence:
            values = np.where(np.isnan(values), np.nan, values != 0)
        elif kind == "binary" and part.features[0].kind != "binary":
            row = int(np.argmax(~np.isnan(values) & (values != 0) & (values != 1)))
            raise MarleneError(f"{table.where(row)}, column {self.name!r}: expected 0 or 1, found {values[row]:g}")
        return part._replace(features=[Feature(self.name, kind)], values=values)


class _Bag:
    """A bag of words. All are numeric if any was not 0 or 1 where the bag began, otherwise binary."""

    def __init__(self, table: RawTable, columns: Sequence[int], told: bool) -> None:
        self.above, self.told = above(table.names[columns[0]]), told
        self.places = {table.names[i]: place for place, i in enumerate(columns)}
        values = bag_entries(table, [(i, place) for place, i in enumerate(columns)])[2]
        self.kind: Kind = "numeric" if (values[~np.isnan(values)] != 1).any() else "binary"
        first, count = table.names[columns[0]], len(columns) - 1
        self.guess = "" if told else f"{first!r} and {count} other rare numbers as a bag (absent is 0)"

    def takes(self, table: RawTable, index: int, told: str | None) -> bool:
        """Take a new column if it belongs here."""
        name = table.names[index]
        if above(name) != self.above or (told is not None) != self.told or (self.told and told != BAG):
            return False
        if not self.told and (table.present is None or table.present(index) is None):
            return False
        self.places[name] = len(self.places)
        return True

    def part(self, table: RawTable, places: Mapping[str, int]) -> ColumnPart:
        there = [(places[name], place) for name, place in self.places.items() if name in places]
        starts, columns, values = bag_entries(table, there)
        if self.kind == "binary":
            wrong = ~np.isnan(values) & (values != 1)
            if wrong.any():
                at = int(np.argmax(wrong))
                row, name = int(np.searchsorted(starts, at, side="right")) - 1, [*self.places][columns[at]]
                raise MarleneError(
                    f"{table.where(row)}, column {name!r}: expected 0 or 1, as in the first examples, "
                    f"found {values[at]:g}"
                )
        features = [Feature(name, self.kind) for name in self.places]
        guess, self.guess = self.guess, ""
        return ColumnPart(features, None, starts, columns, values, guess=guess)


class TableReading:
    """Makes streams of the tables of a source, one after the other.

    Parameters
    ----------
    choices
        What the user says about columns.
    name
        What the streams are called.
    """

    def __init__(self, choices: Choices, name: str) -> None:
        self._choices, self._name = choices, name
        self._columns = Columns(choices.rest)
        self._labels: dict[str, list[str]] = {}
        self._sets: set[str] = set()
        self._dropped: set[str] = set()
        self.labels: list[str] = []

    def stream(self, table: RawTable) -> Stream:
        """Return the next table as a stream; its labels are all those so far, in the order of their appearance."""
        refuse_duplicates(table.source, "columns", table.names)
        if not self._labels:
            self._begin(table)
        else:
            self._add_new(table)
        parts = self._columns.parts(table)
        truth = self._truth(table)
        say(table.source, parts)
        features = tuple(feature for part in parts for feature in part.features)
        clock = next((part.clock for part in parts if part.clock is not None), None)
        X = as_matrix_of(parts, table.rows)
        return Stream(X, truth, features, tuple(self.labels), self._name, clock=clock)

    def _begin(self, table: RawTable) -> None:
        choices = self._choices
        if table.present is not None:
            choices = _within(choices, table.names)  # what is not there yet may come later
        of_labels = choices.label_positions(table)
        dropped = set(matching_columns(table.names, choices.drop, table.source, DROPPED)) if choices.drop else set()
        self._dropped = {table.names[i] for i in dropped}
        inputs = [i for i in range(len(table.names)) if i not in dropped.union(of_labels)]
        told = wanted_kinds(table, inputs, choices.named)
        problems = self._columns.add(table, inputs, told)
        columns = [i for i in of_labels if i not in dropped]
        if not columns:
            raise MarleneError(f"{table.source}: there is no label")
        for i in columns:
            try:
                self._add_label(table, i)
            except MarleneError as error:
                problems.append(str(error))
        refuse_columns(table.source, problems)

    def _add_label(self, table: RawTable, index: int) -> None:
        name = table.names[index]
        names, _ = truth_of(table, index, self._choices.separator)
        cells = coded(table.column(index)).values
        if self._choices.separator is not None or any(isinstance(cell, tuple) for cell in cells):
            self._sets.add(name)
        self._labels[name] = names
        self.labels += names

    def _add_new(self, table: RawTable) -> None:
        """Decide on columns that no table before had; only JSON has such."""
        new = [
            i
            for i, name in enumerate(table.names)
            if not self._columns.known(name) and name not in self._labels and name not in self._dropped
        ]
        inputs, choices = [], self._choices
        for i in new:
            name = table.names[i]
            if _chosen(name, choices.drop):
                self._dropped.add(name)
            elif not isinstance(choices.labels, int) and _chosen(name, choices.labels):
                self._add_label(table, i)
            else:
                inputs.append(i)
        if inputs:
            told = wanted_kinds(table, inputs, _within(choices, [table.names[i] for i in inputs]).named)
            refuse_columns(table.source, self._columns.add(table, inputs, told))

    def _truth(self, table: RawTable) -> Labels:
        places = {name: i for i, name in enumerate(table.names)}
        found: dict[str, Labels] = {}
        for column, known in self._labels.items():
            i = places.get(column)
            if i is None:
                continue
            if column in self._sets:
                names, truth = listed_truth(table, column, coded(table.column(i)), self._choices.separator, known)
                self.labels += names[len(known) :]
                self._labels[column] = names
            else:
                names, truth = truth_of(table, i, None)
            found |= dict(zip(names, truth.T, strict=True))
        Y = np.full((table.rows, len(self.labels)), UNKNOWN, np.int8)
        for place, label in enumerate(self.labels):
            if label in found:
                Y[:, place] = found[label]
        return Y


def _chosen(name: str, choice: str | Sequence[str]) -> bool:
    """Tell whether a name is among those chosen, by patterns or as a list."""
    if not isinstance(choice, str):
        return name in choice
    return (
        any(name == part.strip() or fnmatchcase(name, part.strip()) for part in choice.split(",")) if choice else False
    )


def _within(choices: Choices, names: Sequence[str]) -> Choices:
    """Return the choices without those names and patterns that none of these columns has."""
    kinds = choices.kinds
    if choices.named:
        kinds = {name: kind for name, kind in choices.named.items() if any(_chosen(each, name) for each in names)}
    labels = choices.labels
    if isinstance(labels, list | tuple):
        labels = [name for name in labels if name in names] or labels
    return replace(choices, kinds=kinds, drop=[name for name in names if _chosen(name, choices.drop)], labels=labels)
