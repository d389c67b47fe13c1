"""Marlene against plain Python, on streams of dictionaries with all that may happen."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene.banks import LinearBank, NaiveBayesBank, Neighbours
from marlene.kernels.tracking.state import BAYES, LINEAR, NAMESAKE, NEIGHBOURS, QUIET, SEARCHING
from marlene.kernels.tracking.voices import TRIAL
from marlene.kernels.tracking.weights import PROVEN, PROVEN_NAMED
from marlene.learners import Marlene
from marlene.learners.input._values import DECISIVE
from marlene.learners.marlene._decisions import AIMS, OBJECTIVES, threshold_of
from marlene.learners.marlene._tracker_layout import CANDIDATES, OWN, SLOTS, SNAPSHOT, SOURCE, WARM, YOUNG
from tests.naive.banks import Logistic, NaiveBayes
from tests.naive.tracking import Tracker

FEWEST_VALUES = 3
"""A nominal feature has at least so many values, of which one stands for absence."""


class Inputs:
    """Make inputs of dictionaries: a number, whether something is there, or one input per text."""

    def __init__(self):
        self.numeric, self.values = {}, {}
        self.counted, self.absent = {}, {}

    def of(self, x, learning):
        """Return the inputs of an example, in the order of features; what is unknown becomes known if it is learnt."""
        row, known = {}, {name: i for i, name in enumerate(self.values)}
        for name in sorted([*x, *(known.keys() - x.keys())], key=lambda name: known.get(name, len(known))):
            value = x.get(name, "" if self.values.get(name) is not None else False)
            if name not in self.values:
                if not learning or value is None:
                    continue
                self.values[name] = [""] if isinstance(value, str) else None
                if isinstance(value, float):
                    self.numeric[name] = True
            texts = self.values[name]
            if texts is None:
                row |= {name: math.nan if value is None else float(value)} if value is None or value else {}
                continue
            if learning and value is not None and value not in texts:
                texts.append(value)
            absent = self.absent.get(name, "")
            if value not in texts:
                row |= {(name, i): math.nan for i in range(1, max(FEWEST_VALUES, len(texts)))}
            elif value != absent:
                row[name, texts.index(value or absent)] = 1.0
        return row

    def count(self, x):
        """Count the texts of an example that was learnt; return the inputs that have another meaning from now on."""
        decided = []
        for name, texts in self.values.items():
            found = self.counted.setdefault(name, [])
            if texts is None or x.get(name, "") is None or len(found) == DECISIVE:
                continue
            found.append(x.get(name, ""))
            commonest = max(texts, key=found.count)
            if len(found) == DECISIVE and commonest:
                self.absent[name] = commonest
                decided.append((name, texts.index(commonest)))
        return decided


class Twins:
    """Marlene, and the same in plain Python; both are told the same, and what they say is compared."""

    def __init__(
        self, base="mixed", transfer="tracking", objective="mix", weighted=False, candidates=CANDIDATES, window=None
    ):
        banks = [NaiveBayesBank(weighted=weighted)] if base != "linear" else []
        banks += [LinearBank()] if base != "naive-bayes" else []
        neighbours = Neighbours(window) if window else None
        base = [*banks, neighbours] if window else banks
        self.model = Marlene(base=base, transfer=transfer, objective=objective)
        self.model._tracker.candidates = candidates
        twins = {BAYES: NaiveBayes, LINEAR: Logistic}
        make = {bank.which: lambda scales, bank=bank: twins[bank.which](scales, **bank.settings()) for bank in banks}
        self.inputs = Inputs()
        slots, settings = SLOTS if transfer == "tracking" else 0, neighbours and neighbours.settings().values()
        self.naive = Tracker(make, objective, slots, self.inputs.numeric, candidates, settings)
        self.roles = set()
        self.predictions = set()

    def learn(self, x, y, stream=None, w=1.0):
        """Learn an example; one of the target is predicted before."""
        found = self.predict(x) if stream is None and self.naive.streams[0].labels else None
        before = str(self.inputs.values), len(self.naive.streams[0].labels)
        row = self.inputs.of(x, learning=True)
        self.naive.add(stream, y)
        events = list(self.model._tracker.events)
        self.model.learn_one(x, y, w=w, stream=stream)
        number = self.naive.names.index(stream)
        settled = self.cuts(number) if events == list(self.model._tracker.events) else None
        labels = self.naive.streams[self.naive.names.index(stream)].labels
        truth = [int(y.get(label, -1)) for label in labels]
        if stream is not None:
            self.naive.learn_source(stream, row, truth, settled, w)
            assert self.naive.streams[number].cuts.cut == self.cuts(number)
            self.count(x)
            return
        if before != (str(self.inputs.values), len(labels)):
            found = None
        self.naive.learn(row, truth, found, settled, w)
        self.count(x)
        cuts = self.cuts(0)
        assert self.naive.streams[0].cuts.cut == cuts
        if isinstance(self.model.objective, str) and self.model.objective in AIMS:
            assert list(self.model.thresholds().values()) == threshold_of(np.array(cuts)).tolist()
        for q in range(len(labels)):
            self.roles |= {role for _, role, _, _ in self.naive.shares(q)}

    def count(self, x):
        for slot in self.inputs.count(x):
            self.naive.forget(slot)

    def predict(self, x):
        """Compare what both say of an example; return the scores as Marlene has them."""
        chances, predicted = self.model.predict_proba_one(x), self.model.predict_one(x)
        found, probabilities = list(self.model.score_one(x).values()), [p[True] for p in chances.values()]
        expected, answer = self.naive.predict(self.inputs.of(x, learning=False))
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
        said, decided = answer(found)
        assert probabilities == pytest.approx(said, rel=1e-6, abs=1e-6)
        assert list(predicted.values()) == decided
        self.predictions |= set(found)
        return found

    def cuts(self, number):
        """Return the cuts of a stream as Marlene has them."""
        n_labels = len(self.naive.streams[number].labels)
        return self.model._tracker._streams.cut[number, :n_labels].tolist()

    def compare_lists(self):
        """Compare who is in the lists of candidates."""
        tracker = self.model._tracker
        for (k, q), weights in self.naive.weights.items():
            found = [tuple(tracker.place(column)) for column in tracker.listed(k, q)]
            guests = [(SOURCE if room else SNAPSHOT, room, label) for room, _, label in sorted(weights.guests)]
            warm = [(WARM, room, q) for room in range(1, len(self.naive.streams))]
            assert found == [(OWN, 0, q), (YOUNG, 0, q), *warm, *guests]

    def signal(self, label):
        self.model.signal_drift([label])
        self.naive.signal(self.naive.streams[0].labels.index(label))
        self.compare()

    def compare(self):
        """Compare who inherited when from whom, and who votes."""
        tracker = self.model._tracker
        events = [(e.time, e.label, e.kind, e.giver and tuple(e.giver)) for e in tracker.events]
        assert events == self.naive.events
        for q in range(len(self.naive.streams[0].labels)):
            shares = {}
            for kind, place, share in tracker.shares(q):
                shares[kind, *place] = shares.get((kind, *place), 0.0) + share
            assert shares == pytest.approx(self.naive.shares(q), rel=1e-5, abs=1e-6)
            assert tracker.voices(q) == pytest.approx(self.naive.streams[0].voices(q), rel=1e-5)
        assert bool(tracker._clock[QUIET]) == self.naive.quiet
        self.compare_lists()
        return {giver[0] for *_, giver in events if giver}


def words(rng, n, n_labels, n_words=24):
    """Return examples of words, and for every label whether one of its own words is there."""
    present = rng.random((n, n_words)) < 0.12
    own = rng.permutation(n_words)[: 3 * n_labels].reshape(n_labels, 3)
    Y = np.stack([present[:, chosen].any(axis=1) for chosen in own], axis=1)
    Y ^= rng.random(Y.shape) < 0.03
    return [{f"w{i}": True for i in np.flatnonzero(row)} | {"w0": bool(row[0])} for row in present], Y


def numbers(rng, n, n_labels):
    """Return examples of dense and sparse numbers, counts, texts, and gaps."""
    dense, sparse = rng.normal(2.0, 1.5, (n, 3)), rng.exponential(2.0, (n, 3)) * (rng.random((n, 3)) < 0.3)
    dense[:, 2] = rng.poisson(1.5, n)  # zero is a value like others
    colour = rng.integers(0, 5, n)
    signs = rng.normal(size=(7, n_labels))
    inputs = np.column_stack([dense - 2.0, sparse, colour == 2])
    Y = inputs @ signs + 0.3 * rng.normal(size=(n, n_labels)) > 0.5
    rows = []
    for t in range(n):
        x = {f"d{i}": float(value) for i, value in enumerate(dense[t])}
        x |= {f"s{i}": float(value) for i, value in enumerate(sparse[t])}
        x |= {"colour": f"c{colour[t]}"}
        x |= {"shape": f"s{colour[t] % 2}"} if rng.random() < 0.3 + 0.6 * (t < n // 2) else {}
        gaps = [name for name in x if name != "d0" and rng.random() < 0.04]
        rows.append(x | dict.fromkeys(gaps))
    return rows, Y


def truths(rng, Y, names, unknown=0.05):
    return [
        {name: bool(v) for name, v in zip(names, row, strict=True) if rng.random() >= unknown} for row in Y.tolist()
    ]


def learn_all(twins, X, Y, stream=None):
    for x, y in zip(X, Y, strict=True):
        twins.learn(x, y, stream)


@pytest.mark.parametrize("base", ["mixed", "naive-bayes", "linear"])
def test_labels_that_change_places(base):
    rng = np.random.default_rng(1)
    twins = Twins(base)
    X, Y = words(rng, 1300, 3)
    Y[700:] = np.roll(Y[700:], 1, axis=1)
    learn_all(twins, X, truths(rng, Y, "abc"))
    assert SNAPSHOT in twins.compare()
    assert twins.roles >= {SNAPSHOT, "own"}
    assert len(twins.naive.alive) > 3


@pytest.mark.parametrize("candidates", [1, 6])
def test_lists_that_do_not_hold_all(candidates):
    rng = np.random.default_rng(5)
    twins = Twins(candidates=candidates)
    X, Y = words(rng, 1500, 4)
    archive = truths(rng, Y, "qrst")
    learn_all(twins, X[:200], archive[:200], "archive")
    learn_all(twins, X[200:300], truths(rng, Y[200:300, :2], "ab"))
    Y[800:] = np.roll(Y[800:], 1, axis=1)
    known = truths(rng, Y, "abcd")
    for t in range(300, 1500):
        twins.learn(X[t], known[t])
        if t % 100 == 0:
            twins.compare_lists()
            learn_all(twins, X[t - 300 : t - 290], archive[t - 300 : t - 290], "archive")
    assert len(twins.naive.pool) > 2 * candidates
    assert all(len(weights.guests) == candidates for weights in twins.naive.weights.values())
    assert twins.compare() >= ({SOURCE, SNAPSHOT} if candidates > 1 else {SOURCE})


def test_concepts_that_are_new_and_signals():
    rng = np.random.default_rng(2)
    twins = Twins(objective="macro")
    X, Y = words(rng, 900, 1)
    Y[:600] ^= True
    for t, (x, y) in enumerate(zip(X, truths(rng, Y, "a"), strict=True)):
        if t in (300, 600, 601):
            twins.signal("a")
        twins.learn(x, y)
    assert YOUNG in twins.compare()
    assert sum(giver is None for *_, giver in twins.naive.events) == 3


def test_sources_of_the_same_and_of_other_names():
    rng = np.random.default_rng(3)
    twins = Twins()
    X, Y = words(rng, 1000, 4)
    known = truths(rng, Y, "abcd")
    near = [(x, {"a": bool(row[0]), "old": bool(row[1])}) for x, row in zip(X[:300], Y[:300], strict=True)]
    noise = [(x, {"c": bool(v)}) for x, v in zip(X[:150], rng.random(150) < 0.3, strict=True)]
    for x, y in near:
        twins.learn(x, y, "near")
    for x, y in noise:
        twins.learn(x, y, "noise")
    for t in range(400, 650):
        twins.learn(X[t], {name: y for name, y in known[t].items() if name in "abc"})
        if t % 5 == 0:  # the archive goes on
            twins.learn(X[t - 400], {"a": bool(Y[t - 400, 0])}, "near")
    for t in range(650, 1000):
        twins.learn(X[t], known[t])
    assert SOURCE in twins.compare()
    assert twins.roles >= {WARM, SOURCE, "own"}


def test_of_a_source_of_the_same_name_less_is_asked():
    rng = np.random.default_rng(10)
    twins = Twins()
    X, Y = words(rng, 300, 2)
    learn_all(twins, X[:60], [{"a": bool(row[0])} for row in Y[:60]], "little")
    source = twins.naive.streams[1]
    assert source.trust(0, PROVEN) == 0
    assert 0 < source.trust(0, PROVEN_NAMED) < 1
    learn_all(twins, X[60:], truths(rng, Y[60:], "ac"))
    twins.compare()
    assert WARM in twins.roles


def test_a_source_sleeps_while_it_knows_too_few_inputs():
    rng = np.random.default_rng(6)
    twins = Twins()
    X, Y = words(rng, 700, 3)
    other = [{f"other {name}": True for name in x} | {"w0": False} for x in X]
    known = truths(rng, Y, "abc", 0.0)
    learn_all(twins, X[:300], known[:300], "archive")
    source = twins.naive.streams[1]
    few = {"w1": True, "w2": True, "w3": None, "other w1": True, "other w2": True}  # the gap was met
    learn_all(twins, [other[300], few], [{"x": True}, {"x": False, "b": True}])
    assert twins.naive.began == [SEARCHING, NAMESAKE]
    row = twins.inputs.of(few, learning=False)
    assert source.scales.met >= row.keys()  # of the target's examples the source has met more
    assert not source.is_familiar(row)
    asleep = {place for place in twins.naive.weights[BAYES, 0].share if twins.naive.is_asleep(place, row)}
    assert {(1, 1, label) for label in range(3)} <= asleep
    for x, y in zip(other[301:310], known[301:310], strict=True):
        twins.learn(x, {"x": y["a"]})
    learn_all(twins, X[310:600], [y | {"x": y["a"]} for y in known[310:600]])
    twins.compare()
    assert twins.roles >= {WARM, SOURCE, OWN}


def test_a_label_that_is_searched_for_inherits_after_few_examples():
    rng = np.random.default_rng(12)
    twins = Twins()
    X, Y = words(rng, 800, 3)
    learn_all(twins, X[:500], truths(rng, Y[:500], "abc", 0.0), "archive")
    learn_all(twins, X[500:], truths(rng, Y[500:], "xyz", 0.0))
    assert twins.naive.began == [SEARCHING] * 3
    assert SOURCE in twins.compare()
    found = {q: giver for time, q, _, giver in twins.naive.events if time < 40}
    assert found == {q: (SOURCE, 1, q) for q in range(3)}


@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_texts_and_gaps(weighted):
    rng = np.random.default_rng(4)
    twins = Twins(objective={"false_positive": 1.0, "false_negative": 2.0}, weighted=weighted)
    X, Y = numbers(rng, 900, 2)
    Y[450:] = Y[450:, ::-1]
    learn_all(twins, X[:100], truths(rng, Y[:100], "ax"), "old")
    learn_all(twins, X[100:], truths(rng, Y[100:], "ab"))
    assert twins.compare()
    assert len(twins.predictions) > 500


@pytest.mark.parametrize("weighted", [False, True])
def test_examples_of_different_weights(weighted):
    rng = np.random.default_rng(7)
    twins = Twins(weighted=weighted)
    X, Y = words(rng, 900, 3)
    Y[500:] = np.roll(Y[500:], 1, axis=1)
    weights = rng.choice([0.25, 1.0, 1.75, 40.0], 900, p=[0.4, 0.3, 0.25, 0.05])
    known = truths(rng, Y, "abc")
    for t in range(900):
        twins.learn(X[t], known[t], "old" if t < 80 else None, float(weights[t]))
    assert twins.compare()
    assert len(twins.predictions) > 500


@pytest.mark.parametrize("window", [40, 1000])
def test_neighbours_among_numbers(window):
    rng = np.random.default_rng(7)
    twins = Twins(window=window)
    X, Y = numbers(rng, 500, 2)
    Y[:, 1] = [abs(x["d0"] - 2) + abs(x["d1"] - 2) < 1.5 if x["d1"] else y for x, y in zip(X, Y[:, 1], strict=True)]
    learn_all(twins, X[:60], truths(rng, Y[:60], "ax"), "old")
    learn_all(twins, X[60:300], [{"a": bool(y)} for y in Y[60:300, 0]])
    twins.signal("a")
    learn_all(twins, X[300:], truths(rng, Y[300:], "ab"))
    twins.compare()
    assert len(twins.predictions) > 500


def test_neighbours_that_are_equal_all_vote():
    rng = np.random.default_rng(8)
    twins = Twins(window=200)
    bits = rng.random((300, 3)) < 0.5
    X = [{f"b{i}": bool(b) for i, b in enumerate(row)} for row in bits]
    learn_all(twins, X, truths(rng, np.logical_xor(bits[:, :1], bits[:, 1:2]) ^ (rng.random((300, 1)) < 0.02), "a"))
    twins.compare()
    assert twins.naive.streams[0].voices(0)[NEIGHBOURS] > 0.99
    assert [twins.predict({"b0": True, "b1": b, "b2": True})[0] > 0.8 for b in (False, True)] == [True, False]


def test_neighbours_that_help_too_little_are_asked_rarely():
    rng = np.random.default_rng(9)
    twins = Twins(window=100)
    X, Y = words(rng, 400, 2)
    weights = rng.choice([0.5, 1.0, 3.0], 400)
    asked = []
    for x, y, w in zip(X, truths(rng, Y, "ab"), weights, strict=True):
        asked.append(twins.naive.are_asked())
        twins.learn(x, y, w=float(w))
    twins.compare()
    assert all(asked[:TRIAL])
    assert 0 < sum(asked[TRIAL:]) < 20


@settings(max_examples=25)
@given(st.data())
def test_anything(data):
    draw = data.draw
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    base = draw(st.sampled_from(["mixed", "naive-bayes", "linear"]))
    candidates = draw(st.sampled_from([2, 5, CANDIDATES]))
    transfer, objective = draw(st.sampled_from(["tracking", "own"])), draw(st.sampled_from([*OBJECTIVES]))
    window = draw(st.sampled_from([None, 2, 30, 1000]))
    twins = Twins(base, transfer, objective, candidates=candidates, window=window)
    n_labels = draw(st.integers(1, 4))
    X, Y = draw(st.sampled_from([words, numbers]))(rng, 160, n_labels)
    names = "abcd"[:n_labels]
    t, started = 0, set()
    for _ in range(draw(st.integers(1, 6))):
        stream = draw(st.sampled_from([None, None, "old", "other"]))
        labels = draw(st.permutations(names if stream != "other" else "wxyz"[:n_labels]))
        count = draw(st.integers(1, 40))
        if stream not in started:  # with one value only, the variance of a number is all but zero
            twins.learn({"start": True}, {labels[0]: True}, stream)
            started.add(stream)
        shown = draw(st.integers(1, n_labels))  # further labels come later
        for x, y in zip(X[t : t + count], truths(rng, Y[t : t + count], names, 0.2), strict=True):
            twins.learn(x, {labels[i]: y[name] for i, name in enumerate(names[:shown]) if name in y}, stream)
        t = (t + count) % 120
        if stream is None and draw(st.booleans()) and twins.naive.streams[0].labels:
            twins.signal(twins.naive.streams[0].labels[0])
    twins.compare()
    assert twins.model._tracker.labels == [stream.labels for stream in twins.naive.streams]
