"""Which features a learner knows: their columns, kinds and values."""

from __future__ import annotations

import copy
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from marlene._common.arrays import appended
from marlene._common.errors import MarleneError
from marlene._common.states import MOST_COUNTED, plain, require, restored_count
from marlene.kernels.tracking.given import PRESENCE
from marlene.learners.input._encoded import encoded_in, is_encoded, make_encoder

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Ints
    from marlene.learners.input._additions import Additions
    from marlene.learners.input._encoded import Encoder
    from marlene.learners.input._values import Declared
    from marlene.streams import Feature

KINDS = ("numeric", "binary", "nominal")
FEWEST_NOMINAL_VALUES = 3
"""A nominal feature may get further values, so banks never hold it as a binary one."""
NO_COLUMNS = np.zeros(0, np.int64)
ABSENT = "\0"
"""The value of a nominal feature without declared values in examples that do not mention it; its code is 0."""


class Mark(NamedTuple):
    """How much a space knew; `before`: how many values nominal features had when they got further ones."""

    features: int
    encoded: int
    taken: int
    widened: set[int]
    before: list[tuple[int, int]]


class KnownFeatures:
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
        self._before: list[tuple[int, int]] = []
        self._used: Ints = np.zeros(0, np.int64)
        self._forgotten = 0
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

    def size(self) -> int:
        """Return how many features there are, and values of nominal ones."""
        return len(self) + (sum(map(len, self.codes)) if self._has_nominal else 0)

    def count(self, columns: Ints) -> None:
        """Take note that examples were learnt in which these columns were not zero."""
        if len(self._used) < len(self):
            self._used = appended(self._used, np.zeros(len(self) - len(self._used), np.int64))
        np.add.at(self._used, columns, 1)

    def least_used(self, most: int) -> Ints:
        """Return the columns that were counted least, at most so many; of equals the oldest.

        Nominal features stay, and those that matrices name by their position.
        """
        stays = np.array([kind == "nominal" for kind in self.kinds], np.bool_)
        for layout in self.layouts.values():
            stays[layout] = True
        if all(name == position for position, name in enumerate(self.column)):
            stays[:] = True
        free = np.flatnonzero(~stays)
        self.count(NO_COLUMNS)
        return np.sort(free[np.argsort(self._used[free], kind="stable")[:most]])

    def without(self, columns: Ints, most: int) -> Self:
        """Return a space without these columns, of which `least_used` told.

        After so many as there may be at most were forgotten, counts of the others are halved.
        """
        other = copy.copy(self)
        other._keep(np.setdiff1d(np.arange(len(self)), columns))  # noqa: SLF001 (of the same class)
        other._fade(len(columns), most)  # noqa: SLF001
        return other

    def _keep(self, columns: Ints) -> None:
        """Have only these columns, in new containers."""
        kept, moved, names = columns.tolist(), np.full(len(self), -1), [*self.column]
        moved[columns] = np.arange(len(columns))
        self._numbers, self._used = self._kind_numbers()[columns], self._used[columns]
        self.column = {names[column]: place for place, column in enumerate(kept)}
        self.kinds = [self.kinds[column] for column in kept]
        self.codes = [self.codes[column] for column in kept]
        self.layouts = {stream: moved[layout] for stream, layout in self.layouts.items()}
        self.orders = {
            stream: {int(moved[column]): codes for column, codes in orders.items()}
            for stream, orders in self.orders.items()
        }
        self._declared, self._widened, self._before, self._taken = {}, set(), [], len(kept)
        encoded, self.encoded, self._encoders = self.encoded, {}, {}
        for name, kind in encoded.items():
            self._encode(name, kind)

    def _fade(self, forgotten: int, most: int) -> None:
        self._forgotten += forgotten
        if self._forgotten >= most:
            self._used, self._forgotten = self._used // 2, 0

    def _kind_numbers(self, additions: Additions | None = None) -> Ints:
        """Return the kind of every column, known or new, as a number."""
        if len(self._numbers) < len(self):
            known = [*islice(reversed(self.column.items()), len(self) - len(self._numbers))][::-1]
            self._numbers = appended(self._numbers, [self._as_number(name, self.kinds[c]) for name, c in known])
        if additions is None or not additions.kinds:
            return self._numbers
        new = zip(additions.column, additions.kinds, strict=True)
        return np.append(self._numbers, [self._as_number(name, kind) for name, kind in new])

    def mark(self) -> Mark:
        """Return how much is known, for `undo`."""
        self._before = []
        return Mark(len(self), len(self.encoded), self._taken, set(self._widened), self._before)

    def undo(self, mark: Mark) -> None:
        """Forget what was added since, even if adding was interrupted; may be interrupted and repeated itself."""
        while len(self.column) > mark.features:
            for encoder in self._encoders.values():
                encoder.unnote(next(reversed(self.column)))
            self.forget_names(len(self.column) - 1)
        del self.kinds[mark.features :], self.codes[mark.features :]
        for column, length in reversed(mark.before):
            while column < len(self.codes) and len(self.codes[column]) > length:
                self.codes[column].popitem()
        for known in (self.encoded, self._encoders):
            while len(known) > mark.encoded:
                known.popitem()
        self._numbers = self._numbers[: mark.features]
        self._taken, self._widened = mark.taken, set(mark.widened)
        self._used = self._used[: mark.features]
        self._has_nominal = "nominal" in self.kinds

    def complete(self, kinds: Sequence[str]) -> None:
        """Take note of the kinds of the last features, whose names are known; may be interrupted and repeated."""
        known = len(self.column) - len(kinds)
        self.kinds[known:] = kinds
        self.codes[known:] = [{} for _ in kinds]
        self._taken = len(self.kinds)

    def forget_names(self, features: int) -> None:
        """Keep the names of so many features; may be interrupted and repeated."""
        while len(self.column) > features:
            self.column.popitem()

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
            "used": self._used.tolist(),
            "forgotten": self._forgotten,
        }

    def restore(self, header: Mapping[str, Any]) -> None:
        """Fill an empty space with what `header` gave."""
        for name, kind, values in zip(header["names"], header["kinds"], header["codes"], strict=True):
            require(kind in KINDS and name not in self.column, "the features")
            require(all(type(value) is str for value in values) and len({*values}) == len(values), "the features")
            self._append(name, kind, {value: code for code, value in enumerate(values)})
        for name, kind in header["encoded"]:
            require(is_encoded(kind), "the features")
            self._encode(name, kind)
        for stream, layout in header["layouts"]:
            self.layouts[stream] = _restored_numbers(layout, len(self))
            require(len({*layout}) == len(layout), "the features")
        for stream, orders in header["orders"]:
            self.orders[stream] = {}
            for column, codes in orders:
                _restored_numbers([column], len(self))
                require(self.kinds[column] == "nominal", "the features")
                self.orders[stream][column] = _restored_numbers(codes, len(self.codes[column]))
        self._taken = len(self)
        self._used = _restored_numbers(header.get("used", []), MOST_COUNTED)
        self._forgotten = restored_count(header.get("forgotten", 0), "the features")
        require(len(self._used) <= len(self), "the features")

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
        self._before.append((column, before))
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

    def numbers(self) -> Ints:
        """Return the kinds of all features as numbers, for kernels that read one example."""
        return self._kind_numbers()

    def numbers_of(self, kinds: Mapping[Hashable, str]) -> list[int]:
        """Return the kinds of features as numbers, given their kinds by name."""
        return [self._as_number(name, kind) for name, kind in kinds.items()]

    def reads_plainly(self) -> bool:
        """Tell whether an example of plain numbers is a row as it is: no feature is nominal, text or a date."""
        return not self._has_nominal and not self._encoders

    def _as_number(self, name: Hashable, kind: str) -> int:
        presence = kind == "binary" and self._wanted_kind(name, "numeric") == "binary"
        return PRESENCE if presence else KINDS.index(kind)


def _restored_numbers(given: object, below: int) -> Ints:
    """Return a list of a header as an array; refuse what is not a whole number from 0, below `below`."""
    right = isinstance(given, list) and all(type(number) is int and 0 <= number < below for number in given)
    require(right, "the features")
    return np.array(given, np.int64)
