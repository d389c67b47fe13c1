"""JSON files are read as Python reads them, and what is no JSON is refused by line and column."""

import gzip
import json
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.streams import Feature, load, read_json
from marlene.streams.json_files import json_table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("json")


@pytest.fixture
def write(tmp_path):
    def write(content, name="mail.jsonl"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def cells(path):
    """Return the columns of a file as lists of Python objects."""
    table = json_table(path)
    found = {}
    for i, name in enumerate(table.names):
        column = table.column(i)
        if isinstance(column, np.ndarray):
            found[name] = [None if math.isnan(value) else value for value in column.tolist()]
        else:
            found[name] = [column.values[code] for code in column.codes]
    return found


def flat(record, above=""):
    found = {}
    for key, value in record.items():
        found |= flat(value, f"{above}{key}.") if isinstance(value, dict) else {f"{above}{key}": value}
    return found


def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, list | tuple) else as_float(value)


def as_float(value):
    try:
        return float(value) if isinstance(value, int | float) else value
    except OverflowError:
        return math.copysign(math.inf, value)


NUMBERS = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(-1e3, 1e3).map(lambda x: round(x, 3)),
)
TEXTS = st.one_of(st.text(max_size=8), st.text('\\"/{}[],:né\ud83d\x7f \t', max_size=8))
LEAVES = st.one_of(st.none(), NUMBERS, TEXTS, st.lists(st.one_of(TEXTS, NUMBERS), max_size=3))
KEYS = st.one_of(st.sampled_from("abc"), TEXTS.filter(lambda key: "." not in key))
RECORDS = st.lists(
    st.dictionaries(
        KEYS, st.recursive(LEAVES, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=4), max_size=4
    ),
    min_size=1,
    max_size=6,
)


@given(RECORDS, st.booleans(), st.sampled_from([None, 1]), st.booleans())
@example([{"a": None}, {"a": {"b": 1}}], True, None, False)
def test_as_python_reads_it(folder, records, ascii_only, indent, as_list):
    path = folder / "any.json"
    texts = [json.dumps(record, ensure_ascii=ascii_only, indent=indent) for record in records]
    whole = json.dumps(records, ensure_ascii=ascii_only, indent=indent) if as_list else "\n".join(texts)
    path.write_text(whole, encoding="utf-8", errors="surrogatepass")
    if any("\ud800" <= sign <= "\udfff" for sign in json.dumps(records, ensure_ascii=False)):  # half of a character
        with pytest.raises(MarleneError, match=r"any\.json, line \d+: expected a"):
            cells(path)
        return
    rows = [flat(record) for record in records]
    expected = {}
    for i, row in enumerate(rows):
        for key, value in row.items():
            expected.setdefault(key, [None] * len(rows))[i] = tuples(value)
    found = cells(path)
    for key, column in expected.items():
        if any(value is not None for value in column):
            assert [tuples(value) for value in found[key]] == column
    assert {key for key, column in found.items() if any(value is not None for value in column)} <= expected.keys()


DIGITS = st.from_regex(r"\A-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?\Z")


@given(st.lists(DIGITS, min_size=1, max_size=10))
@example(["9007199254740993", "9007199254740992.5", "1e23", "5e-324", "1e-400", "1e400", "-0", "-0.0"])
def test_numbers_are_rounded_as_python_rounds_them(folder, numbers):
    path = folder / "numbers.jsonl"
    path.write_text("".join(f'{{"a": {number}}}' for number in numbers))
    column = json_table(path).column(0)
    assert column.tobytes() == np.array([float(number) for number in numbers]).tobytes()


def test_a_small_file(write):
    text = '{"n": 1, "who": {"age": 30, "name": "Ann"}, "tags": ["a", "b"], "ok": true}\n\n'
    text += '{"n": null, "who": null, "tags": []}\r\n'
    stream = load(write(text), labels=["tags"])
    assert stream.name == "mail"
    assert stream.labels == ("a", "b")
    assert stream.features[:2] == (Feature("n", "binary"), Feature("who.age"))
    np.testing.assert_array_equal(stream.X, [[1, 30, 0, 1], [np.nan] * 4])
    assert stream.Y.tolist() == [[1, 1], [0, 0]]
    assert load(write(b"\xef\xbb\xbf" + text.encode(), "mail.json"), labels=["tags"]) == stream
    assert load(write(gzip.compress(text.encode()), "mail.jsonl.gz"), labels=["tags"]) == stream


def test_other_columns(write):
    stream = read_json(
        write('{"y": {"a": 1, "b": 0}, "c": "1", "n": NaN}\n{"y": {"a": 0}, "c": 2}'), labels="y.*", name="z"
    )
    assert (stream.name, stream.labels, stream.Y.tolist()) == ("z", ("y.a", "y.b"), [[1, 0], [0, -1]])
    np.testing.assert_array_equal(stream.X, [[1, np.nan], [2, np.nan]])


