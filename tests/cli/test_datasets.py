"""`marlene datasets`."""

import pytest

from marlene._common.errors import MarleneError
from marlene.cli import _datasets
from marlene.streams import CATALOGUE, catalogue, load
from tests.cli.commands import caller

call = pytest.fixture(caller)

# The paper's table: |D|, |x|, |L|, LDen, LIR, LSIR.
PAPER = {
    "slashdot (b)": "3782 1079 22 0.054 0.054 0.054",
    "ohsumed (b)": "13929 1002 23 0.072 0.072 0.072",
    "reuters (n)": "6000 500 103 0.014 0.014 0.014",
    "yeast (n)": "2417 103 14 0.303 0.232 0.297",
    "20ng (b)": "19300 1006 20 0.051 0.051 0.051",
    "tmc2007 (b)": "28596 500 22 0.098 0.092 0.098",
    "imdb (b)": "120919 1001 28 0.071 0.071 0.071",
}


def table(printed):
    """Return the rows of a printed table: all but the last six words, and those."""
    rows = [line.split() for line in printed.splitlines() if line.strip() and "─" not in line]
    assert rows[0] == ["data", "set", "|D|", "|x|", "|L|", "LDen", "LIR", "LSIR"]
    return {" ".join(row[:-6]): " ".join(row[-6:]) for row in rows[1:]}


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """Take away the data sets and the web."""

    def download(*_, **__):
        raise MarleneError("there is no web here")

    monkeypatch.delenv("MARLENE_DATA", raising=False)
    monkeypatch.setenv("MARLENE_CACHE", str(tmp_path))
    monkeypatch.setattr(catalogue, "download", download)


@pytest.mark.data
def test_the_papers_table_to_three_decimals(call):
    outcome = call("datasets")
    assert (outcome.code, outcome.err) == (0, "")
    assert table(outcome.out) == PAPER
    assert list(table(outcome.out)) == list(PAPER)
    assert len(PAPER) == len(CATALOGUE)


@pytest.mark.usefixtures("alone")
def test_yeast_needs_no_file(call):
    for name in ("yeast", "Yeast"):
        outcome = call("datasets", name)
        assert (outcome.code, outcome.err) == (0, "")
        assert table(outcome.out) == {f"{name} (n)": PAPER["yeast (n)"]}


@pytest.mark.usefixtures("alone")
def test_what_is_not_there_is_left_out_and_named(call):
    outcome = call("datasets")
    assert outcome.code == 2
    rows = table(outcome.out)
    assert rows.pop("yeast (n)") == PAPER["yeast (n)"]
    assert rows == {name: "- - - - - -" for name in CATALOGUE if name != "yeast"}
    assert outcome.err.count("\n") == 1
    assert "imdb: there is no web here; put Imdb.arff or Imdb.arff.bz2 into" in outcome.err


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", ["yeasst", "imdb"])
def test_a_name_that_cannot_be_had(call, name):
    outcome = call("datasets", "yeast", name)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    assert name in outcome.err


def test_a_file_of_ones_own(call, tmp_path, monkeypatch):
    path = tmp_path / "[bold] mail.arff"
    path.write_text("@relation 'r: -C 1'\n@attribute y {0,1}\n@attribute a {0,1}\n@data\n1,1\n0,1\n0,0\n0,0\n")
    monkeypatch.chdir(tmp_path)
    assert table(call("datasets", path.name).out) == {"[bold] mail.arff (b)": "4 1 1 0.250 0.250 0.000"}


def test_progress_of_a_download(call, monkeypatch):
    def slow_load(name, progress):
        progress(1, 2)
        progress(2, None)
        return load(name)

    monkeypatch.setattr(_datasets, "load", slow_load)
    outcome = call("datasets", "yeast")
    assert (outcome.code, outcome.err) == (0, "")
