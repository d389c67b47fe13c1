"""Whatever is written is read back; whatever is broken is refused in one way; nothing takes much memory."""

import bz2
import gzip
import lzma
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marlene
from marlene._common.errors import MarleneError
from marlene.streams import Stream
from marlene.streams._matrix import dense
from marlene.streams.arff import read_arff

PACK = {"": bytes, ".bz2": bz2.compress, ".gz": gzip.compress, ".xz": lzma.compress}
LABEL_TYPES = [("0", "1"), ("1", "0"), ("false", "TRUE"), ("Yes", "no"), None]
POSITIVE = {"1", "true", "yes"}

texts = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("'\"\\%,{}? \t\n\r@0")), max_size=8)
numbers = st.one_of(st.sampled_from([0.0, 1.0]), st.integers(-99, 99), st.floats(allow_nan=False, allow_infinity=False))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("arff")


class Writer:
    """Writes ARFF in every way that is allowed."""

    def __init__(self, draw):
        self.draw = draw

    def one_of(self, *choices):
        return self.draw(st.sampled_from(choices))

    def word(self, text):
        styles = ["'", '"']
        if text != "?" and re.fullmatch(rb"[^\s,'\"%{}]+", text.encode()):
            styles.append("")
        quote = self.one_of(*styles)
        if not quote:
            return text
        inner = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace(quote, "\\" + quote)
        return quote + inner + quote

    def value(self, cell, values):
        if cell is None:
            return "?"
        return self.word(values[cell]) if values else repr(cell)

    def comment(self):
        return self.one_of("", "", " % 'x, {y}", "%")

    def comma(self):
        return self.one_of(",", ",", " , ", " ", "\t")

    def declaration(self, name, values):
        kind = self.one_of("numeric", "REAL", "Integer")
        if values:
            kind = "{" + "".join(self.word(value) + self.comma() for value in values[:-1]) + self.word(values[-1]) + "}"
        return f"{self.one_of('@attribute', '@ATTRIBUTE ')} {self.word(name)} {kind}{self.comment()}"

    def dense(self, cells, columns):
        first, *rest = (self.value(cell, values) for cell, (_, values) in zip(cells, columns, strict=True))
        return first + "".join(self.comma() + word for word in rest) + self.comment()

    def sparse(self, cells, columns):
        given = [i for i, cell in enumerate(cells) if cell != 0 or self.one_of(True, False)]
        entries = [f"{i} {self.value(cells[i], columns[i][1])}" for i in self.draw(st.permutations(given))]
        body = entries[0] + "".join(self.comma() + entry for entry in entries[1:]) if entries else ""
        return "{" + self.one_of("", " ") + body + self.one_of("", " ") + "}" + self.comment()


@st.composite
def tables(draw):
    """Draw columns (name, values or None), rows of cells (a number, the index of a value, or None), and the labels."""
    names = draw(st.lists(texts, min_size=1, max_size=6, unique=True))
    count = draw(st.integers(1, len(names)))
    inputs = st.one_of(st.none(), st.lists(texts, min_size=1, max_size=4, unique=True), st.just(["0", "1"]))
    types = [draw(st.sampled_from(LABEL_TYPES) if i < count else inputs) for i in range(len(names))]
    cells = [
        st.one_of(
            st.none(), st.integers(0, len(values) - 1) if values else st.sampled_from([0, 1]) if i < count else numbers
        )
        for i, values in enumerate(types)
    ]
    rows = draw(st.lists(st.tuples(*cells), min_size=1, max_size=5))
    return list(zip(names, types, strict=True)), rows, count


def expected(columns, rows, count):
    X = np.array([[np.nan if cell is None else cell for cell in row[count:]] for row in rows], dtype=float)
    Y = [
        [
            -1 if cell is None else int(values[cell].lower() in POSITIVE) if values else cell
            for cell, (_, values) in zip(row[:count], columns[:count], strict=True)
        ]
        for row in rows
    ]
    kinds = []
    for i, (_, values) in enumerate(columns[count:]):
        column = X[:, i]
        by_value = "binary" if set(column[~np.isnan(column)]) <= {0, 1} else "numeric"
        kinds.append("binary" if values == ["0", "1"] else "nominal" if values else by_value)
    return X.reshape(len(rows), -1), Y, kinds


