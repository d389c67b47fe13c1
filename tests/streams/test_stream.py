import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from marlene._common.errors import MarleneError
from marlene.streams import Feature, Stream
from marlene.streams._labels import label_columns
from marlene.streams._matrix import as_matrix, dense, inferred_kinds

NAMES = ["age", "is_spam", "is_urgent"]


def both_layouts(X):
    return [np.asarray(X, dtype=float), sp.csr_array(np.asarray(X, dtype=float))]


class TestFromArrays:
    def test_kinds_are_told_by_value(self):
        stream = Stream.from_arrays([[0, 0.5, np.nan], [1, 1, 1]], [[1], [0]])
        assert [feature.kind for feature in stream.features] == ["binary", "numeric", "binary"]
        assert [feature.name for feature in stream.features] == ["x0", "x1", "x2"]
        assert stream.labels == ("y0",)
        assert stream.Y.dtype == np.int8

    @pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.lil_matrix])
    def test_sparse_input_is_kept_sparse(self, kind):
        stream = Stream.from_arrays(kind(np.eye(3)), kind(np.eye(3)))
        assert isinstance(stream.X, sp.csr_array)
        assert "sparse" in repr(stream)
        np.testing.assert_array_equal(dense(stream.X), np.eye(3))
        np.testing.assert_array_equal(stream.Y, np.eye(3))

    def test_given_kinds_are_taken(self):
        colour = Feature("colour", "nominal", ("red", "blue"))
        stream = Stream.from_arrays([[0, 1], [1, 0]], [[1], [0]], features=[colour, "size"], labels=["spam"])
        assert stream.example(0) == {"colour": "red", "size": True}
        assert stream.example(1) == {"colour": "blue", "size": False}

    @pytest.mark.parametrize("unknown", [-1, np.nan])
    def test_unknown_labels(self, unknown):
        stream = Stream.from_arrays([[1], [2]], [[1, unknown], [0, 1]])
        assert stream.Y.tolist() == [[1, -1], [0, 1]]
        assert stream.truth(0) == {"y0": True}

    @pytest.mark.parametrize(
        ("X", "Y", "names", "message"),
        [
            ([[1], [2]], [[1]], {}, "X has shape"),
            ([1, 2], [[1], [0]], {}, "X has 1 dimensions, expected 2"),
            ([[1], [2]], [1, 0], {}, "Y has 1 dimensions, expected 2"),
            ([["a"], ["b"]], [[1], [0]], {}, "X holds something that is not a number"),
            ([[1], [2]], [["a"], ["b"]], {}, "Y holds something that is not a number"),
            ([[1], [2]], [[1], [2]], {}, "example 1, label 0: expected 0 or 1, found 2"),
            ([[1], [2]], [[1], [2]], {"labels": ["spam"]}, "example 1, label 'spam': expected 0 or 1, found 2"),
            ([[1], [2]], [[1], [0]], {"labels": ["a", "b"]}, "expected two dimensions with 2 labels"),
            ([[1], [2]], [[1], [0]], {"features": ["a", "b"]}, "2 feature names for 1 columns"),
            ([[1, 2]], [[1]], {"features": ["a", "a"]}, "two features are named 'a'"),
            ([[1]], [[1, 0]], {"labels": ["a", "a"]}, "two labels are named 'a'"),
            ([[1], [2]], np.zeros((2, 0)), {}, "there is no label"),
            (np.zeros((0, 2)), np.zeros((0, 1)), {}, "the stream is empty"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, X, Y, names, message):
        with pytest.raises(MarleneError, match=message):
            Stream.from_arrays(X, Y, **names)

    @pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("infinity", [np.inf, -np.inf])
    def test_infinities_are_refused_by_place(self, layout, infinity):
        X = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [0.0, infinity, 0.0]])
        with pytest.raises(MarleneError, match="mine: example 2, feature 'b'"):
            Stream.from_arrays(layout(X), np.ones((3, 1)), features=["a", "b", "c"], name="mine")


class TestExamples:
    def test_zeros_are_present_and_missing_values_are_not(self):
        for X in both_layouts([[0, 2.5, np.nan], [1, 0, 0]]):
            pairs = list(Stream.from_arrays(X, [[1], [0]]))
            assert pairs == [
                ({"x0": False, "x1": 2.5}, {"y0": True}),
                ({"x0": True, "x1": 0.0, "x2": False}, {"y0": False}),
            ]

    def test_head(self):
        stream = Stream.from_arrays(sp.csr_array(np.eye(4)), np.eye(4))
        assert len(stream.head(2)) == 2
        assert len(stream.head(9)) == 4
        assert stream.head(4) == stream
        with pytest.raises(MarleneError, match="at least 1, not 0"):
            stream.head(0)

    def test_equality_looks_at_everything(self):
        stream = Stream.from_arrays([[1, np.nan]], [[1]])
        assert stream == Stream.from_arrays(sp.csr_array([[1, np.nan]]), [[1]])
        assert stream != Stream.from_arrays([[2, np.nan]], [[1]])
        assert stream != Stream.from_arrays([[1, np.nan]], [[0]])
        assert stream != dataclasses.replace(stream, name="other")
        assert stream != "stream"
        with pytest.raises(TypeError):
            hash(stream)


