"""Files of streams: what is written is read back."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from marlene._common.errors import MarleneError
from marlene.streams import Feature, Stream, load
from marlene.streams._matrix import dense
from marlene.streams._write import write_blocks

WORDS = st.text(st.characters(codec="utf-8"), max_size=6)
NUMBERS = st.floats(allow_infinity=False, allow_nan=False)


@st.composite
def streams(draw):
    """Draw a stream with features of every kind, missing values, unknown labels, and names of any text."""
    rows = draw(st.integers(1, 5))
    names = draw(st.lists(WORDS, min_size=5, max_size=5, unique=True))
    values = draw(st.lists(WORDS, min_size=3, max_size=3, unique=True))
    kinds = {2: {"elements": NUMBERS}, 3: {"elements": st.sampled_from([0.0, 1.0])}}
    columns = [
        draw(arrays(float, rows, **kinds.get(i, {"elements": st.sampled_from([0.0, 1.0, 2.0])}))) for i in (2, 3, 4)
    ]
    X = np.column_stack(columns)
    # One number that is neither 0 nor 1 shows that the column is numeric.
    X[0, 0] = 0.5
    X[1:][draw(arrays(bool, (rows - 1, 3)))] = np.nan
    Y = draw(arrays(np.int8, (rows, 2), elements=st.integers(-1, 1)))
    features = (Feature(names[2]), Feature(names[3], "binary"), Feature(names[4], "nominal", tuple(values)))
    layout = draw(st.sampled_from([np.asarray, sp.csr_array]))
    return Stream(layout(X), Y, features, tuple(names[:2]), "drawn")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


def written(stream, path, size=2):
    write_blocks(path, stream.features, stream.labels, stream.blocks(size))
    return path


@given(streams())
def test_arff_keeps_everything(folder, stream):
    read = load(written(stream, folder / "it's 100% {new}.arff"), name="drawn")
    assert read == stream
    assert type(read.X) is type(stream.X)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_tables_keep_values_and_names(tmp_path, suffix, layout):
    X = np.array([[0.1, 0, 1], [np.nan, 1, 0], [1e300, np.nan, np.nan], [0, 0, 1]])
    features = (Feature("a, b"), Feature("c", "binary"), Feature('"d"', "nominal", ("x y", "p,q")))
    stream = Stream(layout(X), np.array([[1], [-1], [0], [1]], np.int8), features, ("is it",))
    read = load(written(stream, tmp_path / f"table.{suffix}"), labels=1)
    assert read.labels == ("is it",)
    assert np.array_equal(read.Y, stream.Y)
    assert [feature.kind for feature in read.features] == ["numeric", "binary", "nominal"]
    assert [feature.name for feature in read.features] == [feature.name for feature in features]
    assert np.array_equal(dense(read.X)[:, :2], X[:, :2], equal_nan=True)
    assert [read.example(i).get('"d"') for i in range(4)] == ["p,q", "x y", None, "p,q"]


def test_sparse_rows_hold_what_is_not_zero(tmp_path):
    stream = Stream.from_arrays(sp.csr_array(np.array([[0, 2.5, 0], [0, 0, 0]])), [[0, 1], [0, 0]])
    path = written(stream, tmp_path / "sparse.arff")
    assert path.read_text().splitlines()[-3:] == ["@data", "{1 1,3 2.5}", "{}"]


def test_two_columns_of_one_name_are_refused(tmp_path):
    stream = Stream.from_arrays([[0.5]], [[1]], features=["spam"], labels=["spam"])
    with pytest.raises(MarleneError, match="two columns are named 'spam'"):
        written(stream, tmp_path / "twice.csv")
    assert list(tmp_path.iterdir()) == []