@settings(max_examples=300)
@given(tables(), st.data())
def test_what_is_written_is_read_back(folder, table, data):
    columns, rows, count = table
    X, Y, kinds = expected(columns, rows, count)
    writer = Writer(data.draw)
    last = data.draw(st.booleans())
    named = data.draw(st.booleans())
    turned = (lambda items: [*items[count:], *items[:count]]) if last else list
    columns, rows = turned(columns), [turned(row) for row in rows]
    relation = "relation" if named else f"relation: -C {-count if last else count}"
    dense_rows = [data.draw(st.booleans()) for _ in rows]
    lines = [
        f"@relation {writer.word(relation)}{writer.comment()}",
        *(writer.declaration(*column) for column in columns),
        "@data" + writer.comment(),
        *((writer.dense if flat else writer.sparse)(row, columns) for flat, row in zip(dense_rows, rows, strict=True)),
    ]
    end = writer.one_of("\n", "\r\n", "\r")
    spaced = [extra + line for line in lines for extra in [writer.one_of("", "", end, f"  % {end}")]]
    suffix = writer.one_of(*PACK)
    path = folder / f"written.arff{suffix}"
    text = writer.one_of("", "\ufeff") + end.join(spaced) + writer.one_of("", end)
    path.write_bytes(PACK[suffix](text.encode()))
    names = [name for name, _ in columns]
    labels = names[len(names) - count :] if last else names[:count]

    stream = read_arff(path, labels=labels if named else None)

    assert isinstance(stream.X, np.ndarray) == all(dense_rows)
    np.testing.assert_array_equal(dense(stream.X), X)
    assert stream.Y.tolist() == Y
    assert list(stream.labels) == labels
    assert [feature.name for feature in stream.features] == [name for name in names if name not in labels]
    assert [feature.kind for feature in stream.features] == kinds
    values = [values for name, values in columns if name not in labels]
    assert [list(f.values) for f in stream.features] == [
        v if kind == "nominal" else [] for v, kind in zip(values, kinds, strict=True)
    ]


VALID = textwrap.dedent("""\
    % a file with a bit of everything
    @relation 'all: -C 2' % two labels
    @attribute 'y 1' {0,1}
    @attribute y2 {1,0}
    @attribute a numeric
    @attribute "b\\"c" {'p, q', r, 'é'}
    @attribute d {0,1}
    @data
    1,0,2.5,'p, q',0
    ?,1, -1e3 ,?,1 % the end
    {0 1,2 3.25}
    { 4 1, 1 0 , 3 "\\u00e9" }
    {}
    """).encode()
pieces = st.one_of(
    st.binary(max_size=6),
    texts.map(str.encode),
    st.sampled_from([b"'", b'"', b"\\", b"{", b"}", b",", b"%", b"?", b"\n", b"\r", b"\0", b"-C ", b"nan", b"9" * 30]),
)


def stream_or_refusal(path):
    try:
        stream = read_arff(path)
    except MarleneError as error:
        said = str(error)
    else:
        assert isinstance(stream, Stream)
        return stream
    assert said.startswith(str(path))
    return None


@st.composite
def broken(draw, whole):
    text = whole
    for _ in range(draw(st.integers(1, 3))):
        start, stop = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        how = draw(st.sampled_from(["cut", "replace", "insert", "swap"]))
        if how == "cut":
            text = text[:start]
        elif how == "replace":
            text = text[:start] + draw(pieces) + text[start + draw(st.integers(0, 6)) :]
        elif how == "insert":
            text = text[:start] + draw(pieces) + text[start:]
        else:
            middle = (start + stop) // 2
            text = text[:start] + text[middle:stop] + text[start:middle] + text[stop:]
    return text


@settings(max_examples=1000)
@given(broken(VALID))
def test_a_broken_file_is_read_or_refused(folder, text):
    path = folder / "broken.arff"
    path.write_bytes(text)
    stream_or_refusal(path)


@given(st.one_of(st.binary(max_size=200), st.lists(pieces, max_size=40).map(b"".join)))
def test_any_bytes_are_read_or_refused(folder, text):
    path = folder / "bytes.arff"
    path.write_bytes(text)
    stream_or_refusal(path)
    path.write_bytes(VALID + text)
    stream_or_refusal(path)


