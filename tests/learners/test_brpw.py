"""BRPW-MARLENE against the recorded run, its naive version and BR-MARLENE, and what only it has."""

import os
from concurrent.futures import Future

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.drift import DDMOCIBank
from marlene.kernels.ensemble.pairs import sweep
from marlene.kernels.ensemble.state import ROW
from marlene.learners import BRMarlene, BRPWMarlene
from marlene.learners.marlene import _pair_ensemble
from marlene.learners.marlene._dependence import EVERY, Dependence
from marlene.learners.marlene._pairs import contributions
from marlene.streams import Feature
from marlene.trees import HoeffdingForest
from tests.learners.streams import contents, drifting, sensitive
from tests.learners.test_br_against_naive import CLOSE, KINDS, POLICIES, TREE, examples
from tests.naive.brpw_marlene import NaiveBRPWMarlene
from tests.naive.hoeffding_tree import NaiveHoeffdingTree
from tests.naive.partners import NaivePartners
from tests.naive.replay import load_trace
from tests.naive.replay_brpw import BRPW_TRACE

OPTIONS = {"combine": "marginal", "weighting": "predicted", "pooling": "mean", "voters": "own"}


def correlated(n=400, n_labels=4, seed=0):
    """Return the rows of `drifting`, with labels of which the last repeats the first with some noise."""
    X, Y = drifting(n, n_labels, seed)
    flip = np.random.default_rng(seed).random(n) < 0.1
    Y[:, -1] = np.where(flip, 1 - Y[:, 0], Y[:, 0])
    return X, Y


@pytest.mark.golden
def test_recorded_run():
    trace = load_trace(BRPW_TRACE)
    X, Y = trace["X"], trace["Y"]
    model = BRPWMarlene(
        base=HoeffdingForest([], variance_floor=0),
        drift=DDMOCIBank(strict=False),
        resampling="expected",
        features="numeric",
    )
    n_labels = Y.shape[1]
    for t in range(len(Y)):
        if t:
            found = model.predict_proba_many(X[t : t + 1])[0]
            total = trace["v0"][t] + trace["v1"][t]
            expected = np.where(total > 0, trace["v1"][t] / np.where(total > 0, total, 1), 0.5)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
            np.testing.assert_array_equal(found > 0.5, trace["pred"][t] == 1)
            np.testing.assert_allclose(model.aswr(), trace["aswr"][t], rtol=0, atol=1e-9)
        model.learn_many(X[t : t + 1], Y[t : t + 1])
        tasks = model._pair_ensemble.target
        n_pw = np.zeros((n_labels, n_labels), int)
        n_pw[tasks.given, tasks.label] = tasks.concepts
        np.testing.assert_array_equal(n_pw, trace["n_pw"][t])
        np.testing.assert_array_equal(model._ensemble.target.concepts, trace["n_br"][t])


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("published ddm-oci", {"combine": "predicted"}),
        ("oracle", {"combine": "marginal"}),
        ("adwin", {"combine": "marginal"}),
        ("published ddm-oci", {"voters": "own"}),
        ("oracle", {"voters": "own", "combine": "marginal"}),
    ],
)
@settings(max_examples=3)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_same_at_every_step_as_the_naive_version(policy, options, seed):
    rng = np.random.default_rng(seed)
    bank, make_detector = POLICIES[policy]
    trees = []

    def make_tree(kinds):
        trees.append(NaiveHoeffdingTree(kinds=kinds, **TREE))
        return trees[-1]

    naive = NaiveBRPWMarlene(KINDS, make_tree, make_detector, **options)
    model = BRPWMarlene(base=HoeffdingForest([], **TREE), drift=bank, resampling="expected", **options)
    features = [Feature(str(i), "binary" if kind else "numeric") for i, kind in enumerate(KINDS)]
    streams = {None: examples(rng, 140, 3), "archive": examples(rng, 80, 2)}
    for stream, (_, Y) in streams.items():
        model.declare(features, range(Y.shape[1]) if stream is None else (), stream=stream)
    order = rng.permutation([stream for stream, (_, Y) in streams.items() for _ in range(len(Y))])
    position = dict.fromkeys(streams, 0)
    for stream in order.tolist():
        t = position[stream]
        position[stream] += 1
        X, Y = streams[stream]
        x, y = X[t].tolist(), {label: int(v) for label, v in enumerate(Y[t]) if v >= 0}
        if policy == "oracle" and t and t % 40 == 0:
            naive.signal_drift([0], stream)
            model.signal_drift([0], stream=stream)
        if stream is None and t:
            expected = naive.predict_proba(x)
            found = model.predict_proba_many(X[t : t + 1])[0]
            # SC and SW may be tiny and grow by ratios of sums: rounding reaches 1.2e-9 for one seed in thousands.
            np.testing.assert_allclose(found, [expected[q][1] for q in range(3)], rtol=0, atol=10 * CLOSE)
        naive.learn(x, y, stream)
        model.learn_many(X[t : t + 1], Y[t : t + 1], stream=stream)
        assume(min(tree.closest_call for tree in trees) > CLOSE)
    np.testing.assert_allclose(model.aswr(), naive.aswr(), rtol=0, atol=CLOSE)


