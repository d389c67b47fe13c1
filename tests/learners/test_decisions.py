"""Decisions and blends against plain Python, and what they are for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.kernels.compile import kernel
from marlene.kernels.decisions.cuts import BINS, PULL, WIDEST
from marlene.kernels.decisions.label_sets import LARGEST_SET, MOST_SETS
from marlene.kernels.ensemble.blend import Blend, blended_vote, count_error
from marlene.learners import Decisions, Marlene
from marlene.learners.marlene._decisions import FIRST_ERROR, OBJECTIVES, threshold_of
from marlene.metrics import Scores
from tests.naive.decisions import Errors, bin_of, lowering
from tests.naive.row_decisions import Decisions as Naive

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


def decisions_for(objective, n_labels):
    decisions = Decisions(objective)
    decisions.add_labels(n_labels)
    return decisions


def compare_with_naive(objective, scores, truth):
    """Decide and learn row by row, here and in plain Python."""
    decisions, naive = decisions_for(objective, scores.shape[1]), Naive(scores.shape[1], objective)
    for row, labels in zip(scores, truth, strict=True):
        probabilities, predictions = decisions.decide_and_learn(row[None], labels[None])
        assert probabilities[0] == pytest.approx(naive.probabilities(row.tolist()), rel=1e-9)
        assert predictions[0].tolist() == naive.decide(row.tolist(), probabilities[0].tolist())
        cuts = decisions.state()["cuts.cut"].tolist()
        naive.learn(row.tolist(), labels.tolist(), probabilities[0].tolist(), settled=cuts)
        assert naive.cuts.cut == cuts
    return decisions, naive


@pytest.mark.parametrize("objective", [*OBJECTIVES, COSTS], ids=str)
def test_decisions_are_those_of_plain_python(objective):
    scores, truth = scored(130, 3, 0)
    decisions, naive = compare_with_naive(objective, scores, truth)
    predictions = decisions.decide(scores)
    assert 0 < predictions.mean() < 1
    differ = False
    for other in ("macro", "subset", "micro-f1"):
        decisions.set_objective(other)
        naive.aim(other)
        found = decisions.decide(scores)
        assert found.tolist() == [naive.decide(row) for row in scores.tolist()]
        differ = differ or bool((found != predictions).any())
    assert differ


@given(st.sampled_from(OBJECTIVES), st.integers(1, 6), st.integers(0, 1000), st.floats(0.0, 0.5), st.floats(0.001, 0.9))
@settings(max_examples=25, deadline=None)
def test_on_any_stream_decisions_are_those_of_plain_python(objective, n_labels, seed, signal, frequency):
    rng = np.random.default_rng(seed)
    truth = (rng.random((60, n_labels)) < frequency).astype(np.int8)
    scores = np.clip(0.5 + signal * (truth - 0.5) + 0.2 * rng.normal(size=truth.shape), 0, 1)
    truth[rng.random(truth.shape) < 0.1] = -1
    scores[rng.random(truth.shape) < 0.05] = rng.choice([0.0, 1.0, np.nan])
    compare_with_naive(objective, scores, truth)


def test_without_an_objective_thresholds_stay_where_they_are():
    scores, truth = scored(130, 3, 0)
    decisions = decisions_for("none", 3)
    assert np.array_equal(decisions.decide_and_learn(scores, truth)[1], scores >= 0.5)
    assert decisions.thresholds.tolist() == [0.5] * 3


def measure(name, truth, predictions):
    """Return a measure of predictions."""
    both, either = (truth & predictions).sum(1), (truth | predictions).sum(1)
    if name in ("macro", "micro", "label-set"):
        found = Scores(truth.shape[1]).update_many(truth, predictions, trace=True)[-1, :3]
        return found[("macro", "micro", "label-set").index(name)]
    if name in ("macro-f1", "micro-f1"):
        hits, sizes = (truth & predictions).sum(0), truth.sum(0) + predictions.sum(0)
        return 2 * hits.sum() / sizes.sum() if name == "micro-f1" else np.mean(2 * hits / np.maximum(sizes, 1))
    if name in ("example-f1", "jaccard"):
        return np.mean(
            np.where(
                either > 0,
                (2 * both if name == "example-f1" else both)
                / np.maximum(both + either if name == "example-f1" else either, 1),
                1.0,
            )
        )
    equal = truth == predictions
    return equal.all(1).mean() if name == "subset" else equal.mean()


MEASURES = [name for name in OBJECTIVES if name not in ("mix", "none")]


def dependent(n, seed):
    """Return scores of labels of which some exclude each other, and some come together."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(6, size=n, p=[0.3, 0.2, 0.2, 0.15, 0.1, 0.05])
    sets = np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 1, 0, 0, 1], [0, 0, 0, 1, 0], [0] * 5])
    truth = sets[kind].astype(np.int8)
    odds = 1.2 * (2 * truth - 1) + 1.2 * rng.normal(size=truth.shape)
    return 1 / (1 + np.exp(-odds)), truth


