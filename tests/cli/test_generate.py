"""`marlene generate`: what is written is what `load` reads back."""

import json

import numpy as np
import pytest

from marlene.streams import Drift, GaussianStream, load, synthetic_experiment
from tests.cli.commands import caller

call = pytest.fixture(caller)


@pytest.mark.parametrize("suffix", ["arff", "csv", "parquet"])
def test_the_papers_streams_come_back_as_they_were(call, tmp_path, suffix):
    out = tmp_path / f"ia.{suffix}"
    options = ("--size", 20, "--sources", "similar", "--source-size", 30, "--seed", 4)
    outcome = call("generate", "ia", *options, "--out", out)
    assert (outcome.code, outcome.err) == (0, "")
    made = synthetic_experiment("IA", 20, "similar", source_size=30, seed=4)
    labels = None if suffix == "arff" else 5
    assert load(out, labels=labels, name="IA-20") == made.target
    for source in made.sources:
        assert load(tmp_path / f"ia.{source.name}.{suffix}", labels=labels, name=source.name) == source
    assert len(list(tmp_path.iterdir())) == 7
    drifts = json.loads((tmp_path / "ia.drifts.json").read_text())
    assert drifts == {label: list(times) for label, times in made.target.drifts.items()}
    assert f"{out}: 500 examples, 2 features, 5 labels\n" in outcome.out


@pytest.mark.parametrize("count", [1, 4096, 10_000])
def test_a_stream_of_gaussians_comes_back_as_it_was(call, tmp_path, count):
    out = tmp_path / "big.csv"
    drift = ("--drift", "l1:abrupt:500", "--drift", "l3:gradual:100:50")
    shape = ("--labels", 3, "--features", 4, "--gaussians", 7, "--positives", 2, "--imbalance", 3, "--correlation", 0.1)
    outcome = call(
        "generate", "gaussians", "--examples", count, *shape, *drift, "--spread", 3, "--seed", 9, "--out", out
    )
    assert (outcome.code, outcome.err) == (0, "")
    drifts = [Drift("l1", "abrupt", 500), Drift("l3", "gradual", 100, 50)]
    stream = GaussianStream(3, 4, 7, positives=2, imbalance=3, correlation=0.1, spread=3, drifts=drifts, seed=9)
    read = load(out, labels=3)
    assert np.array_equal(read.X, stream.take(count).X)
    assert np.array_equal(read.Y, stream.take(count).Y)
    expected = {"l1": [500], "l2": [], "l3": [100]} if count > 500 else {"l1": [], "l2": [], "l3": []}
    assert json.loads((tmp_path / "big.drifts.json").read_text()) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("SA", "--out", "x.arff"), "there is no synthetic stream 'SA'; there are SS, IS, II, IA, AA, AS, gaussians"),
        (("AA", "--out", "x.json"), "x.json: expected the suffix .arff, .csv or .parquet"),
        (
            ("AA", "--sources", "some", "--out", "x.csv"),
            "sources must be one of none, similar, non-similar, not 'some'",
        ),
        (("gaussians", "--drift", "l1", "--out", "x.csv"), "a drift is written label:type:at or"),
    ],
)
def test_what_is_refused(call, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    outcome = call("generate", *arguments)
    assert outcome.code == 2
    assert outcome.err.startswith(f"marlene: {message}")
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_option_that_the_stream_does_not_have_is_refused(call, tmp_path):
    outcome = call("generate", "AA", "--examples", 100, "--out", tmp_path / "x.csv")
    assert outcome.code == 2
    assert outcome.err == "marlene: --examples does not apply to AA\n"
    outcome = call("generate", "gaussians", "--size", 100, "--out", tmp_path / "x.csv")
    assert outcome.err == "marlene: --size does not apply to gaussians\n"
