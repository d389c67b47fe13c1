"""Growing hash tables in one shared arena: what every leaf of a forest remembers of the features it has seen.

A table is a block of 2^order entries in insertion order, plus an index of twice as many cells (open addressing with
hashed jumps). Freed blocks go to one free list per order and are used again. A list refers to an entry by its place
within the block, counted from 1 (0: none), so that a block can be moved.

A leaf describes its table in three neighbouring columns of its row: the start of the block, the order + 1 (0: no
block) and the number of entries in use. Functions take the row and the first of these columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Int32s, Ints


ORDERS = 48
TAG_SHIFT, PLACE_MASK, AMBIGUOUS = 32, (1 << 32) - 1, 1 << 30
SMALLEST_ORDER = 3
# Unsigned, because to the compiler a product of signed numbers never overflows.
FIBONACCI, MIDDLE_BITS = np.uint64(11400714819323198485), np.uint64(20)


class Arena(NamedTuple):
    """The arena of all tables of one sort.

    Attributes
    ----------
    key
        The key of every entry. In a free block the first key links to the next free block.
    stat
        Statistics of an entry (entries × classes × columns): those of one entry are neighbours.
    planes
        Statistics of an entry (classes × columns × entries): those of one column are neighbours. A table has one or
        the other: single entries are looked up, or all are walked through.
    listed
        One list of entries per class (entries × classes): places from 1, in the first rows of the block.
    cells
        The index, two cells per entry: 0 if empty, else a place from 1 with the tag of its key in the upper half. Most
        tags identify their key, so that the key itself need not be read.
    free
        For every order the first free block from 1, or 0.
    top
        The number of entries ever used (an array of one).
    """

    key: Ints
    stat: Floats
    planes: Floats
    listed: Int32s
    cells: Ints
    free: Ints
    top: Ints


@inlined
def order_for(count: int) -> int:
    """Return the smallest order whose block holds `count`."""
    order = 0
    while (1 << order) < count:
        order += 1
    return order


@inlined
def allocate(free: Ints, top: Ints, link: Ints, order: int) -> int:
    """Return the start of a new block. The caller has checked that there is room."""
    if free[order] > 0:
        start = free[order] - 1
        free[order] = link[start]
        link[start] = 0
        return int(start)
    start = top[0]
    top[0] += 1 << order
    return int(start)


@inlined
def release(free: Ints, link: Ints, start: int, order: int) -> None:
    """Give a block back."""
    link[start] = free[order]
    free[order] = start + 1


@inlined
def first_cell(key: int, order: int) -> int:
    """Return the first cell to look into; it differs for neighbouring keys and for keys at regular distances.

    With a cell for every feature there are no collisions.
    """
    return int((key + (key >> 9) + (key >> 18) + 37 * (key >> 32)) & ((2 << order) - 1))


@inlined
def next_cell(cell: int, key: int, order: int) -> int:
    """Return the cell to look into after another.

    The order is pseudo-random, so that long runs of full cells do no harm. It comes from a congruential generator of
    full period, which visits every cell.
    """
    step = np.int64((np.uint64(key) * FIBONACCI) >> MIDDLE_BITS) | 1
    return int((5 * cell + step) & ((2 << order) - 1))


@inlined
def _tag(key: int) -> int:
    """Return the tag of a key: 29 bits of the feature and one of the value; marked ambiguous if that is not all.

    Most keys fit: those of numeric features have no upper half, and a binary feature's upper half is 1.
    """
    plain = key >> (TAG_SHIFT + 1) == 0 and (key >> 29) & 7 == 0
    return (key & ((1 << 29) - 1)) | ((key >> TAG_SHIFT) & 1) << 29 | (0 if plain else AMBIGUOUS)


@inlined
def find(keys: Ints, index: Ints, start: int, order: int, key: int) -> int:
    """Return the entry of `key` in a block, or -1. A table without a block has order -1."""
    if order < 0:
        return -1
    tag = _tag(key)
    cell = first_cell(key, order)
    while True:
        found = index[2 * start + cell]
        if found == 0:
            return -1
        if found >> TAG_SHIFT == tag:
            entry = start + (found & PLACE_MASK) - 1
            if tag < AMBIGUOUS or keys[entry] == key:
                return int(entry)
        cell = next_cell(cell, key, order)


@inlined
def look_up(table: Arena, row: Ints, column: int, key: int) -> int:
    """Return the entry of `key` in a leaf's table, or -1."""
    return find(table.key, table.cells, row[column], row[column + 1] - 1, key)


@inlined
def first_look(index: Ints, start: int, order: int, key: int) -> int:
    """Return the content of a key's first cell."""
    return int(index[2 * start + first_cell(key, order)])


@inlined
def find_after(keys: Ints, index: Ints, start: int, order: int, key: int, found: int) -> int:
    """Return the entry of a key, or -1, given what `first_look` found (not 0)."""
    tag = _tag(key)
    if found >> TAG_SHIFT == tag and tag < AMBIGUOUS:
        return int(start + (found & PLACE_MASK) - 1)
    return find(keys, index, start, order, key)


@inlined
def append(keys: Ints, index: Ints, start: int, order: int, used: int, key: int) -> int:
    """Add an entry for a new key; the block has room for it."""
    cell = first_cell(key, order)
    while index[2 * start + cell] != 0:
        cell = next_cell(cell, key, order)
    index[2 * start + cell] = (_tag(key) << TAG_SHIFT) | (used + 1)
    keys[start + used] = key
    return start + used


@inlined
def new_entry(table: Arena, row: Ints, column: int, key: int) -> int:
    """Add a new key to a leaf's table, which has room; return its entry."""
    row[column + 2] += 1
    return append(table.key, table.cells, row[column], row[column + 1] - 1, row[column + 2] - 1, key)


@subkernel
def free_table(table: Arena, row: Ints, column: int) -> None:
    """Clear the block of a leaf's table and free it; the row is left as it is."""
    if row[column + 1] == 0:
        return
    start, end = row[column], row[column] + (1 << (row[column + 1] - 1))
    table.key[start:end] = 0
    table.listed[start:end, :] = 0
    table.stat[start:end, :, :] = 0.0
    table.planes[:, :, start:end] = 0.0
    table.cells[2 * start : 2 * end] = 0
    release(table.free, table.key, start, row[column + 1] - 1)


@subkernel
def move_table(table: Arena, row: Ints, column: int, order: int) -> None:
    """Move a leaf's table into a new block of another order."""
    old, new = row[column], allocate(table.free, table.top, table.key, order)
    for c in range(table.planes.shape[0]):
        for plane in range(table.planes.shape[1]):
            for place in range(row[column + 2]):
                table.planes[c, plane, new + place] = table.planes[c, plane, old + place]
    for place in range(row[column + 2]):
        for c in range(table.stat.shape[1]):
            table.listed[new + place, c] = table.listed[old + place, c]
            for stat in range(table.stat.shape[2]):
                table.stat[new + place, c, stat] = table.stat[old + place, c, stat]
        append(table.key, table.cells, new, order, place, table.key[old + place])
    free_table(table, row, column)
    row[column], row[column + 1] = new, order + 1
