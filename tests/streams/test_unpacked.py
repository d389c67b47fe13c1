"""A small file may unpack to more than there is memory."""

import bz2
import gzip
import lzma

import pytest

from marlene._common.errors import MarleneError
from marlene.streams import _lines, load

MB = 1_000_000


def as_zst(text):
    return pytest.importorskip("zstandard").compress(text)


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": as_zst}
TEXTS = {
    "json": b'[{"a": "' + b"x" * 4 * MB + b'", "is_a": 1}]',
    "jsonl": b'{"a": "' + b"x" * 4 * MB + b'", "is_a": 1}',
    "csv": b"a,is_a\n" + b"x" * 4 * MB + b",1\n",
    "svm": b"1 1:1\n" + b" " * 4 * MB + b"\n",
    "arff": b"@relation 'r: -C 1'\n@attribute is_a {0,1}\n@attribute t string\n@data\n1," + b"x" * 4 * MB + b"\n",
}


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("lazy", [False, True])
def test_a_small_file_that_would_fill_the_memory(tmp_path, monkeypatch, kind, suffix, lazy):
    path = tmp_path / f"table.{kind}{suffix}"
    path.write_bytes(PACKERS[suffix](TEXTS[kind]))
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(_lines, "LOOK", MB // 2)
    monkeypatch.setattr(_lines, "PACKED_BLOCK", 16)
    monkeypatch.setattr(_lines, "free_memory_mb", lambda: 2.0)
    with pytest.raises(MarleneError, match=r"cannot be read \(more than [234] MB at once, and as much memory is not"):
        list(load(path, **({} if kind in ("svm", "arff") else {"labels": "is_*"}), lazy=lazy))


@pytest.mark.parametrize("suffix", PACKERS)
def test_long_text_of_short_lines_is_read(tmp_path, monkeypatch, suffix):
    path, rows = tmp_path / f"table.csv{suffix}", 4000
    path.write_bytes(PACKERS[suffix](b"a,is_a\n" + b"".join(b"%d,1\n" % (i % 9) for i in range(rows))))
    monkeypatch.setattr(_lines, "LOOK", 1000)
    monkeypatch.setattr(_lines, "BLOCK", 2000)
    monkeypatch.setattr(_lines, "PACKED_BLOCK", 7)
    monkeypatch.setattr(_lines, "free_memory_mb", lambda: 0.01)
    assert len(load(path, labels="is_*")) == rows
