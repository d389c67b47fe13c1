"""The first half of a stream as an archive for the second."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.streams import Stream
from marlene.streams._matrix import dense
from marlene.streams.archives import ARCHIVES


def numbered(examples, labels=3):
    """Return a sparse stream whose examples can be told apart by their features and by their labels."""
    Y = (np.arange(1, examples + 1)[:, None] >> np.arange(labels)) & 1
    return Stream.from_arrays(sp.csr_array(np.arange(1.0, examples + 1)[:, None]), Y, name="numbers")


@pytest.mark.parametrize("kind", ARCHIVES)
@given(st.integers(2, 30))
def test_together_the_halves_are_the_stream(kind, examples):
    stream = numbered(examples)
    archive, target = stream.halves(kind)
    assert len(archive) == examples // 2
    assert np.array_equal(np.concatenate([dense(archive.X), dense(target.X)]), dense(stream.X))
    assert archive.features == target.features == stream.features
    assert target.labels == stream.labels
    assert np.array_equal(target.Y, stream.Y[examples // 2 :])
    if kind != "noise":
        assert np.array_equal(archive.Y, stream.Y[: examples // 2])


def test_names_say_what_was_done():
    archives = {kind: numbered(8).halves(kind, seed=5) for kind in ARCHIVES}
    assert {target.name for _, target in archives.values()} == {"numbers, second half"}
    assert {kind: archive.name for kind, (archive, _) in archives.items()} == {
        "same": "numbers, first half",
        "renamed": "numbers, first half, renamed",
        "noise": "numbers, first half, noise (seed 5)",
    }
    assert archives["same"][0].labels == archives["noise"][0].labels == ("y0", "y1", "y2")
    assert archives["renamed"][0].labels == ("old y0", "old y1", "old y2")


def test_noise_is_the_same_rows_in_an_order_of_the_seed():
    stream = numbered(100, labels=7)
    orders = [stream.halves("noise", seed)[0].Y.tolist() for seed in (1, 2, 1)]
    assert orders[0] == orders[2] != orders[1]
    assert orders[0] != stream.Y[:50].tolist()
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(stream.Y[:50].tolist())


def test_each_half_knows_its_drifts():
    stream = dataclasses.replace(numbered(9), drifts={"y0": (2, 4, 7), "y1": (3, 5), "y2": ()})
    archive, target = stream.halves("renamed")
    assert archive.drifts == {"old y0": (2,), "old y1": (3,), "old y2": ()}
    assert target.drifts == {"y0": (3,), "y1": (1,), "y2": ()}
    assert stream.halves("noise")[0].drifts == {}


def test_what_is_refused():
    with pytest.raises(MarleneError, match="numbers: halves need at least 2 examples, not 1"):
        numbered(1).halves()
    with pytest.raises(MarleneError, match="archive must be one of same, renamed, noise, not 'other'"):
        numbered(4).halves("other")
    both = Stream.from_arrays([[1.0], [2.0]], [[1, 0], [0, 1]], labels=["spam", "old spam"])
    with pytest.raises(MarleneError, match="already has a label named 'old spam'"):
        both.halves("renamed")
    assert both.halves()[0].labels == both.labels
