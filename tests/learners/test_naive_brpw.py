"""The naive BRPW-MARLENE against numbers worked out by hand and the recorded trace of the published program."""

import random
from fractions import Fraction

import numpy as np
import pytest

from tests.learners.stubs import ConstantTree, ScriptedDetector, counts, fill
from tests.naive.br_marlene import NaiveBRMarlene
from tests.naive.brpw_marlene import NaiveBRPWMarlene
from tests.naive.detectors import NaiveDDMOCI
from tests.naive.hoeffding_tree import NaiveHoeffdingTree
from tests.naive.replay import load_trace
from tests.naive.replay_brpw import BRPW_TRACE, replay_brpw

X = [7.0]
NOTHING = (0, 0)
AB, BA = ("a", "b"), ("b", "a")


class GivenTree(ConstantTree):
    """Votes as told for each value of the given label, the last feature; counts how often it was asked."""

    asked = 0

    def votes(self, x):
        self.asked += 1
        return tuple(map(float, self.constant[int(x[-1])]))


def learner(br=(), pw=(), scripts=None, **parameters):
    """One tree after the other, for labels and for pairs; then trees without evidence. Likewise detectors."""
    br_votes, pw_votes, detectors = iter(br), iter(pw), iter(scripts or ())

    def make_tree(kinds):
        assert kinds in ([0], [0, 2])
        if kinds == [0]:
            return ConstantTree(tuple(map(float, next(br_votes, NOTHING))))
        return GivenTree(next(pw_votes, (NOTHING, NOTHING)))

    make_detector = None if scripts is None else lambda: ScriptedDetector(next(detectors, ""))
    return NaiveBRPWMarlene([0], make_tree, make_detector, **parameters)


def weigh(ensemble, weights):
    """Let every record trust its sub-classifier's votes as they are, with these weights, 0 if not listed."""
    for (model, task), record in ensemble.records.items():
        fill(record, tp=1, tn=1, alpha=float(weights.get((model.label, task), 0)))


# Votes of the pairs' sub-classifiers, given 0 and given 1.
A_TO_B = (Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 5), Fraction(4, 5))
B_TO_A = (Fraction(2, 5), Fraction(3, 5)), (Fraction(1), Fraction(0))
WEIGHTS = {("a", "a"): 1, ("b", "b"): 1}
# The sub-classifier of a→b has a say in b→a, but not the other way round.
PAIR_WEIGHTS = {(AB, AB): Fraction(1, 3), (BA, BA): Fraction(1, 2), (AB, BA): Fraction(1, 4)}


def two_labels(
    a=(Fraction(1, 4), Fraction(3, 4)), b=(Fraction(7, 10), Fraction(3, 10)), pw=(A_TO_B, B_TO_A), **parameters
):
    """BR says 1 for a with probability 3/4, and 0 for b with 7/10."""
    model = learner([a, b], pw, **parameters)
    model.learn(X, {"a": 1, "b": 0})
    weigh(model.br, WEIGHTS)
    weigh(model.pw, PAIR_WEIGHTS)
    return model


def check(model, expected, x=X):
    """Compare summed votes, probabilities and predictions with exact sums."""
    evidence, proba, pred = model.evidence(x), model.predict_proba(x), model.predict(x)
    assert list(evidence) == list(proba) == list(pred) == list(expected)
    for label, (negative, positive) in expected.items():
        assert evidence[label] == pytest.approx((float(negative), float(positive)), abs=1e-15)
        weight = Fraction(negative) + Fraction(positive)
        shares = (float(negative / weight), float(positive / weight)) if weight else (0.5, 0.5)
        assert proba[label] == pytest.approx(shares, abs=1e-15)
        assert pred[label] == (positive > negative)


def plus(*terms):
    """Add up weighted pairs of votes."""
    return tuple(sum(weight * votes[c] for weight, votes in terms) for c in (0, 1))


# P^PW, normalised: b→a is (1/2 · own vote + 1/4 · vote of a→b) / (3/4).
GIVEN_B_0 = Fraction(17, 30), Fraction(13, 30)
GIVEN_B_1 = Fraction(11, 15), Fraction(4, 15)


