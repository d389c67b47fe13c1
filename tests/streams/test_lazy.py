"""Streams that are read part by part: the same examples as in memory, from every format."""

import csv
import gzip
import io
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.streams import LazyStream, load
from marlene.streams._lines import text_parts, whole_text
from marlene.streams._matrix import dense
from marlene.streams.lazy import _open
from tests.streams.tickets import CHOICES, SEPARATOR, tickets, write_csv, write_json, write_jsonl


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(_open, "PART_BYTES", 3000)


def table(rows=400, seed=1):
    rng = np.random.default_rng(seed)
    names = ["size", "flag", "colour", "is_a", "is_b"]
    cells = [
        [f"{x:.3g}", int(x > 0.3), ["red", "green", "blue"][int(rng.integers(3))], int(x > 0), int(rng.random() < 0.2)]
        for x in rng.normal(size=rows)
    ]
    return names, cells


def write_table(path, names, cells):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([names, *cells])
    return path


def parquet(path, names, cells):
    polars = pytest.importorskip("polars")
    columns = list(zip(*cells, strict=True))
    frame = polars.DataFrame({name: list(column) for name, column in zip(names, columns, strict=True)})
    frame.with_columns(polars.col("size").cast(polars.Float64)).write_parquet(path)
    return path


def jsonl(path, names, cells):
    rows = ([float(row[0]), *row[1:]] for row in cells)
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows), encoding="utf-8")
    return path


def arff(path, names, cells):
    assert names[2] == "colour"
    header = "@relation r\n@attribute size numeric\n@attribute flag numeric\n@attribute colour {red,green,blue}\n"
    header += "@attribute is_a {0,1}\n@attribute is_b {0,1}\n@data\n"
    path.write_text(header + "".join(",".join(map(str, row)) + "\n" for row in cells), encoding="utf-8")
    return path


def assert_same(lazy, stream, several=True):
    """Both have the same examples; a part may know fewer features than the whole stream."""
    parts = list(lazy.parts())
    assert len(parts) > 1 or not several
    assert sum(map(len, parts)) == len(stream)
    assert set(parts[-1].features) == set(stream.features)
    begin = 0
    for part in parts:
        rows = slice(begin, begin + len(part))
        begin += len(part)
        place = {feature.name: i for i, feature in enumerate(stream.features)}
        known = [place[feature.name] for feature in part.features]
        assert np.array_equal(dense(part.X), dense(stream.X)[rows][:, known], equal_nan=True)
        later = np.delete(dense(stream.X)[rows], known, axis=1)
        assert not np.nan_to_num(later).any()
        assert np.array_equal(part.Y, stream.Y[rows][:, [stream.labels.index(label) for label in part.labels]])


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("suffix", "write"), [("csv", write_table), ("jsonl", jsonl), ("parquet", parquet), ("arff", arff)]
)
def test_same_examples_as_in_memory(tmp_path, suffix, write):
    path = write(tmp_path / f"t.{suffix}", *table())
    assert_same(load(path, labels="is_*", lazy=True), load(path, labels="is_*"))


def test_one_part_is_the_stream_itself(tmp_path):
    path = write_table(tmp_path / "t.csv", *table())
    (part,) = load(path, labels="is_*", lazy=True).parts()
    assert part == load(path, labels="is_*")


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(("suffix", "write"), [("csv", write_csv), ("jsonl", write_jsonl)])
def test_tickets_with_texts_dates_and_lists(tmp_path, suffix, write):
    path = tmp_path / f"t.{suffix}"
    write(path, tickets(400))
    choices = CHOICES | ({"separator": SEPARATOR} if suffix == "csv" else {})
    lazy, stream = load(path, **choices, lazy=True), load(path, **choices)
    assert_same(lazy, stream)
    clock = np.concatenate([part.clock for part in lazy.parts()])
    assert np.array_equal(clock, stream.clock, equal_nan=True)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("features", ["auto", "numeric", "binary"])
