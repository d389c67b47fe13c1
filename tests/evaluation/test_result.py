"""What a run leaves behind, on disk and in reports."""

import dataclasses
import errno
import json
import os
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene._common.states import HEADER, load_state, save_state
from marlene.evaluation import PrequentialResult, prequential
from marlene.evaluation._result import FILE_TYPE, VERSION, dump_json
from marlene.learners import Majority
from tests.evaluation.models import numbered, streams

JSON_KEYS = [
    *("stream", "method", "seed", "examples", "labels", "features"),
    *("macro_gmean", "micro_gmean", "label_set_gmean", "hamming_score"),
    *("models", "drifts", "cpu_seconds", "learn_seconds", "peak_rss_mb", "base_rss_mb", "stopped"),
    *("labels_predicted", "labels_true", "calibration_error", "cumulative", "faded"),
]
DETAILED_KEYS = [
    *JSON_KEYS,
    *("window", "start", "delay", "fading", "after", "overall", "per_label", "calibration"),
]
TRACES = ("steps", "pred", "proba", "truth", "confusion", "reliability")


@pytest.fixture(scope="module")
def result():
    return prequential(Majority(), numbered(50), seed=1)


@pytest.fixture
def saved(tmp_path, result):
    result.save(tmp_path / "run")
    return tmp_path


def rewrite(folder, arrays=None, **changes):
    """Replace the arrays if there are others, and change fields of the header; None removes one."""
    header, found = load_state(folder / "run.npz", FILE_TYPE, VERSION)
    fields = {key: value for key, value in (header | changes).items() if value is not None}
    save_state(folder / "run.npz", FILE_TYPE, VERSION, fields, found if arrays is None else arrays)


def refused(folder, said):
    with pytest.raises(MarleneError, match=said) as caught:
        PrequentialResult.load(folder / "run")
    assert str(folder) in str(caught.value)


