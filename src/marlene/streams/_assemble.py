"""From the columns of a table to a stream."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from marlene._common.checks import one_of
from marlene._common.errors import MarleneError, warn_user
from marlene.streams._bags import BAG, bag_part, bags_of
from marlene.streams._columns import ColumnPart, RawTable, part_of
from marlene.streams._labels import DROPPED, LabelChoice, label_columns, matching_columns
from marlene.streams._stream import KINDS, Stream, refuse_duplicates
from marlene.streams._truth import truth_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Labels
    from marlene.streams._matrix import Matrix
    from marlene.streams._stream import Feature, FeatureKinds

COLUMN_KINDS = (*KINDS, "text", "date", BAG)
MOST_TOLD = 8
"""How many columns that cannot be used are told of in one message."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user says about the columns of a table; see `marlene.streams.load`."""

    labels: LabelChoice
    separator: str | None = None
    drop: str | Sequence[str] = ()
    kinds: FeatureKinds = "auto"
    others: str = "auto"
    """What all features become that `kinds`, a mapping, does not name: numeric, binary, or as they are."""

    @property
    def named(self) -> Mapping[str, str]:
        """The kinds of single columns."""
        return {} if isinstance(self.kinds, str) else self.kinds

    @property
    def rest(self) -> str:
        """The kind of all others."""
        return self.kinds if isinstance(self.kinds, str) else self.others

    def label_positions(self, table: RawTable) -> list[int]:
        """Return the positions of the label columns of a table."""
        return label_columns(table.names, self.labels, table.source)


def table_to_stream(table: RawTable, choices: Choices, name: str) -> Stream:
    """Split a table into features and labels, and guess the kind of every column that is not told."""
    if not isinstance(choices.labels, int):
        refuse_duplicates(table.source, "columns", table.names)
    of_labels = choices.label_positions(table)
    dropped = set(matching_columns(table.names, choices.drop, table.source, DROPPED)) if choices.drop else set()
    inputs = [i for i in range(len(table.names)) if i not in dropped.union(of_labels)]
    wanted = wanted_kinds(table, inputs, choices.named)
    bags = bags_of(table, inputs, wanted)
    inputs = [i for i in inputs if not any(i in bag for bag in bags)]
    problems: list[str] = []
    parts = _parts(table, inputs, wanted, problems)
    found = _truths(table, [i for i in of_labels if i not in dropped], choices.separator, problems)
    refuse_columns(table.source, problems)
    parts += [bag_part(table, bag, wanted) for bag in bags]
    labels = tuple(name for names, _ in found for name in names)
    truths = np.concatenate([truth for _, truth in found], axis=1)
    say(table.source, parts)
    features = tuple(feature for part in parts for feature in part.features)
    clock = next((part.clock for part in parts if part.clock is not None), None)
    stream = Stream(as_matrix_of(parts, table.rows), truths, features, labels, name, clock=clock)
    return stream.with_kinds(_final_kinds(table, inputs, parts, wanted, choices.rest))


def with_columns(stream: Stream, table: RawTable, drop: Sequence[str], choices: Choices) -> Stream:
    """Return a stream without some columns, with other kinds, and with the columns of a table as its last features."""
    told = told_of(table, choices)
    stream = without_columns(stream, drop, choices, told)
    if not table.names:
        return stream
    inputs = range(len(table.names))
    problems: list[str] = []
    parts = _parts(table, inputs, wanted_kinds(table, inputs, told), problems)
    refuse_columns(table.source, problems)
    say(table.source, parts)
    return beside(stream, parts)


def told_of(table: RawTable, choices: Choices) -> dict[str, str]:
    """Return those kinds that are told of columns of a table."""
    return {name: kind for name, kind in choices.named.items() if any(fnmatchcase(each, name) for each in table.names)}


def without_columns(stream: Stream, drop: Sequence[str], choices: Choices, told: Mapping[str, str]) -> Stream:
    """Return a stream without some columns, and with other kinds than before; those in `told` are of other columns."""
    named = {name: kind for name, kind in choices.named.items() if name not in told}
    stream = (stream.without(drop) if drop else stream).with_kinds(named or "auto")
    if choices.rest != "auto":
        rest = [feature.name for feature in stream.features if feature.kind != "nominal" and feature.name not in named]
        stream = stream.with_kinds(dict.fromkeys(rest, choices.rest))
    return stream


def beside(stream: Stream, parts: Sequence[ColumnPart]) -> Stream:
    """Return a stream with further features."""
    features = tuple(feature for part in parts for feature in part.features)
    clock = next((part.clock for part in parts if part.clock is not None), None)
    blocks = (stream.X, as_matrix_of(parts, len(stream)))
    X: Matrix
    if all(isinstance(block, np.ndarray) for block in blocks):
        X = np.column_stack(blocks)
    else:
        X = sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks]))
    return replace(stream, X=X, features=(*stream.features, *features), clock=clock)


