"""Arrays that take memory where they are used."""

import mmap

import numpy as np
import pytest

from marlene._common import resources
from marlene._common.resources import memory_mb, zeros_on_demand


@pytest.mark.parametrize("worth", [0, 1 << 40])
def test_zeros_like_any_others(worth, monkeypatch):
    monkeypatch.setattr(resources, "WORTH_PAGES", worth)
    found = zeros_on_demand((3, 4, 5), np.float32)
    assert found.shape == (3, 4, 5)
    assert found.dtype == np.float32
    assert found.flags.c_contiguous
    assert found.flags.writeable
    assert not found.any()
    found[1] = 2
    assert found.sum() == 40


def test_what_is_not_used_takes_no_memory():
    before = memory_mb()
    found = zeros_on_demand((1000, 50_000), np.float64)
    found[:, :5000] = 1
    assert found.nbytes == 400e6
    assert memory_mb() - before < (100 if hasattr(mmap, "MADV_NOHUGEPAGE") else 450)
