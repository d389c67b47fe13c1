"""`marlene report`, and `--report` of other commands: where the page goes, and what is refused."""

import json

import pytest

from tests.cli.commands import caller

call = pytest.fixture(caller)
GRID = "[[streams]]\nload = 'yeast'\nlimit = 80\n[[methods]]\nname = 'majority'\n"


def title(path):
    return path.read_text(encoding="utf-8").partition("<title>")[2].partition("</title>")[0]


def test_a_run_writes_its_report(call, tmp_path):
    page = tmp_path / "run.html"
    outcome = call("run", "yeast", "--method", "majority", "--limit", 200, "--report", page)
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == f"report: {page}"
    assert title(page) == "majority on yeast"


def test_json_stays_alone(call, tmp_path):
    page = tmp_path / "run.html"
    outcome = call("run", "yeast", "--method", "majority", "--limit", 200, "--json", "--report", page)
    assert json.loads(outcome.out)["examples"] == 200
    assert page.stat().st_size > 500_000


def test_a_lazy_run_has_a_report_too(call, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("x,y1,y2\n" + "".join(f"{i % 7},{i % 2},{i % 3 == 0:d}\n" for i in range(3000)), encoding="utf-8")
    page = tmp_path / "run.html"
    assert call("run", table, "--labels", "y*", "--lazy", "--method", "majority", "--report", page).code == 0
    assert "Each of 3,000 examples with 1 feature and 2 labels" in page.read_text(encoding="utf-8")


def test_methods_side_by_side(call, tmp_path):
    page = tmp_path / "compare.html"
    outcome = call(
        "compare", "yeast", "--methods", "majority,br-marlene", "--seeds", 2, "--limit", 400, "--report", page
    )
    assert outcome.code == 0
    assert outcome.out.splitlines()[-1] == f"report: {page}"
    text = page.read_text(encoding="utf-8")
    assert title(page) == "majority and br-marlene on yeast"
    assert "Wilcoxon" in text
    assert "Class14" in text


def test_a_grid_has_a_report(call, tmp_path):
    (tmp_path / "grid.toml").write_text(GRID, encoding="utf-8")
    assert call("grid", tmp_path / "grid.toml", "--out", tmp_path / "results").code == 0
    outcome = call("report", tmp_path / "results")
    assert outcome.out == f"report: {tmp_path / 'results' / 'report.html'}\n"
    assert title(tmp_path / "results" / "report.html") == "majority on yeast"
    assert call("report", tmp_path / "results", "--out", tmp_path / "here.html").code == 0
    assert (tmp_path / "here.html").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "nowhere"], "nowhere: there is no such file or folder"),
        (["report", "."], "neither a saved result"),
        (["report", "text.npz"], "not a file of marlene's, or damaged"),
        (["run", "yeast", "--report", "no/such/folder.html"], "--report no/such/folder.html: there is no folder"),
        (["compare", "yeast", "--report", "no/such/folder.html"], "--report no/such/folder.html: there is no folder"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(call, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    if words[-1] == "text.npz":
        (tmp_path / "text.npz").write_text("text", encoding="utf-8")
    outcome = call(*words)
    assert outcome.code == 2
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