class TestWithKinds:
    def test_auto_changes_nothing(self):
        stream = Stream.from_arrays([[1.0]], [[1]])
        assert stream.with_kinds("auto") is stream

    def test_binary_keeps_presence_only_and_leaves_the_original_alone(self):
        for X in both_layouts([[0.5, np.nan, 1], [0, -3, 0]]):
            stream = Stream.from_arrays(X, [[1], [0]])
            before = dense(stream.X).copy()
            changed = stream.with_kinds("binary")
            np.testing.assert_array_equal(dense(changed.X), [[1, np.nan, 1], [0, 1, 0]])
            np.testing.assert_array_equal(dense(stream.X), before)
            assert {feature.kind for feature in changed.features} == {"binary"}

    def test_numeric_keeps_the_values(self):
        stream = Stream.from_arrays([[0, 1]], [[1]]).with_kinds("numeric")
        assert {feature.kind for feature in stream.features} == {"numeric"}
        assert stream.example(0) == {"x0": 0.0, "x1": 1.0}

    def test_nominal_features_stay_unless_named(self):
        size = Feature("size", "nominal", ("10", "20"))
        for X in both_layouts([[0, 1], [1, 2], [np.nan, 0]]):
            stream = Stream.from_arrays(X, [[1], [0], [1]], features=[size, "x"])
            assert stream.with_kinds("numeric").features[0] == size
            named = stream.with_kinds({"size": "numeric"})
            assert named.features[0] == Feature("size")
            np.testing.assert_array_equal(dense(named.X), [[10, 1], [20, 2], [np.nan, 0]])
            assert dense(stream.with_kinds({"size": "binary"}).X)[:2, 0].tolist() == [1, 1]

    def test_nominal_numbers_from_zero_stay_sparse(self):
        size = Feature("size", "nominal", ("0", "5", "9"))
        X = sp.csr_array(np.array([[0.0, 0.0], [0.0, 2.0], [7.0, 1.0]]))
        named = Stream.from_arrays(X, np.ones((3, 1)), features=["x", size]).with_kinds({"size": "numeric"})
        assert isinstance(named.X, sp.csr_array)
        np.testing.assert_array_equal(dense(named.X), [[0, 0], [0, 9], [7, 5]])

    def test_names_are_no_numbers(self):
        stream = Stream.from_arrays([[0]], [[1]], features=[Feature("colour", "nominal", ("red",))])
        with pytest.raises(MarleneError, match="'colour': its value 'red' is not a number"):
            stream.with_kinds({"colour": "numeric"})

    def test_binary_to_nominal(self):
        stream = Stream.from_arrays([[0], [1]], [[1], [0]]).with_kinds({"x0": "nominal"})
        assert stream.example(1) == {"x0": "1"}

    @pytest.mark.parametrize(
        ("kinds", "message"),
        [
            ({"nothing": "binary"}, "there is no feature named 'nothing'"),
            ({"x0": "text"}, "the kind must be one of numeric, binary, nominal, not 'text'"),
            ({"x0": "nominal"}, "a numeric column has no list of values"),
            ("text", "the kind must be one of numeric, binary, nominal, not 'text'"),
        ],
    )
    def test_what_cannot_be_is_refused(self, kinds, message):
        with pytest.raises(MarleneError, match=message):
            Stream.from_arrays([[0.5]], [[1]]).with_kinds(kinds)

    def test_a_stream_without_features(self):
        stream = Stream.from_arrays(np.zeros((2, 0)), [[1], [0]])
        assert stream.with_kinds("binary") == stream


class TestLabelColumns:
    @pytest.mark.parametrize(
        ("labels", "expected"),
        [
            (1, [0]),
            (-2, [1, 2]),
            (3, [0, 1, 2]),
            ("is_*", [1, 2]),
            ("is_urgent, age", [0, 2]),
            ("?ge", [0]),
            (["is_urgent", "is_spam"], [1, 2]),
            (("age",), [0]),
        ],
    )
    def test_choices(self, labels, expected):
        assert label_columns(NAMES, labels, "t.csv") == expected

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            (0, "cannot take 0 of 3 columns"),
            (4, "cannot take 4 of 3 columns"),
            (-4, "cannot take -4 of 3 columns"),
            ("was_*", "no column matches the label pattern 'was_\\*'"),
            ("is_spam,", "no column matches the label pattern ''"),
            (["spam"], "there is no label column named 'spam'"),
            ([], "there is no label"),
        ],
    )
    def test_what_is_not_there(self, labels, message):
        with pytest.raises(MarleneError, match=f"t.csv: {message}"):
            label_columns(NAMES, labels, "t.csv")

    def test_brackets_in_a_name_match_themselves(self):
        assert label_columns(["a", "topic[1]"], "topic[1]", "t.csv") == [1]


@given(arrays(float, (4, 3), elements=st.sampled_from([0.0, 1.0, 2.0, np.nan, -1.5])))
def test_dense_and_sparse_agree(X):
    plain, sparse = as_matrix(X, "x"), as_matrix(sp.csr_array(X), "x")
    assert inferred_kinds(plain) == inferred_kinds(sparse)
    Y = np.ones((4, 1))
    first, second = Stream.from_arrays(plain, Y), Stream.from_arrays(sparse, Y)
    assert first == second
    for kinds in ("numeric", "binary"):
        assert first.with_kinds(kinds) == second.with_kinds(kinds)
    assert list(first) == list(second)
