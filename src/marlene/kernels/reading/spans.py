"""Pieces of bytes: how many signs there are, and which pieces are equal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import kernel

if TYPE_CHECKING:
    from marlene._common.arrays import Codes, Ints


@kernel
def count_signs(data: Codes) -> tuple[int, int, int, int]:
    """Return how many line ends, colons, commas and opening braces there are."""
    lines, colons, commas, braces = 0, 0, 0, 0
    for code in data:
        lines += code in (10, 13)
        colons += code == 58
        commas += code == 44
        braces += code == 123
    return lines, colons, commas, braces


@kernel
def distinct_spans(data: Codes, begins: Ints, ends: Ints, slots: Ints, codes: Ints, firsts: Ints) -> int:
    """Give equal pieces of `data` the same code, in the order of appearance; return how many codes there are.

    `slots` is an open hash table of 2ⁿ zeros, with more places than pieces. `firsts` gets the first piece of each code.
    """
    mask = len(slots) - 1
    known = 0
    for piece in range(len(begins)):
        begin, length = begins[piece], ends[piece] - begins[piece]
        value = np.uint64(0xCBF29CE484222325)
        for place in range(begin, begin + length):
            value = (value ^ np.uint64(data[place])) * np.uint64(0x100000001B3)
        value = (value ^ (value >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
        slot = int(np.int64((value >> np.uint64(20)) & np.uint64(mask)))
        while True:
            if slots[slot] == 0:
                slots[slot] = known + 1
                firsts[known] = piece
                codes[piece] = known
                known += 1
                break
            code = slots[slot] - 1
            other = begins[firsts[code]]
            same = ends[firsts[code]] - other == length
            step = 0
            while same and step < length:
                same = data[other + step] == data[begin + step]
                step += 1
            if same:
                codes[piece] = code
                break
            slot = (slot + 1) & mask
    return known
