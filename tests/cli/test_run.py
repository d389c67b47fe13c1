"""`marlene run` with good input: what it prints and writes."""

import json

import numpy as np
import pytest

from marlene.cli import _run
from marlene.evaluation import prequential
from marlene.learners import BinaryRelevance, Majority, create
from marlene.streams import load
from tests.cli.commands import caller
from tests.evaluation.test_result import DETAILED_KEYS

call = pytest.fixture(caller)
RIVER = "river:naive_bayes.GaussianNB"
MAJORITY = ("--method", "majority")


@pytest.fixture
def mail(tmp_path):
    """Write a table with a numeric, a binary and an incomplete column, and return its path."""
    rng = np.random.default_rng(0)
    lines = ["length,shouts,gap,is_spam,is_urgent"]
    for length, shouts, spam, urgent in rng.integers(0, [90, 2, 2, 2], (60, 4)):
        lines.append(f"{length / 10},{shouts},{'' if length % 3 else length},{spam},{urgent}")
    path = tmp_path / "mail.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def run_json(call, mail):
    def run(*options):
        outcome = call(
            "run", mail, "--labels", "is_*", "--json", *(() if "--method" in options else MAJORITY), *options
        )
        assert outcome.code == 0, outcome.err
        assert outcome.out.count("\n") == 1
        return json.loads(outcome.out)

    return run


@pytest.mark.parametrize("method", ["majority", "br-marlene", "br-resampled", RIVER])
def test_json_is_one_object_with_the_agreed_keys(run_json, mail, method):
    found = run_json("--method", method, "--seed", 7)
    assert list(found) == DETAILED_KEYS
    expected = prequential(create(method, 7), load(mail, labels="is_*"))
    counted = ("stream", "method", "seed", "examples", "labels", "features", "models", "drifts", "stopped")
    assert [found[key] for key in counted] == ["mail", method, 7, 60, 2, 3, 2, 0, ""]
    assert {name: found[name] for name in expected.scores} == pytest.approx(expected.scores, rel=1e-12)
    assert 0 <= found["learn_seconds"] <= found["cpu_seconds"]
    assert 0 < found["base_rss_mb"] <= found["peak_rss_mb"]


@pytest.mark.parametrize(
    "options",
    [{}, {"window": 7}, {"start": -1}, {"start": 30, "window": 100}, {"delay": 5}, {"start": 60}],
    ids=str,
)
def test_settings_of_the_evaluation(run_json, mail, options):
    found = run_json(*(word for name, value in options.items() for word in (f"--{name}", value)))
    expected = prequential(Majority(), load(mail, labels="is_*"), **options)
    assert [found[name] for name in expected.scores] == [
        None if np.isnan(value) else pytest.approx(value, rel=1e-12) for value in expected.scores.values()
    ]


def test_a_limit_makes_the_stream_shorter(run_json, mail):
    found = run_json("--limit", 25)
    assert found["examples"] == 25
    expected = prequential(Majority(), load(mail, labels="is_*", limit=25))
    assert found["micro_gmean"] == pytest.approx(expected.micro_gmean, rel=1e-12)
    assert run_json("--limit", 1000)["examples"] == 60


@pytest.mark.parametrize(
    ("features", "kinds", "most"),
    [("auto", ["numeric", "binary", "numeric"], 90), ("numeric", ["numeric"] * 3, 90), ("binary", ["binary"] * 3, 1)],
)
def test_kinds_of_features(run_json, monkeypatch, features, kinds, most):
    streams = []

    def spy(model, stream, **settings):
        streams.append(stream)
        return prequential(model, stream, **settings)

    monkeypatch.setattr(_run, "prequential", spy)
    run_json("--features", features)
    assert [feature.kind for feature in streams[0].features] == kinds
    assert 1 <= np.nanmax(streams[0].X) <= most
    assert np.isnan(streams[0].X).any()


