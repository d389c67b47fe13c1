"""A block of examples, as every kernel takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints


class Rows(NamedTuple):
    """A block of examples in CSR form: no explicit zeros, column numbers ascending within a row, NaN = missing."""

    starts: Ints
    indices: Ints
    values: Floats
