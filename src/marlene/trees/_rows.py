"""Inputs of every sort as the rows the kernels take."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene.kernels.forest import Rows


def as_rows(X: Any, kinds: np.ndarray[Any, np.dtype[np.int64]]) -> Rows:  # noqa: ANN401 (array-likes)
    """Return a matrix as rows without explicit zeros, after checking it against the kinds of the features.

    A dense and a sparse matrix with the same values give the same rows.
    """
    matrix = _sparse(X)
    if matrix.shape[1] != len(kinds):
        raise MarleneError(f"X has {matrix.shape[1]} columns, but the forest has {len(kinds)} features")
    rows = Rows(
        matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), np.ascontiguousarray(matrix.data, np.float64)
    )
    _check_values(rows, kinds)
    return rows


def _sparse(X: Any) -> Any:  # noqa: ANN401
    if not sp.issparse(X):
        try:
            dense = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise MarleneError(f"X holds something that is not a number ({error})") from error
        if dense.ndim != 2:
            raise MarleneError(f"X has {dense.ndim} dimensions, expected 2")
        return sp.csr_array(dense)
    matrix = sp.csr_array(X, dtype=np.float64, copy=not X.has_canonical_format) if X.format == "csr" else X.tocsr()
    matrix.sum_duplicates()
    if (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def _check_values(rows: Rows, kinds: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    values = rows.values
    kind = kinds[rows.indices]
    with np.errstate(invalid="ignore"):
        coded = (kind > 0) & ~np.isnan(values)
        wrong = np.isinf(values) | (coded & ((values < 0) | (values >= kind) | (values != np.floor(values))))
    if not wrong.any():
        return
    position = int(np.argmax(wrong))
    row = int(np.searchsorted(rows.starts, position, side="right")) - 1
    expected = f"one of 0 to {kind[position] - 1}" if kind[position] else "a finite number or NaN"
    raise MarleneError(f"row {row}, feature {rows.indices[position]}: expected {expected}, found {values[position]:g}")
