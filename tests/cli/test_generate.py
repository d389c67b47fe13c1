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


@pytest.mark.parametrize("suffix", ["arff", "csv", "parquet"])
def test_a_data_set_whose_labels_drift(call, tmp_path, suffix):
    out = tmp_path / f"changed.{suffix}"
    options = ("--change", "swapped", "--change-seed", 3, "--limit", 90)
    outcome = call("generate", "yeast", *options, "--out", out)
    assert (outcome.code, outcome.err) == (0, "")
    made = load("yeast", limit=90).swapped(seed=3)
    assert load(out, labels=None if suffix == "arff" else 14, name=made.name) == made
    drifts = json.loads((tmp_path / "changed.drifts.json").read_text())
    assert drifts == {label: list(times) for label, times in made.drifts.items()}
    assert outcome.out.splitlines() == [
        f"{out}: 90 examples, 103 features, 14 labels",
        f"{tmp_path / 'changed.drifts.json'}: {sum(map(len, drifts.values()))} drifts",
    ]


def test_an_archive_beside_a_changed_target(call, tmp_path):
    out = tmp_path / "late.arff"
    options = ("--archive", "noise", "--archive-seed", 4, "--change", "few", "--limit", 90)
    assert call("generate", "yeast", *options, "--out", out).code == 0
    archive, target = load("yeast", limit=90).halves("noise", seed=4)
    assert load(out, name="yeast, second half, few (seed 1)") == target.few()
    assert load(tmp_path / "late.archive.arff", name=archive.name) == archive
    assert len(list(tmp_path.iterdir())) == 3


def test_without_a_change_no_drifts_are_known(call, tmp_path):
    assert call("generate", "yeast", "--archive", "renamed", "--limit", 9, "--out", tmp_path / "late.csv").code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["late.archive.csv", "late.csv"]
    assert load(tmp_path / "late.archive.csv", labels="old *").labels[13] == "old Class14"


def test_a_file_with_chosen_labels_is_read_and_not_overwritten(call, tmp_path):
    file = tmp_path / "mail.csv"
    file.write_text("colour,size,is_spam,is_urgent\nred,1.5,1,0\n'light, blue',,0,1\nred,2,1,\n".replace("'", '"'))
    given = file.read_text()
    outcome = call("generate", file, "--labels", "is_*", "--change", "recurring", "--out", file)
    assert (outcome.code, outcome.err) == (2, f"marlene: --out {file}: this is the file that is read\n")
    assert file.read_text() == given
    assert call("generate", file, "--labels", "is_*", "--change", "recurring", "--out", tmp_path / "out.arff").code == 0
    made = load(file, labels="is_*").recurring()
    assert load(tmp_path / "out.arff", name=made.name) == made
    assert made.Y.tolist() == [[1, 0], [1, 0], [1, -1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("SA", "--out", "x.arff"), "there is no synthetic stream 'SA'; there are SS, IS, II, IA, AA, AS, gaussians"),
        (("AA", "--out", "x.json"), "x.json: expected the suffix .arff, .csv or .parquet"),
        (
            ("AA", "--sources", "some", "--out", "x.csv"),
            "sources must be one of none, similar, non-similar, one-non-similar, not 'some'",
        ),
        (("gaussians", "--drift", "l1", "--out", "x.csv"), "a drift is written label:type:at or"),
        (
            ("gaussians", "--labels", "is_*", "--out", "x.csv"),
            "labels must be a whole number of at least 1, not 'is_*'",
        ),
        (("AA", "--change", "few", "--out", "x.csv"), "--change does not apply to AA"),
        (("AA", "--labels", 3, "--out", "x.csv"), "--labels does not apply to AA"),
        (
            ("yeast", "--out", "x.csv"),
            (
                "there is no synthetic stream 'yeast'; there are SS, IS, II, IA, AA, AS, gaussians; "
                "a data set or a file needs --change or --archive"
            ),
        ),
        (("yeast", "--change", "few", "--seed", 3, "--out", "x.csv"), "--seed does not apply to yeast"),
        (("yeast", "--change", "few", "--size", 3, "--out", "x.csv"), "--size does not apply to yeast"),
        (
            ("yeast", "--change", "turned", "--out", "x.csv"),
            "--change must be one of rotated, swapped, recurring, gradual, few, replaced, not 'turned'",
        ),
        (
            ("yeast", "--archive", "none", "--out", "x.csv"),
            "--archive must be one of same, renamed, noise, not 'none'",
        ),
        (("yeast", "--change", "few", "--archive-seed", 3, "--out", "x.csv"), "--archive-seed needs --archive"),
        (("yeast", "--archive", "same", "--change-seed", 3, "--out", "x.csv"), "--change-seed needs --change"),
        (
            ("yeast", "--change", "gradual", "--limit", 9, "--out", "x.csv"),
            "yeast: the change 'gradual' needs at least 10 examples, not 9",
        ),
        (("yeats", "--change", "few", "--out", "x.csv"), "'yeats' is neither a file nor a data set of the catalogue"),
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


def test_options_of_columns(call, tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text("id,subject,tags\n" + "".join(f"t{i},order {i % 3},{'a|b' if i % 2 else 'a'}\n" for i in range(20)))
    options = ("--labels", "tags", "--separator", "|", "--drop", "id", "--kinds", "subject=text")
    outcome = call("generate", path, *options, "--change", "rotated", "--out", tmp_path / "out.arff")
    assert outcome.code == 0, outcome.err
    stream = load(tmp_path / "out.arff", labels=2)
    assert ([feature.name for feature in stream.features][:2], stream.labels) == (
        ["subject: order", "subject: 0"],
        ("a", "b"),
    )
