"""What a Parquet file claims to hold, checked before polars believes it.

Polars ends the process where a page claims more values than memory can be had for, or fewer than none. So the lengths
in the footer and before every page are read here first. They are written in Thrift's compact protocol.
"""

from __future__ import annotations

import mmap
from typing import IO, TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene._common.resources import free_memory_mb

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"PAR1"
AROUND = 12
"""So many bytes are around the footer and the pages: the magic word twice, and the length of the footer."""
DEEPEST = 32
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
WHOLE_NUMBERS = (4, 5, 6)
LONG_LIST = 15
MOST_BITS = 70
"""More bits than any number has."""
ROW_GROUPS, COLUMNS, METADATA = 4, 1, 3
CHUNK_VALUES, DATA_OFFSET, DICTIONARY_OFFSET = 5, 9, 11
UNPACKED, PACKED = 2, 3
HEADERS = {5: True, 7: False, 8: True}
"""Where a page tells what it holds, and whether that counts as values of the column; a dictionary's do not."""
COUNTS = (1, 2, 3, 5, 6)
"""Numbers and lengths in these headers."""


def refuse_false_claims(file: IO[bytes], source: object) -> None:
    """Refuse a file whose pages claim to lie outside of it, or to hold more than there is memory, or less than nothing.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryFile(buffering=0) as file:
    ...     _ = file.write(b"PAR1 no more PAR1")
    ...     refuse_false_claims(file, "mail.parquet")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: mail.parquet: expected a Parquet file (its footer has another length)
    """
    try:
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            _check(content)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, RecursionError) as error:
        said = error if isinstance(error, ClaimError) else "its lengths cannot be read"
        raise MarleneError(f"{source}: expected a Parquet file ({said})") from error


class ClaimError(ValueError):
    """What is wrong with a file."""


def _check(content: mmap.mmap) -> None:
    size = len(content)
    if content[:4] != MAGIC or content[-4:] != MAGIC:
        raise ClaimError("it does not begin and end as one")
    length = int.from_bytes(content[-8:-4], "little")
    if length > size - AROUND:
        raise ClaimError("its footer has another length")
    footer = _Thrift(content, size - 8 - length, size - 8).struct()
    room = 1e6 * free_memory_mb()
    for group in footer[ROW_GROUPS]:
        values = unpacked = 0
        for column in group[COLUMNS]:
            for more_values, more_bytes in _pages(content, column[METADATA]):
                values, unpacked = values + more_values, unpacked + more_bytes
                if max(values, unpacked) > room:
                    raise ClaimError(f"it would fill the {room / 1e6:,.0f} MB of memory that are free")


def _pages(content: mmap.mmap, column: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """Yield of each page of a column how many values it holds, and how many bytes it has when it is unpacked."""
    begins = [column[place] for place in (DICTIONARY_OFFSET, DATA_OFFSET) if column.get(place, 0) > 0]
    at, left = min(begins), column[CHUNK_VALUES]
    while left > 0:
        reader = _Thrift(content, at, len(content))
        page = reader.struct()
        headers = {place: page[place] for place in HEADERS if place in page}
        counts = [header.get(place, 0) for header in headers.values() for place in COUNTS]
        lengths = [page[UNPACKED], page[PACKED], *(count for count in counts if type(count) is int)]
        values = sum(header[1] for place, header in headers.items() if HEADERS[place])
        if min(lengths) < 0 or values > left:
            raise ClaimError("a page claims another number of values than its column, or a length below zero")
        at, left = reader.at + page[PACKED], left - values
        if at > len(content):
            raise ClaimError("a page lies outside of it")
        yield max(values, *(header[1] for header in headers.values()), 0), page[UNPACKED]


class _Thrift:
    """A reader of Thrift's compact protocol: structs become dictionaries by the number of the field."""

    def __init__(self, content: mmap.mmap, begin: int, end: int) -> None:
        self._content, self.at, self._end = content, begin, end

    def struct(self, depth: int = 0) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole()
            kind = head & 15
            found[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:  # noqa: ANN401 (of any type)
        if depth > DEEPEST:
            raise ClaimError("it is nested too deeply")
        if kind in WHOLE_NUMBERS:
            return self._whole()
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind in (DOUBLE, BINARY):
            return self._skip(8 if kind == DOUBLE else self._unsigned())
        if kind in (LIST, SET):
            head = self._byte()
            length = head >> 4 if head >> 4 < LONG_LIST else self._unsigned()
            self._fits(length)
            return [self._value(head & 15, depth + 1) for _ in range(length)]
        if kind == MAP:
            length = self._unsigned()
            self._fits(length)
            kinds = self._byte() if length else 0
            return [(self._value(kinds >> 4, depth + 1), self._value(kinds & 15, depth + 1)) for _ in range(length)]
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ClaimError("a value is of no type there is")

    def _byte(self) -> int:
        self._fits(1)
        self.at += 1
        return self._content[self.at - 1]

    def _unsigned(self) -> int:
        found = shift = 0
        while shift < MOST_BITS:
            byte = self._byte()
            found |= (byte & 127) << shift
            if byte < 128:
                return found
            shift += 7
        raise ClaimError("a number is too long")

    def _whole(self) -> int:
        found = self._unsigned()
        return (found >> 1) ^ -(found & 1)

    def _skip(self, length: int) -> None:
        self._fits(length)
        self.at += length

    def _fits(self, length: int) -> None:
        if length > self._end - self.at:
            raise ClaimError("it ends too early")
