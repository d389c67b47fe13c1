"""The programs and the notebook in `examples/` run, and show what they promise."""

import importlib.util
import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def program(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tickets_go_from_a_table_to_a_worker(tmp_path, capsys):
    scores = program("tickets").main(tmp_path)
    assert scores["f1"] > 0.7
    assert scores["right"] > 0.7
    assert (tmp_path / "tickets.html").stat().st_size < 2_000_000
    assert "the worker answered 100 messages" in capsys.readouterr().out


def test_methods_are_compared_with_statistics(tmp_path, capsys):
    best = program("compare").main(str(tmp_path), size=60)
    said = capsys.readouterr().out
    assert best == "marlene"
    assert "Friedman over 7 streams" in said
    assert said.count("(Wilcoxon, Holm)") == 3
    assert (tmp_path / "ranks.png").stat().st_size > 1000


def test_the_notebook_explains_a_drift(tmp_path, monkeypatch, capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    book = json.loads((EXAMPLES / "explain_a_drift.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    names = {}
    for cell in cells:
        exec(compile(cell, "explain_a_drift.ipynb", "exec"), names)  # noqa: S102 (our own text)
    assert len(names["found"]) >= 5
    assert names["gain"] > 0
    assert "labels found the one that had learnt their concept" in capsys.readouterr().out
    assert (tmp_path / "drift.html").exists()


def test_the_notebook_is_kept_without_outputs():
    book = json.loads((EXAMPLES / "explain_a_drift.ipynb").read_text(encoding="utf-8"))
    assert all(not cell["outputs"] for cell in book["cells"] if cell["cell_type"] == "code")
