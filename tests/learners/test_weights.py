"""Weights of examples."""

import math

import numpy as np
import pytest

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.learners import METHODS, create
from tests.learners.streams import drifting


def contents(model):
    header, arrays = model.state()
    return header, {name: array.tobytes() for name, array in arrays.items()}


def singly(model, X, Y, weights, stream=None):
    for x, y, w in zip(X.tolist(), Y.tolist(), weights, strict=True):
        model.learn_one(dict(enumerate(x)), dict(enumerate(map(bool, y))), w=w, stream=stream)


def test_the_weight_1_changes_nothing_and_0_learns_nothing():
    X, Y = drifting(200)
    plain, ones, holes = Marlene(), Marlene(), Marlene()
    plain.learn_many(X[::2], Y[::2])
    ones.learn_many(X[::2], Y[::2], w=np.ones(100))
    holes.learn_many(X, Y, w=np.arange(200) % 2 == 0)
    assert contents(ones) == contents(plain)
    assert contents(holes) == contents(plain)
    holes.learn_one({"new": 3.0}, {"late": True}, w=0)
    assert "late" in holes.predict_one({0: 1.0})
    np.testing.assert_array_equal(
        [p[True] for label, p in holes.predict_proba_one(dict(enumerate(X[1]))).items() if label != "late"],
        plain.predict_proba_many(X[1:2])[0],
    )


def test_one_by_one_or_in_blocks():
    X, Y = drifting(300)
    weights = np.random.default_rng(0).choice([0.0, 0.1, 1.0, 2.5, 1e9], 300)
    one, many = Marlene(), Marlene()
    singly(one, X[:100], Y[:100], weights[:100], "archive")
    singly(one, X[100:], Y[100:], weights[100:])
    many.learn_many(X[:100], Y[:100], weights[:100], "archive")
    many.learn_many(X[100:180], Y[100:180], w=weights[100:180])
    many.learn_many(X[180:], Y[180:], w=list(weights[180:]))
    np.testing.assert_array_equal(one.predict_proba_many(X), many.predict_proba_many(X))
    assert np.isfinite(one.predict_proba_many(X)).all()


@pytest.mark.parametrize("base", ["mixed", "naive-bayes", "linear"])
def test_more_weight_teaches_more(base):
    X, Y = drifting(120)
    x, y = dict(enumerate(X[100])), dict(enumerate(map(bool, Y[100])))
    said = []
    for w in (0, 0.2, 1, 6):
        model = Marlene(base=base)
        model.learn_many(X[:100], Y[:100])
        model.learn_one(x, y, w=w)
        said.append([p[truth] for p, truth in zip(model.predict_proba_one(x).values(), y.values(), strict=True)])
    assert (np.diff(np.mean(said, axis=1)) > 0).all()


def test_examples_of_large_weight_decide():
    rng = np.random.default_rng(3)
    X = (rng.random((600, 8)) < 0.3).astype(float)
    truth = X[:, :2].astype(int)
    lies = rng.random(600) < 0.5
    Y = np.where(lies[:, None], 1 - truth, truth)
    model = Marlene()
    model.learn_many(X[:500], Y[:500], w=np.where(lies[:500], 0.05, 1.0))
    assert (model.predict_many(X[500:]) == truth[500:]).mean() > 0.95


@pytest.mark.parametrize(
    ("w", "said"),
    [
        (-1.0, "w must be from 0 to 1e\\+09, not -1"),
        (math.nan, "w must be from 0 to 1e\\+09, not nan"),
        (math.inf, "w must be from 0 to 1e\\+09, not inf"),
        ("archive", "w must be a number, or one for each example, not 'archive'"),
        (None, "w must be"),
        ([1.0, 2.0], r"w has shape \(2,\), expected one weight for each of 1 examples"),
        ([[1.0]], r"w has shape \(1, 1\), expected one weight for each of 1 examples"),
    ],
)
def test_weights_that_are_refused(w, said):
    model = Marlene()
    model.learn_one({0: 1.0}, {"a": True})
    before = contents(model)
    with pytest.raises(MarleneError, match=said):
        model.learn_one({0: 1.0, "new": 2.0}, {"a": True, "b": False}, w=w)
    with pytest.raises(MarleneError, match=said):
        model.learn_many([[1.0]], [[1]], w=w)
    assert contents(model) == before


@pytest.mark.parametrize(
    "method", [name for name in METHODS if name not in ("marlene", "majority", "prior", "coin", "vw")]
)
def test_learners_without_weights_say_so(method):
    model, plain = create(method), create(method)
    with pytest.raises(MarleneError, match=r"takes no weights of examples: w must be 1 or 0, not 0\.5"):
        model.learn_one({0: 1.0}, {"a": True}, w=0.5)
    for each in (model, plain):
        each.learn_one({0: 1.0}, {"a": True, "b": False})
    model.learn_one({0: 2.0}, {"a": False, "b": True}, w=0)
    assert contents(model) == contents(plain)
