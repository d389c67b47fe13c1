"""Streams from CSV and Parquet files, data frames and River data sets.

All of them infer the kind of a column from its values in the same way. A cell is missing if it is empty, `?`, `NA`,
`NaN` or `null`; `true` and `false` are 1 and 0 (in capitals or not). A column is binary if it holds only 0 and 1,
numeric if it holds only numbers, and otherwise nominal, with its values in the order of their first appearance. A text
column with more than 1000 different values, and a different one in more than half of the rows, is refused: it looks
like free text or an identifier. A label is 0 or 1, `true` or `false`, `yes` or `no`; a missing one is not known.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.streams._columns import RawTable, is_value, table_to_stream
from marlene.streams._lines import bare_stem, numbered_lines, unreadable

if TYPE_CHECKING:
    from marlene._common.arrays import Array
    from marlene._common.files import AnyPath
    from marlene.streams._labels import LabelChoice
    from marlene.streams._stream import FeatureKinds, Stream

DELIMITERS = (",", ";", "\t")
SAMPLE_LINES = 20
BLOCK_ROWS = 4096


def read_csv(
    path: AnyPath,
    *,
    labels: LabelChoice,
    header: bool | None = None,
    delimiter: str | None = None,
    kinds: FeatureKinds = "auto",
    name: str | None = None,
) -> Stream:
    r"""Read a table from a text file.

    Parameters
    ----------
    path
        A UTF-8 file, plain or compressed (.gz, .bz2, .xz). Blank lines are skipped.
    labels
        The label columns: a number n (the first n columns, or the last -n), a pattern such as "is_*", or a list of
        names.
    header
        Whether the first row holds the names of the columns. Default: yes if any of its cells is neither a number nor a
        truth value nor missing. Without a header the columns are called x0, x1, …
    delimiter
        The character between cells. Default: a comma, a semicolon or a tab, whichever splits the first rows into equal
        numbers of cells, and into the most.
    kinds
        "auto" infers the kind of every feature; "numeric" and "binary" set it for all that are not nominal
        (see `Stream.with_kinds`); a mapping sets it for single features by name.
    name
        What the stream is called in reports. Default: the file's name without its suffixes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mail.csv"
    >>> _ = path.write_text("length,colour,is_spam,is_urgent\n12,red,1,0\n7,blue,0,1\n")
    >>> stream = read_csv(path, labels="is_*")
    >>> stream
    <Stream mail: 2 examples, 2 features (dense), 2 labels>
    >>> stream.features[1]
    Feature(name='colour', kind='nominal', values=('red', 'blue'))
    """
    source = str(path)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise MarleneError(f"{source}: the delimiter must be a single character, not {delimiter!r}")
    text = _text(Path(path))
    sample = list(islice(text, SAMPLE_LINES))
    rows = _rows(chain(sample, text), delimiter or _guess_delimiter(sample), source)
    line, first = next(rows, (0, []))
    if not first:
        raise MarleneError(f"{source}: expected a table, found an empty file")
    has_header = header if header is not None else not all(is_value(cell) for cell in first)
    lines, blocks = _blocks(rows if has_header else chain([(line, first)], rows), len(first), source)
    if not lines:
        raise MarleneError(f"{source}, line {line + 1}: expected at least one row below the header")
    table = RawTable(
        source=source,
        names=[(has_header and cell.strip()) or f"x{i}" for i, cell in enumerate(first)],
        rows=len(lines),
        column=lambda i: np.concatenate([block[:, i] for block in blocks]),
        where=lambda row: f"{source}, line {lines[row]}",
    )
    return table_to_stream(table, labels, kinds, name or bare_stem(Path(path)))


def _text(path: Path) -> Iterator[str]:
    for number, line in numbered_lines(path):
        if b"\0" in line:
            raise MarleneError(f"{path}, line {number}: expected text, found a NUL byte")
        # The csv module needs the line ends of a quoted cell of several lines.
        yield line.decode() + "\n"


def _guess_delimiter(sample: list[str]) -> str:
    def score(delimiter: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in csv.reader(sample, delimiter=delimiter) if row]
        except csv.Error:
            return False, 0
        # The sample may end within a quoted cell.
        whole = widths[:-1] or widths
        return len(set(whole)) == 1 and whole[0] > 1, max(whole, default=0)

    return max(DELIMITERS, key=score)


def _rows(lines: Iterable[str], delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, each with the number of its first line."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise MarleneError(f"{source}, line {line}: expected cells with closed quotes ({error})") from error
        if row:
            yield line, row


def _blocks(rows: Iterable[tuple[int, list[str]]], width: int, source: str) -> tuple[list[int], list[Array]]:
    """Return the line numbers of the rows, and the rows in arrays of strings, which take a quarter of lists' memory."""
    lines: list[int] = []

    def cells() -> Iterator[list[str]]:
        for line, row in rows:
            if len(row) != width:
                raise MarleneError(f"{source}, line {line}: expected {width} cells, found {len(row)}")
            lines.append(line)
            yield row

    rest = cells()
    blocks = []
    while block := list(islice(rest, BLOCK_ROWS)):
        blocks.append(np.array(block, dtype=np.dtypes.StringDType()))
    return lines, blocks


