"""Data frames, Parquet files and data sets of River."""

import itertools
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from river import datasets

from marlene._common.errors import MarleneError, MissingExtraError
from marlene.streams import Feature, Stream, from_frame, from_river, read_parquet


def kinds(stream):
    return [feature.kind for feature in stream.features]


class TestFrames:
    def test_pandas_types(self):
        frame = pd.DataFrame(
            {
                "float": [0.5, np.nan, 1],
                "bool": [True, False, True],
                "nullable": pd.array([2, None, 0], dtype="Int64"),
                "boolean": pd.array([True, None, False], dtype="boolean"),
                "object": [1, "2", None],
                "string": pd.array(["a", pd.NA, "b"], dtype="string"),
                "category": pd.Categorical(["y", None, "x"]),
                "numbers": pd.Categorical([3, 1, 3]),
                "sparse": pd.arrays.SparseArray([0.0, 0.0, 2.0]),
                7: [1, 2, 3],
                "spam": [1.0, None, 0.0],
                "urgent": ["yes", "NO", ""],
            }
        )
        stream = from_frame(frame, labels="spam,urgent")
        assert [feature.name for feature in stream.features][-2:] == ["sparse", "7"]
        assert {feature.name: feature.values for feature in stream.features if feature.kind == "nominal"} == {
            "string": ("a", "b"),
            "category": ("y", "x"),
            "numbers": ("3", "1"),
        }
        assert {feature.name for feature in stream.features if feature.kind == "binary"} == {"bool", "boolean"}
        np.testing.assert_array_equal(
            stream.X,
            [
                [0.5, 1, 2, 1, 1, 0, 0, 0, 0, 1],
                [np.nan, 0, np.nan, np.nan, 2, np.nan, np.nan, 1, 0, 2],
                [1, 1, 0, 0, np.nan, 1, 1, 0, 2, 3],
            ],
        )
        assert stream.Y.tolist() == [[1, 1], [-1, 0], [0, -1]]

    def test_polars_types(self):
        frame = pl.DataFrame(
            {
                "float": [0.5, None, float("nan")],
                "bool": [True, None, False],
                "small": pl.Series([0, 1, 2], dtype=pl.UInt8),
                "decimal": pl.Series([Decimal("1.5"), None, Decimal(2)]),
                "category": pl.Series(["y", None, "x"], dtype=pl.Categorical),
                "enum": pl.Series(["x", "1", "x"], dtype=pl.Enum(["1", "x"])),
                "nothing": [None, None, None],
                "spam": [True, False, None],
            }
        )
        stream = from_frame(frame, labels=["spam"], name="mail")
        assert kinds(stream) == ["numeric", "binary", "numeric", "numeric", "nominal", "nominal", "binary"]
        assert stream.features[5].values == ("x", "1")
        nan = np.nan
        np.testing.assert_array_equal(
            stream.X, [[0.5, 1, 0, 1.5, 0, 0, nan], [nan, nan, 1, nan, nan, 1, nan], [nan, 0, 2, 2, 1, 0, nan]]
        )
        assert stream.Y.tolist() == [[1], [0], [-1]]

    @pytest.mark.parametrize(
        "values",
        [
            [[1], [2]],
            [b"a", b"b"],
            [(1 + 2j), 3j],
        ],
        ids=["list", "bytes", "complex"],
    )
    @pytest.mark.parametrize("package", [pd, pl])
    def test_other_types_are_refused(self, package, values):
        with pytest.raises(MarleneError, match=r"frame, row 0, column 'x': expected a number, .* of type"):
            from_frame(package.DataFrame({"x": values, "spam": [1, 0]}), labels=["spam"])

    @pytest.mark.parametrize("package", [pd, pl])
    def test_bad_cells_are_named_by_row(self, package):
        with pytest.raises(MarleneError, match="frame, row 1, column 'x': the value is infinite"):
            from_frame(package.DataFrame({"x": [1.0, np.inf], "spam": [1, 0]}), labels=["spam"])
        with pytest.raises(MarleneError, match=r"frame, row 1, label 'spam': expected 0 or 1, .*found 2"):
            from_frame(package.DataFrame({"x": [1.0, 2], "spam": [1, 2]}), labels=["spam"])

    def test_an_empty_frame(self):
        with pytest.raises(MarleneError, match="the stream is empty"):
            from_frame(pl.DataFrame({"x": [], "spam": []}), labels=["spam"])

    def test_duplicate_columns(self):
        frame = pd.DataFrame([[1, 2, 1]], columns=["x", "x", "spam"])
        with pytest.raises(MarleneError, match="two columns are named 'x'"):
            from_frame(frame, labels=["spam"])

    @pytest.mark.parametrize("other", [[1, 2], {"a": [1]}, pd.Series([1])])
    def test_what_is_no_frame(self, other):
        with pytest.raises(MarleneError, match="expected a data frame of pandas or polars"):
            from_frame(other, labels=1)


