"""The banks against plain Python, on rows with sparse and dense numbers, binary and nominal features, and gaps."""

import numpy as np
import pytest

from marlene.banks import LinearBank, NaiveBayesBank
from tests.naive.banks import Logistic, NaiveBayes, Scales

KINDS = [0, 0, 2, 2, 4, 2]
"""A dense and a sparse number, two binary features, one of four values (inputs 4 to 6), and one that is never there."""


def examples(n, seed):
    rng = np.random.default_rng(seed)
    X = np.zeros((n, 6))
    X[:, 0] = rng.normal(3, 2, n)
    X[:, 1] = rng.exponential(2, n) * (rng.random(n) < 0.3)
    X[:, 2:4] = rng.random((n, 2)) < 0.4
    X[:, 4] = rng.integers(0, 4, n)
    y = (X[:, 0] + X[:, 1] + 2 * X[:, 2] - (X[:, 4] == 2) + rng.normal(size=n) > 4).astype(int)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, y, rng.poisson(1.5, n)


def as_inputs(x):
    """Return an example as the inputs it is made of."""
    row = {}
    for feature, value in enumerate(x):
        if feature == 4:
            codes = [1, 2, 3] if np.isnan(value) else [int(value)] if value else []
            row |= {3 + code: float("nan") if np.isnan(value) else 1.0 for code in codes}
        elif value != 0:
            row[feature if feature < 4 else 7] = float(value)
    return row


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("seed", "offset"), [(0, 0.0), (1, 0.0), (2, 0.0), (3, 1e5)])
def test_naive_bayes(seed, offset, weighted):
    X, y, weights = examples(150, seed)
    X[:, 0] += offset
    bank = NaiveBayesBank(smoothing=0.3, pseudo_examples=4.0, weighted=weighted)
    bank.add_features(KINDS)
    ids = bank.add(2)
    scales = Scales([0, 1])
    twins = [NaiveBayes(scales, 0.3, 4.0, weighted) for _ in range(2)]
    for t in range(len(X)):
        row = as_inputs(X[t])
        assert bank.votes(X[t]) == pytest.approx(np.array([twin.vote(row) for twin in twins]), rel=1e-6, abs=1e-9)
        chosen = [0, 1] if t % 3 else [0]
        truth = [y[t], 1 - y[t]][: len(chosen)]
        bank.learn(ids[chosen], X[t], truth, weights[t])
        if weights[t] == 0:  # nothing is learnt, not even of the inputs
            continue
        scales.observe(row)
        for i, label in zip(chosen, truth, strict=True):
            twins[i].learn(row, label, weights[t])
    assert 0.05 < bank.votes(X[0])[0, 1] < 0.95 or len(np.unique(bank.votes(X[1]))) == 4


@pytest.mark.parametrize("seed", range(3))
def test_linear(seed):
    X, y, weights = examples(150, seed)
    X[::9, 0] = 0.0  # a value like others
    bank = LinearBank(rate=0.7, start=0.5, largest_weight=3.0)
    bank.add_features(KINDS)
    ids = bank.add(2)
    scales = Scales([0, 1])
    twins = [Logistic(scales, 0.7, 0.5, 3.0) for _ in range(2)]
    for t in range(len(X)):
        row = as_inputs(X[t])
        assert bank.votes(X[t]) == pytest.approx(np.array([twin.vote(row) for twin in twins]), rel=1e-6, abs=1e-9)
        chosen = [0, 1] if t % 3 else [0]
        truth = [y[t], 1 - y[t]][: len(chosen)]
        bank.learn(ids[chosen], X[t], truth, weights[t])
        if weights[t] == 0:
            continue
        slopes = [twins[i].slope(row, label, weights[t]) for i, label in zip(chosen, truth, strict=True)]
        scales.observe(row)
        for i, slope in zip(chosen, slopes, strict=True):
            twins[i].learn(row, slope)


def test_what_is_kept_of_absent_inputs_is_close_to_adding_them_up_each_time():
    X, y, _ = examples(300, 5)
    X = np.nan_to_num(X, nan=1.0)
    bank = NaiveBayesBank()
    bank.add_features(KINDS)
    ids = bank.add()
    twin = NaiveBayes(Scales([0, 1]), 0.1, 10.0, weighted=False)
    differences = []
    for t in range(len(X)):
        row = as_inputs(X[t])
        if t > 100:
            twin.refreshed = [0, 0]
            fresh = [sum(np.log(twin.lacking(c, slot)) for slot in twin.scales.met) for c in (0, 1)]
            twin.absent = fresh
            differences.append(abs(bank.votes(X[t])[0, 1] - twin.vote(row)[1]))
        bank.learn(ids, X[t], y[t])
        twin.scales.observe(row)
        twin.learn(row, y[t], 1)
    assert 0 < max(differences) < 0.03
