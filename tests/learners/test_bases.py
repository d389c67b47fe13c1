"""BR-MARLENE over other base classifiers and detectors, within limits, and what it tells of itself."""

import copy
import inspect
import pickle

import numpy as np
import pytest
import river.drift
from river import linear_model, naive_bayes, tree

from marlene.banks import NaiveBayesBank
from marlene.drift import RiverBank
from marlene.learners import BRMarlene, BRPWMarlene, BRResampled
from marlene.learners.classifiers import _freezer
from marlene.learners.classifiers._river_bank import RiverClassifierBank
from marlene.trees import HoeffdingForest
from tests.learners.streams import LEARNERS, contents, dicts, drifting, sensitive
from tests.learners.test_simple import Constant

every_learner = pytest.mark.parametrize("learner", LEARNERS)


class Wrapped:
    """A forest that does not look like one."""

    def __init__(self, **settings):
        self.settings = settings
        self.forest = HoeffdingForest([], **settings)

    def clone(self):
        return Wrapped(**self.settings)

    def __getattr__(self, name):
        if name not in ("add", "remove", "add_features", "widen", "votes", "learn"):
            raise AttributeError(name)
        return getattr(self.forest, name)


def run(model):
    """Learn sources and the target in turns; return all that was predicted."""
    X, Y = drifting(450)
    Y[np.random.default_rng(0).random(Y.shape) < 0.05] = -1
    X[::50, 2] = np.nan
    old = drifting(200, 2, seed=1)
    found = []
    for part in np.split(np.arange(450), [100, 101, 300]):
        model.learn_many(old[0][part % 200], old[1][part % 200], stream="old")
        found.append(model.test_then_train(X[part], Y[part]))
    return np.concatenate([*found, model.predict_proba_many(X)])


@every_learner
@pytest.mark.parametrize("max_models", [None, 6])
def test_a_bank_that_is_no_forest_gives_the_same_bits(learner, max_models):
    settings = {"grace_period": 30, "tie_threshold": 0.2}
    options = {"drift": sensitive(), "max_models": max_models}
    fused = learner(base=HoeffdingForest([], **settings), **options)
    plain = learner(base=Wrapped(**settings), **options)
    # The forest asks a tree of a pair once for both values of the given label, and writes down what learns no more.
    np.testing.assert_allclose(run(plain), run(fused), rtol=0, atol=1e-12)
    assert fused.counts()["drifts"] > 3
    assert plain.counts() == fused.counts()
    assert plain.concepts() == fused.concepts()
    assert plain.concepts("old") == fused.concepts("old")
    np.testing.assert_array_equal(plain._ensemble.records, fused._ensemble.records)
    np.testing.assert_array_equal(plain._ensemble.members.offered, fused._ensemble.members.offered)
    assert plain._ensemble.bank.forest == fused._ensemble.bank
    before = plain._ensemble.members.positive.copy()
    plain.predict_proba_many(drifting()[0])
    np.testing.assert_array_equal(plain._ensemble.members.positive, before)


def test_a_bank_that_is_no_forest_learns_of_new_nominal_values():
    models = [BRMarlene(base=base) for base in (Wrapped(), HoeffdingForest([]))]
    for model in models:
        for i in range(60):
            model.learn_one({"c": f"value {i % (2 + i // 10)}", "n": i % 7}, {"y": i % 3 == 0})
    assert models[0].predict_proba_one({"c": "value 1"}) == models[1].predict_proba_one({"c": "value 1"})


@pytest.mark.parametrize(
    "classifier",
    [naive_bayes.GaussianNB(), tree.HoeffdingTreeClassifier(grace_period=20), linear_model.LogisticRegression()],
)
def test_a_river_classifier_as_base(classifier):
    X, Y = drifting(150)
    X[::9, 1] = np.nan
    model = BRResampled(base=classifier, drift=None, resampling="expected")
    found = model.test_then_train(X, Y)
    weighted = "w" in inspect.signature(classifier.learn_one).parameters
    for label in range(3):
        alone, seen = classifier.clone(), [0, 0]
        for x, y, p in zip(dicts(X), Y[:, label].tolist(), found[:, label].tolist(), strict=True):
            given = {column: value for column, value in x.items() if not np.isnan(value)}
            votes = alone.predict_proba_one(given)
            total = sum(votes.values())
            assert p == pytest.approx(votes.get(True, 0.0) / total if total else 0.5, abs=1e-12)
            seen[y] += 1
            k = int(np.floor(max(seen) / seen[y] + 0.5))
            for weight in [k] if weighted else [1] * k:
                alone.learn_one(given, bool(y), **({"w": weight} if weighted else {}))


def test_river_classifiers_transfer_too():
    model = BRMarlene(base=naive_bayes.GaussianNB(), drift=sensitive(), max_models=8)
    found = run(model)
    assert model.counts()["drifts"] > 0
    assert not np.isnan(found).any()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba_many(drifting()[0]), model.predict_proba_many(drifting()[0]))
    assert model.clone().counts() == {"models": 0, "drifts": 0}


