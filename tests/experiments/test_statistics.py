"""The statistics against scikit-posthocs, SciPy, and what Demšar (2006) prints."""

import numpy as np
import pytest
import scikit_posthocs
from scipy import stats

from marlene._common.errors import MarleneError
from marlene.experiments.statistics import (
    friedman,
    friedman_over_time,
    groups_without_difference,
    holm,
    nemenyi,
    nemenyi_critical_difference,
    wilcoxon_holm,
)

# Demšar (2006), table 6: AUC of C4.5 and three variants on 14 data sets. In the last row but one it prints 0.975 twice
# and ranks them 2 and 3: by more decimals than it prints.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
# Demšar (2006), table 5a: q for 2 to 10 methods.
Q05 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
Q10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]


def tables():
    rng = np.random.default_rng(3)
    for n, k in [(5, 3), (10, 6), (30, 14), (7, 4)]:
        scores = rng.random((n, k)) + 0.1 * np.arange(k)
        yield scores
        yield scores.round(1)


def test_the_example_of_the_literature():
    result = friedman(DEMSAR)
    np.testing.assert_allclose(result.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    uncorrected = 12 * 14 / 20 * (np.sum(result.ranks**2) - 4 * 25 / 4)
    assert uncorrected == pytest.approx(9.28, abs=0.005)
    assert result.statistic > uncorrected
    assert 13 * uncorrected / (14 * 3 - uncorrected) == pytest.approx(3.69, abs=0.005)
    assert nemenyi_critical_difference(4, 14, 0.05) == pytest.approx(1.25, abs=0.005)
    assert nemenyi_critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)


@pytest.mark.parametrize(("alpha", "table"), [(0.05, Q05), (0.10, Q10)])
def test_critical_values(alpha, table):
    for k, q in enumerate(table, start=2):
        assert nemenyi_critical_difference(k, 6, alpha) == pytest.approx(q * np.sqrt(k * (k + 1) / 36), abs=2e-3)


@pytest.mark.parametrize("scores", list(tables()))
def test_friedman_against_scipy(scores):
    result = friedman(scores)
    expected = stats.friedmanchisquare(*scores.T)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-9)
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    n, k = scores.shape
    f = (n - 1) * expected.statistic / (n * (k - 1) - expected.statistic)
    assert result.iman_davenport == pytest.approx(f, rel=1e-9)
    assert result.iman_davenport_p_value == pytest.approx(stats.f.sf(f, k - 1, (k - 1) * (n - 1)), rel=1e-9)
    lower = friedman(-scores, higher_is_better=False)
    np.testing.assert_array_equal(lower.ranks, result.ranks)


@pytest.mark.parametrize("scores", list(tables()))
def test_nemenyi_against_scikit_posthocs(scores):
    np.testing.assert_allclose(nemenyi(scores), scikit_posthocs.posthoc_nemenyi_friedman(scores), atol=1e-6)


@pytest.mark.parametrize("scores", list(tables()))
def test_nemenyi_and_the_critical_difference_agree(scores):
    n, k = scores.shape
    ranks = friedman(scores).ranks
    apart = np.abs(ranks[:, None] - ranks) > nemenyi_critical_difference(k, n)
    assert np.array_equal(nemenyi(scores) < 0.05, apart)


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@pytest.mark.parametrize("scores", [DEMSAR[:, :3], *(np.random.default_rng(s).random((12, 4)) for s in range(3))])
def test_wilcoxon_against_scikit_posthocs(scores):
    long = list(scores.T)
    expected = scikit_posthocs.posthoc_wilcoxon(long, p_adjust="holm").to_numpy()
    plain = scikit_posthocs.posthoc_wilcoxon(long).to_numpy()
    compared = wilcoxon_holm(scores)
    assert len(compared) == scores.shape[1] * (scores.shape[1] - 1) // 2
    for first, second, p, corrected in compared:
        assert p == pytest.approx(plain[first, second], rel=1e-9)
        assert corrected == pytest.approx(expected[first, second], rel=1e-9)


def test_holm_by_hand():
    # Sorted: .01 × 4, .02 × 3, .03 × 2, .04 × 1, none less than the one before.
    np.testing.assert_allclose(holm([0.04, 0.01, 0.03, 0.02]), [0.06, 0.04, 0.06, 0.06])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1, 1])


def test_a_control_is_compared_with_the_others_only():
    scores = np.random.default_rng(0).random((10, 4))
    assert [(c.first, c.second) for c in wilcoxon_holm(scores, control=2)] == [(0, 2), (1, 2), (2, 3)]
    with pytest.raises(MarleneError, match="the control must be a column from 0 to 3, not 4"):
        wilcoxon_holm(scores, control=4)


def test_methods_that_are_all_the_same():
    scores = np.ones((6, 3))
    result = friedman(scores)
    assert (result.statistic, result.p_value, result.iman_davenport_p_value) == (0, 1, 1)
    assert {c.corrected for c in wilcoxon_holm(scores)} == {1}
    np.testing.assert_allclose(nemenyi(scores), 1)


def test_methods_that_always_rank_the_same():
    result = friedman(np.arange(3) + np.zeros((6, 1)))
    assert result.ranks.tolist() == [3, 2, 1]
    assert (result.statistic, result.iman_davenport, result.iman_davenport_p_value) == (pytest.approx(12), np.inf, 0)


def test_over_time_runs_are_averaged_before_they_are_ranked():
    runs = np.random.default_rng(0).random((5, 40, 3))
    result = friedman_over_time(runs)
    assert result.count == 40
    np.testing.assert_array_equal(result.ranks, friedman(runs.mean(axis=0)).ranks)


def test_groups_overlap_and_none_is_within_another():
    assert groups_without_difference([1, 1.5, 2.5, 2.6, 5], 1.2) == [(0, 1), (1, 2, 3)]
    assert groups_without_difference([2, 1], 3) == [(1, 0)]
    assert groups_without_difference([1, 2, 3], 0.5) == []


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1, 2]], r"scores must be a table of at least two rows and two methods, not of shape \(1, 2\)"),
        ([1, 2], r"scores must be a table of at least two rows and two methods, not of shape \(2,\)"),
        ([[1, 2], [3, np.nan]], "scores have a gap in row 1, method 1: methods are compared where all have run"),
    ],
)
@pytest.mark.parametrize("test", [friedman, nemenyi, wilcoxon_holm, friedman_over_time])
def test_what_is_refused(test, scores, message):
    with pytest.raises(MarleneError, match=message):
        test(scores)
