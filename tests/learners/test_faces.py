"""BR-MARLENE from every side it can be used: the same learner, whatever the form of the input."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.learners import BRMarlene, BRPWMarlene, BRResampled
from marlene.learners.input._known import ABSENT
from marlene.streams import Feature
from marlene.trees import HoeffdingForest
from tests.learners.streams import LEARNERS, contents, dicts, drifting, learn_singly, sensitive, truths

every_learner = pytest.mark.parametrize("learner", LEARNERS)


def trained(learner, n=300, **options):
    """Return a learner of a source and then the target, and the target's rows."""
    model = learner(drift=sensitive(), **options)
    X, Y = drifting(n)
    model.learn_many(X, Y)
    model.learn_many(*drifting(n // 2, 2, seed=1), stream="archive")
    return model, X, Y


@every_learner
@settings(max_examples=15)
@given(
    seed=st.integers(0, 99),
    cuts=st.lists(st.integers(0, 120), max_size=4),
    resampling=st.sampled_from(["poisson", "expected"]),
    max_models=st.sampled_from([None, 4]),
)
def test_blocks_of_any_size_are_the_same(learner, seed, cuts, resampling, max_models):
    options = {"resampling": resampling, "max_models": max_models, "seed": seed}
    one, many, tested = (learner(drift=sensitive(), **options) for _ in range(3))
    X, Y = drifting(120, seed=seed)
    Y[np.random.default_rng(seed).random(Y.shape) < 0.1] = -1
    X[5, 1] = np.nan
    source = drifting(40, 2, seed=seed + 1)
    for model in (one, many, tested):
        model.learn_many(np.zeros((0, 5)), np.zeros((0, 3)))
    learn_singly(one, *source, stream="old")
    for model in (many, tested):
        model.learn_many(*source, stream="old")
    expected, found = [], []
    for x, y in zip(X, Y, strict=True):
        expected.append([p[True] for p in one.predict_proba_one(dicts(x[None])[0]).values()])
        learn_singly(one, x[None], y[None])
    for part in np.split(np.arange(len(X)), sorted(cuts)):
        many.learn_many(X[part], Y[part])
        found.append(tested.test_then_train(X[part], Y[part]))
    np.testing.assert_array_equal(np.concatenate(found), expected)
    assert contents(one) == contents(many) == contents(tested)


@every_learner
def test_predicting_changes_nothing(learner):
    model, X, _ = trained(learner)
    before = contents(model)
    probabilities = model.predict_proba_many(X)
    assert probabilities.shape == (300, 3)
    assert model.predict_many(X).dtype == np.int8
    np.testing.assert_array_equal(model.predict_many(X), probabilities > 0.5)
    for x, row in zip(dicts(X[:20]), probabilities, strict=False):
        assert model.predict_proba_one(x) == {q: {False: 1 - p, True: p} for q, p in enumerate(row.tolist())}
        assert model.predict_one(x) == {q: p > 0.5 for q, p in enumerate(row.tolist())}
    model.predict_one({"never": 1.0, 0: np.nan, 2: None})
    assert contents(model) == before


@every_learner
@pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_matrix, np.asfortranarray, pd.DataFrame, list])
def test_matrices_of_any_kind_are_the_same(learner, layout):
    X, Y = drifting()
    X[3, 2] = np.nan
    expected, model = learner(drift=sensitive()), learner(drift=sensitive())
    expected.learn_many(X, Y)
    model.learn_many(layout(X), Y)
    assert contents(model) == contents(expected)
    np.testing.assert_array_equal(model.predict_proba_many(layout(X)), expected.predict_proba_many(X))


