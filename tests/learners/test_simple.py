"""The simplest learners, and the names of methods."""

import importlib
import inspect
import pkgutil

import numpy as np
import pandas as pd
import pytest
import river
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from river import base, dummy, linear_model, naive_bayes

from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.learners import METHODS, BinaryRelevance, Guess, Majority, create
from marlene.learners._methods import DEFAULT_METHOD
from marlene.streams import Stream

LABELS = hnp.arrays(np.int8, st.tuples(st.integers(0, 20), st.integers(1, 4)), elements=st.sampled_from([-1, 0, 1]))


def rows(Y):
    return np.zeros((len(Y), 1))


def known(row):
    return {label: bool(value) for label, value in enumerate(row) if value >= 0}


@given(LABELS, st.lists(st.integers(0, 20), max_size=3))
def test_majority_blocks_equal_single_examples(Y, cuts):
    one, many, tested = Majority(), Majority(), Majority()
    one.learn_many(np.zeros((0, 1)), Y[:0])
    expected, given_probabilities = [], []
    for row in Y:
        shares = one.predict_proba_one({})
        expected.append([shares[label][True] for label in range(Y.shape[1])])
        one.learn_one({}, known(row))
    for part in np.split(np.arange(len(Y)), sorted(min(cut, len(Y)) for cut in cuts)):
        many.learn_many(rows(Y[part]), Y[part])
        given_probabilities.append(tested.test_then_train(rows(Y[part]), Y[part]))
    np.testing.assert_array_equal(np.concatenate(given_probabilities), np.reshape(expected, Y.shape))
    for model in (many, tested):
        assert model.predict_proba_one({}) == one.predict_proba_one({})
        assert model.predict_one({}) == one.predict_one({})
        assert model.predict_many(np.zeros((2, 1))).tolist() == [list(one.predict_one({}).values())] * 2


@pytest.mark.parametrize("layout", [np.array, sp.csr_array, pd.DataFrame])
def test_majority_takes_matrices_of_any_kind(layout):
    model = Majority()
    X = layout(np.eye(3))
    model.learn_many(X, pd.DataFrame([[1, 0], [1, 1], [np.nan, -1]]))
    assert np.asarray(model.predict_proba_many(X)).tolist() == [[1.0, 0.5]] * 3
    assert np.asarray(model.predict_many(X)).tolist() == [[1, 0]] * 3
    assert np.asarray(model.predict_many(X)).dtype == np.int8
    assert model.counts() == {"models": 2, "drifts": 0}


@given(LABELS, st.lists(st.integers(0, 20), max_size=3), st.sampled_from(["coin", "prior"]), st.integers(0, 9))
def test_guesses_are_the_same_in_blocks_and_after_a_restart(Y, cuts, how, seed):
    one, many = Guess(how, seed), Guess(how, seed)
    one.learn_many(np.zeros((0, 1)), Y[:0])
    expected, found, probabilities = [], [], []
    for row in Y:
        expected.append(list(one.predict_one({}).values()))
        assert one.predict_many(np.zeros((1, 1)))[0].tolist() == expected[-1]
        one.learn_one({}, known(row))
    for part in np.split(np.arange(len(Y)), sorted(min(cut, len(Y)) for cut in cuts)):
        given_probabilities, guesses = many.decide_then_train(rows(Y[part]), Y[part])
        found += guesses.tolist()
        probabilities.append(given_probabilities)
        many = Guess.from_state(*many.state())
    assert found == expected
    assert many.state()[0] == one.state()[0]
    shares = Majority().test_then_train(rows(Y), Y)
    np.testing.assert_array_equal(np.concatenate(probabilities), shares if how == "prior" else np.full(Y.shape, 0.5))


