"""Thresholds and blends against plain Python, and what they are for."""

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.kernels.compile import kernel
from marlene.kernels.ensemble.blend import Blend, blended_vote, count_error
from marlene.kernels.ensemble.thresholds import BINS, WIDEST
from marlene.learners import DecisionThresholds, Marlene
from marlene.learners.marlene._decisions import FIRST_ERROR, OBJECTIVES, threshold_of
from marlene.metrics import Scores
from tests.naive.decisions import Cuts, Errors, bin_of

COSTS = {"false_positive": 1.0, "false_negative": 4.0}


def scored(n, n_labels, seed):
    """Return scores that tell something of labels, some of either missing."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((n, n_labels)) < np.linspace(0.1, 0.6, n_labels)).astype(np.int8)
    scores = np.clip(0.3 + 0.25 * truth + 0.2 * rng.normal(size=truth.shape), 0, 1)
    scores[rng.random(scores.shape) < 0.05] = np.nan
    truth[rng.random(truth.shape) < 0.05] = -1
    truth[7] = -1
    return scores, truth


def test_without_an_objective_thresholds_stay_where_they_are():
    scores, truth = scored(130, 3, 0)
    thresholds = DecisionThresholds("none")
    thresholds.add_labels(3)
    predictions = thresholds.decide_and_learn(scores, truth)
    assert np.array_equal(predictions, scores >= 0.5)
    assert thresholds.values.tolist() == [0.5] * 3


@pytest.mark.parametrize("objective", [*(name for name in OBJECTIVES if name != "none"), COSTS], ids=str)
def test_thresholds_are_the_best_of_the_past(objective):
    scores, truth = scored(130, 3, 0)
    thresholds = DecisionThresholds(objective)
    thresholds.add_labels(3)
    naive = Cuts(3, OBJECTIVES[objective] if isinstance(objective, str) else objective)
    moved = set()
    for row, labels in zip(scores, truth, strict=True):
        assert thresholds.decide_and_learn(row[None], labels[None])[0].tolist() == naive.decide(row.tolist())
        naive.learn(row.tolist(), labels.tolist())
        found = thresholds.state()["cut"].tolist()
        assert thresholds.values.tolist() == threshold_of(np.array(found)).tolist()
        for q, cut in enumerate(found):  # two cuts may be equally good but for the order in which numbers are added
            if cut != naive.cut[q]:
                assert naive.values[q][cut] == pytest.approx(naive.values[q][naive.cut[q]], rel=1e-12)
                naive.cut[q] = cut
        moved.update(found)
    assert len(moved) > 3


def test_an_objective_is_what_its_thresholds_are_good_at():
    scores, truth = scored(4000, 6, 1)
    truth = np.maximum(truth, 0)
    figures = {}
    for objective in ("macro", "micro", "label-set", "mix"):
        thresholds = DecisionThresholds(objective)
        thresholds.add_labels(6)
        predictions = thresholds.decide_and_learn(scores, truth)
        figures[objective] = Scores(6).update_many(truth[500:], predictions[500:], trace=True)[-1, :3]
    for column, objective in enumerate(("macro", "micro", "label-set")):
        assert figures[objective][column] >= max(figure[column] for figure in figures.values()) - 0.005
    half = Scores(6).update_many(truth[500:], (scores[500:] > 0.5).astype(np.int8), trace=True)[-1, :3]
    assert (figures["mix"] > half + 0.01).all()


def test_costs_move_the_threshold():
    scores, truth = scored(2000, 2, 2)
    values = []
    for cost in (0.2, 1.0, 5.0):
        thresholds = DecisionThresholds({"false_positive": cost})
        thresholds.add_labels(2)
        thresholds.decide_and_learn(scores, truth)
        values.append(thresholds.values)
    assert (values[0] < values[1]).all()
    assert (values[1] < values[2]).all()


@pytest.mark.parametrize("objective", ["all", {}, {"false_positive": -1}, {"macro": 1}], ids=str)
def test_objectives_nobody_knows_are_refused(objective):
    with pytest.raises(MarleneError, match=r"objective must be|costs are"):
        Marlene(objective=objective)


def test_bins_are_equally_wide_in_log_odds():
    cuts = np.arange(BINS + 1)
    limits = threshold_of(cuts)
    assert limits[0] == 0.0
    assert limits[BINS] == 1.0
    assert limits[BINS // 2] == 0.5
    inner = limits[1:-1]
    steps = np.diff(np.log(inner / (1 - inner)))
    assert steps == pytest.approx(2 * WIDEST / BINS)
    for cut in range(1, BINS):
        assert bin_of(limits[cut] - 1e-9) == cut - 1
        assert bin_of(limits[cut] + 1e-9) == cut
    thresholds = DecisionThresholds()
    thresholds.add_labels(3)
    assert thresholds.decide(np.array([[0.0, 1.0, np.nan]])).tolist() == [[0, 1, 0]]


def test_labels_that_come_later_start_in_the_middle():
    scores, truth = scored(200, 3, 3)
    thresholds = DecisionThresholds("macro")
    thresholds.add_labels(2)
    thresholds.decide_and_learn(scores[:, :2], truth[:, :2])
    before = thresholds.values
    thresholds.add_labels(1)
    assert thresholds.values.tolist() == [*before.tolist(), 0.5]
    assert (before != 0.5).any()
    again = DecisionThresholds("macro")
    again.restore(thresholds.state(), 3)
    for each in (thresholds, again):
        each.decide_and_learn(scores, truth)
    assert again.values.tolist() == thresholds.values.tolist()
    for name, wrong in (("cut", BINS + 1), ("cut", -1), ("counts", -1.0), ("seen", -1)):
        damaged = thresholds.state()
        damaged[name].flat[0] = wrong
        with pytest.raises(MarleneError, match="not the state of"):
            again.restore(damaged, 3)


@kernel
def blended(state, said, used, truth, out):
    for t in range(len(truth)):
        for q in range(truth.shape[1]):
            out[t, q] = blended_vote(state, said[t], used, q)
        for q in range(truth.shape[1]):
            for k in range(len(used)):
                count_error(state, k, q, said[t, k, q], truth[t, q], 1.0)


def test_the_better_voice_counts_more():
    rng = np.random.default_rng(0)
    truth = (rng.random((400, 2)) < [0.1, 0.5]).astype(np.int8)
    said = np.clip([truth * 0.5 + 0.25, 0.5 + 0.3 * rng.normal(size=truth.shape)], 0, 1).transpose(1, 0, 2).copy()
    state = Blend(np.full((2, 2, 2), FIRST_ERROR), np.ones((2, 2, 2)))
    found = np.empty((400, 2))
    blended(state, said, np.array([True, True]), truth, found)
    for q in range(2):
        voices = [Errors(), Errors()]
        for t in range(400):
            weights = [voice.weight() for voice in voices]
            assert found[t, q] == pytest.approx(np.average(said[t, :, q], weights=weights))
            for voice, p in zip(voices, said[t, :, q], strict=True):
                voice.count(p, truth[t, q])
    assert np.abs(found[-100:] - said[-100:, 0]).max() < np.abs(found[-100:] - said[-100:, 1]).max()
    alone = np.empty((400, 2))
    blended(Blend(np.full((2, 2, 2), FIRST_ERROR), np.ones((2, 2, 2))), said, np.array([False, True]), truth, alone)
    assert alone == pytest.approx(said[:, 1])
