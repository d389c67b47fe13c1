"""What a run leaves behind, on disk and in reports."""

import dataclasses
import errno
import hashlib
import io
import json
import os
import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.evaluation import PrequentialResult, prequential
from marlene.evaluation._result import dump_json
from marlene.learners import Majority
from tests.evaluation.models import numbered, streams

JSON_KEYS = [
    *("stream", "method", "seed", "examples", "labels", "features"),
    *("macro_gmean", "micro_gmean", "label_set_gmean", "hamming_score"),
    *("models", "drifts", "cpu_seconds", "learn_seconds", "peak_rss_mb", "base_rss_mb", "stopped"),
]


@pytest.fixture(scope="module")
def result():
    return prequential(Majority(), numbered(50), seed=1)


@pytest.fixture
def saved(tmp_path, result):
    result.save(tmp_path / "run")
    return tmp_path


def header(folder):
    return json.loads((folder / "run.json").read_text())


def rewrite(folder, **changes):
    """Change fields of the header; None removes one."""
    fields = {key: value for key, value in (header(folder) | changes).items() if value is not None}
    (folder / "run.json").write_text(json.dumps(fields))


def put_npz(folder, content):
    """Replace the arrays and vouch for them."""
    (folder / "run.npz").write_bytes(content)
    rewrite(folder, sha256=hashlib.sha256(content).hexdigest())


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def refused(folder, said):
    with pytest.raises(MarleneError, match=said) as caught:
        PrequentialResult.load(folder / "run")
    assert str(folder) in str(caught.value)


@settings(max_examples=25)
@given(streams(), st.integers(-1, 50), st.one_of(st.none(), st.integers()))
def test_what_is_loaded_is_what_was_saved(stream, start, seed):
    result = prequential(Majority(), stream, start=start, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        result.save(f"{folder}/run")
        loaded = PrequentialResult.load(f"{folder}/run")
    assert loaded == result
    np.testing.assert_array_equal(loaded.macro_gmean, result.macro_gmean)
    for name in ("steps", "pred", "proba", "truth"):
        assert getattr(loaded, name).dtype == getattr(result, name).dtype
        np.testing.assert_array_equal(getattr(loaded, name), getattr(result, name))
    assert dump_json(loaded.report()) == dump_json(result.report())


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
    assert header(tmp_path)["scores"]["macro_gmean"] is None
    assert np.isnan(PrequentialResult.load(tmp_path / "run").macro_gmean)
    assert json.loads(dump_json(result.report()))["macro_gmean"] is None


def test_equality(result):
    assert result == dataclasses.replace(result)
    assert result != dataclasses.replace(result, seed=2)
    assert result != dataclasses.replace(result, pred=1 - result.pred)
    assert result != dataclasses.replace(result, scores={**result.scores, "macro_gmean": float("nan")})
    assert result != "result"


def test_the_report_has_the_agreed_keys(result):
    report = result.report()
    assert list(report) == JSON_KEYS
    assert (report["examples"], report["labels"], report["features"]) == (50, 2, 1)
    assert report["macro_gmean"] == result.macro_gmean


def test_missing_files(saved):
    (saved / "run.npz").rename(saved / "moved.npz")
    refused(saved, "cannot be read as a result.*No such file")
    (saved / "run.json").unlink()
    refused(saved, "cannot be read as a result.*No such file")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff\xfe{}", b"[" * 100_000], ids=["empty", "cut off", "not UTF-8", "deep"]
)
def test_text_that_is_not_json(saved, content):
    (saved / "run.json").write_bytes(content)
    refused(saved, "cannot be read as a result")


@pytest.mark.parametrize("content", ["{}", "[]", "null", '"marlene"', '{"format": "other"}'])
def test_json_of_something_else(saved, content):
    (saved / "run.json").write_text(content)
    refused(saved, "not a result of a prequential run")


def test_every_cut_of_the_header_is_noticed(saved):
    whole = (saved / "run.json").read_bytes()
    for length in range(0, len(whole), 7):
        (saved / "run.json").write_bytes(whole[:length])
        refused(saved, "cannot be read as a result")


@pytest.mark.parametrize("version", [0, 1, "2", None])
def test_other_versions(saved, version):
    rewrite(saved, version=version)
    refused(saved, f"version {version} of the format, expected 2")


def test_damaged_arrays(saved):
    whole = bytearray((saved / "run.npz").read_bytes())
    for position in range(0, len(whole), 97):
        damaged = whole.copy()
        damaged[position] ^= 0x10
        (saved / "run.npz").write_bytes(damaged)
        refused(saved, "does not belong to run.json, or is damaged")
    (saved / "run.npz").write_bytes(whole[:-1])
    refused(saved, "does not belong to run.json, or is damaged")


def test_a_mixed_up_pair(saved):
    prequential(Majority(), numbered(50, seed=1)).save(saved / "other")
    (saved / "other.npz").replace(saved / "run.npz")
    refused(saved, "does not belong to run.json")


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
        {"examples": 49},
        {"surprise": 1},
    ],
    ids=str,
)
def test_fields_that_are_absent_or_wrong(saved, change):
    rewrite(saved, **change)
    refused(saved, "a field is absent or not as expected")


def test_arrays_of_something_else(saved, result):
    arrays = {name: getattr(result, name) for name in ("steps", "pred", "proba", "truth")}
    objects = np.array([{"code": "any"}], dtype=object)
    plain = io.BytesIO()
    np.save(plain, result.steps)
    for content in (
        b"",
        b"not a zip file",
        b"PK\x03\x04 not much of one",
        plain.getvalue(),
        npz(steps=result.steps),
        npz(**arrays | {"steps": result.steps[:, :3]}),
        npz(**arrays | {"pred": result.pred[1:]}),
        npz(**arrays | {"truth": objects}),
    ):
        put_npz(saved, content)
        refused(saved, "a field is absent or not as expected")
    put_npz(saved, npz(**arrays))
    assert PrequentialResult.load(saved / "run") == result


class Trap:
    """An object whose unpickling leaves a trace."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_no_pickle_is_loaded(saved, result):
    arrays = {name: getattr(result, name) for name in ("steps", "pred", "proba")}
    put_npz(saved, npz(**arrays, truth=np.array([Trap(str(saved / "sprung"))], dtype=object)))
    refused(saved, "allow_pickle=False")
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