@pytest.mark.parametrize(("how", "expected"), [("coin", [0.5, 0.5]), ("prior", [0.1, 0.8])])
def test_guesses_are_as_frequent_as_they_should_be(how, expected):
    Y = (np.random.default_rng(0).random((20_000, 2)) < [0.1, 0.8]).astype(np.int8)
    guesses = Guess(how).decide_then_train(rows(Y), Y)[1]
    np.testing.assert_allclose(guesses.mean(axis=0), expected, atol=0.015)
    assert abs(np.corrcoef(guesses.T)[0, 1]) < 0.03
    assert abs(np.corrcoef(guesses[1:, 0], guesses[:-1, 0])[0, 1]) < 0.03
    assert abs(np.corrcoef(guesses[:, 0], Y[:, 0])[0, 1]) < 0.03
    assert (guesses != Guess(how, seed=2).decide_then_train(rows(Y), Y)[1]).any()


def test_guesses_that_are_refused():
    with pytest.raises(MarleneError, match="how must be one of coin, prior, not 'dice'"):
        Guess("dice")
    with pytest.raises(MarleneError, match="seed must be a whole number"):
        Guess(seed=-1)


def test_ties_and_no_evidence_give_zero():
    model = Majority()
    assert model.predict_one({}) == model.predict_proba_one({}) == {}
    assert model.predict_many(np.zeros((2, 1))).shape == (2, 0)
    model.learn_one({}, {"a": True, "b": False})
    model.learn_one({}, {"a": False, "b": False})
    assert model.predict_one({}) == {"a": False, "b": False}
    assert model.predict_proba_one({}) == {"a": {False: 0.5, True: 0.5}, "b": {False: 1.0, True: 0.0}}


@pytest.mark.parametrize(
    ("Y", "said"),
    [
        ([1, 0], "Y has 1 dimensions, expected 2"),
        ([[1, 0]], "X has 2 rows, but Y has 1"),
        ([[1], [0]], "Y has 1 columns, but 2 labels are known"),
        ([[1, 0], [2, 0]], "Y, row 1, column 0: expected 0 or 1, found 2"),
        ([["a", "b"]] * 2, "Y holds something that is not a number"),
    ],
)
@pytest.mark.parametrize("method", ["learn_many", "test_then_train"])
def test_arrays_that_majority_refuses(method, Y, said):
    model = Majority()
    model.learn_many(np.zeros((1, 3)), [[1, 0]])
    with pytest.raises(MarleneError, match=said):
        getattr(model, method)(np.zeros((2, 3)), Y)
    assert model.predict_proba_one({}) == {0: {False: 0.0, True: 1.0}, 1: {False: 1.0, True: 0.0}}


@pytest.mark.parametrize("model", [Majority(), BinaryRelevance(dummy.PriorClassifier())], ids=["majority", "br"])
def test_labels_that_appear_later_or_are_not_known(model):
    model = model.clone()
    model.learn_one({"x": 1}, {"a": True})
    model.learn_one({"x": 1}, {"b": False})
    model.learn_one({"x": 1}, {})
    model.learn_one({"x": 1}, {"c": True, "a": True})
    assert model.predict_one({"x": 1}) == {"a": True, "b": False, "c": True}
    assert model.counts() == {"models": 3, "drifts": 0}


@given(hnp.arrays(np.int8, st.tuples(st.integers(1, 20), st.just(2)), elements=st.sampled_from([-1, 0, 1])))
def test_binary_relevance_is_one_classifier_per_label(Y):
    model = BinaryRelevance(naive_bayes.GaussianNB())
    alone = [naive_bayes.GaussianNB() for _ in range(2)]
    for t, row in enumerate(Y):
        x = {"t": float(t % 3), "last": float(Y[t - 1, 0])}
        for label, probabilities in model.predict_proba_one(x).items():
            expected = alone[label].predict_proba_one(x)
            assert probabilities[True] == pytest.approx(expected.get(True, 0.0), abs=1e-12)
            assert sum(probabilities.values()) == pytest.approx(1)
            assert model.predict_one(x)[label] == (probabilities[True] > probabilities[False])
        model.learn_one(x, known(row))
        for label, value in known(row).items():
            alone[label].learn_one(x, value)


