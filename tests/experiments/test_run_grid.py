"""Grids that are stopped, that fail in part, and that run in several processes."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.experiments import Grid, ResultStore, _pools, run_grid
from marlene.learners import BRMarlene
from marlene.streams import load, synthetic_experiment
from tests.cli.commands import COMMAND, environment
from tests.experiments.grids import BROKEN, DEADLY, deadly, lasting, small


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return the store of the small grid, run in one go."""
    return run_grid(small(), tmp_path_factory.mktemp("whole"))


def test_a_row_says_what_was_run_and_what_came_of_it(expected):
    rows = [row for row in expected.frame().iter_rows(named=True) if row["seed"] == 2]
    row = next(row for row in rows if row["method"] == "br-marlene")
    assert len(rows) == 2
    assert (row["status"], row["error"], row["name"], row["sources"]) == ("done", None, "AA-20", "similar")
    assert json.loads(row["options"]) == {"drift": "oracle"}
    assert json.loads(row["stream"])["source_size"] == 20
    assert json.loads(row["true_drifts"]) == {"l1": [100], "l2": [100], "l3": [], "l4": [], "l5": []}
    assert json.loads(row["found_drifts"]) == {"l1": [100], "l2": [100]}
    assert row["numpy_version"] == np.__version__
    assert row["started"] <= row["finished"]
    assert row["processor"]
    assert row["cores"] == os.cpu_count()

    made = synthetic_experiment("AA", 20, "similar", source_size=20)
    model = BRMarlene(drift="oracle", seed=2)
    for source in made.sources:
        model.declare(source.features, source.labels, stream=source.name)
        model.learn_many(source.X, source.Y, stream=source.name)
    model.declare(made.target.features, made.target.labels)
    rows = [model.test_then_train(made.target.X[:100], made.target.Y[:100])]
    model.signal_drift(["l1", "l2"])
    rows.append(model.test_then_train(made.target.X[100:], made.target.Y[100:]))
    traces = expected.traces(row["key"])
    assert np.array_equal(traces["pred"], np.concatenate(rows) > 0.5)
    assert np.array_equal(traces["truth"], made.target.Y)
    assert traces["steps"].mean(axis=0)[0] == pytest.approx(row["macro_gmean"])
    assert traces["aswr"][-1] == model.aswr()
    assert traces["aswr_at"][-1] == 200
    givers = [tuple(giver) for giver in traces["transfer_from"].tolist()]
    matrix = model.transfer_matrix()
    assert traces["transfer"][0, givers.index(("", "l2"))] == pytest.approx(matrix["l1"][None, "l2"], rel=1e-6)
    assert traces["transfer"][1, givers.index(("similar-1", "l2"))] == pytest.approx(
        matrix["l2"]["similar-1", "l2"], rel=1e-6
    )


def test_a_loaded_stream_with_sources_and_settings(tmp_path):
    stream = {"load": "yeast", "limit": 150, "features": "numeric", "sources": ["Yeast"]}
    grid = Grid([stream], [{"name": "br-marlene"}], evaluation={"window": 20, "start": 9, "delay": 2})
    (row,) = run_grid(grid, tmp_path).frame().iter_rows(named=True)
    yeast = load("yeast", features="numeric")
    result = prequential(BRMarlene(seed=1), yeast.head(150), sources=[yeast], window=20, start=9, delay=2)
    assert row["macro_gmean"] == result.macro_gmean
    assert (row["window"], row["start"], row["delay"], row["examples"], row["sources"]) == (20, 9, 2, 150, "Yeast")


def test_rotated_labels_are_a_drift_of_all(tmp_path):
    grid = Grid([{"load": "yeast", "limit": 101, "rotated": True}], [{"name": "majority"}])
    store = run_grid(grid, tmp_path)
    (row,) = store.frame().iter_rows(named=True)
    yeast = load("yeast", limit=101)
    truth = store.traces(row["key"])["truth"]
    assert row["title"] == "majority on yeast, rotated, seed 1"
    assert np.array_equal(truth[:50], yeast.Y[:50])
    assert np.array_equal(truth[50:, 1:], yeast.Y[50:, :-1])
    assert np.array_equal(truth[50:, 0], yeast.Y[50:, -1])
    assert json.loads(row["true_drifts"]) == {label: [50] for label in yeast.labels}


