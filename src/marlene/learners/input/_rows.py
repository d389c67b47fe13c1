"""Rows: made of matrices, cut, joined, repeated and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.lazy import Later
from marlene.kernels.rows import LARGEST_NUMBER, Rows
from marlene.learners.input._values import BINARY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Floats, Ints

sp: Any = Later("scipy.sparse")
REAL = "fbiu"
"""Kinds of dtypes whose values are numbers."""


def _are_values(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    kind, values = arrays["kinds"][arrays["indices"]], arrays["values"]
    whole = np.isnan(values) | ((values >= (kind == BINARY)) & (values < kind) & (values == np.floor(values)))
    return bool(np.where(kind == 0, ~(np.abs(values) > LARGEST_NUMBER), whole).all())


ROWS = Layout(
    "rows that are kept",
    {
        "starts": Field("int64", ("(rows + 1)",), "where the entries of each row begin, and the last ends", least=0),
        "indices": Field("int64", ("entries",), "the feature of each entry", least=0, most="features"),
        "values": Field("float64", ("entries",), "its value; NaN is missing", bounded=False),
    },
    (
        Rule("`starts` begin with 0", lambda a, _: a["starts"][0] == 0),
        Rule("they ascend", lambda a, _: (a["starts"][1:] >= a["starts"][:-1]).all()),
        Rule("they end with the number of entries", lambda a, n: a["starts"][-1] == n["entries"]),
        Rule("features have values that there are, 0/1 features 1; numbers are within bounds", _are_values),
    ),
)


def arranged(rows: Rows, layout: Ints) -> Rows:
    """Move columns to their places in the learner."""
    if len(layout) == 0 or (layout[1:] > layout[:-1]).all():
        return Rows(rows.starts, layout[rows.indices], rows.values)
    moved = layout[rows.indices]
    order = np.lexsort((moved, np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))))
    return Rows(rows.starts, moved[order], rows.values[order])


def rows_of_matrix(X: Any) -> tuple[Rows, int]:  # noqa: ANN401 (array-like)
    """Return a copy of a matrix as rows, without zeros and with sorted column numbers, and the number of columns."""
    if np.iscomplexobj(X):
        raise MarleneError("X holds complex numbers")
    if not isinstance(X, np.ndarray) and sp.issparse(X) and X.ndim == 2:
        matrix = sp.csr_array(X, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data), matrix.shape[1]
    try:
        dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MarleneError(f"X holds something that is not a number ({error})") from error
    if dense.ndim != 2:
        raise MarleneError(f"X has {dense.ndim} dimensions, expected 2")
    stored = dense != 0
    starts = np.zeros(len(dense) + 1, np.int64)
    np.cumsum(np.count_nonzero(stored, axis=1), out=starts[1:])
    return Rows(starts, stored.nonzero()[1], dense[stored]), dense.shape[1]


def single_row(X: Any) -> tuple[Ints, Floats, int] | None:  # noqa: ANN401 (array-like)
    """Return columns and values of a matrix of one row as they are there, and the number of columns; None: not so."""
    if type(X) is np.ndarray:
        if X.ndim != 2 or len(X) != 1 or X.dtype.kind not in REAL:
            return None
        row = X[0]
        stored = row.nonzero()[0]
        return stored, row[stored], len(row)
    if getattr(X, "format", "") != "csr" or X.shape[0] != 1 or X.dtype.kind not in REAL or not X.has_canonical_format:
        return None
    return X.indices, X.data, X.shape[1]


def without_columns(rows: Rows, first: int) -> Rows:
    """Return rows without the columns from `first` on."""
    known = rows.indices < first
    if known.all():
        return rows
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(known)])[rows.starts]
    return Rows(starts, rows.indices[known], rows.values[known])


def slice_rows(rows: Rows, begin: int, end: int) -> Rows:
    """Return some of the rows."""
    return Rows(rows.starts[begin : end + 1], rows.indices, rows.values)


def cut_rows(rows: Rows, begin: int, end: int) -> Rows:
    """Return some of the rows and nothing else; all of them as they are."""
    return rows if begin == 0 and end == len(rows.starts) - 1 else joined([slice_rows(rows, begin, end)])


def joined(parts: Sequence[Rows]) -> Rows:
    """Return a copy of all rows, one part after the other."""
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
    """Return a row as a dense vector."""
    x = np.zeros(n_features)
    stored = slice(rows.starts[row], rows.starts[row + 1])
    x[rows.indices[stored]] = rows.values[stored]
    return x


def restored_rows(arrays: Mapping[str, Array], count: int, kinds: Sequence[int]) -> Rows:
    """Return saved rows: the arrays `starts`, `indices` and `values`. Damaged ones are an error."""
    known = {"kinds": np.asarray(kinds, np.int64)}
    return Rows(**ROWS.checked(arrays, known, features=len(kinds), **{"(rows + 1)": count + 1}))
