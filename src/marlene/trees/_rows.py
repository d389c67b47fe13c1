"""Convert matrices of any type to the rows that kernels take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from marlene._common.arrays import as_floats
from marlene._common.errors import MarleneError
from marlene.kernels.rows import LARGEST_NUMBER, Rows

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints


def as_rows(X: Any, kinds: Ints) -> Rows:  # noqa: ANN401 (array-likes)
    """Return a matrix as rows without explicit zeros, checked against the kinds of the features.

    A dense and a sparse matrix with the same values give the same rows.
    """
    given = X if sp.issparse(X) else as_floats(X, "X")
    if given.ndim != 2:
        raise MarleneError(f"X has {given.ndim} dimensions, expected 2")
    if given.shape[1] != len(kinds):
        raise MarleneError(f"X has {given.shape[1]} columns, but the forest has {len(kinds)} features")
    rows = _from_sparse(given) if sp.issparse(given) else _from_dense(given)
    _check_values(rows, kinds)
    return rows


def _from_dense(X: Floats) -> Rows:
    present = X != 0
    starts = np.zeros(len(X) + 1, np.int64)
    np.cumsum(np.count_nonzero(present, axis=1), out=starts[1:])
    return Rows(starts, np.ascontiguousarray(np.nonzero(present)[1], np.int64), X[present])


def _from_sparse(X: Any) -> Rows:  # noqa: ANN401
    matrix = sp.csr_array(X, dtype=np.float64, copy=not X.has_canonical_format) if X.format == "csr" else X.tocsr()
    matrix.sum_duplicates()
    if (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return Rows(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), np.ascontiguousarray(matrix.data, np.float64)
    )


def _check_values(rows: Rows, kinds: Ints) -> None:
    values = rows.values
    if len(values) == 0:
        return
    if rows.indices.min() < 0 or rows.indices.max() >= len(kinds):
        raise MarleneError(f"X names a column that is not one of 0 to {len(kinds) - 1}")
    kind = kinds[rows.indices]
    with np.errstate(invalid="ignore"):
        coded = (kind > 0) & ~np.isnan(values)
        wrong = coded & ((values < 0) | (values >= kind) | (values != np.floor(values)))
        wrong |= np.abs(values) > LARGEST_NUMBER
    if not wrong.any():
        return
    position = int(np.argmax(wrong))
    row = int(np.searchsorted(rows.starts, position, side="right")) - 1
    expected = f"one of 0 to {kind[position] - 1}" if kind[position] else f"a number up to {LARGEST_NUMBER:g} or NaN"
    raise MarleneError(f"row {row}, feature {rows.indices[position]}: expected {expected}, found {values[position]:g}")