def test_an_objective_is_what_decisions_are_good_at():
    scores, truth = scored(6000, 6, 1)
    truth = np.maximum(truth, 0)
    found = {name: decisions_for(name, 6).decide_and_learn(scores, truth)[1][500:] for name in (*MEASURES, "none")}
    for name in MEASURES:
        values = {other: measure(name, truth[500:], predictions) for other, predictions in found.items()}
        assert values[name] >= max(values.values()) - 0.01, name  # cuts lose a little where labels do not compete
        assert values[name] > min(values.values()) + 0.02, name
    mix = decisions_for("mix", 6).decide_and_learn(scores, truth)[1][500:]
    g_means = ("macro", "micro", "label-set")
    sums = [sum(measure(name, truth[500:], predictions) for name in g_means) for predictions in (mix, found["none"])]
    assert sums[0] > sums[1] + 0.03


def test_labels_that_depend_on_each_other_are_decided_together():
    scores, truth = dependent(4000, 1)
    together, alone = (
        decisions_for(name, 5).decide_and_learn(scores, truth)[1][500:] for name in ("subset", "hamming")
    )
    assert measure("subset", truth[500:], together) > measure("subset", truth[500:], alone) + 0.05


@pytest.mark.parametrize("frequencies", [[0.1] * 5, [0.3] * 8, [0.5, 0.2, 0.05, 0.01]], ids=str)
def test_where_nothing_can_be_learnt_decisions_are_steady_and_as_good_as_a_constant(frequencies):
    rng = np.random.default_rng(0)
    truth = (rng.random((6000, len(frequencies))) < frequencies).astype(np.int8)
    scores = np.clip(0.5 + 0.1 * rng.normal(size=truth.shape), 0.01, 0.99)
    crossings = ((scores[2001:] > 0.5) != (scores[2000:-1] > 0.5)).mean(0)
    constants = [
        np.tile([q in chosen for q in range(len(frequencies))], (4000, 1)).astype(np.int8)
        for size in range(len(frequencies) + 1)
        for chosen in [sorted(range(len(frequencies)), key=lambda q: -frequencies[q])[:size]]
    ]
    for name in (*MEASURES, "mix"):
        predictions = decisions_for(name, len(frequencies)).decide_and_learn(scores, truth)[1][2000:]
        changes = (predictions[1:] != predictions[:-1]).mean(0)
        assert (changes <= crossings + 0.03).all(), name
        if name != "mix":
            best = max(measure(name, truth[2000:], constant) for constant in constants)
            assert measure(name, truth[2000:], predictions) >= best - 0.02, name


def test_rare_labels_do_not_pay_for_the_common_ones():
    rng = np.random.default_rng(0)
    truth = (rng.random((20000, 24)) < [0.3] * 4 + [0.007] * 20).astype(np.int8)
    odds = 0.6 * (2 * truth - 1) + rng.normal(size=truth.shape)
    scores = 1 / (1 + np.exp(-odds))
    rare = {}
    for name in ("mix", "macro"):
        predictions = decisions_for(name, 24).decide_and_learn(scores, truth)[1][5000:]
        rare[name] = measure("macro", truth[5000:, 4:], predictions[:, 4:])
    assert rare["mix"] > rare["macro"] - 0.05
    assert rare["mix"] > 0.6


def test_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    truth = (rng.random((20000, 3)) < [0.02, 0.2, 0.6]).astype(np.int8)
    odds = 3.0 * (truth - 0.5) + 2.0 * rng.normal(size=truth.shape)  # too sure, and balanced
    probabilities, _ = decisions_for("mix", 3).decide_and_learn(1 / (1 + np.exp(-odds)), truth)
    for q in range(3):
        p, y = probabilities[2000:, q], truth[2000:, q]
        assert p.mean() == pytest.approx(y.mean(), abs=0.01)
        bins = (10 * p).astype(int)
        error = sum(abs(p[bins == b].sum() - y[bins == b].sum()) for b in range(10)) / len(p)
        assert error < 0.02


