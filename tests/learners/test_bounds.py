"""Bounds of learners: how many labels and features they know, and which features are forgotten."""

import random
import warnings

import numpy as np
import pytest

from marlene import BRMarlene, BRPWMarlene, Marlene
from marlene._common.errors import MarleneError
from marlene.banks import NaiveBayesBank
from marlene.learners import GOOWE, BinaryRelevanceTrees, OnlineBagging
from marlene.streams import Feature, load
from tests.live.messages import same_state

LEARNERS = {
    "Marlene": Marlene,
    "BRMarlene": BRMarlene,
    "BRPWMarlene": BRPWMarlene,
    "OnlineBagging": lambda **bounds: OnlineBagging(BinaryRelevanceTrees(), members=2, **bounds),
    "GOOWE": lambda **bounds: GOOWE(BinaryRelevanceTrees(), members=2, chunk=20, **bounds),
}


@pytest.fixture(params=LEARNERS)
def learner(request):
    return LEARNERS[request.param]


def news(rng, number, count=3):
    """Return an example of four of ten usual words and some that never came before."""
    usual = rng.sample(range(10), 4)
    x = dict.fromkeys([f"usual{word}" for word in usual], 1) | {f"new{number}-{i}": 1 for i in range(count)}
    return x, {"low": 0 in usual or 1 in usual, "high": 8 in usual or 9 in usual}


def known(model):
    return list(model._space.column)


def test_labels_are_bounded(learner):
    model = learner(max_labels=2)
    model.learn_one({"a": 1}, {"one": True, "two": False})
    before = model.state()
    for learn in (
        lambda: model.learn_one({"a": 1}, {"one": True, "three": True}),
        lambda: model.declare([Feature("b", "numeric")], ["three"]),
    ):
        with pytest.raises(MarleneError, match=r"^more than 2 labels: no more are taken$"):
            learn()
    assert model.state()[0] == before[0]
    assert list(model.predict_one({"a": 1})) == ["one", "two"]


@pytest.mark.parametrize("name", ["max_labels", "max_features"])
def test_bounds_are_checked(learner, name):
    with pytest.raises(MarleneError, match=f"{name} must be a whole number of at least 1, not 0"):
        learner(**{name: 0})


def test_features_are_bounded(learner):
    rng, model = random.Random(1), learner(max_features=40)
    for number in range(60):
        model.learn_one(*news(rng, number))
        assert model._space.size() <= 40
    assert {f"usual{word}" for word in range(10)} <= set(known(model))
    again = type(model).from_state(*model.state())
    for number in range(60, 80):
        x, y = news(rng, number)
        assert model.predict_proba_one(x) == again.predict_proba_one(x)
        model.learn_one(x, y)
        again.learn_one(x, y)
    same_state(model, again)


def test_a_full_marlene_learns_new_words(learner):
    rng, model = random.Random(2), learner(max_features=40)
    for number in range(60):
        model.learn_one(*news(rng, number))
    for number in range(60):
        model.learn_one({"later": number % 2, **news(rng, 100 + number)[0]}, {"low": number % 2, "high": False})
    assert ("later" in known(model)) == isinstance(model, Marlene)