def test_predictions_are_of_every_example(run_json, mail, tmp_path):
    stream = load(mail, labels="is_*")
    for method in ("majority", RIVER):
        run_json("--predictions", tmp_path / "out.npz", "--method", method, "--start", 50)
        expected = prequential(create(method), stream)
        with np.load(tmp_path / "out.npz", allow_pickle=False) as arrays:
            assert sorted(arrays) == ["pred", "proba", "truth"]
            assert all(arrays[name].shape == (60, 2) for name in arrays)
            np.testing.assert_array_equal(arrays["truth"], stream.Y)
            np.testing.assert_array_equal(arrays["pred"], expected.pred)
            np.testing.assert_allclose(arrays["proba"], expected.proba, atol=1e-6)
            assert ((arrays["proba"] >= 0) & (arrays["proba"] <= 1)).all()


def test_a_seed_decides_random_numbers(run_json, tmp_path):
    def predictions(seed):
        run_json("--method", "river:forest.ARFClassifier", "--seed", seed, "--predictions", tmp_path / "out.npz")
        with np.load(tmp_path / "out.npz") as arrays:
            return arrays["proba"].tolist()

    assert predictions(1) == predictions(1)
    assert predictions(1) != predictions(2)


@pytest.mark.parametrize("labels", ["is_*", "is_spam,is_urgent", "-2"])
def test_ways_to_name_labels(call, mail, labels):
    outcome = call("run", mail, "--labels", labels, "--json")
    assert (json.loads(outcome.out)["labels"], json.loads(outcome.out)["features"]) == (2, 3)


def test_the_table(call, mail):
    outcome = call("run", mail, "--labels", "is_*", *MAJORITY)
    assert outcome.code == 0
    assert "majority on mail" in outcome.out
    for words in (
        *("Macro-G-Mean", "Micro-G-Mean", "Label-set-G-Mean", "Hamming score", "60 examples", "2 labels"),
        *("F1", "precision", "recall", "subset accuracy", "Hamming loss", "calibration error", "labels per example: "),
    ):
        assert words in outcome.out
    assert "stopped" not in outcome.out
    nothing_scored = call("run", mail, "--labels", "is_*", "--start", 60, *MAJORITY)
    assert nothing_scored.code == 0
    assert "nan" in nothing_scored.out


def test_the_numbers_of_predicted_and_true_labels_are_shown(call, run_json, mail):
    outcome = call("run", mail, "--labels", "is_*", *MAJORITY)
    found = run_json()["cumulative"]
    assert f"{found['labels_predicted']:.2f} predicted, {found['labels_true']:.2f} true" in outcome.out


