"""`--lazy`, and streams from standard input."""

import json
import subprocess

import numpy as np
import pytest

from marlene.streams.lazy import _open
from tests.cli.commands import COMMAND, caller, environment

call = pytest.fixture(caller)
SCORES = (
    "examples",
    "macro_gmean",
    "micro_gmean",
    "label_set_gmean",
    "hamming_score",
    "cumulative",
    "faded",
    "overall",
)
WINDOW = ("--window", 30, "--start", 0, "--after", 30)
RUN = ("run", "shop.csv", "--labels", "is_*", "--json", *WINDOW)


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Write a table of orders and go to its folder."""
    rng = np.random.default_rng(1)
    X = rng.random((300, 2)).round(3)
    lines = [f"{a},{b},{int(a > b)},{int(a + b > 1)}" for a, b in X.tolist()]
    (tmp_path / "shop.csv").write_text("\n".join(["price,age,is_x,is_y", *lines]) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_open, "PART_BYTES", 1000)
    return tmp_path


def scores(printed):
    found = json.loads(printed)
    return {name: found[name] for name in SCORES}


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("options", [(), ("--method", "majority"), ("--limit", 200), ("--delay", 4)], ids=str)
def test_the_same_scores(call, options):
    whole, lazy = call(*RUN, *options), call(*RUN, *options, "--lazy")
    assert (whole.code, lazy.code) == (0, 0), lazy.err
    assert scores(lazy.out) == scores(whole.out)


@pytest.mark.usefixtures("shop")
def test_report_and_checkpoint(call):
    first = call("run", "shop.csv", "--labels", "is_*", "--lazy", "--checkpoint", "run.npz")
    assert first.code == 0, first.err
    assert "window 1000, 299 steps scored" in " ".join(first.out.split())
    again = call("run", "shop.csv", "--labels", "is_*", "--lazy", "--checkpoint", "run.npz")
    assert again.code == 0
    assert "resumed from the checkpoint" in again.err


@pytest.mark.usefixtures("shop")
def test_compare(call):
    arguments = ("compare", "shop.csv", "--labels", "is_*", "--methods", "majority", "--seeds", 1, "--json")
    found = json.loads(call(*arguments, "--lazy").out)
    assert found["errors"] == []
    assert found["runs"][0]["examples"] == 300


@pytest.mark.usefixtures("shop")
def test_refused(call):
    outcome = call(*RUN, "--lazy", "--predictions", "out.npz")
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].endswith("part by part, predictions are not kept")
    outcome = call("compare", "-", "--labels", "is_*", "--methods", "majority", "--seeds", 1, "--json")
    assert "standard input" in json.loads(outcome.out)["errors"][0]["error"]


def test_standard_input(shop):
    arguments = [*COMMAND, "run", "-", "--labels", "is_*", "--method", "majority", "--json"]
    with (shop / "shop.csv").open("rb") as file:
        done = subprocess.run(arguments, stdin=file, capture_output=True, text=True, env=environment(), check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["stream"], found["examples"], found["window"]) == ("standard input", 300, 1000)
