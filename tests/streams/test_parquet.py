"""The lengths in a Parquet file are checked before polars believes them."""

import io
import itertools

import numpy as np
import polars as pl
import pytest

from marlene._common.errors import MarleneError
from marlene.streams import _parquet, load
from marlene.streams.frames import read_parquet

ROWS = 2000


def every_type():
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "n": rng.normal(size=ROWS),
            "whole": rng.integers(0, 9, ROWS),
            "word": pl.Series(rng.choice(["red", "green", "blue"], ROWS)).cast(pl.Categorical),
            "text": [" ".join(map(str, rng.integers(0, 10**6, 5))) for _ in range(ROWS)],
            "list": [list(range(i % 4)) or None for i in range(ROWS)],
            "nested": [{"a": [[i], []], "b": {"c": None if i % 3 else i}} for i in range(ROWS)],
            "nothing": [None] * ROWS,
            "when": pl.Series(rng.integers(0, 10**12, ROWS)).cast(pl.Datetime("us")),
            "yes": rng.random(ROWS) < 0.5,
        }
    )


@pytest.mark.parametrize("rows", [0, 1, ROWS])
def test_what_polars_writes_is_taken(tmp_path, monkeypatch, rows):
    path, frame = tmp_path / "it.parquet", every_type().head(rows)
    monkeypatch.setattr(_parquet, "free_memory_mb", lambda: 1.0)
    for compression, size, statistics in itertools.product(("uncompressed", "zstd", "snappy"), (None, 700), (0, 1)):
        frame.write_parquet(
            path, compression=compression, row_group_size=size, data_page_size=3000, statistics=bool(statistics)
        )
        with path.open("rb") as file:
            _parquet.refuse_false_claims(file, path)
        assert pl.read_parquet(path).equals(frame)


def written(frame=None):
    buffer = io.BytesIO()
    (pl.DataFrame({"n": [1.5, None], "is_a": [1, 0]}) if frame is None else frame).write_parquet(
        buffer, compression="uncompressed", statistics=False
    )
    return buffer.getvalue()


PAGE = b"\x15\x00\x15\x1c\x15\x1c\x2c\x15\x04"
"""How the first page begins: data, 14 bytes unpacked and packed, 2 values. Whole numbers are zigzag."""


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (b"\x15\x00\x15\x1c\x15\x1c\x2c\x15\x5d", "another number of values than its column, or a length below zero"),
        (b"\x15\x00\x15\x1c\x15\x1c\x2c\x15\x06", "another number of values than its column"),
        (b"\x15\x00\x15\x1b\x15\x1c\x2c\x15\x04", "a length below zero"),
        (b"\x15\x00\x15\x1c\x15\x1b\x2c\x15\x04", "a length below zero"),
        (b"\x15\x00\x15\x1c\x15\xfe\xff\x7f\x2c\x15\x04", "a page lies outside of it"),
        (b"\x15\x00\x15\x1c\xf5\x1c\x2c\x15\x04", "lengths cannot be read"),
        (b"\x15\x00\x15\x1c\x15\x1c\x2e\x15\x04", "of no type"),
    ],
)
def test_pages_that_claim_something_else(tmp_path, page, said):
    path, whole = tmp_path / "it.parquet", written()
    assert whole[4:].startswith(PAGE)
    path.write_bytes(whole.replace(PAGE, page, 1))
    for lazy in (False, True):
        with pytest.raises(MarleneError, match=f"expected a Parquet file .*({said})"):
            load(path, labels="is_*", lazy=lazy)


def test_a_file_that_would_fill_the_memory(tmp_path, monkeypatch):
    path = tmp_path / "it.parquet"
    pl.DataFrame({"n": np.zeros(200_000), "is_a": np.ones(200_000)}).write_parquet(path)
    assert path.stat().st_size < 20_000
    read_parquet(path, labels=["is_a"])
    monkeypatch.setattr(_parquet, "free_memory_mb", lambda: 0.1)
    with pytest.raises(MarleneError, match="it would fill the 0 MB of memory that are free"):
        read_parquet(path, labels=["is_a"])


def test_lengths_that_lead_nowhere(tmp_path):
    path, whole = tmp_path / "it.parquet", written()
    footer = int.from_bytes(whole[-8:-4], "little")
    for content in (
        whole[:-8] + (footer + 10**6).to_bytes(4, "little") + whole[-4:],
        whole[:-8] + (0).to_bytes(4, "little") + whole[-4:],
        whole[:-8] + (3).to_bytes(4, "little") + whole[-4:],
        whole[: -8 - footer] + b"\x19" * footer + whole[-8:],
        whole[: -8 - footer] + b"\x1c" * footer + whole[-8:],
        whole[: -8 - footer] + b"\xff" * footer + whole[-8:],
        b"PAR1",
        b"",
        b"PAR1" * 3,
    ):
        path.write_bytes(content)
        with pytest.raises(MarleneError, match="expected a Parquet file"):
            read_parquet(path, labels=["is_a"])
