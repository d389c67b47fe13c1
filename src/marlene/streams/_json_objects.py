"""The objects of a JSON file, column by column."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene.kernels.reading.objects import (
    DEEP,
    DEEPEST,
    ESCAPED,
    GOOD,
    LIST,
    NULL,
    NUMBER,
    SLOW,
    STRING,
    TRUTH,
    TWICE,
    Leaves,
    Nodes,
    read_objects,
)
from marlene.kernels.reading.spans import count_signs, distinct_spans
from marlene.streams._cells import Coded

if TYPE_CHECKING:
    from marlene._common.arrays import Array, Floats, Ints


class JsonObjects:
    """The values of all objects, by column; `before` is the number of lines before the text."""

    def __init__(self, text: bytes, source: str, before: int = 0) -> None:
        self.text, self.source, self.before = text, source, before
        self.data = np.frombuffer(text, np.uint8)
        _, colons, _, braces = count_signs(self.data)
        self.leaves, self.nodes = _room(colons)
        self.starts = np.empty(braces + 1, np.int64)
        counts = np.zeros(3, np.int64)
        stack = np.empty(DEEPEST + 1, np.int64)
        wrong, at = read_objects(self.data, 0, self.leaves, self.nodes, self.starts, stack, counts)
        self.rows, used, self.known = counts.tolist()
        if wrong != GOOD:
            raise self._error(wrong, at)
        row, node, types, number, begin, end = self.leaves
        self.leaves = Leaves(row[:used], node[:used], types[:used], number[:used], begin[:used], end[:used])
        self._read_slow_numbers()
        self._group()

    def line(self, position: int) -> int:
        """Return the number of the line at a position."""
        return self.before + self.text.count(b"\n", 0, position) + 1

    def _error(self, wrong: int, at: int) -> MarleneError:
        ended = at >= len(self.text)
        at = len(self.text.rstrip()) if ended else at
        where = f"{self.source}, line {self.line(at)}"
        column = at - self.text.rfind(b"\n", 0, at)
        if wrong == TWICE:
            key = self.text[at : self.text.index(b'"', at)].decode(errors="replace")
            return MarleneError(f"{where}, column {column}: the key {key!r} is there twice")
        if wrong == DEEP:
            return MarleneError(f"{where}, column {column}: more than {DEEPEST} objects in one another")
        found = self.text[at : at + 20].partition(b"\n")[0].decode(errors="replace")
        shown = "the file ends" if ended else f"found {found!r}" if found else "found the end of the line"
        return MarleneError(f"{where}, column {column}: expected JSON objects, one per line or in a list; {shown}")

    def _read_slow_numbers(self) -> None:
        for place in np.flatnonzero(self.leaves.type == SLOW).tolist():
            self.leaves.number[place] = float(self.text[self.leaves.begin[place] : self.leaves.end[place]])
            self.leaves.type[place] = NUMBER

    def _group(self) -> None:
        """Sort leaves by column, and name the columns in the order of their first appearance."""
        counts = np.bincount(self.leaves.node, minlength=self.known)
        self.order = np.argsort(self.leaves.node, kind="stable")
        self.bounds: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        above = np.zeros(self.known, bool)
        parents = self.nodes.parent[: self.known]
        above[parents[parents >= 0]] = True
        # An object that is null somewhere is no column of its own.
        self.columns = [
            node
            for node in range(self.known)
            if counts[node] and not (above[node] and (self.leaves.type[self._places(node)] == NULL).all())
        ]

    def _places(self, node: int) -> Ints:
        found: Ints = self.order[self.bounds[node] : self.bounds[node + 1]]
        return found

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns."""
        paths: list[str] = []
        for node in range(self.known):
            begin, end, parent = (int(each[node]) for each in (self.nodes.begin, self.nodes.end, self.nodes.parent))
            key = self._string(begin, end, escaped=b"\\" in self.text[begin:end])
            paths.append(key if parent < 0 else f"{paths[parent]}.{key}")
        return [paths[node] for node in self.columns]

    def _string(self, begin: int, end: int, *, escaped: bool) -> str:
        try:
            if escaped:
                return str(_loaded(self.text[begin - 1 : end + 1]))
            return self.text[begin:end].decode()
        except ValueError as error:
            raise MarleneError(
                f"{self.source}, line {self.line(begin)}: expected a string in UTF-8 ({error})"
            ) from None

    def present(self, column: int) -> tuple[Ints, Floats] | None:
        """Return the rows that have a column, and its values there, if they are numbers."""
        places = self._places(self.columns[column])
        types = self.leaves.type[places]
        if (types > NUMBER).any():
            return None
        values = np.where(types == NULL, np.nan, self.leaves.number[places])
        return self.leaves.row[places].astype(np.int64), values

    def column(self, column: int) -> Floats | Coded:
        """Return a column of numbers, or different cells and their codes."""
        numbers = self.present(column)
        if numbers is not None:
            cells = np.full(self.rows, np.nan)
            cells[numbers[0]] = numbers[1]
            return cells
        places = self._places(self.columns[column])
        codes, firsts = _distinct(self.data, self.leaves.begin[places], self.leaves.end[places])
        values = [self._value(int(place)) for place in places[firsts]]
        rows = self.leaves.row[places]
        if len(rows) == self.rows:
            return Coded(values, codes)
        spread = np.full(self.rows, len(values))
        spread[rows] = codes
        return Coded([*values, None], spread)

    def _value(self, place: int) -> Any:  # noqa: ANN401 (any value of JSON)
        kind, begin, end = (each[place] for each in (self.leaves.type, self.leaves.begin, self.leaves.end))
        if kind in {STRING, ESCAPED}:
            return self._string(int(begin), int(end), escaped=kind == ESCAPED)
        if kind == NULL:
            return None
        if kind == LIST:
            try:
                return _as_tuple(_loaded(self.text[begin:end]))
            except (ValueError, RecursionError) as error:
                where = f"{self.source}, line {self.line(int(begin))}"
                raise MarleneError(f"{where}: expected a list in JSON ({error})") from None
        number = float(self.leaves.number[place])
        return bool(number) if kind == TRUTH else number


def _room(size: int) -> tuple[Leaves, Nodes]:
    """Return arrays for so many values and keys; memory is taken when they are filled."""
    small, large = np.empty((4, size), np.int32), np.empty((4, size), np.int64)
    leaves = Leaves(small[0], small[1], np.empty(size, np.int8), np.empty(size), large[0], large[1])
    slots = np.zeros(1 << (2 * size + 2).bit_length(), np.int32)
    return leaves, Nodes(slots, np.empty(size, np.uint64), small[2], large[2], large[3], small[3])


def _loaded(text: bytes) -> Any:  # noqa: ANN401 (any value of JSON)
    """Return a value; half of a character is a ValueError."""
    value = json.loads(text.decode())
    if b"\\u" in text:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _as_tuple(value: Any) -> Any:  # noqa: ANN401 (any value of JSON)
    return tuple(map(_as_tuple, value)) if isinstance(value, list) else value


def _distinct(data: Array, begins: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Return which pieces of bytes are equal, and the first of each."""
    codes, firsts = np.empty(len(begins), np.int64), np.empty(len(begins), np.int64)
    slots = np.zeros(1 << (2 * len(begins) + 2).bit_length(), np.int64)
    known = distinct_spans(data, begins, ends, slots, codes, firsts)
    return codes, firsts[:known]