def test_its_labels_are_those_of_br_marlene_alone():
    X, Y = correlated()
    alone, both = BRMarlene(seed=3, drift=sensitive()), BRPWMarlene(seed=3, drift=sensitive())
    alone.learn_many(X, Y)
    both.learn_many(X, Y)
    assert alone.concepts() == both.concepts()
    assert max(map(len, alone.concepts().values())) > 0
    for label in range(4):
        for name, column in alone.records(label).items():
            np.testing.assert_array_equal(column, both.records(label)[name])
    assert alone.explain(0) == both.explain(0)


BLOCKS = [
    {},
    OPTIONS,
    {"pairs": 2},
    {"pairs": 2, "voters": "all"},
    {"pairs": [(0, 3), (3, 0), (1, 9)]},
    {"max_models": 14},
    {"base": "naive-bayes"},
    {"base": "naive-bayes", "voters": "own"},
]


@pytest.mark.parametrize("precise", [True, False])
@pytest.mark.parametrize("options", BLOCKS, ids=str)
def test_blocks_and_saving_change_nothing(options, precise, tmp_path, monkeypatch):
    monkeypatch.setattr(_pair_ensemble, "PRECISE_UP_TO", 100 if precise else 0)
    X, Y = correlated()
    Y[::7, 1] = -1
    whole, parts = (BRPWMarlene(drift=sensitive(), **options) for _ in range(2))
    expected = whole.test_then_train(X, Y)
    found = []
    for part in np.split(np.arange(len(X)), [7, 130, 131, 300]):
        found.append(parts.test_then_train(X[part], Y[part]))
        parts.save(tmp_path / "model.npz")
        parts = BRPWMarlene.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(np.concatenate(found), expected)
    assert contents(parts) == contents(whole)
    assert whole.counts()["drifts"] > 3


