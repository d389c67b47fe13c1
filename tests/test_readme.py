"""README.md and docs/: every command of the first pages and every piece of Python runs as it stands there."""

import itertools
import json
import re
import shlex
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from marlene import Marlene
from marlene.cli._app import app
from marlene.evaluation import prequential
from marlene.experiments import Grid, reproduce
from marlene.learners import Majority
from marlene.streams import load
from tests.cli.commands import caller

call = pytest.fixture(caller)

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
TOLD = "".join([TEXT, (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")])
COMMANDS = [shlex.split(line, comments=True)[1:] for line in re.findall(r"^ {4,}(marlene .*)$", TOLD, re.MULTILINE)]
PAGES = {path.name: path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]}
# Pieces of Python that are no doctests; those are run by tests/test_docs.py.
BLOCKS = {
    f"{name}-{number}": block
    for name, text in sorted(PAGES.items())
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    if ">>>" not in block
}
# What follows a command, so that it is quick: of an option given twice, the last counts.
SMALLER = {
    "run": ["--limit", "200"],
    "compare": ["--limit", "200", "--seeds", "1"],
    "datasets": ["yeast"],
    "generate IA": ["--size", "20", "--source-size", "30"],
    "generate yeast": ["--limit", "200"],
}
GRID = "[[streams]]\nload = 'yeast'\nlimit = 60\n[[methods]]\nname = 'majority'\n"
WRITTEN = ("--out", "--predictions", "--checkpoint", "--report")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Work in a folder with the files the README speaks of."""
    rng = np.random.default_rng(1)
    rows = [
        f"{age},{'red' if age > 4 else 'blue'},{int(age > 6)},{int(other > 7)}"
        for age, other in rng.integers(10, size=(60, 2))
    ]
    (tmp_path / "tickets.csv").write_text("\n".join(["age,colour,is_late,is_spam", *rows]) + "\n", encoding="utf-8")
    (tmp_path / "mail.csv").write_text("id,subject,created,tags\n1,My refund,2024-05-01,late|money\n", encoding="utf-8")
    (tmp_path / "tickets.jsonl").write_text('{"size": 3, "tags": ["late"]}\n' * 3, encoding="utf-8")
    (tmp_path / "log.jsonl").write_text('{"size": 3, "from": {"age": 7}, "tags": ["late"]}\n', encoding="utf-8")
    (tmp_path / "enron.arff").write_text(
        "@relation 'enron: -C 1'\n@attribute y {0,1}\n@attribute a numeric\n@data\n" + "1,2\n0,1\n" * 5,
        encoding="utf-8",
    )
    (tmp_path / "messages.jsonl").write_text('{"id": 1, "x": {"late": 1}, "y": {"bill": true}}\n', encoding="utf-8")
    (tmp_path / "grid.toml").write_text(GRID, encoding="utf-8")
    prequential(Majority(), load("yeast", limit=50)).save(tmp_path / "run-1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_runs(call, folder, words, monkeypatch):
    # Everything there is to reproduce takes a minute, and has a test of its own.
    monkeypatch.setattr(reproduce, "TARGETS", {"table-datasets": reproduce.TARGETS["table-datasets"]})
    outcome = call(*words, *SMALLER.get(" ".join(words[:2]), SMALLER.get(words[0], [])))
    assert outcome.code == 0, outcome.err
    assert outcome.out
    for option, value in itertools.pairwise(words):
        assert option not in WRITTEN or (folder / value).exists()
    if "--json" in words:
        json.loads(outcome.out)


def test_every_command_there_is_has_an_example():
    there = {command.callback.__name__ for command in app.registered_commands}
    assert {words[0] for words in COMMANDS} == there
    assert len(COMMANDS) == len(re.findall(r"^[ \t]+marlene ", TOLD, re.MULTILINE))


@pytest.mark.parametrize("name", BLOCKS)
def test_a_piece_of_python_runs(folder, name, monkeypatch):
    block = BLOCKS[name].replace("jobs=2", "jobs=1").replace('{"load": "yeast"}', '{"load": "yeast", "limit": 60}')
    block = block.replace("100_000", "1000")
    small = partial(load, limit=200)
    monkeypatch.setattr("marlene.streams.load", small)
    rng = np.random.default_rng(1)
    given = {
        "frame": pd.DataFrame({"words": [3, 5, 8], "urgent": [0, 1, 1], "spam": [1, 0, 0]}),
        "X": np.arange(6.0).reshape(3, 2),
        "Y": np.array([[0, 1], [1, 0], [1, 1]]),
    }
    if name.startswith("trees"):
        given |= {"x": np.array([0.5, 1, 3]), "X": rng.integers(2, size=(9, 3)).astype(float)}
        given["Y"] = rng.integers(2, size=(9, 2))
    if name.startswith("drift"):
        given |= {"correct": rng.random(22) < 0.7, "truth": rng.integers(2, size=22)}
    if "lazy=True" in block:
        given |= {"load": load, "Marlene": Marlene}
    exec(compile(block, name, "exec"), given)  # noqa: S102 (our own text)
    for written in re.findall(r"\.(?:save|report)\(\"(.+?)\"\)", block):
        assert list(folder.glob(f"{written}*"))


def test_every_piece_of_python_is_found():
    assert {name.partition("-")[0] for name in BLOCKS} >= {"README.md", "streams.md", "drift.md", "trees.md"}
    assert TEXT.count("```python") == TEXT.count("```") // 2 == sum(name.startswith("README") for name in BLOCKS)


def test_the_grid_that_is_explained_can_be_read(folder):
    block = re.findall(r"^```toml\n(.*?)^```$", PAGES["experiments.md"], re.MULTILINE | re.DOTALL)[0]
    (folder / "explained.toml").write_text(block, encoding="utf-8")
    assert len(Grid.from_toml(folder / "explained.toml").runs()) > 50


def test_the_numbers_of_predicted_labels_are_those_of_the_noise_floor():
    page = Path(__file__).parents[1] / "docs" / "results" / "noise-floor.md"
    measured = re.findall(r"([\w-]+) (\d+\.\d) for (\d+\.\d)", " ".join(page.read_text(encoding="utf-8").split()))
    said = re.findall(r"([\w-]+) (\d+\.\d) for (\d+\.\d)", " ".join(TEXT.split()))
    assert len(said) >= 2
    assert {(name.lower(), *numbers) for name, *numbers in said} <= {tuple(cell) for cell in measured}
