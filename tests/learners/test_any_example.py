"""Examples as people have them: Series, sets of labels, nothing but missing values."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.learners import METHODS, Majority, create
from tests.learners.streams import contents, dicts, drifting, truths

LABELS = ["a", "b", "c"]
TAKING_SETS = [name for name in METHODS if name not in ("majority", "prior", "coin", "vw")]
every_method = pytest.mark.parametrize("method", TAKING_SETS)


@every_method
def test_an_example_of_nothing_but_missing_values_is_an_example(method):
    X, Y = drifting(120)
    X[[0, 40, 41, 119]] = np.nan
    one, many = create(method), create(method)
    many.learn_many(X, Y)
    for x, y in zip(X, Y, strict=True):
        one.learn_many(x[None], y[None])
    assert contents(one) == contents(many)
    assert np.isfinite(many.predict_proba_many(X)).all()
    before = contents(many)
    many.learn_one(dict.fromkeys(range(5)), {0: True})
    assert contents(many) != before
    assert list(many.predict_one({0: None, "never": None})) == [0, 1, 2]


def test_a_feature_that_was_always_missing_has_no_kind_yet():
    model = Marlene()
    model.learn_one({"n": None}, {"a": True})
    model.learn_one({"n": float("nan"), "m": pd.NA}, {"a": False})
    assert len(model._space) == 0
    model.learn_one({"n": "red"}, {"a": True})
    assert model._space.kinds == ["nominal"]


def test_nested_fields_are_features_of_their_own():
    nested = [
        {"size": i / 2, "who": {"team": "ab"[i % 2], "at": {"hour": i % 24}}, "vip": i % 3 == 0} for i in range(60)
    ]
    flat = [{"size": x["size"], "who.team": x["who"]["team"], "who.at.hour": x["who"]["at"]["hour"], "vip": x["vip"]}
            for x in nested]  # fmt: skip
    Y = np.array([[i % 2, i % 3 == 0] for i in range(60)], int)
    expected = Marlene()
    for x, y in zip(flat, Y, strict=True):
        expected.learn_one(x, {0: bool(y[0]), 1: bool(y[1])})
    one = Marlene()
    for x, y in zip(nested, Y, strict=True):
        one.learn_one(x, {0: bool(y[0]), 1: bool(y[1])})
    assert contents(one) == contents(expected)
    assert one.predict_proba_one(nested[7]) == expected.predict_proba_one(flat[7])
    for frame in (pd.DataFrame(nested), pl.DataFrame(nested)):
        many = Marlene()
        many.learn_many(frame, Y)
        assert contents(many) == contents(expected)


def test_nested_fields_that_are_refused():
    with pytest.raises(MarleneError, match=r"^x: two features are named 'a\.b'$"):
        Marlene().learn_one({"a.b": 1, "a": {"b": 2}}, {"c"})
    deep = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(MarleneError, match=r"^x: too many dictionaries in one another$"):
        Marlene().learn_one(deep, {"c"})
    with pytest.raises(MarleneError, match=r"^X has two columns of the same name$"):
        Marlene().learn_many(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), [[1]])


def test_keys_of_a_dictionary_are_a_set():
    model = Marlene()
    model.learn_one({"x": 1.0}, {"b": 1, "a": 2}.keys())
    assert list(model.predict_one({})) == ["a", "b"]


def test_a_series_is_an_example_by_its_index():
    X, Y = drifting(60)
    plain, series = Marlene(), Marlene()
    for x, y in zip(dicts(X), truths(Y), strict=True):
        plain.learn_one(x, y)
        series.learn_one(pd.Series(x), pd.Series(y, dtype=object))
    assert contents(plain) == contents(series)
    assert series.predict_one(pd.Series(dicts(X)[0])) == plain.predict_one(dicts(X)[0])
    for predict in (plain.predict_one, plain.predict_proba_one, plain.score_one):
        with pytest.raises(MarleneError, match=r"^x must be a dictionary of features, not a list$"):
            predict([1.0])


@every_method
def test_a_set_tells_all_labels(method):
    X, Y = drifting(60)
    told, listed, absent = create(method), create(method), create(method).clone(new_params={"absent": "false"})
    told.learn_one({}, dict.fromkeys(LABELS, True))
    listed.learn_one({}, LABELS)
    absent.learn_one({}, dict.fromkeys(LABELS, True))
    for x, y in zip(dicts(X), Y, strict=True):
        true = [label for label, value in zip(LABELS, y, strict=True) if value]
        told.learn_one(x, dict(zip(LABELS, y.astype(bool).tolist(), strict=True)))
        listed.learn_one(x, set(true) if y[0] else tuple(true))
        absent.learn_one(x, dict.fromkeys(true, True) | ({} if y[1] else {"b": None}))
    assert contents(told) == contents(listed)
    assert told.predict_proba_many(X).tolist() == absent.predict_proba_many(X).tolist()


def test_new_labels_of_a_set_do_not_depend_on_hashes():
    code = (
        "from marlene.learners import Majority; m = Majority(); m.learn_one({}, {'b', 'a', 'c', 7}); print(m._labels)"
    )
    said = set()
    for seed in range(2):
        known = os.environ | {"PYTHONHASHSEED": str(seed)}
        said.add(
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=known, check=True).stdout
        )
    assert said == {"[7, 'a', 'b', 'c']\n"}


@settings(max_examples=30)
@given(rows=st.lists(st.frozensets(st.sampled_from(LABELS)), min_size=1, max_size=12))
def test_frames_without_columns_are_like_dictionaries_without_labels(rows):
    models = {}
    for absent in ("unknown", "false"):
        one, many = Marlene(absent=absent), Marlene(absent=absent)
        for model in (one, many):
            model.learn_one({"x": 0.0}, dict.fromkeys(LABELS, True))
        for i, true in enumerate(rows):
            one.learn_one({"x": float(i)}, dict.fromkeys(true, True))
            frame = pd.DataFrame([dict.fromkeys(true, True)], dtype=object)
            many.learn_many(pd.DataFrame({"x": [float(i)]}), frame)
        assert contents(one) == contents(many)
        models[absent] = one
    whole = Marlene(absent="false")
    whole.learn_one({"x": 0.0}, dict.fromkeys(LABELS, True))
    told = pd.DataFrame([dict.fromkeys(true, True) for true in rows], dtype=object)  # NaN where a row lacks a label
    whole.learn_many(pd.DataFrame({"x": np.arange(len(rows), dtype=float)}), told)
    assert contents(whole) == contents(models["false"])


def test_minus_one_is_always_unknown():
    model, other = Marlene(absent="false"), Marlene()
    for each in (model, other):
        each.learn_many([[1.0], [2.0]], [[1, -1], [0, -1]])
    assert model.predict_proba_many([[1.0]]).tolist() == other.predict_proba_many([[1.0]]).tolist()
    with pytest.raises(MarleneError, match="absent must be one of unknown, false, not 'no'"):
        Marlene(absent="no")


def test_labels_that_are_never_false_are_named_once():
    model = Marlene()
    for i in range(99):
        model.learn_one({"x": i}, {"a": True, "b": i == 7})
    with pytest.warns(UserWarning, match="label 'a': 100 examples or more say true, none says false") as caught:
        model.learn_one({"x": 1}, {"a": True, "b": False})
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(200):
            model.learn_one({"x": 1}, {"a": True, "b": True})
        again = Marlene.from_state(*model.state())
        for _ in range(200):
            again.learn_one({"x": 1}, {"a": True, "b": True})
        Marlene(absent="false").learn_many(np.zeros((200, 1)), [[1.0], [np.nan]] * 100)
        model.learn_many(np.zeros((1000, 1)), np.zeros((1000, 2)), stream="source")
    with pytest.warns(UserWarning, match="labels 0, 1, 2, 3, 4, …: 100 examples") as caught:
        Marlene().learn_many(np.zeros((100, 1)), np.ones((100, 7)))
    assert caught[0].filename == __file__


def test_guesses_take_sets_too():
    model = Majority()
    for true in ({"b"}, {"a", "b"}, set(), ["a"]):
        model.learn_one({}, true)
    assert {label: p[True] for label, p in model.predict_proba_one({}).items()} == {"b": 0.5, "a": 2 / 3}


@pytest.mark.parametrize("method", METHODS)
def test_frames_in_frames_out(method):
    X, Y = drifting(40)
    model = create(method)
    frame = pd.DataFrame(X, columns=list("vwxyz"), index=[f"r{i}" for i in range(40)])
    model.learn_many(frame, pd.DataFrame(Y, columns=LABELS))
    calls = [model.predict_many, model.predict_proba_many, *([model.score_many] if method == "marlene" else [])]
    for call in calls:
        found = call(frame[10:])
        assert isinstance(found, pd.DataFrame)
        assert list(found.index) == list(frame.index[10:])
        assert list(found.columns) == LABELS
        polar = call(pl.DataFrame(dict(zip(frame.columns, X[10:].T, strict=True))))
        assert polar.columns == LABELS
        np.testing.assert_array_equal(found.to_numpy(), polar.to_numpy())
        assert isinstance(call(frame.rename(columns=dict(zip("vwxyz", range(5), strict=True))).to_numpy()), np.ndarray)
    one = [model.predict_one(dict(zip(frame.columns, x, strict=True))) for x in X[10:].tolist()]
    if method not in ("coin", "prior"):
        assert model.predict_many(frame[10:]).astype(bool).to_dict("records") == one


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(["a text of many words", "2024-05-01", "9999-12-31T23:59:59+00:00", "0001-01-01", "nan", "inf"]),
    st.dates(),
    st.datetimes(),
    st.timedeltas(),
    st.times(),
    st.decimals(),
    st.complex_numbers(),
    st.binary(max_size=3),
    st.lists(st.integers(), max_size=2),
    st.sampled_from([np.float32("inf"), np.int8(1), np.datetime64("NaT"), np.timedelta64(3, "D"), pd.NaT, pd.NA]),
    st.sampled_from([np.array([1.0]), np.array(1.0), {"a": 1}, object, range(3)]),
)
NAMES = st.one_of(
    st.sampled_from(["text", "date", "n", "new", "other", "text: a", "date: hour sin"]), st.integers(0, 2)
)


@settings(max_examples=300)
@given(
    x=st.one_of(st.dictionaries(NAMES, JUNK, max_size=4), JUNK),
    y=st.one_of(st.dictionaries(NAMES, JUNK, max_size=3), st.lists(JUNK, max_size=2), JUNK),
)
def test_anything_is_learnt_or_refused(x, y):
    model = Marlene(features={"text": "text", "date": "date"})
    model.learn_one({"text": "a b", "date": "2024-05-01", "n": 0.5}, {"n": True, "other": False})
    before = contents(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.learn_one(x, y)
        except MarleneError as error:
            assert "\n" not in str(error)  # noqa: PT017 (either is right)
            assert contents(model) == before
        else:
            assert np.isfinite([p[True] for p in model.predict_proba_one(x).values()]).all()
