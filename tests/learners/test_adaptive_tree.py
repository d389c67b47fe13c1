"""MLHAT against its slow version, and what it does on streams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.kernels.bagging import draw_weights
from marlene.learners import AdaptiveTree
from tests.learners.streams import contents
from tests.naive.adaptive_tree import NaiveAdaptiveTree

NUMBERS = {
    "grace_period": st.integers(10, 30),
    "delta": st.sampled_from([0.01, 0.3, 0.9]),
    "tie_threshold": st.sampled_from([0.0, 0.5]),
    "cardinality": st.sampled_from([0, 20, 60]),
    "entropy": st.sampled_from([0.0, 0.5]),
    "neighbours": st.integers(1, 4),
    "window": st.integers(5, 20),
    "members": st.integers(1, 3),
    "learning_rate": st.sampled_from([0.05, 0.3]),
    "patience": st.integers(5, 40),
    "significance": st.sampled_from([0.05, 0.5]),
}

QUICK = {"grace_period": 50, "delta": 0.05, "patience": 50, "cardinality": 100}


def turning(n, seed, binary):
    """Return a stream whose labels follow its inputs in another way after half of it."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 5)) < 0.4).astype(float) if binary else rng.normal(size=(n, 5)).round(3)
    Y = X[:, :2] > 0.3
    Y[n // 2 :] = ~Y[n // 2 :]
    return X, (Y ^ (rng.random(Y.shape) < 0.05)).astype(np.int8)


def assert_the_same(X, Y, binary, numbers, seed=1):
    """Compare the tree with its slow version, example by example; return the tree."""
    model = AdaptiveTree(**numbers, features="binary" if binary else "numeric", seed=seed)
    naive = NaiveAdaptiveTree(Y.shape[1], binary, **numbers)
    found = model.test_then_train(X, Y)
    times = np.empty((len(X), 1 + numbers["members"]), np.int64)
    draw_weights(model._keys, 0, 1.0, times)
    learnt = 0
    for t, (x, y) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
        expected = np.nan_to_num(naive.predict(x), nan=0.5)
        assert np.array_equal(found[t], expected), t
        naive.learn(x, y, times[learnt].tolist())
        learnt += max(y) >= 0
    assert model.counts() == {"models": len(naive.root.leaves()), "drifts": naive.switches}
    return model


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.fixed_dictionaries(NUMBERS), st.booleans(), st.sampled_from([0.0, 0.2]))
def test_the_slow_version_does_the_same(seed, numbers, binary, unknown):
    X, Y = turning(260, seed, binary)
    Y[np.random.default_rng(seed).random(Y.shape) < unknown] = -1
    model = assert_the_same(X, Y, binary, numbers, seed)
    again = type(model).from_state(*model.state())
    assert contents(again) == contents(model)
    np.testing.assert_array_equal(again.predict_proba_many(X), model.predict_proba_many(X))


def test_the_slow_version_replaces_branches_too():
    small = {"members": 1, "window": 20, "neighbours": 3, "entropy": 0.1, "learning_rate": 0.1, "tie_threshold": 0.05}
    X, Y = turning(1600, 3, binary=True)
    model = assert_the_same(X, Y, True, QUICK | small | {"cardinality": 1e6, "significance": 0.2})
    assert model.counts()["drifts"] > 0


def test_it_splits_and_replaces_branches_after_a_drift():
    X, Y = turning(6000, 1, binary=True)
    model = AdaptiveTree(**QUICK)
    right = ((model.test_then_train(X, Y) > 0.5) == Y).all(axis=1)
    assert model.counts()["drifts"] > 0
    assert right[2000:3000].mean() > 0.8
    assert right[5000:].mean() > 0.8


def test_it_does_not_grow_beyond_its_leaves():
    X, Y = turning(3000, 2, binary=False)
    sizes = [AdaptiveTree(**QUICK, max_leaves=most) for most in (1, 3, 100)]
    for model in sizes:
        model.learn_many(X, Y)
    found = [model.counts()["models"] for model in sizes]
    assert found[0] == 1
    assert found[1] <= 4  # a leaf becomes two, and an alternate tree begins with one
    assert found[2] > found[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"grace_period": 0}, "grace_period must be a number above 0 and at most 1e9"),
        ({"delta": 1.0}, "delta must be a number between 0 and 1"),
        ({"entropy": -1}, "entropy must be a number from 0 to 1e9"),
        ({"neighbours": 0}, "neighbours must be a whole number from 1 to 1000"),
        ({"members": 1.5}, "members must be a whole number from 1 to 1000"),
    ],
)
def test_settings_that_are_refused(given, said):
    with pytest.raises(MarleneError, match=said):
        AdaptiveTree(**given)