@settings(max_examples=25)
@given(streams(), st.integers(-1, 50), st.one_of(st.none(), st.integers(-(10**18), 10**18)))
def test_what_is_loaded_is_what_was_saved(stream, start, seed):
    result = prequential(Majority(), stream, start=start, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        result.save(f"{folder}/run")
        loaded = PrequentialResult.load(f"{folder}/run")
    assert loaded == result
    np.testing.assert_array_equal(loaded.macro_gmean, result.macro_gmean)
    for name in TRACES:
        assert getattr(loaded, name).dtype == getattr(result, name).dtype
        np.testing.assert_array_equal(getattr(loaded, name), getattr(result, name))
    assert dump_json(loaded.as_dict()) == dump_json(result.as_dict())


@pytest.mark.parametrize("name", ["run", "run.json", "run.npz", "v1.2", "a.b.c", "été 1", "run."])
def test_names_with_dots(tmp_path, result, name):
    result.save(tmp_path / name)
    stem = name.removesuffix(".json").removesuffix(".npz")
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{stem}.json", f"{stem}.npz"]
    for given_name in (stem, f"{stem}.json", f"{stem}.npz", str(tmp_path / stem)):
        assert PrequentialResult.load(tmp_path / given_name) == result


def test_scores_that_are_not_numbers(tmp_path):
    result = prequential(Majority(), numbered(5), start=10)
    result.save(tmp_path / "run")
    assert json.loads((tmp_path / "run.json").read_text())["scores"]["macro_gmean"] is None
    assert np.isnan(PrequentialResult.load(tmp_path / "run").macro_gmean)
    assert json.loads(dump_json(result.as_dict()))["macro_gmean"] is None


def test_equality(result):
    assert result == dataclasses.replace(result)
    assert result != dataclasses.replace(result, seed=2)
    assert result != dataclasses.replace(result, pred=1 - result.pred)
    assert result != dataclasses.replace(result, scores={**result.scores, "macro_gmean": float("nan")})
    assert result != "result"


def test_the_report_has_the_agreed_keys(result):
    report = result.as_dict()
    assert list(report) == DETAILED_KEYS
    assert list(result.as_dict(details=False)) == JSON_KEYS
    assert (report["examples"], report["labels"], report["features"]) == (50, 2, 1)
    assert report["macro_gmean"] == result.macro_gmean


def test_the_json_file_is_a_readable_copy(saved, result):
    copy = json.loads((saved / "run.json").read_text())
    assert copy["scores"] == result.scores
    assert copy["labels"] == list(result.labels)
    assert copy["cumulative"] == result.cumulative
    assert not copy.keys() & set(TRACES)
    (saved / "run.json").unlink()
    assert PrequentialResult.load(saved / "run") == result


def test_missing_files(saved):
    (saved / "run.npz").unlink()
    refused(saved, "No such file")


@pytest.mark.parametrize("content", [b"", b"{}", b"not a zip file", b"PK\x03\x04 not much of one"])
def test_files_of_something_else(saved, content):
    (saved / "run.npz").write_bytes(content)
    refused(saved, "not a file of marlene's, or damaged")
    save_state(saved / "run.npz", "marlene-learner", VERSION, {}, {})
    refused(saved, "holds 'marlene-learner', expected 'marlene-prequential-result'")


@pytest.mark.parametrize("version", [0, 1, "3", None])
def test_other_versions(saved, version):
    save_state(saved / "run.npz", FILE_TYPE, version, {}, {})
    refused(saved, f"version {version} of the format, this program reads version {VERSION}")


def test_damaged_files(saved, result):
    whole = (saved / "run.npz").read_bytes()
    flipped = [whole[:n] + bytes([whole[n] ^ 0x10]) + whole[n + 1 :] for n in range(0, len(whole), 37)]
    noticed = 0
    for content in [whole[:-1], whole[: len(whole) // 2], *flipped]:
        (saved / "run.npz").write_bytes(content)
        try:
            # A byte that says nothing, such as a date, may differ.
            assert PrequentialResult.load(saved / "run") == result
        except MarleneError as error:
            assert str(saved) in str(error)  # noqa: PT017 (only most are refused)
            noticed += 1
    assert noticed > 0.6 * len(flipped)


@pytest.mark.parametrize(
    "change",
    [
        {"stream": None},
        {"labels": None},
        {"labels": 3},
        {"labels": ["y0"]},
        {"scores": None},
        {"scores": []},
        {"scores": {"macro_gmean": 1}},
        {"overall": 1},
        {"cumulative": {"micro_f1": 0.5}},
        {"faded": None},
        {"examples": 49},
        {"surprise": 1},
    ],
    ids=str,
)
def test_fields_that_are_absent_or_wrong(saved, change):
    rewrite(saved, **change)
    refused(saved, "damaged")


def test_arrays_of_something_else(saved, result):
    arrays = {name: getattr(result, name) for name in TRACES}
    arrays |= {f"history.{name}": array for name, array in result.history.arrays().items()}
    for other in (
        {"steps": result.steps},
        {name: array for name, array in arrays.items() if name != "history.counts"},
        arrays | {"history.counts": result.history.counts[:, 1:]},
        arrays | {"history.helps": np.full((1, 4), 9.0)},
        arrays | {"steps": result.steps[:, :3]},
        arrays | {"pred": result.pred[1:]},
        arrays | {"confusion": result.confusion[1:]},
        arrays | {"reliability": result.reliability[1:]},
        arrays | {"reliability": result.reliability[:, :, 1:]},
        arrays | {"more": result.pred},
    ):
        rewrite(saved, other)
        refused(saved, "damaged")
        rewrite(saved, arrays)
    assert PrequentialResult.load(saved / "run") == result


class Trap:
    """An object whose unpickling leaves a trace."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_no_pickle_is_loaded(saved):
    _, arrays = load_state(saved / "run.npz", FILE_TYPE, VERSION)
    with np.load(saved / "run.npz", allow_pickle=False) as file:
        arrays |= {HEADER: file[HEADER], "truth": np.array([Trap(str(saved / "sprung"))], dtype=object)}
    np.savez_compressed(saved / "run.npz", allow_pickle=True, **arrays)
    refused(saved, "is not an array")
    assert not (saved / "sprung").exists()


@pytest.mark.parametrize(("save", "space_for"), [("save", 0), ("save", 1), ("save_predictions", 0)])
def test_a_full_disk_leaves_the_old_files(saved, monkeypatch, save, space_for):
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    written = []

    def fsync(file):
        if len(written) == space_for:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(file)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match="No space left"):
        getattr(prequential(Majority(), numbered(40)), save)(saved / "run.npz")
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before


def test_predictions(tmp_path, result):
    result.save_predictions(tmp_path / "out.dat")
    with np.load(tmp_path / "out.dat", allow_pickle=False) as arrays:
        assert sorted(arrays) == ["pred", "proba", "truth"]
        for name in arrays:
            np.testing.assert_array_equal(arrays[name], getattr(result, name))


def test_a_seed_that_could_not_be_loaded_is_refused():
    with pytest.raises(MarleneError, match=r"^seed must be a whole number from "):
        prequential(Majority(), numbered(50), seed=10**18 + 1)