def test_a_bank_of_river_classifiers():
    bank = RiverClassifierBank(Constant(True))
    assert bank.add(3).tolist() == [0, 1, 2]
    bank.remove([1])
    assert bank.add(2).tolist() == [1, 3]
    assert bank.votes([1.0]).tolist() == [[0.0, 1.0]] * 4
    assert bank.votes([1.0], []).shape == (0, 2)
    bank.learn([0, 3], [1.0, np.nan], 1)
    assert RiverClassifierBank(Constant(None)).clone().votes([1.0]).shape == (0, 2)
    assert repr(bank) == "<RiverClassifierBank of 4 Constant>"


@pytest.mark.parametrize("detector", [river.drift.ADWIN(), river.drift.binary.DDM(), river.drift.PageHinkley()])
def test_river_detectors(detector):
    X, Y = drifting(600)
    model = BRResampled(drift=detector)
    predicted = model.test_then_train(X, Y) > 0.5
    for label, times in model.concepts().items():
        alone, drifts = detector.clone(), []
        for t in range(600):
            alone.update(bool(predicted[t, label] != Y[t, label]))
            if alone.drift_detected:
                drifts.append(t)
                alone = detector.clone()
        assert times == drifts
    assert model.counts()["drifts"] > 0
    same = BRResampled(drift=RiverBank(detector))
    same.learn_many(X, Y)
    other = copy.deepcopy(model)
    for later in (model, same, other, pickle.loads(pickle.dumps(model))):
        later.learn_many(*drifting(100, seed=4))
        np.testing.assert_array_equal(later.predict_proba_many(X), model.predict_proba_many(X))
        assert later.concepts() == model.concepts()


def test_memory_does_not_grow_once_it_is_limited():
    model = BRMarlene(base=HoeffdingForest([], max_nodes=15, grace_period=20), drift="oracle", max_models=7)
    rng = np.random.default_rng(0)
    sizes = []
    for t in range(300):
        X, Y = drifting(10, seed=t % 60)
        stream = "old" if t % 4 == 0 else None
        model.learn_many(X, Y[:, : 2 if stream else 3], stream=stream)
        model.signal_drift([int(rng.integers(0, 2))], stream=stream)
        ensemble = model._ensemble
        latest = sum(len(tasks) for tasks in ensemble.streams.values())
        assert len(ensemble.active) <= max(7, latest)
        assert len(ensemble.bank) == len(ensemble.active) + sum(
            (s.background >= 0).sum() for s in ensemble.streams.values()
        )
        sizes.append(
            (ensemble.bank.nbytes, ensemble.members.classifier.nbytes, ensemble.records.nbytes, len(ensemble.origins))
        )
    assert sizes[100] == sizes[-1]
    assert model.counts() == {"models": 7, "drifts": 300}


def test_the_least_useful_goes_first_and_new_labels_count():
    model = BRMarlene(drift="oracle", max_models=4)
    X, Y = drifting(200)
    model.learn_many(X, Y)
    model.signal_drift([0])
    model.learn_many(X[:50], Y[:50])
    weight = {h: model._ensemble.judged()[:, 0, h].sum() for h in model._ensemble.active.tolist()}
    assert len(weight) == 4
    model.signal_drift([1])
    # The concept that ended is compared as it stands after the records of its label were reset.
    origins = {(o.label, o.number) for o in model._ensemble.origins if o}
    assert {(0, 1), (1, 1), (2, 0)} < origins
    assert model.counts()["models"] == 4
    model.learn_one({0: 1.0}, {"fourth": True})
    assert model.counts()["models"] == 4
    model.learn_one({0: 1.0}, {"fifth": True})
    assert model.counts()["models"] == 5
    assert {o.label for o in model._ensemble.origins if o} == {0, 1, 2, "fourth", "fifth"}


@pytest.fixture(scope="module")
def told():
    model = BRMarlene(drift=sensitive())
    model.learn_many(*drifting(150, 2, seed=1), stream="old")
    model.learn_many(*drifting(300))
    return model


def test_what_it_explains(told):
    alpha, origins = told._ensemble.judged()[:, 0], told._ensemble.origins
    matrix, ratios = told.transfer_matrix(), told.swr()
    for label in range(3):
        rows = told.explain(label)
        assert len(rows) == told.counts()["models"]
        assert [row["weight"] for row in rows] == sorted((row["weight"] for row in rows), reverse=True)
        assert sum(row["share"] for row in rows) == pytest.approx(1)
        assert all(0 <= row["ppv"] <= 1 and 0 <= row["npv"] <= 1 for row in rows)
        assert sum(matrix[label].values()) == pytest.approx(1)
        for (stream, other), share in matrix[label].items():
            parts = [row["share"] for row in rows if (row["stream"], row["label"]) == (stream, other)]
            assert share == pytest.approx(sum(parts))
        others = [h for h, o in enumerate(origins) if o and (o.stream, o.label) != (None, label)]
        by_hand = alpha[label, others].sum() / alpha[label].sum()
        assert ratios[label] == pytest.approx(by_hand)
        assert ratios[label] == pytest.approx(1 - matrix[label][None, label])
    assert set(matrix[0]) == {(None, 0), (None, 1), (None, 2), ("old", 0), ("old", 1)}
    assert told.aswr() == pytest.approx(np.mean(list(ratios.values())))
    assert BRMarlene().aswr() == 0.0
    assert BRMarlene().swr() == BRMarlene().transfer_matrix() == {}