def test_costs_are_what_decisions_weigh():
    scores, truth = scored(2000, 2, 2)
    shares = [decisions_for({"false_positive": c}, 2).decide_and_learn(scores, truth)[1].mean() for c in (0.2, 1, 5)]
    assert shares[0] > shares[1] > shares[2]
    assert np.isnan(decisions_for("hamming", 2).thresholds).all()


@pytest.mark.parametrize(
    "objective",
    [
        *("all", "f1", {}, {"false_positive": -1}, {"macro": 1}, 5, None, ["hamming"], 10**5000),
        *({"false_positive": wrong} for wrong in ("1", None, float("inf"), float("nan"), 10**400, 1e200, [1])),
    ],
    ids=lambda objective: repr(objective) if objective != 10**5000 else "digits",
)
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
    assert steps[: BINS // 2 - 1] == pytest.approx(2 * WIDEST / BINS)
    assert steps[BINS // 2 - 1 :] == pytest.approx(2 * WIDEST / BINS / (1 - PULL))
    for cut in range(1, BINS):
        for score, expected in ((limits[cut] - 1e-9, cut - 1), (limits[cut] + 1e-9, cut)):
            assert bin_of(score, lowering([score])) == expected
    assert decisions_for("mix", 3).decide(np.array([[0.0, 1.0, np.nan]])).tolist() == [[0, 1, 0]]


def test_labels_that_come_later_start_in_the_middle():
    scores, truth = scored(200, 3, 3)
    decisions = decisions_for("macro", 2)
    decisions.decide_and_learn(scores[:, :2], truth[:, :2])
    before = decisions.thresholds
    decisions.add_labels(1)
    assert decisions.thresholds.tolist() == [*before.tolist(), 0.5]
    assert (before != 0.5).any()
    again = Decisions("macro")
    again.restore(decisions.state(), 3)
    for each in (decisions, again):
        each.decide_and_learn(scores, truth)
    assert again.thresholds.tolist() == decisions.thresholds.tolist()
    assert np.array_equal(again.probabilities(scores), decisions.probabilities(scores))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("cuts.cut", BINS + 1), ("cuts.cut", -1), ("cuts.counts", -1.0), ("cuts.seen", -1), ("examples", -1.0)),
        *(("lines", np.nan), ("sets.members", 3), ("sets.members", -2), ("sets.size", -1)),
        *(("sets.size", MOST_SETS + 1), ("sets.times", 0.0), ("sets.rows", -1.0), ("sets.right", -1.0)),
    ],
    ids=str,
)
def test_damaged_states_are_refused(name, wrong):
    scores, truth = scored(200, 3, 3)
    decisions = decisions_for("subset", 3)
    decisions.decide_and_learn(scores, truth)
    damaged = decisions.state()
    damaged[name].flat[0] = wrong
    with pytest.raises(MarleneError, match="not the state of"):
        Decisions("subset").restore(damaged, 3)


def test_the_memory_of_label_sets_is_bounded():
    rng = np.random.default_rng(0)
    truth = np.zeros((6000, 40), np.int8)
    truth[:, 20:] = rng.random((6000, 20)) < 0.3
    truth[::3] = 0
    truth[::3, 3] = 1
    truth[1] = 1  # too many labels to be remembered
    scores = np.full(truth.shape, 0.4)
    decisions = decisions_for("subset", 40)
    predictions = decisions.decide_and_learn(scores, truth)[1]
    sets = decisions.state()
    size = int(sets["sets.size"][0])
    assert 2 <= size <= MOST_SETS
    assert sets["sets.members"].shape == (MOST_SETS, LARGEST_SET)
    assert sets["sets.times"][:size].sum() <= sets["sets.rows"][2]
    assert predictions[-1].tolist() == [int(q == 3) for q in range(40)]


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


def test_labels_compete():
    scores = np.array([[0.3, 0.2], [0.6, 0.9], [0.7, 0.7]])
    truth = np.array([[0, 0], [0, 1], [1, 1]], np.int8)
    decisions = decisions_for("macro", 2)
    decisions.decide_and_learn(np.tile(scores, (100, 1)), np.tile(truth, (100, 1)))
    threshold = decisions.thresholds[0]
    assert 0.3 < threshold < 0.7
    assert decisions.decide(np.array([[threshold + 0.001, 0.1], [threshold - 0.001, 0.1]]))[:, 0].tolist() == [1, 0]
    assert decisions.decide(np.array([[threshold + 0.001, 0.99]])).tolist() == [[0, 1]]