def test_threads_and_precision(monkeypatch):
    X, Y = correlated()
    expected = BRPWMarlene(drift=sensitive()).test_then_train(X, Y)
    monkeypatch.setattr(_pair_ensemble, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(_pair_ensemble, "_cores", lambda: 5)
    np.testing.assert_array_equal(BRPWMarlene(drift=sensitive()).test_then_train(X, Y), expected)
    monkeypatch.setattr(_pair_ensemble, "PRECISE_UP_TO", 5)
    model = BRPWMarlene(drift=sensitive())
    found = model.test_then_train(X, Y)
    assert model._pair_ensemble.records.dtype == np.float32
    assert np.abs(found - expected).max() < 1e-3
    assert not np.array_equal(found, expected)


def test_no_task_is_swept_twice_when_threads_are_interrupted(monkeypatch):
    X, Y = correlated()
    monkeypatch.setattr(_pair_ensemble, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(_pair_ensemble, "_cores", lambda: 3)
    running = []

    class Impatient(Future):
        def result(self, *_):
            raise KeyboardInterrupt

    class Pool:
        def submit(self, work, *bounds):
            running.append((work, bounds))
            return Impatient()

    def finish(_):
        for work, bounds in running:
            work(*bounds)
        running.clear()

    model, twin = BRPWMarlene(), BRPWMarlene()
    model.learn_many(X[:50], Y[:50])
    monkeypatch.setattr(_pair_ensemble, "_threads", Pool)
    monkeypatch.setattr(_pair_ensemble, "wait", finish)
    with pytest.raises(KeyboardInterrupt):
        model.learn_many(X[50:60], Y[50:60])
    monkeypatch.undo()
    twin.learn_many(X[:58], Y[:58])
    np.testing.assert_array_equal(model._pair_ensemble.records, twin._pair_ensemble.records)


def test_kernels_of_either_precision_are_loaded_beforehand(monkeypatch):
    BRPWMarlene().load_kernels()
    before = len(sweep.signatures)
    X, Y = correlated()
    BRPWMarlene().test_then_train(X, Y)
    monkeypatch.setattr(_pair_ensemble, "PRECISE_UP_TO", 5)
    BRPWMarlene().test_then_train(X, Y)
    assert len(sweep.signatures) == before >= 2


def test_what_pairs_say_adds_up():
    X, Y = correlated()
    model = BRPWMarlene()
    model.learn_many(X, Y)
    x = dict(enumerate(X[0].tolist()))
    said = model.explain_one(x)
    for label, p in model.predict_proba_one(x).items():
        no, yes = np.sum(list(said[label].values()), axis=0)
        assert p[True] == pytest.approx(yes / (no + yes), abs=1e-12)
        assert set(said[label]) == {None, 0, 1, 2, 3} - {label}
    heaviest = model.explain_pair(0, 3)[0]
    assert set(heaviest) == {"stream", "label", "concept", "weight", "share", "ppv", "npv"}
    assert sum(row["share"] for row in model.explain_pair(0, 3)) == pytest.approx(1)
    assert 0 < model.aswr() < 1
    with pytest.raises(MarleneError, match=r"the pair \(3, 3\) is not modelled"):
        model.explain_pair(3, 3)


def test_marginal_weights_both_values():
    said, votes = np.array([0.8, np.nan]), np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5]]])
    own, added = contributions(said, np.array([1, 0], np.int8), votes, np.array([0, 1]), both=True)
    np.testing.assert_allclose(own, [[0.2, 0.8], [0, 0]])
    np.testing.assert_allclose(added, [[0.2 * 0.9 + 0.8 * 0.2, 0.2 * 0.1 + 0.8 * 0.8], [0, 0]])
    own, added = contributions(said, np.array([1, 0], np.int8), votes, np.array([0, 1]), both=False)
    np.testing.assert_allclose(added, [[0.8 * 0.2, 0.8 * 0.8], [0, 0]])


def test_who_votes_by_default():
    X, Y = correlated()
    found = {voters: BRPWMarlene(pairs=2, voters=voters).test_then_train(X, Y) for voters in (None, "own", "all")}
    np.testing.assert_array_equal(found[None], found["own"])
    assert not np.array_equal(found[None], found["all"])
    model = BRPWMarlene(pairs=2)
    model.learn_many(X, Y)
    given, label = model._pair_ensemble.target.labels[0]
    assert {row["label"] for row in model.explain_pair(given, label) if row["weight"] > 0} == {(given, label)}
    assert model.aswr() == 0


def test_options_change_what_is_predicted():
    X, Y = correlated()
    usual = BRPWMarlene().test_then_train(X, Y)
    for name, value in OPTIONS.items():
        assert not np.array_equal(BRPWMarlene(**{name: value}).test_then_train(X, Y), usual), name


def test_partners_are_the_labels_that_depend_on_each_other():
    X, Y = correlated(600)
    model = BRPWMarlene(pairs=1, drift=None)
    model.learn_many(X[: EVERY - 1], Y[: EVERY - 1])
    assert len(model._pair_ensemble.target) == 0
    model.learn_many(X[EVERY - 1 :], Y[EVERY - 1 :])
    chosen = model._pair_ensemble.target.labels
    assert (0, 3) in chosen
    assert (3, 0) in chosen
    assert sorted(label for _, label in chosen) == [0, 1, 2, 3]


