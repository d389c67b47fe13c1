"""The words of texts as columns of a sparse matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Array, Int32s, Ints

OFFSET = np.uint64(0xCBF29CE484222325)
PRIME = np.uint64(0x100000001B3)
MIX = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(29)
ZERO = np.uint64(0)


class Vocabulary(NamedTuple):
    """The words known so far.

    Attributes
    ----------
    slots
        An open hash table of 2ⁿ places: 1 + the number of a word, or 0.
    hashes
        The hash of every word; its length is the most words there may be.
    """

    slots: Int32s
    hashes: Array


@inlined
def is_letter(code: int) -> bool:
    """Tell whether a lower-case code point is part of a word; non-ASCII ones that are not were made spaces before."""
    return 97 <= code <= 122 or 48 <= code <= 57 or code >= 128


@inlined
def mixed(value: np.uint64) -> np.uint64:
    """Return a hash whose low bits depend on all bits."""
    value = (value ^ (value >> SHIFT)) * MIX
    return value ^ (value >> SHIFT)


@subkernel
def word_number(vocabulary: Vocabulary, value: np.uint64, known: int, shared: int, learning: bool) -> int:
    """Return the number of a word by its hash; `known` if it was added now, -1 if it is left out."""
    slots, hashes = vocabulary.slots, vocabulary.hashes
    mask = len(slots) - 1
    place = int(np.int64(value & np.uint64(mask)))
    while slots[place] != 0:
        number = int(slots[place]) - 1
        if hashes[number] == value:
            return number
        place = (place + 1) & mask
    most = len(hashes)
    if known == most:
        return most + int(np.int64((value >> np.uint64(32)) % np.uint64(shared))) if shared else -1
    if not learning:
        return -1
    slots[place] = known + 1
    hashes[known] = value
    return known


@subkernel
def sort_distinct(values: Int32s, begin: int, end: int) -> int:
    """Sort a part of `values` and drop what is there twice; return the new end."""
    gap = 1
    while gap < (end - begin) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            value = values[i]
            j = i
            while j >= begin + gap and values[j - gap] > value:
                values[j] = values[j - gap]
                j -= gap
            values[j] = value
        gap //= 3
    kept = begin
    for i in range(begin, end):
        if i == begin or values[i] != values[kept - 1]:
            values[kept] = values[i]
            kept += 1
    return kept


@kernel
def encode_words(
    codes: Array,
    ends: Ints,
    vocabulary: Vocabulary,
    known: int,
    shared: int,
    pairs: bool,
    learning: bool,
    starts: Ints,
    columns: Int32s,
    spans: Ints,
) -> int:
    """Write the numbers of the different words of every text, ascending, and return how many words are known now.

    Parameters
    ----------
    codes, ends
        The code points of all texts in lower case, and where each text ends.
    vocabulary, known
        The words known so far, and how many they are. A new word is added if `learning` and if there is room.
    shared
        If there is no room: the number of columns that all further words share.
    pairs
        Whether two words in a row are a word of their own, too.
    starts, columns
        The result in CSR form. `columns` has room for every word and every pair.
    spans
        Where in `codes` each new word begins and ends.
    """
    position = 0
    used = 0
    before = known
    starts[0] = 0
    for row in range(len(ends)):
        begin = used
        end = ends[row]
        last = ZERO
        last_start = -1
        while position < end:
            if not is_letter(codes[position]):
                position += 1
                continue
            start = position
            value = OFFSET
            while position < end and is_letter(codes[position]):
                value = (value ^ np.uint64(codes[position])) * PRIME
                position += 1
            value = mixed(value)
            for part in range(2 if pairs and last_start >= 0 else 1):
                first = start if part == 0 else last_start
                whole = value if part == 0 else mixed((last * PRIME) ^ value)
                number = word_number(vocabulary, whole, known, shared, learning)
                if number < 0:
                    continue
                if number == known and known < len(vocabulary.hashes):
                    spans[known - before, 0] = first
                    spans[known - before, 1] = position
                    known += 1
                columns[used] = number
                used += 1
            last = value
            last_start = start
        used = sort_distinct(columns, begin, used)
        starts[row + 1] = used
    return known
