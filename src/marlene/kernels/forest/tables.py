"""Growing hash tables that share one arena: what every leaf of a forest remembers of the features it has seen.

A table is a block of 2^order entries in insertion order plus an index of twice as many cells (open addressing,
jumping on by a hash). Blocks that are given back are kept in one free list per order and used again. Entries are
referred to by their place within the block, counted from 1 (0 is none), so that a block can be moved.
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
        What an entry is about; in a free block the first one links to the next free block.
    stat
        Numbers of an entry (entries × classes × columns).
    listed
        A list of entries per class (entries × classes), as places within the block from 1, in the block's first rows.
    cells
        The index: two cells per entry: a place within the block from 1, and above it the key's tag, or 0. Most tags say
        all of their key, so that it need not be looked up.
    free
        For every order the first free block from 1, or 0.
    top
        The number of entries that are, or were, in use (an array of one).
    """

    key: Ints
    stat: Floats
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
    """Return the start of a block; the caller knows that there is room."""
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
    """Return the cell to look into first: neighbours have different ones, and so have keys at regular distances.

    With a cell for every feature there are no collisions at all.
    """
    return int((key + (key >> 9) + (key >> 18) + 37 * (key >> 32)) & ((2 << order) - 1))


@inlined
def next_cell(cell: int, key: int, order: int) -> int:
    """Return the cell to look into after another, as if by chance, so that long runs of full cells do no harm.

    This is a congruential generator of full period: in the end every cell is looked into.
    """
    step = np.int64((np.uint64(key) * FIBONACCI) >> MIDDLE_BITS) | 1
    return int((5 * cell + step) & ((2 << order) - 1))


@inlined
def _tag(key: int) -> int:
    """Return what a cell tells of a key: all, unless it is marked as ambiguous.

    Keys of a table of numbers have no upper half, and that of the value 1 of a binary feature is 1.
    """
    plain = key >> (TAG_SHIFT + 1) == 0 and (key >> 29) & 7 == 0
    return (key & ((1 << 29) - 1)) | ((key >> TAG_SHIFT) & 1) << 29 | (0 if plain else AMBIGUOUS)


@inlined
def find(keys: Ints, index: Ints, start: int, order: int, key: int) -> int:
    """Return the entry of `key` in the block, or -1; a table without a block has order -1."""
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
def first_look(index: Ints, start: int, order: int, key: int) -> int:
    """Return what stands in the first cell of a key: what `find` needs to begin with."""
    return int(index[2 * start + first_cell(key, order)])


@inlined
def find_after(keys: Ints, index: Ints, start: int, order: int, key: int, found: int) -> int:
    """Return the entry of a key, or -1, after a first look, which found something."""
    tag = _tag(key)
    if found >> TAG_SHIFT == tag and tag < AMBIGUOUS:
        return int(start + (found & PLACE_MASK) - 1)
    return find(keys, index, start, order, key)


@inlined
def append(keys: Ints, index: Ints, start: int, order: int, used: int, key: int) -> int:
    """Add an entry for a key that is not there yet; the block has room for it."""
    cell = first_cell(key, order)
    while index[2 * start + cell] != 0:
        cell = next_cell(cell, key, order)
    index[2 * start + cell] = (_tag(key) << TAG_SHIFT) | (used + 1)
    keys[start + used] = key
    return start + used


@subkernel
def free_block(table: Arena, start: int, order: int) -> None:
    """Clear a block and give it back."""
    if order < 0:
        return
    end = start + (1 << order)
    for entry in range(start, end):
        table.key[entry] = 0
        for c in range(table.stat.shape[1]):
            table.listed[entry, c] = 0
            for column in range(table.stat.shape[2]):
                table.stat[entry, c, column] = 0.0
    for cell in range(2 * start, 2 * end):
        table.cells[cell] = 0
    release(table.free, table.key, start, order)


@subkernel
def move_block(table: Arena, start: int, order: int, used: int, new_order: int) -> int:
    """Move a table into a block of another order; return where that begins."""
    new_start = allocate(table.free, table.top, table.key, new_order)
    if order >= 0:
        for place in range(used):
            for c in range(table.stat.shape[1]):
                table.listed[new_start + place, c] = table.listed[start + place, c]
                for column in range(table.stat.shape[2]):
                    table.stat[new_start + place, c, column] = table.stat[start + place, c, column]
            append(table.key, table.cells, new_start, new_order, place, table.key[start + place])
        free_block(table, start, order)
    return new_start
