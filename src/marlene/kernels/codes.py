"""Rows whose nominal values have codes: other codes for the same values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import kernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.rows import Rows


class Codes(NamedTuple):
    """New codes of the values of some columns.

    Attributes
    ----------
    columns
        The columns, ascending.
    begins
        Where the codes of each column begin in `table`.
    table
        The new code of every value, column after column.
    """

    columns: Ints
    begins: Ints
    table: Floats


@kernel
def recode(rows: Rows, codes: Codes, recoded: Rows) -> None:
    """Write rows with other codes; a value that is not stored has code 0, and code 0 is not stored."""
    columns, begins, table = codes
    size = 0
    for row in range(len(rows.starts) - 1):
        c = 0
        j, stop = rows.starts[row], rows.starts[row + 1]
        while j < stop or c < len(columns):
            if c == len(columns) or (j < stop and rows.indices[j] < columns[c]):
                column, value = rows.indices[j], rows.values[j]
                j += 1
            else:
                column, value, place = columns[c], table[begins[c]], begins[c]
                if j < stop and rows.indices[j] == column:
                    value = rows.values[j]
                    if not math.isnan(value):
                        value = table[place + int(value)]
                    j += 1
                c += 1
            if value != 0.0:
                recoded.indices[size], recoded.values[size] = column, value
                size += 1
        recoded.starts[row + 1] = size
