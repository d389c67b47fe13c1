"""Shorter ways of compiling: the same results, and Numba is left as it was."""

import numpy as np
from numba.core import base
from numba.core import ir as numba_ir
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import BaseContext

from marlene.kernels import shortcuts
from marlene.kernels.compile import borrower, inlined, subkernel

PLACES = [
    (BaseFunction, "get_call_type"),
    (BaseContext, "resolve_getattr"),
    (base.BaseContext, "refresh"),
    (numba_ir.Inst, "_rec_list_vars"),
]
USUAL = [getattr(owner, name) for owner, name in PLACES]


def mixture():
    """Return a new kernel, not yet compiled, of most that kernels do with arrays."""

    @inlined
    def total(row):
        found = 0.0
        for value in row:
            found += value
        return found

    @subkernel
    def part(table, i, start, stop):
        return total(table[i, start:stop]) + table[i][-1] + len(table[:, start]) + table[i, 1:-1:2].shape[0]

    @borrower
    def work(table, small, counts, i):
        counts[i] += counts[3 - i] // 3 - counts[0] % 5
        small[3 - i, ::2][0] = table[-1, i] ** 2
        if counts[i] > 2:
            table[i, 0] = min(table[i, 1], small[i, 0]) / max(counts[i], 1)
        return part(table, i, 1, 4), small[i].shape[0] + table.shape[1], counts[i] == counts[i // 2]

    return work


def results(work):
    rng = np.random.default_rng(0)
    table, small = rng.normal(size=(4, 6)), rng.random((4, 3)).astype(np.float32)
    counts = np.array([7, -4, 9, 2])
    found = [work(table, small, counts, i) for i in range(4)]
    return found, table.tobytes(), small.tobytes(), counts.tobytes()


def test_results_are_the_same_to_the_bit_with_and_without(monkeypatch):
    shorter = results(mixture())
    monkeypatch.setattr(shortcuts, "SHORTCUTS", [])
    assert results(mixture()) == shorter


def test_an_operator_is_resolved_once(monkeypatch):
    asked = []

    def counted(*args):
        asked.append(args)
        return usual(*args)

    usual = shortcuts._resolve_call
    results(mixture())
    monkeypatch.setattr(shortcuts, "_resolve_call", counted)
    results(mixture())
    assert len(asked) == 0


def test_numba_is_left_as_it_was():
    results(mixture())
    assert [getattr(owner, name) for owner, name in PLACES] == USUAL
    way = shortcuts.shortcuts()
    way.__enter__()
    assert [getattr(owner, name) for owner, name in PLACES] != USUAL
    assert not way.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert [getattr(owner, name) for owner, name in PLACES] == USUAL
