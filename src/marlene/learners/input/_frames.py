"""Frames of pandas and polars: columns in, and predictions out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from marlene._common.arrays import Array


def is_frame(given: object) -> bool:
    """Tell whether something is a frame of pandas or polars."""
    return hasattr(given, "columns") and hasattr(given, "dtypes")


def columns_of_frame(frame: Any) -> list[list[Any]]:  # noqa: ANN401
    """Return the columns of a frame as Python objects; a span of time is a number of seconds."""
    columns = []
    for name in frame.columns:
        if type(getattr(frame[name], "dtype", None)).__name__ == "Struct":
            columns.append(frame[name].to_list())  # of dictionaries
            continue
        values = np.asarray(frame[name])
        if values.dtype.kind == "M":
            values = values.astype("datetime64[us]")
        elif values.dtype.kind == "m":
            values = np.where(np.isnat(values), np.nan, values.astype("timedelta64[us]").astype(np.int64) / 1e6)
        columns.append(values.tolist())
    return columns


def like_input(X: Any, values: Array, labels: Sequence[Hashable]) -> Any:  # noqa: ANN401 (an array or a frame)
    """Return values of labels as what `X` is: a frame with its index and a column per label, or an array."""
    if not is_frame(X):
        return values
    if hasattr(X, "index"):
        import pandas as pd  # noqa: PLC0415 (only if it is there already)

        return pd.DataFrame(values, index=X.index, columns=list(labels))
    return type(X)(values, schema=[str(label) for label in labels], orient="row")
