"""What every method promises: River's own checks, blocks of any size, files, refusals."""

import copy
import json
import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from river import checks, datasets

from benchmarks.compilation import loaded
from marlene._common.errors import MarleneError
from marlene._common.files import user_cache
from marlene.evaluation import prequential
from marlene.learners import METHODS, create
from marlene.learners.baselines._goowe import GOOWE
from marlene.streams import Feature, Stream
from tests.learners.streams import (
    LEARNERS,
    changed_headers,
    contents,
    dicts,
    drifting,
    learn_singly,
    predicted_by,
    truths,
)

RIVAL = ["ebr", "ecc", "eps", "ert", "eabr", "eacc", "eaps", "gobr", "gocc", "gops", "gort"]
ARRAYS = [name for name in METHODS if name not in ("majority", "prior", "coin", "vw")]
ALONE = ["mlsaknn", "mlhat"]
"""Rivals that are no ensembles."""
every_method = pytest.mark.parametrize("method", ARRAYS)
every_rival = pytest.mark.parametrize("method", [*RIVAL, *ALONE])


def build(method, **changes):
    """Return a learner of a method, in a small format so that chunks and buffers are full soon."""
    model = create(method, seed=3)
    if method in RIVAL:
        changes = {"members": 3, **({"chunk": 40} if isinstance(model, GOOWE) else {}), **changes}
        if method.endswith("ps"):
            changes["transformation"] = type(model.transformation)(buffer=30)
        if method.endswith("rt"):
            changes["transformation"] = type(model.transformation)(grace_period=30, delta=0.1)
    if method == "mlsaknn":
        changes = {"neighbours": 29, "least": 30, "most": 80, "penalty": 8.0, **changes}
    if method == "mlhat":
        small = {"grace_period": 20, "delta": 0.5, "cardinality": 30, "window": 20, "members": 3, "patience": 10}
        changes = {**small, **changes}
    return model.clone(new_params=changes)


def stream(n=200, seed=0):
    """Return rows and labels, some of them missing."""
    X, Y = drifting(n, 4, seed)
    rng = np.random.default_rng(seed)
    Y[rng.random(Y.shape) < 0.05] = -1
    X[7, 1] = np.nan
    return X, Y


def trained(method, n=150):
    model = build(method)
    X, Y = stream(n + 50)
    model.learn_many(X[:n], Y[:n])
    return model, X[n:], Y[n:]


def test_every_method_is_known():
    assert set(RIVAL) < set(METHODS)
    for name in RIVAL:
        assert METHODS[name].summary
        assert METHODS[name].reference


CHECKED = {name: lambda name=name: build(name) for name in METHODS}
CHECKED |= {"binary relevance": lambda: create("river:naive_bayes.GaussianNB")}
CHECKED |= {
    f"{learner.__name__}, few models": lambda learner=learner: learner(drift=None, resampling="expected", max_models=2)
    for learner in LEARNERS
}


@pytest.mark.parametrize("make", CHECKED.values(), ids=CHECKED)
def test_rivers_own_checks(monkeypatch, make):
    X = np.random.default_rng(0).random((500, 8))
    examples = list(Stream.from_arrays(X, X[:, :3] > 0.3))

    class Music:  # River would download it
        def take(self, n):
            return examples[:n]

    monkeypatch.setattr(datasets, "Music", Music)
    checks.check_estimator(make())


@every_method
def test_blocks_of_any_size_are_the_same(method):
    X, Y = stream()
    one, many, tested = (build(method) for _ in range(3))
    expected = []
    for x, y in zip(X, Y, strict=True):
        known = one.predict_proba_one(dicts(x[None])[0])
        expected.append([p[True] for p in known.values()] or [0.5] * 4)
        one.learn_many(x[None], y[None])
    many.learn_many(X, Y)
    found = [tested.test_then_train(X[a:b], Y[a:b]) for a, b in ((0, 1), (1, 90), (90, 90), (90, 200))]
    assert np.array_equal(np.array(expected), np.concatenate(found))
    assert contents(one) == contents(many) == contents(tested)
    assert len(np.unique(np.concatenate(found))) > 50


