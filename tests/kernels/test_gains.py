"""The bound that spares most of the work of a split attempt."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marlene.kernels.compile import kernel
from marlene.kernels.forest.gains import cannot_exceed, entropy, merit


@kernel
def gain_of(before, branches):
    return merit(before, branches, 2)


@kernel
def surely_below(least, change, branches):
    return cannot_exceed(least, change, branches)


@kernel
def bits_of(counts):
    return entropy(counts, 0)


def both_of(branches):
    return bits_of(branches.sum(axis=0, keepdims=True))


COUNTS = st.one_of(st.integers(0, 5), st.integers(0, 10_000)).map(float) | st.floats(0, 1e4)
BRANCHES = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.lists(COUNTS, min_size=n, max_size=n), min_size=2, max_size=2).map(np.array)
)


@given(BRANCHES, st.floats(-0.5, 0.5), st.floats(0, 1))
def test_what_is_left_out_gains_less(branches, change, least):
    gain = gain_of(both_of(branches) + change, branches)
    if surely_below(least, change, branches):
        assert gain < least


@given(BRANCHES, st.floats(-0.5, 0.5))
def test_the_bound_is_never_below_the_gain(branches, change):
    gain = gain_of(both_of(branches) + change, branches)
    assert not surely_below(gain, change, branches)


@given(BRANCHES)
def test_nothing_is_left_out_before_two_features_are_known(branches):
    assert not surely_below(-math.inf, 0.0, branches)


@given(BRANCHES)
def test_nothing_is_left_out_where_values_were_missing(branches):
    assert not surely_below(1.0, math.inf, branches)


@pytest.mark.parametrize(("ones", "left_out"), [((10.0, 10.0), True), ((10.0, 13.0), True), ((10.0, 60.0), False)])
def test_a_feature_that_tells_little_is_left_out(ones, left_out):
    ones = np.array(ones)
    assert surely_below(0.05, 0.0, np.array([100.0 - ones, ones])) == left_out
