"""One example at a time: the short way of plain examples, and the long one, are the same to the bit."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.learners import BRMarlene, BRPWMarlene, BRResampled, Marlene
from marlene.streams import Stream
from tests.learners.streams import contents, drifting

NAMES = [f"f{i}" for i in range(9)]
NUMBERS = st.sampled_from([0, 1, -2, 0.0, 0.5, 1e6, -3.25, True, False, math.nan])
EXAMPLES = st.tuples(
    st.dictionaries(st.sampled_from(NAMES), NUMBERS, max_size=7),
    st.dictionaries(st.sampled_from("abc"), st.booleans(), max_size=3),
    st.sampled_from([1.0, 1, 2.5, 0.0]),
)


def without_short_way(learner):
    """Return a class of learners that take the long way only."""
    return type(
        learner.__name__,
        (learner,),
        {
            "_learnt_plainly": lambda *_: False,
            "_learnt_row_plainly": lambda *_: False,
            "_decided_plainly": lambda *_: None,
        },
    )


Long = without_short_way(Marlene)


def outcome(call, *arguments, **named):
    """Return what a call returns, or what it complains of."""
    try:
        return call(*arguments, **named)
    except MarleneError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=25, deadline=None)
@given(
    examples=st.lists(EXAMPLES, min_size=4, max_size=15),
    features=st.sampled_from(["auto", "numeric", "binary", {"f1": "binary", "f2": "nominal"}]),
)
def test_the_short_way_is_the_long_one(examples, features):
    short, long = Marlene(features=features), Long(features=features)
    for x, y, w in examples:
        for name in ("predict_one", "predict_proba_one", "score_one"):
            assert outcome(getattr(short, name), x) == outcome(getattr(long, name), x)
        assert outcome(short.learn_one, x, y, w) == outcome(long.learn_one, x, y, w)
        assert contents(short) == contents(long)


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=25, deadline=None)
@given(
    examples=st.lists(EXAMPLES, min_size=4, max_size=15),
    features=st.sampled_from(["auto", "numeric", "binary", {"f1": "binary", "f2": "nominal"}]),
    learner=st.sampled_from([BRMarlene, BRPWMarlene, BRResampled]),
)
def test_so_it_is_for_ensembles(examples, features, learner):
    short, long = learner(features=features), without_short_way(learner)(features=features)
    for x, y, w in examples:
        for name in ("predict_one", "predict_proba_one"):
            assert outcome(getattr(short, name), x) == outcome(getattr(long, name), x)
        assert outcome(short.learn_one, x, y, w) == outcome(long.learn_one, x, y, w)
        assert contents(short) == contents(long)


@pytest.mark.parametrize("learner", [Marlene, BRMarlene, BRPWMarlene])
def test_many_features_in_any_order(learner):
    rng = np.random.default_rng(0)
    short, long = learner(), without_short_way(learner)()
    for _ in range(30):
        names = rng.permutation(200)[: int(rng.integers(0, 150))]
        x = {f"f{i}": float(rng.normal()) for i in names.tolist()}
        y = {"a": bool(x.get("f0", 0) > 0), "b": bool(rng.random() < 0.5)}
        assert short.predict_proba_one(x) == long.predict_proba_one(x)
        short.learn_one(x, y)
        long.learn_one(x, y)
    assert contents(short) == contents(long)


@pytest.mark.parametrize("learner", [Marlene, BRMarlene, BRPWMarlene])
@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_array, np.ndarray.tolist])
def test_a_row_is_learnt_like_a_block(learner, as_matrix):
    X, Y = drifting(40, 3, 4)
    X[X < -0.5] = 0
    Y[5] = -1
    short, long = learner(), without_short_way(learner)()
    for t in range(len(X)):
        for model in (short, long):
            model.learn_many(as_matrix(X[t : t + 1]), Y[t : t + 1])
    assert contents(short) == contents(long)
    for wrong in ([[1.0, 2.0, math.inf] + [0.0] * (X.shape[1] - 3)], [[1.0]]):
        assert outcome(short.learn_many, np.array(wrong), Y[:1]) == outcome(long.learn_many, np.array(wrong), Y[:1])
    assert contents(short) == contents(long)


@pytest.mark.parametrize(
    "wrong",
    [
        {"a": math.inf},
        {"b": 2},
        {"b": 1, "a": 10**400},
        {"a": "text"},
        {"new": -math.inf},
        {"new": 1.0, "a": 10**400},
        {"new": 10**400},
    ],
)
def test_a_refused_example_changes_nothing(wrong):
    model = Marlene()
    for value in (0.5, 1.5):
        model.learn_one({"a": value, "b": value > 1}, {"p": True, "q": value > 1})
    before = contents(model)
    with pytest.raises(MarleneError, match="feature"):
        model.learn_one(wrong, {"p": True, "q": True})
    assert contents(model) == before
    model.learn_one({"c": 1.0}, {"p": True, "q": True})
    assert list(model._space.column) == ["a", "b", "c"]


@pytest.mark.parametrize("delay", [1, 3, 70])
def test_late_labels_in_blocks_are_those_one_by_one(delay):
    X, Y = drifting(160, 3, 4)
    Y[5] = -1
    stream = Stream.from_arrays(X, Y)
    found = prequential(Marlene(), stream, delay=delay, start=1)
    model, expected = Marlene(), []
    model.declare(stream.features, stream.labels)
    for t in range(len(X)):
        expected.append(model.decide_many(X[t : t + 1]))
        if t >= delay:
            model.learn_many(X[t - delay : t - delay + 1], Y[t - delay : t - delay + 1])
    assert np.array_equal(found.pred, np.concatenate([y for _, y in expected]))
    assert np.array_equal(found.proba, np.concatenate([p for p, _ in expected]).astype(np.float32))
    assert found.pred.any()


CALLS = st.tuples(
    st.sampled_from(
        ["predict", "score", "learn", "row", "sparse row", "block", "source", "drift", "objective", "copy"]
    ),
    st.integers(0, 5),
    st.sampled_from([1.0, 2.5]),
)


def rows_and_labels():
    """Return a few examples of four features and three labels, one of them with a missing value."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(6, 4)) * (rng.random((6, 4)) < 0.7)
    X[2, 1] = math.nan
    return X, rng.integers(-1, 2, (6, 3)).astype(np.int8)


