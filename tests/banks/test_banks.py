"""Ids, features, states and refusals of banks, whatever their classifiers are."""

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.banks import LinearBank, NaiveBayesBank
from marlene.kernels.rows import Rows
from marlene.learners import BRMarlene

both = pytest.mark.parametrize("kind", [NaiveBayesBank, LinearBank])


def trained(kind, n=40, seed=0):
    rng = np.random.default_rng(seed)
    bank = kind()
    bank.add_features(["numeric", "binary", 3])
    ids = bank.add(3)
    for _ in range(n):
        x = np.array([rng.normal(), rng.random() < 0.4, rng.integers(0, 3)])
        bank.learn(ids, x, [x[0] > 0, x[1] > 0, x[2] == 2])
    return bank


@both
def test_each_classifier_learns_its_own_class(kind):
    bank = trained(kind, 300)
    for x, expected in [([2, 0, 0], [1, 0, 0]), ([-2, 1, 0], [0, 1, 0]), ([-2, 0, 2], [0, 0, 1])]:
        votes = bank.votes(np.array(x, float))
        assert np.array_equal(votes[:, 1] > votes[:, 0], expected)
        assert votes.sum(axis=1) == pytest.approx(1.0)


@both
def test_ids_are_given_again_and_leave_nothing_behind(kind):
    bank, x = trained(kind), np.array([1.0, 1.0, 1.0])
    before = bank.votes(x)
    bank.remove([1])
    assert bank.ids.tolist() == [0, 2]
    assert np.array_equal(bank.votes(x), before[[0, 2]])
    assert bank.add(2).tolist() == [1, 3]
    assert bank.votes(x, [1, 3]).tolist() == [[0, 0], [0, 0]]
    bank.add(50)
    assert np.array_equal(bank.votes(x, [0, 2]), before[[0, 2]])


@both
def test_features_and_values_that_come_later_change_no_vote(kind):
    bank = trained(kind)
    before = bank.votes(np.array([1.0, 1.0, 2.0]))
    bank.add_features([0, 2, 5])
    bank.widen(2, 4)
    assert bank.kinds.tolist() == [0, 2, 4, 0, 2, 5]
    x = np.array([1.0, 1.0, 2.0, 0, 0, 0])
    assert bank.votes(x) == pytest.approx(before, abs=1e-3)
    for _ in range(30):
        bank.learn([0], np.array([0, 0, 3.0, 0, 0, 0]), 1)
        bank.learn([0], np.array([0, 0, 1.0, 0, 0, 0]), 0)
    votes = bank.votes(np.array([[0, 0, 3.0, 0, 0, 0]]), [0])
    assert votes[0, 1] > votes[0, 0]


@both
def test_states_go_on_to_the_bit(kind):
    bank = trained(kind)
    bank.remove([0])
    bank.add_features([0])
    again = kind.from_state(bank.state(), bank.settings())
    rng = np.random.default_rng(3)
    for each in (bank, again):
        each.widen(2, 5)
    for _ in range(30):
        x = np.array([rng.normal(), 1, rng.integers(0, 5), rng.normal()])
        for each in (bank, again):
            each.learn([1, 2], x, [1, 0], [2, 1])
        assert np.array_equal(bank.votes(x), again.votes(x))
    assert all(np.array_equal(array, again.state()[name]) for name, array in bank.state().items())


@both
def test_damaged_states_are_refused(kind):
    bank = trained(kind)
    state = bank.state()
    for name, array in state.items():
        with pytest.raises(MarleneError, match="not the state of"):
            kind.from_state({other: a for other, a in state.items() if other != name}, bank.settings())
        if array.ndim and name != "alive":
            with pytest.raises(MarleneError, match="not the state of"):
                kind.from_state(state | {name: array[:-1]}, bank.settings())


@both
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("first", [0, 1, 3]),
        ("first", [0, 0, 2]),
        ("first", [0, 1, 1]),
        ("first", [3, 0, 1]),
        ("kinds", [0, 2, 4]),
        ("kinds", [0, 2, 1]),
        ("kinds", [2, 0, 3]),
        ("kinds", [0, 2**62, 3]),
        ("scales.numeric", [9, -1, -1, -1]),
        ("scales.numeric", [-1, 0, -1, -1]),
        ("scales.numeric", [0, 0, -1, -1]),
        ("scales.numeric", [-1, -1, -1, -1]),
    ],
)
def test_impossible_features_are_refused(kind, name, wrong):
    state = trained(kind).state()
    assert (state["kinds"].tolist(), state["first"].tolist()) == ([0, 2, 3], [0, 1, 2])
    assert state["scales.numeric"].tolist() == [0, -1, -1, -1]
    with pytest.raises(MarleneError, match="not the state of the features of a bank, or damaged"):
        kind.from_state(state | {name: np.array(wrong)}, {})


