"""What a learner knows of its features: names, kinds and the codes of nominal values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene._common.states import plain, require
from marlene.kernels.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from marlene._common.arrays import Floats, Ints
    from marlene.streams import Feature

    Row = tuple[Ints, Floats]

KINDS = ("numeric", "binary", "nominal")
NUMERIC, BINARY = 0, 1
NO_ROWS = (np.zeros(0, np.int64), np.zeros(0))
PLAIN = {bool, int, float}
FEWEST_NOMINAL_VALUES = 3
"""A nominal feature may get further values, so it is never laid out as a binary one."""
ABSENT = "\0"
"""The value a nominal feature without declared values has in examples that do not mention it; its code is 0."""


@dataclass
class Additions:
    """Features and nominal values that an input brings, to be added once all of it has been checked."""

    features: dict[Hashable, str] = field(default_factory=dict)
    values: dict[Hashable, dict[str, int]] = field(default_factory=dict)


class FeatureSpace:
    """Columns by name, each of a kind that is fixed when the feature is first seen.

    Parameters
    ----------
    kinds
        "auto": a bool is binary, a text nominal, a number numeric; "numeric"; "binary": of numbers only whether they
        are non-zero is kept; or a kind for each of some names, the rest as with "auto".
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
        self._codes_of_kinds: Ints = np.zeros(0, np.int64)

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def names(self) -> list[Hashable]:
        """Names of all features, by column."""
        return list(self.column)

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
        """Take over the names and kinds of a stream's features; known ones must agree."""
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
        """Refuse a stream that has not a single feature in common with those before it."""
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
        """Add what an input brought."""
        for name, kind in additions.features.items():
            self._append(name, kind, {})
        for name, values in additions.values.items():
            self._extend(self.column[name], values)

    def _append(self, name: Hashable, kind: str, codes: dict[str, int]) -> None:
        self.column[name] = len(self.kinds)
        self.kinds.append(kind)
        self.codes.append({ABSENT: 0} if kind == "nominal" and not codes else codes)

    def _extend(self, column: int, codes: dict[str, int]) -> None:
        before = len(self.codes[column])
        self.codes[column].update(codes)
        if len(self.codes[column]) > before:
            self._widened.add(column)

    def _wanted_kind(self, name: Hashable, found: str) -> str:
        if not isinstance(self.wanted, str):
            return self.wanted.get(name, found)
        return found if self.wanted == "auto" or found == "nominal" else self.wanted

    def rows_of_dicts(self, examples: Sequence[Mapping[Hashable, Any]], learning: bool) -> tuple[Rows, Additions]:
        """Return examples as rows; features and values not known yet are additions, or left out if not `learning`."""
        additions = Additions()
        parts = []
        for position, example in enumerate(examples):
            try:
                parts.append(self._plain_row(example) or self._row(example, additions, learning))
            except MarleneError as error:
                raise error if len(examples) == 1 else MarleneError(f"row {position}: {error}") from None
        starts = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(columns) for columns, _ in parts], out=starts[1:])
        if len(parts) == 1:
            return Rows(starts, *parts[0]), additions
        indices, values = (np.concatenate(part) for part in zip(*parts, strict=True)) if parts else NO_ROWS
        return Rows(starts, indices, values), additions

    def _plain_row(self, example: Mapping[Hashable, Any]) -> Row | None:
        """Return a row at once if its features are all known, not nominal, and their values plain numbers in order."""
        if not PLAIN.issuperset(map(type, example.values())):
            return None
        try:
            columns = np.array([*map(self.column.__getitem__, example)], np.int64)
            values = np.array([*example.values()], np.float64)
        except (KeyError, OverflowError):
            return None
        if len(self._codes_of_kinds) != len(self.kinds):
            self._codes_of_kinds = np.array([KINDS.index(kind) for kind in self.kinds], np.int64)
        kinds = self._codes_of_kinds[columns]
        fine = np.where(kinds == NUMERIC, np.isfinite(values), (kinds == BINARY) & ((values == 0) | (values == 1)))
        if not fine.all():
            return None
        stored = values != 0
        columns, values = columns[stored], values[stored]
        if (columns[1:] < columns[:-1]).any():
            order = np.argsort(columns)
            columns, values = columns[order], values[order]
        return columns, values

    def _row(self, example: Mapping[Hashable, Any], additions: Additions, learning: bool) -> Row:
        if learning and example and all(_is_missing(value) for value in example.values()):
            raise MarleneError("every feature is missing")
        row: dict[int, float] = {}
        for name, value in example.items():
            column = self._place(name, value, additions, learning)
            if column >= 0:
                number = self._number(name, column, value, additions, learning)
                if number != 0.0:
                    row[column] = number
        columns = sorted(row)
        return np.array(columns, np.int64), np.array([row[column] for column in columns], np.float64)

    def _place(self, name: Hashable, value: object, additions: Additions, learning: bool) -> int:
        column = self.column.get(name, -1)
        if column >= 0 or not learning:
            return column
        if name not in additions.features:
            if _is_missing(value):
                return -1
            found = (
                "binary" if isinstance(value, bool | np.bool_) else "nominal" if isinstance(value, str) else "numeric"
            )
            additions.features[name] = self._wanted_kind(name, found)
        return len(self.kinds) + list(additions.features).index(name)

    def _number(self, name: Hashable, column: int, value: Any, additions: Additions, learning: bool) -> float:  # noqa: ANN401
        if _is_missing(value):
            return math.nan
        kind = self.kinds[column] if column < len(self.kinds) else additions.features[name]
        if kind == "nominal":
            return self._code(name, column, value, additions, learning)
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

    def _code(self, name: Hashable, column: int, value: object, additions: Additions, learning: bool) -> float:
        """Return the code of a nominal value; a number is its text, but 0 is absent where no values are declared."""
        codes = self.codes[column] if column < len(self.codes) else {ABSENT: 0}
        text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        if ABSENT in codes and text == "0" and not isinstance(value, str):
            text = ABSENT
        new = additions.values.get(name, {})
        code = codes.get(text, new.get(text))
        if code is None and learning:
            code = len(codes) + len(new)
            additions.values.setdefault(name, {})[text] = code
        return math.nan if code is None else float(code)

    def _keeps_presence(self, name: Hashable) -> bool:
        """Tell whether of a feature's numbers only whether they are non-zero is wanted."""
        return self._wanted_kind(name, "numeric") == "binary"

    def rows_of_matrix(self, X: Any, stream: str | None, learning: bool) -> tuple[Rows, Additions]:  # noqa: ANN401
        """Return a matrix as rows.

        Its columns are the features declared for the stream, or else all known ones by position, in which case further
        columns are additions.
        """
        additions = Additions()
        found = "binary" if getattr(X, "dtype", None) == np.bool_ else "numeric"
        matrix = _csr(X)
        n_columns = matrix.shape[1]
        if learning:
            _refuse_all_missing(matrix)
        layout = self.layouts.get(stream)
        expected = len(self.kinds) if layout is None else len(layout)
        if n_columns < expected or (n_columns > expected and (layout is not None or self._has_names())):
            raise MarleneError(f"X has {n_columns} columns, but {expected} features are known")
        if layout is not None:
            matrix = _arranged(matrix, layout, len(self.kinds))
        elif not learning:
            matrix = matrix[:, :expected]
        else:
            for position in range(expected, n_columns):
                additions.features[position] = self._wanted_kind(position, found)
        rows = Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64))
        names = [*self.column, *additions.features]
        kinds = [*self.kinds, *additions.features.values()]
        self._check_matrix(rows, names, kinds)
        for position in np.flatnonzero(np.array([kind == "nominal" for kind in kinds], bool)[rows.indices]).tolist():
            column = int(rows.indices[position])
            if not self._is_coded(column) and not math.isnan(rows.values[position]):
                value = float(rows.values[position])
                rows.values[position] = self._code(names[column], column, value, additions, learning)
        return rows, additions

    def _has_names(self) -> bool:
        return any(name != position for position, name in enumerate(self.column))

    def _is_coded(self, column: int) -> bool:
        """Tell whether a matrix holds the codes of a nominal feature: those of the values that were declared."""
        return column < len(self.codes) and ABSENT not in self.codes[column]

    def _check_matrix(self, rows: Rows, names: list[Hashable], kinds: list[str]) -> None:
        """Check stored values against the kinds, and make presence of what is to be kept as such."""
        values = rows.values
        given = ~np.isnan(values)
        wrong = np.isinf(values)
        binary = np.array([kind == "binary" for kind in kinds], bool)[rows.indices] & given & ~wrong
        if binary.any():
            kept = np.array([self._keeps_presence(name) for name in names], bool)[rows.indices]
            values[binary & kept] = 1.0
            wrong |= binary & (values != 1.0)
        if "nominal" in kinds:
            limits = [len(self.codes[c]) if self._is_coded(c) else np.inf for c in range(len(kinds))]
            coded = np.array([kind == "nominal" for kind in kinds], bool)[rows.indices] & given & ~wrong
            coded &= np.isfinite(limits)[rows.indices]
            with np.errstate(invalid="ignore"):
                whole = (values >= 0) & (values < np.array(limits)[rows.indices]) & (values == np.floor(values))
            wrong |= coded & ~whole
        if not wrong.any():
            return
        position = int(np.argmax(wrong))
        row = int(np.searchsorted(rows.starts, position, side="right")) - 1
        column = int(rows.indices[position])
        expected = {"numeric": "a finite number", "binary": "0 or 1", "nominal": "the index of a value"}[kinds[column]]
        raise MarleneError(f"row {row}, feature {names[column]!r}: expected {expected}, found {values[position]:g}")


