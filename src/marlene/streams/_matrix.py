"""Dense and sparse matrices of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from marlene._common.arrays import as_floats
from marlene._common.errors import MarleneError
from marlene._common.lazy import Later

if TYPE_CHECKING:
    from marlene._common.arrays import Floats
    from marlene.streams._stream import Kind

Matrix: TypeAlias = "Floats | sp.csr_array"

sp: Any = Later("scipy.sparse")


def dense(X: Matrix) -> Floats:
    """Return `X` as a dense array."""
    return X.toarray() if isinstance(X, sp.csr_array) else X


def as_matrix(X: Any, name: str) -> Matrix:  # noqa: ANN401 (whatever can be turned into a matrix)
    """Return `X` as a float64 array, or a CSR array with sorted indices, of two dimensions."""
    if sp.issparse(X):
        matrix = sp.csr_array(X, dtype=np.float64)
        matrix.sum_duplicates()
        return matrix
    array = as_floats(X, f"{name}: X")
    if array.ndim != 2:
        raise MarleneError(f"{name}: X has {array.ndim} dimensions, expected 2")
    return np.ascontiguousarray(array)


def inferred_kinds(X: Matrix) -> list[Kind]:
    """Return the kind of every column: binary if it holds only 0, 1 and missing values, otherwise numeric."""
    values = X.data if isinstance(X, sp.csr_array) else X
    other = ~np.isnan(values) & (values != 0) & (values != 1)
    numeric = np.zeros(X.shape[1], dtype=bool)
    numeric[X.indices[other] if isinstance(X, sp.csr_array) else other.any(axis=0)] = True
    return ["numeric" if column else "binary" for column in numeric]
