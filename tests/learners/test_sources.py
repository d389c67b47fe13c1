"""Sources: what they are worth before the first example of the target, where they sleep, and strangers."""

import numpy as np
import pandas as pd
import pytest

from marlene import Marlene
from marlene.kernels.tracking.state import NAMESAKE, NOT_YET, SEARCHING
from marlene.streams import Feature, Stream, load
from tests.learners.streams import LEARNERS, contents, dicts, drifting, sensitive
from tests.learners.test_marlene import figures, words

STRANGE = r"^source 'far' has no feature in common with the target so far: nothing can be learnt there$"
WAYS = {
    "one": lambda model, stream: model.learn_one({"height": 1.0}, {"spam": True}, stream=stream),
    "frame": lambda model, stream: model.learn_many(
        pd.DataFrame({"height": [1.0]}), pd.DataFrame({"spam": [1]}), stream=stream
    ),
    "declared": lambda model, stream: model.declare([Feature("height")], ["spam"], stream=stream),
}


def informed(archive, target, n_new=0):
    """Return a learner that knows an archive, and of the target all but examples; it has features of its own."""
    model = Marlene()
    model.declare(archive.features, archive.labels, stream="old")
    model.declare([*target.features, *(Feature(f"new {i}") for i in range(n_new))], target.labels)
    model.learn_many(archive.X, archive.Y, stream="old")
    return model


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


@pytest.mark.parametrize(("kind", "began"), [("same", NAMESAKE), ("renamed", SEARCHING)])
@pytest.mark.parametrize("data", ["words", "yeast"])
def test_before_the_first_example_predictions_are_those_of_the_first(tmp_path, data, kind, began):
    archive, target = (words(800) if data == "words" else load("yeast", limit=800)).halves(kind)
    model = informed(archive, target, 40)
    X = np.hstack([dense(target.X[:40]), np.zeros((40, 40))])
    X[::2, -40:] = 1.0  # the archive knows too little of every other row
    before = contents(model)
    probabilities, predictions = model.decide_many(X)
    model.save(tmp_path / "model.npz")
    again = Marlene.load(tmp_path / "model.npz")
    for each in (model, again):
        assert each.thresholds() == model.thresholds()
        for size in (1, 7):
            blocks = [each.decide_many(X[i : i + size]) for i in range(0, 40, size)]
            assert np.array_equal(np.concatenate([block[0] for block in blocks]), probabilities)
            assert np.array_equal(np.concatenate([block[1] for block in blocks]), predictions)
        names = [feature.name for feature in target.features] + [f"new {i}" for i in range(40)]
        singly = [list(each.predict_one(x).values()) for x in dicts(X, names)]
        assert np.array_equal(singly, predictions)
        assert contents(each) == before
        assert (each._tracker._weights.began[: len(target.labels)] == NOT_YET).all()
    for i in (0, 1):
        fresh = Marlene.load(tmp_path / "model.npz")
        limits = fresh.thresholds()
        found = fresh.decide_then_train(X[i : i + 1], target.Y[i : i + 1])
        assert np.array_equal(found[0], probabilities[i : i + 1])
        assert np.array_equal(found[1], predictions[i : i + 1])
        assert fresh.thresholds() == limits
        found = fresh._tracker._weights.began[: len(target.labels)]
        assert (found >= NAMESAKE).all()
        assert (found == began).mean() > 0.8
    assert len(np.unique(probabilities)) > 20


def test_an_archive_counts_in_the_first_prediction():
    archive, target = words(800).halves("same")
    model = informed(archive, target)
    assert (model.predict_many(target.X[:50]) == target.Y[:50]).mean() > 0.9


def test_a_source_of_other_names_says_nothing_of_a_row_it_does_not_know():
    archive, target = words(800).halves("renamed")
    model = informed(archive, target, 100)
    known = np.hstack([dense(target.X[:50]), np.zeros((50, 100))])
    unknown = known.copy()
    unknown[:, -100:] = 1.0
    assert len(np.unique(model.predict_proba_many(known))) == 50
    assert (model.predict_proba_many(unknown) == 0.5).all()


@pytest.mark.parametrize("learner", [*LEARNERS, Marlene])
@pytest.mark.parametrize("way", WAYS)
def test_of_a_source_of_strangers_a_warning_is_given(tmp_path, learner, way):
    model = learner() if learner is Marlene else learner(drift=sensitive())
    X, Y = drifting(120)
    names = ["size", "late", "depth", "width", "age"]
    frame, truth = pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=["spam", "urgent", "old"])
    model.learn_many(frame, truth)
    before = contents(model)
    with pytest.raises(UserWarning, match=STRANGE):  # warnings are errors in tests
        WAYS[way](model, "far")
    assert contents(model) == before
    with pytest.warns(UserWarning, match=STRANGE) as told:
        WAYS[way](model, "far")
    assert [each.filename for each in told] == [__file__]
    model.learn_one({"height": 2.0, "size": 1.0}, {"spam": True}, stream="far")
    model.learn_many(frame, truth)
    model.save(tmp_path / "model.npz")
    again = learner.load(tmp_path / "model.npz")
    assert np.array_equal(again.predict_proba_many(frame), model.predict_proba_many(frame))
    assert contents(again) == contents(model)


@pytest.mark.parametrize("way", WAYS)
def test_a_target_of_strangers_names_the_sources(way):
    model = Marlene()
    model.declare([Feature("depth")], ["a"], stream="far")
    model.declare([Feature("height"), Feature("age")], ["a"], stream="near")  # may be of use to the target
    with pytest.warns(UserWarning, match=STRANGE) as told:
        WAYS[way](model, None)
    assert len(told) == 1
    assert list(model.predict_one({"height": 1.0})) == ["spam"]
    singly = Marlene()
    singly.learn_one({"depth": 1.0}, {"a": True}, stream="far")
    with pytest.warns(UserWarning, match=r"^the sources have no feature in common with the target so far"):
        WAYS[way](singly, None)


@pytest.mark.parametrize("kind", ["same", "renamed"])
@pytest.mark.parametrize("data", ["words", "yeast"])
@pytest.mark.filterwarnings("ignore:source .* has no feature in common")
def test_an_archive_of_strangers_costs_next_to_nothing(data, kind):
    lost = []
    for stream in [words(1000, seed=seed) for seed in range(8)] if data == "words" else [load("yeast", limit=1000)]:
        archive, target = stream.halves(kind)
        features = [Feature(f"other {f.name}", f.kind, f.values) for f in archive.features]
        far = Stream.from_arrays(archive.X, archive.Y, features=features, labels=archive.labels, name="far")
        lost.append(figures(Marlene(), target) - figures(Marlene(), target, sources=[far]))
    assert np.mean(lost) < 0.005  # thresholds begin elsewhere, which may cost one of the G-Means what another gains
