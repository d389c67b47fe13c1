"""The imitation of the authors' program beside its slow twin."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene.experiments.program._br_marlene import ProgramBRMarlene
from marlene.experiments.program._brpw_marlene import ProgramBRPWMarlene
from marlene.experiments.program._java import JavaRandom, repeated_draw
from marlene.experiments.program._slips import HalfOfLargest, Undivided, WekaBank, mekas_sets, slipped
from marlene.kernels.compile import kernel
from marlene.learners import BRPWMarlene
from marlene.learners.input._rows import rows_of_matrix
from marlene.streams import load
from tests.naive.program import WekaTree, naive_program, program_votes, repeated

UNIFORM, NORMAL = 0.7308781907032909, 1.561581040188955
SPLIT_ROWS = 1500


@kernel
def draw(rate, uniform, normal):
    return repeated_draw(rate, uniform, normal)


def test_java_draws_these_numbers():
    # What `new java.util.Random(seed)` gives first.
    assert [JavaRandom(seed).uniform() for seed in (1, 42)] == [UNIFORM, 0.7275636800328681]
    assert JavaRandom(1).normal() == pytest.approx(NORMAL, rel=1e-12)
    assert JavaRandom(42).normal() == pytest.approx(1.1419053154730547, rel=1e-12)


def test_draws_are_quantiles_and_for_high_rates_normal():
    for rate in [1.0, 1.5, 2.25, 7.0, 31.4, 99.0, 100.0, 250.5]:
        assert draw(rate, UNIFORM, 1.5) == repeated(rate, UNIFORM, 1.5)
    assert draw(100.0, UNIFORM, 1.5) == 115
    assert draw(100.0, UNIFORM, -20.0) == 0


@pytest.mark.parametrize(
    ("raw", "votes"),
    [
        ((1.0, 3.0), (0.25, 0.75)),
        ((math.inf, 0.0), (1.0, 0.0)),
        ((0.5, math.inf), (0.0, 1.0)),
        ((math.inf, math.inf), (1.0, 0.0)),
        ((0.0, 2e-313), (1.0, 0.0)),  # as the recorded traces have it
        ((math.nan, 1.0), (0.0, 0.0)),
        ((1e308, 1e308), (0.0, 0.0)),
        ((2.0,), (1.0, 0.0)),
        ((), (0.0, 0.0)),
    ],
)
def test_what_is_no_number_is_repaired(raw, votes):
    assert program_votes(raw) == votes


def blobs(seed, rows, features, labels, scale):
    """Return labels that depend on groups of features; a small scale lets products overflow, a large one underflow."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((rows, labels)) < rng.uniform(0.05, 0.6, labels)).astype(np.int8)
    X = rng.normal(size=(rows, features)) + Y @ rng.normal(size=(labels, features)) * 2.0
    return np.where(rng.random((rows, features)) < 0.3, 0.0, X * scale), Y


