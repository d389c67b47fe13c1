"""One example by its features, as a row of inputs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from marlene.kernels.compile import subkernel

if TYPE_CHECKING:
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import Given

NUMERIC, BINARY, NOMINAL, PRESENCE = range(4)
"""Kinds of features. PRESENCE: a binary feature that is 1 for any number but 0."""
MANY = 64
"""Features of an example beyond which they must be in order: sorting is by insertion."""


@subkernel
def read_given(given: Given, count: int, rows: Rows) -> bool:
    """Make a row of the first `count` features; tell whether it could be made.

    It cannot be made, and takes another way, if a number is not one of its feature's, or a feature is nominal.
    """
    stored, columns, values = 0, given.columns, given.values
    for j in range(count):
        column, value = columns[j], values[j]
        kind = given.kinds[column]
        if kind == NOMINAL or math.isinf(value):
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
