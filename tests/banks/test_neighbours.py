"""Nearest neighbours as a part of Marlene: what they see, how long they remember, settings, files."""

import numpy as np
import pytest

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.banks import LinearBank, NaiveBayesBank, Neighbours
from marlene.kernels.banks import neighbours as kernels
from marlene.kernels.tracking.state import NEIGHBOURS
from tests.learners.streams import contents


def checkerboard(n, seed=0):
    """Return pairs of numbers, and a label that no single one of them tells anything about."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    return X, (np.floor(X).sum(axis=1) % 2 == 0)[:, None].astype(np.int8)


def with_window(window=1000):
    return Marlene(base=[NaiveBayesBank(), LinearBank(), Neighbours(window)], objective="none")


def right(model, X, Y):
    return float((model.decide_then_train(X, Y)[1] == Y).mean())


def test_they_see_what_simple_classifiers_do_not():
    X, Y = checkerboard(1500)
    assert right(Marlene(base=[NaiveBayesBank(), LinearBank()], objective="none"), X, Y) < 0.6
    model = Marlene(objective="none")
    assert right(model, X, Y) > 0.75
    assert model._tracker.voices(0)[NEIGHBOURS] > 0.9
    assert model.explain(0)[0] == {
        "base": "neighbours",
        "role": "own",
        "stream": None,
        "label": 0,
        "share": pytest.approx(model._tracker.voices(0)[NEIGHBOURS]),
    }
    assert model.aswr() < 0.1


def test_the_window_forgets():
    X, Y = checkerboard(1200)
    Y[600:] = 1 - Y[600:]
    short, long = with_window(200), with_window(1000)
    for model in (short, long):
        model.learn_many(X[:900], Y[:900])
    assert right(short, X[900:], Y[900:]) > right(long, X[900:], Y[900:]) + 0.1


def test_a_signalled_drift_makes_them_forget_the_label():
    X, Y = checkerboard(1100)
    Y = np.hstack([Y, Y])
    Y[900:, 0] = 1 - Y[900:, 0]
    found = []
    for signalled in (False, True):
        model = with_window()
        model.learn_many(X[:900], Y[:900])
        before = model.predict_proba_many(X[:5])
        if signalled:
            model.signal_drift([0])
            assert (model.predict_proba_many(X[:5])[:, 1] == before[:, 1]).all()
        predicted = model.decide_then_train(X[900:], Y[900:])[1]
        found.append((predicted == Y[900:]).mean(axis=0)[0])
    assert found[1] > found[0] + 0.05


def test_gaps_empty_rows_and_unknown_labels():
    X, Y = checkerboard(300)
    X[::7, 0], X[::11], Y[::5] = np.nan, 0.0, -1
    model = with_window(50)
    probabilities = model.decide_then_train(X, Y)[0]
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    window = model._tracker.neighbours.arrays
    assert window.ring.tolist() == [50, (300 - 60) % 50]  # examples without any known label are not remembered
    assert window.known.sum() == 50
    assert np.isfinite(window.table).all()


@pytest.mark.parametrize("places", [kernels.MOST_PLACES, 8])
def test_the_table_holds_what_the_lists_say(places, monkeypatch):
    monkeypatch.setattr("marlene.banks._neighbours.MOST_PLACES", places)
    monkeypatch.setattr(kernels, "MOST_PLACES", places)
    rng = np.random.default_rng(3)
    window = Neighbours(20)
    window.fit(inputs=30, labels=2, widest=5)
    arrays = window.arrays
    assert len(arrays.table) == min(30, places)
    arrays.sizes[:] = rng.integers(0, 6, 20)
    for s, size in enumerate(arrays.sizes):
        arrays.where[s, :size] = rng.permutation(30)[:size]
        arrays.value[s, :size] = rng.normal(size=size)
    after = np.concatenate([np.arange(10), 13 + np.arange(20)])
    before = [dict(zip(arrays.where[s, :n], arrays.value[s, :n], strict=True)) for s, n in enumerate(arrays.sizes)]
    window.move(np.arange(30), after, 33)
    for s, row in enumerate(before):
        expected = np.zeros(min(33, places))
        for slot, value in row.items():
            expected[after[slot] % places] += value
        assert window.arrays.table[: len(expected), s] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("window", [3, 64, 1000])
def test_blocks_and_files_change_no_bit(window, tmp_path):
    X, Y = checkerboard(220)
    Y = np.hstack([Y, (X[:, :1] > 0.5).astype(np.int8)])
    X = np.hstack([X, np.random.default_rng(1).poisson([0.4, 0.7, 0.8, 2.0], (220, 4))])  # zeros count in some
    singly, blocks, saved = (with_window(window) for _ in range(3))
    for t in range(200):
        singly.learn_many(X[t : t + 1], Y[t : t + 1])
    blocks.learn_many(X[:200], Y[:200])
    saved.learn_many(X[:90], Y[:90])
    saved.save(tmp_path / "model.npz")
    saved = Marlene.load(tmp_path / "model.npz")
    saved.learn_many(X[90:200], Y[90:200])
    assert contents(singly) == contents(blocks) == contents(saved)
    assert (saved.predict_proba_many(X[200:]) == blocks.predict_proba_many(X[200:])).all()
    assert (saved._tracker.neighbours.arrays.table == blocks._tracker.neighbours.arrays.table).all()
    assert repr(saved._tracker.neighbours) == f"<Neighbours(window={window}, smoothing=3.0)>"


def test_settings_are_checked():
    with pytest.raises(MarleneError, match="window must be"):
        Neighbours(window=1)
    with pytest.raises(MarleneError, match="smoothing must be positive, not nan"):
        Neighbours(smoothing=float("nan"))
    for base in ([Neighbours()], [NaiveBayesBank(), Neighbours(), Neighbours()]):
        with pytest.raises(MarleneError, match="base must be one of"):
            Marlene(base=base)
