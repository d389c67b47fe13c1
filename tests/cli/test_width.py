"""What people see fits a terminal of 80 columns, with nothing cut off."""

import pytest
from rich.cells import cell_len

from tests.cli.commands import caller
from tests.streams.tickets import tickets, write_csv


@pytest.fixture
def call(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    return caller(capsys)


def too_long(text):
    return [line for line in text.splitlines() if cell_len(line) > 80]


@pytest.mark.parametrize(
    "arguments",
    [
        ["methods"],
        ["--help"],
        ["run", "--help"],
        ["generate", "--help"],
        ["run", "yeast", "--limit", 400, "--per-label"],
        ["run", "yeast", "--limit", 400, "--method", "br-marlene"],
        ["compare", "yeast", "--methods", "marlene,br-resampled,majority", "--limit", 100, "--seeds", 2],
        ["inspect", "yeast"],
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:2])),
)
def test_eighty_columns(call, arguments):
    done = call(*arguments)
    assert done.code == 0, done.err
    assert len(done.out.splitlines()) > 5
    assert too_long(done.out) == []
    assert "…" not in done.out.replace("1, 2, …", "")


def test_names_of_methods_and_numbers_are_whole(call):
    shown = call("compare", "yeast", "--methods", "br-resampled,majority", "--limit", 100, "--seeds", 2).out
    for words in ("br-resampled", "majority", "pred./true", "macro", "micro", "label-", " set ", "runs"):
        assert words in shown


def test_a_file_of_tickets(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "tickets.csv", tickets(60))
    done = call("inspect", "tickets.csv")
    assert done.code == 0
    command = done.out.rstrip().splitlines()[-1]  # to be copied as it is
    assert command.startswith("  marlene run ")
    assert too_long(done.out.removesuffix(f"{command}\n")) == []
