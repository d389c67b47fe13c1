"""`marlene reproduce`."""

import pytest

from marlene.experiments.reproduce import TARGETS
from tests.cli.commands import caller

call = pytest.fixture(caller)


def test_the_quick_one_has_everything(call, tmp_path):
    outcome = call("reproduce", "all", "--quick", "--jobs", 2, "--out", tmp_path)
    assert outcome.code == 0
    assert outcome.out.splitlines() == [str(tmp_path / f"{name}.md") for name in [*TARGETS, "index"]]
    assert " 0 failed, 0 left: " in outcome.err.splitlines()[-1]
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert all(f"({name}.md)" in index for name in TARGETS)
    tables = [path.read_text(encoding="utf-8") for path in (tmp_path / "tables").glob("*.csv")]
    assert not any("(paper)" in table.partition("\n")[0] for table in tables)
    assert " within 0.03 of the " not in index
    assert "## What the runs took" in index
    again = call("reproduce", "fig-aswr", "--quick", "--out", tmp_path)
    assert (again.code, again.err) == (0, "")
    assert (tmp_path / "index.md").read_text(encoding="utf-8") == index


def test_an_unknown_target_is_one_line(call, tmp_path):
    outcome = call("reproduce", "fig-labls", "--out", tmp_path / "out")
    assert outcome.code == 2
    assert outcome.err.startswith("marlene: there is no table or figure 'fig-labls'; known: table-datasets, ")
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_failed_run_ends_with_an_error_and_the_pages(call, tmp_path, monkeypatch):
    monkeypatch.setattr("marlene.learners.baselines._multi_target.MultiTargetTree.__init__", _fail)
    outcome = call("reproduce", "fig-windows", "--quick", "--out", tmp_path)
    assert outcome.code == 1
    assert "marlene: ert on yeast, seed 1: RuntimeError: out of luck" in outcome.err
    assert outcome.err.endswith(f"marlene: 2 runs failed; {tmp_path / 'runs'} has the errors\n")
    assert (tmp_path / "fig-windows.md").is_file()


def _fail(*_, **__):
    raise RuntimeError("out of luck")