def test_svmlight(tmp_path, features):
    rng = np.random.default_rng(1)
    lines = []
    for _ in range(300):
        columns = sorted({1, *rng.integers(1, 40, 5).tolist()})
        labels = ",".join(map(str, sorted({*rng.integers(0, 5, 2).tolist()})))
        lines.append(f"{labels} " + " ".join(f"{c}:{rng.normal():.3g}" for c in columns) + "\n")
    path = tmp_path / "t.svm"
    path.write_text("# first\n" + "".join(lines), encoding="utf-8")
    assert_same(load(path, features=features, lazy=True), load(path, features=features))


@pytest.mark.usefixtures("small_parts")
def test_svmlight_with_header_and_two_classes(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("900 4 3\n" + "0,2 0:1 3:1\n1 2:1\n" * 450, encoding="utf-8")
    assert_same(load(path, lazy=True), load(path))
    path.write_text("901 4 3\n" + "0,2 0:1 3:1\n1 2:1\n" * 450, encoding="utf-8")
    with pytest.raises(MarleneError, match=r"line 1: the header says 901 examples, found 900"):
        list(load(path, lazy=True).parts())
    path.write_text("-1 1:1\n1 2:1\n" * 900, encoding="utf-8")
    assert_same(load(path, lazy=True), load(path))
    path.write_text("-1 1:1\n1 2:1\n" * 900 + "2 1:1\n", encoding="utf-8")
    with pytest.raises(MarleneError, match=r"line 1801: label 2, but the labels were -1 and 1 before"):
        list(load(path, lazy=True).parts())


@pytest.mark.usefixtures("small_parts")
def test_sparse_arff_with_texts(tmp_path):
    header = "@relation 'r: -C 1'\n@attribute y {0,1}\n@attribute n numeric\n@attribute b {1,0}\n"
    header += "@attribute s string\n@data\n"
    rows = [f"{{0 {i % 2}, 1 {i}.5, 2 {i % 3 % 2}, 3 'word{i % 50} and more'}}\n" for i in range(300)]
    path = tmp_path / "t.arff"
    path.write_text(header + "".join(rows), encoding="utf-8")
    choices = {"kinds": {"s": "text"}}
    assert_same(load(path, **choices, lazy=True), load(path, **choices))
    assert_same(load(path, drop="s", lazy=True), load(path, drop="s"))


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed(tmp_path, suffix):
    path = write_table(tmp_path / "t.csv", *table())
    packed = path.with_name(f"t.csv{suffix}")
    if suffix == ".gz":
        packed.write_bytes(gzip.compress(path.read_bytes()))
    else:
        packed.write_bytes(pytest.importorskip("zstandard").compress(path.read_bytes()))
    assert_same(load(packed, labels="is_*", lazy=True), load(path, labels="is_*"))


class Standard:
    def __init__(self, data):
        self.buffer = io.BufferedReader(io.BytesIO(data))


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(("suffix", "write"), [("csv", write_table), ("jsonl", jsonl), ("arff", arff)])
def test_standard_input(tmp_path, monkeypatch, suffix, write, pack):
    path = write(tmp_path / f"t.{suffix}", *table())
    monkeypatch.setattr(sys, "stdin", Standard(pack(path.read_bytes())))
    lazy = load("-", labels="is_*", lazy=True)
    assert lazy.name == "standard input"
    assert lazy.total is None
    assert_same(lazy, load(path, labels="is_*"))
    with pytest.raises(MarleneError, match="only once"):
        list(lazy.parts())


def test_standard_input_needs_lazy():
    with pytest.raises(MarleneError, match="with lazy=True"):
        load("-", labels=1)


@pytest.mark.usefixtures("small_parts")
def test_face(tmp_path):
    path = write_table(tmp_path / "t.csv", *table())
    lazy, stream = load(path, labels="is_*", lazy=True), load(path, labels="is_*")
    assert isinstance(lazy, LazyStream)
    assert (lazy.features, lazy.labels, lazy.name) == (stream.features, stream.labels, stream.name)
    assert repr(lazy) == "<LazyStream t: 3 features and 2 labels so far>"
    assert list(lazy) == list(stream)
    blocks = list(lazy.blocks(7))
    assert max(len(Y) for _, Y in blocks) == 7
    assert np.array_equal(np.concatenate([Y for _, Y in blocks]), stream.Y)
    assert lazy.total == 400
    first = lazy.head(250)
    assert list(first) == list(stream.head(250))
    assert list(first.head(10)) == list(stream.head(10))
    assert list(lazy) == list(stream)
    assert list(load(path, labels="is_*", limit=150, lazy=True)) == list(stream.head(150))


@pytest.mark.usefixtures("small_parts")
def test_new_values_labels_and_columns(tmp_path):
    records = [{"n": i, "c": f"v{i // 100}", "tags": [f"t{i // 90}"]} for i in range(300)]
    for i in range(200, 300):
        records[i]["late"] = i / 2
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    lazy = load(path, labels="tags", kinds={"c": "nominal"}, lazy=True)
    assert lazy.labels == ("t0",)
    stream = load(path, labels="tags", kinds={"c": "nominal"})
    parts = list(lazy.parts())
    assert parts[-1].labels == ("t0", "t1", "t2", "t3") == stream.labels
    assert [feature.name for feature in parts[-1].features] == ["n", "c", "late"]
    assert parts[-1].features[1].values == ("v0", "v1", "v2")
    assert [x for part in parts for x, _ in part] == [x for x, _ in stream]


@pytest.mark.usefixtures("small_parts")
def test_new_words_of_a_bag(tmp_path):
    records = [{"words": {f"w{(i + j * 7) % (60 + i // 3)}": 1 + j for j in range(4)}, "y": i % 2} for i in range(300)]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    choices = {"labels": "y", "kinds": {"words.*": "bag"}}
    lazy, stream = load(path, **choices, lazy=True), load(path, **choices)
    parts = list(lazy.parts())
    assert len(parts[0].features) < len(parts[-1].features)
    assert {f.name for f in parts[-1].features} == {f.name for f in stream.features}
    assert {f.kind for f in parts[-1].features} == {"numeric"}
    values = [{k: v for k, v in x.items() if v} for part in parts for x, _ in part]
    assert values == [{k: float(v) for k, v in x.items() if v} for x, _ in stream]


def refused_after(garbage, path, message):
    """Check that a file is refused while it is read, once garbage follows its rows."""
    with path.open("a", encoding="utf-8") as file:
        file.write(garbage + "\n")
    lazy = load(path, labels="is_*", lazy=True)
    with pytest.raises(MarleneError, match=message):
        list(lazy.parts())


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("garbage", "message"),
    [
        (
            "abc,1,red,1,0",
            r"t.csv, line 402, column 'size': expected a number, found 'abc'; the column began as numeric",
        ),
        ("1,7,red,1,0", r"line 402, column 'flag': expected 0 or 1, found 7; .*kinds=\{'flag': 'numeric'\}"),
        ("1,1,red,2,0", r"line 402, label 'is_a': expected 0 or 1"),
        ("1,1,red", r"line 402: expected 5 cells, found 3"),
        ("inf,1,red,1,0", r"line 402, column 'size': the value is infinite"),
        ('1,1,"red,1,0', r"line 402: expected cells with closed quotes"),
    ],
)
def test_garbage_after_many_rows(tmp_path, garbage, message):
    refused_after(garbage, write_table(tmp_path / "t.csv", *table()), message)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("suffix", "garbage", "message"),
    [
        ("jsonl", '{"size": 1, "fl', r"t.jsonl, line 401, column \d+: expected JSON objects"),
        ("jsonl", '{"size": "a", "is_a": 1}', r"line 401, column 'size': expected a number, found 'a'"),
        ("arff", "1,2,red,1,0", r"line 408, attribute 'flag': expected 0 or 1, found 2; .*kinds"),
        ("arff", "1,1,pink,1,0", r"line 408: attribute 'colour': expected one of"),
    ],
)
def test_garbage_in_other_formats(tmp_path, suffix, garbage, message):
    path = {"jsonl": jsonl, "arff": arff}[suffix](tmp_path / f"t.{suffix}", *table())
    refused_after(garbage, path, message)