class TestParquet:
    def test_it_reads_what_polars_writes(self, tmp_path):
        frame = pl.DataFrame({"length": [12.5, None], "colour": ["red", "blue"], "spam": [True, None]})
        path = tmp_path / "mail.parquet"
        frame.write_parquet(path)
        assert read_parquet(path, labels=["spam"]) == from_frame(frame, labels=["spam"], name="mail")

    @pytest.mark.parametrize("content", [b"", b"PAR1", b"a,b\n1,2\n" * 10])
    def test_what_is_no_parquet_file(self, tmp_path, content):
        path = tmp_path / "mail.parquet"
        path.write_bytes(content)
        with pytest.raises(MarleneError, match=r"mail\.parquet: expected a Parquet file"):
            read_parquet(path, labels=1)

    def test_files_that_cannot_be_read(self, tmp_path):
        for path in (tmp_path / "nothing.parquet", tmp_path):
            with pytest.raises(MarleneError, match="cannot be read"):
                read_parquet(path, labels=1)

    def test_without_polars(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "polars", None)
        with pytest.raises(MissingExtraError, match=r'pip install "marlene\[experiments\]"'):
            read_parquet(tmp_path / "mail.parquet", labels=1)


class TestRiver:
    def test_absent_keys_are_missing(self):
        pairs = [
            ({"a": 1.5}, {"spam": True}),
            ({"b": "red", 3: True}, {"spam": False, "urgent": True}),
            ({"a": None, "b": "blue"}, {"urgent": np.bool_(False)}),
        ]
        stream = from_river(iter(pairs), name="mail")
        nan = np.nan
        np.testing.assert_array_equal(stream.X, [[1.5, nan, nan], [nan, 0, 1], [nan, 1, nan]])
        assert stream.features == (Feature("a"), Feature("b", "nominal", ("red", "blue")), Feature("3", "binary"))
        assert stream.Y.tolist() == [[1, -1], [0, 1], [-1, 0]]
        assert list(stream)[1] == ({"b": "red", "3": True}, {"spam": False, "urgent": True})

    def test_a_stream_survives_the_round_trip(self):
        nominal = Feature("c", "nominal", ("red", "blue"))
        X = np.array([[0.5, 1, 0], [np.nan, 0, 1], [2.5, 1, np.nan]])
        stream = Stream.from_arrays(X, [[1, 0], [0, 1], [1, 1]], features=["a", "b", nominal])
        assert from_river(stream, name=stream.name) == stream

    def test_a_data_set_of_river(self):
        stream = from_river(datasets.Yeast(), limit=50)
        assert repr(stream) == "<Stream yeast: 50 examples, 103 features (dense), 14 labels>"

    def test_a_generator_without_an_end_needs_a_limit(self):
        class Endless:
            n_samples = None

            def __iter__(self):
                return (({"a": i / 7}, {"odd": i % 2 == 1}) for i in itertools.count())

        with pytest.raises(MarleneError, match="endless: the data set has no end; say with limit="):
            from_river(Endless())
        assert len(from_river(Endless(), limit=10)) == 10
        with pytest.raises(MarleneError, match="at least 1, not 0"):
            from_river(Endless(), limit=0)

    def test_a_label_may_be_named_as_a_feature(self):
        stream = from_river([({"a": 1}, {"a": True})])
        assert (stream.features[0].name, stream.labels) == ("a", ("a",))

    @pytest.mark.parametrize(
        ("pairs", "message"),
        [
            ([({"a": 1}, True)], "example 0: expected a dictionary of inputs and one of labels"),
            ([({"a": 1}, {"y": True}), 3], "example 1: expected a dictionary"),
            ([({"a": 1}, {})], "there is no label"),
            ([], "there is no label"),
            ([({"a": 10**400}, {"y": True})], "example 0, column 'a': the value is infinite"),
            ([({"a": 1}, {"y": True}), ({"a": [1]}, {"y": True})], "example 1, column 'a': .* of type list"),
            ([({"a": 1}, {"y": True}), ({"a": 1}, {"y": 0.5})], "example 1, label 'y': .*found 0.5"),
        ],
    )
    def test_what_is_refused(self, pairs, message):
        with pytest.raises(MarleneError, match=f"list.*{message}"):
            from_river(pairs)