class Rule:
    """Which features are kept, said slowly."""

    def __init__(self, most):
        self.most, self.times, self.gone = most, {}, 0

    def see(self, x):
        new = [name for name in x if name not in self.times]
        lacking = len(self.times) + len(new) - self.most
        if new and lacking > 0:
            for _ in range(min(max(lacking, self.most // 8), len(self.times))):
                del self.times[min(self.times, key=self.times.get)]  # of equals the first
                self.gone += 1
            if self.gone >= self.most:
                self.times, self.gone = {name: times // 2 for name, times in self.times.items()}, 0
        for name in x:
            if name in self.times or len(self.times) < self.most:
                self.times[name] = self.times.get(name, 0) + 1


@pytest.mark.parametrize("base", ["all", "naive-bayes", "linear"])
def test_the_least_used_features_are_forgotten(base):
    rng, model, rule = random.Random(3), Marlene(base=base, max_features=50), Rule(50)
    for number in range(150):
        x, y = news(rng, number, count=rng.choice([0, 1, 5, 60 if number == 100 else 2]))
        model.learn_one(x, y)
        rule.see(x)
        assert known(model) == list(rule.times)


def test_forgetting_leaves_naive_bayes_as_if_it_had_never_met_the_feature():
    """Sums over absent features are kept up to date by steps, so they agree to a few digits only."""
    rng, model, without = (
        random.Random(4),
        *(Marlene(base=[NaiveBayesBank()], max_features=most) for most in (30, None)),
    )
    for number in range(80):
        x, y = news(rng, number, count=2)
        model.learn_one({**x, "size": number % 7 + 1.0}, y)
        without.learn_one({name: value for name, value in x.items() if name[0] == "u"} | {"size": number % 7 + 1.0}, y)
    gone = model._space.least_used(30 - 11)
    model._forget(gone)
    assert sorted(known(model)) == sorted(known(without))
    for number in range(20):
        x = {**news(rng, number, 0)[0], "size": number % 7}
        mine, theirs = model.score_one(x), without.score_one(x)
        assert mine == pytest.approx(theirs, abs=0.02)


def test_forgetting_keeps_numbers_sources_and_neighbours_apart():
    rng, model = random.Random(5), Marlene(max_features=30)
    for number in range(50):
        x, y = news(rng, number)
        model.learn_one({"size": number * 0.5, **x}, y, stream="archive" if number % 3 == 0 else None)
    assert "size" in known(model)
    scales, column = model._tracker._scales, known(model).index("size")
    number = model._tracker.bank.numeric[model._tracker.bank.first_inputs[column]]
    assert scales.times[:, number].tolist() == [33.0, 49.0]  # what is learnt of a source goes on with the target
    window = model._tracker.neighbours.arrays
    table = window.table.copy()
    model._tracker.neighbours._fill_table()
    np.testing.assert_allclose(model._tracker.neighbours.arrays.table, table, atol=1e-6)
    assert model.telling_features()["low"]["for"].keys() <= set(known(model))


def test_nominal_features_stay_and_their_values_count():
    model = Marlene(max_features=20)
    for number in range(40):
        model.learn_one({"colour": f"shade{number}", f"new{number}": 1}, {"dark": number % 2 == 0})
        assert model._space.size() <= 20
    assert "colour" in known(model)
    assert len(model._space.codes[known(model).index("colour")]) > 3


def test_words_of_texts_are_forgotten():
    model = Marlene(features={"note": "text"}, max_features=30)
    for number in range(60):
        model.learn_one({"note": f"always here, new word{number}a and word{number}b"}, {"odd": number % 2 == 1})
    assert {"note: always", "note: here"} <= set(known(model))
    assert len(known(model)) <= 30
    assert "note: word59b" in known(model)


def test_columns_of_arrays_stay():
    with pytest.raises(MarleneError, match="5 features, but max_features is 4"):
        Marlene(max_features=4).learn_many(np.ones((2, 5)), np.ones((2, 1)))
    stream, model = load("yeast", limit=20), Marlene(max_features=103)
    with pytest.raises(MarleneError, match="103 features, but max_features is 50"):
        Marlene(max_features=50).declare(stream.features, stream.labels)
    model.declare(stream.features, stream.labels)
    model.learn_many(stream.X, stream.Y)
    model.learn_one({"a new one": 1}, {})
    assert len(known(model)) == 103


def test_frames_bring_what_finds_room():
    pd = pytest.importorskip("pandas")
    model = Marlene(max_features=3)
    frame = pd.DataFrame({name: [1.0, 2.0] for name in "abcde"})
    model.learn_many(frame, pd.DataFrame({"one": [0, 1]}))
    assert known(model) == ["a", "b", "c"]


def test_labels_of_all_streams_count():
    model = Marlene(max_labels=3)
    model.learn_one({"a": 1}, {"one": True, "two": False})
    model.learn_one({"a": 1}, {"one": True}, stream="archive")
    for stream in (None, "archive", "another"):
        with pytest.raises(MarleneError, match=r"^more than 3 labels: no more are taken$"):
            model.learn_one({"a": 1}, {"three": True}, stream=stream)
    model.learn_one({"a": 2}, {"one": False, "two": True})


def test_growth_without_a_limit_is_told_once(learner, monkeypatch):
    monkeypatch.setattr("marlene.learners._growth.MANY", {"features": 20, "labels": 2, "models": 1})
    rng, model, bounded = random.Random(3), learner(), learner(max_features=30, max_labels=4)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for number in range(20):
            x, y = news(rng, number)
            model.learn_one(x, y | {"third": number % 2})
            bounded.learn_one(x, y | {"third": number % 2})
    said = [str(each.message) for each in told]
    assert said.count("more than 20 features: memory grows with them; max_features= bounds it") == 1
    assert said.count("more than 2 labels: memory grows with them; max_labels= bounds it") == 1
    assert all(each.filename == __file__ for each in told if "grows" in str(each.message))