@pytest.mark.usefixtures("small_parts")
def test_garbage_in_svmlight(tmp_path):
    path = tmp_path / "t.svm"
    for line, message in (
        ("1 7:x", r"line 2001: expected a number, found 'x'"),
        ("1 1:0.5", r"line 2001: expected the value 1, as in the first examples, found 0.5"),
        ("1 0:1", r"line 2001: feature 0, but the first feature is 1; first_feature=0"),
        ("1 3:1 3:1", r"line 2001: feature 3 is there twice"),
    ):
        path.write_text("1 3:1\n" * 2000 + line + "\n", encoding="utf-8")
        with pytest.raises(MarleneError, match=message):
            list(load(path, lazy=True).parts())


@pytest.mark.usefixtures("small_parts")
def test_a_nominal_column_that_becomes_an_identifier(tmp_path):
    cells = [["same" if i < 500 else f"id{i}", i % 2] for i in range(3000)]
    path = write_table(tmp_path / "t.csv", ["who", "y"], cells)
    with pytest.raises(MarleneError, match=r"column 'who' has .* and looks like an identifier"):
        list(load(path, labels="y", lazy=True).parts())
    told = load(path, labels="y", kinds={"who": "nominal"}, lazy=True)
    assert list(told)[-1] == ({"who": "id2999"}, {"y": True})


