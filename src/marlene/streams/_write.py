"""Write streams to files, block by block."""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene._common.files import atomic_write
from marlene._common.labels import UNKNOWN
from marlene.streams._matrix import dense
from marlene.streams._stream import Feature, refuse_duplicates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import IO

    from marlene._common.arrays import Floats, Labels
    from marlene._common.files import AnyPath
    from marlene.streams._matrix import Matrix

SUFFIXES = (".arff", ".csv", ".parquet")
_PLAIN = re.compile(r"[^\s,'\"%{}\\?@]+")
_ESCAPES = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r"})


def refuse_other_suffix(path: AnyPath) -> None:
    """Refuse a file whose suffix is not that of a format that can be written."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise MarleneError(f"{path}: expected the suffix {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")


def write_blocks(
    path: AnyPath, features: Sequence[Feature], labels: Sequence[str], blocks: Iterable[tuple[Matrix, Labels]]
) -> None:
    r"""Write examples to an ARFF, CSV or Parquet file, labels first; whole or not at all.

    A text file takes constant memory; for Parquet the whole stream is held in memory. In ARFF files the rows of sparse
    blocks are sparse. Only ARFF files keep the declared values of nominal features.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "small.csv"
    >>> write_blocks(path, [Feature("x1")], ["l1"], [(np.array([[0.1], [np.nan]]), np.array([[1], [-1]]))])
    >>> path.read_text()
    'l1,x1\n1,0.1\n,\n'
    """
    refuse_other_suffix(path)
    columns = [*(Feature(label, "binary") for label in labels), *features]
    refuse_duplicates(str(path), "columns", [column.name for column in columns])
    tables = (_table(X, Y) for X, Y in blocks)
    suffix = Path(path).suffix.lower()
    with atomic_write(path) as file:
        if suffix == ".arff":
            _write_arff(file, f"{Path(path).stem}: -C {len(labels)}", columns, tables)
        elif suffix == ".csv":
            _write_csv(file, columns, tables)
        else:
            _write_parquet(file, columns, tables)


def _table(X: Matrix, Y: Labels) -> Matrix:
    """Return labels and features side by side; a label that is not known is a missing value."""
    truth = np.where(Y == UNKNOWN, np.nan, Y)
    if isinstance(X, sp.csr_array):
        return sp.csr_array(sp.hstack([sp.csr_array(truth), X], format="csr"))
    return np.hstack([truth, X])


def _write_arff(file: IO[bytes], relation: str, columns: Sequence[Feature], tables: Iterable[Matrix]) -> None:
    header = [f"@relation {_quoted(relation)}"]
    header += [f"@attribute {_quoted(column.name)} {_declared(column)}" for column in columns]
    file.write(("\n".join([*header, "@data"]) + "\n").encode())
    texts = [_text(column, "?", _quoted) for column in columns]
    for table in tables:
        rows = _sparse_rows(table, texts) if isinstance(table, sp.csr_array) else map(",".join, _cells(table, texts))
        file.write("".join(f"{row}\n" for row in rows).encode())


def _declared(column: Feature) -> str:
    values = ("0", "1") if column.kind == "binary" else column.values
    return "numeric" if column.kind == "numeric" else f"{{{','.join(map(_quoted, values))}}}"


def _quoted(word: str) -> str:
    """Return a word as an ARFF file has it: in quotes, unless it is plain."""
    return word if _PLAIN.fullmatch(word) else f"'{word.translate(_ESCAPES)}'"


def _text(column: Feature, missing: str, quoted: Callable[[str], str]) -> Callable[[float], str]:
    """Return the function that turns a value of a column into text."""
    words = [quoted(value) for value in (("0", "1") if column.kind == "binary" else column.values)]

    def text(value: float) -> str:
        if value != value:  # noqa: PLR0124 (true for a missing value only)
            return missing
        # The repr of a float is the shortest text that reads back as the same number.
        return repr(value) if column.kind == "numeric" else words[int(value)]

    return text


def _cells(table: Floats, texts: Sequence[Callable[[float], str]]) -> Iterator[list[str]]:
    """Return the texts of every row."""
    return ([text(value) for text, value in zip(texts, row, strict=True)] for row in table.tolist())


def _sparse_rows(table: sp.csr_array, texts: Sequence[Callable[[float], str]]) -> Iterator[str]:
    entries = [f"{i} {texts[i](value)}" for i, value in zip(table.indices.tolist(), table.data.tolist(), strict=True)]
    return (f"{{{','.join(entries[begin:end])}}}" for begin, end in pairwise(table.indptr.tolist()))


def _write_csv(file: IO[bytes], columns: Sequence[Feature], tables: Iterable[Matrix]) -> None:
    texts = [_text(column, "", str) for column in columns]
    text_file = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text_file, lineterminator="\n")
    writer.writerow([column.name for column in columns])
    for table in tables:
        writer.writerows(_cells(dense(table), texts))
    text_file.detach()


def _write_parquet(file: IO[bytes], columns: Sequence[Feature], tables: Iterable[Matrix]) -> None:
    polars = optional("polars", "experiments", "writing Parquet")
    frames = [
        polars.DataFrame([_series(polars, *pair) for pair in zip(columns, dense(table).T, strict=True)])
        for table in tables
    ]
    polars.concat(frames).write_parquet(file)


def _series(polars: Any, column: Feature, values: Floats) -> Any:  # noqa: ANN401 (a package and its object)
    if column.kind == "nominal":
        words = [None if value != value else column.values[int(value)] for value in values.tolist()]  # noqa: PLR0124
        return polars.Series(column.name, words, dtype=polars.Enum(column.values))
    series = polars.Series(column.name, np.ascontiguousarray(values)).fill_nan(None)
    return series.cast(polars.Int8) if column.kind == "binary" else series
