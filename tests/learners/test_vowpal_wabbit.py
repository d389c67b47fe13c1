"""Vowpal Wabbit as a learner: the same as the package itself, for any input, and refused where it is not."""

import copy
import importlib
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from vowpalwabbit import Workspace

from marlene._common import extras
from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.learners import METHODS, VowpalWabbit, create
from marlene.streams import Feature, Stream
from tests.learners.streams import dicts, drifting, learn_singly, truths


def stream(n=200, seed=0):
    X, Y = drifting(n, 4, seed)
    X[np.abs(X) < 0.4] = 0.0
    return X, Y


def told(x, y):
    """Return an example as Vowpal Wabbit reads it, with a label that is always true."""
    true = ",".join(str(label) for label in [*np.flatnonzero(y == 1), len(y)])
    return f"{true} | " + " ".join(f"{i}:{float(value)!r}" for i, value in enumerate(x) if value)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_it_is_the_package_itself(loss):
    X, Y = stream()
    direct = Workspace(f"--multilabel_oaa 5 --loss_function {loss} --quiet")
    expected = np.zeros(Y.shape, np.int8)
    for t, (x, y) in enumerate(zip(X, Y, strict=True)):
        expected[t, [label for label in direct.predict(told(x, y)) if label < 4]] = 1
        direct.learn(told(x, y))
    model = VowpalWabbit(loss)
    probabilities, predictions = model.decide_then_train(X, Y)
    assert np.array_equal(predictions, expected)
    assert np.array_equal(predictions, probabilities > 0.5)
    assert len(np.unique(probabilities)) > 400
    assert model.counts() == {"models": 4, "drifts": 0}


def test_examples_without_labels_are_learnt():
    X, _ = stream()
    model = VowpalWabbit()
    model.learn_many(X[:20], np.ones((20, 1), np.int8))
    model.learn_many(X, np.zeros((len(X), 1), np.int8))
    assert not model.predict_many(X).any()


def test_settings_reach_it():
    X, Y = stream()
    found = [VowpalWabbit(**given).test_then_train(X, Y) for given in ({}, {"learning_rate": 0.1}, {"bits": 3})]
    assert not np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_blocks_of_any_size_and_all_forms_are_the_same():
    X, Y = stream()
    models = [VowpalWabbit() for _ in range(5)]
    whole = models[0].test_then_train(X, Y)
    parts = [models[1].test_then_train(X[a:b], Y[a:b]) for a, b in ((0, 1), (1, 90), (90, 90), (90, 200))]
    assert np.array_equal(np.concatenate(parts), whole)
    models[2].learn_many(sp.csr_array(X), Y)
    models[3].learn_many(pd.DataFrame(X), pd.DataFrame(Y))
    learn_singly(models[4], X, Y)
    found = [model.predict_proba_many(X) for model in models]
    for other in found[1:]:
        assert np.array_equal(other, found[0])
    assert np.array_equal(models[0].predict_proba_many(X), found[0])  # predicting changes nothing
    singly = [list(models[0].predict_one(x).values()) for x in dicts(X)]
    assert np.array_equal(singly, models[0].predict_many(X))


def test_labels_features_and_values_that_appear_later():
    X, Y = stream()
    model = VowpalWabbit()
    model.learn_many(X[:100], Y[:100])
    for x, y in zip(dicts(X[100:]), truths(Y[100:]), strict=True):
        model.learn_one({**x, "word": "yes" if x[1] > 0 else "no"}, {**y, "late": x[1] > 0})
    model.learn_one({"word": "perhaps"}, {"later": True})
    found = model.predict_one({1: 1.0, "word": "yes"})
    assert list(found) == [0, 1, 2, 3, "late", "later"]
    assert found["late"]
    assert not model.predict_one({1: -1.0, "word": "no"})["late"]


def test_an_example_with_an_unknown_label_teaches_nothing():
    X, Y = stream()
    Y[50:100, 2] = -1
    some, others = VowpalWabbit(), VowpalWabbit()
    some.learn_many(X, Y)
    others.learn_many(np.delete(X, range(50, 100), axis=0), np.delete(Y, range(50, 100), axis=0))
    assert np.array_equal(some.predict_proba_many(X), others.predict_proba_many(X))


def test_large_and_missing_values():
    X, Y = stream()
    X[::7, 1], X[::5, 2] = 1e60, np.nan
    found = VowpalWabbit().test_then_train(X, Y)
    assert ((found >= 0) & (found <= 1)).all()


def test_it_is_neither_saved_nor_copied(tmp_path):
    X, Y = stream()
    model = create("vw")
    model.learn_many(X, Y)
    for call in (lambda: model.save(tmp_path / "m"), lambda: copy.deepcopy(model), lambda: pickle.dumps(model)):
        with pytest.raises(MarleneError, match="can be neither saved nor copied"):
            call()
    with pytest.raises(MarleneError, match="cannot be saved, so it cannot be run with a checkpoint"):
        prequential(model, Stream.from_arrays(X, Y), checkpoint=tmp_path / "run.npz")
    assert list(tmp_path.iterdir()) == []
    untrained = pickle.loads(pickle.dumps(create("vw", bits=12)))
    assert untrained.bits == 12
    assert copy.deepcopy(model.clone()).predict_one({0: 1.0}) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"loss": "hinge"}, "loss must be one of squared, logistic"),
        ({"learning_rate": 0}, "learning_rate must be"),
        ({"bits": 40}, "bits must be a whole number from 1 to 28"),
    ],
)
def test_settings_that_are_refused(given, said):
    with pytest.raises(MarleneError, match=said):
        VowpalWabbit(**given)


def test_wrong_input_and_sources_are_refused():
    X, Y = stream()
    model = VowpalWabbit()
    model.learn_many(X, Y)
    before = model.predict_proba_many(X)
    for call, said in [
        (lambda: model.learn_many(X[:, :2], Y), "columns"),
        (lambda: model.learn_many(X, Y + 5), "expected 0 or 1"),
        (lambda: model.learn_one({0: "a"}, {0: 1}), "feature 0 is numeric"),
        (lambda: model.learn_many(X, Y, stream="archive"), "has no transfer: it learns one stream"),
        (lambda: model.declare([Feature("0")], ["a"], stream="archive"), "has no transfer: it learns one stream"),
    ]:
        with pytest.raises(MarleneError, match=said):
            call()
    assert np.array_equal(model.predict_proba_many(X), before)


def test_without_the_package(monkeypatch):
    def absent(name):
        if name == "vowpalwabbit":
            raise ModuleNotFoundError(name)
        return importlib.__import__(name)

    monkeypatch.setattr(extras.importlib, "import_module", absent)
    said = r'the method vw needs the package vowpalwabbit: pip install "marlene\[vw\]"'
    with pytest.raises(MarleneError, match=said):
        create("vw")


def test_a_method_is_available_if_its_package_is(monkeypatch):
    assert METHODS["vw"].available
    monkeypatch.setattr(importlib.util, "find_spec", {}.get)
    assert not METHODS["vw"].available
    assert METHODS["ebr"].available
