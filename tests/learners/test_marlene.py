"""Marlene as a whole: sources, drifts, decisions, explanations, files."""

import numpy as np
import pytest

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.banks import LinearBank, NaiveBayesBank
from marlene.evaluation import prequential
from marlene.experiments._watched import Watched
from marlene.learners import create
from marlene.sklearn import MarleneClassifier
from marlene.streams import Stream, load, synthetic_experiment
from tests.learners.streams import contents, drifting, learn_singly

FIGURES = ("macro_gmean", "micro_gmean", "label_set_gmean")


def figures(model, stream, **options):
    result = prequential(model, stream, **options)
    return np.array([result.scores[name] for name in FIGURES])


def stationary(n=1500, seed=0):
    """Return a stream of sparse rows whose labels never drift."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, 40)) < 0.15) * 1.0
    Y = X @ rng.normal(size=(40, 4)) + 0.3 * rng.normal(size=(n, 4)) > 1.0
    return Stream.from_arrays(X, Y)


@pytest.fixture(scope="module")
def yeast():
    return load("yeast")


def test_it_is_better_than_br_marlene_on_yeast(yeast):
    ours, theirs = figures(Marlene(), yeast), figures(create("br-marlene"), yeast)
    assert ours.mean() > theirs.mean() + 0.03
    assert (ours[1:] > theirs[1:] + 0.05).all()


def test_each_part_is_worth_having():
    stream = stationary()
    whole = figures(Marlene(), stream).mean()
    for part in ("naive-bayes", "linear"):
        assert figures(Marlene(base=part), stream).mean() < whole + 0.005
    assert figures(Marlene(transfer="full"), stream).mean() < whole


def test_similar_sources_help_when_examples_are_few():
    with_them = synthetic_experiment("SS", 50, "similar", seed=2)
    helped = figures(Marlene(), with_them.target, sources=with_them.sources)
    alone = figures(Marlene(), synthetic_experiment("SS", 50, seed=2).target)
    assert (helped > alone + 0.01).all()


def test_a_source_alone_predicts_nothing_of_the_target_but_counts_in_votes():
    X, Y = drifting(120, 2)
    model = Marlene()
    model.learn_many(X, Y, stream="archive")
    assert model.predict_one({0: 1.0}) == {}
    model.learn_many(X[:40], Y[:40])
    assert {row["stream"] for row in model.explain(0)} == {None, "archive"}
    assert {row["base"] for row in model.explain(0)} == {"naive-bayes", "linear"}
    assert model.counts()["models"] == 8
    for label, row in model.transfer_matrix().items():
        assert sum(row.values()) == pytest.approx(1.0)
        assert model.swr()[label] == pytest.approx(1.0 - row[None, label])
    assert model.aswr() == pytest.approx(np.mean(list(model.swr().values())))


def test_a_burst_of_false_alarms_costs_little():
    stream = stationary()
    alarms = {str(label): [*range(700, 760, 20)] for label in stream.labels}
    calm = figures(Marlene(drift="oracle"), stream)
    alarmed = Marlene(drift="oracle")
    shaken = figures(Watched(alarmed, stream, alarms), stream)
    assert alarmed.counts()["drifts"] == 2 * 3 * len(stream.labels)
    assert (shaken > calm - 0.03).all()
    forgetful = Marlene(drift="oracle", transfer="own", max_models=1)  # the old sub-classifiers are dropped
    assert (figures(Watched(forgetful, stream, alarms), stream) < shaken - 0.02).all()


def test_detectors_find_a_true_drift():
    stream = stationary(3000)
    Y = stream.Y.copy()
    Y[1500:] = 1 - Y[1500:]
    stream = Stream.from_arrays(stream.X, Y)
    model = Marlene()
    watched, blind = figures(model, stream), figures(Marlene(drift="none"), stream)
    assert all(any(1500 <= time < 2000 for time in times) for times in model.concepts().values())
    assert (watched > blind + 0.02).all()


def test_predictions_are_those_of_the_thresholds(yeast):
    model, again = Marlene(), Marlene()
    result = prequential(model, load("yeast", limit=300))
    X, Y = yeast.X[:300], yeast.Y[:300]
    again.declare(yeast.features, yeast.labels)
    probabilities, predictions = again.decide_then_train(X, Y)
    assert np.array_equal(result.pred, predictions)
    assert np.array_equal(result.proba, probabilities.astype(np.float32))
    assert (predictions != (probabilities > 0.5)).mean() > 0.05
    limits = list(again.thresholds().values())
    assert np.array_equal(again.predict_many(X), again.predict_proba_many(X) >= limits)
    delayed = prequential(Marlene(), load("yeast", limit=300), delay=10)
    assert (delayed.pred != (delayed.proba > 0.5)).mean() > 0.05


def test_it_does_not_matter_when_features_and_values_become_known():
    X, Y = drifting(300)
    X[:150, 3:] = 0.0
    late, known = Marlene(), Marlene()
    late.learn_many(X[:150, :3], Y[:150])
    late.learn_many(X[150:], Y[150:])
    known.learn_many(X, Y)
    np.testing.assert_allclose(late.predict_proba_many(X), known.predict_proba_many(X), rtol=0, atol=1e-12)
    codes = np.random.default_rng(0).integers(0, 6, (200, 2)).astype(float)
    block, one = (Marlene(features={0: "nominal"}) for _ in range(2))
    block.learn_many(codes, codes[:, :1] == 4)
    learn_singly(one, codes, (codes[:, :1] == 4).astype(int))
    assert contents(block) == contents(one)


def test_scikit_learn_gets_the_same_decisions(yeast):
    X, Y = yeast.X[:200], yeast.Y[:200]
    model = Marlene()
    model.learn_many(X, Y)
    assert np.array_equal(MarleneClassifier(method="marlene").fit(X, Y).predict(X), model.predict_many(X))


def test_other_banks_survive_a_file(tmp_path):
    X, Y = drifting(200, 3)
    model = Marlene(base=[NaiveBayesBank(smoothing=1.0), LinearBank(rate=0.3)], drift="ddm", objective="f1")
    model.learn_many(X[:100], Y[:100])
    model.save(tmp_path / "model.npz")
    again = Marlene.load(tmp_path / "model.npz")
    for each in (model, again):
        each.learn_many(X[100:], Y[100:])
    assert contents(again) == contents(model)
    assert [bank.settings() for bank in again.base] == [bank.settings() for bank in model.base]


def test_damaged_files_are_refused():
    X, Y = drifting(100, 3)
    model = Marlene()
    model.learn_many(X, Y)
    header, arrays = model.state()
    for name, array in arrays.items():
        with pytest.raises(MarleneError, match=r"not the state of|state of a"):
            Marlene.from_state(header, {other: a for other, a in arrays.items() if other != name})
        if array.ndim and len(array) and "alive" not in name and "drifts" not in name:
            with pytest.raises(MarleneError, match=r"not the state of|state of a"):
                Marlene.from_state(header, arrays | {name: array[:-1]})
    with pytest.raises(MarleneError, match="the state of method 'x'"):
        Marlene.from_state(header | {"method": "x"}, arrays)
    for part in ("parameters", "space", "ensembles"):
        with pytest.raises(MarleneError, match="not the state of"):
            Marlene.from_state({name: value for name, value in header.items() if name != part}, arrays)


def test_wrong_parameters_are_refused():
    for wrong in ({"base": "tree"}, {"base": []}, {"base": 3}, {"transfer": "some"}, {"objective": "best"}):
        with pytest.raises(MarleneError, match="must be"):
            Marlene(**wrong)


def test_records_have_a_place_for_every_sub_classifier():
    X, Y = drifting(100, 3)
    model = Marlene(drift="none")
    model.learn_many(X, Y)
    records = model.records(1)
    assert {len(values) for values in records.values()} == {6}
    assert (sum(records[name] for name in ("tp", "fp", "tn", "fn")) == 100).all()
    assert records["alpha"] == pytest.approx(records["sc"] / (records["sc"] + records["sw"]))
