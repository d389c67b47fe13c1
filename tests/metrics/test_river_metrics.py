"""The River metrics: the values of `Scores`, and a place in River's own machinery."""

import copy
import inspect
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import base, compose, datasets, dummy, evaluate, linear_model, multioutput, preprocessing
from river import metrics as river_metrics
from river.metrics.multioutput.base import MultiOutputClassificationMetric

from marlene import metrics
from marlene._common.errors import MarleneError
from tests.naive import metrics as naive

CLASSES = [
    found
    for _, found in inspect.getmembers(metrics, inspect.isclass)
    if issubclass(found, MultiOutputClassificationMetric)
]
EACH_CLASS = pytest.mark.parametrize("metric_class", CLASSES, ids=lambda found: found.__name__)
LABELS = ["news", 7, "sport", ("a", 1)]
ANSWERS = st.dictionaries(st.sampled_from(LABELS), st.booleans(), max_size=len(LABELS))
STREAMS = st.lists(st.tuples(ANSWERS, ANSWERS), max_size=15)
POLICIES = st.sampled_from([{}, {"window": 1}, {"window": 4}, {"fading": 0.8}])


def test_there_is_a_class_for_each_score():
    assert sorted(found.score for found in CLASSES) == sorted(metrics.SCORES)


@given(STREAMS, POLICIES)
def test_values_equal_brute_force_at_each_step(stream, policy):
    tested = [found(**policy) for found in CLASSES]
    labels = []
    for step, (y_true, y_pred) in enumerate(stream, start=1):
        labels += [label for label in y_true if label not in labels]
        for metric in tested:
            metric.update(y_true, y_pred)
        if not labels:
            continue
        truth = [[int(t[label]) if label in t else -1 for label in labels] for t, _ in stream[:step]]
        prediction = [[int(p.get(label, False)) for label in labels] for _, p in stream[:step]]
        want = naive.scores(truth, prediction, naive.weights(step, **policy))
        assert {m.score: m.get() for m in tested} == pytest.approx(want, rel=1e-12, abs=1e-12)


@given(STREAMS.filter(len), POLICIES)
def test_revert_undoes_the_last_update(stream, policy):
    metric = metrics.LabelSetGMean(**policy)
    for y_true, y_pred in stream[:-1]:
        metric.update(y_true, y_pred)
    before = metric.get()
    metric.update(*stream[-1])
    after = metric.get()
    metric.revert(*stream[-1])
    assert metric.get() == before
    metric.update(*stream[-1])
    assert metric.get() == after


def test_cumulative_revert_takes_any_example():
    metric = metrics.MicroF1()
    metric.update({"a": True, "b": True}, {"a": True, "b": False})
    metric.update({"a": False, "b": True}, {"a": True, "b": True})
    metric.revert({"a": True, "b": True}, {"a": True, "b": False})
    alone = metrics.MicroF1()
    alone.update({"a": False, "b": True}, {"a": True, "b": True})
    assert metric.get() == alone.get()
    metric.revert({"b": True, "a": False}, {"a": True, "b": True})
    assert metric.get() == 0


@pytest.mark.parametrize("policy", [{"window": 2}, {"fading": 0.5}])
def test_a_second_revert_is_refused(policy):
    metric = metrics.MacroGMean(**policy)
    pair = {"a": True, "b": False}, {"a": True, "b": False}
    metric.update(*pair)
    metric.update(*pair)
    metric.revert(*pair)
    with pytest.raises(MarleneError, match="only once"):
        metric.revert(*pair)


@EACH_CLASS
def test_what_river_expects_of_a_metric(metric_class):
    metric = metric_class(window=5)
    assert metric.get() == 0
    assert metric.bigger_is_better
    assert metric.requires_labels
    assert not metric.works_with_weights
    assert metric.works_with(dummy_model())
    assert not metric.works_with(linear_model.LogisticRegression())
    assert str(metric) == repr(metric)
    assert repr(metric).startswith(f"{metric_class.__name__}: 0.")

    worse = metric.clone()
    for _ in range(3):
        metric.update({"a": True, "b": False}, {"a": True, "b": False})
        worse.update({"a": True, "b": False}, {"a": False, "b": True})
    if metric_class is not metrics.MacroGMean:
        assert metric.is_better_than(worse)
        assert metric > worse

    fresh = metric.clone()
    assert (fresh.window, fresh.fading, fresh.get()) == (5, None, 0)
    assert metric.clone({"window": None, "fading": 0.5}).fading == 0.5
    for twin in (copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))):
        assert twin.get() == metric.get()
        twin.update({"a": True, "b": False}, {"c": True})
        want = metrics.Scores(2, window=5)
        want.update_many([[1, 0]] * 4, [[1, 0]] * 3 + [[0, 0]])
        assert twin.get() == getattr(want, metric.score)


