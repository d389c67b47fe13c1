"""A block of examples, as every kernel takes it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints

LARGEST_NUMBER = 1e60
"""The largest number of an example. Sums of the squares of any number of weighted ones stay far from infinity."""


class Rows(NamedTuple):
    """A block of examples in CSR form: no explicit zeros, column numbers ascending within a row, NaN = missing."""

    starts: Ints
    indices: Ints
    values: Floats


@inlined
def open_row(rows: Rows, row: int, dense: Floats) -> bool:
    """Write a row's values into `dense`, which is all zero; return whether one is missing."""
    missing = False
    for j in range(rows.starts[row], rows.starts[row + 1]):
        dense[rows.indices[j]] = rows.values[j]
        missing = missing or math.isnan(rows.values[j])
    return missing


@inlined
def close_row(rows: Rows, row: int, dense: Floats) -> None:
    """Set `dense` to zero again."""
    for j in range(rows.starts[row], rows.starts[row + 1]):
        dense[rows.indices[j]] = 0.0
