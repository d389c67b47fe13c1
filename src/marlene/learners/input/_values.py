"""The values of nominal features: codes that do not depend on declarations, and which value is the commonest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene._common.arrays import appended
from marlene._common.layouts import Field, Layout, Rule
from marlene.kernels.codes import Codes, recode
from marlene.kernels.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Floats, Ints

BINARY = 2
DECISIVE = 30
"""After so many examples the commonest value of a nominal feature stands for absence."""
CHUNK = 64
"""How many rows are counted at a time."""


def codes_of(orders: Mapping[int, Ints]) -> Codes:
    """Return new codes: value v of column c is to have the code `orders[c][v]`."""
    moved = {c: order for c, order in sorted(orders.items()) if not np.array_equal(order, np.arange(len(order)))}
    begins = np.cumsum([0, *map(len, moved.values())])[:-1]
    return Codes(np.array([*moved], np.int64), begins, np.concatenate([np.zeros(0), *moved.values()]))


class Declared(NamedTuple):
    """Columns of matrices that hold indices of declared values: how many values each has, and their codes."""

    columns: Ints
    n_values: Ints
    codes: Codes

    @classmethod
    def of(cls, orders: Mapping[int, Ints]) -> Declared:
        """Return what is declared if value v of column c has the code `orders[c][v]`."""
        n_values = [*map(len, orders.values())]
        return cls(np.array([*orders], np.int64), np.array(n_values, np.int64), codes_of(orders))


def recoded(rows: Rows, codes: Codes) -> Rows:
    """Return rows in which nominal values have other codes; what is not stored has code 0."""
    if not len(codes.columns):
        return rows
    n_rows, stored = len(rows.starts) - 1, int(rows.starts[-1] - rows.starts[0])
    room = stored + n_rows * int((codes.table[codes.begins] != 0).sum())
    found = Rows(np.zeros(n_rows + 1, np.int64), np.zeros(room, np.int64), np.zeros(room))
    recode(rows, codes, found)
    end = int(found.starts[-1])
    return Rows(found.starts, found.indices[:end], found.values[:end])


def load_recoding() -> None:
    """Compile the kernel of `recoded`, or load it from the cache."""
    recoded(Rows(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0)), codes_of({0: np.array([1, 0])}))


class Tally(NamedTuple):
    """What is counted of every feature.

    Attributes
    ----------
    absent
        The value that stands for absence; 0 if the feature is not nominal.
    seen
        In how many examples a nominal feature was counted, at most `DECISIVE`.
    times
        How often each value was met then, feature after feature; nothing for features that are not nominal.
    """

    absent: Ints
    seen: Ints
    times: Ints


def _counts_add_up(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    ends = np.cumsum(arrays["values"])
    counted = np.concatenate([[0], np.cumsum(arrays["times"])])
    return np.array_equal(counted[ends] - counted[ends - arrays["values"]], arrays["seen"])


TALLY = Layout(
    "nominal features",
    {
        "absent": Field("int64", ("features",), "the value that stands for absence; 0 if not nominal", least=0),
        "seen": Field("int64", ("features",), "in how many examples a nominal feature was counted", 0, DECISIVE),
        "times": Field("int64", ("values",), "how often each value was met then, feature after feature", least=0),
    },
    (
        Rule("features have these values", lambda a, _: (a["absent"] < np.maximum(1, a["values"])).all()),
        Rule("nominal features are counted", lambda a, _: (a["seen"][a["values"] == 0] == 0).all()),
        Rule("absence is decided last", lambda a, _: ((a["absent"] == 0) | (a["seen"] == DECISIVE)).all()),
        Rule("`times` of a feature sum up to `seen`", _counts_add_up),
    ),
)


class CommonValues:
    """Nominal features, and for each the value that stands for absence: once it is decided, the commonest.

    Rows have codes of values, and what is not stored is 0. Here the commonest value changes places with 0.
    """

    def __init__(self) -> None:
        self._kinds: Ints = np.zeros(0, np.int64)
        self.tally = Tally(*3 * (np.zeros(0, np.int64),))
        self._open: Ints = np.zeros(0, np.int64)
        self._codes = codes_of({})

    def arrange(self, kinds: Ints) -> None:
        """Have features of these kinds (0 or the number of values); those known may have further values."""
        absent, seen, times = self.tally
        new, zeros = kinds[len(self._kinds) :], np.zeros(len(kinds) - len(self._kinds), np.int64)
        if not len(times) and not (new > BINARY).any():
            self._kinds = kinds
            self.tally = Tally(appended(absent, zeros), appended(seen, zeros), times)
            return
        before = _begins(self._kinds)
        now = _begins(kinds)
        longer = np.zeros(now[-1], np.int64)
        for feature in np.flatnonzero(self._kinds > BINARY).tolist():
            part = times[before[feature] : before[feature + 1]]
            longer[now[feature] : now[feature] + len(part)] = part
        self._kinds = kinds
        self.take(Tally(appended(absent, zeros), appended(seen, zeros), longer))

    def keep(self, features: Ints) -> None:
        """Have only these features; none of the others is nominal."""
        self._kinds = self._kinds[features]
        self.take(Tally(self.tally.absent[features], self.tally.seen[features], self.tally.times))

    def take(self, tally: Tally) -> None:
        """Take over what was counted."""
        self.tally = tally
        self._open = np.flatnonzero((self._kinds > BINARY) & (tally.seen < DECISIVE))
        orders = {feature: np.arange(self._kinds[feature]) for feature in np.flatnonzero(tally.absent).tolist()}
        for feature, order in orders.items():
            absent = int(tally.absent[feature])
            order[0], order[absent] = absent, 0
        self._codes = codes_of(orders)

    def n_values(self) -> Ints:
        """Return how many values of each feature are counted; 0 of one that is not nominal."""
        return np.diff(_begins(self._kinds))

    def swapped(self, rows: Rows) -> Rows:
        """Return rows in which the value that stands for absence has code 0, and 0 has its code."""
        return recoded(rows, self._codes)

    def count(self, rows: Rows, start: int) -> int:
        """Count the values of rows from `start` on; return the first row that is not to be learnt before `decide`.

        A feature is counted from the first example on that has another value than 0.
        """
        n_rows = len(rows.starts) - 1
        if not len(self._open):
            return n_rows
        begins, tally = _begins(self._kinds), Tally(*(array.copy() for array in self.tally))
        self.tally = tally
        while len(self._open) and start < n_rows:
            stop = min(start + CHUNK, n_rows)
            stored = rows.indices[rows.starts[start] : rows.starts[stop]]
            features = self._open[(tally.seen[self._open] > 0) | np.isin(self._open, stored)]
            codes = _dense(rows, start, stop, features)
            known = ~np.isnan(codes)
            known &= (tally.seen[features] > 0) | np.logical_or.accumulate(known & (codes > 0))
            seen = tally.seen[features] + np.cumsum(known, axis=0)
            decisive = (seen >= DECISIVE).any(axis=1)
            length = int(np.argmax(decisive)) + 1 if decisive.any() else stop - start
            row, which = np.nonzero(known[:length])
            np.add.at(tally.times, begins[features[which]] + codes[row, which].astype(np.int64), 1)
            tally.seen[features] = seen[length - 1]
            start += length
            if decisive.any():
                return start
        return n_rows

    @property
    def is_open(self) -> bool:
        """Whether there are features to be counted."""
        return len(self._open) > 0

    @property
    def is_due(self) -> bool:
        """Whether there is something to decide."""
        return self.is_open and bool((self.tally.seen[self._open] >= DECISIVE).any())

    def decide(self) -> list[tuple[int, int]]:
        """Decide on the features that were seen often enough; return those that change, with their commonest value."""
        begins, decided = _begins(self._kinds), []
        for feature in self._open[self.tally.seen[self._open] >= DECISIVE].tolist():
            times = self.tally.times[begins[feature] : begins[feature + 1]]
            commonest = int(np.argmax(times))
            if commonest:
                decided.append((feature, commonest))
        absent = self.tally.absent.copy()
        for feature, commonest in decided:
            absent[feature] = commonest
        self.take(self.tally._replace(absent=absent))
        return decided


def _begins(kinds: Ints) -> Ints:
    """Return where the counts of every feature begin, and where the last ones end."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(kinds > BINARY, kinds, 0))])


def _dense(rows: Rows, start: int, stop: int, columns: Ints) -> Floats:
    """Return the values of some rows and columns as a dense array."""
    stored = slice(rows.starts[start], rows.starts[stop])
    row = np.repeat(np.arange(stop - start), np.diff(rows.starts[start : stop + 1]))
    given = np.isin(rows.indices[stored], columns)
    dense = np.zeros((stop - start, len(columns)))
    dense[row[given], np.searchsorted(columns, rows.indices[stored][given])] = rows.values[stored][given]
    return dense
