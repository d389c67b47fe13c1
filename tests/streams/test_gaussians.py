"""Streams without an end."""

import tracemalloc
from itertools import islice

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.streams import Drift, GaussianStream


def positives(stream, label, begin, end):
    """Return the share of positives of a label on every Gaussian, told by the nearest mean."""
    taken = stream.take(end)
    X, y = taken.X[begin:end], taken.Y[begin:end, label]
    nearest = np.argmin(np.linalg.norm(X[:, None] - stream.means[None], axis=2), axis=1)
    return np.array([y[nearest == k].mean() for k in range(len(stream.means))])


def wide(**options):
    """Return a stream whose Gaussians hardly overlap."""
    return GaussianStream(spread=60, seed=2, **options)


@pytest.mark.parametrize("size", [1, 7, 1024, 3000])
def test_the_blocks_do_not_matter(size):
    stream = GaussianStream(3, 4, 6, drifts=[Drift("l1", "incremental", 100, 900)], correlation=0.2, seed=5)
    whole = stream.take(3000)
    X, Y = (np.concatenate(parts)[:3000] for parts in zip(*islice(stream.blocks(size), 3000 // size + 1), strict=True))
    assert np.array_equal(X, whole.X)
    assert np.array_equal(Y, whole.Y)


def test_dictionaries_are_the_same_examples():
    stream = GaussianStream(3, 2, seed=5)
    whole = stream.take(1500)
    for i, (x, y) in enumerate(islice(stream, 1500)):
        assert list(x.values()) == whole.X[i].tolist()
        assert y == whole.truth(i)


def test_memory_stays_as_it_is():
    stream = GaussianStream(5, 3, seed=1)
    peaks = []
    for blocks in (20, 200):
        tracemalloc.start()
        for _ in islice(stream.blocks(512), blocks):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_label_is_positive_on_as_many_gaussians_as_asked_for():
    stream = wide(labels=4, gaussians=9, positives=2)
    for label in range(4):
        shares = positives(stream, label, 0, 2000)
        assert np.flatnonzero(shares > 0.9).tolist() == [2 * label, 2 * label + 1]
        assert np.flatnonzero(shares < 0.1).size == 7


def test_an_abrupt_drift_exchanges_gaussians_at_once():
    stream = wide(drifts=[Drift("l2", "abrupt", 1000)])
    before, after = positives(stream, 1, 0, 1000), positives(stream, 1, 1000, 2000)
    assert (np.argmax(before), np.argmax(after)) == (1, 2)
    assert before.sum() == pytest.approx(1, abs=0.02)
    assert after.sum() == pytest.approx(1, abs=0.02)
    assert stream.drift_positions(1000) == {"l1": (), "l2": (), "l3": (), "l4": (), "l5": ()}
    assert stream.drift_positions(1001)["l2"] == (1000,)


def test_drifts_of_a_label_follow_one_another():
    stream = wide(drifts=[Drift("l1", "abrupt", 2000), Drift("l1", "abrupt", 1000)])
    assert [np.argmax(positives(stream, 0, t, t + 1000)) for t in (0, 1000, 2000)] == [0, 1, 2]
    assert stream.drift_positions(3000)["l1"] == (1000, 2000)


def test_a_gradual_drift_grows():
    stream = wide(drifts=[Drift("l1", "gradual", 1000, 4000)])
    new = [positives(stream, 0, begin, begin + 1000)[1] for begin in range(0, 6000, 1000)]
    np.testing.assert_allclose(new, [0, 1 / 8, 3 / 8, 5 / 8, 7 / 8, 1], atol=0.09)
    old = [positives(stream, 0, begin, begin + 1000)[0] for begin in range(0, 6000, 1000)]
    np.testing.assert_allclose(old, [1, 7 / 8, 5 / 8, 3 / 8, 1 / 8, 0], atol=0.09)


def test_a_recurring_drift_comes_back():
    stream = wide(drifts=[Drift("l1", "recurring", 1000, 500)])
    at = [int(np.argmax(positives(stream, 0, begin, begin + 500))) for begin in range(0, 3000, 500)]
    assert at == [0, 0, 1, 0, 1, 0]
    assert stream.drift_positions(2200)["l1"] == (1000, 1500, 2000)


def test_an_incremental_drift_moves_the_labels_gaussian_and_no_other():
    stream = wide(drifts=[Drift("l1", "incremental", 1000, 2000)])
    taken = stream.take(8000)

    def mean(label, begin, end):
        return taken.X[begin:end][taken.Y[begin:end, label] == 1].mean(axis=0)

    start, end, middle = mean(0, 0, 1000), mean(0, 3000, 8000), mean(0, 1950, 2050)
    assert np.linalg.norm(end - start) > 5
    np.testing.assert_allclose(middle, (start + end) / 2, atol=2)
    for label in range(1, 5):
        np.testing.assert_allclose(mean(label, 0, 1000), mean(label, 3000, 8000), atol=0.5)


def test_imbalance_is_the_ratio_of_the_first_and_the_last():
    Y = GaussianStream(5, gaussians=5, imbalance=16, seed=1).take(50_000).Y
    counts = Y.sum(axis=0)
    np.testing.assert_allclose(counts[:-1] / counts[1:], 2, rtol=0.1)


def test_correlation_copies_the_label_before():
    for probability in (0, 0.4, 1):
        Y = GaussianStream(3, gaussians=6, correlation=probability, seed=1).take(20_000).Y
        first = Y[:, 0] == 1
        assert Y[first, 1].mean() == pytest.approx(probability, abs=0.03)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": 0}, "labels must be a whole number of at least 1, not 0"),
        ({"gaussians": 3, "positives": 3}, "positives must be less than gaussians (3), not 3"),
        ({"imbalance": 0.5}, "imbalance must be a number of at least 1, not 0.5"),
        ({"imbalance": float("inf")}, "imbalance must be a number of at least 1, not inf"),
        ({"correlation": 1.5}, "correlation must be a number from 0 to 1, not 1.5"),
        ({"correlation": float("nan")}, "correlation must be a number from 0 to 1, not nan"),
        ({"correlation": True}, "correlation must be a number from 0 to 1, not True"),
        ({"drifts": [Drift("l9", "abrupt", 5)]}, "a drift names the label 'l9'; there are l1 to l5"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(MarleneError) as refused:
        GaussianStream(**arguments)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("l1:abrupt", "a drift is written label:type:at or label:type:at:length, not 'l1:abrupt'"),
        ("l1:abrupt:x", "a drift is written label:type:at or label:type:at:length, not 'l1:abrupt:x'"),
        ("l1", "a drift is written label:type:at or label:type:at:length, not 'l1'"),
        ("l1:abrupt:5:1:2", "the type of a drift must be one of abrupt, incremental, gradual, recurring, not '5'"),
        ("l1:sudden:5", "the type of a drift must be one of abrupt, incremental, gradual, recurring, not 'sudden'"),
        ("l1:abrupt:-5", "at must be a whole number of at least 0, not -5"),
        ("l1:abrupt:5:3", "an abrupt drift of l1 has no length, but 3 is given"),
        ("l1:recurring:5", "a recurring drift of l1 needs a length of at least 1, not 0"),
    ],
)
def test_drifts_that_are_refused(text, message):
    with pytest.raises(MarleneError) as refused:
        Drift.parse(text)
    assert str(refused.value) == message