def test_partners_change_and_old_classifiers_stay():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(1200, 3)), rng.integers(0, 2, (1200, 3)).astype(np.int8)
    Y[:200, 1] = Y[:200, 0]
    Y[200:, 2] = Y[200:, 0]
    model = BRPWMarlene(pairs=1, drift=None)
    model.learn_many(X[:200], Y[:200])
    assert (1, 0) in model._pair_ensemble.target.labels
    model.learn_many(X[200:], Y[200:])
    ensemble = model._pair_ensemble
    assert (2, 0) in ensemble.target.labels
    assert (1, 0) not in ensemble.target.labels
    assert (1, 0) in {origin.label for origin in ensemble.origins if origin}
    assert len(ensemble.active) <= 2 * len(ensemble.target)
    assert model.predict_many(X).shape == Y.shape


def test_labels_that_exclude_each_other_keep_their_partners():
    # One label of twenty is true: they all tell as much of each other, and what is best is up to chance.
    rng = np.random.default_rng(1)
    dependence, pairs, replaced = Dependence(), [], 0
    for _ in range(40):
        dependence.count(np.eye(20, dtype=np.int8)[rng.integers(0, 20, EVERY)])
        chosen = dependence.partners(range(20), 3, pairs)
        assert len(chosen) == 60
        replaced += len(set(pairs) - set(chosen))
        pairs = chosen
    assert replaced <= 6


def test_a_label_that_becomes_clearly_better_is_a_partner():
    rng = np.random.default_rng(2)
    dependence, pairs = Dependence(), []
    for part in range(60):
        labels = rng.integers(0, 2, (EVERY, 3)).astype(np.int8)
        labels[:, 1 if part < 10 else 2] = labels[:, 0]
        dependence.count(labels)
        pairs = dependence.partners(range(3), 1, pairs)
        assert part >= 10 or pairs[0] == (1, 0)
    assert pairs[0] == (2, 0)


