"""`marlene inspect`: what was understood of a file, and the command that uses it."""

import json
import shlex

import polars as pl
import pytest

from marlene.streams import load
from tests.cli.commands import caller
from tests.streams.tickets import tickets, write_csv, write_jsonl

call = pytest.fixture(caller)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


@pytest.fixture
def inspected(call):
    def inspected(*arguments):
        outcome = call("inspect", *arguments, "--json")
        assert (outcome.code, outcome.err) == (0, "")
        return json.loads(outcome.out)

    return inspected


EXPECTED = "--labels tags{} --drop id --kinds subject=text,created=date"


def test_tickets(call, inspected, tmp_path):
    records = tickets(1500)
    write_csv(tmp_path / "tickets.csv", records)
    write_jsonl(tmp_path / "tickets.jsonl", records)
    found = inspected("tickets.csv")
    assert found["command"] == "marlene run tickets.csv " + EXPECTED.format(" --separator '|'")
    assert inspected("tickets.jsonl")["command"] == "marlene run tickets.jsonl " + EXPECTED.format("")
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert list(kinds.values()) == ["-", "text", "date", "numeric", "numeric", "binary", "numeric", "nominal", "label"]
    assert (found["rows"], found["clock"]) == (1500, True)
    stream = load(
        tmp_path / "tickets.csv", labels="tags", separator="|", drop="id", kinds={"subject": "text", "created": "date"}
    )
    assert found["features"] == len(stream.features)
    assert {label["name"]: label["positive"] for label in found["labels"]} == dict(
        zip(stream.labels, (stream.Y == 1).sum(axis=0).tolist(), strict=True)
    )
    out = call("inspect", "tickets.csv").out
    assert "left out: id, because it has 1500 different values in 1500 rows and looks like an identifier\n" in out
    assert found["command"] in out
    for words in (
        "tickets.csv: 1500 rows, 9 columns",
        "most often with",
        "late delivery",
        "label density",
        "with a clock",
    ):
        assert words in out


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a,is_x,is_y\n1.5,0,1\n2,1,0\n", "--labels 'is_*'"),
        ("a,x,y\n1.5,0,1\n2,1,\n", "--labels -2"),
        ("x,y,a\n1,0,1.5\n0,1,2\n", "--labels 2"),
        ("n,Tags\n1,a;b\n2,a\n3,b\n4,a;b\n", "--labels Tags --separator ';'"),
        ("n,what\n1,a|b\n2,a\n3,b\n4,a|b\n", "--labels what --separator '|'"),
        ("n,category\n" + "".join(f"{i},{'abc'[i % 3]}\n" for i in range(9)), "--labels category --separator '|'"),
        ("user_id,a,y\n7,1.5,1\n8,2,0\n9,2,0\n", "--labels -1 --drop user_id"),
    ],
)
def test_guesses(inspected, tmp_path, call, text, options):
    (tmp_path / "t.csv").write_text(text)
    found = inspected("t.csv")
    assert found["command"] == f"marlene run t.csv {options}"
    words = shlex.split(found["command"])[1:]
    assert call(*words, "--method", "majority", "--json").code == 0


def test_what_is_said_counts_more_than_guesses(inspected, tmp_path):
    (tmp_path / "t.csv").write_text("day,when,a,y\n2024-01-01,2024-01-02,1,0\n2024-01-03,2024-01-02,2.5,1\n")
    assert inspected("t.csv")["command"] == "marlene run t.csv --labels -1 --kinds day=date,when=date"
    found = inspected("t.csv", "--labels", "y", "--drop", "d*", "--kinds", "when=nominal")
    assert found["command"] == "marlene run t.csv --labels y --drop 'd*' --kinds when=nominal"
    assert [column["kind"] for column in found["columns"]] == ["-", "nominal", "numeric", "label"]


def test_no_label_is_found(call, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1.5,2\n2,3\n")
    outcome = call("inspect", "t.csv")
    assert outcome.code == 2
    assert outcome.err.startswith("marlene: t.csv: no column looks like a label; say which are labels: --labels")
    assert "numeric" in outcome.out
    assert outcome.err.count("\n") == 1


def test_errors_come_after_the_columns(call, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1.5,2\n2,3\n")
    outcome = call("inspect", "t.csv", "--labels", "b")
    assert (outcome.code, outcome.out.count("numeric")) == (2, 1)
    assert "t.csv, line 2, label 'b': expected 0 or 1" in outcome.err
    assert call("inspect", "t.csv", "--labels", "b", "--json").out == ""
    assert "'no.csv' is neither a file" in call("inspect", "no.csv").err


def test_wide_tables_and_many_labels(call, tmp_path):
    wide = {f"c{i}": [0.5, 1.5] for i in range(30)} | {f"is_{i}": [0, 1] for i in range(30)}
    pl.DataFrame(wide).write_parquet(tmp_path / "wide.parquet")
    out = call("inspect", "wide.parquet").out
    assert "35 more columns" in out
    assert "5 rarer labels" in out


def test_other_files(call, inspected, tmp_path):
    (tmp_path / "t.svm").write_text("1,2 1:0.5\n2 2:1\n 1:nan\n")
    assert inspected("t.svm", "--first-feature", 0)["command"] == "marlene run t.svm --first-feature 0"
    found = inspected("t.svm")
    assert (found["rows"], found["features"], found["measures"]["missing_values"]) == (3, 2, 1)
    assert found["labels"][1] == {"name": "2", "positive": 2, "share": 2 / 3, "unknown": 0, "with": {"1": 1}}
    assert "x1" in call("inspect", "t.svm").out
    out = call("inspect", "yeast").out
    assert "78 more features" in out
    assert "label density 0.303" in out
