"""Streams from CSV files.

All tables infer the kind of a column from its values in the same way. A cell is missing if it is empty, `?`, `NA`,
`NaN` or `null`; `true` and `false` are 1 and 0 (in capitals or not). A column is binary if it holds only 0 and 1,
numeric if it holds only numbers, dates if it holds only dates in ISO 8601, text if it has more than 100 different
values of three words or more on average, and otherwise nominal, with its values in the order of their first appearance.
A column with more than 1000 different values, and a different one in more than half of the rows, is refused: it looks
like an identifier. A label is 0 or 1, `true` or `false`, `yes` or `no`; a missing one is not known. Or a column lists
the labels that are true.
"""

from __future__ import annotations

import csv
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene.streams._assemble import Choices, table_to_stream
from marlene.streams._cells import is_value
from marlene.streams._columns import RawTable
from marlene.streams._lines import Meter, bare_stem, numbered_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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
    separator: str | None = None,
    drop: str | Sequence[str] = (),
    kinds: FeatureKinds = "auto",
    header: bool | None = None,
    delimiter: str | None = None,
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
    separator
        If the label column lists the labels that are true: what stands between them.
    drop
        Columns to leave out: patterns such as "id,note_*", or a list of names.
    kinds
        "auto" infers the kind of every feature; "numeric" and "binary" set it for all that are not nominal
        (see `Stream.with_kinds`); a mapping sets it for single columns by name or pattern: numeric, binary, nominal,
        text (text:pairs for pairs of words, too; text:5000 for 5000 words with a feature of their own), or date
        (date:%d.%m.%Y for a form other than ISO 8601).
    header
        Whether the first row holds the names of the columns. Default: yes if any of its cells is neither a number nor a
        truth value nor missing. Without a header the columns are called x0, x1, …
    delimiter
        The character between cells. Default: a comma, a semicolon or a tab, whichever splits the first rows into equal
        numbers of cells, and into the most.
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
    choices = Choices(labels, separator, drop, kinds)
    return table_to_stream(csv_table(path, header, delimiter), choices, name or bare_stem(Path(path)))


def csv_table(path: AnyPath, header: bool | None = None, delimiter: str | None = None) -> RawTable:
    """Read the cells of a text file; the parameters are those of `read_csv`."""
    source = str(path)
    names, rows = _opened(source, _text(Path(path)), header, delimiter)
    lines, blocks = _blocks(rows)
    return RawTable(
        source=source,
        names=names,
        rows=len(lines),
        column=lambda i: np.concatenate([block[:, i] for block in blocks]),
        where=lambda row: f"{source}, line {lines[row]}",
    )


def csv_parts(path: Path, size: int, meter: Meter, delimiter: str | None = None) -> Iterator[RawTable]:
    """Read the cells of a text file in tables of as many rows as have `size` bytes, and at least one."""
    source, count = str(path), 0

    def text() -> Iterator[str]:
        nonlocal count
        for line in _text(path, meter):
            count += len(line)
            yield line

    def table(part: list[tuple[int, list[str]]]) -> RawTable:
        return RawTable(
            source=source,
            names=names,
            rows=len(part),
            column=lambda i: [row[i] for _, row in part],
            where=lambda row: f"{source}, line {part[row][0]}",
        )

    names, rows = _opened(source, text(), None, delimiter)
    part: list[tuple[int, list[str]]] = []
    for row in rows:
        part.append(row)
        if count >= size:
            yield table(part)
            part, count = [], 0
    if part:
        yield table(part)


def _opened(
    source: str, text: Iterator[str], header: bool | None, delimiter: str | None
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the names of the columns, and the rows with their lines."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise MarleneError(f"{source}: the delimiter must be a single character, not {delimiter!r}")
    sample = list(islice(text, SAMPLE_LINES))
    rows = _rows(chain(sample, text), delimiter or _guess_delimiter(sample), source)
    line, first = next(rows, (0, []))
    if not first:
        raise MarleneError(f"{source}: expected a table, found an empty file")
    has_header = header if header is not None else not all(is_value(cell) for cell in first)
    if has_header:
        below = next(rows, None)
        if below is None:
            raise MarleneError(f"{source}, line {line + 1}: expected at least one row below the header")
        rows = chain([below], rows)
    else:
        rows = chain([(line, first)], rows)
    names = [(has_header and cell.strip()) or f"x{i}" for i, cell in enumerate(first)]
    return names, _of_width(rows, len(first), source)


def _text(path: Path, meter: Meter | None = None) -> Iterator[str]:
    for number, line in numbered_lines(path, meter):
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


def _of_width(rows: Iterable[tuple[int, list[str]]], width: int, source: str) -> Iterator[tuple[int, list[str]]]:
    for line, row in rows:
        if len(row) != width:
            raise MarleneError(f"{source}, line {line}: expected {width} cells, found {len(row)}")
        yield line, row


def _blocks(rows: Iterable[tuple[int, list[str]]]) -> tuple[list[int], list[Array]]:
    """Return the line numbers of the rows, and the rows in arrays of strings, which take a quarter of lists' memory."""
    lines: list[int] = []

    def cells() -> Iterator[list[str]]:
        for line, row in rows:
            lines.append(line)
            yield row

    rest = cells()
    blocks = []
    while block := list(islice(rest, BLOCK_ROWS)):
        blocks.append(np.array(block, dtype=np.dtypes.StringDType()))
    return lines, blocks
