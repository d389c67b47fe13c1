"""Tables of all sources become the same streams, and what is no table is refused by name and line."""

import bz2
import csv
import gzip
import lzma

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.streams import Feature, from_frame, from_river, read_csv, read_parquet
from marlene.streams import tables as tables_module

MAIL = "length,colour,spam,urgent\n12.5,red,1,0\n?,blue,0,1\n7,red,,1\n"


@pytest.fixture
def write(tmp_path):
    def write(content, name="mail.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def kinds(stream):
    return [feature.kind for feature in stream.features]


class TestCsv:
    def test_a_small_table(self, write):
        stream = read_csv(write(MAIL), labels=["spam", "urgent"])
        assert stream.name == "mail"
        assert stream.features == (Feature("length"), Feature("colour", "nominal", ("red", "blue")))
        np.testing.assert_array_equal(stream.X, [[12.5, 0], [np.nan, 1], [7, 0]])
        assert stream.Y.tolist() == [[1, 0], [0, 1], [-1, 1]]
        assert stream.X.flags.c_contiguous

    @pytest.mark.parametrize(
        ("suffix", "pack"), [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
    )
    def test_compression(self, write, suffix, pack):
        stream = read_csv(write(pack(MAIL.encode()), "mail.csv" + suffix), labels=-2)
        assert (stream.name, len(stream)) == ("mail", 3)

    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_dialects(self, write, delimiter, end):
        text = "\ufeff" + MAIL.replace(",", delimiter).replace("\n", end)
        assert read_csv(write(text), labels=-2) == read_csv(write(MAIL, "plain.csv"), labels=-2, name="mail")

    def test_commas_within_cells_do_not_fool_the_guess(self, write):
        stream = read_csv(write("note;spam\nhello, you;1\nwell, well, well;0\n"), labels=["spam"])
        assert stream.features[0].values == ("hello, you", "well, well, well")

    def test_a_given_delimiter_is_taken(self, write):
        assert read_csv(write("a|b\n1|0\n"), labels=["b"], delimiter="|").X.tolist() == [[1]]
        with pytest.raises(MarleneError, match="single character, not '::'"):
            read_csv(write("a::b\n1::0\n"), labels=["b"], delimiter="::")

    def test_quoted_cells_and_blank_lines(self, write):
        text = 'note,spam\n\n"a ""big""\nsecret, really",1\n\n"b",0\n'
        stream = read_csv(write(text), labels=["spam"])
        assert stream.features[0].values == ('a "big"\nsecret, really', "b")

    @pytest.mark.parametrize(
        ("header", "rows", "first"), [(None, 2, "x0"), (False, 2, "x0"), (True, 1, "0.5")], ids=["guess", "no", "yes"]
    )
    def test_header(self, write, header, rows, first):
        stream = read_csv(write("0.5,?,1\n2,3,0\n"), labels=-1, header=header)
        assert (len(stream), stream.features[0].name) == (rows, first)

    def test_truth_values_are_no_header(self, write):
        stream = read_csv(write("0.5,true,yes\n0.7,FALSE,No\n"), labels=["x2"])
        assert stream.X.tolist() == [[0.5, 1], [0.7, 0]]
        assert stream.Y.tolist() == [[1], [0]]

    def test_a_header_cell_without_a_name(self, write):
        stream = read_csv(write(",a,spam\n3,4,1\n"), labels=["spam"])
        assert [feature.name for feature in stream.features] == ["x0", "a"]

    def test_many_rows(self, write):
        rows = "".join(f"{i}.5,{i % 3},{i % 2}\n" for i in range(10_000))
        stream = read_csv(write("a,b,y\n" + rows), labels=["y"])
        np.testing.assert_array_equal(stream.X[:, 0], np.arange(10_000) + 0.5)
        np.testing.assert_array_equal(stream.Y[:, 0], np.arange(10_000) % 2)

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("", "expected a table, found an empty file"),
            ("\n\n", "expected a table, found an empty file"),
            ("\ufeff", "expected a table, found an empty file"),
            ("a,b,spam\n", "line 2: expected at least one row below the header"),
            ("a,b,spam\n1,2,1\n1,2\n", "line 3: expected 3 cells, found 2"),
            ('a,b,spam\n"x\ny",2,1\n1,2,3,4\n', "line 4: expected 3 cells, found 4"),
            ('a,b,spam\n1,2,1\n1,"2,1\n', "line 3: expected cells with closed quotes"),
            ('a,b,spam\n1,"2"2,1\n', "line 2: expected cells with closed quotes"),
            (b"a,b,spam\n1,caf\xe9,1\n", "line 2: expected UTF-8 text"),
            (b"a,b,spam\n1,2,1\n1,\x00,1\n", "line 3: expected text, found a NUL byte"),
            ("a,b,spam\n1,2,1\n1,inf,1\n", "line 3, column 'b': the value is infinite"),
            ("a,b,spam\n1,2,1\n\n1,-1e999,1\n", "line 4, column 'b': the value is infinite"),
            ("a,b,spam\n1,2,1\n1,2,maybe\n", "line 3, label 'spam': expected 0 or 1, .*found 'maybe'"),
            ("a,b,spam\n1,2,2\n", "line 2, label 'spam': expected 0 or 1, .*found '2'"),
            ("a,b,spam\n1,2,-1\n", "line 2, label 'spam': expected 0 or 1, .*found '-1'"),
            ("a,a,spam\n1,2,1\n", "two columns are named 'a'"),
            ("a,b,ham\n1,2,1\n", "there is no label column named 'spam'"),
            ("spam\n" + "x" * 200_000 + "\n", "line 2: .*field larger than field limit"),
        ],
    )
    def test_what_is_refused(self, write, content, message):
        path = write(content)
        with pytest.raises(MarleneError, match=message) as caught:
            read_csv(path, labels=["spam"])
        assert str(caught.value).startswith(str(path))

    def test_duplicate_names_are_refused_whatever_the_labels(self, write):
        with pytest.raises(MarleneError, match="two features are named 'a'"):
            read_csv(write("a,a,spam\n1,2,1\n"), labels=-1)

    def test_files_that_cannot_be_read(self, tmp_path, write):
        with pytest.raises(MarleneError, match=r"nothing\.csv: cannot be read \(No such file"):
            read_csv(tmp_path / "nothing.csv", labels=1)
        with pytest.raises(MarleneError, match=r"cannot be read \("):
            read_csv(tmp_path, labels=1)
        with pytest.raises(MarleneError, match=r"mail\.csv\.gz"):
            read_csv(write(gzip.compress(MAIL.encode())[:-10], "mail.csv.gz"), labels=-2)
        with pytest.raises(MarleneError, match=r"mail\.csv\.xz"):
            read_csv(write("no xz file", "mail.csv.xz"), labels=-2)


