"""Streams from data frames of pandas and polars, Arrow tables and Parquet files."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError, quoted
from marlene._common.extras import optional
from marlene.streams._assemble import Choices, table_to_stream
from marlene.streams._columns import RawTable
from marlene.streams._lines import bare_stem, unreadable
from marlene.streams._parquet import refuse_false_claims
from marlene.streams.records import records_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marlene._common.arrays import Array, Floats
    from marlene._common.files import AnyPath
    from marlene.streams._labels import LabelChoice
    from marlene.streams._lines import Meter
    from marlene.streams._stream import FeatureKinds, Stream

MICRO = 1e6
SLICES = 8
MOST_ROWS = 8192


def read_parquet(
    path: AnyPath,
    *,
    labels: LabelChoice,
    separator: str | None = None,
    drop: str | Sequence[str] = (),
    kinds: FeatureKinds = "auto",
    name: str | None = None,
) -> Stream:
    """Read a table from a Parquet file; needs the extra `experiments`.

    Parameters
    ----------
    path
        The file.
    labels, separator, drop, kinds, name
        As in `read_csv`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import polars
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mail.parquet"
    >>> polars.DataFrame({"length": [12, 7], "spam": [True, None]}).write_parquet(path)
    >>> read_parquet(path, labels=["spam"]).Y
    array([[ 1],
           [-1]], dtype=int8)
    """
    choices = Choices(labels, separator, drop, kinds)
    return table_to_stream(parquet_table(path), choices, name or bare_stem(Path(path)))


def parquet_table(path: AnyPath) -> RawTable:
    """Read the cells of a Parquet file."""
    polars = optional("polars", "experiments", "reading Parquet")
    try:
        with Path(path).open("rb") as file:
            refuse_false_claims(file, path)
            return _polars_table(polars.read_parquet(file), str(path))
    except OSError as error:
        raise unreadable(Path(path), error) from error
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise MarleneError(f"{path}: expected a Parquet file ({error})") from error


def parquet_parts(path: Path, cells: int, meter: Meter) -> Iterator[RawTable]:
    """Read a Parquet file in tables of as many rows as have so many cells, and at least one."""
    polars = optional("polars", "experiments", "reading Parquet")
    try:
        with path.open("rb") as file:
            refuse_false_claims(file, path)
            frame = polars.scan_parquet(path, glob=False)
        meter.size = int(frame.select(polars.len()).collect().item())
        rows = max(1, min(MOST_ROWS, cells // max(1, len(frame.collect_schema()))))
        # A row group is decoded for every slice of it: take large ones.
        for begin in range(0, meter.size, SLICES * rows):
            taken = frame.slice(begin, SLICES * rows).collect()
            for first in range(0, taken.height, rows):
                meter.at = begin + min(first + rows, taken.height)
                yield _polars_table(taken.slice(first, rows), str(path), begin + first)
    except OSError as error:
        raise unreadable(path, error) from error
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise MarleneError(f"{path}: expected a Parquet file ({error})") from error


def from_frame(
    frame: Any,  # noqa: ANN401 (of a package that need not be installed)
    *,
    labels: LabelChoice,
    separator: str | None = None,
    drop: str | Sequence[str] = (),
    kinds: FeatureKinds = "auto",
    name: str = "frame",
) -> Stream:
    """Make a stream from a data frame of pandas or polars, or an Arrow table.

    Categorical columns are nominal whatever their values. Fields of a struct are columns named `struct.field`. A label
    column of lists holds the labels that are true.

    Parameters
    ----------
    frame
        A pandas or polars `DataFrame`, a polars `LazyFrame`, or any object with Arrow's interface for tables; one
        example per row.
    labels, separator, drop, kinds, name
        As in `read_csv`.

    Examples
    --------
    >>> import polars
    >>> frame = polars.DataFrame({"length": [12, None], "colour": ["red", "blue"], "spam": [1, 0]})
    >>> stream = from_frame(frame, labels=["spam"])
    >>> stream.X
    array([[12.,  0.],
           [nan,  1.]])
    """
    return table_to_stream(frame_table(frame, name), Choices(labels, separator, drop, kinds), name)


def frame_table(frame: Any, name: str) -> RawTable:  # noqa: ANN401 (of a package that need not be installed)
    """Return the cells of a data frame."""
    package = frame_package(frame)
    if package is None:
        raise MarleneError(f"{name}: expected a data frame of pandas or polars, found {type(frame).__name__}")
    if package == "pandas":
        return _pandas_table(frame, name)
    polars = optional("polars", "experiments", "reading this frame")
    if package == "arrow":
        try:
            frame = polars.DataFrame(frame)
        except (polars.exceptions.PolarsError, TypeError, ValueError) as error:
            raise MarleneError(f"{name}: expected a table, found {type(frame).__name__} ({error})") from error
    elif hasattr(frame, "collect"):
        try:
            frame = frame.collect()
        except (polars.exceptions.PolarsError, OSError) as error:
            raise MarleneError(f"{name}: the lazy frame cannot be computed ({error})") from error
    return _polars_table(frame, name)


def frame_package(frame: object) -> str | None:
    """Return "pandas", "polars" or "arrow" for a data frame, without importing anything; None for other objects."""
    frame_type = type(frame)
    package = frame_type.__module__.partition(".")[0]
    if package in {"pandas", "polars"}:
        return package if frame_type.__name__ in {"DataFrame", "LazyFrame"} else None
    return "arrow" if hasattr(frame, "__arrow_c_stream__") else None


def _polars_table(frame: Any, source: str, begin: int = 0) -> RawTable:  # noqa: ANN401 (a polars.DataFrame)
    polars = optional("polars", "experiments", "reading a polars frame")
    series = [part for column in frame.get_columns() for part in _fields(column, column.name, polars)]
    declared: dict[int, str] = {}
    for i, (_, each) in enumerate(series):
        if isinstance(each.dtype, (polars.Categorical, polars.Enum)):
            declared[i] = "nominal"
        elif isinstance(each.dtype, (polars.Date, polars.Datetime)):
            declared[i] = "date"

    def column(i: int) -> Any:  # noqa: ANN401 (an array or a list)
        name, cells = series[i]
        try:
            return _cells(cells, polars)
        except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
            raise MarleneError(f"{source}: the values of column {quoted(name)} cannot be read ({error})") from error

    names = [name for name, _ in series]
    return RawTable(source, names, frame.height, column, lambda row: f"{source}, row {begin + row}", declared)


def _cells(series: Any, polars: Any) -> Any:  # noqa: ANN401 (a polars.Series; an array or a list)
    """Return the values of a column, numbers where they can be numbers."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == polars.Boolean:
        return series.cast(polars.Float64).to_numpy()
    if isinstance(dtype, (polars.Date, polars.Datetime)):
        return series.cast(polars.Datetime("us")).to_physical().cast(polars.Float64).to_numpy() / MICRO
    if dtype == polars.Duration:
        return series.dt.total_microseconds().cast(polars.Float64).to_numpy() / MICRO
    if dtype == polars.Time:
        return (series.cast(polars.Int64) // 1000).cast(polars.Float64).to_numpy() / MICRO
    return series.to_list()


def _fields(series: Any, name: str, polars: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 (a polars.Series)
    """Return a column, or the fields of a struct, each with its name."""
    if series.dtype != polars.Struct:
        return [(name, series)]
    fields = (series.struct.field(field.name) for field in series.dtype.fields)
    return [part for field in fields for part in _fields(field, f"{name}.{field.name}", polars)]


def _pandas_table(frame: Any, source: str) -> RawTable:  # noqa: ANN401 (a pandas.DataFrame)
    columns: list[tuple[str, Any]] = []
    declared: dict[int, str] = {}
    for i, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        series = frame.iloc[:, i]
        if dtype.kind == "O" and any(isinstance(cell, Mapping) for cell in series):
            cells = [{name: cell} for cell in series]
            nested = records_table(cells, None, source)
            columns += [(field, functools.partial(nested.column, j)) for j, field in enumerate(nested.names)]
            continue
        if dtype.name == "category":
            declared[len(columns)] = "nominal"
        elif dtype.kind == "M":
            declared[len(columns)] = "date"
        columns.append((str(name), functools.partial(_pandas_cells, series)))
    return RawTable(
        source=source,
        names=[name for name, _ in columns],
        rows=len(frame),
        column=lambda i: columns[i][1](),
        where=lambda row: f"{source}, row {row}",
        declared=declared,
    )


def _pandas_cells(series: Any) -> Any:  # noqa: ANN401 (a pandas.Series; an array or a list)
    # Extension types (nullable integers, sparse columns) have a kind too; that of categorical ones is "O".
    kind = series.dtype.kind
    if kind in "biuf":
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind in "mM":
        return _seconds(series.to_numpy(dtype=f"{kind}8[us]"))
    return series.to_list()


def _seconds(times: Array) -> Floats:
    """Return microseconds of NumPy's types for time as seconds."""
    seconds: Floats = times.astype(np.int64) / MICRO
    seconds[np.isnat(times)] = np.nan
    return seconds
