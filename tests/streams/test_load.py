"""One function for every source."""

import gzip
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene.streams import Stream, load, read_csv

MAIL = "length,shouts,spam\n12.5,1,1\n0,0,0\n7,1,1\n"
ARFF = """@relation 'mail: -C 1'
@attribute spam {0,1}
@attribute length numeric
@attribute shouts {0,1}
@data
1,12.5,1
0,0,0
1,7,1
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mail.csv").write_text(MAIL)
    (tmp_path / "mail.CSV.gz").write_bytes(gzip.compress(MAIL.encode()))
    (tmp_path / "mail.tsv").write_text(MAIL.replace(",", "\t"))
    (tmp_path / "mail.arff").write_text(ARFF)
    (tmp_path / "mail.arff.gz").write_bytes(gzip.compress(ARFF.encode()))
    pl.read_csv(tmp_path / "mail.csv").write_parquet(tmp_path / "mail.parquet")
    return tmp_path


@pytest.fixture
def mail(folder):
    return read_csv(folder / "mail.csv", labels=["spam"])


@pytest.mark.parametrize("file", ["mail.csv", "mail.CSV.gz", "mail.tsv", "mail.arff", "mail.arff.gz", "mail.parquet"])
@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_files(folder, mail, file, as_path):
    assert load(as_path(folder / file), labels=["spam"]) == mail


def test_an_arff_file_names_its_labels_itself(folder, mail):
    assert load(folder / "mail.arff") == mail


@pytest.mark.parametrize("package", [pd, pl])
def test_frames(mail, package):
    frame = package.DataFrame({"length": [12.5, 0, 7], "shouts": [True, False, True], "spam": [1, 0, 1]})
    assert load(frame, labels="spam", name="mail") == mail
    assert load(frame, labels="spam").name == "frame"


@pytest.mark.parametrize("layout", [np.array, sp.csr_array, sp.csc_matrix, list])
def test_arrays(layout):
    X, Y = [[12.5, 1], [0, 0]], [[1], [0]]
    stream = load((layout(X), layout(Y)), labels=["spam"], name="mail")
    assert stream == Stream.from_arrays(X, Y, labels=["spam"], name="mail")
    assert load((X, Y)).name == "arrays"
    for labels in ("spam", 1):
        with pytest.raises(MarleneError, match="labels= must be a list of names"):
            load((X, Y), labels=labels)


def test_streams_and_pairs_of_dictionaries(mail):
    assert load(mail) is mail
    assert load(mail, name="other").name == "other"
    assert load(list(mail), name="mail") == mail


def test_limit(folder, mail):
    for source in (mail, list(mail), folder / "mail.csv", folder / "mail.arff"):
        labels = ["spam"] if source == folder / "mail.csv" else None
        assert load(source, labels=labels, limit=2, name="mail") == mail.head(2)
        assert len(load(source, labels=labels, limit=99)) == 3
        with pytest.raises(MarleneError, match="at least 1, not 0"):
            load(source, labels=labels, limit=0)


def test_a_limit_does_not_change_the_kinds(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("a,y\n1,1\n0,0\n5,1\n")
    assert load(path, labels=["y"], limit=2).features[0].kind == "numeric"


@pytest.mark.parametrize("file", ["mail.csv", "mail.arff", "mail.parquet"])
def test_feature_kinds(folder, file):
    path = folder / file

    def kinds(features):
        return [feature.kind for feature in load(path, labels=["spam"], features=features).features]

    assert kinds("auto") == ["numeric", "binary"]
    assert kinds("numeric") == ["numeric", "numeric"]
    assert kinds("binary") == ["binary", "binary"]
    assert kinds({"length": "binary"}) == ["binary", "binary"]
    assert load(path, labels=["spam"], features="binary").X.tolist() == [[1, 1], [0, 0], [1, 1]]
    with pytest.raises(MarleneError, match="there is no feature named 'weight'"):
        kinds({"weight": "binary"})
    with pytest.raises(MarleneError, match="features must be 'auto', 'numeric', 'binary' or a mapping, not 'text'"):
        kinds("text")


@pytest.mark.parametrize("file", ["mail.csv", "mail.tsv", "mail.parquet"])
def test_tables_need_labels(folder, file):
    with pytest.raises(MarleneError, match="say which columns are labels"):
        load(folder / file)
    with pytest.raises(MarleneError, match="a data frame: say which columns are labels"):
        load(pl.DataFrame({"a": [1]}))


def test_labels_where_they_are_known(mail):
    for source in ("yeast", mail, list(mail)):
        with pytest.raises(MarleneError, match="labels= does not apply"):
            load(source, labels=["spam"])


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("yaest", " (did you mean yeast?)"),
        ("IMBD", " (did you mean imdb?)"),
        ("20-ng", " (did you mean 20ng?)"),
        ("tmc", " (did you mean tmc2007?)"),
        ("reuter.csv", " (did you mean reuters?)"),
        ("some/where/absent.csv", ""),
    ],
)
def test_an_unknown_name_has_a_hint_and_the_catalogue_in_its_order(name, hint):
    known = "slashdot, ohsumed, reuters, yeast, 20ng, tmc2007, imdb"
    with pytest.raises(MarleneError) as caught:
        load(name)
    assert str(caught.value) == f"{name!r} is neither a file nor a data set of the catalogue{hint}: {known}"


def test_other_suffixes(tmp_path):
    for name in ("notes.doc", "table.xlsx", "plain", "packed.gz"):
        (tmp_path / name).touch()
        with pytest.raises(
            MarleneError, match=r"expected the suffix \.arff, \.csv, \.tsv, \.parquet, \.json, .* or \.txt"
        ):
            load(tmp_path / name)
    with pytest.raises(MarleneError, match="expected the suffix"):
        load(tmp_path)


@pytest.mark.parametrize("source", [None, 3, b"yeast", {"a": 1}, np.eye(3), pd.Series([1])])
def test_what_is_no_source(source):
    with pytest.raises(MarleneError, match="cannot load a stream from"):
        load(source)


def test_a_name_with_capitals():
    assert load("Yeast", limit=3, name="genes").name == "genes"
    assert load("YEAST", limit=3, features="binary").features[0].kind == "binary"


class TestZstandard:
    """Files compressed with Zstandard, in one frame or several, whole or damaged."""

    TEXT = "a,y\n" + "".join(f"{i},{i % 2}\n" for i in range(50_000))

    @pytest.fixture
    def packed(self):
        zstandard = pytest.importorskip("zstandard")
        text = self.TEXT.encode()
        return zstandard.compress(text[:1000]) + zstandard.compress(text[1000:])

    @pytest.mark.parametrize("name", ["table.csv.zst", "table.csv"])
    def test_whole(self, tmp_path, packed, name):
        (tmp_path / name).write_bytes(packed)
        stream = load(tmp_path / name, labels="y", name="t")
        np.testing.assert_array_equal(stream.X[:, 0], np.arange(50_000))
        (tmp_path / "plain.csv").write_text(self.TEXT)
        assert load(tmp_path / "plain.csv", labels="y", name="t") == stream

    def test_read_at_once(self, tmp_path):
        zstandard = pytest.importorskip("zstandard")
        (tmp_path / "table.svm.zst").write_bytes(zstandard.compress(b"1 1:2\n") + zstandard.compress(b"2 1:3\n"))
        assert load(tmp_path / "table.svm.zst").X.toarray().tolist() == [[2], [3]]

    def test_damaged(self, tmp_path, packed):
        path = tmp_path / "table.csv.zst"
        for damaged in (packed[:-5], packed[:200] + b"x" * 50 + packed[250:], b"no zst"):
            path.write_bytes(damaged)
            with pytest.raises(MarleneError, match=r"table\.csv\.zst, line .*damaged or cut off"):
                load(path, labels="y")

    def test_without_the_package(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "zstandard", None)
        (tmp_path / "table.csv.zst").touch()
        with pytest.raises(MarleneError, match=r"reading a \.zst file needs the package zstandard"):
            load(tmp_path / "table.csv.zst", labels="y")