def test_combination_on_the_prediction():
    assert plus((Fraction(2, 3), B_TO_A[0]), (Fraction(1, 3), A_TO_B[0])) == GIVEN_B_0
    a = Fraction(1, 4) + Fraction(7, 10) * Fraction(17, 30), Fraction(3, 4) + Fraction(7, 10) * Fraction(13, 30)
    b = Fraction(7, 10) + Fraction(3, 4) * Fraction(1, 5), Fraction(3, 10) + Fraction(3, 4) * Fraction(4, 5)
    assert (a, b) == ((Fraction(194, 300), Fraction(316, 300)), (Fraction(17, 20), Fraction(18, 20)))
    model = two_labels()
    check(model, {"a": a, "b": b})
    # The pair changed the mind of BR about b.
    assert model.br.predict(X) == {"a": 1, "b": 0}
    assert model.predict(X) == {"a": 1, "b": 1}


def test_combination_on_both_values():
    assert plus((Fraction(2, 3), B_TO_A[1]), (Fraction(1, 3), A_TO_B[1])) == GIVEN_B_1
    a = plus((1, (Fraction(1, 4), Fraction(3, 4))), (Fraction(7, 10), GIVEN_B_0), (Fraction(3, 10), GIVEN_B_1))
    b = plus((1, (Fraction(7, 10), Fraction(3, 10))), (Fraction(1, 4), A_TO_B[0]), (Fraction(3, 4), A_TO_B[1]))
    # Where every label and pair has evidence, a label's votes sum to the number of labels.
    assert (a, b) == ((Fraction(260, 300), Fraction(340, 300)), (Fraction(43, 40), Fraction(37, 40)))
    check(two_labels(combine="marginal"), {"a": a, "b": b})


def test_a_tie_of_the_given_label_is_a_zero():
    model = two_labels(b=(Fraction(1, 2), Fraction(1, 2)))
    check(
        model,
        {
            "a": plus((1, (Fraction(1, 4), Fraction(3, 4))), (Fraction(1, 2), GIVEN_B_0)),
            "b": plus((1, (Fraction(1, 2), Fraction(1, 2))), (Fraction(3, 4), A_TO_B[1])),
        },
    )


@pytest.mark.parametrize("combine", ["predicted", "marginal"])
def test_given_label_without_evidence(combine):
    model = two_labels(combine=combine)
    weigh(model.br, {("a", "a"): 1})
    b = (
        (Fraction(3, 20), Fraction(12, 20))
        if combine == "predicted"
        else plus((Fraction(1, 4), A_TO_B[0]), (Fraction(3, 4), A_TO_B[1]))
    )
    # Nothing is known of b but what a tells; nothing is added to a.
    check(model, {"a": (Fraction(1, 4), Fraction(3, 4)), "b": b})
    weigh(model.br, {})
    check(model, {"a": NOTHING, "b": NOTHING})


@pytest.mark.parametrize("combine", ["predicted", "marginal"])
def test_pair_without_evidence(combine):
    model = two_labels(combine=combine)
    weigh(model.pw, {(AB, AB): 1})
    assert model.evidence(X)["a"] == (0.25, 0.75)
    assert model.evidence(X)["b"] != (0.7, 0.3)
    weigh(model.pw, {})
    check(model, {"a": (Fraction(1, 4), Fraction(3, 4)), "b": (Fraction(7, 10), Fraction(3, 10))})


def test_pair_without_evidence_for_one_value():
    model = two_labels(pw=[(A_TO_B[0], NOTHING), (NOTHING, B_TO_A[1])], combine="marginal")
    weigh(model.pw, {(AB, AB): 1, (BA, BA): 1})
    # The other value keeps its own weight.
    expected = {
        "a": (Fraction(1, 4) + Fraction(3, 10), Fraction(3, 4)),
        "b": plus((1, (Fraction(7, 10), Fraction(3, 10))), (Fraction(1, 4), A_TO_B[0])),
    }
    check(model, expected)
    model.combine = "predicted"
    check(model, {"a": (Fraction(1, 4), Fraction(3, 4)), "b": (Fraction(7, 10), Fraction(3, 10))})


def test_before_the_first_example():
    model = learner([(0, 1)])
    assert model.evidence(X) == model.predict_proba(X) == model.predict(X) == {}
    assert model.aswr() == 0.0
    model.learn(X, {"a": 1}, "source")
    assert model.evidence(X) == {}
    model.learn(X, {"a": 1})
    check(model, {"a": NOTHING})
    assert model.aswr() == 0.0


