"""`marlene demo`: a line per label, who inherited from whom, and a page."""

import io
import re

import pytest
from rich.console import Console

from marlene import Marlene
from marlene.cli import _demo
from marlene.evaluation import Progress
from tests.cli.commands import caller

call = pytest.fixture(caller)


def test_the_demo(call, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = tmp_path / "demo.html"
    outcome = call("demo", "--report", page)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert re.match(r"marlene on yeast: 2,417 examples, 103 features, 14 labels, \d", lines[0])
    assert "(0.567)" in lines[1]
    assert sum(bool(re.match(r"Class\d+ .*\|.*\d\.\d\d", line)) for line in lines) == 14
    assert any(re.match(r"Class4 .* from Class3$", line) for line in lines)
    assert re.search(r"of 14 labels inherited from another after the drift, \d+ of them", outcome.out)
    assert lines[-1] == f"report: {page}"
    assert page.stat().st_size < 2_000_000
    assert "true drift of 14 labels" in page.read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_refused_before_the_demo(call):
    outcome = call("demo", "--report", "no/such/folder/page.html")
    assert (outcome.code, outcome.out) == (2, "")


@pytest.mark.parametrize(("encoding", "marks"), [("utf-8", "▁█"), ("ascii", "18")])
def test_lines_grow_on_a_terminal(monkeypatch, encoding, marks):
    monkeypatch.setattr(_demo, "PAUSE", 0)
    file = io.TextIOWrapper(io.BytesIO(), encoding, errors="replace")
    console = Console(file=file, force_terminal=True, width=80)
    with _demo._board(console, Marlene(), ("spam", "late"), 200) as show:
        for done, scores in ((100, (0.1, 0.9)), (150, (0.5, 0.5)), (300, (0.9, float("nan")))):
            show(Progress(done, 400, {"micro_gmean": 0.9}, {}, 0.0, labels=scores))
    file.flush()
    text = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", file.buffer.getvalue().decode(encoding))
    assert f"spam      {marks[0]}|{marks[1]}  0.90" in text
    assert f"late      {marks[1]}|      -" in text
