"""Lists of candidates that do not hold all snapshots and sources: as good as long ones, bounded, saved."""

import copy

import numpy as np
import pytest

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.kernels.tracking.state import KINDS
from marlene.learners.marlene import _tracker_layout, _tracker_state
from marlene.learners.marlene._tracker_layout import SLOTS, SNAPSHOT
from marlene.metrics import Scores
from tests.learners.streams import shapes


def many_labels(n, n_labels, drifts, seed=0):
    """Return examples of three labels each, which show words of their own; now and then labels change places."""
    rng = np.random.default_rng(seed)
    there = rng.integers(0, n_labels, (n, 3))
    X, Y = (rng.random((n, 4 * n_labels)) < 0.02) * 1.0, np.zeros((n, n_labels), np.int8)
    order = np.arange(n_labels)
    for t in range(n):
        if t and t % (n // (drifts + 1)) == 0:
            order = rng.permutation(n_labels)
        Y[t, order[there[t]]] = 1
        X[t, 4 * np.repeat(there[t], 2) + rng.integers(0, 4, 6)] = 1.0
    return X, Y


def with_lists_of(candidates, transfer="tracking"):
    model = Marlene(transfer=transfer, features="binary")
    model._tracker.candidates = candidates
    return model


def gmeans(model, X, Y):
    _, predicted = model.decide_then_train(X, Y)
    return Scores(Y.shape[1], window=500).update_many(Y, predicted, trace=True).mean(axis=0)[:3]


def test_short_lists_are_nearly_as_good_as_all_candidates():
    X, Y = many_labels(6000, 60, 3)
    short, full, own = with_lists_of(24), with_lists_of(60 * SLOTS), with_lists_of(24, "own")
    ours, best, alone = gmeans(short, X, Y), gmeans(full, X, Y), gmeans(own, X, Y)
    assert (ours > best - 0.02).all()
    assert (ours > alone + 0.05).all()
    assert short._tracker._growth.alive.sum() > 4 * 24
    assert max(len(short._tracker.listed(k, q)) for k in range(KINDS) for q in range(60)) == 2 + 24


def elements_per_label(n_labels, candidates, sources):
    """Return how many numbers the weights, the work space and the classifiers have for each label."""
    model = with_lists_of(candidates)
    X, Y = many_labels(500, n_labels, 0)
    for number in range(sources):
        model.learn_many(X[:250], Y[:250], stream=f"source {number}")
    model.learn_many(X[250:], Y[250:])
    tracker = model._tracker
    parts = tracker._weights, tracker.model().scratch, tracker._streams, tracker._growth
    return elements_in(parts) / n_labels, len(tracker.bank) / n_labels


def elements_in(part):
    """Return how many numbers there are in arrays and tuples of such."""
    return sum(map(elements_in, part)) if isinstance(part, tuple) else np.size(part)


@pytest.mark.parametrize("sources", [0, 2])
def test_memory_and_work_are_linear_in_the_labels(sources):
    few, columns = elements_per_label(32, 10, sources)
    many, more_columns = elements_per_label(240, 10, sources)
    assert many <= few
    assert columns == more_columns == 2 + SLOTS + 2 * sources


def test_everything_is_bounded_however_often_labels_drift(monkeypatch):
    monkeypatch.setattr(_tracker_layout, "MOST_EVENTS", 50)
    model, sizes, drifts = with_lists_of(8), [], 0
    X, Y = many_labels(12_000, 6, 20)
    for begin in range(0, len(X), 1000):
        model.learn_many(X[begin : begin + 1000], Y[begin : begin + 1000])
        sizes.append(shapes(model))
        drifts = max(drifts, len(model._tracker.events))
    assert sizes[0] == sizes[-1]
    assert drifts == len(model._tracker.events) == 50
    times = [time for changes in model.concepts().values() for time in changes]
    assert 8000 < min(times) < max(times) < 12_000
    assert Marlene.from_state(*model.state()).concepts() == model.concepts()


def test_too_many_changes_in_a_file_are_refused(monkeypatch):
    model = with_lists_of(4)
    X, Y = many_labels(200, 3, 0)
    model.learn_many(X, Y)
    for _ in range(3):
        model.signal_drift([0])
    header, arrays = model.state()
    assert Marlene.from_state(header, arrays).concepts() == model.concepts()
    monkeypatch.setattr(_tracker_state, "MOST_EVENTS", 2)
    with pytest.raises(MarleneError, match="the changes of labels"):
        Marlene.from_state(header, arrays)


def test_short_lists_are_the_same_in_blocks_one_by_one_and_after_a_file():
    X, Y = many_labels(1600, 8, 2)
    whole, parts = with_lists_of(5), with_lists_of(5)
    expected = whole.test_then_train(X, Y)
    found = [parts.test_then_train(X[:700], Y[:700])]
    again = Marlene.from_state(*parts.state())
    found += [again.test_then_train(X[t : t + 1], Y[t : t + 1]) for t in range(700, 900)]
    again = copy.deepcopy(again)
    found += [again.test_then_train(X[900:], Y[900:])]
    np.testing.assert_array_equal(np.concatenate(found), expected)
    assert again.concepts() == whole.concepts()
    assert any(event.giver and event.giver.role == SNAPSHOT for event in whole._tracker.events)


def test_labels_that_come_one_by_one():
    X, Y = many_labels(1500, 12, 1)
    models = with_lists_of(6), with_lists_of(100)
    for model in models:
        for t in range(1500):
            x, labels = {f"w{i}": True for i in np.flatnonzero(X[t])}, range(min(12, 1 + t // 40))
            model.learn_one(x, {q: bool(Y[t, q]) for q in labels})
    for model, length in zip(models, (6, None), strict=True):
        tracker = model._tracker
        alive = int(tracker._growth.alive.sum())
        assert alive > 12
        for q in range(12):
            own, young, *guests = (tracker.place(column) for column in tracker.listed(0, q))
            assert (own.label, young.label) == (q, q)
            assert len(guests) == (length or alive)
            assert sum(guest.label == q for guest in guests) == tracker._growth.alive[:, q].sum()
