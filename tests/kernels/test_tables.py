"""The tables in one arena against dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene.kernels.compile import kernel
from marlene.kernels.forest.state import MISSING_VALUE, VALUE_SHIFT, empty_table
from marlene.kernels.forest.tables import (
    PLACE_MASK,
    SMALLEST_ORDER,
    append,
    find,
    first_cell,
    free_table,
    move_table,
    next_cell,
    order_for,
)
from marlene.kernels.forest.trees import rebuild_index

N_TABLES, N_CLASSES, N_COLUMNS = 4, 2, 3
START, ORDER, USED = range(3)
FEATURE_MASK = (1 << VALUE_SHIFT) - 1
# Small numbers, numbers that differ in their upper bits only, and the largest a forest makes.
KEYS = st.one_of(
    st.integers(0, 30),
    st.integers(0, 7).map(lambda value: value << VALUE_SHIFT | 5),
    st.integers(0, 30).map(lambda feature: MISSING_VALUE << VALUE_SHIFT | feature),
    st.integers(0, 7).map(lambda bits: (bits & 3) << VALUE_SHIFT | (bits >> 2) << (VALUE_SHIFT - 1) | 5),
    st.integers(0, 2**62 - 1),
)
OPERATIONS = st.lists(st.tuples(st.integers(0, N_TABLES - 1), st.one_of(st.none(), KEYS)), max_size=250)


@kernel
def look_up(table, row, key):
    return find(table.key, table.cells, row[START], row[ORDER] - 1, key)


@kernel
def put(table, row, key, amount):
    """Count a key, new or not, as a leaf does."""
    entry = find(table.key, table.cells, row[START], row[ORDER] - 1, key)
    if entry < 0:
        needed = max(SMALLEST_ORDER, order_for(row[USED] + 1))
        if needed >= row[ORDER]:
            move_table(table, row, START, needed)
        entry = append(table.key, table.cells, row[START], row[ORDER] - 1, row[USED], key)
        row[USED] += 1
        table.listed[entry, 1] = row[USED] - 1
    for column in range(table.stat.shape[2]):
        table.stat[entry, 1, column] += amount * (column + 1)


@kernel
def probes(table, row, key):
    """Return how many cells are looked into for a key."""
    start, order = row[START], row[ORDER] - 1
    cell, count = first_cell(key, order), 1
    while True:
        place = table.cells[2 * start + cell] & PLACE_MASK
        if place == 0 or table.key[start + place - 1] == key:
            return count
        cell = next_cell(cell, key, order)
        count += 1


@kernel
def drop(table, row):
    free_table(table, row, START)
    for column in range(len(row)):
        row[column] = 0


@kernel
def look_up_missing(table, row, found):
    """Look up whether the feature of every entry is missing: the upper half of these keys is a constant."""
    for place in range(row[USED]):
        feature = table.key[row[START] + place] & FEATURE_MASK
        key = (MISSING_VALUE << VALUE_SHIFT) | feature
        found[place] = find(table.key, table.cells, row[START], row[ORDER] - 1, key)


@kernel
def smallest_order(count):
    return order_for(count)


def new_tables():
    return empty_table(1 << 13, N_CLASSES, N_COLUMNS, 0), np.zeros((N_TABLES, 3), np.int64)


def check(table, rows, model):
    blocks = [(int(row[START]), 1 << int(row[ORDER] - 1)) for row in rows if row[ORDER]]
    for order, first in enumerate(table.free):
        block = int(first) - 1
        while block >= 0:
            blocks.append((block, 1 << order))
            assert not table.stat[block : block + (1 << order)].any()
            assert not table.listed[block : block + (1 << order)].any()
            assert not table.cells[2 * block : 2 * (block + (1 << order))].any()
            block = int(table.key[block]) - 1
    covered = np.concatenate([np.zeros(0, np.int64), *(np.arange(start, start + size) for start, size in blocks)])
    assert len(np.unique(covered)) == len(covered) == table.top[0]
    assert (covered < table.top[0]).all()
    for row, counts in zip(rows, model, strict=True):
        assert row[USED] == len(counts)
        for place, (key, amount) in enumerate(counts.items()):
            entry = look_up(table, row, key)
            assert entry == row[START] + place
            assert table.key[entry] == key
            assert table.stat[entry, 1].tolist() == [amount, 2 * amount, 3 * amount]
            assert not table.stat[entry, 0].any()
            assert table.listed[entry].tolist() == [0, place]


@settings(max_examples=60)
@given(OPERATIONS, st.lists(KEYS, max_size=10))
def test_tables_do_what_dictionaries_do(operations, others):
    table, rows = new_tables()
    model = [{} for _ in range(N_TABLES)]
    for step, (which, key) in enumerate(operations):
        if key is None:
            drop(table, rows[which])
            model[which] = {}
        else:
            put(table, rows[which], key, step)
            model[which][key] = model[which].get(key, 0) + step
    check(table, rows, model)
    for row, counts in zip(rows, model, strict=True):
        for key in others:
            assert (look_up(table, row, key) >= 0) == (key in counts)
    before = table.cells.copy()
    table.cells[:] = 0
    used = rows[rows[:, ORDER] > 0]
    rebuild_index(table, used[:, START].copy(), used[:, ORDER] - 1, used[:, USED].copy())
    check(table, rows, model)
    assert (np.sort(table.cells) == np.sort(before)).all()


def test_blocks_given_back_are_used_again():
    table, rows = new_tables()
    tops = []
    for step in range(50):
        for which in range(N_TABLES):
            for key in range(100 * which):
                put(table, rows[which], 7 * key + step, 1)
        tops.append(int(table.top[0]))
        for row in rows:
            drop(table, row)
    assert tops[1:] == tops[:-1]
    check(table, rows, [{} for _ in range(N_TABLES)])


def test_a_key_is_found_however_it_was_made():
    # A product of signed numbers that overflows is undefined; where the compiler knows the upper bits it shows.
    table, rows = new_tables()
    features = np.random.default_rng(1).permutation(500)
    for feature in features:
        put(table, rows[0], (MISSING_VALUE << VALUE_SHIFT) | int(feature), 1)
    found = np.zeros(len(features), np.int64)
    look_up_missing(table, rows[0], found)
    assert (found == rows[0, START] + np.arange(len(features))).all()


@pytest.mark.parametrize("step", [1, 2, 64, 1000, 4096, 1 << VALUE_SHIFT])
def test_few_cells_are_looked_into_whatever_the_distance_of_the_keys(step):
    table, rows = new_tables()
    for i in range(1, 1001):
        put(table, rows[0], i * step, 1)
    there, absent = (
        [probes(table, rows[0], i * step) for i in which] for which in (range(1, 1001), range(1001, 10_000))
    )
    assert max(np.mean(there), np.mean(absent)) < 3
    assert max(there + absent) < 40


def test_orders():
    assert [smallest_order(count) for count in (0, 1, 2, 3, 4, 5, 8, 9, 1 << 20)] == [0, 0, 1, 2, 2, 3, 3, 4, 20]