def test_a_table_of_every_label(call, run_json, mail, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    outcome = call("run", mail, "--labels", "is_*", "--per-label", *MAJORITY)
    rows = run_json()["per_label"]
    assert [row["label"] for row in rows] == ["is_spam", "is_urgent"]
    for row in rows:
        line = next(line.split() for line in outcome.out.splitlines() if line.startswith(row["label"]))
        assert line[1:3] == ["59", str(row["positives"])]
        assert line[3:5] == [f"{row['share']:.3f}", f"{row['predicted_share']:.3f}"]
    assert "every label" not in call("run", mail, "--labels", "is_*", *MAJORITY).out


def test_settings_of_the_measures(call, run_json, mail):
    chosen = {"fading": 0.9, "after": 30}
    found = run_json("--fading", "0.9", "--after", "30")
    expected = prequential(Majority(), load(mail, labels="is_*"), **chosen)
    assert found["faded"] == pytest.approx(expected.faded, rel=1e-12)
    assert sum(row["predictions"] for row in found["calibration"]) == 60
    refused = call("run", mail, "--labels", "is_*", "--fading", "1.5")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "fading must be a number above 0 and below 1, not 1.5" in refused.err


def test_progress_where_there_is_no_terminal(call, mail):
    outcome = call("run", mail, "--labels", "is_*", *MAJORITY)
    lines = outcome.err.splitlines()
    assert all(line.startswith("majority on mail ") for line in lines)
    assert all("examples/s" in line for line in lines)
    assert "60/60" in lines[-1]
    assert "G-Means macro " in lines[-1]
    assert "examples/s" not in outcome.out
    assert len(lines) <= 10


@pytest.mark.parametrize("method", ["majority", RIVER, "river:tree.HoeffdingTreeClassifier"])
def test_missing_values_and_labels_that_are_not_known(call, tmp_path, method):
    path = tmp_path / "holes.csv"
    path.write_text("a,b,p,q\n" + "1,?,1,0\n,2,?,1\n?,,0,\n3,4,1,1\n" * 5)
    outcome = call("run", path, "--labels", "p,q", "--method", method, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["examples"] == 20


@pytest.mark.parametrize("method", ["majority", RIVER])
def test_a_label_that_never_occurs_costs_one_warning(call, tmp_path, method):
    path = tmp_path / "rare.csv"
    path.write_text("a," + ",".join(f"y{i}" for i in range(8)) + "\n" + "1,1,0,0,0,0,0,0,0\n0,0,0,0,0,0,0,0,?\n" * 10)
    outcome = call("run", path, "--labels", "y*", "--method", method, "--json")
    assert outcome.code == 0
    warnings = [line for line in outcome.err.splitlines() if "warning" in line]
    assert warnings == ["marlene: warning: 7 of 8 labels never occur: y1, y2, y3, y4, y5, …"]
    assert json.loads(outcome.out)["labels"] == 8


@pytest.mark.parametrize("method", ["marlene", "br-marlene"])
@pytest.mark.filterwarnings("always::UserWarning")
def test_a_source_without_common_features_costs_one_warning(call, tmp_path, method):
    for name, feature in (("near", "a"), ("far", "b")):
        (tmp_path / f"{name}.csv").write_text(f"{feature},p,q\n" + "1,1,0\n0,0,1\n" * 20)
    outcome = call(
        "run", tmp_path / "near.csv", "--labels", "p,q", "--source", tmp_path / "far.csv", "--method", method, "--json"
    )
    assert outcome.code == 0, outcome.err
    told = [line for line in outcome.err.splitlines() if "in common" in line]
    assert told == [line for line in outcome.err.splitlines() if "arning" in line]
    assert len(told) == 1
    assert told[0].startswith("marlene: warning: source ")
    assert told[0].endswith("far' has no feature in common with the target so far: nothing can be learnt there")
    assert json.loads(outcome.out)["examples"] == 40


@pytest.mark.parametrize("name", ["[bold]", "{task}", "a b", "ü", "%s", "long " * 40])
def test_names_that_could_be_taken_for_commands(call, mail, name):
    path = mail.rename(mail.with_name(f"{name}.csv"))
    outcome = call("run", path, "--labels", "is_*", *MAJORITY)
    assert outcome.code == 0
    assert f"majority on {path.stem}" in outcome.out


def test_river_methods_are_binary_relevance():
    assert isinstance(create(RIVER), BinaryRelevance)


def test_parameters_of_a_method(run_json, call, mail):
    everything = run_json("--method", "brpw-marlene")
    chosen = run_json("--method", "brpw-marlene", "--set", "pairs=1", "--set", "combine=marginal")
    assert everything["models"] == 2 + 2
    assert chosen["models"] == 2
    rough, fine = (run_json("--method", "mlsaknn", "--set", f"penalty={p}") for p in ("0.0", "1e6"))
    assert rough["cumulative"] != fine["cumulative"]
    outcome = call("run", mail, "--labels", "is_*", "--method", "brpw-marlene", "--set", "pairs")
    assert outcome.code == 2
    assert "--set 'pairs': expected NAME=VALUE" in outcome.err
    outcome = call("run", mail, "--labels", "is_*", "--method", "majority", "--set", "pairs=1")
    assert "method majority has no option 'pairs'" in outcome.err


def test_options_of_columns(call, tmp_path):
    path = tmp_path / "tickets.csv"
    lines = [
        f"t{i},order {i % 7} is late,2024-01-{1 + i % 28:02},{'late|order' if i % 2 else 'order'}" for i in range(60)
    ]
    path.write_text("\n".join(["id,subject,created,tags", *lines]) + "\n")
    options = ["--labels", "tags", "--separator", "|", "--drop", "id", "--kinds", "subject=text,created=date"]
    outcome = call("run", path, *options, "--json")
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)
    assert (report["labels"], report["features"], report["examples"]) == (2, 10 + 7, 60)
    outcome = call("run", path, *options)
    assert "--drop id --kinds subject=text,created=date" in outcome.out
    outcome = call("run", path, "--kinds", "subject")
    assert (outcome.code, outcome.err) == (2, "marlene: --kinds 'subject': expected COLUMN=KIND\n")
