"""The objects of JSON files, as a list of leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel, subkernel
from marlene.kernels.reading.decimals import ABSENT, UNDECIDED, read_number

if TYPE_CHECKING:
    from marlene._common.arrays import Array, Codes, Floats, Int32s, Ints

NULL, TRUTH, NUMBER, SLOW, STRING, ESCAPED, LIST = range(7)
"""Types of leaves: null; true or false; numbers, read or left to Python; strings without and with escapes; lists."""
GOOD, WRONG, TWICE, DEEP = range(4)
"""What is wrong with an object: no JSON, a key twice, or too many objects in one another."""
DEEPEST = 64


class Leaves(NamedTuple):
    """The values of all objects in the order of the file: where each belongs, what it is, and where it stands."""

    row: Int32s
    node: Int32s
    type: Array
    number: Floats
    begin: Ints
    end: Ints


class Nodes(NamedTuple):
    """The different paths of keys.

    Attributes
    ----------
    slots
        An open hash table of 2ⁿ places: 1 + the number of a node, or 0.
    hashes, parent, begin, end
        For every node: the hash of its path, the node above it (-1: none), and where its key stands first.
    last
        The last row that had it.
    """

    slots: Int32s
    hashes: Array
    parent: Int32s
    begin: Ints
    end: Ints
    last: Int32s


@inlined
def after_space(data: Codes, position: int) -> int:
    """Return the position of the next sign that is no white space."""
    while position < len(data) and (
        data[position] == 32 or data[position] == 10 or data[position] == 13 or data[position] == 9
    ):
        position += 1
    return position


@subkernel
def after_string(data: Codes, position: int) -> tuple[int, bool]:
    """Return the position of the quote that ends a string, or -1, and whether there is an escape before it."""
    escaped = False
    end = len(data)
    while position < end:
        code = data[position]
        if code == 34:
            return position, escaped
        if code == 92:
            escaped = True
            position += 1
        elif code < 32:
            return -1, escaped
        position += 1
    return -1, escaped


@subkernel
def after_list(data: Codes, position: int) -> int:
    """Return the position after the list that begins here, or -1; Python looks at what is in it."""
    depth = 0
    end = len(data)
    while position < end:
        code = data[position]
        if code == 34:
            position, _ = after_string(data, position + 1)
            if position < 0:
                return -1
        elif code in (91, 123):
            depth += 1
        elif code in (93, 125):
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return -1


@subkernel
def is_word(data: Codes, position: int, a: int, b: int, c: int, d: int) -> bool:
    """Tell whether four letters stand here."""
    if position + 4 > len(data):
        return False
    same = data[position] == a and data[position + 1] == b and data[position + 2] == c and data[position + 3] == d
    return bool(same)


@subkernel
def node_of(data: Codes, begin: int, end: int, parent: int, nodes: Nodes, known: int) -> int:
    """Return the node of a key; `known` if it is new."""
    slots, hashes = nodes.slots, nodes.hashes
    value = np.uint64(0xCBF29CE484222325) if parent < 0 else hashes[parent]
    for place in range(begin, end):
        value = (value ^ np.uint64(data[place])) * np.uint64(0x100000001B3)
    value = (value ^ (value >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    mask = len(slots) - 1
    place = int(np.int64((value >> np.uint64(20)) & np.uint64(mask)))
    while slots[place] != 0:
        node = int(slots[place]) - 1
        if hashes[node] == value:
            return node
        place = (place + 1) & mask
    slots[place] = known + 1
    hashes[known] = value
    nodes.parent[known] = parent
    nodes.begin[known] = begin
    nodes.end[known] = end
    nodes.last[known] = -1
    return known


@subkernel
def literal(data: Codes, position: int) -> tuple[int, int, float]:
    """Return the end of true, false, null or NaN, its type, and its number; -1 if none stands here."""
    if is_word(data, position, 116, 114, 117, 101):
        return position + 4, TRUTH, 1.0
    if is_word(data, position, 102, 97, 108, 115) and position + 5 <= len(data) and data[position + 4] == 101:
        return position + 5, TRUTH, 0.0
    if is_word(data, position, 110, 117, 108, 108):
        return position + 4, NULL, 0.0
    if position + 3 <= len(data) and data[position] == 78 and data[position + 1] == 97 and data[position + 2] == 78:
        return position + 3, NULL, 0.0
    return -1, NULL, 0.0


@subkernel
def json_number(data: Codes, position: int) -> tuple[int, int, float]:
    """Return the end of a number, its type and its value; -1 if it is not written as in JSON."""
    value, end, state = read_number(data, position, len(data))
    digit = position + (data[position] == 45)
    if state == ABSENT or not 48 <= data[digit] <= 57:
        return -1, NUMBER, 0.0
    if data[digit] == 48 and digit + 1 < end and 48 <= data[digit + 1] <= 57:
        return -1, NUMBER, 0.0
    for place in range(digit, end):
        if data[place] == 46 and (place + 1 == end or not 48 <= data[place + 1] <= 57):
            return -1, NUMBER, 0.0
    return end, SLOW if state == UNDECIDED else NUMBER, value


@subkernel
def read_leaf(data: Codes, position: int, leaves: Leaves, used: int) -> int:
    """Read a value that is no object; return where it ends, or -1."""
    code = data[position]
    leaves.begin[used] = position
    leaves.number[used] = 0.0
    if code == 34:
        end, escaped = after_string(data, position + 1)
        leaves.type[used] = ESCAPED if escaped else STRING
        leaves.begin[used] = position + 1
        leaves.end[used] = end
        return end + 1 if end >= 0 else -1
    if code == 91:
        end = after_list(data, position)
        leaves.type[used] = LIST
    else:
        number = code == 45 or 48 <= code <= 57
        end, kind, value = json_number(data, position) if number else literal(data, position)
        leaves.type[used] = kind
        leaves.number[used] = value
    leaves.end[used] = end
    return end


@subkernel
def key_end(data: Codes, position: int) -> tuple[int, int]:
    """Return where the key that begins here ends, and where its value begins; -1 and the place of what is wrong."""
    end = len(data)
    if position >= end or data[position] != 34:
        return -1, position
    quote, _ = after_string(data, position + 1)
    if quote < 0:
        return -1, position
    position = after_space(data, quote + 1)
    if position >= end or data[position] != 58:
        return -1, position
    position = after_space(data, position + 1)
    return (quote, position) if position < end else (-1, position)


@subkernel
def read_member(
    data: Codes, position: int, row: int, parent: int, leaves: Leaves, nodes: Nodes, counts: Ints
) -> tuple[int, int, int]:
    """Read a key and, unless it is an object, its value; return what is wrong, the place, and the node."""
    quote, value = key_end(data, position)
    if quote < 0:
        return WRONG, value, -1
    node = node_of(data, position + 1, quote, parent, nodes, counts[2])
    counts[2] = max(counts[2], node + 1)
    if nodes.last[node] == row:
        return TWICE, position + 1, -1
    nodes.last[node] = row
    if data[value] == 123:
        return GOOD, value, node
    used = counts[1]
    end = read_leaf(data, value, leaves, used)
    if end < 0:
        return WRONG, value, -1
    leaves.row[used] = row
    leaves.node[used] = node
    counts[1] = used + 1
    return GOOD, end, -1


@subkernel
def read_object(
    data: Codes, position: int, row: int, leaves: Leaves, nodes: Nodes, stack: Ints, counts: Ints
) -> tuple[int, int]:
    """Read an object and all objects in it; return what is wrong, and where it ends or what is wrong stands."""
    if data[position] != 123:
        return WRONG, position
    depth = 0
    stack[0] = -1
    fresh = True  # just after an opening brace
    position += 1
    while depth >= 0:
        position = after_space(data, position)
        if position >= len(data):
            return WRONG, position
        if data[position] == 125:
            depth -= 1
            position += 1
            fresh = False
            continue
        if not fresh:
            if data[position] != 44:
                return WRONG, position
            position = after_space(data, position + 1)
        wrong, position, node = read_member(data, position, row, stack[depth], leaves, nodes, counts)
        if wrong != GOOD:
            return wrong, position
        fresh = node >= 0
        if fresh:
            depth += 1
            if depth == DEEPEST:
                return DEEP, position
            stack[depth] = node
            position += 1
    return GOOD, position


@kernel
def read_objects(
    data: Codes, position: int, leaves: Leaves, nodes: Nodes, starts: Ints, stack: Ints, counts: Ints
) -> tuple[int, int]:
    """Read objects with white space between them, or a list of them; return what is wrong, and where.

    `starts` gets where each object begins; `counts` the numbers of objects, leaves and nodes. `stack` is work space.
    """
    end = len(data)
    position = after_space(data, position)
    in_list = position < end and data[position] == 91
    if in_list:
        position = after_space(data, position + 1)
        if position < end and data[position] == 93:  # an empty list
            position = after_space(data, position + 1)
            return (GOOD if position == end else WRONG), position
    while position < end:
        starts[counts[0]] = position
        wrong, position = read_object(data, position, counts[0], leaves, nodes, stack, counts)
        if wrong != GOOD:
            return wrong, position
        counts[0] += 1
        position = after_space(data, position)
        if in_list and position < end:
            separator = data[position]
            position = after_space(data, position + 1)
            if separator == 93:
                return (GOOD if position == end else WRONG), position
            if separator != 44:
                return WRONG, position - 1
    return (WRONG if in_list else GOOD), end