class TestKinds:
    @pytest.mark.parametrize(
        ("cells", "expected"),
        [
            (["0", "1", "?"], Feature("a", "binary")),
            (["0.0", "1e0", ""], Feature("a", "binary")),
            (["True", "false", "NULL"], Feature("a", "binary")),
            (["?", "na", "NaN"], Feature("a", "binary")),
            (["0", "1", "2"], Feature("a", "numeric")),
            (["-1.5", "+2e3", ".5"], Feature("a", "numeric")),
            (["0", "1", "two"], Feature("a", "nominal", ("0", "1", "two"))),
            ([" b", "a ", "b"], Feature("a", "nominal", ("b", "a"))),
            (["true", "maybe", "NA"], Feature("a", "nominal", ("true", "maybe"))),
            (["1_000", "1", "0x10"], Feature("a", "nominal", ("1_000", "1", "0x10"))),
        ],
    )
    def test_inference(self, write, cells, expected):
        text = "a,y\n" + "".join(f"{cell},1\n" for cell in cells)
        from_text = read_csv(write(text), labels=["y"], name="t")
        assert from_text.features == (expected,)
        assert from_frame(pl.DataFrame({"a": cells, "y": [1, 1, 1]}), labels=["y"], name="t") == from_text
        assert from_frame(pd.DataFrame({"a": cells, "y": [1, 1, 1]}), labels=["y"], name="t") == from_text

    def test_kinds_can_be_set(self, write):
        path = write("size,count,flag,spam\n10,2,1,1\n20,0,0,0\n10,?,1,1\n")
        assert kinds(read_csv(path, labels=-1)) == ["numeric", "numeric", "binary"]
        assert kinds(read_csv(path, labels=-1, kinds="numeric")) == ["numeric"] * 3
        assert kinds(read_csv(path, labels=-1, kinds="binary")) == ["binary"] * 3
        stream = read_csv(path, labels=-1, kinds={"size": "nominal", "count": "binary", "flag": "numeric"})
        assert stream.features == (
            Feature("size", "nominal", ("10", "20")),
            Feature("count", "binary"),
            Feature("flag"),
        )
        np.testing.assert_array_equal(stream.X, [[0, 1, 1], [1, 0, 0], [0, np.nan, 1]])

    def test_an_empty_nominal_column(self, write):
        stream = read_csv(write("a,b,spam\n?,1,1\n"), labels=-1, kinds={"a": "nominal"})
        assert stream.features[0] == Feature("a", "nominal", ())

    @pytest.mark.parametrize(
        ("wanted", "message"),
        [
            ({"colour": "numeric"}, "line 2, column 'colour': expected a number, found 'red'"),
            ({"colour": "binary"}, "line 2, column 'colour': expected a number, found 'red'"),
            ({"colour": "prose"}, "the kind must be one of numeric, binary, nominal, text, date, bag, not 'prose'"),
            ({"weight": "numeric"}, "there is no feature named 'weight'"),
            ({"spam": "numeric"}, "there is no feature named 'spam'"),
        ],
    )
    def test_kinds_that_do_not_fit(self, write, wanted, message):
        with pytest.raises(MarleneError, match=message):
            read_csv(write(MAIL), labels=-2, kinds=wanted)

    def test_an_identifier_is_refused_by_name(self, write):
        path = write("id,spam\n" + "".join(f"m{i},1\n" for i in range(1001)))
        with pytest.raises(
            MarleneError, match="'id' has 1001 different values in 1001 rows and looks like an identifier"
        ):
            read_csv(path, labels=-1)
        assert len(read_csv(path, labels=-1, kinds={"id": "nominal"}).features[0].values) == 1001

    def test_many_values_that_come_again_are_nominal(self, write):
        path = write("id,spam\n" + "".join(f"m{i % 1001},1\n" for i in range(2002)))
        assert len(read_csv(path, labels=-1).features[0].values) == 1001