@both
def test_states_after_features_were_dropped_and_widened(kind):
    bank = trained(kind)
    bank.add_features([0, 3, 0])
    bank.widen(2, 6)
    bank.keep(np.array([4, 2, 3, 5]))
    bank.add_features([3, 0])
    bank.widen(0, 9)
    again = kind.from_state(bank.state(), bank.settings())
    assert again.kinds.tolist() == bank.kinds.tolist() == [9, 6, 0, 0, 3, 0]
    for each in (bank, again):
        each.learn([1, 2], np.array([8.0, 5, 0.5, -1, 2, 3]), [1, 0], [2, 1])
    assert all(np.array_equal(array, again.state()[name]) for name, array in bank.state().items())


@both
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *((name, value) for name in ("times", "mean", "squares", "origin", "missing") for value in (np.nan, np.inf)),
        ("missing", -1.0),
        ("missing", 1e9),
        ("times", -1.0),
        ("squares", -1.0),
        ("seen", -1),
    ],
)
def test_impossible_scales_are_refused(kind, name, wrong):
    bank = trained(kind)
    state = bank.state()
    damaged = state[f"scales.{name}"].copy()
    damaged[0] = wrong
    with pytest.raises(
        MarleneError, match=r"not the state of the features of a bank, or damaged: .*(scales|no number)"
    ):
        kind.from_state(state | {f"scales.{name}": damaged}, bank.settings())


@both
def test_what_is_wrong_is_said(kind):
    bank = trained(kind)
    for call, said in [
        (lambda: bank.votes(np.zeros(2)), "x has 2 values, expected 3"),
        (lambda: bank.votes(np.zeros(3), [7]), "no classifier 7"),
        (lambda: bank.remove([7]), "no classifier 7"),
        (lambda: bank.learn([0], np.zeros(3), 2), "y must be 0 or 1"),
        (lambda: bank.add_features([1]), "at least two values"),
        (lambda: bank.add_features(["text"]), "at least two values"),
        (lambda: bank.widen(1, 5), "cannot be widened"),
        (lambda: kind(0), "must be positive"),
    ]:
        with pytest.raises(MarleneError, match=said):
            call()


def test_a_missing_feature_says_nothing_to_naive_bayes():
    with_it, without = NaiveBayesBank(), NaiveBayesBank()
    with_it.add_features([2, 2])
    without.add_features([2])
    rng = np.random.default_rng(0)
    for bank in (with_it, without):
        bank.add()
    for _ in range(200):
        a, b = (float(value) for value in rng.random(2) < 0.5)
        y = int(a + 2 * b + rng.random() > 1.5)
        with_it.learn([0], np.array([a, b]), y)
        without.learn([0], np.array([a]), y)
    for a in (0.0, 1.0):
        alone = without.votes(np.array([a]))[0, 1]
        assert with_it.votes(np.array([a, np.nan]))[0, 1] == pytest.approx(alone, abs=0.02)
        assert abs(with_it.votes(np.array([a, 0.0]))[0, 1] - alone) > 0.1


@both
def test_what_was_never_met_says_nothing_when_it_is_missing(kind):
    rng = np.random.default_rng(0)
    bank = kind()
    bank.add_features([2, 3, 2])
    bank.add()
    for _ in range(100):
        x = np.array([rng.random() < 0.4, rng.integers(0, 3), 0])
        bank.learn([0], x, int(rng.random() < 0.05))
    x = np.array([1.0, np.nan, 0.0])
    before = bank.votes(x)
    assert np.array_equal(bank.votes(np.array([1.0, np.nan, np.nan])), before)
    bank.widen(1, 50)
    assert np.array_equal(bank.votes(x), before)
    assert not np.array_equal(bank.votes(np.array([1.0, 1.0, 0.0])), before)


