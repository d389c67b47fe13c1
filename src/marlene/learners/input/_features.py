"""The features of a learner, and how dictionaries, frames and matrices become rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError, quoted
from marlene.kernels.rows import LARGEST_NUMBER, Rows
from marlene.kernels.tracking.given import BINARY, NOMINAL, NUMERIC, PRESENCE
from marlene.learners.input._additions import Additions
from marlene.learners.input._encoded import guessed_kind, make_encoder
from marlene.learners.input._examples import as_example, flat, is_missing, seconds_of_span
from marlene.learners.input._frames import columns_of_frame, is_frame
from marlene.learners.input._known import ABSENT, KnownFeatures
from marlene.learners.input._rows import arranged, rows_of_matrix, without_columns
from marlene.learners.input._values import Declared, recoded

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Floats, Ints
    from marlene.learners.input._encoded import Encoder

    Row = tuple[Ints, Floats]

FINITE = "a finite number"
EXPECTED = {NUMERIC: FINITE, BINARY: "0 or 1", NOMINAL: "the index of a value", PRESENCE: FINITE}
PLAIN = {bool, int, float}
NO_VALUES = (np.zeros(0, np.int64), np.zeros(0))


class FeatureSpace(KnownFeatures):
    """Columns by name, and how examples become rows of them; parameters as for `KnownFeatures`."""

    def rows(
        self,
        X: Any,  # noqa: ANN401
        stream: str | None,
        learning: bool,
        room: int | None = None,
    ) -> tuple[Rows, Additions]:
        """Return a frame (columns by name) or a matrix (columns by position) as rows, and what is new in it."""
        if not is_frame(X):
            return self._rows_of_matrix(X, stream, learning)
        names = list(X.columns)
        if len(set(names)) != len(names):
            raise MarleneError("X has two columns of the same name")
        columns = columns_of_frame(X)
        examples = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        return self.rows_of_dicts(examples, learning, room)

    def new_kinds(self, example: Mapping[Hashable, Any]) -> dict[Hashable, str] | None:
        """Return the kinds of new features in an example of plain numbers; None if one is missing, or nominal."""
        known, kinds = self.column, {}
        for name, value in example.items():
            if name not in known:
                if value != value:  # noqa: PLR0124 (NaN)
                    return None
                kinds[name] = self._wanted_kind(name, "binary" if value is True or value is False else "numeric")
        return None if "nominal" in kinds.values() else kinds

    def plain_additions(self, example: Mapping[Hashable, Any]) -> Additions | None:
        """Return what is new in an example of plain numbers; None if one of the new ones is missing."""
        kinds = self.new_kinds(example)
        if kinds is None:
            return None
        columns = {name: len(self) + place for place, name in enumerate(kinds)}
        return Additions(learning=True, column=columns, kinds=[*kinds.values()])

    def rows_of_dicts(
        self, examples: Sequence[Mapping[Hashable, Any]], learning: bool, room: int | None = None
    ) -> tuple[Rows, Additions]:
        """Return examples as rows, and what is new in them; `room` is that of `Additions`."""
        additions = Additions(learning, room)
        parts = []
        for position, given in enumerate(examples):
            example = given if isinstance(given, dict) else as_example(given)
            try:
                parts.append(_stored(*(self._plain_row(example) or self._row(flat(example), additions))))
            except MarleneError as error:
                raise error if len(examples) == 1 else MarleneError(f"row {position}: {error}") from None
        starts = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(columns) for columns, _ in parts], out=starts[1:])
        columns, values = parts[0] if len(parts) == 1 else map(np.concatenate, zip(NO_VALUES, *parts, strict=True))
        rows = Rows(starts, columns, values)
        self._check(rows, additions)
        return rows, additions

    def _plain_row(self, example: Mapping[Hashable, Any]) -> Row | None:
        """Return columns and values of an example of plain numbers and known features, none nominal; else None."""
        if not PLAIN.issuperset(map(type, example.values())) or self._has_encoded(example):
            return None
        try:
            columns = np.array([*map(self.column.__getitem__, example)], np.int64)
            values = np.array([*example.values()], np.float64)
        except (KeyError, OverflowError):
            return None
        if np.isnan(values).any() or (self._has_nominal and (self._kind_numbers()[columns] == NOMINAL).any()):
            return None
        return columns, values

    def _has_encoded(self, example: Mapping[Hashable, Any]) -> bool:
        always = any(encoder.always for encoder in self._encoders.values())
        return always or not self._encoders.keys().isdisjoint(example)

    def _row(self, example: Mapping[Hashable, Any], additions: Additions) -> Row:
        """Return columns and values of any example, read one by one."""
        row: dict[int, float] = {}
        for name, value in example.items():
            encoder = self._encoders.get(name) or additions.encoders.get(name)
            if encoder is None and name not in self.column and additions.learning and name not in additions.column:
                encoder = self._guess(name, value, additions)
            if encoder is None:
                self._put(row, name, value, None, additions)
            else:
                self._put_encoded(row, encoder, value, additions)
        for name, encoder in self._encoders.items():
            if encoder.always and name not in example:
                self._put_encoded(row, encoder, None, additions)
        return np.array([*row], np.int64), np.array([*row.values()], np.float64)

    def _guess(self, name: Hashable, value: Any, additions: Additions) -> Encoder | None:  # noqa: ANN401
        """Return the encoder of a new feature whose value looks like a text or a date."""
        kind = None if self._is_told(name) or is_missing(value) else guessed_kind(value)
        if kind is None:
            return None
        additions.encoded[name] = kind
        additions.encoders[name] = make_encoder(name, kind)
        return additions.encoders[name]

    def _put_encoded(self, row: dict[int, float], encoder: Encoder, value: Any, additions: Additions) -> None:  # noqa: ANN401
        for feature, number in encoder.features(value, additions):
            column = self.column.get(feature)
            if column is None:
                self._put(row, feature, number, encoder.kind, additions)
            else:
                row[column] = number

    def _put(self, row: dict[int, float], name: Hashable, value: Any, kind: str | None, additions: Additions) -> None:  # noqa: ANN401
        """Write the value of a feature to a row; a new one is of the kind told, or of that of its value."""
        column = self.column.get(name, additions.column.get(name))
        if column is None:
            if not additions.learning or additions.is_full or is_missing(value):
                return
            column = additions.column[name] = len(self) + len(additions.column)
            additions.kinds.append(kind or self._wanted_kind(name, _kind_of(value)))
        row[column] = self._number(name, column, value, additions)

    def _number(self, name: Hashable, column: int, value: Any, additions: Additions) -> float:  # noqa: ANN401
        if is_missing(value):
            return math.nan
        kind = self.kinds[column] if column < len(self) else additions.kinds[column - len(self)]
        if kind == "nominal":
            return self._code(column, value, additions, name)
        try:
            number = math.nan if isinstance(value, str) else float(seconds_of_span(value))
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            raise MarleneError(f"feature {name!r} is {kind}: expected a number, found {quoted(value)}")
        return number

    def _code(self, column: int, value: object, additions: Additions, name: Hashable) -> float:
        """Return the code of a nominal value. A number counts as its text; 0 is absence unless values are declared."""
        codes = self.codes[column] if column < len(self) else {ABSENT: 0}
        text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        if ABSENT in codes and text == "0" and not isinstance(value, str):
            text = ABSENT
        new = additions.values.get(column, {})
        code = codes.get(text, new.get(text))
        if code is None and additions.learning and not additions.is_full:
            code = len(codes) + len(new)
            additions.values.setdefault(column, {})[text] = code
            if ABSENT in codes and not self._is_told(name):  # its values are not declared
                additions.doubt(name, text, code)
        return math.nan if code is None else float(code)

    def doubts(self, additions: Additions) -> list[str]:
        """Return warnings, one for each feature."""
        new = {name: said for name, said in additions.doubts.items() if name not in self._doubted}
        self._doubted.update(new)
        return [*new.values()]

    def _rows_of_matrix(self, X: Any, stream: str | None, learning: bool) -> tuple[Rows, Additions]:  # noqa: ANN401
        """Return a matrix as rows.

        Its columns are the features declared for the stream, or else all known ones by position; further columns are
        then new features.
        """
        additions = Additions(learning)
        rows, n_columns = rows_of_matrix(X)
        layout = self.layouts.get(stream)
        expected = len(self) if layout is None else len(layout)
        if n_columns < expected or (n_columns > expected and (layout is not None or self._has_names())):
            raise MarleneError(f"X has {n_columns} columns, but {expected} features are known")
        if layout is not None:
            rows = arranged(rows, layout)
        elif not learning:
            rows = without_columns(rows, expected)
        else:
            found = "binary" if getattr(X, "dtype", None) == np.bool_ else "numeric"
            additions.column = {column: column for column in range(expected, n_columns)}
            additions.kinds = [self._wanted_kind(column, found) for column in additions.column]
        self._check(rows, additions)
        if self._has_nominal or "nominal" in additions.kinds:
            rows = self._coded(rows, self._declared_in(stream), additions)
        return rows, additions

    def _declared_in(self, stream: str | None) -> Declared:
        """Return which values a stream declares; those of all streams if it declares none."""
        if stream not in self._declared:
            every = [self.orders[stream]] if stream in self.orders else [*self.orders.values()][::-1]
            self._declared[stream] = Declared.of(
                {column: order for orders in every for column, order in orders.items()}
            )
        return self._declared[stream]

    def _has_names(self) -> bool:
        return any(name != position for position, name in enumerate(self.column))

    def _coded(self, rows: Rows, given: Declared, additions: Additions) -> Rows:
        """Return rows with codes of nominal values. A matrix holds indices if values are declared, else values."""
        n_values = np.zeros(len(self) + len(additions.column), np.int64)
        n_values[given.columns] = given.n_values
        declared, values = n_values[rows.indices], rows.values
        wrong = (declared > 0) & ~np.isnan(values) & ~((values >= 0) & (values < declared) & (values % 1 == 0))
        if wrong.any():
            self._refuse(rows, int(np.argmax(wrong)), additions)
        free = (self._kind_numbers(additions)[rows.indices] == NOMINAL) & (declared == 0) & ~np.isnan(values)
        for position in np.flatnonzero(free).tolist():
            column = int(rows.indices[position])
            values[position] = self._code(column, float(values[position]), additions, column)
        return recoded(rows, given.codes)

    def _check(self, rows: Rows, additions: Additions) -> None:
        """Check numbers against the kinds of their features; write 1 where only presence is kept."""
        values, kinds = rows.values, self._kind_numbers(additions)
        right = np.abs(values) <= LARGEST_NUMBER
        binary = kinds == BINARY
        if binary.any():
            right &= (values == 1.0) | ~binary[rows.indices]
        if not right.all():
            wrong = ~right & ~np.isnan(values)
            if wrong.any():
                self._refuse(rows, int(np.argmax(wrong)), additions)
        if self.wanted not in ("auto", "numeric"):
            values[(kinds == PRESENCE)[rows.indices] & ~np.isnan(values)] = 1.0

    def _refuse(self, rows: Rows, position: int, additions: Additions) -> None:
        """Refuse a stored value."""
        row, column = int(np.searchsorted(rows.starts, position, side="right")) - 1, int(rows.indices[position])
        where = f"row {row}: " if len(rows.starts) > 2 else ""
        name, kind = [*self.column, *additions.column][column], [*self.kinds, *additions.kinds][column]
        expected, found = EXPECTED[self._kind_numbers(additions)[column]], rows.values[position]
        limit = f" up to {LARGEST_NUMBER:g}" if expected == FINITE and np.isfinite(found) else ""
        raise MarleneError(f"{where}feature {name!r} is {kind}: expected {expected}{limit}, found {found:g}")


def _stored(columns: Ints, values: Floats) -> Row:
    """Return what is not zero, in the order of the columns."""
    stored = values != 0
    columns, values = columns[stored], values[stored]
    if (columns[1:] < columns[:-1]).any():
        order = np.argsort(columns)
        columns, values = columns[order], values[order]
    return columns, values


def _kind_of(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "binary"
    return "nominal" if isinstance(value, str) else "numeric"
