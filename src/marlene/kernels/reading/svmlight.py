"""The rows of SVMLight files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.reading.decimals import ABSENT, FOUND, UNDECIDED, read_number

if TYPE_CHECKING:
    from marlene._common.arrays import Codes, Floats, Ints

GOOD, BAD_LABEL, BAD_INDEX, BAD_VALUE = range(4)
"""What is wrong with a row."""


class Entries(NamedTuple):
    """What is read. `starts` and `label_starts` have a place more than there are rows.

    `slow` has places in `values` (or, from -1 downwards, in `labels`) that Python must read, and where they stand.
    """

    rows: Ints
    starts: Ints
    indices: Ints
    values: Floats
    label_starts: Ints
    labels: Floats
    slow: Ints


@subkernel
def read_labels(data: Codes, begin: int, end: int, entries: Entries, counts: Ints) -> int:
    """Read numbers with commas between them; return where something else stands, or -1."""
    while begin < end:
        comma = begin
        while comma < end and data[comma] != 44:
            comma += 1
        if comma > begin:
            value, ended, state = read_number(data, begin, comma)
            if state == ABSENT or ended != comma:
                return begin
            if state == UNDECIDED:
                leave_to_python(entries, counts, -1 - counts[2], begin, comma)
            entries.labels[counts[2]] = value
            counts[2] += 1
        begin = comma + 1
    return -1


@inlined
def leave_to_python(entries: Entries, counts: Ints, place: int, begin: int, end: int) -> None:
    """Note a number that Python must read."""
    entries.slow[counts[3], 0] = place
    entries.slow[counts[3], 1] = begin
    entries.slow[counts[3], 2] = end
    counts[3] += 1


@subkernel
def read_entry(data: Codes, begin: int, colon: int, end: int, entries: Entries, counts: Ints, most: int) -> int:
    """Read a feature and its value; return what is wrong. A query number is left out."""
    if colon == begin + 3 and data[begin] == 113 and data[begin + 1] == 105 and data[begin + 2] == 100:
        return GOOD
    index = 0
    for place in range(begin, colon):
        index = 10 * index + int(data[place]) - 48
        if not 48 <= data[place] <= 57 or index >= most:
            return BAD_INDEX
    if colon == begin:
        return BAD_INDEX
    if colon + 1 == end:
        return BAD_VALUE
    value, ended, state = read_number(data, colon + 1, end)
    used = counts[1]
    if state != FOUND or ended != end:  # also nan and inf
        leave_to_python(entries, counts, used, colon + 1, end)
    entries.indices[used] = index
    entries.values[used] = value
    counts[1] = used + 1
    return GOOD


@subkernel
def read_row(data: Codes, at: int, stop: int, entries: Entries, counts: Ints, most: int) -> tuple[bool, int, int]:
    """Read a line up to its comment; return whether there is anything, what is wrong, and where."""
    anything = False
    while True:
        while at < stop and (data[at] == 32 or data[at] == 9):
            at += 1
        if at == stop:
            return anything, GOOD, at
        word, colon = at, -1
        while at < stop and data[at] != 32 and data[at] != 9:
            if data[at] == 58 and colon < 0:
                colon = at
            at += 1
        if colon >= 0:
            wrong = read_entry(data, word, colon, at, entries, counts, most)
            if wrong != GOOD:
                return anything, wrong, word
        elif anything:  # labels come first
            return anything, BAD_INDEX, word
        else:
            place = read_labels(data, word, at, entries, counts)
            if place >= 0:
                return anything, BAD_LABEL, place
        anything = True


@kernel
def read_rows(data: Codes, position: int, entries: Entries, counts: Ints, most: int) -> tuple[int, int]:
    """Read all rows from a position on; return what is wrong, and where.

    `counts` gets the numbers of rows, values, labels, and numbers that are left to Python. Features are below `most`.
    """
    entries.starts[0] = 0
    entries.label_starts[0] = 0
    end = len(data)
    while position < end:
        line = position
        while line < end and data[line] != 10 and data[line] != 13:
            line += 1
        stop = position
        while stop < line and data[stop] != 35:  # a comment
            stop += 1
        anything, wrong, place = read_row(data, position, stop, entries, counts, most)
        if wrong != GOOD:
            return wrong, place
        if anything:  # an empty line is no row
            entries.rows[counts[0]] = position
            counts[0] += 1
            entries.starts[counts[0]] = counts[1]
            entries.label_starts[counts[0]] = counts[2]
        position = line + 1
    return GOOD, end