def test_bags_of_words(write):
    rng = np.random.default_rng(1)
    counts = rng.poisson(0.05, (40, 60))
    bags = [{f"w{j}": int(n) for j, n in enumerate(row) if n} for row in counts]
    records = [{"id": i, "words": bag, "y": i % 2} for i, bag in enumerate(bags)]
    path = write("\n".join(map(json.dumps, records)))
    with pytest.warns(UserWarning, match=r"'words\.w\d+' and \d+ other rare numbers as a bag \(absent is 0\)"):
        stream = load(path, labels=["y"])
    assert isinstance(stream.X, sp.csr_array)
    names = [feature.name for feature in stream.features]
    there = counts[:, [int(name.removeprefix("words.w")) for name in names[1:]]]
    np.testing.assert_array_equal(stream.X.toarray(), np.column_stack([np.arange(40), there]))
    assert {f.kind for f in stream.features[1:]} == {"numeric", "binary"}
    with pytest.warns(UserWarning, match="as a bag"):
        assert load(records, labels=["y"], name="mail") == stream
    assert load(path, labels=["y"], kinds={"words.*": "bag"}) == stream
    pairs = [(record["words"] | {"z": 1}, {"y": bool(record["y"])}) for record in records]
    with pytest.warns(UserWarning, match="as a bag"):
        assert load(pairs).X.nnz == stream.X.nnz + 1
    missing = load(path, labels=["y"], kinds={"words.*": "numeric"})
    assert np.isnan(missing.X).any()


def test_a_bag_that_is_told(write):
    stream = load(write('{"a": {"x": 2, "z": null}, "y": 1}\n{"a": {}, "y": 0}\n'), labels="y", kinds={"a.*": "bag"})
    np.testing.assert_array_equal(stream.X.toarray(), [[2, np.nan], [0, 0]])
    with pytest.raises(MarleneError, match=r"expected a number, found 'no'"):
        load(write('{"a": "no", "y": 1}'), labels="y", kinds={"a": "bag"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected objects, found an empty file"),
        ("[]", "expected objects, found an empty file"),
        ("\n \n", "expected objects, found an empty file"),
        ('{"a": 1}\n{"a": 01}', r"line 2, column 7: expected JSON objects.*found '01}'"),
        ('{"a": 1}\n{"a": 1.}', "line 2, column 7"),
        ('{"a": 1}\n{"a": .5}', "line 2, column 7"),
        ('{"a": 1}\n{"a": tru}', "line 2, column 7"),
        ('{"a": 1}\n{"a" 1}', "line 2, column 6"),
        ('{"a": 1}\n{"a": 1,}', "line 2, column 9"),
        ('{"a": 1}\n{"a": 1', "line 2, column 8: .*the file ends"),
        ('{"a": 1}\n{"a": "1}\n', "line 2, column 7"),
        ('{"a": 1}\n{"a": [1\n', "line 2, column 7"),
        ('{"a": 1}\n[1]\n', "line 2, column 1"),
        ('{"a": 1}\n3\n', "line 2, column 1"),
        ('[{"a": 1}, 3]', "line 1, column 12"),
        ('[{"a": 1}, ]', "line 1, column 12"),
        ('[{"a": 1}', "line 1"),
        ('[{"a": 1}] 1', "line 1, column 12"),
        ('[{"a": 1} {"a": 2}]', "line 1"),
        ('{"a": 1, "b": 2, "a": 3}', "line 1, column 19: the key 'a' is there twice"),
        ('{"a":' * 70 + "1" + "}" * 70, "more than 64 objects in one another"),
    ],
)  # fmt: skip
def test_what_is_no_json(write, content, message):
    path = write(content)
    with pytest.raises(MarleneError, match=message) as caught:
        json_table(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b'"\xff"', "line 2: expected a string in UTF-8"),
        (rb'"\x"', "line 2: expected a string in UTF-8"),
        (b"[1,]", "line 2: expected a list in JSON"),
        (b"1e999", "line 2, column 'a': the value is infinite"),
        (b"[1, 2]", "line 2, column 'a': .*of type list"),
        (b'[{"b": 1}]', "line 2, column 'a': .*of type list"),
        (b'1, "y": 2', "line 2, label 'y': expected 0 or 1"),
    ],
)
def test_cells_that_are_refused(write, value, message):
    truth = b"" if b'"y"' in value else b', "y": 1'
    path = write(b'{"a": 1, "y": 1}\n{"a": ' + value + truth + b"}\n")
    with pytest.raises(MarleneError, match=message) as caught:
        read_json(path, labels="y")
    assert str(caught.value).startswith(str(path))


JSON_SIGNS = st.text(st.sampled_from('{}[]",:\\ \n0123e.-+tfnulrasE'), max_size=60).map(str.encode)


@given(
    st.one_of(st.binary(max_size=200), JSON_SIGNS, RECORDS.map(lambda r: json.dumps(r).encode())),
    st.integers(0, 300),
    st.sampled_from([1, -1, "a", "*"]),
)
@example(b"{", 0, 1)
@example(b'{"a":-', 0, 1)
@example(b'{"":0}', 9, 1)
def test_any_bytes_are_a_stream_or_a_marlene_error(folder, content, cut, labels):
    path = folder / "fuzz.jsonl"
    path.write_bytes(content[: len(content) - cut] if cut < 100 else content)
    try:
        stream = read_json(path, labels=labels)
    except MarleneError as error:
        assert "fuzz" in str(error)  # noqa: PT017 (an error is allowed, not demanded)
    else:
        assert len(stream) > 0
