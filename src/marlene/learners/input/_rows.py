"""Rows, some of them, several parts of them, and one with its zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene._common.arrays import Floats, Ints


def slice_rows(rows: Rows, begin: int, end: int) -> Rows:
    """Return some of the rows."""
    return Rows(rows.starts[begin : end + 1], rows.indices, rows.values)


def joined(parts: Sequence[Rows]) -> Rows:
    """Return rows one after the other, with nothing between and around them."""
    lengths = [np.zeros(1, np.int64), *(np.diff(part.starts) for part in parts)]
    stored = [slice(part.starts[0], part.starts[-1]) for part in parts]
    return Rows(
        np.cumsum(np.concatenate(lengths)),
        np.concatenate([np.zeros(0, np.int64), *(part.indices[s] for part, s in zip(parts, stored, strict=True))]),
        np.concatenate([np.zeros(0), *(part.values[s] for part, s in zip(parts, stored, strict=True))]),
    )


def repeated(rows: Rows, chosen: Ints) -> Rows:
    """Return the chosen rows, each as often as it is chosen."""
    lengths = np.diff(rows.starts)[chosen]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    places = np.repeat(rows.starts[chosen] - starts[:-1], lengths) + np.arange(int(starts[-1]))
    return Rows(starts, rows.indices[places], rows.values[places])


def dense_row(rows: Rows, row: int, n_features: int) -> Floats:
    """Return a row with its zeros."""
    x = np.zeros(n_features)
    stored = slice(rows.starts[row], rows.starts[row + 1])
    x[rows.indices[stored]] = rows.values[stored]
    return x
