"""What a user says about columns: what to drop, kinds, lists of labels."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene.encoders import date_inputs
from marlene.streams import Feature, load, read_csv

TICKETS = (
    "id,subject,created,spam,urgent\n"
    "t1,Refund please,2024-05-01 10:30,1,0\n"
    "t2,,?,0,1\n"
    't3,"Please, REFUND my order",2024-12-31 23:59,1,1\n'
)


@pytest.fixture
def tickets(tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text(TICKETS)
    return path


def names(stream):
    return [feature.name for feature in stream.features]


class TestDrop:
    @pytest.mark.parametrize("drop", ["id,s?bject,urgent", ["id", "subject", "urgent"]])
    def test_patterns_and_names(self, tickets, drop):
        stream = load(tickets, labels="spam,urgent", drop=drop, kinds={"created": "nominal"})
        assert (names(stream), stream.labels) == (["created"], ("spam",))

    def test_features_and_labels(self, tickets):
        stream = load(tickets, labels="spam,urgent", drop="id,created,urgent", kinds={"subject": "nominal"})
        assert (names(stream), stream.labels) == (["subject"], ("spam",))

    def test_columns_by_number_are_counted_before_some_are_dropped(self, tickets):
        assert load(tickets, labels=-2, drop=["urgent", "created", "id"]).labels == ("spam",)

    def test_other_sources(self):
        yeast = load("yeast", limit=20)
        stream = load(yeast, drop="Att1?,Class1")
        assert len(stream.features) == len(yeast.features) - 10
        assert stream.labels == yeast.labels[1:]
        assert stream.X.shape[1] == len(stream.features)

    def test_what_is_not_there(self, tickets):
        with pytest.raises(MarleneError, match=r"tickets\.csv: there is no column named 'note' to drop"):
            load(tickets, labels=-2, drop=["note"])
        with pytest.raises(MarleneError, match=r"no column matches the pattern 'x\*', which is to be dropped"):
            load(tickets, labels=-2, drop="id,x*")

    def test_no_label_left(self, tickets):
        with pytest.raises(MarleneError, match="there is no label"):
            load(tickets, labels=-2, drop="spam,urgent,id")


def test_all_columns_that_cannot_be_used_are_in_one_message(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("id,key,size,y\n" + "".join(f"a{i},b{i},{'inf' if i == 3 else 1},1\n" for i in range(1001)))
    with pytest.raises(MarleneError) as caught:
        load(path, labels=["y"])
    said = str(caught.value)
    assert said.startswith(f"{path}: 3 columns cannot be used: column 'id' has 1001 different values")
    assert "drop='key', --drop key" in said
    assert said.endswith("; line 5, column 'size': the value is infinite")
    assert "\n" not in said


@pytest.mark.parametrize("lazy", [False, True])
def test_labels_that_cannot_be_used_are_in_the_same_message(tmp_path, lazy):
    path = tmp_path / "bad.csv"
    path.write_text("id,y,tags\n" + "".join(f"a{i},2,a|b\n" for i in range(1001)))
    with pytest.raises(MarleneError) as caught:
        load(path, labels="y,tags", lazy=lazy)
    said = str(caught.value)
    assert said.startswith(f"{path}: 3 columns cannot be used: column 'id' has 1001 different values")
    assert "line 2, label 'y': expected 0 or 1, true or false, yes or no, found '2'" in said
    assert "line 2, label 'tags': expected" in said
    assert said.endswith("separator='|' (--separator '|')")


def test_a_message_tells_of_some_columns_and_is_one_line(tmp_path):
    path = tmp_path / "bad.csv"
    names = ",".join(f'"c\n{i}"' for i in range(50))
    path.write_text(f"{names},y\n{','.join(['inf'] * 50)},1\n")
    with pytest.raises(
        MarleneError, match=r": 50 columns cannot be used: .*'c\\n7': the value is infinite; …$"
    ) as caught:
        load(path, labels=["y"])
    assert str(caught.value).count("infinite") == 8


class TestKinds:
    def test_text(self, tickets):
        stream = load(tickets, labels=-2, drop="id,created", kinds={"subject": "text"})
        assert isinstance(stream.X, sp.csr_array)
        assert names(stream) == ["subject: refund", "subject: please", "subject: my", "subject: order"]
        assert {feature.kind for feature in stream.features} == {"binary"}
        assert stream.X.toarray().tolist() == [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]]
        assert stream.X.has_sorted_indices

    def test_options_of_text(self, tickets):
        pairs = load(tickets, labels=-2, drop="id,created", kinds={"subject": "text:pairs"})
        assert names(pairs)[:3] == ["subject: refund", "subject: please", "subject: refund please"]
        few = load(tickets, labels=-2, drop="id,created", kinds={"subject": "text:2"})
        assert len(few.features) == 2 + 1024
        with pytest.raises(MarleneError, match="'triples'"):
            load(tickets, labels=-2, drop="id,created", kinds={"subject": "text:triples"})

    def test_dates_and_the_clock(self, tickets):
        stream = load(tickets, labels=-2, drop="id,subject", kinds={"created": "date"})
        seconds = np.array([1714559400, np.nan, 1735689540])
        np.testing.assert_array_equal(stream.clock, seconds)
        np.testing.assert_array_equal(stream.X, date_inputs(seconds))
        assert names(stream)[:2] == ["created", "created: hour sin"]
        np.testing.assert_array_equal(stream.head(2).clock, seconds[:2])
        np.testing.assert_array_equal(stream.halves()[1].clock, seconds[1:])
        assert load(tickets, labels=-2, drop="id,subject,created", features="numeric").clock is None

    def test_a_date_that_is_none(self, tickets):
        with pytest.raises(MarleneError, match=r"line 2, column 'subject': expected a date .*, found 'Refund please'"):
            load(tickets, labels=-2, drop="id,created", kinds={"subject": "date"})

    def test_a_form_of_dates(self):
        frame = pl.DataFrame({"at": ["1.2.1970", None], "y": [0, 1]})
        stream = load(frame, labels="y", kinds={"at": "date:%d.%m.%Y"})
        np.testing.assert_array_equal(stream.clock, [31 * 86400, np.nan])
        with pytest.raises(MarleneError, match=r"row 0, column 'at': expected a date written as '%Y', found"):
            load(frame, labels="y", kinds={"at": "date:%Y"})

    def test_numbers_as_dates(self, tmp_path):
        frame = pl.DataFrame({"at": [1.5e12, None], "y": [0, 1]})
        np.testing.assert_array_equal(load(frame, labels="y", kinds={"at": "date:ms"}).clock, [1.5e9, np.nan])
        with pytest.raises(
            MarleneError, match=r"row 0, column 'at': expected a date .*date:ms.*found 1\.5e\+12 seconds"
        ):
            load(frame, labels="y", kinds={"at": "date"})
        path = tmp_path / "at.csv"
        path.write_text("at,y\n1500000000000,1\n?,0\n")
        np.testing.assert_array_equal(load(path, labels="y", kinds={"at": "date:ms"}).clock, [1.5e9, np.nan])
        with pytest.raises(MarleneError, match=r"line 2, column 'at': expected a date .*found '1500000000000'"):
            load(path, labels="y", kinds={"at": "date"})

    def test_what_is_no_text(self):
        frame = pl.DataFrame({"a": [None, b"bytes"], "y": [0, 1]})
        with pytest.raises(MarleneError, match=r"row 1, column 'a': .* of type bytes; leave it out"):
            load(frame, labels="y", kinds={"a": "text"})
        numbers = pd.DataFrame({"a": [1.5, None, True, dt.date(2024, 5, 1), ["x", 7]], "y": [0, 1, 0, 1, 1]})
        found = load(numbers, labels="y", kinds={"a": "text"})
        assert names(found) == ["a: 1", "a: 5", "a: true", "a: 2024", "a: 05", "a: 01", "a: x", "a: 7"]

    def test_guesses_are_said(self, tmp_path):
        path = tmp_path / "many.csv"
        rows = "".join(f"my order {i},2024-01-01 {i % 24:02}:00,{i % 2}\n" for i in range(101))
        path.write_text("subject,created,y\n" + rows)
        said = r"many\.csv: read 'subject' as text \(101 different values of 3 words\), 'created' as date; kinds="
        with pytest.warns(UserWarning, match=said):
            stream = load(path, labels=["y"])
        assert stream == read_csv(path, labels=["y"], kinds={"subject": "text", "created": "date"})
        assert len(stream.features) == 103 + 7

    def test_patterns_and_all_others(self):
        frame = pl.DataFrame({"a_1": [1, 2], "a_2": [2, 3], "b": [4.5, 0], "c": ["x", "y"], "y": [0, 1]})
        stream = load(frame, labels="y", kinds={"a_*": "nominal", "a_2": "numeric"}, features="binary")
        assert [feature.kind for feature in stream.features] == ["nominal", "numeric", "binary", "nominal"]
        with pytest.raises(MarleneError, match="there is no feature named 'd_"):
            load(frame, labels="y", kinds={"d_*": "text"})

    def test_words_and_dates_keep_their_kinds(self, tickets):
        kinds = {"subject": "text", "created": "date"}
        stream = load(tickets, labels=-2, drop="id", kinds=kinds, features="numeric")
        assert [f.kind for f in stream.features] == ["binary"] * 4 + ["numeric"] * 7
        assert load(tickets, labels=-2, drop="id", kinds=kinds, features="binary") == stream

    def test_arrays_have_no_text(self):
        with pytest.raises(MarleneError, match="one of numeric, binary, nominal, not 'text'"):
            load((np.eye(2), [[1], [0]]), kinds={"x0": "text"})


class TestTimes:
    MOMENTS = (
        dt.datetime.fromisoformat("2024-05-01T10:30:00.250"),
        None,
        dt.datetime.fromisoformat("1969-07-20T20:17"),
    )
    SPANS = (dt.timedelta(hours=1), None, dt.timedelta(microseconds=1))

    @pytest.mark.parametrize("package", [pd, pl])
    def test_frames(self, package):
        frame = package.DataFrame({"at": self.MOMENTS, "for": self.SPANS, "y": [1, 0, 1]})
        stream = load(frame, labels="y")
        seconds = [None if m is None else m.replace(tzinfo=dt.UTC).timestamp() for m in self.MOMENTS]
        np.testing.assert_array_equal(stream.clock, np.array(seconds, float))
        np.testing.assert_array_equal(stream.X[:, -1], [3600, np.nan, 1e-6])

    @pytest.mark.parametrize("package", [pd, pl])
    def test_objects(self, package):
        frame = package.DataFrame({"day": [dt.date(1970, 1, 2), None], "at": [dt.time(1, 2, 3), None], "y": [1, 0]})
        stream = load(frame, labels="y")
        np.testing.assert_array_equal(stream.clock, [86400, np.nan])
        np.testing.assert_array_equal(stream.X[:, -1], [3723, np.nan])

    def test_time_zones(self):
        zone = dt.timezone(dt.timedelta(hours=2))
        at = [dt.datetime(1970, 1, 1, 2, tzinfo=zone), None]
        pandas = pd.DataFrame({"at": pd.to_datetime(at, utc=True).tz_convert("Europe/Paris"), "y": [0, 1]})
        polars = pl.DataFrame({"at": at, "y": [0, 1]})
        for frame in (pandas, polars):
            np.testing.assert_array_equal(load(frame, labels="y").clock, [0, np.nan])


class TestListsOfLabels:
    EXPECTED = (("a", "b c", "d"), [[1, 1, 0], [0, 0, 1], [0, 0, 0], [-1, -1, -1]])

    def test_a_separator(self, tmp_path):
        path = tmp_path / "tags.csv"
        path.write_text("n,tags\n1,b c|a\n2,d| d |\n3,\n4,?\n")
        stream = load(path, labels="tags", separator="|")
        assert (stream.labels, stream.Y.tolist()) == self.EXPECTED
        with pytest.raises(MarleneError, match=r"line 2, label 'tags': .*found 'b c\|a'; .*separator='\|'"):
            load(path, labels="tags")

    @pytest.mark.parametrize("package", [pd, pl])
    def test_lists(self, package):
        frame = package.DataFrame({"n": [1, 2, 3, 4], "tags": [["b c", "a"], ["d", "d"], [], None]})
        stream = load(frame, labels=["tags"])
        assert (stream.labels, stream.Y.tolist()) == self.EXPECTED

    def test_sets_and_arrays(self):
        frame = pd.DataFrame({"n": [1, 2, 3, 4], "tags": [{"b c", "a"}, np.array(["d"]), (), None]})
        stream = load(frame, labels=["tags"])
        assert (stream.labels, stream.Y.tolist()) == self.EXPECTED

    def test_numbers_are_names_in_the_order_of_their_size(self):
        frame = pl.DataFrame({"n": [1, 2], "tags": [[10, 9], [9]]})
        stream = load(frame, labels=["tags"])
        assert (stream.labels, stream.Y.tolist()) == (("9", "10"), [[1, 1], [1, 0]])
        numbers = load(pl.DataFrame({"n": [1, 2], "class": [3, 4]}), labels=["class"], separator="|")
        assert (numbers.labels, numbers.Y.tolist()) == (("3", "4"), [[1, 0], [0, 1]])

    def test_what_is_refused(self):
        frame = pl.DataFrame({"n": [1, 2], "tags": ["", ""]})
        with pytest.raises(MarleneError, match="column 'tags' holds no label"):
            load(frame, labels=["tags"], separator=",")
        with pytest.raises(MarleneError, match="the separator of labels is empty"):
            load(frame, labels=["tags"], separator="")
        with pytest.raises(MarleneError, match="separator= is for tables"):
            load("yeast", separator="|")
        mixed = pd.DataFrame({"n": [1, 2], "tags": [["a"], 3.5]})
        with pytest.raises(MarleneError, match=r"row 1, labels 'tags': expected a list of labels, found 3\.5"):
            load(mixed, labels=["tags"])

    def test_lists_as_features(self):
        frame = pl.DataFrame({"words": [["a", "b"], ["b"]], "y": [1, 0]})
        with pytest.raises(MarleneError, match=r"type list; leave it out .*read the items as words"):
            load(frame, labels="y")
        assert load(frame, labels="y", kinds={"words": "text"}).X.toarray().tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_dictionaries_in_pandas(missing):
    cells = [{"age": 3, "name": {"first": "Ann"}}, missing]
    stream = load(pd.DataFrame({"n": [1.5, 2], "who": cells, "y": [1, 0]}), labels="y")
    assert [feature.name for feature in stream.features] == ["n", "who.age", "who.name.first"]
    np.testing.assert_array_equal(stream.X, [[1.5, 3, 0], [2, np.nan, np.nan]])


def test_declared_kinds_of_polars():
    nothing = pl.Series([None, None], dtype=pl.Datetime)
    frame = pl.DataFrame({"e": pl.Series(["1", "0"], dtype=pl.Enum(["0", "1"])), "at": nothing, "y": [1, 0]})
    stream = load(frame, labels="y")
    assert stream.features[0].kind == "nominal"
    assert np.isnan(stream.clock).all()


def test_no_dictionaries():
    for nothing in ([], iter([])):
        with pytest.raises(MarleneError, match="records: expected dictionaries, found none"):
            load(nothing, labels="y")
    with pytest.raises(MarleneError, match="cannot load a stream from dict"):
        load({"a": [1]}, labels="a")
    with pytest.raises(MarleneError, match="records, row 1: expected a dictionary, found int"):
        load([{"a": 1}, 3], labels="a")


def test_label_names_may_be_an_array():
    assert load((np.eye(2), [[1], [0]]), labels=np.array(["spam"])).labels == ("spam",)


def test_an_arrow_table_and_a_lazy_frame():
    frame = pl.DataFrame({"n": [1, 2], "who": [{"age": 3, "name": {"first": "Ann"}}, None], "y": [1, 0]})

    class Arrow:
        def __arrow_c_stream__(self, requested_schema=None):
            return frame.__arrow_c_stream__(requested_schema)

    stream = load(frame, labels="y")
    assert stream.features == (Feature("n"), Feature("who.age"), Feature("who.name.first", "nominal", ("Ann",)))
    assert load(Arrow(), labels="y") == stream
    assert load(frame.lazy(), labels="y") == stream
    with pytest.raises(MarleneError, match="the lazy frame cannot be computed"):
        load(frame.lazy().select("nothing"), labels="y")