def test_a_cut_file_is_refused_or_has_only_whole_rows(folder):
    path = folder / "cut.arff"
    path.write_bytes(VALID)
    whole = dense(read_arff(path).X)
    for size in range(len(VALID)):
        path.write_bytes(VALID[:size])
        stream = stream_or_refusal(path)
        if stream is not None:
            rows = VALID[:size].split(b"@data\n")[1].split(b"\n")
            assert len(stream) == sum(1 for row in rows if row)
            np.testing.assert_array_equal(dense(stream.X)[:-1], whole[: len(stream) - 1])


@pytest.mark.parametrize("suffix", [".bz2", ".gz", ".xz"])
@given(data=st.data())
def test_a_broken_compressed_file_is_read_or_refused(folder, suffix, data):
    packed = PACK[suffix](VALID * 3)
    path = folder / f"broken.arff{suffix}"
    path.write_bytes(data.draw(broken(packed)))
    stream_or_refusal(path)


@pytest.mark.parametrize("suffix", [".bz2", ".gz", ".xz"])
def test_a_cut_compressed_file_is_always_refused(folder, suffix):
    packed = PACK[suffix](VALID)
    path = folder / f"cut.arff{suffix}"
    for size in range(len(packed)):
        path.write_bytes(packed[:size])
        assert stream_or_refusal(path) is None


# The peak of this program alone: ru_maxrss may be that of the process which started it.
PEAK = """
import re, sys
from marlene.streams.arff import read_arff
def peak():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s*(\\d+)", status.read())[1]) / 1024
before = peak()
try:
    said = repr(read_arff(sys.argv[1]))
except ValueError as error:
    said = str(error)
print(peak() - before)
print(said)
"""
MEGABYTES = 100
HEAD = b"@relation 'r: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@attribute b {p,'q r'}\n@data\n"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
@pytest.mark.parametrize(
    ("start", "repeated", "end", "said"),
    [
        (HEAD, b"0,", b"", "line 6: expected 3 values, found more"),
        (HEAD, b"0,", "😀".encode(), "line 6: expected 3 values, found more"),
        (HEAD + b"{", b"1 1,", b"}", "line 6: expected at most 3 values"),
        (HEAD + b"0,1,'", b"\\a", b"", "line 6: expected a closing quote"),
        (HEAD + b"0,", b"1", b",p", "line 6: expected a word of at most"),
        (HEAD + b"{", b"1", b" 1}", "line 6: expected a word of at most"),
        (HEAD + b"0,1,p %", b"c", "é".encode(), "1 examples"),
        (b"@relation r\n@attribute '", b"n", b"' numeric\n", "line 2: expected a word of at most"),
        (b"@relation r\n@attribute a {", b"", b"}\n", "line 2: attribute 'a' has more than 1000000 values"),
    ],
    ids=["dense", "dense wide", "sparse", "quoted", "number", "index", "comment", "name", "values"],
)
def test_the_memory_of_a_long_line(tmp_path, start, repeated, end, said):
    path = tmp_path / "long.arff"
    with path.open("wb") as file:
        file.write(start)
        for block in range(MEGABYTES):
            file.write(repeated * (10**6 // len(repeated)) if repeated else _different_values(block))
        file.write(end)
    megabytes, message = _peak(path)
    assert said in message
    assert megabytes < 3.5 * MEGABYTES


def _different_values(block):
    return b"".join(b"v%08d," % value for value in range(block * 10**5, (block + 1) * 10**5))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of memory is read from /proc")
def test_the_memory_of_a_decompression_bomb(tmp_path):
    path = tmp_path / "bomb.arff.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(HEAD + b"1,2,p\n")
        for _ in range(MEGABYTES):
            file.write(b"%" * 499_999 + b"\n" + b" " * 500_000)
    megabytes, message = _peak(path)
    assert "1 examples" in message
    assert megabytes < 10


def _peak(path):
    """Read a file in a process of its own and return the megabytes this took, and what came of it."""
    environment = {**os.environ, "PYTHONPATH": str(Path(marlene.__file__).parents[1])}
    command = [sys.executable, "-c", PEAK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    megabytes, message = done.stdout.split("\n", 1)
    return float(megabytes), message
