"""Checkpoints: a run that was stopped goes on to the bit, and no file is mistaken for another's."""

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river.drift import ADWIN
from river.naive_bayes import GaussianNB

from marlene import BRMarlene, BRResampled
from marlene._common.errors import MarleneError
from marlene._common.states import load_state, save_state
from marlene.evaluation import PrequentialResult, _checkpoint, prequential
from marlene.learners import BinaryRelevance, Majority
from marlene.streams import Stream
from tests.cli.commands import environment
from tests.evaluation import killed
from tests.evaluation.models import LastLabels, numbered

TRACES = ("steps", "pred", "proba", "truth", "confusion", "reliability")


def drifting(n=300, n_labels=3, seed=0, name="drifting"):
    """Return a stream of which every label turns round in the middle."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3)).round(3)
    truth = (X[:, :1] * np.arange(1, n_labels + 1) + X[:, 1:2] > 0.8).astype(np.int8)
    truth[n // 2 :] = 1 - truth[n // 2 :]
    return Stream.from_arrays(X, truth, name=name)


def model():
    return BRMarlene(seed=1, drift="ddm")


def assert_same(result, expected):
    for name in TRACES:
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name))
    for name in ("scores", "overall", "cumulative", "faded"):
        np.testing.assert_array_equal(list(getattr(result, name).values()), list(getattr(expected, name).values()))
    told = ("stream", "method", "seed", "examples", "labels", "window", "start", "delay", "models", "drifts", "stopped")
    assert [getattr(result, name) for name in told] == [getattr(expected, name) for name in told]


def assert_same_learner(one, other):
    (header, arrays), (header2, arrays2) = one.state(), other.state()
    assert header == header2
    assert list(arrays) == list(arrays2)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, arrays2[name])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.npz"


@settings(max_examples=25)
@given(
    make=st.sampled_from([model, Majority, lambda: BRResampled(seed=1)]),
    stops=st.lists(st.integers(1, 120), max_size=4),
    every=st.one_of(st.none(), st.integers(1, 90)),
    chosen=st.fixed_dictionaries({}, optional={"delay": st.sampled_from([1, 20, 500]), "start": st.just(150)}),
)
def test_a_run_in_pieces_equals_an_unbroken_one(make, stops, every, chosen):
    stream = drifting(160)
    unbroken = make()
    expected = prequential(unbroken, stream, **chosen)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.npz"
        for stop in stops:
            result = prequential(
                make(),
                stream,
                checkpoint=path,
                every=every,
                callbacks=[lambda p, stop=stop: p.done >= p.resumed + stop],
                **chosen,
            )
            assert result.stopped in ("", "callback")
        last = make()
        assert_same(prequential(last, stream, checkpoint=path, every=every, **chosen), expected)
        assert_same_learner(last, unbroken)


@pytest.mark.parametrize("delay", [0, 5])
def test_a_finished_run_gives_its_result_at_once(path, monkeypatch, delay):
    stream = drifting()
    first = model()
    expected = prequential(first, stream, checkpoint=path, delay=delay)
    written = path.read_bytes()
    again, heard = model(), []
    for name in ("test_then_train", "predict_proba_many", "learn_many"):
        monkeypatch.setattr(again, name, None)
    result = prequential(again, stream, checkpoint=path, delay=delay, callbacks=[heard.append])
    assert_same(result, expected)
    assert_same_learner(again, first)
    assert (again.drift, again.base) == ("ddm", "hoeffding-forest")
    assert [(p.done, p.resumed) for p in heard] == [(300, 300)]
    assert result.learn_seconds == expected.learn_seconds
    assert result.cpu_seconds >= 0
    assert path.read_bytes() == written


def test_times_and_peak_memory_go_on(path):
    stream = drifting()
    first = prequential(model(), stream, checkpoint=path, every=100, callbacks=[lambda p: p.done == 200])
    header, arrays = load_state(path, _checkpoint.FILE_TYPE, _checkpoint.VERSION)
    assert header["run"]["learn_seconds"] == first.learn_seconds
    header["run"] |= {"learn_seconds": 1000.0, "cpu_seconds": 2000.0, "wall_seconds": 3000.0, "peak_rss_mb": 1e6}
    save_state(path, _checkpoint.FILE_TYPE, _checkpoint.VERSION, header, arrays)
    result = prequential(model(), stream, checkpoint=path)
    assert result.learn_seconds > 1000
    assert result.cpu_seconds > 2000
    assert result.wall_seconds > 3000
    assert result.peak_rss_mb == 1e6


def test_sources_are_learnt_once(path, monkeypatch):
    sources, target = [drifting(60, 2, 5, "old"), drifting(50, 4, 6, "older")], drifting(120)
    expected = model()
    for source in sources:
        expected.declare(source.features, source.labels, stream=source.name)
        expected.learn_many(source.X, source.Y, stream=source.name)
    prequential(expected, target)
    prequential(model(), target, sources=sources, checkpoint=path, every=40, callbacks=[lambda p: p.done == 40])
    monkeypatch.setattr(BRMarlene, "learn_many", None)
    resumed = model()
    prequential(resumed, target, sources=sources, checkpoint=path)
    assert_same_learner(resumed, expected)
    with pytest.raises(MarleneError, match="differs in the sources; nothing was changed"):
        prequential(model(), target, sources=sources[::-1], checkpoint=path)


@pytest.mark.parametrize(("every", "expected"), [(100, [100, 200, 300, 300]), (300, [300, 300]), (1000, [300])])
@pytest.mark.parametrize("delay", [0, 3])
def test_it_is_written_after_so_many_examples_and_at_the_end(path, monkeypatch, every, expected, delay):
    positions = []

    def spy(path, file_type, version, header, arrays):
        positions.append(header["run"]["done"])
        save_state(path, file_type, version, header, arrays)

    monkeypatch.setattr(_checkpoint, "save_state", spy)
    prequential(Majority(), drifting(), checkpoint=path, every=every, delay=delay)
    assert positions == expected


def test_by_default_it_is_written_now_and_then(path, monkeypatch):
    positions = []
    monkeypatch.setattr(_checkpoint, "save_state", lambda *a: positions.append(a[3]["run"]["done"]))
    prequential(Majority(), drifting(), checkpoint=path)
    assert positions == [300]
    monkeypatch.setattr(_checkpoint, "SECONDS_BETWEEN", -1)
    monkeypatch.setattr(_checkpoint, "TIMES_A_WRITE", -1)
    prequential(Majority(), drifting(), checkpoint=path)
    assert len(positions) > 3


def changed(stream):
    X = stream.X.copy()
    X[7, 1] += 1e-9
    return replace(stream, X=X)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"model": Majority()}, "method BRMarlene instead of Majority"),
        ({"method": "mine"}, "method BRMarlene instead of mine"),
        ({"seed": 7}, "seed None instead of 7"),
        ({"window": 20}, "window 30 instead of 20"),
        ({"start": 3}, "start 15 instead of 3"),
        ({"delay": 2}, "delay 0 instead of 2"),
        ({"fading": 0.9}, "fading 0.999 instead of 0.9"),
        ({"after": 0}, "after 30 instead of 0"),
        ({"model": BRMarlene(seed=2, drift="ddm")}, "differs in the learner's settings"),
        ({"model": BRMarlene(seed=1)}, "differs in the learner's settings"),
        ({"stream": drifting().head(299)}, "examples 300 instead of 299"),
        ({"stream": replace(drifting(), name="other")}, "stream drifting instead of other"),
        ({"stream": changed(drifting())}, "differs in the examples;"),
        ({"stream": replace(drifting(), Y=1 - drifting().Y)}, "differs in the examples;"),
        ({"stream": replace(drifting(), labels=("a", "b", "c"))}, "differs in the examples;"),
        ({"stream": drifting().with_kinds("binary")}, "differs in the examples;"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_checkpoint_of_another_run_is_refused(path, other, said):
    prequential(model(), drifting(), checkpoint=path, every=100, callbacks=[lambda p: p.done == 100])
    written = path.read_bytes()
    chosen = {"model": model(), "stream": drifting()} | other
    with pytest.raises(MarleneError, match="the checkpoint of another run, which differs in ") as refused:
        prequential(**chosen, checkpoint=path)
    assert said in str(refused.value)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == written


def test_a_learner_that_has_learnt_something_else_is_refused(path):
    prequential(model(), drifting(), checkpoint=path)
    trained = model()
    prequential(trained, drifting(50))
    with pytest.raises(MarleneError, match="or what it had learnt before"):
        prequential(trained, drifting(), checkpoint=path)


def test_the_checkpoint_of_another_version_is_refused(path, monkeypatch):
    prequential(model(), drifting(), checkpoint=path)
    with monkeypatch.context() as patch:
        patch.setattr(_checkpoint, "sources_hash", lambda: "other")
        with pytest.raises(MarleneError, match="differs in the version of the program"):
            prequential(model(), drifting(), checkpoint=path)
    monkeypatch.setattr(_checkpoint, "VERSION", 5)
    with pytest.raises(MarleneError, match="version 4 of the format, this program reads version 5"):
        prequential(model(), drifting(), checkpoint=path)


def test_damaged_files_are_refused(path):
    prequential(Majority(), numbered(40), checkpoint=path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    pieces = [whole[:n] for n in rng.integers(0, len(whole), 10)]
    flipped = [whole[:n] + bytes([whole[n] ^ 255]) + whole[n + 1 :] for n in rng.integers(0, len(whole), 60)]
    refused = 0
    for content in [b"", b"hello", *pieces, *flipped]:
        path.write_bytes(content)
        try:
            # A byte that says nothing, such as a date, may differ; then the outcome is the right one.
            assert_same(prequential(Majority(), numbered(40), checkpoint=path), prequential(Majority(), numbered(40)))
        except MarleneError as error:
            assert str(path) in str(error)  # noqa: PT017 (only some are refused)
            refused += 1
        assert path.read_bytes() == content
    assert refused > 30


def test_files_of_other_types_are_refused(path):
    model().save(path)
    with pytest.raises(MarleneError, match="holds 'marlene-learner', expected 'marlene-checkpoint'"):
        prequential(model(), drifting(), checkpoint=path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda header, _: header.pop("identity"),
        lambda header, _: header.pop("run"),
        lambda header, _: header.pop("learner"),
        lambda header, _: header["run"].pop("done"),
        lambda header, _: header["run"].update(done=301),
        lambda header, _: header["run"].update(done=99),
        lambda header, _: header["run"].update(learn_seconds="long"),
        lambda _, arrays: arrays.pop("steps"),
        lambda _, arrays: arrays.update(proba=arrays["proba"][:5]),
        lambda _, arrays: arrays.update(proba=arrays["proba"].astype(float)),
        lambda _, arrays: arrays.pop("windowed.ring"),
        lambda _, arrays: arrays.pop("learner.ensemble0.records"),
    ],
)
def test_files_that_do_not_hold_together_are_refused(path, spoil):
    prequential(model(), drifting(), checkpoint=path, every=100, callbacks=[lambda p: p.done == 100])
    header, arrays = load_state(path, _checkpoint.FILE_TYPE, _checkpoint.VERSION)
    header = json.loads(json.dumps(header))
    spoil(header, arrays)
    save_state(path, _checkpoint.FILE_TYPE, _checkpoint.VERSION, header, arrays)
    untouched = model()
    with pytest.raises(MarleneError, match=r"damaged|state of scores holds"):
        prequential(untouched, drifting(), checkpoint=path)
    assert_same_learner(untouched, model())


@pytest.mark.parametrize(
    ("unsavable", "said"),
    [
        (BinaryRelevance(GaussianNB()), "BinaryRelevance cannot be saved, so it cannot be run with a checkpoint"),
        (LastLabels(), "LastLabels cannot be saved"),
        (BRMarlene(drift=ADWIN()), "a learner that holds River objects cannot be saved"),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
def test_a_learner_that_cannot_be_saved_is_refused_before_the_run(path, unsavable, said):
    heard = []
    with pytest.raises(MarleneError, match=said):
        prequential(unsavable, drifting(), checkpoint=path, callbacks=[heard.append])
    assert heard == []
    assert not path.exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"every": 5}, "but there is no checkpoint="),
        ({"every": 0, "checkpoint": "run.npz"}, "every must be a whole number of at least 1, not 0"),
        ({"checkpoint": "no/such/run.npz"}, "no/such/run.npz: there is no folder"),
        ({"checkpoint": "."}, "Is a directory"),
        ({"sources": [drifting(9)]}, "Majority does not learn from other streams"),
    ],
)
def test_settings_that_are_refused(tmp_path, monkeypatch, wrong, said):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MarleneError, match=said):
        prequential(Majority(), drifting(), **wrong)


def test_the_labels_of_a_majority_learner_must_fit_into_a_file():
    learner = Majority()
    learner.learn_one({}, {"a": True, 3: False})
    assert Majority.from_state(*learner.state()).predict_one({}) == {"a": True, 3: False}
    learner.learn_one({}, {("a", "b"): True})
    with pytest.raises(MarleneError, match="labels are texts or numbers"):
        learner.state()
    with pytest.raises(
        MarleneError, match="not the state of the counts of a majority, or damaged: seen has another length"
    ):
        Majority.from_state({"labels": ["a"]}, {"positive": np.zeros(1, int), "seen": np.zeros(2, int)})


@pytest.mark.parametrize("how", ["anywhere", "writing"])
def test_killed_again_and_again(tmp_path, how):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "tests.evaluation.killed", str(tmp_path), how]
    done = subprocess.run(command, cwd=root, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int((tmp_path / "killed.txt").read_text()) >= 3
    expected = prequential(killed.model(), killed.stream())
    assert_same(PrequentialResult.load(tmp_path / "result"), expected)


def test_a_second_run_on_the_same_file_is_refused(tmp_path):
    path, stream, refused = tmp_path / "run.npz", drifting(), []

    def run_again(_progress):
        with pytest.raises(MarleneError) as caught:
            prequential(model(), stream, checkpoint=path)
        refused.append(str(caught.value))

    prequential(model(), stream, checkpoint=path, callbacks=[run_again])
    assert set(refused) == {f"{path}: another run is using this file"}
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]
    assert prequential(model(), stream, checkpoint=path).examples == 300
