"""True drifts are told before exactly the right examples, however the stream is cut into blocks."""

import numpy as np
import pytest

from marlene.evaluation import prequential
from marlene.experiments._watched import Watched
from marlene.learners import BRMarlene, create
from marlene.streams import synthetic_experiment
from tests.learners.streams import contents

MADE = synthetic_experiment("IA", 20, seed=3)


def by_hand():
    """Learn the stream in segments, and tell of the drifts between them."""
    model = BRMarlene(drift="oracle", seed=5)
    model.declare(MADE.target.features, MADE.target.labels)
    rows = []
    for segment in range(5):
        begin = 100 * segment
        drifting = [label for label, times in MADE.target.drifts.items() if begin in times]
        assert len(drifting) == {0: 0, 3: 2}.get(segment, 1)
        model.signal_drift(drifting)
        rows.append(model.test_then_train(MADE.target.X[begin : begin + 100], MADE.target.Y[begin : begin + 100]))
    return model, np.concatenate(rows)


@pytest.mark.parametrize("size", [1, 7, 100, 130, 500])
def test_the_blocks_do_not_matter(size):
    expected, probabilities = by_hand()
    model = BRMarlene(drift="oracle", seed=5)
    watched = Watched(model, MADE.target, MADE.target.drifts)
    watched.declare(MADE.target.features, MADE.target.labels)
    rows = [
        watched.test_then_train(MADE.target.X[i : i + size], MADE.target.Y[i : i + size]) for i in range(0, 500, size)
    ]
    assert np.array_equal(np.concatenate(rows), probabilities)
    assert contents(model) == contents(expected)
    assert model.concepts() == {label: list(times) for label, times in MADE.target.drifts.items()}


def test_within_an_evaluation():
    expected, probabilities = by_hand()
    model = BRMarlene(drift="oracle", seed=5)
    watched = Watched(model, MADE.target, MADE.target.drifts)
    result = prequential(watched, MADE.target)
    assert contents(model) == contents(expected)
    assert np.array_equal(result.proba, probabilities.astype(np.float32))
    assert (result.drifts, result.models) == (5, 10)


def test_with_late_labels_drifts_are_counted_in_what_is_learnt():
    model = BRMarlene(drift="oracle", seed=5)
    prequential(Watched(model, MADE.target, MADE.target.drifts), MADE.target, delay=30)
    assert model.concepts() == {label: list(times) for label, times in MADE.target.drifts.items()}


def test_drifts_are_those_of_the_target_and_not_of_sources():
    made = synthetic_experiment("AA", 20, "similar", source_size=30)
    model = BRMarlene(drift="oracle")
    prequential(Watched(model, made.target, made.target.drifts), made.target, sources=made.sources)
    assert model.concepts() == {"l1": [100], "l2": [100], "l3": [], "l4": [], "l5": []}
    assert model.concepts("similar-1") == {label: [] for label in made.target.labels}


def test_the_weights_are_read_at_fixed_places():
    model = BRMarlene(seed=5)
    watched = Watched(model, MADE.target, {})
    prequential(watched, MADE.target)
    at = [place for place, _ in watched.aswr]
    assert at == sorted({int(place) for place in np.linspace(0, 500, 201)[1:]})
    assert watched.aswr[-1] == (500, model.aswr())
    twin = BRMarlene(seed=5)
    twin.declare(MADE.target.features, MADE.target.labels)
    twin.test_then_train(MADE.target.X[:250], MADE.target.Y[:250])
    assert dict(watched.aswr)[250] == twin.aswr()
    twin.test_then_train(MADE.target.X[250:], MADE.target.Y[250:])
    assert contents(twin) == contents(model)


def test_a_learner_that_tells_nothing():
    for name in ("majority", "river:naive_bayes.GaussianNB"):
        watched = Watched(create(name), MADE.target, {})
        plain = prequential(create(name), MADE.target)
        assert np.array_equal(prequential(watched, MADE.target).proba, plain.proba)
        assert watched.aswr == []