def test_an_empty_parquet_file(tmp_path):
    polars = pytest.importorskip("polars")
    polars.DataFrame({"a": [], "y": []}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(MarleneError, match="the stream is empty"):
        load(tmp_path / "t.parquet", labels="y", lazy=True)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r\n", b"\xef\xbb\xbf"]), max_size=40), st.integers(1, 12))
def test_parts_of_a_text(tmp_path_factory, pieces, size):
    """Parts are whole lines, together they are the text, and none is longer than it must be."""
    path = tmp_path_factory.mktemp("lazy") / "t.txt"
    path.write_bytes(b"".join(pieces))
    parts = list(text_parts(path, size))
    assert b"".join(parts) == whole_text(path)
    assert all(part.endswith(b"\n") for part in parts[:-1])
    assert all(len(part) <= size or part.count(b"\n") == 1 or not part.endswith(b"\n") for part in parts[:-1])


def test_refused(tmp_path):
    write_json(tmp_path / "t.json", tickets(10))
    with pytest.raises(MarleneError, match="found a list, which cannot be read lazily"):
        load(tmp_path / "t.json", labels="tags", lazy=True)
    with pytest.raises(MarleneError, match="lazy=True is for files, not for list"):
        load([{"a": 1}], labels="a", lazy=True)
    path = tmp_path / "empty.csv"
    path.write_text("", encoding="utf-8")
    with pytest.raises(MarleneError, match="empty file"):
        load(path, labels=1, lazy=True)
    with pytest.raises(MarleneError, match="say which columns are labels"):
        load(path, lazy=True)
    assert load("yeast", limit=10, lazy=True) == load("yeast", limit=10)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text(alphabet='a1.,"\n é', max_size=6), min_size=1, max_size=30),
    st.integers(1, 60),
)
def test_any_cells_in_parts_of_any_size(tmp_path_factory, cells, size):
    """However a file is cut, its cells are the same."""
    path = tmp_path_factory.mktemp("lazy") / "t.csv"
    write_table(path, ["text", "y"], [[cell, i % 2] for i, cell in enumerate(cells)])
    choices = {"labels": "y", "kinds": {"text": "nominal"}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_open, "PART_BYTES", size)
        lazy = list(load(path, **choices, lazy=True))
    assert lazy == list(load(path, **choices))


def test_memory_does_not_grow(tmp_path):
    """The peak of a process that reads a file of 40 MB is about that of one that reads 10 MB."""
    names, cells = table(2000)
    text = "".join(",".join(map(str, row)) + "\n" for row in cells)
    peaks = []
    for times in (10_000_000, 40_000_000):
        path = tmp_path / "large.csv"
        path.write_text(",".join(names) + "\n" + text * (times // len(text)), encoding="utf-8")
        program = (
            "import sys; from marlene._common.resources import memory_mb; from marlene.streams import load\n"
            "rows = sum(len(part) for part in load(sys.argv[1], labels='is_*', lazy=True).parts())\n"
            "print(rows, memory_mb(peak=True))"
        )
        printed = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
        rows, peak = printed.stdout.split()
        assert int(rows) == 2000 * (times // len(text))
        peaks.append(float(peak))
    assert peaks[1] < peaks[0] + 20
