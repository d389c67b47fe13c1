"""What an ARFF file may look like."""

import bz2
import gzip
import lzma

import numpy as np
import pytest
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene.streams import Feature, load
from marlene.streams._arff_tokens import key_of_word
from marlene.streams._matrix import dense
from marlene.streams.arff import read_arff
from tests.streams.arff_files import MULAN, YAB, header, reader, refuser, writer

NAN = np.nan

arff = pytest.fixture(writer)
read = pytest.fixture(reader)
refused = pytest.fixture(refuser)


def test_dense_rows(read):
    stream = read(YAB + "1,2.5,p\n0, -1e-3 ,'q r'\n?,?,?\n")
    assert stream.features == (Feature("a"), Feature("b", "nominal", ("p", "q r", "s")))
    assert stream.labels == ("y",)
    assert stream.name == "file"
    assert isinstance(stream.X, np.ndarray)
    assert stream.X.dtype == np.float64
    assert stream.X.flags.c_contiguous
    assert stream.Y.dtype == np.int8
    np.testing.assert_array_equal(stream.X, [[2.5, 0], [-0.001, 1], [NAN, NAN]])
    assert stream.Y.tolist() == [[1], [0], [-1]]


def test_sparse_rows(read):
    stream = read(YAB + "{0 1,1 2.5}\n{}\n{ 2 'q r' , 0 ? }\n{1 ?}\n{0 0,1 0,2 p}\n")
    assert isinstance(stream.X, sp.csr_array)
    assert stream.X.indices.dtype == stream.X.indptr.dtype == np.int32
    assert stream.X.nnz == 3
    np.testing.assert_array_equal(dense(stream.X), [[2.5, 0], [0, 0], [0, 1], [NAN, 0], [0, 0]])
    assert stream.Y.tolist() == [[1], [0], [-1], [0], [0]]


def test_a_file_may_mix_dense_and_sparse_rows(read):
    text = header("y {1,0}", "a numeric", "b {p,q}")
    stream = read(text + "0,3,q\n1,0,p\n{1 4}\n0,5,p\n?,?,?\n{0 0, 2 q}\n")
    assert isinstance(stream.X, sp.csr_array)
    np.testing.assert_array_equal(dense(stream.X), [[3, 1], [0, 0], [4, 0], [5, 0], [NAN, NAN], [0, 1]])
    assert stream.Y.tolist() == [[0], [1], [1], [0], [-1], [0]]


def test_words_may_be_separated_by_white_space_as_in_weka(read):
    stream = read(YAB + "1 2.5\tp\n{0 1 1 7}\n0\t3 , 'q r'\n")
    np.testing.assert_array_equal(dense(stream.X), [[2.5, 0], [7, 0], [3, 1]])


