"""The window of punitive neighbours against its slow version, and what it does on streams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.learners import PunitiveNeighbours
from tests.learners.streams import contents, drifting
from tests.naive.punitive_neighbours import NaivePunitiveNeighbours

NUMBERS = {
    "neighbours": st.integers(1, 5),
    "least": st.integers(2, 8),
    "most": st.integers(8, 40),
    "penalty": st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    "reduction": st.sampled_from([0.3, 0.5, 0.9]),
}


def as_dict(x):
    return {i: float(value) for i, value in enumerate(x) if value != 0}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.fixed_dictionaries(NUMBERS), st.booleans(), st.sampled_from([0.0, 0.2]))
def test_the_slow_version_does_the_same(seed, numbers, binary, unknown):
    rng = np.random.default_rng(seed)
    n, n_labels = 90, 3
    X = (rng.random((n, 6)) < 0.4).astype(float) if binary else rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.7)
    turned = np.where(np.arange(n)[:, None] < 45, X[:, :n_labels], -X[:, 3 : 3 + n_labels])
    Y = (turned + rng.normal(size=turned.shape) * 0.3 > 0.3).astype(np.int8)
    Y[rng.random(Y.shape) < unknown] = -1
    model, naive = PunitiveNeighbours(**numbers), NaivePunitiveNeighbours(n_labels, **numbers)
    found = model.test_then_train(X, Y)
    for t, (x, y) in enumerate(zip(X, Y.tolist(), strict=True)):
        expected = naive.predict(as_dict(x))
        assert np.array_equal(found[t], np.nan_to_num(expected, nan=0.5)), t
        naive.learn(as_dict(x), y)
    assert model.counts()["drifts"] == naive.shortened
    assert contents(model) == contents(type(model).from_state(*model.state()))


def test_the_window_follows_a_drift():
    rng = np.random.default_rng(1)
    X = rng.random((1200, 3))
    Y = X[:, :2] > 0.5
    Y[600:] = ~Y[600:]
    Y = Y.astype(np.int8)
    model = PunitiveNeighbours()
    found = model.test_then_train(X, Y) > 0.5
    right = (found == Y).all(axis=1)
    assert right[300:600].mean() > 0.8
    assert right[900:].mean() > 0.8
    kept = PunitiveNeighbours(penalty=1e6, least=500)
    slow = (kept.test_then_train(X, Y) > 0.5) == Y
    assert right[600:900].mean() > slow.all(axis=1)[600:900].mean() + 0.2
    assert model.counts()["drifts"] > 0


def test_examples_that_mislead_are_removed():
    X, Y = drifting(300, 4)
    punished, kept = PunitiveNeighbours(penalty=0.0), PunitiveNeighbours(penalty=1e6)
    for model in (punished, kept):
        model.learn_many(X, Y)
    assert len(punished.state()[1]["size"]) < len(kept.state()[1]["size"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"neighbours": 0}, "neighbours must be a whole number from 1 to 1000"),
        ({"most": 1}, "most must be a whole number from 2 to 5000"),
        ({"least": 60, "most": 50}, "least must be a whole number from 1 to 50"),
        ({"penalty": -1}, "penalty must be a number from 0 to 1e9"),
        ({"reduction": 1.0}, "reduction must be a number above 0 and at most 0.9"),
    ],
)
def test_settings_that_are_refused(given, said):
    with pytest.raises(MarleneError, match=said):
        PunitiveNeighbours(**given)
