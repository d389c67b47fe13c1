"""An example of plain numbers, written where kernels find it, without making arrays."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.arrays import room_of
from marlene.kernels.held import table_of
from marlene.kernels.rows import Rows
from marlene.kernels.tracking.given import Given, Reading, read_example
from marlene.learners.input._features import PLAIN

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene._common.arrays import Floats, Ints

LEAST_WIDTH = 32
FAILED = -1
TRUTH = {bool}
WHOLE = "biu"
"""Kinds of dtypes of whole numbers."""
KNOWN = {-1, 0, 1}
"""What may be said of a label in a matrix."""


@cache
def _packers(count: int) -> tuple[Any, Any]:
    """Return what writes so many whole numbers, and so many floats."""
    return struct.Struct(f"{count}q").pack_into, struct.Struct(f"{count}d").pack_into


class PlainDesk:
    """Room for one example of plain numbers and its labels; for one thread at a time.

    Parameters
    ----------
    labels
        The labels.
    kinds, first
        The kinds of all features, as numbers, and the first input of each.
    width
        The largest number of features of an example.
    """

    def __init__(self, labels: list[Hashable], kinds: Ints, first: Ints, width: int) -> None:
        self.width = max(LEAST_WIDTH, 2 * width)
        self._kinds, self._first = room_of(kinds), room_of(first)
        self.labels = labels
        self.truth, self.weight = np.zeros((1, len(labels)), np.int8), np.ones(1)
        self._columns, self._values = np.zeros(self.width, np.int64), np.zeros(self.width)
        self._truth = self.truth.reshape(-1).data.cast("B")
        self._given = Given(self._columns, self._values, self._kinds, self._first)
        self._rows = Rows(np.zeros(2, np.int64), np.zeros(self.width, np.int64), np.zeros(self.width))

    def __deepcopy__(self, _memo: object) -> None:
        """Return nothing: whoever needs a desk makes one."""

    def put(self, x: Mapping[Hashable, Any], column: Mapping[Hashable, int]) -> int:
        """Write an example; return how many features it has, or `FAILED` if they are not plain numbers or unknown."""
        values = x.values()
        if not PLAIN.issuperset(map(type, values)):
            return FAILED
        count = len(values)
        write_columns, write_values = _packers(count)
        try:
            write_columns(self._columns, 0, *map(column.__getitem__, x))
            write_values(self._values, 0, *values)
        except (KeyError, OverflowError, struct.error):  # unknown, or too large
            return FAILED
        return count

    def put_truth(self, y: Mapping[Hashable, bool], weight: float) -> bool:
        """Write the truth of all labels and the weight; tell whether it could be done: they are in order, and plain."""
        values = y.values()
        if [*y] != self.labels or not TRUTH.issuperset(map(type, values)):
            return False
        self._truth[:] = bytes(values)
        self.weight[0] = weight
        return True

    def put_columns(self, columns: Ints, values: Floats) -> int:
        """Write an example by its columns, for which there is room; return how many they are."""
        count = len(columns)
        self._columns[:count], self._values[:count] = columns, values
        return count

    def put_truth_row(self, Y: Any, weight: float) -> bool:  # noqa: ANN401 (array-like)
        """Write the truth of all labels, a matrix of one row, and the weight; tell whether it could be done."""
        if type(Y) is not np.ndarray or Y.shape != self.truth.shape or Y.dtype.kind not in WHOLE:
            return False
        if not KNOWN.issuperset(Y[0].tolist()):
            return False
        self.truth[0] = Y[0]
        self.weight[0] = weight
        return True


class ExampleDesk(PlainDesk):
    """Room for one example as a row of features.

    Parameters
    ----------
    labels, kinds, width
        As for `PlainDesk`.
    """

    def __init__(self, labels: list[Hashable], kinds: Ints, width: int) -> None:
        super().__init__(labels, kinds, np.arange(len(room_of(kinds))), width)
        self.probabilities = np.zeros((1, len(labels)))
        self._table = table_of(Reading(self._given, self._rows))

    def fits(self, labels: list[Hashable], kinds: Ints, width: int) -> bool:
        """Tell whether labels and features are still the same, and an example of so many features has room."""
        return width <= self.width and self.labels is labels and self._kinds is room_of(kinds)

    def read(self, x: Mapping[Hashable, Any], column: Mapping[Hashable, int]) -> Rows | None:
        """Return an example as a row; None if it cannot be read this way."""
        return self._read(self.put(x, column))

    def read_columns(self, columns: Ints, values: Floats) -> Rows | None:
        """Return an example, given by its columns, as a row; None if it cannot be read this way."""
        return self._read(self.put_columns(columns, values))

    def _read(self, count: int) -> Rows | None:
        if count < 0 or not read_example(self._table, count):
            return None
        starts, indices, values = self._rows
        stored = int(starts[1])
        return Rows(starts, indices[:stored], values[:stored])
