"""Bundles of arrays that kernels find by their addresses."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from marlene.kernels.compile import borrower
from marlene.kernels.held import describe, held, table_of

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Floats, Floats32, Ints


class Inner(NamedTuple):
    scale: "float"
    cube: "Floats"
    is_on: "bool"


class Outer(NamedTuple):
    inner: "Inner"
    chosen: "Bools"
    small: "Floats32"
    count: "int"
    places: "Ints"


describe({Inner: (0, 3, 0), Outer: (0, 1, 2, 0, 1)})


@borrower
def work(table, i, j, k):
    bundle = held(table, Outer)
    inner = bundle.inner
    if inner.is_on and bundle.chosen[i]:
        bundle.places[i] += bundle.count
    inner.cube[i, j, k] *= inner.scale
    return inner.cube[i, j, k] + bundle.small[j, i] + len(bundle.places) + inner.cube.shape[1]


def bundle_of(**changes):
    rng = np.random.default_rng(0)
    inner = Inner(-2.5, rng.random((2, 3, 4)), True)
    outer = Outer(inner, np.array([True, False]), rng.random((3, 2)).astype(np.float32), -7, np.arange(5))
    return outer._replace(**changes)


def test_a_kernel_reads_and_writes_what_the_table_tells():
    bundle = bundle_of()
    table = table_of(bundle)
    before = bundle.inner.cube.copy()
    for i, j, k in np.ndindex(2, 3, 4):
        found = work(table, i, j, k)
        expected = before[i, j, k] * -2.5
        assert bundle.inner.cube[i, j, k] == expected
        assert found == expected + bundle.small[j, i] + 5 + 3
    assert bundle.places.tolist() == [-7 * 12, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "wrong",
    [
        {"chosen": np.zeros(2, np.int8)},
        {"small": np.zeros((3, 2))},
        {"places": np.zeros((2, 2), np.int64)},
        {"places": np.zeros(10, np.int64)[::2]},
    ],
)
def test_other_arrays_are_refused(wrong):
    with pytest.raises(TypeError, match="expected an array of"):
        table_of(bundle_of(**wrong))