@every_method
def test_dictionaries_frames_and_sparse_matrices_are_the_same(method):
    X, Y = stream(100)
    X[7, 1] = 0.0  # a frame says nothing of what is missing
    Y = np.abs(Y)
    models = [build(method) for _ in range(4)]
    models[0].learn_many(X, Y)
    models[1].learn_many(sp.csr_array(X), Y)
    models[2].learn_many(pd.DataFrame(X), pd.DataFrame(Y))
    learn_singly(models[3], X, Y)
    assert len({contents(model) for model in models}) == 1
    assert np.array_equal(models[0].predict_proba_many(X), models[0].predict_proba_many(sp.csr_array(X)))


@every_method
def test_predicting_changes_nothing(method):
    model, X, _ = trained(method)
    before = contents(model)
    probabilities = model.predict_proba_many(X)
    assert contents(model) == before
    thresholds = list(model.thresholds().values()) if method == "marlene" else 0.5
    predictions = model.predict_many(X)
    above = predicted_by(model.score_many(X), thresholds) if method == "marlene" else probabilities > 0.5
    assert np.array_equal(predictions, above)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    singly = [list(model.predict_one(x).values()) for x in dicts(X)]
    assert np.array_equal(singly, predictions)


@every_method
def test_a_learner_goes_on_where_its_file_stopped(tmp_path, method):
    model, X, Y = trained(method)
    model.save(tmp_path / "model.npz")
    others = [
        type(model).load(tmp_path / "model.npz"),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ]
    expected = model.test_then_train(X, Y)
    for other in others:
        assert np.array_equal(other.test_then_train(X, Y), expected)
        assert contents(other) == contents(model)
    assert other.counts() == model.counts()
    assert other._get_params() == model._get_params()


@every_method
def test_the_largest_numbers_can_be_saved(method):
    model, largest = build(method), 1e60
    for i in range(40):
        x = {"a": (largest, -largest, 1.0, 0.5)[i % 4], "b": float(i % 3)}
        model.learn_one(x, {"p": i % 2 == 0, "q": i % 3 == 0})
    assert contents(type(model).from_state(*model.state())) == contents(model)
    assert all(0 <= p[True] <= 1 for p in model.predict_proba_one({"a": largest}).values())
    with pytest.raises(MarleneError, match=r"expected a finite number up to 1e\+60, found 2e\+60"):
        model.learn_one({"a": 2 * largest}, {"p": True})


@every_method
def test_clones_are_untrained_and_seeds_matter(method):
    model, X, Y = trained(method)
    clone = model.clone()
    assert clone.counts()["drifts"] == 0
    assert clone.predict_one({0: 1.0}) == {}
    again, other = build(method), build(method, seed=4)
    for each in (clone, again, other):
        each.learn_many(X, Y)
    assert contents(clone) == contents(again)
    if METHODS[method].random:
        assert not np.array_equal(again.predict_proba_many(X), other.predict_proba_many(X))


@every_method
def test_labels_and_features_that_appear_later(method):
    model, X, Y = trained(method)
    for x, y in zip(dicts(X), truths(Y), strict=True):
        model.learn_one({**x, "new": x[0], "word": "yes" if x[1] > 0 else "no"}, {**y, "late": x[0] > 0})
    model.learn_one({"word": "perhaps"}, {"later": True})
    predicted = model.predict_one({**dicts(X)[0], "new": 1.0, "word": "yes"})
    assert list(predicted) == [0, 1, 2, 3, "late", "later"]
    state = model.state()
    again = type(model).from_state(json.loads(json.dumps(state[0])), state[1])
    for each in (model, again):
        for x, y in zip(dicts(X), truths(Y), strict=True):
            each.learn_one({**x, "word": "yes"}, {**y, "late": x[0] > 0, "later": True})
    assert contents(again) == contents(model)


@every_method
def test_examples_whose_labels_are_not_known_teach_nothing_of_them(method):
    model, X, Y = trained(method)
    before = model.predict_proba_many(X)
    model.learn_many(X, np.full_like(Y, -1))
    if not isinstance(model, GOOWE):  # its chunks have a length, of which every example is a part
        assert np.array_equal(model.predict_proba_many(X), before)
    assert np.isfinite(model.predict_proba_many(X)).all()


