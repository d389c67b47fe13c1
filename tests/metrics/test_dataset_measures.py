"""Measures of label matrices: their definitions, and what the paper reports for Yeast."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from river import datasets

from marlene import metrics
from marlene._common.errors import MarleneError

MATRICES = hnp.arrays(
    np.int8,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=8),
    elements=st.sampled_from([-1, 0, 1]),
)


@given(MATRICES)
def test_measures_by_definition(Y):
    known = [[value for value in row if value >= 0] for row in Y.tolist()]
    of_labels = [[value for value in column if value >= 0] for column in Y.T.tolist()]
    size = sum(map(len, known))
    assume(size)
    positives = sum(map(sum, known))
    assert metrics.label_density(Y) == positives / size
    assert metrics.label_cardinality(Y) == positives / sum(map(bool, known))
    assert metrics.label_imbalance_rate(Y) == sum(min(sum(c), len(c) - sum(c)) for c in of_labels) / size
    assert metrics.label_set_imbalance_rate(Y) == sum(min(sum(r), len(r) - sum(r)) for r in known) / size
    shares = [sum(column) / len(column) if column else np.nan for column in of_labels]
    np.testing.assert_array_equal(metrics.positive_shares(Y), shares)
    pairs = [[sum(a == b == 1 for a, b in zip(p, q, strict=True)) for q in Y.T.tolist()] for p in Y.T.tolist()]
    np.testing.assert_array_equal(metrics.co_occurrence(Y), pairs)
    assert metrics.co_occurrence(Y).dtype == np.int64


def test_yeast_measures_as_in_the_paper():
    Y = np.array([list(y.values()) for _, y in datasets.Yeast()])
    assert Y.shape == (2417, 14)
    assert round(metrics.label_density(Y), 3) == 0.303
    assert round(metrics.label_imbalance_rate(Y), 3) == 0.232
    assert round(metrics.label_set_imbalance_rate(Y), 3) == 0.297
    assert metrics.label_cardinality(Y) == pytest.approx(14 * metrics.label_density(Y))


@pytest.mark.parametrize(
    "measure",
    [
        metrics.label_density,
        metrics.label_cardinality,
        metrics.label_imbalance_rate,
        metrics.label_set_imbalance_rate,
        metrics.positive_shares,
        metrics.co_occurrence,
    ],
)
def test_wrong_matrices_are_refused(measure):
    with pytest.raises(MarleneError, match=r"Y of shape \(0, 3\) holds no known label"):
        measure(np.empty((0, 3)))
    with pytest.raises(MarleneError, match=r"Y of shape \(1, 2\) holds no known label"):
        measure([[-1, np.nan]])
    with pytest.raises(MarleneError, match="Y has 1 dimensions, expected 2"):
        measure([1, 0])
    with pytest.raises(MarleneError, match=r"Y\[0, 1\] is 0.5, expected 0, 1, or -1"):
        measure([[1, 0.5]])
