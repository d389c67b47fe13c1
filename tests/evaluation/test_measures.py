"""Measures over the whole stream: against brute force, scikit-learn, and in pieces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.evaluation._measures import MEASURES
from marlene.learners import Majority, create
from marlene.metrics import SCORES
from marlene.streams import load
from tests.evaluation.models import Interrupted, LastLabels, numbered, streams
from tests.naive import calibration, metrics


@pytest.fixture(scope="module")
def yeast():
    return prequential(create("majority"), load("yeast"))


def naive_measures(truth, pred, weights):
    """Return all measures of lists of rows; NaN if no example has a known label."""
    total = sum(weight for weight, t in zip(weights, truth, strict=True) if max(t, default=-1) >= 0)
    if not total:
        return dict.fromkeys(MEASURES, float("nan"))
    found = metrics.scores(truth, pred, weights)
    counts = metrics.label_confusions(truth, pred, weights)
    predicted, true = (sum(row[0] + row[wrong] for row in counts) / total for wrong in (1, 3))
    more = {"hamming_loss": 1 - found["hamming_score"], "labels_predicted": predicted, "labels_true": true}
    return found | more


@settings(max_examples=60)
@given(streams(), st.floats(0.05, 0.999), st.one_of(st.none(), st.integers(0, 50)), st.sampled_from([0, 3]))
def test_brute_force_agrees(stream, fading, after, delay):
    result = prequential(Majority(), stream, fading=fading, after=after, delay=delay)
    truth, pred = result.truth[1:].tolist(), result.pred[1:].tolist()
    for found, policy in ((result.cumulative, {}), (result.faded, {"fading": fading})):
        expected = naive_measures(truth, pred, metrics.weights(len(truth), **policy))
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)
    if truth:
        np.testing.assert_array_equal(result.confusion, metrics.label_confusions(truth, pred, [1.0] * len(truth)))
    assert result.after == (len(stream) // 10 if after is None else after)
    rows = slice(result.after, None)
    expected = calibration.bins(result.truth[rows].tolist(), result.proba[rows].tolist(), 10)
    if expected:
        np.testing.assert_allclose(result.reliability, expected, rtol=1e-12, atol=1e-12)
        overall = calibration.error(calibration.together(expected))
        np.testing.assert_allclose(result.calibration_error(), overall, rtol=1e-9, atol=1e-12)
    else:
        assert not result.reliability.any()


def test_scikit_learn_agrees(yeast):
    truth, pred = yeast.truth[1:], yeast.pred[1:]
    for average in ("micro", "macro", "samples"):
        ours = "example" if average == "samples" else average
        for name, measure in (("f1", sk.f1_score), ("precision", sk.precision_score), ("recall", sk.recall_score)):
            expected = measure(truth, pred, average=average, zero_division=0)
            assert yeast.cumulative[f"{ours}_{name}"] == pytest.approx(expected, rel=1e-9)
    expected = sk.jaccard_score(truth, pred, average="samples", zero_division=0)
    assert yeast.cumulative["example_jaccard"] == pytest.approx(expected, rel=1e-9)
    assert yeast.cumulative["hamming_loss"] == pytest.approx(sk.hamming_loss(truth, pred), rel=1e-9)
    assert yeast.cumulative["subset_accuracy"] == pytest.approx(sk.accuracy_score(truth, pred), rel=1e-9)
    assert yeast.cumulative["labels_true"] == pytest.approx(truth.sum(axis=1).mean(), rel=1e-9)
    assert yeast.cumulative["labels_predicted"] == pytest.approx(pred.sum(axis=1).mean(), rel=1e-9)


def test_the_table_of_labels(yeast):
    rows = yeast.labels_table()
    truth, pred = yeast.truth[1:], yeast.pred[1:]
    assert tuple(row["label"] for row in rows) == yeast.labels
    assert [row["examples"] for row in rows] == [len(truth)] * 14
    assert [row["positives"] for row in rows] == truth.sum(axis=0).tolist()
    np.testing.assert_allclose([row["share"] for row in rows], truth.mean(axis=0))
    np.testing.assert_allclose([row["predicted_share"] for row in rows], pred.mean(axis=0))
    for name, measure in (("f1", sk.f1_score), ("precision", sk.precision_score), ("recall", sk.recall_score)):
        np.testing.assert_allclose([row[name] for row in rows], measure(truth, pred, average=None, zero_division=0))
        assert np.mean([row[name] for row in rows]) == pytest.approx(yeast.cumulative[f"macro_{name}"])
    assert np.mean([row["gmean"] for row in rows]) == pytest.approx(yeast.cumulative["macro_gmean"])
    assert [row["calibration_error"] for row in rows] == [yeast.calibration_error(label) for label in yeast.labels]


def test_a_label_that_never_occurs_has_zeros():
    stream = numbered(20)
    stream.Y[:, 0] = 0
    row = prequential(Majority(), stream).labels_table()[0]
    assert [row[name] for name in ("share", "predicted_share", "precision", "recall", "f1", "gmean")] == [0.0] * 6


def test_majority_shares_are_calibrated(yeast):
    assert yeast.calibration_error() < 0.02
    curve = yeast.reliability_curve()
    assert curve[:, 0].sum() == 14 * (2417 - 241)
    assert yeast.reliability_curve("Class1")[:, 0].sum() == 2417 - 241


def test_without_probabilities_there_is_no_calibration():
    result = prequential(LastLabels(), numbered(50))
    assert np.isnan(result.calibration_error())
    assert not result.reliability.any()
    assert result.as_dict()["calibration"][0]["predictions"] == 0


def test_one_example_is_not_scored():
    result = prequential(Majority(), numbered(1))
    assert np.isnan(list(result.cumulative.values())).all()
    assert set(result.faded) == {*SCORES, "hamming_loss", "labels_predicted", "labels_true"}


@pytest.mark.parametrize("delay", [0, 7])
def test_an_interrupted_run_has_the_measures_of_what_was_done(delay):
    result = prequential(Interrupted(30), numbered(60), delay=delay)
    assert result.stopped == "interrupted"
    assert 1 < result.examples < 60
    truth, pred = result.truth[1:].tolist(), result.pred[1:].tolist()
    assert result.cumulative == pytest.approx(naive_measures(truth, pred, [1.0] * len(truth)))


@pytest.mark.parametrize("fading", [0, 1, -0.5, float("nan"), "fast", True])
def test_unusable_factors_are_refused(fading):
    with pytest.raises(MarleneError, match="fading must be a number above 0 and below 1"):
        prequential(Majority(), numbered(5), fading=fading)


def test_unusable_settings_are_refused():
    with pytest.raises(MarleneError, match="after must be a whole number of at least 0"):
        prequential(Majority(), numbered(5), after=-1)
    with pytest.raises(MarleneError, match="there is no label 'y9'; known: y0, y1"):
        prequential(Majority(), numbered(5)).calibration_error("y9")
