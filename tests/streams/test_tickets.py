"""One table of tickets is the same stream, to the bit, from every format."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from marlene import Marlene
from marlene.evaluation import prequential
from marlene.streams import load
from tests.streams.tickets import CHOICES, SEPARATOR, tickets, write_csv, write_json, write_jsonl


@pytest.fixture(scope="module")
def records():
    return tickets()


@pytest.fixture(scope="module")
def expected(records):
    return load(records, **CHOICES, name="tickets")


def flat(records):
    """Return records with nested fields as columns."""
    return [{k: v for k, v in r.items() if k != "who"} | {f"who.{k}": v for k, v in r["who"].items()} for r in records]


def same(stream, expected):
    assert stream.features == expected.features
    assert stream.labels == expected.labels
    np.testing.assert_array_equal(stream.Y, expected.Y)
    for one, other in ((stream.X.indptr, expected.X.indptr), (stream.X.indices, expected.X.indices)):
        np.testing.assert_array_equal(one, other)
    assert stream.X.data.tobytes() == expected.X.data.tobytes()
    np.testing.assert_array_equal(stream.clock, expected.clock)


def test_what_is_in_it(expected):
    kinds = [feature.kind for feature in expected.features]
    assert (expected.labels, len(expected)) == (("billing", "bug", "late delivery", "other"), 300)
    assert set(kinds) == {"numeric", "binary", "nominal"}
    assert "subject: über" in [feature.name for feature in expected.features]
    assert np.isnan(expected.clock).any()
    assert expected.X.has_sorted_indices


@pytest.mark.parametrize(("suffix", "write"), [("json", write_json), ("jsonl", write_jsonl), ("ndjson", write_jsonl)])
def test_json(tmp_path, records, expected, suffix, write):
    path = tmp_path / f"tickets.{suffix}"
    write(path, records)
    same(load(path, **CHOICES), expected)


def test_csv(tmp_path, records, expected):
    path = tmp_path / "tickets.csv"
    write_csv(path, records)
    same(load(path, **CHOICES, separator=SEPARATOR), expected)


def test_frames_and_parquet(tmp_path, records, expected):
    frame = pl.DataFrame(records)
    frame.write_parquet(tmp_path / "tickets.parquet")
    same(load(tmp_path / "tickets.parquet", **CHOICES), expected)
    same(load(frame, **CHOICES), expected)
    same(load(frame.lazy(), **CHOICES), expected)


def test_pandas(records, expected):
    columns = ["id", "subject", "created", "size", "count", "vip", "who.age", "who.team", "tags"]
    same(load(pd.DataFrame(flat(records))[columns], **CHOICES), expected)
    same(load(iter(records), **CHOICES), expected)


def test_a_limit_keeps_words_and_labels(tmp_path, records, expected):
    path = tmp_path / "tickets.jsonl"
    write_jsonl(path, records)
    limited = load(path, **CHOICES, limit=7)
    assert (limited.features, limited.labels) == (expected.features, expected.labels)
    assert limited == expected.head(7)


def test_the_same_model_comes_from_every_format(tmp_path, records):
    write_csv(tmp_path / "tickets.csv", records)
    write_jsonl(tmp_path / "tickets.jsonl", records)
    frame = pl.DataFrame(records)
    frame.write_parquet(tmp_path / "tickets.parquet")
    learnt = []
    for data in (tmp_path / "tickets.csv", tmp_path / "tickets.jsonl", tmp_path / "tickets.parquet", frame):
        model, options = Marlene(), {"separator": SEPARATOR} if str(data).endswith(".csv") else {}
        prequential(model, load(data, **CHOICES, **options))
        learnt.append(model.state())
    for header, arrays in learnt[1:]:
        assert header == learnt[0][0]
        assert {name: array.tobytes() for name, array in arrays.items()} == {
            name: array.tobytes() for name, array in learnt[0][1].items()
        }