@every_learner
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_go_by_name(learner, frame):
    names, labels = list("abcde"), list("uvw")
    X, Y = drifting()
    expected, model = learner(drift=sensitive()), learner(drift=sensitive())
    for x, y in zip(dicts(X, names), truths(Y, labels), strict=True):
        expected.learn_one(x, y)
    columns = {name: X[:, i] for i, name in enumerate(names)}
    truth = {label: Y[:, q] for q, label in enumerate(labels)}
    model.learn_many(frame(columns)[:10], frame(truth)[:10])
    turned = frame({name: columns[name] for name in reversed(names)})
    model.learn_many(turned[10:], frame({label: truth[label] for label in reversed(labels)})[10:])
    assert contents(model) == contents(expected)
    found = model.predict_proba_many(turned)
    np.testing.assert_array_equal(
        found, [[p[True] for p in expected.predict_proba_one(x).values()] for x in dicts(X, names)]
    )


@every_learner
def test_frames_of_several_types(learner):
    rng = np.random.default_rng(0)
    columns = {
        "n": rng.normal(size=60),
        "b": rng.random(60) < 0.5,
        "s": [["red", "green", None][i % 3] for i in range(60)],
    }
    truth = {"y": [None if i % 5 == 0 else int(columns["b"][i]) for i in range(60)]}
    one, models = learner(), [learner(), learner()]
    for i in range(60):
        one.learn_one({name: column[i] for name, column in columns.items()}, {"y": truth["y"][i]})
    for model, frame in zip(models, (pd.DataFrame, pl.DataFrame), strict=True):
        model.learn_many(frame(columns), frame(truth))
        assert contents(model) == contents(one)
    assert one._space.kinds == ["numeric", "binary", "nominal"]


@every_learner
def test_a_nullable_column_of_pandas(learner):
    frame = pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [1.0, 2.0, 3.0]})
    model, expected = learner(), learner()
    model.learn_many(frame, pd.DataFrame({"y": [1, 0, 1]}))
    expected.learn_many(pd.DataFrame({"a": [1, np.nan, 3], "b": [1.0, 2.0, 3.0]}), pd.DataFrame({"y": [1, 0, 1]}))
    assert contents(model) == contents(expected)


@every_learner
def test_a_label_that_appears_later(learner):
    X, Y = drifting(200)
    model, before = learner(drift=None), learner(drift=None)
    learn_singly(before, X[:100], Y[:100, :2])
    learn_singly(model, X[:100], Y[:100, :2])
    assert contents(model) == contents(before)
    learn_singly(model, X[100:], Y[100:])
    assert model.counts()["models"] == (3 + 6 if learner is BRPWMarlene else 3)
    assert model.predict_proba_many(X).shape == (200, 3)
    if learner is BRResampled:
        alone = learner(drift=None)
        for x, y in zip(dicts(X[100:]), Y[100:, 2].tolist(), strict=True):
            alone.learn_one(x, {2: y})
        np.testing.assert_array_equal(model.predict_proba_many(X)[:, 2], alone.predict_proba_many(X)[:, 0])
    else:
        records = model.records(0)
        seen = records["tp"] + records["fp"] + records["tn"] + records["fn"]
        assert seen.tolist() == [200, 200, 100]
        assert sum(model.records(2)[count][0] for count in ("tp", "fp", "tn", "fn")) == 100


@every_learner
def test_a_feature_that_appears_later_was_zero_before(learner):
    X, Y = drifting(400)
    X[:150, 3:] = 0.0
    late, known, arrays = (learner(drift=sensitive()) for _ in range(3))
    learn_singly(late, X[:150, :3], Y[:150])
    learn_singly(late, X[150:], Y[150:])
    known.learn_many(X, Y)
    arrays.learn_many(X[:150, :3], Y[:150])
    arrays.learn_many(X[150:], Y[150:])
    assert contents(arrays) == contents(late)
    assert late.concepts() == known.concepts()
    np.testing.assert_allclose(late.predict_proba_many(X), known.predict_proba_many(X), rtol=0, atol=1e-12)


