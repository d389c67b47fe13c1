"""`marlene run --checkpoint`: killed and run again, refused, and run once too often."""

import json
import random
import signal
import subprocess
import time

import numpy as np
import pytest

from marlene.evaluation import _checkpoint
from tests.cli.commands import COMMAND, caller, environment

call = pytest.fixture(caller)
OUTCOME = ("examples", "macro_gmean", "micro_gmean", "label_set_gmean", "hamming_score", "models", "drifts", "stopped")


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Write two tables of orders, an old and a new one, and go to their folder."""
    rng = np.random.default_rng(1)
    for name, labels, rows in (("old", 2, 120), ("new", 3, 240)):
        X = rng.random((rows, 2)).round(3)
        truth = (X[:, :1] * np.arange(1, labels + 1) > X[:, 1:]).astype(int)
        truth[rows // 2 :] = 1 - truth[rows // 2 :]
        lines = [",".join(map(str, [*x, *y])) for x, y in zip(X.tolist(), truth.tolist(), strict=True)]
        header = "price,age," + ",".join(f"is_{i}" for i in range(labels))
        (tmp_path / f"{name}.csv").write_text("\n".join([header, *lines]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


RUN = ("run", "new.csv", "--labels", "is_*", "--json")


def outcome(printed):
    found = json.loads(printed)
    return {name: found[name] for name in OUTCOME}


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("options", [(), ("--method", "majority"), ("--source", "old.csv"), ("--delay", "4")], ids=str)
def test_a_finished_run_gives_its_result_at_once(call, shop, options):
    plain = call(*RUN, *options)
    first = call(*RUN, *options, "--checkpoint", "run.npz", "--every", 50)
    written = (shop / "run.npz").read_bytes()
    again = call(*RUN, *options, "--checkpoint", "run.npz", "--predictions", "out.npz")
    assert plain.code == first.code == again.code == 0
    assert outcome(plain.out) == outcome(first.out) == outcome(again.out)
    assert again.err.splitlines() == [f"{json.loads(plain.out)['method']} on new 240/240, resumed from the checkpoint"]
    assert (shop / "run.npz").read_bytes() == written
    with np.load("out.npz") as arrays:
        assert arrays["proba"].shape == (240, 3)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seed", "2"], "differs in seed 1 instead of 2"),
        (["--set", "transfer=own"], "differs in the learner's settings"),
        (["--method", "br-resampled"], "differs in method marlene instead of br-resampled"),
        (["--limit", "100"], "examples 240 instead of 100"),
        (["--window", "9"], "differs in window 24 instead of 9"),
        (["--features", "binary"], "differs in the examples"),
        (["--source", "old.csv"], "differs in the sources"),
        (["--method", "river:naive_bayes.GaussianNB"], "cannot be saved, so it cannot be run with a checkpoint"),
    ],
    ids=str,
)
def test_another_run_is_refused(call, shop, options, said):
    assert call(*RUN, "--checkpoint", "run.npz").code == 0
    written = (shop / "run.npz").read_bytes()
    refused = call(*RUN, "--checkpoint", "run.npz", *options)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert refused.err.startswith("marlene: ")
    assert said in refused.err
    assert (shop / "run.npz").read_bytes() == written


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--every", "5"], "--every says how often a checkpoint is written: it needs --checkpoint FILE"),
        (["--checkpoint", "no/such/run.npz"], "--checkpoint no/such/run.npz: there is no folder"),
        (["--checkpoint", "."], "--checkpoint .: this is not an ordinary file"),
        (["--checkpoint", "old.csv"], "old.csv: not a file of marlene's, or damaged"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(call, options, said):
    refused = call(*RUN, *options)
    assert (refused.code, refused.out, refused.err.count("\n")) == (2, "", 1)
    assert said in refused.err


@pytest.mark.usefixtures("shop")
def test_a_disk_that_fills_up_leaves_the_old_checkpoint(call, shop, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "run.npz")

    monkeypatch.setattr(_checkpoint, "save_state", full)
    refused = call(*RUN, "--checkpoint", "run.npz")
    assert refused.code == 2
    assert refused.err.splitlines()[-1].startswith("marlene: [Errno 28] No space left on device")
    assert not (shop / "run.npz").exists()


def test_killed_at_random_and_run_again(tmp_path):
    """The program, killed a while after it has written a checkpoint, goes on to the outcome of an unbroken run."""
    command = [*COMMAND, "run", "yeast", "--limit", "1500", "--json"]
    file = tmp_path / "run.npz"
    kept = [*command, "--checkpoint", str(file), "--every", "30"]
    rng = random.Random(5)
    positions = []
    for _ in range(4):
        before = file.stat().st_mtime_ns if file.exists() else None
        process = subprocess.Popen(
            kept, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        first = process.stderr.readline()
        positions.append(int(first.split(" on yeast ")[1].split("/")[0]))
        while process.poll() is None and (not file.exists() or file.stat().st_mtime_ns == before):
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    results = []
    for name, words in (("resumed", kept), ("unbroken", command)):
        whole = [*words, "--predictions", str(tmp_path / name)]
        done = subprocess.run(whole, env=environment(), capture_output=True, text=True, check=True)
        with np.load(tmp_path / name) as arrays:
            results.append((outcome(done.stdout), {key: arrays[key] for key in arrays}))
    # The first line of the first run is of its own progress, the others' of where they go on.
    assert positions[1:] == sorted(positions[1:])
    assert positions[-1] > 0
    (resumed, arrays), (unbroken, expected) = results
    assert resumed == unbroken
    for name in ("pred", "proba", "truth"):
        np.testing.assert_array_equal(arrays[name], expected[name])
