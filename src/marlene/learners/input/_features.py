"""The features of a learner, and how dictionaries, frames and matrices become rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import plain, require
from marlene.kernels.rows import Rows
from marlene.learners.input._additions import Additions
from marlene.learners.input._encoded import encoded_in, guessed_kind, is_encoded, make_encoder
from marlene.learners.input._examples import as_example, is_missing, seconds_of_span
from marlene.learners.input._frames import columns_of_frame, is_frame
from marlene.learners.input._rows import arranged, as_csr
from marlene.learners.input._values import Declared, recoded

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Floats, Ints
    from marlene.learners.input._encoded import Encoder
    from marlene.streams import Feature

    Row = tuple[Ints, Floats]

KINDS = ("numeric", "binary", "nominal")
NUMERIC, BINARY, NOMINAL, PRESENCE = range(4)
"""Kinds as numbers. PRESENCE: a binary feature that is 1 for any number but 0."""
EXPECTED = {NUMERIC: "a finite number", BINARY: "0 or 1", NOMINAL: "the index of a value", PRESENCE: "a finite number"}
PLAIN = {bool, int, float}
NO_VALUES = (np.zeros(0, np.int64), np.zeros(0))
FEWEST_NOMINAL_VALUES = 3
"""A nominal feature may get further values, so banks never hold it as a binary one."""
ABSENT = "\0"
"""The value of a nominal feature without declared values in examples that do not mention it; its code is 0."""


class FeatureSpace:
    """Columns by name. The kind of a feature is fixed when it is first seen.

    Parameters
    ----------
    kinds
        - "auto": a bool is binary, a number numeric, a text of four words or more is text, a date is a date, and any
          other text nominal;
        - "numeric";
        - "binary": only whether a number is non-zero is kept;
        - a mapping: a kind for some names, the rest as with "auto".
    """

    def __init__(self, kinds: str | Mapping[Hashable, str] = "auto") -> None:
        allowed = ("auto", "numeric", "binary")
        if isinstance(kinds, str) and kinds not in allowed:
            raise MarleneError(f"features must be one of {', '.join(allowed)} or a mapping, not {kinds!r}")
        for name, kind in {} if isinstance(kinds, str) else dict(kinds).items():
            if kind not in KINDS and not (isinstance(kind, str) and is_encoded(kind)):
                raise MarleneError(f"features[{name!r}] is {kind!r}, expected one of {', '.join(KINDS)}, text, date")
        self.wanted = kinds
        self.encoded: dict[Hashable, str] = {}
        self._encoders: dict[Hashable, Encoder] = {}
        self.column: dict[Hashable, int] = {}
        self.kinds: list[str] = []
        self.codes: list[dict[str, int]] = []
        self.layouts: dict[str | None, Ints] = {}
        self.orders: dict[str | None, dict[int, Ints]] = {}
        self._declared: dict[str | None, Declared] = {}
        self._taken = 0
        self._widened: set[int] = set()
        self._has_nominal = False
        self._numbers: Ints = np.zeros(0, np.int64)
        self._doubted: set[Hashable] = set()
        for name, kind in {} if isinstance(kinds, str) else dict(kinds).items():
            if is_encoded(kind):
                self._encode(name, kind)

    def _encode(self, name: Hashable, kind: str) -> None:
        """Let a feature be text or a date; words may be known already, from streams that were declared."""
        self.encoded[name] = kind
        encoder = self._encoders[name] = make_encoder(name, kind)
        for known in self.column:
            encoder.note(known)

    def __len__(self) -> int:
        return len(self.kinds)

    def columns_of(self, name: Hashable) -> list[int]:
        """Return the columns of a feature; those of all known words if it is a text."""
        own = [self.column[name]] if name in self.column else []
        words = f"{name}: "
        return own + [c for each, c in self.column.items() if name in self.encoded and str(each).startswith(words)]

    def forest_kinds(self, first: int = 0) -> list[int]:
        """Return the kinds as banks of classifiers take them: 0 for a numeric feature, else its number of values."""
        return [self._n_values(column) for column in range(first, len(self))]

    def _n_values(self, column: int) -> int:
        fixed = {"numeric": 0, "binary": 2}
        return fixed.get(self.kinds[column], max(FEWEST_NOMINAL_VALUES, len(self.codes[column])))

    def take_changes(self) -> tuple[dict[int, int], list[int]]:
        """Return what is new since the last call.

        First the nominal columns that got further values, and how many they have now; then the kinds of the new
        columns, as of `forest_kinds`.
        """
        widened = {column: self._n_values(column) for column in sorted(self._widened) if column < self._taken}
        new = self.forest_kinds(self._taken)
        self._widened.clear()
        self._taken = len(self)
        return widened, new

    def header(self) -> dict[str, Any]:
        """Return names, kinds and codes of the features, as JSON can hold them."""
        return {
            "names": [plain(name) for name in self.column],
            "kinds": list(self.kinds),
            "codes": [list(codes) for codes in self.codes],
            "encoded": [[plain(name), kind] for name, kind in self.encoded.items()],
            "layouts": [[stream, layout.tolist()] for stream, layout in self.layouts.items()],
            "orders": [
                [stream, [[column, codes.tolist()] for column, codes in orders.items()]]
                for stream, orders in self.orders.items()
            ],
        }

    def restore(self, header: Mapping[str, Any]) -> None:
        """Fill an empty space with what `header` gave."""
        for name, kind, values in zip(header["names"], header["kinds"], header["codes"], strict=True):
            require(kind in KINDS and name not in self.column, "the features")
            self._append(name, kind, {value: code for code, value in enumerate(values)})
        for name, kind in header["encoded"]:
            require(is_encoded(kind), "the features")
            self._encode(name, kind)
        self.layouts = {stream: np.array(layout, np.int64) for stream, layout in header["layouts"]}
        require(all(((a >= 0) & (a < len(self))).all() for a in self.layouts.values()), "the features")
        for stream, orders in header["orders"]:
            self.orders[stream] = {column: np.array(codes, np.int64) for column, codes in orders}
            for column, codes in self.orders[stream].items():
                require(0 <= column < len(self) and self.kinds[column] == "nominal", "the features")
                require(((codes >= 0) & (codes < len(self.codes[column]))).all(), "the features")
        self._taken = len(self)

    def declare(self, features: Sequence[Feature], stream: str | None) -> None:
        """Add the features of a stream; those known already must agree. They are the columns of its matrices.

        The order in which the values of a nominal feature are declared says which index means which value in matrices,
        and nothing else: new values get their codes in alphabetical order.
        """
        kinds, names = self._agreed_kinds(features), [feature.name for feature in features]
        self._declared.clear()
        self.orders[stream] = {}
        for feature, kind in zip(features, kinds, strict=True):
            values = sorted(set(feature.values)) if kind == "nominal" else []
            if feature.name not in self.column:
                self._append(feature.name, kind, {value: code for code, value in enumerate(values)})
            column = self.column[feature.name]
            codes = self.codes[column]
            new = [value for value in values if value not in codes]
            self._extend(column, {value: len(codes) + i for i, value in enumerate(new)})
            if values:
                self.orders[stream][column] = np.array([codes[value] for value in feature.values], np.int64)
        self.layouts[stream] = np.array([self.column[name] for name in names], np.int64)
        for name, kind in encoded_in(features).items():
            if name not in self.encoded and (kind == "date" or name not in self.column):
                self._encode(name, kind)

    def _agreed_kinds(self, features: Sequence[Feature]) -> list[str]:
        """Return the kinds that declared features get; refuse those that do not agree with what is known."""
        names = [feature.name for feature in features]
        if len(set(names)) != len(names):
            raise MarleneError("two features have the same name")
        for feature in features:
            if feature.name in self.encoded and feature.kind != "numeric":
                told = self.encoded[feature.name]
                raise MarleneError(f"feature {feature.name!r} is {feature.kind} in the stream, but {told} is wanted")
        kinds = [self._wanted_kind(feature.name, feature.kind) for feature in features]
        for feature, kind in zip(features, kinds, strict=True):
            before = self.kinds[self.column[feature.name]] if feature.name in self.column else kind
            if before != kind:
                raise MarleneError(f"feature {feature.name!r} is {kind}, but was {before} before")
        return kinds

    def add(self, additions: Additions) -> None:
        """Add new features and values."""
        for name, kind in additions.encoded.items():
            self._encode(name, kind)
        for name, kind in zip(additions.column, additions.kinds, strict=True):
            self._append(name, kind, {})
        for column, values in additions.values.items():
            self._extend(column, values)

    def _append(self, name: Hashable, kind: str, codes: dict[str, int]) -> None:
        self.column[name] = len(self.kinds)
        self.kinds.append(kind)
        self._has_nominal |= kind == "nominal"
        for encoder in self._encoders.values():
            encoder.note(name)
        self.codes.append({ABSENT: 0} if kind == "nominal" and not codes else codes)

    def _extend(self, column: int, codes: dict[str, int]) -> None:
        before = len(self.codes[column])
        self.codes[column].update(codes)
        if len(self.codes[column]) > before:
            self._widened.add(column)

    def _is_told(self, name: Hashable) -> bool:
        return not isinstance(self.wanted, str) and name in self.wanted

    def _wanted_kind(self, name: Hashable, found: str) -> str:
        if not isinstance(self.wanted, str):
            kind = self.wanted.get(name, found)
            return kind if kind in KINDS else found
        return found if self.wanted == "auto" or found == "nominal" else self.wanted

    def rows(self, X: Any, stream: str | None, learning: bool) -> tuple[Rows, Additions]:  # noqa: ANN401
        """Return a frame (columns by name) or a matrix (columns by position) as rows, and what is new in it."""
        if not is_frame(X):
            return self._rows_of_matrix(X, stream, learning)
        names = list(X.columns)
        columns = columns_of_frame(X)
        return self.rows_of_dicts([dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)], learning)

    def rows_of_dicts(self, examples: Sequence[Mapping[Hashable, Any]], learning: bool) -> tuple[Rows, Additions]:
        """Return examples as rows, and what is new in them."""
        additions = Additions(learning)
        parts = []
        for position, given in enumerate(examples):
            example = given if isinstance(given, dict) else as_example(given)
            try:
                parts.append(_stored(*(self._plain_row(example) or self._row(example, additions))))
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
            if not additions.learning or is_missing(value):
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
            raise MarleneError(f"feature {name!r} is {kind}: expected a number, found {value!r}")
        return number

    def _code(self, column: int, value: object, additions: Additions, name: Hashable) -> float:
        """Return the code of a nominal value. A number counts as its text; 0 is absence unless values are declared."""
        codes = self.codes[column] if column < len(self) else {ABSENT: 0}
        text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        if ABSENT in codes and text == "0" and not isinstance(value, str):
            text = ABSENT
        new = additions.values.get(column, {})
        code = codes.get(text, new.get(text))
        if code is None and additions.learning:
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
        matrix = as_csr(X)
        n_columns = matrix.shape[1]
        layout = self.layouts.get(stream)
        expected = len(self) if layout is None else len(layout)
        if n_columns < expected or (n_columns > expected and (layout is not None or self._has_names())):
            raise MarleneError(f"X has {n_columns} columns, but {expected} features are known")
        if layout is not None:
            matrix = arranged(matrix, layout, len(self))
        elif not learning:
            matrix = matrix[:, :expected]
        else:
            found = "binary" if getattr(X, "dtype", None) == np.bool_ else "numeric"
            additions.column = {column: column for column in range(expected, n_columns)}
            additions.kinds = [self._wanted_kind(column, found) for column in additions.column]
        rows = Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64))
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
        right = np.isfinite(values)
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
        expected = EXPECTED[self._kind_numbers(additions)[column]]
        raise MarleneError(f"{where}feature {name!r} is {kind}: expected {expected}, found {rows.values[position]:g}")

    def _kind_numbers(self, additions: Additions | None = None) -> Ints:
        """Return the kind of every column, known or new, as a number."""
        if len(self._numbers) < len(self):
            known = [*self.column.items()][len(self._numbers) :]
            self._numbers = np.append(self._numbers, [self._as_number(name, self.kinds[c]) for name, c in known])
        if additions is None or not additions.kinds:
            return self._numbers
        new = zip(additions.column, additions.kinds, strict=True)
        return np.append(self._numbers, [self._as_number(name, kind) for name, kind in new])

    def _as_number(self, name: Hashable, kind: str) -> int:
        presence = kind == "binary" and self._wanted_kind(name, "numeric") == "binary"
        return PRESENCE if presence else KINDS.index(kind)


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
