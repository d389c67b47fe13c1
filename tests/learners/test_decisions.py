"""Thresholds, blends and the gate against plain Python, and what they are for."""

import math

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.banks import LinearBank
from marlene.kernels.ensemble.thresholds import BINS
from marlene.learners import DecisionThresholds, Marlene
from marlene.learners.marlene._decisions import OBJECTIVES, BlendedVotes
from marlene.metrics import Scores
from tests.naive.decisions import Cuts, gated

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
        expected = [not math.isnan(p) and p >= cut / BINS for p, cut in zip(row, naive.cut, strict=True)]
        assert thresholds.decide_and_learn(row[None], labels[None])[0].tolist() == expected
        naive.learn(row.tolist(), labels.tolist())
        found = np.rint(thresholds.values * BINS).astype(int).tolist()
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


def test_the_better_voice_counts_more():
    rng = np.random.default_rng(0)
    truth = (rng.random((400, 2)) < [0.1, 0.5]).astype(np.int8)
    said = np.clip([truth * 0.5 + 0.25, 0.5 + 0.3 * rng.normal(size=truth.shape)], 0, 1)
    said[1, 3, 0] = np.nan
    votes = BlendedVotes(2)
    votes.add_labels(2)
    found = np.concatenate([votes.learn(said[:, :150], truth[:150]), votes.learn(said[:, 150:], truth[150:])])
    for q in range(2):
        errors, examples = np.full((2, 2), 0.25), np.ones((2, 2))
        for t in range(400):
            weight = (1 / np.maximum((errors / examples).mean(axis=1), 1e-3)) ** 4
            there = ~np.isnan(said[:, t, q])
            assert found[t, q] == pytest.approx((weight * said[:, t, q])[there].sum() / weight[there].sum())
            y = truth[t, q]
            errors[there, y] = 0.999 * errors[there, y] + (said[there, t, q] - y) ** 2
            examples[there, y] = 0.999 * examples[there, y] + 1
    assert np.abs(found[-100:] - said[0, -100:]).max() < np.abs(found[-100:] - said[1, -100:]).max()


@pytest.mark.parametrize("transfer", ["own", "gated", "full"])
def test_the_gate_lets_in_who_serves_a_label_better_than_its_own(transfer):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 5)) * (rng.random((400, 5)) < 0.6)
    Y = (X @ rng.normal(size=(5, 3)) > 0.3).astype(np.int8)
    Y[200:] = np.roll(Y[200:], 1, axis=1)
    model = Marlene(base=LinearBank(), transfer=transfer, drift="oracle")
    foreign = 0
    for t in range(len(X)):
        if t == 200:
            model.signal_drift([0, 1, 2])
        if t > 20 and t % 7 == 0:
            ensemble, found = model._ensemble, model.predict_proba_many(X[t : t + 1])[0]
            active = ensemble.active
            votes = ensemble.bank.votes(X[t], ensemble.members.classifier[active])
            for q in range(3):
                own = [ensemble.origins[h].label == q for h in active]
                assert found[q] == pytest.approx(gated(ensemble.records[q][:, active].T, own, votes, transfer))
                shares = {row["label"]: row["share"] for row in model.explain(q)}
                foreign += any(share > 0 for label, share in shares.items() if label != q)
        model.learn_many(X[t : t + 1], Y[t : t + 1])
    rounds = 3 * len(range(21, 400, 7))
    least, most = {"own": (0, 0), "gated": (3, rounds - 10), "full": (rounds - 10, rounds)}[transfer]
    assert least <= foreign <= most
