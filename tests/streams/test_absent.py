"""Labels of which nothing is said: unknown, or false, whatever the source."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marlene import Marlene
from marlene._common.errors import MarleneError
from marlene.experiments import Grid, run_grid
from marlene.streams import load
from tests.cli.commands import caller
from tests.learners.streams import contents

RECORDS = [{"x": 0.5, "a": 1, "b": 0}, {"x": 1.5, "b": 1}, {"x": 0.25}, {"x": 3.5, "a": 0, "b": 1}]
UNKNOWN, FALSE = [[1, 0], [-1, 1], [-1, -1], [0, 1]], [[1, 0], [0, 1], [0, 0], [0, 1]]


@pytest.fixture
def sources(tmp_path):
    """Return the same examples in every form that can leave labels out."""
    frame = pd.DataFrame(RECORDS)
    frame.to_csv(tmp_path / "t.csv", index=False)
    pl.from_pandas(frame).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return [frame, RECORDS, *(tmp_path / f"t.{suffix}" for suffix in ("csv", "parquet", "jsonl"))]


def test_every_source(sources):
    for source in sources:
        assert load(source, labels=["a", "b"]).Y.tolist() == UNKNOWN
        assert load(source, labels=["a", "b"], absent="false").Y.tolist() == FALSE
    pairs = [({"x": record["x"]}, {k: v for k, v in record.items() if k != "x"}) for record in RECORDS]
    assert load(pairs).Y.tolist() == UNKNOWN
    assert load(pairs, absent="false").Y.tolist() == FALSE
    X, Y = np.zeros((2, 1)), [[1, np.nan], [-1, 0]]
    assert load((X, Y), absent="false").Y.tolist() == [[1, 0], [-1, 0]]
    assert load(load((X, Y)), absent="false").Y.tolist() == [[1, 0], [0, 0]]
    with pytest.raises(MarleneError, match="absent must be one of unknown, false, not 'no'"):
        load((X, Y), absent="no")


@given(st.lists(st.frozensets(st.sampled_from(["a", "b", 10, 9])), min_size=1, max_size=9))
def test_sets_of_labels(rows):
    if not any(rows):
        rows = [*rows, {"a"}]
    stream = load([({"x": i}, set(true) if i % 2 else sorted(true, key=str)) for i, true in enumerate(rows)])
    assert set(stream.labels) == {str(label) for true in rows for label in true}
    expected = [[str(label) in map(str, true) for label in stream.labels] for true in rows]
    assert stream.Y.tolist() == expected


def test_a_declared_stream_is_learnt_like_its_sets():
    rng = np.random.default_rng(0)
    truth = rng.random((80, 3)) < 0.3
    labels = ["a", "b", "c"]
    pairs = [({"x": rng.normal()}, {labels[i] for i in np.flatnonzero(y)}) for y in truth]
    stream = load([*pairs, ({"x": 0.0}, set(labels))])
    whole, singly = Marlene(), Marlene()
    for model in (whole, singly):
        model.declare(stream.features, stream.labels)
    whole.learn_many(stream.X, stream.Y)
    for x, y in pairs:
        singly.learn_one(x, y)
    singly.learn_one({"x": 0.0}, labels)
    assert contents(whole) == contents(singly)


def test_on_the_command_line_and_in_grids(tmp_path, capsys, sources):
    file, call = str(sources[2]), caller(capsys)
    for absent, expected in (("unknown", UNKNOWN), ("false", FALSE)):
        out = tmp_path / f"{absent}.npz"
        given = ("run", file, "--labels", "a,b", "--absent", absent, "--method", "majority", "--predictions", out)
        assert call(*given).code == 0
        assert np.load(out)["truth"].tolist() == expected
    refused = call("run", file, "--labels", "a,b", "--absent", "no", "--method", "majority")
    assert (refused.code, refused.err) == (2, "marlene: absent must be one of unknown, false, not 'no'\n")
    grid = Grid([{"load": file, "labels": "a,b", "absent": "false"}], [{"name": "majority"}])
    (row,) = run_grid(grid, tmp_path / "store").rows()
    assert row["error"] is None