def test_false_alarms_are_told_to_those_who_believe_an_oracle(tmp_path):
    stream = {"load": "yeast", "limit": 400, "alarms": 3}
    grid = Grid([stream], [{"name": "br-resampled", "drift": ["oracle", "none"]}])
    store = run_grid(grid, tmp_path)
    told, deaf = sorted(store.frame().iter_rows(named=True), key=lambda row: -row["drifts"])
    assert told["title"] == "br-resampled (drift=oracle) on yeast, 3 false alarms, seed 1"
    assert json.loads(told["found_drifts"]) == {label: [100, 102, 104] for label in load("yeast", limit=9).labels}
    assert (told["drifts"], deaf["drifts"], told["true_drifts"]) == (42, 0, "{}")
    assert told["macro_gmean"] != deaf["macro_gmean"]


def test_a_stream_may_be_drawn_with_the_seed_of_the_run(tmp_path):
    grid = Grid([{"synthetic": "SS", "size": 10, "seed": "run"}], [{"name": "majority"}], seeds=2)
    store = run_grid(grid, tmp_path)
    one, two = (store.traces(run.key)["truth"] for run in grid.runs())
    assert not np.array_equal(one, two)
    assert np.array_equal(two, synthetic_experiment("SS", 10, seed=2).target.Y)