@pytest.mark.parametrize(("fading", "margin"), [(0.999, 20.0), (0.9, 0.0), (0.7, 3.0)])
def test_partners_are_those_of_the_naive_version(fading, margin):
    # Dependences change twice, a fifth of the labels is unknown, and two labels come later.
    rng = np.random.default_rng(5)
    model = BRPWMarlene(pairs=2, drift=None, partner_fading=fading, partner_margin=margin)
    naive, seen = NaivePartners(2, fading, margin), set()
    for part in range(12):
        labels = list(range(4 if part < 3 else 6))
        Y = rng.integers(0, 2, (EVERY, len(labels)))
        for label in labels[:-1]:
            copied = rng.random(EVERY) < (0.2, 0.9, 0.5)[(label + part // 4) % 3]
            Y[:, label] = np.where(copied, Y[:, -1], Y[:, label])
        Y[rng.random(Y.shape) < 0.2] = -1
        for row in Y.tolist():
            y = {label: value for label, value in zip(labels, row, strict=True) if value >= 0}
            model.learn_one({"x": 1.0}, y)
            naive.learn(y, model._labels(None))
        chosen = {(given, label) for label, partners in naive.chosen.items() for given in partners}
        assert set(model._pair_ensemble.target.labels) == chosen
        seen |= chosen
    assert len(seen) > 2 * 6


def test_a_label_is_not_its_own_partner():
    dependence = Dependence()
    dependence.count(np.random.default_rng(0).integers(-1, 2, (EVERY, 2)).astype(np.int8))
    assert dependence.partners(["a", "b"], 5, []) == [("b", "a"), ("a", "b")]


def test_memory_is_said_before_it_is_taken():
    model = BRPWMarlene()
    assert model.memory_estimate(103, 500) > 10506**2 * 24 / 1e6
    few = BRPWMarlene(pairs=5)
    assert few.memory_estimate(103, 500) < model.memory_estimate(103, 500) / 50
    assert few.memory_estimate(1000, 50) < 25 * few.memory_estimate(100, 50)
    few.declare([Feature("x", "numeric")], range(60))
    few.learn_many(np.zeros((EVERY, 1)), np.random.default_rng(0).integers(0, 2, (EVERY, 60)))
    assert few._pair_ensemble.records.shape[0] == 1
    small = BRPWMarlene(max_memory=0.01)
    with pytest.raises(
        MarleneError, match=r"pairs of 50 labels take about [\d,]+ MB, and 0 MB are allowed: model fewer"
    ):
        small.learn_many(np.zeros((2, 3)), np.zeros((2, 50)))


def test_labels_that_are_refused_leave_no_trace():
    frames = pytest.importorskip("pandas").DataFrame
    X, Y = correlated()
    model, twin = BRPWMarlene(max_memory=0.1), BRPWMarlene(max_memory=0.1)
    for one in (model, twin):
        one.learn_many(frames(X[:100]), frames(Y[:100]))
    wide = frames(np.zeros((2, 40), int))
    with pytest.raises(MarleneError, match="pairs of 40 labels take about"):
        model.learn_many(frames(np.ones((2, 9))), wide)
    assert len(model.explain_one({0: 1.0})) == 4
    more = np.hstack([X[100:], np.ones((len(X) - 100, 9 - X.shape[1]))])
    for one in (model, twin):
        one.learn_many(frames(more), frames(Y[100:]))
    np.testing.assert_array_equal(model.predict_proba_many(more), twin.predict_proba_many(more))
    assert contents(model) == contents(twin)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"pairs": 0}, "pairs must be a whole number of at least 1, not 0"),
        ({"pairs": "some"}, "pairs must be one of all, not 'some'"),
        ({"pairs": [(1, 1)]}, "pairs must be 'all', a number, or pairs of different labels"),
        ({"combine": "both"}, "combine must be one of predicted, marginal, not 'both'"),
        ({"voters": ""}, "voters must be one of all, own, not ''"),
        ({"partner_fading": 0.0}, "partner_fading must be a number above 0 and up to 1, not 0.0"),
        ({"partner_margin": -1}, "partner_margin must be a number from 0 on, not -1"),
    ],
)
def test_parameters_that_are_refused(options, said):
    with pytest.raises(MarleneError, match=said):
        BRPWMarlene(**options)


def test_two_processors_are_used_where_there_are():
    assert 1 <= _pair_ensemble._cores() <= (os.cpu_count() or 1)


@pytest.mark.parametrize("options", [{}, {"voters": "own"}], ids=str)
def test_an_error_in_the_midst_of_a_row_ends_the_learner(options, monkeypatch):
    X, Y = correlated()
    broken = BRPWMarlene(drift=sensitive(), **options)
    broken.learn_many(X[:53], Y[:53])

    def interrupted(batch):
        assert batch.position[ROW] == 8
        raise KeyboardInterrupt

    monkeypatch.setattr(broken._pair_ensemble, "_judge", interrupted)
    with pytest.raises(KeyboardInterrupt):
        broken.learn_many(X[53:], Y[53:])
    monkeypatch.undo()
    for call in (broken.state, lambda: broken.predict_many(X), lambda: broken.learn_many(X, Y)):
        with pytest.raises(MarleneError, match=r"cannot be used any more, load a saved one$"):
            call()


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("counts", np.zeros((4, 3, 2))),
        ("counts", np.full((4, 3, 3), -1.0)),
        ("counts", np.zeros((4, 4, 4))),
        ("waiting", np.zeros((5, 2), np.int8)),
        ("waiting", np.full((5, 3), 2, np.int8)),
        ("waiting", np.zeros((100, 3), np.int8)),
    ],
)
def test_a_dependence_that_nobody_counted_is_refused(name, wrong):
    dependence = Dependence()
    dependence.count(np.ones((5, 3), np.int8))
    Dependence().restore(dependence.state(), 3)
    with pytest.raises(MarleneError, match="not the state of the dependence of labels, or damaged"):
        Dependence().restore(dependence.state() | {name: wrong}, 3)
