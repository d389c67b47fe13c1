"""SVMLight files and those of the extreme-classification repository."""

import bz2

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.streams import load, read_svmlight

sklearn = pytest.importorskip("sklearn.datasets")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("svm")


@pytest.fixture
def write(tmp_path):
    def write(content, name="mail.svm"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def names(stream):
    return [feature.name for feature in stream.features]


FLOATS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.integers(-5, 5).map(float))
ROWS = st.lists(
    st.tuples(st.sets(st.integers(0, 9), max_size=3), st.dictionaries(st.integers(0, 20), FLOATS, max_size=5)),
    min_size=1,
    max_size=8,
)


@given(ROWS, st.sampled_from([0, 1]))
def test_against_scikit_learn(folder, rows, first):
    rows = [({7}, {1: 0.5}), *rows]
    path = folder / "any.svm"
    lines = [
        ",".join(map(str, sorted(labels))) + "".join(f" {i + first}:{x!r}" for i, x in sorted(values.items()))
        for labels, values in rows
        if labels or values
    ]
    path.write_text("\n".join(line + " # note: 1:2" for line in lines))
    X, Y = sklearn.load_svmlight_file(str(path), multilabel=True, zero_based=first == 0)
    stream = read_svmlight(path, first=first)
    assert stream.X.toarray().tobytes() == (X.toarray() + 0.0).tobytes()
    assert stream.labels == tuple(str(label) for label in sorted({int(label) for labels in Y for label in labels}))
    for labels, truth in zip(Y, stream.Y, strict=True):
        assert {int(label) for label in labels} == {int(stream.labels[i]) for i in np.flatnonzero(truth)}


def test_a_small_file(write):
    text = "# a comment\n2,5 qid:3 3:1 1:0.5\n\n5 3:1 2:nan 1:0\r\n 2:7\r5\n"
    stream = load(write(text))
    assert isinstance(stream.X, sp.csr_array)
    np.testing.assert_array_equal(stream.X.toarray(), [[0.5, 0, 1], [0, np.nan, 1], [0, 7, 0], [0, 0, 0]])
    assert (stream.name, stream.labels, names(stream)) == ("mail", ("2", "5"), ["x1", "x2", "x3"])
    assert stream.Y.tolist() == [[1, 1], [0, 1], [0, 0], [0, 1]]
    assert [feature.kind for feature in stream.features] == ["numeric", "numeric", "binary"]
    assert load(write(bz2.compress(text.encode()), "mail.libsvm.bz2")) == stream


def test_the_first_feature(write):
    path = write("1,2 1:1\n2 3:1\n")
    assert names(load(path)) == ["x1", "x2", "x3"]
    assert names(load(path, first_feature=0)) == ["x0", "x1", "x2", "x3"]
    assert names(load(write("1,2 0:1\n2 3:1\n"))) == ["x0", "x1", "x2", "x3"]


def test_two_classes(write):
    stream = load(write("+1 1:1\n-1 2:1\n 2:1\n1.0 1:1\n"))
    assert (stream.labels, stream.Y.tolist()) == (("1",), [[1], [0], [-1], [1]])


def test_extreme_classification(write):
    stream = load(write("3 5 4\n0,3 1:0.5 2:1\n 4:1\n2 0:1\n", "eurlex.txt"))
    assert (len(stream), names(stream)[0], len(stream.features)) == (3, "x0", 5)
    assert stream.labels == ("0", "1", "2", "3")
    assert stream.Y.tolist() == [[1, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0]]


def test_options_that_do_not_apply(write):
    with pytest.raises(MarleneError, match="labels= does not apply to"):
        load(write("1,2 1:1\n"), labels="y")
    with pytest.raises(MarleneError, match="the first feature must be 0 or 1, not 2"):
        load(write("1,2 1:1\n"), first_feature=2)
    assert names(load(write("1,2 1:1 2:3\n"), drop="x1")) == ["x2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected examples, found none"),
        ("# nothing\n", "expected examples, found none"),
        ("1 1:1\nspam 1:1\n", "line 2, column 1: expected a label, which is a number, found 'spam'"),
        ("1 1:1\n1,x 1:1\n", "line 2, column 3: expected a label, which is a number, found 'x'"),
        ("1 1:1\n1 two:1\n", "line 2, column 3: expected feature:value, as in 7:0.5, .*, found 'two:1'"),
        ("1 1:1\n1 -2:1\n", "line 2, column 3: expected feature:value"),
        ("1 1:1\n1 2\n", "line 2, column 3: expected feature:value"),
        ("1 1:1\n1 :2\n", "line 2, column 3: expected feature:value"),
        ("1 1:1\n1 99999999999:2\n", "line 2, column 3: expected feature:value"),
        ("1 1:1\n1 2: 3\n", "line 2, column 3: expected a number after the colon, found '2:'"),
        ("1 1:1\n1 2:3:4\n", "line 2: expected a number, found '3:4'"),
        ("1 1:1\n1 2:two\n", "line 2: expected a number, found 'two'"),
        ("1 1:1\n1 2:inf\n", "line 2: the value of feature 2 is infinite"),
        ("1 1:1\n1 2:1 3:1 2:4\n", "line 2: feature 2 is there twice"),
        (" 1:1\n", "there is no label"),
        ("3 5 4\n1 1:1\n", "line 1: the header says 3 examples, found 1"),
        ("1 5 4\n1 5:1\n", "line 2: feature 5, but the header says 5"),
        ("1 999999999 4\n4 1:1\n", "line 1: the header says 999999999 features, which are too many"),
        ("1 5 4\n4 1:1\n", "line 2: label 4, but the header says 4 labels"),
    ],
)
def test_what_is_refused(write, content, message):
    path = write(content)
    with pytest.raises(MarleneError, match=message) as caught:
        read_svmlight(path)
    assert str(caught.value).startswith(str(path))


def test_a_feature_before_the_first(write):
    with pytest.raises(MarleneError, match="line 2: feature 0, but the first feature is 1"):
        load(write("1 1:1\n1 0:1\n"), first_feature=1)


@given(
    st.one_of(
        st.binary(max_size=200), st.text(st.sampled_from("0123456789:, \t\n\r#.-+enaqid"), max_size=60).map(str.encode)
    ),
    st.sampled_from([None, 0, 1]),
)
@example(b"1:", None)
@example(b"1 1 1", None)
@example(b"\xef\xbb\xbf1 1:1", None)
def test_any_bytes_are_a_stream_or_a_marlene_error(folder, content, first):
    path = folder / "fuzz.svm"
    path.write_bytes(content)
    try:
        stream = read_svmlight(path, first=first)
    except MarleneError as error:
        assert "fuzz" in str(error)  # noqa: PT017 (an error is allowed, not demanded)
    else:
        assert len(stream) > 0