def test_what_is_there_is_not_run_again(expected, tmp_path):
    run_grid(small(seeds=[2]), tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    seen = []
    store = run_grid(small(), tmp_path, watch=seen.append)
    assert all(path.stat().st_mtime_ns == changed for path, changed in before.items())
    assert (seen[0].done, seen[0].left) == (2, 4)
    assert (seen[-1].done, seen[-1].left, seen[-1].seconds_left) == (6, 0, 0)
    assert sum(progress.latest is not None for progress in seen) == 4
    assert lasting(store) == lasting(expected)


def test_a_run_that_fails_is_recorded_and_stops_nothing(tmp_path):
    grid = small(seeds=1, streams=[BROKEN])
    store = run_grid(grid, tmp_path)
    rows = {row["title"]: row for row in store.frame().iter_rows(named=True)}
    assert [row["status"] for row in rows.values()] == ["done", "done", "failed", "failed"]
    failure = rows["br-marlene on no-such-file.arff, seed 1"]
    assert failure["error"].startswith("MarleneError: 'no-such-file.arff' is neither a file nor a data set")
    assert "_from_text" in failure["traceback"]
    assert failure["macro_gmean"] is None
    assert not (tmp_path / "traces" / f"{failure['key']}.npz").exists()


def test_what_failed_is_run_again_only_if_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = Grid([{"load": "late.csv", "labels": "y"}], [{"name": "majority"}])
    run_grid(grid, "out")
    (tmp_path / "late.csv").write_text("x,y\n" + "1.5,1\n0.5,0\n" * 20)
    assert run_grid(grid, "out").frame()["status"].to_list() == ["failed"]
    assert run_grid(grid, "out", retry_failed=True).frame()["status"].to_list() == ["done"]
    assert run_grid(grid, "out", retry_failed=True).frame().height == 1


def test_killed_in_the_middle_it_goes_on_where_it_was(expected, tmp_path):
    out = tmp_path / "out"
    (tmp_path / "grid.toml").write_text(
        "seeds = 3\n[[streams]]\nsynthetic = 'AA'\nsize = 20\nsources = 'similar'\nsource_size = 20\n"
        "[[methods]]\nname = 'br-marlene'\ndrift = 'oracle'\n[[methods]]\nname = 'br-resampled'\n"
    )
    command = [*COMMAND, "grid", str(tmp_path / "grid.toml"), "--out", str(out)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.startswith("2 done"):
                process.kill()
                break
        process.stderr.read()
    assert process.returncode == -signal.SIGKILL
    before = {path: path.read_bytes() for path in (out / "runs").glob("*.parquet")}
    assert 2 <= len(before) < 6
    store = run_grid(small(), out)
    assert all(path.read_bytes() == content for path, content in before.items())
    assert lasting(store) == lasting(expected)


def test_killed_it_leaves_no_process_behind(tmp_path):
    script = (
        "import sys, time\n"
        "from marlene.experiments._pools import Processes\n"
        "pool = Processes(1)\n"
        "print(pool._executor.submit(__import__('os').getpid).result(), flush=True)\n"
        "pool._executor.submit(time.sleep, 60)\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        worker = psutil.Process(int(process.stdout.readline()))
        assert worker.is_running()
        process.kill()
    assert psutil.wait_procs([worker], timeout=20)[1] == []


def test_interrupted_it_keeps_what_has_ended(tmp_path):
    def stop(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_grid(small(), tmp_path, watch=stop)
    assert ResultStore(tmp_path).frame().height == 2


def test_several_processes_give_the_same(expected, tmp_path):
    seen = []
    store = run_grid(small(), tmp_path, jobs=2, watch=seen.append)
    assert lasting(store) == lasting(expected)
    for key in lasting(store):
        one, other = store.traces(key), expected.traces(key)
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[name], other[name]) for name in one)
    assert max(len(progress.running) for progress in seen) == 2


def test_a_run_that_kills_its_process_fails_alone(expected, tmp_path, monkeypatch):
    monkeypatch.setattr(_pools, "perform", deadly)
    rows = lasting(run_grid(small(seeds=[DEADLY, 1]), tmp_path, jobs=2))
    (failure,) = [row for row in rows.values() if row["status"] == "failed"]
    assert (failure["seed"], failure["method"]) == (DEADLY, "br-marlene")
    assert failure["error"].startswith("WorkerDiedError: the process was killed")
    assert len(rows) == 4
    assert all(rows[key] == row for key, row in lasting(expected).items() if row["seed"] == 1)


def test_a_process_that_is_killed_costs_no_run(expected, tmp_path):
    killed = []

    def kill_one(progress):
        if progress.done == 1 and not killed:
            workers = [child for child in psutil.Process().children() if "loky" in " ".join(child.cmdline())]
            victim = next(child for child in workers if "resource_tracker" not in " ".join(child.cmdline()))
            victim.kill()
            killed.append(victim.pid)
            time.sleep(0.5)

    store = run_grid(small(), tmp_path, jobs=2, watch=kill_one)
    assert len(killed) == 1
    assert lasting(store) == lasting(expected)


def test_a_pool_may_be_closed_with_runs_that_have_not_begun():
    # An error in joblib's thread would be a warning, and that an error of this test.
    pool = _pools.Processes(1)
    futures = [pool.submit(run) for run in small().runs()]
    pool.close()
    assert all(future.done() for future in futures)


def test_the_number_of_jobs_is_checked(tmp_path):
    with pytest.raises(MarleneError, match="jobs must be at least 1, not 0"):
        run_grid(small(), tmp_path, jobs=0)


@pytest.mark.parametrize(("module", "options"), [("joblib", {"jobs": 2}), ("polars", {})])
def test_an_absent_package_is_named(monkeypatch, tmp_path, module, options):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MarleneError, match=rf"needs the package {module}: pip install \"marlene\[experiments\]\""):
        run_grid(small(), tmp_path, **options)


def grown_in_a_worker():
    """Return what a process of the pool thinks of growing."""
    return sys.modules["joblib.externals.loky.process_executor"]._USE_PSUTIL


def test_a_process_that_grows_is_not_taken_for_leaking():
    pool = _pools.Processes(1)
    try:
        assert pool._executor.submit(grown_in_a_worker).result() is False
    finally:
        pool.close()