def test_training_and_weighting_use_the_true_label():
    model = learner([(1, 0), (0, 1)], [A_TO_B, B_TO_A])
    # BR says the opposite of both.
    model.learn(X, {"a": 1, "b": 0})
    ab, ba = model.pw.models
    assert (ab.label, ba.label) == (AB, BA)
    assert ab.tree.learned == [([*X, 1.0], 0, 1)]
    assert ba.tree.learned == [([*X, 0.0], 1, 1)]
    assert [h.tree.learned for h in model.br.models] == [[(X, 1, 1)], [(X, 0, 1)]]
    # On a→b both are asked given 1, and a→b says 1, b→a says 0; on b→a given 0, and they say 0 and 1.
    assert counts(model.pw.records[ab, AB]) == (0, 1, 0, 0)
    assert counts(model.pw.records[ba, AB]) == (0, 0, 1, 0)
    assert counts(model.pw.records[ab, BA]) == (0, 0, 0, 1)
    assert counts(model.pw.records[ba, BA]) == (1, 0, 0, 0)
    assert len(model.pw.records) == 4
    assert len(model.br.records) == 4


def test_weight_follows_the_imbalance_of_the_predicted_label():
    calls = []

    def resampling(stream, label, number, draw, rate):
        calls.append((stream, label, number, draw, rate))
        return 2

    model = learner(resampling=resampling)
    for a, b in ((0, 1), (0, 1), (1, 1)):
        model.learn(X, {"a": a, "b": b}, "s")
    of_pairs = [call for call in calls if isinstance(call[1], tuple)]
    # The third example is the first of a = 1.
    rates = {AB: [1.0, 1.0, 1.0], BA: [1.0, 1.0, 2.0]}
    assert of_pairs == [("s", pair, 0, draw, rates[pair][draw]) for draw in range(3) for pair in (AB, BA)]
    assert [h.tree.learned[-1] for h in model.pw.models] == [([*X, 1.0], 1, 2), ([*X, 1.0], 1, 2)]


def test_unknown_labels():
    # Pairs of a and c come after those of a and b.
    model = learner([(1, 0)] * 3, [A_TO_B, B_TO_A, A_TO_B, B_TO_A], [""] * 7)
    model.learn(X, {"a": 1})
    assert model.known_pairs() == []
    model.learn(X, {"a": 1, "b": 0})
    model.learn(X, {"b": 1})
    model.learn(X, {"c": 0, "a": 0})
    assert model.known_pairs() == [AB, BA, ("c", "a"), ("a", "c")]
    ab, ba, ca, ac = model.pw.models
    assert [h.n_positive + h.n_negative for h in model.br.models] == [3, 2, 1]
    for pair in (ab, ba, ca, ac):
        assert pair.n_positive + pair.n_negative == len(pair.tree.learned) == 1
        assert len(model.pw.tasks[None, pair.label].detector.inputs) == 1
        # Older sub-classifiers vote on new pairs from the start; new ones have no record of old pairs yet.
        assert sum(counts(model.pw.records[pair, ("c", "a")])) == 1
        assert sum(counts(model.pw.records[pair, AB])) == (pair in {ab, ba})
    # b and c were never known together: nothing about c comes from b.
    weigh(model.br, {("a", "a"): 1, ("b", "b"): 1, ("c", "c"): 1})
    weigh(model.pw, {(pair, pair): 1 for pair in model.known_pairs()})
    # BR says 0 of all, for sure.
    check(
        model,
        {
            "a": plus((1, (1, 0)), (1, B_TO_A[0]), (1, A_TO_B[0])),
            "b": plus((1, (1, 0)), (1, A_TO_B[0])),
            "c": plus((1, (1, 0)), (1, B_TO_A[0])),
        },
    )


def test_chosen_pairs():
    model = learner([], [A_TO_B], pairs=[AB, ("c", "a")])
    model.learn(X, {"b": 0, "c": 1}, "first")
    model.learn(X, {"a": 0, "c": 1}, "second")
    model.learn(X, {"a": 1, "b": 0})
    assert model.known_pairs("first") == []
    assert model.known_pairs("second") == [("c", "a")]
    assert model.known_pairs() == [AB]
    assert [(h.stream, h.label) for h in model.pw.models] == [("second", ("c", "a")), (None, AB)]
    assert len(model.br.models) == 6