def compare(X, Y):
    twin = naive_program(X.shape[1], UNIFORM, NORMAL)
    probabilities, pred = ProgramBRMarlene(1).decide_then_train(X, Y)
    expected, decided = [], []
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        said = twin.predict_proba(x) or dict.fromkeys(range(len(y)), (0.5, 0.5))
        expected.append([said[label][1] for label in range(len(y))])
        told = twin.predict(x) or dict.fromkeys(range(len(y)), 0)
        decided.append([told[label] for label in range(len(y))])
        twin.learn(x, dict(enumerate(y)))
    np.testing.assert_allclose(probabilities, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(pred, decided)
    return twin


@pytest.mark.parametrize(
    ("rows", "features", "scale"), [(250, 40, 1.0), (250, 40, 1e-9), (250, 40, 1e9), (SPLIT_ROWS, 3, 1.0)]
)
def test_the_imitation_is_its_slow_twin(rows, features, scale):
    X, Y = blobs(rows + features, rows, features, 3, scale)
    twin = compare(X, Y)
    splits = sum(model.tree.n_split for model in twin.models)
    assert (splits > 0) == (rows == SPLIT_ROWS)
    leaves = [model.tree.root for model in twin.models] if rows < SPLIT_ROWS else []
    products = [leaf.products(x) for leaf in leaves for x in X[-50:].tolist()]
    assert any(math.inf in factors for factors in products) == (scale < 1.0)
    assert any(max(factors) == 0.0 for factors in products) == (scale > 1.0)


def test_constant_features_and_rare_labels():
    X, Y = blobs(5, 400, 6, 3, 1.0)
    X[:, 2] = 0.0
    X[:300, 4] = 1.0
    Y[:200, 1] = 0
    Y[:, 2] = 0
    compare(X, Y)


def test_a_large_tree_splits_even_if_no_feature_is_any_good():
    rng = np.random.default_rng(2)
    X = np.zeros((4000, 2))
    X[rng.choice(4000, 8, replace=False), 0] = 1.0
    X[rng.choice(4000, 6, replace=False), 1] = 1.0
    Y = (rng.random((4000, 1)) < 0.5).astype(np.int8)
    twin = compare(X, Y)
    assert twin.models[0].tree.n_split > 0


@pytest.mark.data
def test_on_the_beginning_of_yeast():
    stream = load("yeast", limit=400)
    compare(stream.X, stream.Y)


def test_blocks_sparse_rows_and_predictions_change_nothing():
    X, Y = blobs(7, 300, 5, 2, 1.0)
    whole, blocks = ProgramBRMarlene(1), ProgramBRMarlene(1)
    expected = whole.test_then_train(X, Y)
    blocks.learn_many(sp.csr_array(X[:100]), Y[:100])
    before = blocks.predict_proba_many(X[100:101])
    np.testing.assert_array_equal(blocks.test_then_train(X[100:], Y[100:]), expected[100:])
    np.testing.assert_array_equal(before[0], expected[100])
    assert blocks.counts() == {"models": 2, "drifts": 0}


def test_what_it_cannot_take_is_refused():
    with pytest.raises(MarleneError, match="neither missing values nor unknown labels"):
        ProgramBRMarlene().learn_many(np.array([[np.nan]]), np.array([[1]]))
    with pytest.raises(MarleneError, match="nothing has been learnt"):
        ProgramBRMarlene().predict_proba_many(np.zeros((1, 1)))


@pytest.mark.parametrize(("rows", "features", "scale"), [(300, 30, 0.01), (300, 30, 1.0), (2500, 3, 1.0)])
def test_wekas_trees_are_their_slow_twins(rows, features, scale):
    X, Y = blobs(rows, rows, features, 2, scale)
    bank, twins = WekaBank(), [WekaTree(features), WekaTree(features)]
    bank.add_features([0] * features)
    ids = bank.add(2)
    rng = np.random.default_rng(rows)
    for x, y in zip(X, Y, strict=True):
        np.testing.assert_allclose(bank.votes(x), [twin.votes(x.tolist()) for twin in twins], rtol=0, atol=1e-9)
        weights = rng.integers(0, 3, 2)
        bank.learn(ids, x, y, weights)
        for twin, own, weight in zip(twins, y.tolist(), weights.tolist(), strict=True):
            twin.learn(x.tolist(), own, weight)
    assert (sum(twin.n_split for twin in twins) > 0) == (rows == 2500)


def test_trees_of_a_bank_come_and_go():
    X, Y = blobs(1, 60, 3, 1, 1.0)
    bank = WekaBank()
    bank.add_features([0] * 3)
    first = bank.add(1)
    for x, y in zip(X, Y, strict=True):
        bank.learn(first, x, y)
    later = bank.add(3)
    assert bank.votes(X[0], later).tolist() == [[0.0, 0.0]] * 3
    for x, y in zip(X, Y, strict=True):
        bank.learn(later[1:2], x, y)
    np.testing.assert_array_equal(bank.votes(X[5], later[1:2]), bank.votes(X[5], first))
    bank.remove(first)
    assert bank.ids == later.tolist()
    with pytest.raises(MarleneError, match="needs all features at the beginning"):
        bank.add_features([0])


def test_links_of_a_chain_of_wekas_trees_see_the_labels_before_them_as_numbers():
    X, Y = blobs(7, 300, 3, 3, 1.0)
    committee = slipped("ecc", 1, {"weka": True}).transformation.committee(1)
    committee.add_features([0] * 3)
    committee.add_labels(3, np.array([8], np.uint64))
    scores = np.empty((len(X), 1, 3))
    committee.run(rows_of_matrix(X)[0], Y.astype(np.int8), np.ones((len(X), 1), np.int64), scores)
    order, twins = committee.order[0].tolist(), [WekaTree(6) for _ in range(3)]
    for row, (x, y) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
        guessed, known = [0.0] * 3, [0.0] * 3
        for twin, label in zip(twins, order, strict=True):
            against, in_favour = twin.votes(x + guessed)
            total = against + in_favour
            assert scores[row, 0, label] == pytest.approx(in_favour / total if total else 0.5, abs=1e-9)
            guessed[label] = float(in_favour > against)
        for twin, label in zip(twins, order, strict=True):
            twin.learn(x + known, y[label], 1)
            known[label] = float(y[label])


def test_half_of_the_largest_score():
    X, Y = blobs(2, 200, 4, 3, 1.0)
    model = HalfOfLargest(slipped("gobr", 1, {}).transformation, chunk=50)
    proba = model.test_then_train(X, Y)
    assert (proba[:50] == 0.5).all()
    assert (proba[50:].max(axis=1) == 1.0).all()
    scores = np.random.default_rng(4).random((6, 4, 3))
    model._weights[:] = np.arange(10.0)
    total = sum(scores[:, member] * member for member in range(4))
    np.testing.assert_array_equal(model._weighted(scores) > 0.5, total > total.max(axis=1, keepdims=True) / 2)


def test_votes_that_are_normalised_rarely_reach_a_half():
    X, Y = blobs(3, 200, 4, 3, 1.0)
    proba = slipped("ert", 1, {"normalised": True}).test_then_train(X, Y)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


def test_meka_prunes_only_where_there_are_too_many_sets():
    counts = {frozenset({0}): 5, frozenset({1}): 1, frozenset({0, 1}): 2, frozenset(): 1}
    assert len(mekas_sets(counts, 4)) == 4
    assert mekas_sets(counts, 3) == [frozenset({0}), frozenset({0, 1})]
    assert len(mekas_sets(dict.fromkeys(counts, 1), 3)) == 3


def test_switches_make_the_learner_they_name():
    assert slipped("ert", 1, {"unsplit": True}).transformation.grace_period == 10**9
    bare = slipped("gops", 1, {"meka": True, "bare": True, "largest": True})
    assert isinstance(bare, HalfOfLargest)
    assert (bare.transformation.parts, bare.transformation.base.settings()["variance_floor"]) == (0, 0.0)
    with pytest.raises(MarleneError, match="there is no switch 'mekka'"):
        slipped("eps", 1, {"mekka": True})


def test_a_drift_also_renews_the_pairs_that_are_given_the_label():
    X, Y = blobs(5, 40, 2, 3, 1.0)
    concepts = {}
    for kind in (BRPWMarlene, ProgramBRPWMarlene):
        model = kind(drift="oracle")
        model.learn_many(X, Y)
        tasks = model._pair_ensemble.streams[None]
        label = tasks.labels[0][1]
        begun = []
        plain = model._pair_ensemble._begin_concept
        model._pair_ensemble._begin_concept = lambda tasks, task, plain=plain, begun=begun: (
            begun.append(tasks.labels[task]),
            plain(tasks, task),
        )
        model.signal_drift([label])
        concepts[kind] = set(begun)
        assert len(begun) == len(concepts[kind])
    with_label = {pair for pair in tasks.labels if label in pair}
    assert concepts[BRPWMarlene] == {pair for pair in with_label if pair[1] == label}
    assert concepts[ProgramBRPWMarlene] == with_label


def test_labels_after_the_one_with_the_largest_score_are_compared_with_a_half():
    model = Undivided(slipped("gobr", 1, {}).transformation, chunk=50)
    votes = np.array([[0.3, 0.6, 0.4, 0.2], [0.1, 0.2, 3.0, 0.7], [3.0, 0.4, 0.6, 2.0], [0.0, 0.0, 0.0, 0.0]])
    expected = []
    for row in votes.tolist():  # in place, as the program does
        largest = row.index(max(row))
        for i in range(len(row)):
            row[i] = row[i] / row[largest] if row[largest] > 0 else row[i]
        expected.append(row)
    np.testing.assert_array_equal(model._divided(votes) > 0.5, np.array(expected) > 0.5)


def test_hard_chains_vote_0_or_1():
    X, Y = blobs(6, 200, 4, 3, 1.0)
    proba = slipped("ecc", 1, {"hard": True}).test_then_train(X, Y)
    votes = proba * 10
    np.testing.assert_allclose(votes, np.round(votes), atol=1e-9)