WORDS = st.text(st.sampled_from("abcdeé,;\t\"'\n x"), min_size=1).map(lambda text: "w" + text.rstrip())
CELLS = {
    "binary": st.sampled_from([0, 1, None]),
    "numeric": st.one_of(st.none(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False)),
    "nominal": st.one_of(st.none(), WORDS),
}


@st.composite
def columns(draw):
    rows = draw(st.integers(1, 8))
    chosen = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    return [(kind, draw(st.lists(CELLS[kind], min_size=rows, max_size=rows))) for kind in chosen]


@given(columns(), st.sampled_from(tables_module.DELIMITERS), st.booleans())
def test_all_sources_agree(folder, table, delimiter, quote):
    path = folder / "table.csv"
    named = {f"f{i}": cells for i, (_, cells) in enumerate(table)}
    named["label"] = [i % 2 for i in range(len(table[0][1]))]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL if quote else csv.QUOTE_MINIMAL)
        writer.writerow(named)
        writer.writerows(["" if cell is None else cell for cell in row] for row in zip(*named.values(), strict=True))
    stream = read_csv(path, labels=["label"], delimiter=delimiter)
    for (kind, cells), feature, column in zip(table, stream.features, stream.X.T, strict=True):
        known = [cell for cell in cells if cell is not None]
        assert feature.kind == kind or {*known} <= {0, 1}
        back = [None if np.isnan(v) else feature.values[int(v)] if feature.kind == "nominal" else v for v in column]
        assert back == [float(c) if isinstance(c, int) else c for c in cells]
    pairs = [
        ({name: cells[i] for name, cells in named.items() if name != "label"}, {"label": named["label"][i]})
        for i in range(len(stream))
    ]
    frame = pl.DataFrame(named, strict=False)
    frame.write_parquet(folder / "table.parquet")
    assert read_parquet(folder / "table.parquet", labels=["label"]) == stream
    assert from_frame(frame, labels=["label"], name="table") == stream
    assert from_frame(pd.DataFrame(named), labels=["label"], name="table") == stream
    assert from_river(pairs, name="table") == stream


@given(
    st.one_of(st.binary(max_size=200), st.text(st.sampled_from(",;\t\n\r\"'01.?-eaNé\0"), max_size=60).map(str.encode)),
    st.sampled_from([1, -1, ["a"], "x*", 3]),
    st.sampled_from(["", ".gz", ".bz2", ".xz"]),
)
@example(b'"', 1, "")
@example(b"\xef\xbb\xbf1,0\n", 1, "")
def test_any_bytes_are_a_stream_or_a_marlene_error(folder, content, labels, suffix):
    path = folder / f"fuzz.csv{suffix}"
    path.write_bytes(content)
    try:
        stream = read_csv(path, labels=labels)
    except MarleneError as error:
        assert "fuzz" in str(error)  # noqa: PT017 (an error is allowed, not demanded)
    else:
        assert len(stream) > 0