def test_what_it_records(told):
    members = told.counts()["models"]
    for label, times in told.concepts().items():
        records = told.records(label)
        assert list(records) == ["tp", "fp", "tn", "fn", "sc", "sw", "alpha"]
        assert {len(column) for column in records.values()} == {members}
        seen = records["tp"] + records["fp"] + records["tn"] + records["fn"]
        assert seen.max() == 300 - (times[-1] if times else 0)
        both = records["sc"] + records["sw"]
        np.testing.assert_allclose(
            records["alpha"], np.divide(records["sc"], both, where=both > 0, out=np.zeros(members))
        )
        assert [row["concept"] for row in told.explain(label) if (row["stream"], row["label"]) == (None, label)]
    drifts = [time for stream in (None, "old") for times in told.concepts(stream).values() for time in times]
    assert told.counts()["drifts"] == len(drifts) > 0
    assert list(told.concepts("old")) == [0, 1]


def test_without_transfer_all_weight_is_a_labels_own():
    model = BRResampled(drift=sensitive())
    model.learn_many(*drifting(300))
    assert model.aswr() == 0.0
    assert model.transfer_matrix()[1][None, 1] == 1.0
    assert model.counts()["models"] == 3
    assert [row["label"] for row in model.explain(2) if row["weight"]] == [2]


def test_kernels_can_be_loaded_beforehand():
    for learner in LEARNERS:
        model = learner()
        model.load_kernels()
        assert contents(model) == contents(learner())


def binary_stream(n=900, seed=0):
    """Return sparse binary rows, and labels whose rule changes twice."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 12)) < 0.25).astype(float)
    rules = rng.normal(size=(3, 12, 3))
    Y = np.einsum("nf,nfl->nl", X, rules[np.arange(n) * 3 // n]) > 0.5
    return X, Y.astype(np.int8)


@pytest.mark.parametrize("learner", [BRMarlene, BRPWMarlene])
@pytest.mark.parametrize("options", [{}, {"max_models": 5}], ids=str)
def test_what_is_written_down_of_old_classifiers_votes_as_they_did(learner, options, monkeypatch, tmp_path):
    X, Y = binary_stream()
    base = HoeffdingForest([], grace_period=50, tie_threshold=0.2)
    model = learner(base=base, drift=sensitive(), features="binary", **options)
    found = [model.test_then_train(X[:450], Y[:450])]
    model.save(tmp_path / "model.npz")
    loaded = learner.load(tmp_path / "model.npz")
    found.append(model.test_then_train(X[450:], Y[450:]))
    np.testing.assert_array_equal(loaded.test_then_train(X[450:], Y[450:]), found[1])
    assert model._ensemble.classifiers._freezer.arrays().sizes[0] > 1
    monkeypatch.setattr(_freezer, "MOST_FEATURES", 0)
    plain = learner(base=base, drift=sensitive(), features="binary", **options)
    np.testing.assert_allclose(np.concatenate(found), plain.test_then_train(X, Y), rtol=0, atol=1e-9)
    assert plain._ensemble.classifiers._freezer.arrays().sizes[0] == 0
    assert plain.counts() == model.counts()


def test_what_is_written_down_follows_new_features():
    X, Y = binary_stream()
    model, plain = (BRMarlene(drift=sensitive(), features="binary") for _ in range(2))
    wide = np.column_stack([X, np.zeros(len(X))])
    wide[600:, 12] = np.arange(300) % 2
    model.learn_many(X[:600], Y[:600])
    plain.learn_many(wide[:600], Y[:600])
    np.testing.assert_allclose(
        model.test_then_train(wide[600:], Y[600:]), plain.test_then_train(wide[600:], Y[600:]), rtol=0, atol=1e-12
    )
    assert model._ensemble.classifiers._freezer.arrays().sizes[0] > 1


@every_learner
@pytest.mark.parametrize("base", ["naive-bayes", "linear", NaiveBayesBank(smoothing=0.5)], ids=str)
def test_banks_of_simple_classifiers_are_saved_to_the_bit(learner, base, tmp_path):
    X, Y = drifting(300)
    model = learner(base=base, drift=sensitive())
    model.learn_many(X[:200], Y[:200])
    model.save(tmp_path / "model.npz")
    loaded = type(model).load(tmp_path / "model.npz")
    assert loaded.base == base if isinstance(base, str) else loaded.base.settings() == base.settings()
    assert np.array_equal(loaded.test_then_train(X[200:], Y[200:]), model.test_then_train(X[200:], Y[200:]))
    assert contents(loaded) == contents(model)
