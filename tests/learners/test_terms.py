"""Which features speak for a label: terms add up to the log odds, and telling features are found."""

import numpy as np
import pytest

from marlene import BRMarlene, BRPWMarlene, Marlene
from marlene._common.errors import MarleneError
from marlene.learners.marlene._terms import Terms, entries_of
from marlene.streams import Feature, Stream


def mixed_stream(n=400, seed=1):
    """Return a stream with dense and sparse numbers, binary and nominal features."""
    rng = np.random.default_rng(seed)
    X = np.stack(
        [
            rng.normal(50, 10, n),
            np.where(rng.random(n) < 0.2, rng.normal(3, 1, n), 0),
            rng.random(n) < 0.4,
            rng.integers(0, 4, n),
            rng.poisson(1.5, n),
        ],
        axis=1,
    ).astype(float)
    Y = np.stack([X[:, 0] + 5 * X[:, 2] > 52, X[:, 3] == 2], axis=1).astype(np.int8)
    kinds = [Feature("size", "numeric"), Feature("rare", "numeric"), Feature("late", "binary")]
    features = [*kinds, Feature("colour", "nominal", ("blue", "green", "red", "white")), Feature("count", "numeric")]
    return Stream.from_arrays(X, Y, features=features, labels=["large", "red"])


def trained(stream, **settings):
    model = Marlene(**settings)
    model.declare(stream.features, stream.labels)
    model.learn_many(stream.X, stream.Y)
    return model


@pytest.mark.parametrize("base", ["linear", "naive-bayes"])
def test_terms_add_up_to_the_log_odds(base):
    stream = mixed_stream()
    model = trained(stream, base=base, transfer="own")
    tracker = model._tracker
    arrays = tracker.model()
    for row in (3, 40, 77):
        rows = model._space.rows(stream.X[row : row + 1], None, learning=False)[0]
        entries = entries_of(tracker.inputs_of(rows), arrays)
        for column in range(2):
            ((kind, h, share),) = tracker.leaders(column)
            assert share == 1.0
            total = Terms(arrays, entries).of([(kind, h, share)]).sum()
            if base == "linear":
                total += arrays.kinds.linear.bias[h]
            else:
                total += arrays.kinds.bayes.base[h] / np.sqrt((entries.value != 0).sum())
            score = model.score_many(stream.X[row : row + 1])[0, column]
            assert total == pytest.approx(np.log(score / (1 - score)), rel=1e-6, abs=1e-9)


def test_features_of_one_example():
    stream = mixed_stream()
    model = trained(stream)
    x = {"size": 75.0, "late": True, "colour": "red"}
    said = model.explain_one(x)
    assert next(iter(said["large"]["features"])) == "size"
    assert said["large"]["features"]["size"] > 0
    assert next(iter(said["red"]["features"])) == "colour=red"
    assert said["red"]["predicted"]
    assert {label: part["predicted"] for label, part in said.items()} == model.predict_one(x)
    assert said["red"]["probability"] == pytest.approx(model.predict_proba_one(x)["red"][True])
    assert said["red"]["score"] == pytest.approx(model.score_one(x)["red"])
    assert said["red"]["threshold"] == model.thresholds()["red"]
    assert list(model.explain_one(x, most=1)["red"]["features"]) == ["colour=red"]


def test_a_missing_value_says_nothing():
    model = trained(mixed_stream())
    said = model.explain_one({"size": float("nan"), "late": True, "colour": "blue"})
    assert "size" not in said["large"]["features"]
    assert model.explain_one({})["large"].keys() == said["large"].keys()


def test_telling_features_of_labels():
    stream = mixed_stream()
    model = trained(stream)
    said = model.telling_features()
    assert next(iter(said["large"]["for"])) == "size"
    assert next(iter(said["large"]["against"])) == "size"
    assert next(iter(said["red"]["for"])) == "colour=red"
    assert all(term > 0 for part in said.values() for term in part["for"].values())
    assert all(term < 0 for part in said.values() for term in part["against"].values())
    assert model.telling_features(["red"], most=1) == {
        "red": {word: dict([next(iter(part.items()))]) for word, part in said["red"].items()}
    }
    rows = [row for row in model.explain("red") if row["base"] != "neighbours"]
    assert all("colour=red" in row["for"] for row in rows if row["share"] > 0.1)
    assert all("for" not in row for row in model.explain("red", most=0))
    with pytest.raises(MarleneError, match="no target label 'blue'"):
        model.telling_features(["blue"])


def test_sources_are_read_on_their_own_scales():
    stream = mixed_stream()
    archive, target = stream.halves()
    model = Marlene()
    model.declare(archive.features, archive.labels, stream="old")
    model.learn_many(archive.X, archive.Y, stream="old")
    model.declare(target.features, target.labels)
    model.learn_many(target.X[:40], target.Y[:40])
    assert any(row["stream"] == "old" for row in model.explain("red"))
    assert next(iter(model.explain_one({"size": 75.0, "colour": "blue"})["large"]["features"])) == "size"


def test_without_neighbours_the_latest_examples_are_not_known():
    model = trained(mixed_stream(), base="mixed")
    assert model.telling_features() == {label: {"for": {}, "against": {}} for label in ("large", "red")}
    assert next(iter(model.explain_one({"colour": "red"})["red"]["features"])) == "colour=red"


def test_the_path_of_an_example_through_a_tree():
    stream = mixed_stream(1500)
    model = BRMarlene(seed=1)
    model.declare(stream.features, stream.labels)
    model.learn_many(stream.X, stream.Y)
    x = {"size": 75.0, "late": True, "colour": "blue"}
    said = model.explain_one(x)
    assert said["large"]["probability"] == pytest.approx(model.predict_proba_one(x)["large"][True])
    tests = [condition.split() for condition in said["large"]["path"]]
    for name, sign, value in (test for test in tests if test[0] == "size"):
        assert (x[name] <= float(value)) == (sign == "<=")
    assert any(name == "size" for name, *_ in tests)
    heaviest = model.explain("large")[0]
    assert heaviest["features"]["size"] >= 1
    assert "member" not in heaviest


def test_other_base_classifiers_have_no_path():
    model = BRMarlene(base="naive-bayes")
    for i in range(20):
        model.learn_one({"x": i % 5}, {"a": i % 5 > 2})
    assert set(model.explain_one({"x": 4})["a"]) == {"probability"}
    assert "features" not in model.explain("a")[0]


def test_pairs_do_not_tell_their_members():
    model = BRPWMarlene()
    for i in range(40):
        model.learn_one({"x": i % 5}, {"a": i % 5 > 2, "b": i % 5 > 3})
    assert all("member" not in row for row in model.explain_pair("a", "b"))