@every_learner
def test_labels_that_are_not_known_are_skipped_alone(learner):
    X, Y = drifting(200)
    Y[::3, 1] = -1
    Y[7] = -1
    model = learner(drift=None, resampling="expected")
    model.learn_many(X, np.where(Y < 0, np.nan, Y))
    offered = model._ensemble.members.offered[:3]
    assert offered.tolist() == [[int((column == c).sum()) for c in (0, 1)] for column in Y.T]
    if learner is BRResampled:
        alone = learner(drift=None, resampling="expected")
        for x, y in zip(dicts(X), Y[:, 1].tolist(), strict=True):
            alone.learn_one(x, {1: y} if y >= 0 else {})
        np.testing.assert_array_equal(model.predict_proba_many(X)[:, 1], alone.predict_proba_many(X)[:, 0])


COLOURS = ["red", "green", "blue", "black", "white", "grey"]


def coloured(n=240):
    rng = np.random.default_rng(2)
    codes = [int(rng.integers(0, 2 + 5 * i // n)) for i in range(n)]
    examples = [{"size": float(rng.normal()), "colour": COLOURS[code]} for code in codes]
    return examples, [{"warm": code in (0, 4), "dark": code in (2, 3)} for code in codes]


@every_learner
def test_new_values_of_a_nominal_feature(learner):
    examples, labels = coloured()
    base = HoeffdingForest([], grace_period=20, tie_threshold=0.3)
    one, many, knew = (learner(base=base, drift=sensitive()) for _ in range(3))
    in_order = dict.fromkeys(x["colour"] for x in examples)
    for count in range(1, len(in_order) + 2):  # codes in this order
        values = (ABSENT, *in_order)[:count]
        knew.declare([Feature("size"), Feature("colour", "nominal", values)], ["warm", "dark"])
    for x, y in zip(examples, labels, strict=True):
        one.learn_one(x, y)
        knew.learn_one(x, y)
    many.learn_many(pd.DataFrame(examples[:100]), pd.DataFrame(labels[:100]))
    many.learn_many(pd.DataFrame(examples[100:]), pd.DataFrame(labels[100:]))
    assert contents(one) == contents(many)
    assert one._ensemble.bank.kinds.tolist() == [0, 7]
    assert [one.predict_proba_one(x) for x in examples] == [knew.predict_proba_one(x) for x in examples]
    assert pickle.loads(pickle.dumps(one)).predict_proba_one(examples[0]) == one.predict_proba_one(examples[0])
    missing = one.predict_proba_one({"size": 0.5, "colour": None})
    assert one.predict_proba_one({"size": 0.5, "colour": "never seen"}) == missing


@every_learner
def test_numbers_as_nominal_values(learner):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (200, 2)).astype(float)
    Y = (X[:, :1] == 4).astype(int)
    arrays, one, texts = (learner(features={0: "nominal"}) for _ in range(3))
    arrays.learn_many(X[:90], Y[:90])
    arrays.learn_many(sp.csr_array(X[90:]), Y[90:])
    learn_singly(one, X, Y)
    assert contents(arrays) == contents(one)
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        texts.learn_one({0: str(int(x[0])) if x[0] else ABSENT, 1: x[1]}, {0: y[0]})
    assert contents(texts) == contents(one)
    assert arrays.predict_many(X).ravel().tolist() == Y.ravel().tolist()


@pytest.mark.parametrize("features", ["binary", {0: "binary", 1: "binary", 2: "binary", 3: "binary", 4: "binary"}])
def test_presence_is_kept_in_every_form(features):
    X, Y = drifting()
    arrays, one, plain = BRMarlene(features=features), BRMarlene(features=features), BRMarlene()
    arrays.learn_many(X, Y)
    learn_singly(one, X, Y)
    plain.learn_many(X != 0, Y)
    assert contents(arrays) == contents(one)
    np.testing.assert_array_equal(arrays.predict_proba_many(X), plain.predict_proba_many(X != 0))


@every_learner
def test_declared_streams_match_features_by_name(learner):
    X, Y = drifting(200)
    names = list("abcde")
    model, expected = learner(drift=sensitive()), learner(drift=sensitive())
    target = [Feature(name) for name in names]
    for either in (model, expected):
        either.declare(target, ["u", "v", "w"])
    model.declare([Feature("e"), Feature("x"), Feature("b")], ["u", "z"], stream="old")
    model.learn_many(X[:80][:, [4, 2, 1]], Y[:80, :2], stream="old")
    model.learn_many(X, Y)
    for row, y in zip(X[:80], truths(Y[:80, :2], ["u", "z"]), strict=True):
        expected.learn_one({"e": row[4], "x": row[2], "b": row[1]}, y, stream="old")
    for x, y in zip(dicts(X, names), truths(Y, ["u", "v", "w"]), strict=True):
        expected.learn_one(x, y)
    assert model.predict_proba_one(dicts(X, names)[0]) == expected.predict_proba_one(dicts(X, names)[0])
    assert model.concepts("old") == expected.concepts("old")
    assert model.concepts() == expected.concepts()


@every_learner
def test_a_clone_has_learnt_nothing(learner):
    model, X, _ = trained(learner, seed=5, max_models=7)
    fresh = model.clone()
    assert fresh.counts() == {"models": 0, "drifts": 0}
    assert (fresh.seed, fresh.max_models) == (5, 7)
    assert fresh.predict_one(dicts(X)[0]) == {}
    assert contents(fresh) == contents(learner(drift=sensitive(), seed=5, max_models=7))


def continued(model):
    model.learn_many(*drifting(200, seed=7))
    model.learn_many(*drifting(50, 2, seed=8), stream="archive")
    model.learn_one({0: 1.0, 9: 2.0}, {0: True, "new": False})
    return contents(model)


def through_a_file(model, folder):
    model.save(folder / "model.npz")
    return type(model).load(folder / "model.npz")


WAYS = {
    "deepcopy": lambda model, _: copy.deepcopy(model),
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "file": through_a_file,
    "state": lambda model, _: type(model).from_state(*model.state()),
}


@every_learner
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("features", ["auto", {4: "binary", "absent": "nominal"}])
def test_copies_go_on_to_the_bit(tmp_path, learner, way, features):
    model, _, _ = trained(learner, features=features, max_models=5)
    other = WAYS[way](model, tmp_path)
    assert contents(other) == contents(model)
    assert other.features == features
    assert pickle.dumps(other) == pickle.dumps(model) or way in ("file", "state")
    assert continued(other) == continued(model)


@every_learner
def test_names_of_numpy_are_those_of_python(tmp_path, learner):
    X, Y = drifting(100)
    model, plain = learner(drift=sensitive()), learner(drift=sensitive(), seed=np.int64(1))
    for x, y in zip(X, Y, strict=True):
        model.learn_one({np.int64(i): v for i, v in enumerate(x)}, {np.int64(q): v for q, v in enumerate(y)})
        plain.learn_one(dict(enumerate(x.tolist())), dict(enumerate(y.tolist())))
    assert contents(model) == contents(plain)
    assert continued(through_a_file(model, tmp_path)) == continued(plain)


@pytest.mark.parametrize("drift", ["balanced", "ddm-oci", "ddm", "adwin", "none", "oracle", None])
def test_a_loaded_learner_has_the_parameters_it_was_made_with(tmp_path, drift):
    model = BRMarlene(drift=drift, seed=3)
    model.learn_many(*drifting(50))
    loaded = through_a_file(model, tmp_path)
    assert (loaded.base, loaded.drift) == ("hoeffding-forest", drift or "none")
    special = through_a_file(BRMarlene(base=HoeffdingForest([], delta=0.1), drift=sensitive()), tmp_path)
    assert special.base.settings()["delta"] == 0.1
    assert not special.drift.settings()["strict"]
    with pytest.raises(MarleneError, match="the state of method 'br-marlene', expected 'br-resampled'"):
        BRResampled.load(tmp_path / "model.npz")