def called(model, call, number, weight):
    """Make one of `CALLS`; return the model and what it said."""
    X, Y = rows_and_labels()
    x, row, truth = dict(enumerate(X[number].tolist())), X[number : number + 1], Y[number : number + 1]
    if call in ("predict", "score"):
        return model, (model.predict_one if call == "predict" else model.score_one)(x)
    if call == "learn":
        model.learn_one(x, {label: bool(y == 1) for label, y in enumerate(truth[0])}, weight)
    elif call in ("row", "sparse row"):
        model.learn_many(row if call == "row" else sparse.csr_array(row), truth, weight)
    elif call in ("block", "source"):
        model.learn_many(X, Y, weight, stream="other" if call == "source" else None)
    elif call == "drift":
        model.signal_drift([number % 3])
    elif call == "objective":
        model.set_objective(["micro", "hamming", "subset"][number % 3])
    else:
        model = copy.deepcopy(model)
    return model, None


@settings(max_examples=25, deadline=None)
@given(calls=st.lists(CALLS, min_size=4, max_size=20))
def test_whatever_comes_between_calls_of_the_short_way(calls):
    short, long = Marlene(), Long()
    X, Y = rows_and_labels()
    for model in (short, long):
        model.learn_many(np.nan_to_num(X), np.maximum(Y, 0))
    for call in calls:
        short, said = called(short, *call)
        long, expected = called(long, *call)
        assert said == expected
    assert contents(short) == contents(long)


def scored(model):
    """Return the step at which the scores in the scratch were made, and the present one."""
    held = model._changes._desks[-1].model
    return held.scratch.scored[0], held.steps[0]


def test_a_row_that_was_just_predicted_is_not_scored_again():
    model = Marlene()
    for value in (0.5, 1.5, 2.5):
        model.learn_one({"a": value, "b": 1.0}, {"p": True, "q": value > 1})
    model.predict_one({"a": 0.5})
    assert scored(model) == (3, 3)
    model.learn_one({"a": 0.5}, {"p": True, "q": True})
    assert scored(model) == (3, 4)
    model.predict_one({"a": 0.5})
    assert scored(model) == (4, 4)
    model.learn_one({"a": 0.75}, {"p": True, "q": True})
    assert scored(model) == (4, 5)
    model.learn_one({"a": 0.25}, {"p": True, "q": True})
    assert scored(model) == (5, 6)


def test_new_features_are_told_late_and_of_many_examples():
    names, rng = [f"f{i}" for i in range(400)], np.random.default_rng(1)
    short, long = Marlene(features={"f3": "binary"}), without_short_way(Marlene)(features={"f3": "binary"})
    late = []
    for t in range(120):
        x = {names[i]: 1.0 if i % 2 else True for i in rng.integers(0, 5 + 3 * t, 4).tolist()}
        y = {"p": "f0" in x, "q": t % 3 > 0}
        assert short.predict_proba_one(x) == long.predict_proba_one(x)
        short.learn_one(x, y)
        long.learn_one(x, y)
        late.append(len(short._changes._late))
        if t % 20 == 7:
            assert contents(short) == contents(long)
    assert max(late) > 4
    assert contents(short) == contents(long)
