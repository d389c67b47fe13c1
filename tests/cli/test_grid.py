"""`marlene grid`."""

import io
import signal
import subprocess
import time

import pytest
from rich.console import Console

from marlene.cli._grid import _LiveBoard
from marlene.experiments import GridProgress
from tests.cli.commands import COMMAND, caller, environment

call = pytest.fixture(caller)

TOML = """
seeds = 2
[[streams]]
load = "yeast"
limit = 100
[[streams]]
synthetic = "SS"
size = 10
sources = "similar"
source_size = 10
[[methods]]
name = "majority"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text(TOML)
    return path


def test_every_run_has_a_line_and_every_stream_a_row(call, file, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    outcome = call("grid", file, "--out", tmp_path / "out")
    assert outcome.code == 1
    lines = outcome.err.splitlines()
    assert lines[0].startswith("1 done, 0 failed, 3 left, 0:0")
    scores = "macro 0.001, micro 0.601, label-set 0.524, CPU s 0."
    assert f" to go: majority on yeast, seed 1: {scores}" in lines[0]
    assert lines[3] == (
        "2 done, 2 failed, 0 left: majority on SS-10 after similar, seed 2: MarleneError: majority does not learn from "
        "other streams, so it cannot be given sources"
    )
    assert lines[-1] == f"marlene: 2 runs failed; {tmp_path / 'out'} has the errors"
    titles = [line for line in outcome.out.splitlines() if line.startswith("G-Means on ")]
    assert titles == ["G-Means on yeast", "G-Means on SS-10 after similar"]
    rows = [line.split() for line in outcome.out.splitlines() if "majority" in line]
    assert " ".join(rows[0][:10]) == "majority 0.001 ± 0.000 0.601 ± 0.000 0.524 ± 0.000"
    assert rows[0][-2:] == ["2.35/4.07", "2"]
    assert rows[1] == ["majority", *["-"] * 5, "-/-", "0"]


def test_the_second_time_nothing_runs(call, file, tmp_path):
    first = call("grid", file, "--out", tmp_path / "out")
    second = call("grid", file, "--out", tmp_path / "out")
    assert second.out == first.out
    assert not [line for line in second.err.splitlines() if " left" in line]
    assert second.code == 1


def test_a_grid_without_failures_ends_well(call, tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text("[[streams]]\nload = 'yeast'\nlimit = 60\n[[methods]]\nname = 'majority'\n")
    assert call("grid", path, "--out", tmp_path / "out").code == 0


def test_a_mistake_in_the_file_is_one_line(call, tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text("[[streams]]\nload = 'yeast'\n[[methods]]\nname = 'br-marlen'\n")
    outcome = call("grid", path, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert outcome.err.startswith(
        f"marlene: {path}, method 1: there is no method 'br-marlen' (did you mean br-marlene?)"
    )
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_names_with_line_breaks_are_printed_in_one_line(call, tmp_path):
    path = tmp_path / "grid.toml"
    names = [r"a\nb\u0000", "x" * 100_000]
    streams = "".join(f'[[streams]]\nload = "{name}"\n' for name in names)
    path.write_text(f"{streams}[[methods]]\nname = 'majority'\n")
    outcome = call("grid", path, "--out", tmp_path / "out")
    assert outcome.code == 1
    lines = [*outcome.out.split("\n"), *outcome.err.split("\n")]
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) < 2000
    assert not any(line.startswith("b") for line in lines)


def test_the_live_display_says_how_it_stands_and_what_runs():
    board = _LiveBoard()
    board.update(GridProgress(3, 1, 6, ("majority on yeast, seed 2", "br-marlene on [a], seed 1"), 3725.0))
    file = io.StringIO()
    Console(file=file, width=100).print(board)
    bar, *running = [line.rstrip() for line in file.getvalue().splitlines()]
    assert bar.endswith(" 3 done, 1 failed, 6 left, 1:02:05 to go")
    assert running == ["  majority on yeast, seed 2", "  br-marlene on [a], seed 1"]


def test_the_time_left_runs_down():
    board = _LiveBoard()
    board.update(GridProgress(3, 1, 6, (), 2.0))
    time.sleep(1.6)
    file = io.StringIO()
    Console(file=file, width=100).print(board)
    assert "6 left, 0:00 to go" in file.getvalue()


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_what_has_ended(tmp_path, jobs):
    path = tmp_path / "grid.toml"
    path.write_text("seeds = 50\n[[streams]]\nload = 'yeast'\n[[methods]]\nname = 'br-resampled'\n")
    command = [*COMMAND, "grid", str(path), "--out", str(tmp_path / "out"), "--jobs", str(jobs)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith("1 done"):
                process.send_signal(signal.SIGINT)
                break
        told = process.stderr.read()
    assert process.returncode == 130
    assert told.splitlines()[-1] == (
        f"marlene: stopped; runs that have ended are in {tmp_path / 'out'}; the same command goes on"
    )
    assert "Traceback" not in told
    assert 1 <= len(list((tmp_path / "out" / "runs").glob("*.json"))) < 50
