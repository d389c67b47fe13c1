"""The folder of results."""

import json
import sys

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.experiments import ResultStore


def row(key, **more):
    return {"key": key, "status": "done", "finished": "2026-01-01", **more}


def test_rows_come_back_in_the_order_in_which_runs_ended(tmp_path):
    store = ResultStore(tmp_path / "new" / "folder")
    assert store.rows() == []
    assert store.statuses() == {}
    store.add(row("b", finished="2026-01-01", macro_gmean=0.25), {})
    store.add(row("a", finished="2026-01-02", error="it failed") | {"status": "failed"}, {})
    frame = ResultStore(tmp_path / "new" / "folder").frame()
    assert frame.select("key", "macro_gmean", "error").rows() == [("b", 0.25, None), ("a", None, "it failed")]
    assert store.statuses() == {"a": "failed", "b": "done"}


def test_a_frame_has_what_is_not_a_single_value_as_json(tmp_path):
    store = ResultStore(tmp_path)
    store.add(row("a", options={"parts": 0}), {})
    store.add(row("b", options={"pairs": "all"}), {})
    assert store.frame()["options"].to_list() == ['{"parts": 0}', '{"pairs": "all"}']


def test_traces_come_back(tmp_path):
    store = ResultStore(tmp_path)
    steps = np.random.default_rng(0).random((50, 4))
    store.add(row("a"), {"steps": steps, "names": np.array(["é", "longer"])})
    assert np.array_equal(store.traces("a")["steps"], steps)
    assert store.traces("a")["names"].tolist() == ["é", "longer"]


def test_a_row_is_written_after_its_traces(tmp_path, monkeypatch):
    store = ResultStore(tmp_path)
    order = []
    monkeypatch.setattr("marlene.experiments._store.atomic_write", lambda path: order.append(path.suffix) or _Sink())
    store.add(row("a"), {"steps": np.zeros(3)})
    assert order == [".npz", ".json"]


class _Sink:
    """A file that forgets, as a context."""

    def __enter__(self):
        import io  # noqa: PLC0415

        return io.BytesIO()

    def __exit__(self, *_):
        return False


def test_what_a_killed_write_leaves_is_no_row(tmp_path):
    store = ResultStore(tmp_path)
    store.add(row("a"), {})
    (tmp_path / "runs" / ".b.json.xyz.tmp").write_bytes(b"half")
    assert store.statuses() == {"a": "done"}


@pytest.mark.parametrize("content", [b"", b"{nonsense", b"\xff\xfe"])
def test_a_damaged_row_is_named(tmp_path, content):
    store = ResultStore(tmp_path)
    (tmp_path / "runs" / "abc.json").write_bytes(content)
    with pytest.raises(MarleneError, match=r"abc\.json: the row of a run cannot be read"):
        store.rows()


def test_a_time_that_is_no_text_is_refused(tmp_path):
    store = ResultStore(tmp_path)
    store.add(row("a") | {"finished": 446}, {})
    with pytest.raises(MarleneError, match=r"a\.json: finished is 446, which is no text"):
        store.rows()


def test_a_row_under_another_name_is_refused(tmp_path):
    store = ResultStore(tmp_path)
    store.add(row("a"), {})
    (tmp_path / "runs" / "a.json").rename(tmp_path / "runs" / "b.json")
    with pytest.raises(MarleneError, match=r"b\.json: not the row of the run b"):
        store.rows()


def test_traces_that_are_absent_or_damaged_are_named(tmp_path):
    store = ResultStore(tmp_path)
    with pytest.raises(MarleneError, match=r"a\.npz: the traces cannot be read"):
        store.traces("a")


def test_a_score_that_is_not_defined_comes_back_as_none(tmp_path):
    store = ResultStore(tmp_path)
    store.add(row("a", macro_gmean=float("nan")), {})
    assert store.row("a")["macro_gmean"] is None
    assert json.loads((tmp_path / "runs" / "a.json").read_text(encoding="utf-8"))["macro_gmean"] is None


def test_only_a_frame_needs_polars(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    store = ResultStore(tmp_path)
    store.add(row("a"), {"steps": np.zeros(3)})
    assert [kept["key"] for kept in store.rows()] == ["a"]
    with pytest.raises(
        MarleneError, match=r"a frame of results needs .*polars: pip install \"marlene\[experiments\]\""
    ):
        store.frame()


def test_only_one_grid_at_a_time(tmp_path):
    with (
        ResultStore(tmp_path).locked(),
        pytest.raises(MarleneError, match="another grid is running in this folder"),
        ResultStore(tmp_path).locked(),
    ):
        pass
    with ResultStore(tmp_path).locked():
        assert True
