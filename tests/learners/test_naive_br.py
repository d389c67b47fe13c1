"""The naive BR-MARLENE against numbers worked out by hand."""

from fractions import Fraction

import pytest

from tests.learners.stubs import ConstantTree, ScriptedDetector, counts, fill
from tests.naive.br_marlene import NaiveBRMarlene, Record

X = [0.0]


def learner(votes, scripts=None, **parameters):
    """One constant tree after the other, one scripted detector after the other; then silent ones."""
    trees = iter(votes)
    detectors = iter(scripts or ())
    return NaiveBRMarlene(
        lambda: ConstantTree(next(trees, (0.0, 0.0))),
        None if scripts is None else lambda: ScriptedDetector(next(detectors, "")),
        **parameters,
    )


def test_reliability_balances_the_classes():
    # n+ = 4, n- = 12, so kappa+ = 16/8 = 2 and kappa- = 16/24 = 2/3.
    record = Record()
    fill(record, tp=3, fn=1, fp=2, tn=10)
    ppv = 6 / (6 + 4 / 3)  # 9/11
    npv = 20 / 3 / (20 / 3 + 2)  # 10/13
    assert record.reliability() == pytest.approx((ppv, 1 - ppv, npv, 1 - npv))
    against, in_favour = record.calibrated((0.25, 0.75))
    assert in_favour == pytest.approx(0.75 * 9 / 11 + 0.25 * 3 / 13)
    assert against == pytest.approx(0.25 * 10 / 13 + 0.75 * 2 / 11)


def test_predictions_never_made_give_no_vote():
    record = Record()
    assert record.calibrated((0.25, 0.75)) == (0.0, 0.0)
    fill(record, tp=2)
    # One class only: kappa+ = 1/2, PPV = 1. Its negative votes count for nothing, not even against it.
    assert record.calibrated((0.25, 0.75)) == (0.0, 0.75)
    fill(record, fn=2)
    assert record.calibrated((0.25, 0.75)) == (0.0, 0.25)


def two_models():
    """A source and a target sub-classifier; their records for the label give (P-, P+) below."""
    model = learner([(0.5, 0.5), (0.25, 0.75)])
    model.learn(X, {"other": 1}, "source")
    model.learn(X, {"a": 1})
    source, target = (model.records[h, "a"] for h in model.models)
    # kappa+ = 2 and kappa- = 2/3 in both. PPV 1, NPV 8/14: (4/14, 1/2 + 3/14) = (2/7, 5/7).
    fill(source, tp=1, fn=3, fp=0, tn=12, alpha=0.5)
    # As above: (47/143, 96/143).
    fill(target, tp=3, fn=1, fp=2, tn=10, alpha=0.25)
    return model, source, target


def test_scores_of_two_models():
    model, source, target = two_models()
    model.learn(X, {"a": 1})
    right = Fraction(5, 7) + Fraction(96, 143)
    wrong = Fraction(2, 7) + Fraction(47, 143)
    difficulty = wrong / right
    for record, share_right, share_wrong in [
        (source, Fraction(5, 7) / right, Fraction(2, 7) / wrong),
        (target, Fraction(96, 143) / right, Fraction(47, 143) / wrong),
    ]:
        sc, sw = difficulty * share_right, difficulty * share_wrong
        assert record.sc == pytest.approx(float(sc))
        assert record.sw == pytest.approx(float(sw))
        assert record.alpha == pytest.approx(float(sc / (sc + sw)))
    assert source.alpha == pytest.approx(439725 / 836407)
    # The tie of the source's sub-classifier is a negative prediction.
    assert counts(source) == (1, 0, 12, 4)
    assert counts(target) == (4, 2, 10, 1)


def test_votes_of_two_models():
    model, _, _ = two_models()
    negative = Fraction(1, 2) * Fraction(2, 7) + Fraction(1, 4) * Fraction(47, 143)
    positive = Fraction(1, 2) * Fraction(5, 7) + Fraction(1, 4) * Fraction(96, 143)
    assert negative + positive == Fraction(3, 4)
    assert model.predict_proba(X)["a"] == pytest.approx((float(negative / (3 / 4)), float(positive / (3 / 4))))
    assert model.predict(X) == {"a": 1}


def test_transfer_ratio():
    model = learner([])
    model.learn(X, {"a": 1}, "source")
    model.learn(X, {"a": 1, "b": 0})
    assert model.swr("a") == model.aswr() == 0.0
    for (h, label), record in model.records.items():
        # A source's label of the same name is still a source.
        record.alpha = {("source", "a"): 0.5, (None, "a"): 0.25, (None, "b"): 1.0}[h.stream, h.label] + (label == "b")
    assert model.swr("a") == pytest.approx((0.5 + 1.0) / 1.75)
    assert model.swr("b") == pytest.approx((1.5 + 1.25) / 4.75)
    assert model.aswr() == pytest.approx((6 / 7 + 11 / 19) / 2)


def test_without_evidence():
    model = learner([(0.0, 1.0)])
    assert model.predict_proba(X) == model.predict(X) == {}
    assert model.aswr() == 0.0
    model.learn(X, {"a": 1})
    # The weight is still 0: a first example cannot tell what was hard about it.
    assert model.predict_proba(X) == {"a": (0.5, 0.5)}
    assert model.predict(X) == {"a": 0}