def read_parquet(
    path: AnyPath, *, labels: LabelChoice, kinds: FeatureKinds = "auto", name: str | None = None
) -> Stream:
    """Read a table from a Parquet file; needs the extra `experiments`.

    Parameters
    ----------
    path
        The file.
    labels, kinds, name
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
    polars = optional("polars", "experiments", "reading Parquet")
    try:
        with Path(path).open("rb") as file:
            frame = polars.read_parquet(file)
    except OSError as error:
        raise unreadable(Path(path), error) from error
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException) as error:
        raise MarleneError(f"{path}: expected a Parquet file ({error})") from error
    return table_to_stream(_polars_table(frame, str(path)), labels, kinds, name or bare_stem(Path(path)))


def from_frame(
    frame: Any,  # noqa: ANN401 (of a package that need not be installed)
    *,
    labels: LabelChoice,
    kinds: FeatureKinds = "auto",
    name: str = "frame",
) -> Stream:
    """Make a stream from a pandas or polars data frame.

    Categorical columns are nominal whatever their values.

    Parameters
    ----------
    frame
        A pandas or polars `DataFrame` with one example per row.
    labels, kinds, name
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
    package = frame_package(frame)
    if package is None:
        raise MarleneError(f"{name}: expected a pandas or polars DataFrame, found {type(frame).__name__}")
    table = _polars_table(frame, name) if package == "polars" else _pandas_table(frame, name)
    return table_to_stream(table, labels, kinds, name)


def frame_package(frame: object) -> str | None:
    """Return the package of a data frame, without importing any; None if it is no data frame."""
    frame_type = type(frame)
    package = frame_type.__module__.partition(".")[0]
    return package if frame_type.__name__ == "DataFrame" and package in {"pandas", "polars"} else None


def _polars_table(frame: Any, source: str) -> RawTable:  # noqa: ANN401 (a polars.DataFrame)
    polars = optional("polars", "experiments", "reading a polars frame")
    series = frame.get_columns()

    def column(i: int) -> Any:  # noqa: ANN401 (an array or a list)
        if series[i].dtype.is_numeric():
            return series[i].cast(polars.Float64).to_numpy()
        return series[i].to_list()

    declared = frozenset(i for i, s in enumerate(series) if s.dtype in {polars.Categorical, polars.Enum})
    return RawTable(source, frame.columns, frame.height, column, lambda row: f"{source}, row {row}", declared)


def _pandas_table(frame: Any, source: str) -> RawTable:  # noqa: ANN401 (a pandas.DataFrame)
    dtypes = list(frame.dtypes)

    def column(i: int) -> Any:  # noqa: ANN401 (an array or a list)
        series = frame.iloc[:, i]
        # Extension types (nullable integers, sparse columns) have a kind too; that of categorical ones is "O".
        if dtypes[i].kind in "biuf":
            return series.to_numpy(dtype=np.float64, na_value=np.nan)
        return series.to_list()

    names = [str(name) for name in frame.columns]
    declared = frozenset(i for i, dtype in enumerate(dtypes) if dtype.name == "category")
    return RawTable(source, names, len(frame), column, lambda row: f"{source}, row {row}", declared)


def from_river(
    dataset: Iterable[tuple[Mapping[Any, Any], Mapping[Any, Any]]],
    *,
    limit: int | None = None,
    kinds: FeatureKinds = "auto",
    name: str | None = None,
) -> Stream:
    """Make a stream from a multi-label data set of River, or any iterable of such pairs.

    A feature that is absent from an example is missing in it; an absent label is not known.

    Parameters
    ----------
    dataset
        Pairs of a dictionary of features and a dictionary from labels to truth values.
    limit
        Take at most this many examples; needed for an endless generator.
    kinds
        As in `read_csv`.
    name
        What the stream is called in reports. Default: the name of the class.

    Examples
    --------
    >>> pairs = [({"length": 12, "shouts": True}, {"spam": True}), ({"length": 7}, {"spam": False})]
    >>> stream = from_river(pairs, name="mail")
    >>> stream.X
    array([[12.,  1.],
           [ 7., nan]])
    """
    name = name or type(dataset).__name__.lower()
    if limit is not None:
        whole_number(limit, f"{name}: limit", 1)
    elif getattr(dataset, "n_samples", 0) is None:
        raise MarleneError(f"{name}: the data set has no end; say with limit= how many examples to take")
    inputs: dict[str, list[Any]] = {}
    truths: dict[str, list[Any]] = {}
    count = 0
    for pair in islice(dataset, limit):
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, Mapping) for part in pair)):
            raise MarleneError(f"{name}, example {count}: expected a dictionary of inputs and one of labels")
        for columns, values in zip((inputs, truths), pair, strict=True):
            for key, value in values.items():
                cells = columns.setdefault(str(key), [])
                cells.extend([None] * (count - len(cells)))
                cells.append(value)
        count += 1
    for cells in (*inputs.values(), *truths.values()):
        cells.extend([None] * (count - len(cells)))
    if not truths:
        raise MarleneError(f"{name}: there is no label")
    both = [*truths.values(), *inputs.values()]
    table = RawTable(name, [*truths, *inputs], count, both.__getitem__, lambda row: f"{name}, example {row}")
    return table_to_stream(table, len(truths), kinds, name)
