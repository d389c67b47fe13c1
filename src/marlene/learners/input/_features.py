"""The features of a learner: names, kinds and codes of nominal values; dictionaries, frames and matrices as rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import plain, require
from marlene.kernels.rows import Rows
from marlene.learners.input._matrices import arranged, as_csr, refuse_all_missing

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from marlene._common.arrays import Bools, Floats, Ints
    from marlene.streams import Feature

    Row = tuple[Ints, Floats]

KINDS = ("numeric", "binary", "nominal")
NUMERIC, BINARY, NOMINAL = range(3)
PLAIN = {bool, int, float}
FEWEST_NOMINAL_VALUES = 3
"""A nominal feature may get further values, so banks never hold it as a binary one."""
ABSENT = "\0"
"""The value of a nominal feature without declared values in examples that do not mention it; its code is 0."""


@dataclass
class Additions:
    """New features and nominal values of an input. They are added after all of the input is checked.

    Attributes
    ----------
    learning
        Whether anything may be added; a prediction leaves unknown features and values out.
    column, kinds
        The column and the kind of every new feature.
    values
        The codes of new nominal values, by column.
    """

    learning: bool
    column: dict[Hashable, int] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    values: dict[int, dict[str, int]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.column or self.values)


class Columns(NamedTuple):
    """Every column as arrays.

    Attributes
    ----------
    kind
        Its place in `KINDS`.
    limit
        Number of values a matrix can hold: codes if values are declared. Infinity: any number.
    presence
        Whether only the presence (non-zero) is kept.
    """

    kind: Ints
    limit: Floats
    presence: Bools

    def extended(self, further: Columns) -> Columns:
        """Return these columns and further ones."""
        return Columns(*(np.append(mine, theirs) for mine, theirs in zip(self, further, strict=True)))


NO_COLUMNS = Columns(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, bool))


class FeatureSpace:
    """Columns by name. The kind of a feature is fixed when it is first seen.

    Parameters
    ----------
    kinds
        - "auto": a bool is binary, a text nominal, a number numeric;
        - "numeric";
        - "binary": only whether a number is non-zero is kept;
        - a mapping: a kind for some names, the rest as with "auto".
    """

    def __init__(self, kinds: str | Mapping[Hashable, str] = "auto") -> None:
        allowed = ("auto", "numeric", "binary")
        if isinstance(kinds, str) and kinds not in allowed:
            raise MarleneError(f"features must be one of {', '.join(allowed)} or a mapping, not {kinds!r}")
        for name, kind in {} if isinstance(kinds, str) else dict(kinds).items():
            if kind not in KINDS:
                raise MarleneError(f"features[{name!r}] is {kind!r}, expected one of {', '.join(KINDS)}")
        self.wanted = kinds
        self.column: dict[Hashable, int] = {}
        self.kinds: list[str] = []
        self.codes: list[dict[str, int]] = []
        self.layouts: dict[str | None, Ints] = {}
        self._taken = 0
        self._widened: set[int] = set()
        self._columns = NO_COLUMNS

    def __len__(self) -> int:
        return len(self.kinds)

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
            "layouts": [[stream, layout.tolist()] for stream, layout in self.layouts.items()],
        }

    def restore(self, header: Mapping[str, Any]) -> None:
        """Fill an empty space with what `header` gave."""
        self.column = {name: column for column, name in enumerate(header["names"])}
        self.kinds = list(header["kinds"])
        self.codes = [{value: code for code, value in enumerate(values)} for values in header["codes"]]
        self.layouts = {stream: np.array(layout, np.int64) for stream, layout in header["layouts"]}
        require(all(kind in KINDS for kind in self.kinds), "the kinds of the features")
        require(len(self.column) == len(self.kinds) == len(self.codes), "the features")
        require(all(((a >= 0) & (a < len(self.kinds))).all() for a in self.layouts.values()), "the features")
        self._taken = len(self)

    def declare(self, features: Sequence[Feature], stream: str | None) -> None:
        """Add the features of a stream; those known already must agree. They are the columns of its matrices."""
        names = [feature.name for feature in features]
        if len(set(names)) != len(names):
            raise MarleneError("two features have the same name")
        if names:
            self.refuse_strangers(names, stream)
        kinds = [self._wanted_kind(feature.name, feature.kind) for feature in features]
        for feature, kind in zip(features, kinds, strict=True):
            self._refuse_contradiction(feature, kind)
        for feature, kind in zip(features, kinds, strict=True):
            codes = {value: i for i, value in enumerate(feature.values)}
            if feature.name in self.column:
                self._extend(self.column[feature.name], codes)
            else:
                self._append(feature.name, kind, codes)
        self.layouts[stream] = np.array([self.column[name] for name in names], np.int64)

    def refuse_strangers(self, names: Iterable[Hashable], stream: str | None) -> None:
        """Refuse a stream without any known feature."""
        if self.column and not any(name in self.column for name in names):
            which = "the target" if stream is None else f"source {stream!r}"
            raise MarleneError(f"{which} has no feature in common with the streams before it")

    def _refuse_contradiction(self, feature: Feature, kind: str) -> None:
        if feature.name not in self.column:
            return
        column = self.column[feature.name]
        if self.kinds[column] != kind:
            raise MarleneError(f"feature {feature.name!r} is {kind}, but was {self.kinds[column]} before")
        for code, (before, now) in enumerate(zip(self.codes[column], feature.values, strict=False)):
            if before != now:
                raise MarleneError(f"feature {feature.name!r}: value {code} is {now!r}, but was {before!r} before")

    def add(self, additions: Additions) -> None:
        """Add new features and values."""
        for name, kind in zip(additions.column, additions.kinds, strict=True):
            self._append(name, kind, {})
        for column, values in additions.values.items():
            self._extend(column, values)

    def _known_columns(self) -> Columns:
        first = len(self._columns.kind)
        if first < len(self):
            new = self._as_columns(islice(self.column, first, None), self.kinds[first:], first)
            self._columns = self._columns.extended(new)
        return self._columns

    def _as_columns(self, names: Iterable[Hashable], kinds: Sequence[str], first: int) -> Columns:
        presence = [kind == "binary" and self._keeps_presence(name) for name, kind in zip(names, kinds, strict=True)]
        limits = {"numeric": math.inf, "binary": 2}
        return Columns(
            np.array([KINDS.index(kind) for kind in kinds], np.int64),
            np.array([limits.get(kind) or self._n_codes(first + i) for i, kind in enumerate(kinds)], np.float64),
            np.array(presence, bool),
        )

    def _n_codes(self, column: int) -> float:
        """Return the number of declared values of a nominal feature; infinity if none are declared."""
        declared = column < len(self) and ABSENT not in self.codes[column]
        return len(self.codes[column]) if declared else math.inf

    def _append(self, name: Hashable, kind: str, codes: dict[str, int]) -> None:
        self.column[name] = len(self.kinds)
        self.kinds.append(kind)
        self.codes.append({ABSENT: 0} if kind == "nominal" and not codes else codes)

    def _extend(self, column: int, codes: dict[str, int]) -> None:
        before = len(self.codes[column])
        self.codes[column].update(codes)
        if len(self.codes[column]) > before:
            self._widened.add(column)
            self._columns = NO_COLUMNS  # its limit may have changed

    def _wanted_kind(self, name: Hashable, found: str) -> str:
        if not isinstance(self.wanted, str):
            return self.wanted.get(name, found)
        return found if self.wanted == "auto" or found == "nominal" else self.wanted

    def rows(self, X: Any, stream: str | None, learning: bool) -> tuple[Rows, Additions]:  # noqa: ANN401
        """Return a frame (columns by name) or a matrix (columns by position) as rows, and what is new in it."""
        if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
            return self._rows_of_matrix(X, stream, learning)
        names = list(X.columns)
        columns = [np.asarray(X[name]).tolist() for name in names]
        return self.rows_of_dicts([dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)], learning)

    def rows_of_dicts(self, examples: Sequence[Mapping[Hashable, Any]], learning: bool) -> tuple[Rows, Additions]:
        """Return examples as rows, and what is new in them."""
        additions = Additions(learning)
        parts = []
        for position, example in enumerate(examples):
            try:
                parts.append(self._plain_row(example) or self._row(example, additions))
            except MarleneError as error:
                raise error if len(examples) == 1 else MarleneError(f"row {position}: {error}") from None
        starts = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(columns) for columns, _ in parts], out=starts[1:])
        if len(parts) == 1:
            return Rows(starts, *parts[0]), additions
        empty = (np.zeros(0, np.int64), np.zeros(0))
        return Rows(starts, *(np.concatenate(part) for part in zip(empty, *parts, strict=True))), additions

    def _plain_row(self, example: Mapping[Hashable, Any]) -> Row | None:
        """Return an example of known numeric and binary features and plain right values at once; else None."""
        if not PLAIN.issuperset(map(type, example.values())):
            return None
        try:
            columns = np.array([*map(self.column.__getitem__, example)], np.int64)
            values = np.array([*example.values()], np.float64)
        except (KeyError, OverflowError):
            return None
        kinds = self._known_columns().kind[columns]
        fine = np.where(kinds == NUMERIC, np.isfinite(values), (kinds == BINARY) & ((values == 0) | (values == 1)))
        if not fine.all():
            return None
        stored = values != 0
        columns, values = columns[stored], values[stored]
        if (columns[1:] < columns[:-1]).any():
            order = np.argsort(columns)
            columns, values = columns[order], values[order]
        return columns, values

    def _row(self, example: Mapping[Hashable, Any], additions: Additions) -> Row:
        """Return any example value by value; a wrong value is an error."""
        if additions.learning and example and all(map(_is_missing, example.values())):
            raise MarleneError("every feature is missing")
        row: dict[int, float] = {}
        for name, value in example.items():
            column = self.column.get(name, additions.column.get(name))
            if column is None:
                if not additions.learning or _is_missing(value):
                    continue
                column = additions.column[name] = len(self) + len(additions.column)
                additions.kinds.append(self._wanted_kind(name, _kind_of(value)))
            number = self._number(name, column, value, additions)
            if number != 0.0:
                row[column] = number
        columns = sorted(row)
        return np.array(columns, np.int64), np.array([row[column] for column in columns], np.float64)

    def _number(self, name: Hashable, column: int, value: Any, additions: Additions) -> float:  # noqa: ANN401
        if _is_missing(value):
            return math.nan
        kind = self.kinds[column] if column < len(self) else additions.kinds[column - len(self)]
        if kind == "nominal":
            return self._code(column, value, additions)
        try:
            number = math.nan if isinstance(value, str) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            raise MarleneError(f"feature {name!r} is {kind}: expected a number, found {value!r}")
        if math.isinf(number):
            raise MarleneError(f"feature {name!r}: the value is infinite")
        if kind == "binary" and number not in (0.0, 1.0):
            if self._keeps_presence(name):
                return 1.0
            raise MarleneError(f"feature {name!r} is binary: expected 0 or 1, found {number:g}")
        return number

    def _code(self, column: int, value: object, additions: Additions) -> float:
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
        return math.nan if code is None else float(code)

    def _keeps_presence(self, name: Hashable) -> bool:
        """Tell whether only the presence of a feature (non-zero) is kept of its numbers."""
        return self._wanted_kind(name, "numeric") == "binary"

    def _rows_of_matrix(self, X: Any, stream: str | None, learning: bool) -> tuple[Rows, Additions]:  # noqa: ANN401
        """Return a matrix as rows.

        Its columns are the features declared for the stream, or else all known ones by position; further columns are
        then new features.
        """
        additions = Additions(learning)
        matrix = as_csr(X)
        n_columns = matrix.shape[1]
        if learning:
            refuse_all_missing(matrix)
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
        self._check_matrix(rows, additions)
        return rows, additions

    def _has_names(self) -> bool:
        return any(name != position for position, name in enumerate(self.column))

    def _check_matrix(self, rows: Rows, additions: Additions) -> None:
        """Check stored values against the kinds; write 1 for presence, and codes for nominal values."""
        values, column = rows.values, rows.indices
        known = self._known_columns()
        if additions.column:
            known = known.extended(self._as_columns(additions.column, additions.kinds, len(self)))
        if known.presence.any():
            values[known.presence[column] & np.isfinite(values)] = 1.0
        wrong = np.isinf(values)
        if np.isfinite(known.limit).any():
            limit = known.limit[column]
            whole = (values >= 0) & (values < limit) & (values == np.floor(values))
            wrong |= np.isfinite(limit) & ~whole & ~np.isnan(values)
        if wrong.any():
            position = int(np.argmax(wrong))
            row = int(np.searchsorted(rows.starts, position, side="right")) - 1
            name = [*self.column, *additions.column][column[position]]
            expected = ("a finite number", "0 or 1", "the index of a value")[known.kind[column[position]]]
            raise MarleneError(f"row {row}, feature {name!r}: expected {expected}, found {values[position]:g}")
        uncoded = (known.kind == NOMINAL) & np.isinf(known.limit)
        if uncoded.any():
            for position in np.flatnonzero(uncoded[column] & ~np.isnan(values)).tolist():
                values[position] = self._code(int(column[position]), float(values[position]), additions)


def _kind_of(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "binary"
    return "nominal" if isinstance(value, str) else "numeric"


def _is_missing(value: object) -> bool:
    # The missing value of pandas is known by the name of its type, because pandas may not be installed.
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return value is None or type(value).__name__ == "NAType"