@every_method
def test_wrong_input_leaves_a_learner_as_it_was(method):
    model, X, Y = trained(method)
    before = contents(model)
    for wrong_X, wrong_Y, said in [
        (X[:, :2], Y, "columns"),
        (X, Y[:3], "rows"),
        (X, Y + 5, "expected 0 or 1"),
        (np.full_like(X, np.inf), Y, "finite"),
        (X, Y[:, :2], "columns"),
        ([["a"] * 5], [[1] * 4], "not a number"),
    ]:
        with pytest.raises(MarleneError, match=said):
            model.learn_many(wrong_X, wrong_Y)
    for x, y, said in [({0: "a"}, {0: 1}, "feature 0 is numeric"), ({0: 1.0, "new": 2.0}, {0: 7}, "label 0: expected")]:
        with pytest.raises(MarleneError, match=said):
            model.learn_one(x, y)
    assert contents(model) == before


@every_rival
def test_source_streams_are_refused(method):
    model, X, Y = trained(method)
    before = contents(model)
    for call in (
        lambda: model.learn_many(X, Y, stream="archive"),
        lambda: model.learn_one({0: 1.0}, {0: 1}, stream="archive"),
        lambda: model.declare([Feature("0")], ["a"], stream="archive"),
        lambda: prequential(build(method), Stream.from_arrays(X, Y), sources=[Stream.from_arrays(X, Y, name="old")]),
    ):
        with pytest.raises(MarleneError, match="has no transfer: it learns one stream"):
            call()
    assert contents(model) == before


@every_rival
def test_files_that_say_something_else_are_refused(tmp_path, method):
    model, X, Y = trained(method)
    header, arrays = model.state()
    for name in arrays:
        with pytest.raises(MarleneError, match=r"not the state of|state of a"):
            type(model).from_state(header, {other: a for other, a in arrays.items() if other != name})
    with pytest.raises(MarleneError, match="the state of method 'x'"):
        type(model).from_state(header | {"method": "x"}, arrays)
    refused = 0
    for name, array in arrays.items():
        flat = np.atleast_1d(array)
        with np.errstate(invalid="ignore"):
            changed = [
                flat[:0],
                (flat.astype(np.int64) - 5).astype(array.dtype),
                (flat.astype(np.int64) + 1).astype(array.dtype),
            ]
        for replacement in changed:
            try:
                type(model).from_state(header, arrays | {name: replacement}).learn_many(X, Y)
            except MarleneError as error:
                assert re.search("not the state of|state of a|expected", str(error))  # noqa: PT017 (some are harmless)
                refused += 1
    assert refused > len(arrays)
    other = next(m for m in ("ebr", "gobr", "eabr") if METHODS[m].build(seed=1)._method != model._method)
    create(other).save(tmp_path / "other.npz")
    with pytest.raises(MarleneError, match=r"other\.npz: the state of method"):
        type(model).load(tmp_path / "other.npz")


@every_method
def test_headers_that_say_something_else_do_no_harm(method):
    model, X, _ = trained(method, 40)
    header, arrays = model.state()
    accepted = refused = 0
    for replacement in (None, -1, "x"):
        for changed in changed_headers(header, replacement):
            try:
                other = type(model).from_state(changed, arrays)
                other.predict_many(X)
                accepted += 1
            except MarleneError:
                refused += 1
    assert accepted > 0
    assert refused > accepted


@every_rival
def test_a_run_that_is_stopped_goes_on(tmp_path, method):
    X, Y = stream(300)
    data = Stream.from_arrays(X, Y)
    file = tmp_path / "run.npz"
    whole = prequential(create(method), data)
    prequential(create(method), data, checkpoint=file, every=50, callbacks=[lambda progress: progress.done >= 200])
    rest = prequential(create(method), data, checkpoint=file, every=50)
    assert np.array_equal(rest.proba, whole.proba)
    assert rest.scores == whole.scores


def test_a_second_process_compiles_nothing():
    for method in ("ebr", "ecc", "ert"):
        create(method).load_kernels()
    told = loaded(["ensembles"], str(user_cache()))
    assert told["compiled"] == 0
    assert told["loaded"] > 0