def test_sources_vote_on_target_pairs():
    model = learner([(1, 0)] * 4, [A_TO_B, B_TO_A])
    model.learn(X, {"p": 1, "q": 0}, "source")
    model.learn(X, {"a": 1, "b": 0})
    assert set(model.evidence(X)) == {"a", "b"}
    weigh(model.br, WEIGHTS)
    weigh(model.pw, {(("p", "q"), AB): 1, (("q", "p"), BA): Fraction(1, 8)})
    check(model, {"a": plus((1, (1, 0)), (1, B_TO_A[0])), "b": plus((1, (1, 0)), (1, A_TO_B[0]))})


def test_transfer_ratio_of_pairs():
    model = learner()
    model.learn(X, {"a": 1, "b": 0}, "source")
    model.learn(X, {"a": 1, "b": 0})
    assert model.aswr() == 0.0
    for (h, pair), record in model.pw.records.items():
        # The same pair of a source is a source, and so is a target pair that predicts the same label.
        alphas = {("source", AB): 0.5, ("source", BA): 0.125, (None, AB): 0.25, (None, BA): 1.0}
        record.alpha = alphas[h.stream, h.label] + (pair == BA)
    for record in model.br.records.values():
        record.alpha = 1.0
    assert model.swr(AB) == pytest.approx(1.625 / 1.875)
    assert model.swr(BA) == pytest.approx((1.5 + 1.125 + 1.25) / 5.875)
    assert model.aswr() == pytest.approx((13 / 15 + 31 / 47) / 2)
    assert model.swr(("a", "never seen")) == 0.0


@pytest.mark.parametrize("ignore", [True, False])
def test_drift_of_a_pair(ignore):
    # Detectors of a, b, a→b and b→a: only a→b drifts, and without a warning.
    model = learner([], [A_TO_B], ["", "", ".d", ""], ignore_drift_without_background=ignore)
    for _ in range(2):
        model.learn(X, {"a": 1, "b": 0})
    assert [tuple(event) for event in model.pw.events] == [(None, 1, AB, "drift_without_background")]
    assert model.br.events == []
    # A detector is told of the prediction given the true a = 1, which is wrong; given BR's it would be right.
    assert model.pw.tasks[None, AB].detector.inputs == ([(False, 0)] * 2 if ignore else [])
    assert model.br.n_sub("b") == 1
    assert (model.pw.n_sub(AB), model.pw.n_sub(BA)) == ((1, 1) if ignore else (2, 1))
    ab = model.pw.models[0]
    # Only the records of that pair start again.
    assert sum(counts(model.pw.records[ab, AB])) == (2 if ignore else 1)
    assert sum(counts(model.pw.records[ab, BA])) == 2


def test_background_classifier_of_a_pair():
    model = learner([], [], ["", "", ".wd", ""])
    for a in (0, 1, 0):
        model.learn(X, {"a": a, "b": 1})
    old, _, new = model.pw.models
    assert (new.label, new.number) == (AB, 1)
    # In the warning zone and, as the latest, at the drift: each time with the true value of a.
    assert [x for x, _, _ in new.tree.learned] == [[*X, 1.0], [*X, 0.0]]
    assert [x for x, _, _ in old.tree.learned] == [[*X, 0.0], [*X, 1.0]]


@pytest.mark.parametrize("stream", [None, "source"])
def test_signalled_drift(stream):
    model = learner([(0, 1)] * 6)
    for _ in range(2):
        model.learn(X, {"a": 1, "b": 1, "c": 0})
        model.learn(X, {"a": 1, "b": 1, "c": 0}, "source")
    n_br, n_pw = len(model.br.models), len(model.pw.models)
    model.signal_drift((label for label in ["a", "never seen"]), stream)
    assert [(h.stream, h.label, h.number) for h in model.br.models[n_br:]] == [(stream, "a", 1)]
    predict_a = [BA, ("c", "a")]
    assert [(h.stream, h.label, h.number) for h in model.pw.models[n_pw:]] == [(stream, pair, 1) for pair in predict_a]
    assert [tuple(event) for event in model.pw.events] == [(stream, 2, pair, "signalled") for pair in predict_a]
    first = model.pw.models[0]
    for pair in model.known_pairs():
        forgotten = stream is None and pair in predict_a
        assert sum(counts(model.pw.records[first, pair])) == (0 if forgotten else 2)


