"""ARFF files, part by part."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene.streams._arff_header import read_header
from marlene.streams._arff_tokens import Malformed
from marlene.streams._assemble import beside, say, told_of, wanted_kinds, without_columns
from marlene.streams._lines import numbered_lines
from marlene.streams.arff import arff_labels, new_rows, rows_stream, texts_table
from marlene.streams.lazy._tables import Columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from marlene.streams._arff_header import Header
    from marlene.streams._arff_rows import ArffRows
    from marlene.streams._assemble import Choices
    from marlene.streams._labels import LabelChoice
    from marlene.streams._lines import Meter
    from marlene.streams._stream import Feature, Stream
    from marlene.streams.lazy._stream import Opened


def arff_streams(
    path: Path, size: int, meter: Meter, name: str, labels: LabelChoice | None, choices: Choices
) -> Opened:
    """Yield the parts of an ARFF file."""
    with closing(numbered_lines(path, meter)) as lines:
        header = read_header(lines, str(path))
        chosen = arff_labels(path, header, labels, None)
        reading = _ArffReading(path, header, chosen, name, choices)
        for rows in _rows(path, size, header, chosen, lines):
            yield reading.stream(rows)


def _rows(
    path: Path, size: int, header: Header, chosen: list[int], lines: Iterator[tuple[int, bytes]]
) -> Iterator[ArffRows]:
    rows, count, number, empty = new_rows(str(path), header.attributes, chosen), 0, header.data_line, True
    for number, text in lines:
        line = text.strip()
        if not line or line.startswith(b"%"):
            continue
        try:
            rows.add(number, line)
        except Malformed as error:
            raise MarleneError(f"{path}, line {number}: {error}") from None
        empty, count = False, count + len(text) + 1
        if count >= size:
            yield rows
            rows, count = new_rows(str(path), header.attributes, chosen), 0
    if len(rows):
        yield rows
    if empty:
        raise MarleneError(f"{path}, line {number + 1}: expected a row, found the end of the file")


class _ArffReading:
    """What the first part decided.

    Numeric columns of only 0 and 1 are binary; in sparse files only if all numeric columns are.
    """

    def __init__(self, path: Path, header: Header, chosen: list[int], name: str, choices: Choices) -> None:
        self._path, self._header, self._chosen, self._name, self._choices = path, header, chosen, name, choices
        self._features: tuple[Feature, ...] = ()
        self._texts = Columns("auto")

    def stream(self, rows: ArffRows) -> Stream:
        """Return the next part."""
        attributes, choices = self._header.attributes, self._choices
        stream = rows_stream(self._path, attributes, self._chosen, rows, self._name)
        table, drop = texts_table(self._path, attributes, rows, stream, choices.drop)
        told = told_of(table, choices)
        first = not self._features
        if first:
            self._features = self._decided(stream)
            self._texts.add(table, range(len(table.names)), wanted_kinds(table, range(len(table.names)), told))
        parts = self._texts.parts(table)
        self._refuse_others(stream, rows)
        stream = without_columns(replace(stream, features=self._features), drop, choices, told)
        say(str(self._path), parts)
        return beside(stream, parts) if parts else stream

    def _decided(self, stream: Stream) -> tuple[Feature, ...]:
        told = self._choices.named
        numbers = {a.name for a in self._header.attributes if a.values is None and not a.kind}
        inferred = [feature.kind for feature in stream.features if feature.name in numbers]
        everywhere = self._choices.rest != "auto" or (isinstance(stream.X, sp.csr_array) and "numeric" in inferred)
        return tuple(
            replace(f, kind="numeric") if f.name in numbers and (everywhere or f.name in told) else f
            for f in stream.features
        )

    def _refuse_others(self, stream: Stream, rows: ArffRows) -> None:
        """Refuse values that do not fit the kind of their column."""
        texts = {attribute.name for attribute in self._header.attributes if attribute.kind}
        for i, (was, now) in enumerate(zip(self._features, stream.features, strict=True)):
            if was.name in texts or was.kind in {now.kind, "numeric"}:
                continue
            column = stream.X[:, [i]]
            values = (column.toarray() if isinstance(column, sp.csr_array) else column)[:, 0]
            row = int(np.argmax(~np.isnan(values) & (values != 0) & (values != 1)))
            raise MarleneError(
                f"{self._path}, line {rows.lines[row]}, attribute {was.name!r}: expected 0 or 1, found "
                f"{values[row]:g}; the column began as {was.kind}: kinds={{{was.name!r}: 'numeric'}} "
                f"(--kinds {was.name}=numeric) says otherwise"
            )
