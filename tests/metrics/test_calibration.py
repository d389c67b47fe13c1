"""Calibration against brute force and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.calibration import calibration_curve

from marlene._common.errors import MarleneError
from marlene.metrics import Calibration
from tests.naive import calibration as naive

NUMBERS = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.5, 1.0, np.nan, np.inf, -np.inf, -0.2, 1.7]))


@st.composite
def predictions(draw):
    shape = draw(st.integers(0, 30)), draw(st.integers(1, 4))
    truth = draw(hnp.arrays(np.int8, shape, elements=st.sampled_from([-1, 0, 1])))
    return truth, draw(hnp.arrays(np.float64, shape, elements=NUMBERS))


@given(predictions(), st.integers(1, 12), st.integers(0, 30))
def test_brute_force_agrees_whatever_the_blocks(given_rows, bins, cut):
    truth, probabilities = given_rows
    calibration = Calibration(truth.shape[1], bins)
    for part in (slice(cut), slice(cut, None)):
        calibration.update_many(truth[part], probabilities[part])
    whole = Calibration(truth.shape[1], bins)
    whole.update_many(truth, probabilities)
    np.testing.assert_array_equal(calibration.bins, whole.bins)
    if len(truth):
        expected = naive.bins(truth.tolist(), probabilities.tolist(), bins)
        np.testing.assert_allclose(calibration.bins, expected, rtol=1e-12, atol=1e-12)
        for label, cells in enumerate(expected):
            np.testing.assert_allclose(calibration.error(label), naive.error(cells), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(calibration.error(), naive.error(naive.together(expected)), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(Calibration.of(whole.bins).bins, whole.bins)


def test_scikit_learn_agrees():
    rng = np.random.default_rng(0)
    probabilities = rng.random((500, 1))
    truth = (rng.random((500, 1)) < probabilities**2).astype(np.int8)
    calibration = Calibration(1)
    calibration.update_many(truth, probabilities)
    found, said = calibration_curve(truth[:, 0], probabilities[:, 0], n_bins=10)
    np.testing.assert_allclose(calibration.curve(0)[:, 1], said)
    np.testing.assert_allclose(calibration.curve()[:, 2], found)


def test_without_predictions():
    calibration = Calibration(2)
    assert np.isnan(calibration.error())
    assert np.isnan(calibration.curve(1)[:, 1:]).all()


def test_integers_are_probabilities():
    calibration = Calibration(2)
    calibration.update_many([[1, 0]], [[1, 0]])
    assert calibration.error() == 0


def test_wrong_shapes_are_refused():
    with pytest.raises(MarleneError, match="expected a value for each of 2 labels"):
        Calibration(2).update_many([[1, 0]], [[0.5]])
    with pytest.raises(MarleneError, match="of a calibration, or damaged: reliability has another number of axes"):
        Calibration.of(np.zeros((2, 3)))
    with pytest.raises(MarleneError, match="damaged: no bin has more positives than predictions"):
        Calibration.of(np.array([[[1.0, 2.0, 0.5]]]))
    with pytest.raises(MarleneError, match="bins must be a whole number of at least 1"):
        Calibration(1, 0)
