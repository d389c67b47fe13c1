"""The rows of an ARFF file, dense and sparse, as arrays."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene.streams._arff_tokens import Malformed, Scanner, shown
from marlene.streams._arff_values import LONGEST_REMEMBERED, MOST_REMEMBERED, Decoder, Numbers, plain_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from marlene._common.arrays import Floats, Int32s, Ints

WEIGHT = "expected the end of the line, found the weight of an instance, which cannot be used"


class ArffRows:
    """Rows in the order of the file; stored densely until the first sparse row.

    Parameters
    ----------
    titles
        Names of the columns in error messages.
    columns
        The decoder of every column.
    absent
        The value of every column that a sparse row leaves out.
    """

    def __init__(self, titles: Sequence[str], columns: Sequence[Decoder], absent: Sequence[float]) -> None:
        self.titles = titles
        self.columns = columns
        self.absent = absent
        self.sparse = False
        self.lines = array("q")
        self._table = array("d")
        self._entries = _Entries(columns)
        self._codes = array("q")
        self._lengths = array("q")
        self._numbers = _longest_stretch([type(column) is Numbers for column in columns])
        # Do not split a longer line at its commas: with such long words or so much space it would waste memory.
        self._longest_usual = 4096 + 64 * len(columns)

    def __len__(self) -> int:
        return len(self.lines)

    def add(self, number: int, line: bytes) -> None:
        """Add the row of a line, which has no white space at its ends."""
        self.lines.append(number)
        if line.startswith(b"{"):
            codes = self._sparse_row(line)
            if not self.sparse:
                self._become_sparse()
        else:
            values = self._dense_row(line)
            if not self.sparse:
                self._table.fromlist(values)
                return
            given = zip(values, self.absent, strict=True)
            codes = [self._entries.add(i, value) for i, (value, absent) in enumerate(given) if value != absent]
        self._codes.fromlist(codes)
        self._lengths.append(len(codes))

    def _become_sparse(self) -> None:
        table = self.dense_table()
        given = table != np.asarray(self.absent)
        positions = np.nonzero(given)[1]
        codes = self._entries.add_many(positions, table[given])
        self._codes.extend(codes)
        self._lengths.extend(given.sum(axis=1).tolist())
        self._table = array("d")
        self.sparse = True

    def dense_table(self) -> Floats:
        """Return the values of dense rows (rows × columns)."""
        return np.asarray(self._table, dtype=np.float64).reshape(-1, len(self.columns))

    def sparse_entries(self, source: str) -> tuple[Ints, Int32s, Floats]:
        """Return row, column and value of every entry, ordered by row and column."""
        codes = np.asarray(self._codes, dtype=np.int64)
        rows = np.repeat(np.arange(len(self), dtype=np.int64), np.asarray(self._lengths, dtype=np.int64))
        columns, values = self._entries.look_up(codes)
        same_row = rows[1:] == rows[:-1]
        if (same_row & (columns[1:] <= columns[:-1])).any():
            order = np.lexsort((columns, rows))
            columns, values = columns[order], values[order]
            twice = same_row & (columns[1:] == columns[:-1])
            if twice.any():
                at = int(np.argmax(twice))
                column = int(columns[at])
                raise MarleneError(
                    f"{source}, line {self.lines[int(rows[at])]}: {self.titles[column]} (index {column}) is given twice"
                )
        return rows, columns, values

    # The fast way: split a line at its commas. If every piece is one whole word, these are the words of the line,
    # quoted or not. Otherwise the scanner reads the line, or says what is wrong and where.

    def _dense_row(self, line: bytes) -> list[float]:
        count = len(self.columns)
        pieces = line.split(b",", count) if len(line) <= self._longest_usual else []
        if len(pieces) == count:
            try:
                return self._values(pieces)
            except Malformed:
                pieces.clear()
        scanner = Scanner(line)
        keys = [scanner.word("a value")]
        while not scanner.done():
            scanner.separator()
            if scanner.at(b"{"):
                raise Malformed(WEIGHT)
            if len(keys) == count:
                raise Malformed(f"expected {_count(count)}, found more")
            keys.append(scanner.word("a value"))
        if len(keys) != count:
            raise Malformed(f"expected {_count(count)}, found {len(keys)}")
        return [self._value(position, key) for position, key in enumerate(keys)]

    def _values(self, pieces: list[bytes]) -> list[float]:
        start, stop = self._numbers
        numbers = plain_numbers(pieces[start:stop])
        if numbers is None:
            return [column[piece] for column, piece in zip(self.columns, pieces, strict=True)]
        before = [self.columns[i][pieces[i]] for i in range(start)]
        return before + numbers + [self.columns[i][pieces[i]] for i in range(stop, len(pieces))]

    def _sparse_row(self, line: bytes) -> list[int]:
        count = len(self.columns)
        pieces = line.split(b",", count) if len(line) <= self._longest_usual else []
        if 0 < len(pieces) <= count and line.endswith(b"}"):
            pieces[0] = pieces[0][1:]
            pieces[-1] = pieces[-1][:-1]
            try:
                return list(map(self._entries.__getitem__, pieces))
            except Malformed:
                pieces.clear()
        scanner = Scanner(line)
        scanner.accept(b"{")
        codes: list[int] = []
        closed = scanner.accept(b"}")
        while not closed:
            if len(codes) == count:
                raise Malformed(f"expected at most {_count(count)} between {{ and }}, found more")
            position = self._entries.position(scanner.word("an index"))
            if not scanner.after_space() or scanner.at(b",") or scanner.at(b"}") or scanner.done():
                raise scanner.expected(f"a space and the value of {self.titles[position]}")
            codes.append(self._entries.add(position, self._value(position, scanner.word("a value"))))
            closed = scanner.accept(b"}")
            if not closed:
                if scanner.done():
                    raise scanner.expected("}")
                scanner.separator()
        if not scanner.done():
            scanner.accept(b",")
            raise Malformed(WEIGHT) if scanner.at(b"{") else scanner.expected("the end of the line after }")
        return codes

    def _value(self, position: int, key: bytes) -> float:
        try:
            return self.columns[position][key]
        except Malformed as error:
            raise Malformed(f"{self.titles[position]}: {error}") from None


class _Entries(dict[bytes, int]):
    """Numbers the entries of sparse rows; equal texts of entries have equal numbers."""

    def __init__(self, columns: Sequence[Decoder]) -> None:
        super().__init__()
        self._columns = columns
        self._indices = {b"%d" % position: position for position in range(len(columns))}
        self._positions = array("i")
        self._values = array("d")

    def __missing__(self, written: bytes) -> int:
        index, _, value = written.strip().partition(b" ")
        position = self._indices.get(index)
        if position is None:
            position = self.position(index)
        code = self.add(position, self._columns[position][value])
        if len(self) < MOST_REMEMBERED and len(written) <= LONGEST_REMEMBERED:
            self[written] = code
        return code

    def position(self, index: bytes) -> int:
        """Return the column of an index."""
        # No index has more than 18 digits, and Python refuses to convert thousands of them.
        position = int(index) if index.isdigit() and len(index) <= 18 else -1
        if not 0 <= position < len(self._columns):
            raise Malformed(f"expected an index from 0 to {len(self._columns) - 1}, found {shown(index)}")
        return position

    def add(self, position: int, value: float) -> int:
        """Give an entry its number."""
        self._positions.append(position)
        self._values.append(value)
        return len(self._values) - 1

    def add_many(self, positions: Ints, values: Floats) -> Iterable[int]:
        """Give many entries their numbers."""
        start = len(self._values)
        self._positions.frombytes(positions.astype(np.int32).tobytes())
        self._values.frombytes(values.tobytes())
        return range(start, len(self._values))

    def look_up(self, codes: Ints) -> tuple[Int32s, Floats]:
        """Return columns and values of numbered entries."""
        return np.asarray(self._positions, dtype=np.int32)[codes], np.asarray(self._values, dtype=np.float64)[codes]


def _longest_stretch(wanted: Sequence[bool]) -> tuple[int, int]:
    """Return start and end of the longest stretch of true values."""
    best = (0, 0)
    start = 0
    for position, yes in enumerate((*wanted, False)):
        if not yes:
            best = max(best, (start, position), key=lambda stretch: stretch[1] - stretch[0])
            start = position + 1
    return best


def _count(count: int) -> str:
    return "1 value" if count == 1 else f"{count} values"