def test_asked_twice_whatever_the_number_of_labels():
    model = learner([(Fraction(1, 4), Fraction(3, 4))] * 4, [A_TO_B] * 12, combine="marginal")
    model.learn(X, dict.fromkeys("abcd", 0))
    for h in model.pw.models:
        h.tree.asked = 0
    model.predict_proba([8.0])
    assert [h.tree.asked for h in model.pw.models] == [2] * 12
    model.learn([8.0], {"a": 0, "b": 1, "c": 0, "d": 1})
    # And twice again for the records: training changed them all.
    assert [h.tree.asked for h in model.pw.models] == [4] * 12


def test_combination_is_checked():
    with pytest.raises(ValueError, match="not 'joint'"):
        learner(combine="joint")


def generated(seed, n=150):
    """Two features and three labels, the third often the first; some are not known."""
    rng = random.Random(seed)
    for _ in range(n):
        x = [rng.gauss(0, 1), float(rng.random() < 0.4)]
        a, b = int(x[0] > 0), int(x[0] + x[1] > 0.7)
        y = {"a": a, "b": b, "c": a if rng.random() < 0.9 else 1 - a}
        yield x, {label: truth for label, truth in y.items() if rng.random() < 0.9}, rng.choice([None, None, "s"])


def make_tree(kinds):
    return NaiveHoeffdingTree(kinds=kinds, grace_period=30)


def test_without_pairs_it_is_br_marlene():
    model = NaiveBRPWMarlene([0, 2], make_tree, NaiveDDMOCI, pairs=[])
    alone = NaiveBRMarlene(lambda: make_tree([0, 2]), NaiveDDMOCI)
    seen = 0
    for x, y, stream in generated(1):
        assert model.predict(x) == alone.predict(x)
        for label, proba in alone.predict_proba(x).items():
            assert model.predict_proba(x)[label] == pytest.approx(proba, abs=1e-12)
            seen += proba != (0.5, 0.5)
        model.learn(x, y, stream)
        alone.learn(x, y, stream)
    assert seen > 200


@pytest.mark.parametrize("combine", ["predicted", "marginal"])
def test_order_of_the_labels_does_not_matter(combine):
    one, other = (NaiveBRPWMarlene([0, 2], make_tree, NaiveDDMOCI, combine=combine) for _ in range(2))
    for x, y, stream in generated(2):
        evidence = other.evidence(x)
        for label, votes in one.evidence(x).items():
            assert evidence[label] == pytest.approx(votes, abs=1e-9)
        one.learn(x, y, stream)
        other.learn(x, dict(reversed(y.items())), stream)
    # All pairs of both streams, and votes that count.
    assert len(one.known_pairs()) == len(one.known_pairs("s")) == 6
    assert all(sum(votes) > 1.5 for votes in evidence.values())


# Log space instead of products and heeding drifts without a background classifier change nothing in this trace.
both_ways = pytest.mark.parametrize("imitate", [True, False])


@pytest.mark.golden
@both_ways
def test_trace_votes(imitate):
    trace, replay = load_trace(BRPW_TRACE), replay_brpw(imitate)
    assert len(replay.v0) == len(trace["v0"]) == 1000
    np.testing.assert_allclose(replay.v0, trace["v0"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(replay.v1, trace["v1"], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(replay.pred, trace["pred"])


@pytest.mark.golden
@both_ways
def test_trace_transfer_ratio(imitate):
    trace, replay = load_trace(BRPW_TRACE), replay_brpw(imitate)
    # At the first step the trace says NaN.
    np.testing.assert_allclose(replay.aswr[1:], trace["aswr"][1:], rtol=0, atol=1e-9)


@pytest.mark.golden
@both_ways
def test_trace_sub_classifiers(imitate):
    trace, replay = load_trace(BRPW_TRACE), replay_brpw(imitate)
    np.testing.assert_array_equal(replay.n_br, trace["n_br"])
    np.testing.assert_array_equal(replay.n_pw, trace["n_pw"])
