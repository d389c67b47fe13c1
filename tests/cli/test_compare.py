"""`marlene compare`."""

import io
import json
import signal
import subprocess

import pytest
from rich.console import Console

from marlene.cli._grid import print_tables
from marlene.experiments import Run
from tests.cli.commands import COMMAND, caller, environment
from tests.evaluation.test_result import JSON_KEYS

call = pytest.fixture(caller)
SMALL = ["--limit", "300", "--seeds", "2"]


def test_a_table_for_every_stream_and_errors_that_stop_nothing(call, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    absent = tmp_path / "absent.arff"
    outcome = call("compare", "yeast", absent, "--methods", "ebr,majority", *SMALL, "--jobs", "2")
    assert outcome.code == 1
    titles = [line for line in outcome.out.splitlines() if line.startswith("G-Means on ")]
    assert titles == ["G-Means on yeast", f"G-Means on {absent}"]
    ebr, majority = (
        next(line.split() for line in outcome.out.splitlines() if line.split()[:1] == [name])
        for name in ("ebr", "majority")
    )
    assert ebr[2] == majority[2] == "±"
    assert float(ebr[1]) > float(majority[1])
    assert ebr[-1] == majority[-1] == "2"
    assert "ebr failed with seed 1, 2: " in outcome.out
    assert outcome.err.count("ebr on yeast, seed ") == 2
    assert "macro 0." in outcome.err


def test_json_is_all_that_stdout_gets(call):
    outcome = call("compare", "yeast", "--methods", "majority, eps", *SMALL, "--json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert found["errors"] == []
    assert [(run["method"], run["seed"]) for run in found["runs"]] == [
        (method, seed) for method in ("majority", "eps") for seed in (1, 2)
    ]
    assert list(found["runs"][0]) == JSON_KEYS
    assert found["runs"][0]["cumulative"]["labels_true"] == found["runs"][0]["labels_true"]
    alone = json.loads(call("run", "yeast", "--method", "eps", "--limit", "300", "--seed", "2", "--json").out)
    for key in ("macro_gmean", "micro_gmean", "label_set_gmean", "examples", "models", "cumulative", "faded"):
        assert found["runs"][3][key] == alone[key]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["yeast", "--methods", "ebr,ecx"], "there is no method 'ecx' (did you mean ecc?)"),
        (["yeast", "--methods", ","], "--methods names none"),
        (["yeast", "--features", "text"], "--features must be one of auto, numeric, binary, not 'text'"),
    ],
)
def test_what_is_refused_before_anything_runs(call, arguments, said):
    outcome = call("compare", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_ctrl_c_prints_what_is_there():
    command = [*COMMAND, "compare", "yeast", "--methods", "majority,river:naive_bayes.GaussianNB", "--seeds", "1"]
    with subprocess.Popen(
        [*command, "--json"], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stderr:
            if "majority on yeast, seed 1: macro" in line:
                process.send_signal(signal.SIGINT)
                break
        told = process.stderr.read()
        printed = json.loads(process.stdout.read())
    assert process.returncode == 130
    assert "Traceback" not in told
    assert [run["method"] for run in printed["runs"]] == ["majority"]
    assert printed["errors"] == []


@pytest.mark.parametrize("length", [10, 79, 80, 81, 500])
def test_the_title_of_a_table_is_one_line(length):
    stream = f"{'[red] ' * length}"[: length - 4] + ".csv"
    console = Console(file=io.StringIO(), width=80)
    print_tables(console, [Run({"load": stream}, "ebr")], [])
    assert console.file.getvalue().splitlines()[0] == f"G-Means on {stream}"


class Lines(Console):
    """A console of which only the markup matters."""

    def __init__(self):
        super().__init__(width=200)
        self.cells = {}
        self.lines = []

    def print(self, what, **_):
        self.lines.append(what)
        if hasattr(what, "columns"):
            columns = [list(column.cells) for column in what.columns]
            self.cells |= {cells[0]: list(cells[1:]) for cells in zip(*columns, strict=True)}


def test_the_best_is_bold():
    runs = [Run({"load": "s"}, name, seed=seed) for name in ("a", "b", "c") for seed in (1, 2)]
    scores = {"a": [(0.5, 0.2, 0.3, 2.0, 100.0, 3.0), (0.7, 0.2, 0.3, 2.0, 100.0, 3.0)]}
    scores["b"] = [(0.5, 0.4, 0.3, 1.0, 300.0, 9.0)]
    keys = ("macro_gmean", "micro_gmean", "label_set_gmean", "learn_seconds", "peak_rss_mb", "labels_predicted")
    ended = [
        {"key": run.key, "status": "done"} | dict(zip(keys, scores[run.method][run.seed - 1], strict=True))
        for run in runs
        if run.seed <= len(scores.get(run.method, []))
    ]
    ended.append({"key": runs[3].key, "status": "failed", "error": "MarleneError: broken"})
    console = Lines()
    print_tables(console, runs, ended)
    assert console.cells == {
        "a": [
            "[bold]0.600 ± 0.141[/bold]",
            "0.200 ± 0.000",
            "[bold]0.300 ± 0.000[/bold]",
            "2.00 ± 0.00",
            "[bold]100 ± 0[/bold]",
            "3.00/-",
            "2",
        ],
        "b": ["0.500", "[bold]0.400[/bold]", "[bold]0.300[/bold]", "[bold]1.00[/bold]", "300", "9.00/-", "1"],
        "c": ["-"] * 5 + ["-/-"] + ["0"],
    }
    assert "b failed with seed 2: broken" in map(str, console.lines)
