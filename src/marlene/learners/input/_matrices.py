"""Matrices of any type as sparse rows (CSR)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from marlene._common.errors import MarleneError

if TYPE_CHECKING:
    from marlene._common.arrays import Ints


def refuse_all_missing(matrix: Any) -> None:  # noqa: ANN401 (a CSR array)
    """Refuse a matrix with a row that holds nothing but missing values."""
    missing = np.isnan(matrix.data)
    if missing.any():
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        whole = np.bincount(rows[missing], minlength=matrix.shape[0]) == matrix.shape[1]
        if whole.any():
            raise MarleneError(f"row {int(np.argmax(whole))}: every feature is missing")


def arranged(matrix: Any, layout: Ints, n_columns: int) -> Any:  # noqa: ANN401 (a CSR array)
    """Move columns to their places in the learner."""
    if np.array_equal(layout, np.arange(n_columns)):
        return matrix
    moved = sp.csr_array((matrix.data, layout[matrix.indices], matrix.indptr), shape=(matrix.shape[0], n_columns))
    moved.sort_indices()
    return moved


def as_csr(X: Any) -> Any:  # noqa: ANN401 (array-like)
    """Return a CSR copy without explicit zeros and with sorted column numbers."""
    if np.iscomplexobj(X):
        raise MarleneError("X holds complex numbers")
    if sp.issparse(X) and X.ndim == 2:
        matrix = sp.csr_array(X, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix
    try:
        dense = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MarleneError(f"X holds something that is not a number ({error})") from error
    if dense.ndim != 2:
        raise MarleneError(f"X has {dense.ndim} dimensions, expected 2")
    return sp.csr_array(dense)