class Constant(base.Classifier):
    """Knows nothing of probabilities."""

    def __init__(self, answer):
        self.answer = answer

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):  # noqa: ARG002 (River's signature)
        return self.answer


@pytest.mark.parametrize(("answer", "probability"), [(True, 1.0), (False, 0.0), (np.True_, 1.0), (None, 0.5)])
def test_binary_relevance_over_classifiers_without_probabilities(answer, probability):
    model = BinaryRelevance(Constant(answer))
    model.learn_one({}, {"a": True})
    assert model.predict_proba_one({}) == {"a": {False: 1 - probability, True: probability}}
    assert model.predict_one({}) == {"a": probability == 1}


def test_binary_relevance_hands_on_further_arguments():
    model = BinaryRelevance(linear_model.LogisticRegression())
    model.learn_one({"x": 1.0}, {"a": True}, w=0.0)
    assert model.predict_proba_one({"x": 1.0}) == {"a": {False: 0.5, True: 0.5}}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_can_be_made_and_described(name):
    model = create(name, seed=3)
    assert isinstance(model, base.MultiLabelClassifier)
    assert model is not create(name, seed=3)
    assert METHODS[name].name == name
    assert METHODS[name].summary
    assert DEFAULT_METHOD in METHODS


def river_classifiers():
    for module in pkgutil.iter_modules(river.__path__):
        for name, found in inspect.getmembers(importlib.import_module(f"river.{module.name}"), inspect.isclass):
            if issubclass(found, base.Classifier) and not inspect.isabstract(found):
                yield f"{module.name}.{name}"


def test_every_classifier_of_river_runs_or_is_refused():
    X = np.random.default_rng(0).random((40, 3))
    X[::7, 0] = np.nan
    stream = Stream.from_arrays(X, (X[:, 1:] > 0.5).astype(int))
    ran = 0
    for dotted in river_classifiers():
        try:
            model = create(f"river:{dotted}")
        except MarleneError as error:
            assert "cannot be made with its default parameters" in str(error)  # noqa: PT017 (few raise)
            continue
        result = prequential(model, stream)
        assert not np.isnan(result.proba).any()
        assert (result.examples, result.models) == (40, 2)
        ran += 1
    assert ran > 20


def test_a_seed_reaches_rivers_random_numbers():
    assert create("river:forest.ARFClassifier", seed=7).classifier.seed == 7


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "majorty",
            r"there is no method 'majorty' \(did you mean majority\?\); known: marlene, br-marlene, brpw-marlene",
        ),
        ("", "there is no method ''; known: marlene, br-marlene, brpw-marlene, br-resampled"),
        ("xyz", "there is no method 'xyz'; known: .*river:<dotted.Class>"),
        ("river:", "River has no ''"),
        ("river:GaussianNB", "River has no 'GaussianNB'; expected a class like river:tree.HoeffdingTreeClassifier"),
        ("river:os.system", "River has no 'os.system'"),
        ("river:..os", "River has no '..os'"),
        ("river:...os.system", "River has no"),
        ("river:naive_bayes.", "River has no"),
        ("river:naive_bayes.Nonsense", "River has no 'naive_bayes.Nonsense'"),
        ("river:naive_bayes.gaussian", "river:naive_bayes.gaussian is not a River classifier"),
        ("river:stats.Mean", "is not a River classifier"),
        ("river:linear_model.LinearRegression", "is not a River classifier"),
        ("river:multioutput.ClassifierChain", "is not a River classifier"),
        ("river:base.Classifier", "cannot be made with its default parameters: .*abstract"),
        ("river:ensemble.BaggingClassifier", "cannot be made with its default parameters: .*'model'"),
    ],
)
def test_names_that_are_refused(name, said):
    with pytest.raises(MarleneError, match=said):
        create(name)