def _is_missing(value: object) -> bool:
    # pandas has a missing value of its own, which is known by the name of its type because pandas may not be there.
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    return value is None or type(value).__name__ == "NAType"


def _refuse_all_missing(matrix: Any) -> None:  # noqa: ANN401 (a CSR array)
    missing = np.isnan(matrix.data)
    if missing.any():
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        whole = np.bincount(rows[missing], minlength=matrix.shape[0]) == matrix.shape[1]
        if whole.any():
            raise MarleneError(f"row {int(np.argmax(whole))}: every feature is missing")


def _arranged(matrix: Any, layout: Ints, n_columns: int) -> Any:  # noqa: ANN401 (a CSR array)
    """Put columns where the learner has them."""
    if np.array_equal(layout, np.arange(n_columns)):
        return matrix
    moved = sp.csr_array((matrix.data, layout[matrix.indices], matrix.indptr), shape=(matrix.shape[0], n_columns))
    moved.sort_indices()
    return moved


def _csr(X: Any) -> Any:  # noqa: ANN401 (array-like)
    """Return a CSR copy without explicit zeros and with sorted column numbers."""
    if np.iscomplexobj(X):
        raise MarleneError("X holds complex numbers")
    if sp.issparse(X) and X.ndim == 2:
        matrix = sp.csr_array(X, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix
    try:
        dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MarleneError(f"X holds something that is not a number ({error})") from error
    if dense.ndim != 2:
        raise MarleneError(f"X has {dense.ndim} dimensions, expected 2")
    return sp.csr_array(dense)