@both
def test_numbers_far_from_zero_count_as_much(kind):
    rng = np.random.default_rng(0)
    near, far = kind(), kind()
    for bank in (near, far):
        bank.add_features([0])
        bank.add()
    for y in (0, 1) * 100:
        x = round(rng.normal(y, 1), 3)
        for bank, offset in ((near, 1e-3), (far, 1e8)):
            bank.learn([0], np.array([x + offset]), y)
    for x in (-2.0, 0.5, 3.0):
        assert far.votes(np.array([x + 1e8])) == pytest.approx(near.votes(np.array([x + 1e-3])), abs=1e-6)
    assert abs(np.subtract(*far.votes(np.array([1e8 + 3.0]))[0])) > 0.5


@both
def test_numbers_whose_squares_are_zero_have_a_size(kind):
    bank = kind()
    bank.add_features([0, 2])
    bank.add()
    for i in range(40):
        bank.learn([0], np.array([1e-320 if i % 4 == 0 else 0.0, 1.0]), int(i % 4 == 0))
    votes = [bank.votes(np.array([x, 1.0]))[0] for x in (0.0, 1e-320, -1e-200, 5.0)]
    assert np.isfinite(votes).all()
    assert votes[1][1] > votes[0][1]


@both
def test_rows_of_features_become_rows_of_inputs(kind):
    bank = kind()
    bank.add_features([0, 4, 2])
    rows = Rows(np.array([0, 3, 4, 4]), np.array([0, 1, 2, 1]), np.array([1.5, 2.0, 1.0, np.nan]))
    inputs = bank.inputs(rows)
    assert inputs.starts.tolist() == [0, 3, 6, 6]
    assert inputs.indices.tolist() == [0, 2, 4, 1, 2, 3]
    assert inputs.values[:3].tolist() == [1.5, 1, 1]
    assert np.isnan(inputs.values[3:]).all()


@both
def test_br_marlene_takes_them(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4)) * (rng.random((300, 4)) < 0.7)
    model = BRMarlene(base=kind(), drift="none")
    model.learn_many(X, X[:, :2] > 0)
    assert (model.predict_many(X[-100:]) == (X[-100:, :2] > 0)).mean() > 0.8


def test_negative_weights_are_refused():
    bank = NaiveBayesBank()
    bank.add_features([2])
    bank.add()
    with pytest.raises(MarleneError, match="weights must not be negative"):
        bank.learn([0], [1], [1], [-1])
    with pytest.raises(MarleneError, match="weighted must be True or False"):
        NaiveBayesBank(weighted=2)


def test_counts_are_numbers_like_others():
    rng = np.random.default_rng(0)
    from_zero, from_one = LinearBank(), LinearBank()
    for bank in (from_zero, from_one):
        bank.add_features([0, 0])
        bank.add()
    rows = np.vstack([[[3, 1], [1, 2]], rng.poisson(2.0, (200, 2))]).astype(float)
    for x in rows:
        for bank, offset in ((from_zero, 0.0), (from_one, 1.0)):
            bank.learn([0], x + offset, int(x[0] <= x[1]))
    for x in ([0.0, 0.0], [0.0, 2.0], [2.0, 0.0], [3.0, 3.0]):
        assert from_zero.votes(np.array(x)) == pytest.approx(from_one.votes(np.array(x) + 1.0), abs=1e-9)
    more, less = (from_zero.votes(np.array(x))[0, 1] for x in ([0.0, 4.0], [4.0, 0.0]))
    assert less < 0.3
    assert more > 0.7


def test_a_zero_far_from_other_values_says_nothing():
    rng = np.random.default_rng(0)
    bank = LinearBank()
    bank.add_features([0, 0])
    bank.add()
    for y in (0, 1) * 100:
        bank.learn([0], np.array([rng.normal(100 + 2 * y, 1.0) * (rng.random() < 0.95), rng.normal()]), y)
    votes = [bank.votes(np.array([x, 0.5]))[0, 1] for x in (98.0, 0.0, 104.0)]
    assert votes[0] < 0.3
    assert 0.3 < votes[1] < 0.7
    assert votes[2] > 0.7
    assert votes[1] == bank.votes(np.array([np.nan, 0.5]))[0, 1]


@both
def test_states_of_before_numbers_had_24_bits_are_read(kind):
    bank = trained(kind)
    state = {
        name: array.astype(np.float64) if array.dtype == np.float32 else array for name, array in bank.state().items()
    }
    again = kind.from_state(state, bank.settings())
    assert all(np.array_equal(array, again.state()[name]) for name, array in bank.state().items())
    name = "gain" if "gain" in state else "weight"
    state[name][0] = 1e100
    with pytest.raises(MarleneError, match=name):
        kind.from_state(state, bank.settings())