def wanted_kinds(table: RawTable, inputs: Sequence[int], kinds: Mapping[str, str]) -> dict[int, str]:
    """Return the told kinds by column. A name counts more than a pattern."""
    found: dict[int, str] = {}
    for pattern, kind in kinds.items():
        exact = [i for i in inputs if table.names[i] == pattern]
        like = [i for i in inputs if fnmatchcase(table.names[i], pattern)]
        if not exact and not like:
            raise MarleneError(f"{table.source}: there is no feature named {pattern!r}")
        one_of(str(kind).partition(":")[0], f"{table.source}, feature {pattern!r}: the kind", COLUMN_KINDS)
        found = {**found, **dict.fromkeys(exact, kind)} if exact else {**dict.fromkeys(like, kind), **found}
    return found


def _parts(table: RawTable, inputs: Sequence[int], wanted: Mapping[int, str], problems: list[str]) -> list[ColumnPart]:
    """Return the features of all columns; add what is wrong with those that cannot be used to `problems`."""
    parts = []
    for i in inputs:
        try:
            parts.append(part_of(table, i, wanted.get(i, table.declared.get(i))))
        except MarleneError as error:
            problems.append(str(error))
    return parts


def refuse_columns(source: str, problems: Sequence[str]) -> None:
    """Raise one error that names all columns that cannot be used, if there are any."""
    if len(problems) > 1:
        said = "; ".join(problem.removeprefix(source).lstrip(":, ") for problem in problems[:MOST_TOLD])
        said += "; …" if len(problems) > MOST_TOLD else ""
        raise MarleneError(f"{source}: {len(problems)} columns cannot be used: {said}")
    if problems:
        raise MarleneError(problems[0])


def _truths(
    table: RawTable, columns: Sequence[int], separator: str | None, problems: list[str]
) -> list[tuple[list[str], Labels]]:
    """Return the labels of all label columns, and their values; what is wrong with others goes to `problems`."""
    if not columns:
        raise MarleneError(f"{table.source}: there is no label")
    found = []
    for i in columns:
        try:
            found.append(truth_of(table, i, separator))
        except MarleneError as error:
            problems.append(str(error))
    return found


def say(source: str, parts: Sequence[ColumnPart]) -> None:
    """Warn of guesses."""
    guesses = [part.guess for part in parts if part.guess]
    if guesses:
        said = f"{source}: read {', '.join(guesses)}; kinds= or --kinds says otherwise"
        warn_user(said)


def as_matrix_of(parts: Sequence[ColumnPart], rows: int) -> Matrix:
    """Return the values of all features; sparse if those of any column are."""
    width = sum(len(part.features) for part in parts)
    if all(part.values is not None for part in parts):
        X = np.empty((rows, width))
        first = 0
        for part in parts:
            values = part.values
            if values is not None:
                X[:, first : first + len(part.features)] = values if values.ndim == 2 else values[:, np.newaxis]
            first += len(part.features)
        return X
    entries: list[tuple[Array, Array, Array]] = []
    first = 0
    for part in parts:
        if part.starts is not None and part.columns is not None:
            lengths = np.diff(part.starts)
            row = np.repeat(np.arange(rows, dtype=np.int32), lengths)
            data = np.ones(len(row)) if part.data is None else part.data
            entries.append((row, part.columns + np.int32(first), data))
        elif part.values is not None:
            values = part.values if part.values.ndim == 2 else part.values[:, np.newaxis]
            at, column = np.nonzero(values)
            entries.append((at.astype(np.int32), (column + first).astype(np.int32), values[at, column]))
        first += len(part.features)
    rows_of, columns, stored = (np.concatenate(each) for each in zip(*entries, strict=True))
    matrix = sp.csr_array(sp.coo_array((stored, (rows_of, columns)), shape=(rows, width)))
    matrix.sort_indices()
    return matrix


def _final_kinds(
    table: RawTable, inputs: Sequence[int], parts: Sequence[ColumnPart], wanted: Mapping[int, str], rest: str
) -> dict[str, str]:
    """Return the kinds that features must still get: those of single columns, and of all others."""
    kinds: dict[str, str] = {}
    for i, part in zip(inputs, parts, strict=False):  # bags are last
        feature: Feature = part.features[0] if part.features else None  # type: ignore[assignment]
        if len(part.features) != 1 or part.values is None or part.values.ndim == 2:
            continue
        if i in wanted:
            kinds[table.names[i]] = wanted[i]
        elif rest != "auto" and feature.kind != "nominal":
            kinds[table.names[i]] = rest
    return kinds