def test_unknown_labels_are_left_alone():
    model = learner([(0.0, 1.0), (1.0, 0.0)], ["", ""])
    model.learn(X, {"a": 1})
    a = model.models[0]
    model.learn(X, {"b": 1})
    b = model.models[1]
    assert len(a.tree.learned) == len(model.tasks[None, "a"].detector.inputs) == 1
    assert (a.n_positive, a.n_negative) == (1, 0)
    assert counts(model.records[a, "a"]) == (1, 0, 0, 0)
    # The sub-classifier of "a" votes on "b"; that of "b" starts with no record of "a".
    assert counts(model.records[a, "b"]) == (1, 0, 0, 0)
    assert counts(model.records[b, "b"]) == (0, 0, 0, 1)
    assert counts(model.records[b, "a"]) == (0, 0, 0, 0)
    assert model.last_k == {"b": 1}
    assert [model.n_sub(label) for label in "abc"] == [1, 1, 0]


def test_weight_grows_with_the_imbalance():
    rates = []

    def resampling(stream, label, number, draw, rate):
        rates.append((stream, label, number, draw, rate))
        return 0 if draw == 3 else 2

    model = learner([], resampling=resampling)
    for y in (0, 0, 1, 1, 1):
        model.learn(X, {"a": y}, "s")
    assert rates == [("s", "a", 0, draw, rate) for draw, rate in enumerate([1.0, 1.0, 2.0, 1.0, 1.0])]
    (h,) = model.models
    assert h.tree.learned == [(X, 0, 2), (X, 0, 2), (X, 1, 2), (X, 1, 2)]
    assert (h.n_positive, h.n_negative) == (3, 2)


def test_expected_weight_is_the_rounded_rate():
    model = learner([])
    weights = []
    for y in (0, 0, 0, 1, 1, 1):
        model.learn(X, {"a": y})
        weights.append(model.last_k["a"])
    assert weights == [1, 1, 1, 3, 2, 1]


@pytest.mark.parametrize("stream", ["source", None])
def test_drift_promotes_the_background_classifier(stream):
    model = learner([(0.0, 1.0), (1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (0.0, 1.0)], [".w.wwd", "", ""])
    for _ in range(6):
        model.learn(X, {"a": 1}, stream)
        # A record of the target label "b", which does not drift.
        model.learn([1.0], {"b": 0})
    # Examples are counted by stream: on the target every other one is of "b".
    step = 2 if stream is None else 1
    seen = [(event.t // step, event.kind) for event in model.events]
    assert seen == [(1, "warning"), (3, "warning"), (4, "warning"), (5, "drift")]
    old, b, new = model.models
    assert (old.number, new.number) == (0, 1)
    # The first background classifier was dropped in control. The second learnt two examples in the warning zone
    # and, once, the one at which it was promoted; the old one learnt all others.
    assert (len(old.tree.learned), old.n_positive) == (5, 5)
    assert (len(new.tree.learned), new.n_positive) == (3, 3)
    assert model.tasks[stream, "a"].draws == {0: 5, 1: 4}
    assert model.tasks[stream, "a"].background is None
    assert model.tasks[stream, "a"].detector.inputs == []
    assert sum(counts(model.records[old, "b"])) == sum(counts(model.records[b, "b"])) == 6
    assert sum(counts(model.records[new, "b"])) == 1
    if stream is None:
        # Reset by the drift, then updated with the drifting example.
        assert [sum(counts(model.records[h, "a"])) for h in model.models] == [1, 1, 1]


@pytest.mark.parametrize("ignore", [True, False])
def test_drift_without_background_classifier(ignore):
    model = learner([(0.0, 1.0)], [".d"], ignore_drift_without_background=ignore)
    for _ in range(3):
        model.learn(X, {"a": 1})
    assert [tuple(event) for event in model.events] == [(None, 1, "a", "drift_without_background")]
    assert [len(h.tree.learned) for h in model.models] == ([3] if ignore else [1, 2])
    assert [sum(counts(record)) for record in model.records.values()] == ([3] if ignore else [2, 2])


def test_detector_hears_the_prediction_before_training():
    class Copycat(ConstantTree):
        def learn(self, _x, y, _w):
            self.constant = (1.0 - y, float(y))

    model = NaiveBRMarlene(lambda: Copycat((0.0, 0.0)), lambda: ScriptedDetector(""))
    for y in (1, 1, 0):
        model.predict(X)
        model.learn(X, {"a": y})
    # No evidence predicts 0, and the third example is not the second.
    assert model.tasks[None, "a"].detector.inputs == [(False, 1), (True, 1), (False, 0)]
    # The records hear the prediction after it.
    assert counts(model.records[model.models[0], "a"]) == (2, 0, 1, 0)


def test_signalled_drift():
    model = learner([(0.0, 1.0)] * 4)
    for _ in range(2):
        model.learn(X, {"a": 1, "b": 1})
        model.learn(X, {"a": 1}, "source")
    model.signal_drift(["a"])
    model.signal_drift(["a", "never seen"], "source")
    assert [(h.stream, h.label, h.number) for h in model.models[3:]] == [(None, "a", 1), ("source", "a", 1)]
    assert [tuple(event) for event in model.events] == [(None, 2, "a", "signalled"), ("source", 2, "a", "signalled")]
    first = model.models[0]
    assert sum(counts(model.records[first, "a"])) == 0
    assert sum(counts(model.records[first, "b"])) == 2
    model.learn(X, {"a": 1, "b": 1})
    assert [len(h.tree.learned) for h in model.models] == [2, 3, 2, 1, 0]
