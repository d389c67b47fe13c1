"""Logarithm and exponential without branches."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from marlene.kernels.compile import kernel
from marlene.kernels.smooth import exp_of, log_of, probability, within

UNITS = 3
"""Units of the last place by which results may be wrong."""


@kernel
def write(x, logs, exps):
    """Write the logarithms of e to the power of x, and the latter."""
    for i in range(len(x)):
        exps[i] = exp_of(x[i])
    for i in range(len(x)):
        logs[i] = log_of(exps[i])


@kernel
def log_probability(odds, bound):
    return log_of(probability(within(odds, bound)))


def results(x):
    logs, exps = np.empty_like(x), np.empty_like(x)
    write(x, logs, exps)
    return logs, exps


@given(st.floats(-700, 700))
def test_they_are_exact_to_a_few_units(x):
    (log,), (exp,) = results(np.array([x]))
    assert abs(exp - math.exp(x)) <= UNITS * math.ulp(math.exp(x))
    assert abs(log - math.log(exp)) <= UNITS * math.ulp(math.log(exp)) + 1e-18


def test_they_are_exact_where_the_result_is_simple():
    logs, exps = results(np.array([0.0]))
    assert (logs[0], exps[0]) == (0.0, 1.0)


def test_one_number_gives_the_bits_of_many():
    x = np.random.default_rng(1).uniform(-40, 40, 101)
    logs, exps = results(x)
    for i in range(len(x)):
        assert results(x[i : i + 1]) == (logs[i], exps[i])


def test_probabilities_keep_their_bounds():
    for odds in (-1e300, -40.0, -1.0, 0.0, 2.0, 1e300):
        expected = -math.log1p(math.exp(-min(max(odds, -30.0), 30.0)))
        assert math.isclose(log_probability(odds, 30.0), expected, rel_tol=1e-9, abs_tol=1e-15)
