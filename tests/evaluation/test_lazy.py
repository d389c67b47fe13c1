"""Evaluation of streams that are read part by part: the same scores as in memory, in any number of sittings."""

import json

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.evaluation import PrequentialResult, prequential
from marlene.learners import BRMarlene, Majority, Marlene
from marlene.streams import load
from marlene.streams.lazy import _open
from tests.evaluation.models import LastLabels, Recorder
from tests.streams.tickets import CHOICES, tickets, write_jsonl

WINDOW = {"window": 50, "start": 0, "after": 50}
COMPARED = ("examples", "features", "labels", "scores", "overall", "cumulative", "faded", "models", "drifts")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(_open, "PART_BYTES", 5000)


@pytest.fixture
def path(tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 2] > 0.5]).astype(int)
    rows = [",".join(map(repr, [*x.tolist(), *y.tolist()])) + "\n" for x, y in zip(X, Y, strict=True)]
    file = tmp_path / "t.csv"
    file.write_text("a,b,c,d,is_x,is_y\n" + "".join(rows), encoding="utf-8")
    return file


def assert_same_scores(found, expected):
    for name in COMPARED:
        assert json.dumps(getattr(found, name)) == json.dumps(getattr(expected, name)), name
    assert np.array_equal(found.confusion, expected.confusion)
    assert np.array_equal(found.reliability, expected.reliability)
    assert np.array_equal(found.steps, expected.steps[WINDOW["window"] - 1 :: WINDOW["window"]])


@pytest.mark.parametrize("model", [Marlene, BRMarlene, Majority, LastLabels])
@pytest.mark.parametrize("delay", [0, 1, 70])
def test_same_scores_as_in_memory(path, model, delay):
    lazy = prequential(model(), load(path, labels="is_*", lazy=True), **WINDOW, delay=delay)
    assert_same_scores(lazy, prequential(model(), load(path, labels="is_*"), **WINDOW, delay=delay))
    assert lazy.pred.shape == lazy.proba.shape == lazy.truth.shape == (0, 2)


def test_defaults(path):
    result = prequential(Majority(), load(path, labels="is_*", lazy=True))
    assert (result.window, result.start, result.after) == (1000, 0, 1000)
    assert result.examples == 400


@pytest.mark.parametrize("delay", [0, 30])
def test_models_meet_the_same_examples(path, delay):
    models = Recorder(), Recorder()
    for model, lazy in zip(models, (True, False), strict=True):
        prequential(model, load(path, labels="is_*", lazy=lazy), **WINDOW, delay=delay)
    assert models[0].calls == models[1].calls
    assert len(models[0].calls) == 800


def test_sources(path):
    results = []
    for lazy in (True, False):
        source = load(path, labels="is_*", name="old", lazy=lazy)
        results.append(prequential(Marlene(), load(path, labels="is_*", lazy=lazy), **WINDOW, sources=[source]))
    assert_same_scores(*results)


def growing(path, rows=300):
    records = tickets(rows)
    for i, record in enumerate(records):
        record["subject"] = f"word{i // 4} {record['subject']}"
        record["tags"] += [f"tag{9 - i // 100}"] * (i % 3 > 0)
    write_jsonl(path, records)
    return path


@pytest.mark.parametrize("delay", [0, 20])
@pytest.mark.parametrize("model", [Marlene, BRMarlene, LastLabels])
def test_features_and_labels_that_come_later(tmp_path, model, delay):
    file = growing(tmp_path / "t.jsonl")
    result = prequential(model(), load(file, **CHOICES, lazy=True), **WINDOW, delay=delay)
    stream = load(file, **CHOICES)
    assert set(result.labels) == set(stream.labels)
    assert result.labels != stream.labels  # in the order of their appearance
    assert result.features == len(stream.features)
    assert result.examples == 300
    assert result.confusion.shape == (len(stream.labels), 4)
    assert len(result.labels_table()) == len(stream.labels)
    result.save(tmp_path / "result")
    assert PrequentialResult.load(tmp_path / "result") == result


@pytest.mark.parametrize("delay", [0, 20])
@pytest.mark.parametrize(("every", "sitting"), [(7, 100), (1, 41), (64, 256)])
def test_resumed_by_position(tmp_path, every, sitting, delay):
    """A run in several sittings is to the bit that without interruption, though features and labels grow."""
    file = growing(tmp_path / "t.jsonl")
    settings = WINDOW | {"delay": delay}
    whole = prequential(Marlene(), load(file, **CHOICES, lazy=True), **settings)
    ends = iter(range(sitting, 10_000, sitting))
    sittings = 0
    result = None
    while result is None or result.stopped:
        end = next(ends)
        result = prequential(
            Marlene(),
            load(file, **CHOICES, lazy=True),
            **settings,
            checkpoint=tmp_path / "run.npz",
            every=every,
            callbacks=[lambda progress, end=end: progress.done >= end],
        )
        sittings += 1
    assert sittings > 1
    for name in COMPARED:
        assert json.dumps(getattr(result, name)) == json.dumps(getattr(whole, name)), name
    assert np.array_equal(result.steps, whole.steps)
    assert np.array_equal(result.confusion, whole.confusion)
    again = prequential(
        Marlene(), load(file, **CHOICES, lazy=True), **settings, checkpoint=tmp_path / "run.npz", every=every
    )
    assert json.dumps(again.scores) == json.dumps(whole.scores)
    assert again.labels == whole.labels


def stopped(path, checkpoint, at=150):
    return prequential(
        Marlene(),
        load(path, labels="is_*", lazy=True),
        checkpoint=checkpoint,
        every=10,
        callbacks=[lambda progress: progress.done >= at],
    )


def test_a_file_that_grew_is_resumed(path, tmp_path):
    text = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(text[:301]), encoding="utf-8")
    stopped(path, tmp_path / "run.npz")
    path.write_text("".join(text), encoding="utf-8")
    result = prequential(Marlene(), load(path, labels="is_*", lazy=True), checkpoint=tmp_path / "run.npz", every=10)
    whole = prequential(Marlene(), load(path, labels="is_*", lazy=True))
    assert result.examples == 400
    assert json.dumps(result.scores) == json.dumps(whole.scores)


def test_another_file_is_refused(path, tmp_path):
    stopped(path, tmp_path / "run.npz")
    text = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for other, message in (
        ([*text[:20], *text[21:]], "the first 150 examples differ"),
        (text[:120], "the checkpoint is at example 150, but there are only 119"),
    ):
        path.write_text("".join(other), encoding="utf-8")
        with pytest.raises(MarleneError, match=message):
            prequential(Marlene(), load(path, labels="is_*", lazy=True), checkpoint=tmp_path / "run.npz", every=10)


def test_nothing_is_learnt_from_a_part_that_is_refused(path):
    with path.open("a", encoding="utf-8") as file:
        file.write("1,2,3,x,0,1\n")
    model = Recorder()
    with pytest.raises(MarleneError, match="line 402, column 'd': expected a number, found 'x'"):
        prequential(model, load(path, labels="is_*", lazy=True))
    learnt = sum(call[0] == "learn" for call in model.calls)
    assert 0 < learnt < 400
