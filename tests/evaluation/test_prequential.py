"""Test-then-train against a loop that is obviously right."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from river import naive_bayes

from marlene._common.errors import MarleneError
from marlene.evaluation import _run, prequential
from marlene.learners import BinaryRelevance, Majority
from marlene.metrics import TRACE
from marlene.streams import Stream
from tests.evaluation.models import (
    CountLabels,
    Interrupted,
    LastLabels,
    Probabilities,
    Recorder,
    numbered,
    streams,
)
from tests.naive import metrics as naive

MODELS = {
    "majority": (Majority, CountLabels),
    "binary relevance": (lambda: BinaryRelevance(naive_bayes.GaussianNB()),) * 2,
    "without probabilities": (LastLabels, LastLabels),
}
EACH_MODEL = pytest.mark.parametrize(("model", "by_hand"), MODELS.values(), ids=MODELS)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={"window": st.integers(1, 50), "start": st.integers(-1, 50), "delay": st.integers(0, 50)},
)


@pytest.fixture
def single_rows(monkeypatch):
    monkeypatch.setattr(_run, "SECONDS_PER_BLOCK", 0)


def loop(model, stream, delay=0):
    """Predict, then learn; return the predictions."""
    predictions = []
    for t in range(len(stream)):
        given_labels = model.predict_one(stream.example(t))
        predictions.append([int(given_labels.get(label, False)) for label in stream.labels])
        if t >= delay:
            model.learn_one(stream.example(t - delay), stream.truth(t - delay))
    return predictions


def windows(truth, predictions, window, start):
    """Return the four scores at every scored step."""
    steps = []
    for t in range(start + 1, len(truth)):
        part = slice(max(start + 1, t + 1 - window), t + 1)
        scores = naive.scores(truth[part], predictions[part], [1.0] * len(truth[part]))
        steps.append([scores[name] for name in TRACE])
    return np.array(steps).reshape(-1, len(TRACE))


def assert_right(result, stream, predictions, window, start):
    truth = stream.Y[: result.examples].tolist()
    steps = windows(truth, predictions, window, start)
    assert result.pred.tolist() == predictions
    assert result.truth.tolist() == truth
    np.testing.assert_allclose(result.steps, steps, rtol=1e-12, atol=1e-12)
    means = steps.mean(axis=0) if len(steps) else [np.nan] * 4
    assert list(result.scores) == list(TRACE)
    np.testing.assert_allclose(list(result.scores.values()), means, rtol=1e-12, atol=1e-12)
    for i, name in enumerate(TRACE):
        np.testing.assert_array_equal(result.trace(name), result.steps[:, i])
        np.testing.assert_array_equal(getattr(result, name), result.scores[name])
    if len(steps):
        expected = naive.scores(truth[start + 1 :], predictions[start + 1 :], [1.0] * len(steps))
        assert result.overall == pytest.approx(expected, rel=1e-12, abs=1e-12)


@EACH_MODEL
@settings(max_examples=40)
@given(streams(), SETTINGS)
def test_everything_equals_a_plain_loop(model, by_hand, stream, chosen):
    result = prequential(model(), stream, **chosen)
    n, delay = len(stream), chosen.get("delay", 0)
    window, start = chosen.get("window", max(1, n // 10)), chosen.get("start", n // 20)
    assert (result.examples, result.window, result.start, result.delay) == (n, window, start, delay)
    assert (result.stream, result.labels, result.features) == (stream.name, stream.labels, len(stream.features))
    assert result.stopped == ""
    assert_right(result, stream, loop(by_hand(), stream, delay), window, start)


@pytest.mark.parametrize(("n", "window", "start"), [(1, 1, 0), (9, 1, 0), (19, 1, 0), (20, 2, 1), (2417, 241, 120)])
def test_the_window_is_a_tenth_and_scoring_starts_after_a_twentieth(n, window, start):
    result = prequential(Majority(), numbered(n))
    assert (result.window, result.start, len(result.steps)) == (window, start, n - start - 1)
    assert len(prequential(Majority(), numbered(n), start=-1).steps) == n


def test_nothing_is_scored_where_the_start_lies_behind_the_end():
    result = prequential(Majority(), numbered(5), start=4)
    assert result.steps.shape == (0, 4)
    assert np.isnan(list(result.scores.values())).all()
    assert result.pred.shape == (5, 2)


@settings(max_examples=25)
@given(streams(), st.sampled_from([0, 1e-4, 1e9]))
@EACH_MODEL
def test_the_size_of_blocks_changes_nothing(model, by_hand, stream, seconds):  # noqa: ARG001
    results = [prequential(model(), stream)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_run, "SECONDS_PER_BLOCK", seconds)
        results.append(prequential(model(), stream))
    for name in ("steps", "pred", "proba", "truth", "confusion", "reliability"):
        np.testing.assert_array_equal(*(getattr(result, name) for result in results))
    for name in ("scores", "overall", "cumulative", "faded"):
        np.testing.assert_array_equal(*(list(getattr(result, name).values()) for result in results))


@pytest.mark.parametrize("delay", [0, 1, 3, 10, 11, 10**12])
def test_labels_arrive_late(delay):
    stream, model = numbered(10), Recorder()
    prequential(model, stream, delay=delay)
    order = [(call[0], int(call[1]["t"])) for call in model.calls]
    assert [t for what, t in order if what == "predict"] == list(range(10))
    assert [t for what, t in order if what == "learn"] == list(range(10))
    for t in range(10):
        assert order.index(("predict", min(t + delay, 9))) < order.index(("learn", t))
        if t + delay < 9:
            assert order.index(("learn", t)) < order.index(("predict", t + delay + 1))


def test_delayed_labels_are_all_learnt_at_the_end():
    model = Majority()
    prequential(model, numbered(10), delay=4)
    assert model._seen.tolist() == [10, 10]


@pytest.mark.parametrize("delay", [0, 2])
def test_callbacks_are_told_how_far_it_is(delay):
    heard = []
    result = prequential(Majority(), numbered(700), callbacks=[heard.append, lambda _: None], delay=delay)
    done = [progress.done for progress in heard]
    assert done == sorted(set(done))
    assert len(done) > 2
    assert (heard[-1].done, heard[-1].total) == (700, 700)
    assert heard[-1].current == dict(zip(TRACE, result.steps[-1].tolist(), strict=True))
    assert heard[-1].mean == result.scores
    assert heard[0].learn_seconds <= heard[-1].learn_seconds <= result.learn_seconds
    assert list(heard[0].current) in ([], list(TRACE))


@pytest.mark.usefixtures("single_rows")
@pytest.mark.parametrize("delay", [0, 1])
def test_a_callback_ends_the_run(delay):
    stream = numbered(700)
    result = prequential(LastLabels(), stream, callbacks=[lambda p: p.done >= 256, lambda _: None], delay=delay)
    assert (result.stopped, result.examples, result.window, result.start) == ("callback", 256, 70, 35)
    assert_right(result, stream, loop(LastLabels(), stream.head(256), delay), 70, 35)


@pytest.mark.usefixtures("single_rows")
@pytest.mark.parametrize("delay", [0, 3])
def test_ctrl_c_keeps_what_was_reached(delay):
    stream = numbered(100)
    result = prequential(Interrupted(40), stream, delay=delay)
    assert (result.stopped, result.examples) == ("interrupted", 39)
    assert_right(result, stream, loop(LastLabels(), stream.head(39), delay), 10, 5)


def test_ctrl_c_before_the_first_example_is_done():
    result = prequential(Interrupted(1), numbered(100))
    assert (result.stopped, result.examples, result.pred.shape) == ("interrupted", 0, (0, 2))
    assert np.isnan(result.macro_gmean)


@pytest.mark.parametrize("layout", [np.array, sp.csr_array])
def test_what_a_river_model_is_given(layout):
    X = [[0.0, 1.5, 1.0], [np.nan, 0.0, 0.0], [2.0, -1.0, np.nan]]
    stream = Stream.from_arrays(layout(X), [[1, -1], [-1, -1], [0, 1]], features=["a", "b", "c"], labels=["p", "q"])
    model = Recorder()
    prequential(model, stream)
    xs = [{"a": 0.0, "b": 1.5, "c": True}, {"b": 0.0, "c": False}, {"a": 2.0, "b": -1.0}]
    ys = [{"p": True}, {}, {"p": False, "q": True}]
    assert model.calls == [call for x, y in zip(xs, ys, strict=True) for call in (("predict", x), ("learn", x, y))]


@pytest.mark.parametrize(
    ("answer", "probability"),
    [
        ({"y0": {True: 0.25, False: 0.75}}, 0.25),
        ({"y0": {True: 1, False: 3}}, 0.25),
        ({"y0": {True: 2.0}}, 1),
        ({"y0": {False: 2.0}}, 0),
        ({"y0": {True: 0.0, False: 0.0}}, 0.5),
        ({"y0": {}}, 0.5),
        ({"other": {True: 1.0}}, 0.5),
        ({}, 0.5),
        (None, 0.5),
    ],
)
def test_probabilities_of_river_models(answer, probability):
    result = prequential(Probabilities(answer), numbered(3, n_labels=1))
    assert result.proba.tolist() == [[probability]] * 3
    assert result.pred.tolist() == [[probability > 0.5]] * 3


def test_values_of_models_without_probabilities():
    model = Recorder()
    model.predict_one = lambda _x: {"y0": np.True_, "y1": None}
    assert prequential(model, numbered(2)).proba.tolist() == [[1, 0]] * 2


def test_an_error_inside_a_model_is_not_hidden():
    model = LastLabels()
    model.predict_proba_one = lambda x: x.nonsense
    with pytest.raises(AttributeError, match="nonsense"):
        prequential(model, numbered(3))


def test_what_a_learner_says_of_itself():
    model = Recorder()
    model.counts = lambda: {"models": np.int64(7)}
    result = prequential(model, numbered(3), method="name", seed=5)
    assert (result.models, result.drifts, result.method, result.seed) == (7, 0, "name", 5)
    assert type(result.models) is int
    model.counts = {"models": 7}
    result = prequential(model, numbered(3))
    assert (result.models, result.drifts, result.method, result.seed) == (0, 0, "Recorder", None)


@settings(max_examples=25)
@given(streams(), st.integers(0, 2))
@EACH_MODEL
def test_the_stream_stays_as_it_is(model, by_hand, stream, delay):  # noqa: ARG001
    before = copy.deepcopy(stream)
    stream.Y.setflags(write=False)
    (stream.X.data if sp.issparse(stream.X) else stream.X).setflags(write=False)
    prequential(model(), stream, delay=delay)
    assert stream == before


def test_a_result_as_large_as_imdb_takes_less_than_50_mb():
    n, n_labels = 120_919, 28
    truth = (np.random.default_rng(0).random((n, n_labels)) < 0.07).astype(np.int8)
    stream = Stream.from_arrays(sp.csr_array((n, 3)), truth)
    result = prequential(Majority(), stream)
    arrays = [result.steps, result.pred, result.proba, result.truth]
    assert len(result.steps) == n - n // 20 - 1
    assert sum(array.nbytes for array in arrays) < 50e6


@pytest.mark.parametrize("model", [object(), Majority, naive_bayes.GaussianNB(), LastLabels, None])
def test_models_that_are_none(model):
    with pytest.raises(MarleneError, match="is not a River-style multi-label model; BinaryRelevance makes one of"):
        prequential(model, numbered(3))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"window": 0}, "window must be a whole number of at least 1, not 0"),
        ({"window": 2.5}, "window must be a whole number of at least 1, not 2.5"),
        ({"window": True}, "window must be a whole number of at least 1, not True"),
        ({"start": -2}, "start must be a whole number of at least -1, not -2"),
        ({"start": 0.5}, "start must be a whole number of at least -1, not 0.5"),
        ({"delay": -1}, "delay must be a whole number of at least 0, not -1"),
        ({"delay": None}, "delay must be a whole number of at least 0, not None"),
    ],
)
def test_settings_that_are_refused(wrong, said):
    with pytest.raises(MarleneError, match=said):
        prequential(Majority(), numbered(3), **wrong)


def test_settings_may_be_numpy_numbers_and_larger_than_the_stream():
    result = prequential(Majority(), numbered(30), window=np.int64(10**15), start=np.int8(2))
    assert (result.window, result.start) == (10**15, 2)
    assert (type(result.window), type(result.start)) == (int, int)
    np.testing.assert_array_equal(result.steps, prequential(Majority(), numbered(30), window=30, start=2).steps)


def test_there_is_no_trace_of_other_scores():
    result = prequential(Majority(), numbered(3))
    with pytest.raises(MarleneError, match="there is no trace of 'f1'; known: macro_gmean"):
        result.trace("f1")
    with pytest.raises(AttributeError, match="f1"):
        result.f1  # noqa: B018 (what is tested)