def test_numbers_may_stand_for_booleans():
    metric = metrics.HammingScore()
    metric.update({"a": 1, "b": np.bool_(False)}, {"a": np.int64(1), "b": 1.0})
    assert metric.get() == 0.5


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ({"a": 2}, {"a": True}, "y_true, label 'a': expected True or False, found 2"),
        ({"a": None}, {"a": True}, "y_true, label 'a': expected True or False, found None"),
        ({"a": True}, {"a": {True: 0.9}}, r"y_pred, label 'a': expected True or False, found \{True: 0.9\}"),
    ],
)
def test_wrong_values_are_refused(y_true, y_pred, message):
    metric = metrics.MacroRecall()
    metric.update({"z": True}, {"z": True})
    with pytest.raises(MarleneError, match=message):
        metric.update(y_true, y_pred)
    assert metric.get() == 1


def test_weights_and_unseen_labels_are_refused():
    metric = metrics.MicroF1()
    with pytest.raises(MarleneError, match="w must be 1, not 2"):
        metric.update({"a": True}, {"a": True}, 2)
    with pytest.raises(MarleneError, match="label 'a' is new"):
        metric.revert({"a": True}, {"a": True})


def test_wrong_settings_are_refused_at_once():
    with pytest.raises(MarleneError, match="window must be"):
        metrics.MicroF1(window=0)


class Echo(base.MultiLabelClassifier):
    """Predicts the labels of the example before."""

    def __init__(self):
        self.last = {}

    def learn_one(self, x, y):  # noqa: ARG002
        self.last = y

    def predict_one(self, x):  # noqa: ARG002
        return self.last


def dummy_model():
    return multioutput.ClassifierChain(dummy.PriorClassifier())


def test_river_evaluates_multi_label_models():
    stream = list(itertools.islice(datasets.Yeast(), 60))
    truth = np.array([list(y.values()) for _, y in stream])
    wanted = metrics.Scores(14, window=20)
    # River asks no metric about an empty prediction, which the first one is.
    wanted.update_many(truth[1:], truth[:-1])
    tested = river_metrics.base.Metrics([found(window=20) for found in CLASSES])
    evaluate.progressive_val_score(stream, Echo(), tested)
    assert dict(zip((m.score for m in tested), tested.get(), strict=True)) == wanted.as_dict()


def test_river_evaluates_its_own_models():
    model = compose.Pipeline(
        preprocessing.StandardScaler(), multioutput.ClassifierChain(linear_model.LogisticRegression())
    )
    stream = itertools.islice(datasets.Yeast(), 60)
    metric = evaluate.progressive_val_score(stream, model, metrics.MicroGMean())
    assert 0.2 < metric.get() < 1


def test_river_agrees_where_it_has_the_metric():
    stream = list(itertools.islice(datasets.Yeast(), 60))
    theirs = {
        "macro_f1": river_metrics.multioutput.MacroAverage(river_metrics.F1()),
        "micro_f1": river_metrics.multioutput.MicroAverage(river_metrics.F1()),
        "micro_recall": river_metrics.multioutput.MicroAverage(river_metrics.Recall()),
        "example_precision": river_metrics.multioutput.SampleAverage(river_metrics.Precision()),
        "subset_accuracy": river_metrics.multioutput.ExactMatch(),
    }
    ours = {found.score: found() for found in CLASSES}
    for (_, y_pred), (_, y_true) in itertools.pairwise(stream):
        for name, metric in theirs.items():
            metric.update(y_true, y_pred)
            ours[name].update(y_true, y_pred)
    for name, metric in theirs.items():
        assert ours[name].get() == pytest.approx(metric.get())
