"""One example by its features, as a row of inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import borrower, subkernel
from marlene.kernels.held import describe, held
from marlene.kernels.rows import LARGEST_NUMBER, Rows

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints

NUMERIC, BINARY, NOMINAL, PRESENCE = range(4)
"""Kinds of features. PRESENCE: a binary feature that is 1 for any number but 0."""
MANY = 64
"""Features of an example beyond which they must be in order: sorting is by insertion."""


class Given(NamedTuple):
    """One example by its features, in any order; and of all features the kinds, by `PLAIN`, and the first inputs."""

    columns: Ints
    values: Floats
    kinds: Ints
    first: Ints


class Reading(NamedTuple):
    """An example, and room for the row that it becomes."""

    given: Given
    rows: Rows


describe({Rows: (1, 1, 1), Given: (1, 1, 1, 1), Reading: (0, 0)})


@subkernel
def read_given(given: Given, count: int, rows: Rows) -> bool:
    """Make a row of the first `count` features; tell whether it could be made.

    It cannot be made, and takes another way, if a number is not one of its feature's, or a feature is nominal.
    """
    stored, columns, values = 0, given.columns, given.values
    for j in range(count):
        column, value = columns[j], values[j]
        kind = given.kinds[column]
        if kind == NOMINAL or abs(value) > LARGEST_NUMBER:
            return False
        if value == 0.0:
            continue
        if kind == BINARY and value != 1.0 and not math.isnan(value):
            return False
        if kind == PRESENCE and not math.isnan(value):
            value = 1.0
        place = stored
        while place > 0 and columns[place - 1] > column:
            place -= 1
        if place < stored and count > MANY:
            return False
        for i in range(stored, place, -1):
            columns[i], rows.values[i] = columns[i - 1], rows.values[i - 1]
        columns[place], rows.values[place] = column, value
        stored += 1
    for i in range(stored):
        rows.indices[i] = given.first[columns[i]]
    rows.starts[1] = stored
    return True


@borrower
def read_example(table: Ints, count: int) -> bool:
    """Make a row of the first `count` features of a `Reading`; tell whether it could be made."""
    reading = held(table, Reading)
    return read_given(reading.given, count, reading.rows)