def test_sparse_entries_may_be_in_any_order(read):
    stream = read(header("y {0,1}", "a numeric", "b numeric", "c numeric") + "{3 4,0 1,1 2}\n{2 3,1 5}\n")
    assert stream.X.has_sorted_indices
    np.testing.assert_array_equal(dense(stream.X), [[2, 0, 4], [5, 3, 0]])
    assert stream.Y.tolist() == [[1], [0]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
def test_line_ends_comments_and_a_byte_order_mark(read, end):
    lines = [
        "% a comment, 'with an open quote",
        "@RELATION 'it\\'s 50% -C 1' %50",
        "  % more",
        "@Attribute y{0, 1}% a label",
        '@ATTRIBUTE "a b" REAL % with {braces}',
        "@attribute c Integer",
        "@DATA % here it goes",
        "% 0,0,0",
        "1,2,3 % 4, '",
        "  { 1 5 , 2 '6' } % }",
        "\t",
    ]
    stream = read(b"\xef\xbb\xbf" + end.join(lines).encode())
    assert [feature.name for feature in stream.features] == ["a b", "c"]
    np.testing.assert_array_equal(dense(stream.X), [[2, 3], [5, 6]])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_lines_do_not_depend_on_the_blocks_they_are_read_in(arff, monkeypatch, size):
    monkeypatch.setattr("marlene.streams._lines.BLOCK", size)
    path = arff(YAB.replace("\n", "\r\n") + "0,1,'q r'\r\r\n1,2,s")
    assert read_arff(path).X.tolist() == [[1, 1], [2, 2]]
    with pytest.raises(MarleneError, match=r"line 9: expected 3 values, found 1$"):
        read_arff(arff(YAB.replace("\n", "\r\n") + "0,1,s\r\r\n\r1"))


@pytest.mark.parametrize(
    ("written", "name"),
    [
        (r"plain-name.1", "plain-name.1"),
        (r"back\slash", "back\\slash"),
        (r"'a \'b\' \"c\" d'", "a 'b' \"c\" d"),
        (r"""'say "x", {y} 100%'""", 'say "x", {y} 100%'),
        ('"it\'s, so"', "it's, so"),
        (r"'tab\tline\ncr\rback\\'", "tab\tline\ncr\rback\\"),
        (r"'\%\q\101\u00e9\ud800\uZ'", "%qAéud800uZ"),
        (r"'\08\é'", "\0" + "8é"),
        (r"''", ""),
        (r"'?'", "?"),
        (r"naïve—名前", "naïve—名前"),
    ],
)
def test_names_are_read_as_weka_writes_them(read, written, name):
    text = header("y {0,1}", f"{written} numeric", f"n {{{written}, 'two words'}}")
    stream = read(text + f"1,2,{written}\n0,3,'two words'\n")
    assert stream.features == (Feature(name), Feature("n", "nominal", (name, "two words")))
    assert stream.X.tolist() == [[2, 0], [3, 1]]


def test_a_piece_between_commas_must_be_one_whole_word(read, refused):
    text = header("y {0,1}", "n {'a', 'a,b', \"a','b\"}", "m {b, c}")
    stream = read(text + "1,'a','b'\n1,'a,b',c\n1,\"a','b\",c\n")
    assert stream.X.tolist() == [[0, 0], [1, 1], [2, 1]]
    assert refused(text + "1,'a'x,b\n") == "line 6: expected a comma, found 'x,b'"
    assert refused(text + "1,it's,b\n") == 'line 6: expected a closing quote, found "\'s,b"'


def test_kinds_of_features(read):
    text = header("y {0,1}", "a numeric", "b numeric", "c {0,1}", "d {1,0}", "e {0,1,2}", "f { 0 , 1 }", "g numeric")
    stream = read(text + "1,0,0,1,0,0,1,0\n0,1,2,0,1,1,?,?\n")
    kinds = [feature.kind for feature in stream.features]
    assert kinds == ["binary", "numeric", "binary", "binary", "nominal", "binary", "binary"]
    assert stream.X[:, 3].tolist() == [0, 1]


def test_a_sparse_column_whose_absent_value_is_1(read):
    stream = read(header("y {0,1}", "a {1,0}", "b numeric") + "{2 7}\n{1 0}\n1,1,3\n{1 ?, 0 1}\n")
    assert stream.features[0] == Feature("a", "nominal", ("1", "0"))
    np.testing.assert_array_equal(dense(stream.X), [[0, 7], [1, 0], [0, 3], [NAN, 0]])
    assert [stream.example(i).get("a") for i in range(4)] == ["1", "0", "1", None]


@pytest.mark.parametrize(
    ("values", "truth"),
    [
        ("{0,1}", {"0": 0, "1": 1}),
        ("{1,0}", {"1": 1, "0": 0}),
        ("{False, TRUE}", {"False": 0, "TRUE": 1}),
        ("{'yes', \"No\"}", {"yes": 1, "No": 0}),
        ("Numeric", {"0": 0, "1": 1, "1.0": 1, "0e5": 0, "'1'": 1}),
    ],
)
def test_labels(read, values, truth):
    text = header(f"y {values}", "a numeric")
    words = [*truth, "?"]
    expected = [*([value] for value in truth.values()), [-1]]
    assert read(text + "".join(f"{word},0\n" for word in words)).Y.tolist() == expected
    sparse = read(text + "".join(f"{{0 {word}}}\n" for word in words) + "{}\n{1 3}\n")
    assert sparse.Y.tolist() == [*expected, expected[0], expected[0]]


def test_which_columns_are_labels(read, tmp_path):
    attributes = ["a {0,1}", "b {0,1}", "c {0,1}", "d {0,1}"]
    row = "1,1,0,0\n"
    assert read(header(*attributes, labels=2) + row).labels == ("a", "b")
    assert read(header(*attributes, labels=-1) + row).labels == ("d",)
    assert read(header(*attributes, relation="x -split-number 3", labels="+1") + row).labels == ("a",)
    assert read(header(*attributes).replace("'r: -C 1'", "mine -C 3") + row).labels == ("a", "b", "c")
    assert read(header(*attributes) + row, labels=["d", "a"]).labels == ("a", "d")
    assert read(header(*attributes) + row, labels="[bc]").labels == ("b", "c")
    xml = tmp_path / "other.xml"
    xml.write_text('<labels><label name="c"/></labels>')
    assert read(header(*attributes) + row, xml=xml).labels == ("c",)
    assert read(header(*attributes) + row, xml=xml, labels=-1).labels == ("d",)
    assert read(header(*attributes) + row, name="mine").name == "mine"


@pytest.mark.parametrize("name", ["m.arff", "m.arff.gz", "m.ARFF.BZ2", "m"])
def test_a_mulan_file_has_its_labels_beside_it(arff, tmp_path, name):
    pack = gzip.compress if name.endswith(".gz") else bz2.compress if name.endswith(".BZ2") else bytes
    path = arff(pack(MULAN.encode()), name)
    (tmp_path / "m.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n<!-- two -->\n<labels xmlns="http://mulan.sourceforge.net/labels">\n'
        '<label name="y"><label name="y &amp; z"/></label></labels>'
    )
    assert read_arff(path).labels == ("y", "y & z")
    assert read_arff(path).name == "m"


@pytest.mark.parametrize("compress", [bz2.compress, gzip.compress, lzma.compress])
@pytest.mark.parametrize("named", [True, False])
def test_compressed_files(arff, compress, named):
    suffix = {bz2.compress: ".bz2", gzip.compress: ".gz", lzma.compress: ".xz"}[compress]
    packed = compress((YAB + "1,2,p\n").encode())
    path = arff(packed, f"file.arff{suffix if named else ''}")
    assert read_arff(path).X.tolist() == [[2, 0]]
    for size in range(1, len(packed), 5):
        path.write_bytes(packed[:size])
        with pytest.raises(MarleneError, match=r"file\.arff"):
            read_arff(path)
    if named:
        path.write_bytes(b"this is no compressed file")
        with pytest.raises(MarleneError, match=r"line 1: the compressed data are damaged or cut off"):
            read_arff(path)


def test_a_stream_may_have_labels_only(read):
    assert read("@relation 'r -C 1'\n@attribute y {0,1}\n@data\n1\n").X.shape == (1, 0)
    assert read("@relation 'r -C 1'\n@attribute y {0,1}\n@data\n{0 1}\n").X.shape == (1, 0)


def test_more_different_words_than_are_remembered(arff, monkeypatch):
    monkeypatch.setattr("marlene.streams._arff_values.MOST_REMEMBERED", 10)
    monkeypatch.setattr("marlene.streams._arff_rows.MOST_REMEMBERED", 10)
    text = header("y {0,1}", "a numeric", "b numeric")
    rows = [(i % 2, i, i / 7 if i % 3 else NAN) for i in range(100)]
    words = [(y, a, "?" if np.isnan(b) else b) for y, a, b in rows]
    expected = np.array(rows)[:, 1:]
    for pattern in ("{},{},{}\n", "{{0 {},1 {},2 {}}}\n"):
        stream = read_arff(arff(text + "".join(pattern.format(*row) for row in words)))
        np.testing.assert_array_equal(dense(stream.X), expected)


def test_long_words(read, refused):
    name = "n" * 65_536
    assert read(header("y {0,1}", f"{name} numeric") + "1,2\n").features[0].name == name
    assert refused(header("y {0,1}", f"{name}n numeric") + "1,2\n").startswith("line 3: expected a word of at most")
    relation = f"@relation {name} -C 1\n@attribute y {{0,1}}\n@data\n1\n"
    assert refused(relation) == "line 1: expected a relation's name of at most 65536 bytes"
    assert read(header("y {0,1}", "a numeric") + f"1,{' ' * 70_000}2\n").X.tolist() == [[2]]
    assert read(header("y {0,1}", "a numeric") + f"1,{'0' * 5_000}2\n").X.tolist() == [[2]]
    assert key_of_word(b" " * 10 + b"x ") == b"x"


@pytest.mark.data
@pytest.mark.parametrize(
    ("file", "kind", "counts"),
    [
        ("SLASHDOT-F", "binary", (3782, 1079, 22, 4466)),
        ("OHSUMED-F", "binary", (13929, 1002, 23, 23166)),
        ("REUTERS-K500-EX2", "numeric", (6000, 500, 103, 8773)),
        ("Yeast", "numeric", (2417, 103, 14, 10241)),
        ("20NG-F", "binary", (19300, 1006, 20, 19857)),
        ("tmc2007-500", "binary", (28596, 500, 22, 61708)),
        ("Imdb", "binary", (120919, 1001, 28, 241798)),
    ],
)
def test_the_data_sets_of_the_paper(data_folder, file, kind, counts):
    stream = read_arff(data_folder / f"{file}.arff.bz2")
    assert (len(stream), len(stream.features), len(stream.labels), int(stream.Y.sum())) == counts
    assert {feature.kind for feature in stream.features} == {kind}
    assert sp.issparse(stream.X) == (file != "Yeast")
    assert stream.name == file


class TestMulanBesideMeka:
    """A file of Mulan beside one whose relation gives a number of labels, too."""

    HEADER = "@relation 'old: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n@data\n1,0,1\n"

    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "m.arff"
        path.write_text(self.HEADER)
        return path

    def test_other_names_win_with_a_warning(self, path):
        path.with_suffix(".xml").write_text('<labels><label name="c"/></labels>')
        with pytest.warns(UserWarning, match=r"m\.arff: m\.xml names 1 labels, and they are taken; .* 2 columns"):
            stream = read_arff(path)
        assert (stream.labels, [feature.name for feature in stream.features]) == (("c",), ["a", "b"])

    def test_the_same_names_need_no_warning(self, path):
        path.with_suffix(".xml").write_text('<labels><label name="b"/><label name="a"/></labels>')
        assert read_arff(path).labels == ("a", "b")

    @pytest.mark.parametrize("text", ['<labels><label name="d"/></labels>', "<project/>", ""])
    def test_a_file_that_is_none_is_said(self, path, text):
        path.with_suffix(".xml").write_text(text)
        with pytest.warns(UserWarning, match="-C in the relation's name says which columns are labels"):
            assert read_arff(path).labels == ("a", "b")

    @pytest.mark.parametrize("named", [r"TAG_m\'usica", "TAG_m'usica"])
    def test_names_with_escaped_quotes(self, tmp_path, named):
        path = tmp_path / "tags.arff"
        path.write_text("@relation tags\n@attribute a\\b numeric\n@attribute TAG_m\\'usica {0,1}\n@data\n3,1\n")
        path.with_suffix(".xml").write_text(f'<labels><label name="{named}"/></labels>')
        stream = read_arff(path)
        assert (stream.labels, stream.features[0].name) == (("TAG_m'usica",), "a\\b")
        assert (stream.X.tolist(), stream.Y.tolist()) == ([[3]], [[1]])

    def test_values_with_escaped_quotes(self, tmp_path):
        path = tmp_path / "values.arff"
        path.write_text(
            "@relation 'v: -C 1'\n@attribute y {0,1}\n@attribute a {it\\'s,x}\n@data\n1,it\\'s\n0,'it\\'s'\n"
        )
        assert read_arff(path).X.tolist() == [[0], [0]]


class TestStringsAndDates:
    HEADER = (
        "@relation 'tickets: -C 1'\n@attribute y {0,1}\n@attribute id string\n@attribute subject string\n"
        "@attribute size numeric\n@attribute 'sent at' date 'dd.MM.yyyy HH:mm'\n@data\n"
    )
    DENSE = "1,t1,'Refund, please',3,'2.1.1970 00:00'\n0,t2,?,?,?\n1,t3,refund,0,'1.1.1970 01:00'\n"
    SPARSE = (
        "{0 1,1 t1,2 'Refund, please',3 3,4 '2.1.1970 00:00'}\n{1 t2,3 ?}\n{0 1,1 t3,2 refund,4 '1.1.1970 01:00'}\n"
    )

    @pytest.mark.parametrize("rows", [DENSE, SPARSE], ids=["dense", "sparse"])
    def test_both_layouts(self, tmp_path, rows):
        path = tmp_path / "tickets.arff"
        path.write_text(self.HEADER + rows)
        stream = load(path, drop="id", kinds={"sub*": "text", "size": "binary"}, features="numeric")
        names = [feature.name for feature in stream.features]
        assert names[:4] == ["size", "subject: refund", "subject: please", "sent at"]
        assert [feature.kind for feature in stream.features][:4] == ["binary", "binary", "binary", "numeric"]
        assert stream.labels == ("y",)
        X = stream.X.toarray()
        np.testing.assert_array_equal(X[:, :3], [[1, 1, 1], [np.nan, 0, 0], [0, 1, 0]])
        np.testing.assert_array_equal(stream.clock, [86400, np.nan, 3600])
        np.testing.assert_array_equal(X[:, 3], stream.clock)
        assert stream.Y.tolist() == [[1], [0], [1]]

    def test_short_strings_are_nominal(self, tmp_path):
        path = tmp_path / "tickets.arff"
        path.write_text(self.HEADER + self.DENSE)
        stream = read_arff(path, drop=["sent at", "subject"])
        assert [feature.kind for feature in stream.features] == ["numeric", "nominal"]
        assert stream.clock is None
        np.testing.assert_array_equal(stream.X, [[3, 0], [np.nan, 1], [0, 2]])

    def test_an_identifier(self, tmp_path):
        path = tmp_path / "tickets.arff"
        path.write_text("@relation 'x: -C 1'\n@attribute y {0,1}\n@attribute id string\n@data\n")
        with path.open("a") as file:
            file.writelines(f"1,t{i}\n" for i in range(1001))
        with pytest.raises(MarleneError, match=r"tickets\.arff: column 'id' has 1001 different values .*--drop id"):
            load(path)
        assert load(path, drop="id").X.shape == (1001, 0)
