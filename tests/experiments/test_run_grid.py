"""Grids that are stopped, that fail in part, and that run in several processes."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import psutil
import pytest

from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.experiments import Grid, ResultStore, _pools, run_grid
from marlene.learners import BRMarlene, create
from marlene.streams import load, synthetic_experiment
from marlene.streams.changes import changed
from tests.cli.commands import COMMAND, environment
from tests.experiments.grids import BROKEN, lasting, small


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return the store of the small grid, run in one go."""
    return run_grid(small(), tmp_path_factory.mktemp("whole"))


def test_a_row_says_what_was_run_and_what_came_of_it(expected):
    rows = [row for row in expected.rows() if row["seed"] == 2]
    row = next(row for row in rows if row["method"] == "br-marlene")
    assert len(rows) == 2
    assert (row["status"], row["error"], row["name"], row["sources"]) == ("done", None, "AA-20", "similar")
    assert row["options"] == {"drift": "oracle"}
    assert row["stream"]["source_size"] == 20
    assert row["true_drifts"] == {"l1": [100], "l2": [100], "l3": [], "l4": [], "l5": []}
    assert row["found_drifts"] == {"l1": [100], "l2": [100]}
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
    (row,) = run_grid(grid, tmp_path).rows()
    yeast = load("yeast", features="numeric")
    result = prequential(BRMarlene(seed=1), yeast.head(150), sources=[yeast], window=20, start=9, delay=2)
    assert row["macro_gmean"] == result.macro_gmean
    assert (row["window"], row["start"], row["delay"], row["examples"], row["sources"]) == (20, 9, 2, 150, "Yeast")


def test_a_table_with_options_of_columns(tmp_path):
    path = tmp_path / "tickets.csv"
    path.write_text("id,subject,tags\n" + "".join(f"t{i},order {i % 3},{'a|b' if i % 2 else 'a'}\n" for i in range(40)))
    stream = {"load": str(path), "labels": "tags", "separator": "|", "drop": ["id"], "kinds": {"subject": "text"}}
    (row,) = run_grid(Grid([stream], [{"name": "majority"}]), tmp_path / "store").rows()
    assert (row["status"], row["examples"], row["features"], row["labels"]) == ("done", 40, 4, 2)


@pytest.mark.parametrize(("change", "seed"), [("rotated", 1), ("replaced", 1), ("swapped", 3)])
def test_an_oracle_tells_which_labels_drift_and_when(tmp_path, change, seed):
    stream = {"load": "yeast", "limit": 101, "change": change, "change_seed": seed}
    store = run_grid(Grid([stream], [{"name": "br-resampled", "drift": "oracle"}]), tmp_path)
    (row,) = store.rows()
    made = changed(load("yeast", limit=101), change, seed)
    assert np.array_equal(store.traces(row["key"])["truth"], made.Y)
    assert row["true_drifts"] == {label: list(times) for label, times in made.drifts.items()}
    assert row["found_drifts"] == {label: list(times) for label, times in made.drifts.items() if times}
    assert row["name"] == made.name
    assert row["title"] == f"br-resampled (drift=oracle) on {made.name}, seed 1"


def test_true_drifts_are_told_among_false_alarms(tmp_path):
    stream = {"load": "yeast", "limit": 400, "alarms": 51, "change": "few"}
    (row,) = run_grid(Grid([stream], [{"name": "br-resampled", "drift": "oracle"}]), tmp_path).rows()
    false = list(range(100, 202, 2))
    assert {tuple(times) for times in row["found_drifts"].values()} == {tuple(false)}
    assert 200 in false
    assert sorted(row["true_drifts"].values()) == [[]] * 11 + [[200]] * 3


@pytest.mark.parametrize("archive", ["none", "same", "renamed", "noise"])
def test_the_first_half_is_learnt_before_the_second(tmp_path, archive):
    stream = {"load": "yeast", "limit": 201, "archive": archive, "archive_seed": 5}
    (row,) = run_grid(Grid([stream], [{"name": "br-marlene"}]), tmp_path).rows()
    first, target = load("yeast", limit=201).halves("same" if archive == "none" else archive, seed=5)
    result = prequential(BRMarlene(seed=1), target, sources=[] if archive == "none" else [first])
    assert row["macro_gmean"] == result.macro_gmean
    assert (row["name"], row["examples"], row["true_drifts"]) == ("yeast, second half", 101, {})
    assert row["sources"] == ("none" if archive == "none" else first.name.removeprefix("yeast, "))


@pytest.mark.parametrize("examples", [30, 200])
def test_the_beginning_of_another_data_set_is_learnt_before_the_second_half(tmp_path, monkeypatch, examples):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name, count, words in (("one", 120, "abc"), ("other", examples, "bcd")):
        X = rng.integers(0, 2, (count, 3))
        rows = [f"{a},{b},{c},{b},{a * c}" for a, b, c in X]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"{','.join(words)},{name}1,{name}2", *rows]))
    streams = {"load": "one.csv", "labels": -2, "archive": ["other.csv", "none"]}
    rows = {row["sources"]: row for row in run_grid(Grid([streams], [{"name": "br-marlene"}]), "out").rows()}
    source, target = load("other.csv", labels=-2, limit=60), load("one.csv", labels=-2).halves()[1]
    assert len(source) == min(60, examples)
    for sources, row in zip(([source], []), (rows["the beginning of other.csv"], rows["none"]), strict=True):
        result = prequential(BRMarlene(seed=1), target, sources=sources)
        assert (row["macro_gmean"], row["models"]) == (result.macro_gmean, result.models)
        assert (row["name"], row["examples"]) == ("one, second half", 60)
    assert rows["the beginning of other.csv"]["models"] > rows["none"]["models"]


def test_examples_in_a_random_order(tmp_path):
    stream = {"load": "yeast", "limit": 60}
    grid = Grid([stream | {"shuffle": 3}, stream], [{"name": "majority"}])
    store = run_grid(grid, tmp_path)
    shuffled, plain = (store.traces(run.key)["truth"] for run in grid.runs())
    order = np.random.default_rng(3).permutation(60)
    assert np.array_equal(shuffled, plain[order])
    assert not np.array_equal(shuffled, plain)


def test_an_archive_that_is_not_there_is_a_failed_run(tmp_path):
    stream = {"load": "yeast", "limit": 100, "archive": "renmed"}
    (row,) = run_grid(Grid([stream], [{"name": "majority"}]), tmp_path).rows()
    assert row["error"].startswith("MarleneError: 'renmed' is neither a file nor a data set")


def test_a_changed_target_after_an_archive_and_another_stream(tmp_path):
    stream = {"load": "yeast", "limit": 200, "sources": ["Yeast"], "archive": "renamed", "change": "few"}
    (row,) = run_grid(Grid([stream], [{"name": "br-marlene"}]), tmp_path).rows()
    archive, target = load("yeast", limit=200).halves("renamed")
    result = prequential(BRMarlene(seed=1), target.few(), sources=[load("yeast"), archive])
    assert row["macro_gmean"] == result.macro_gmean
    assert row["name"] == "yeast, second half, few (seed 1)"
    assert sorted(row["true_drifts"].values()) == [[]] * 11 + [[50]] * 3


def test_a_stream_that_cannot_be_changed_is_a_failed_run(tmp_path):
    stream = {"load": "yeast", "limit": 9, "change": "gradual"}
    (row,) = run_grid(Grid([stream], [{"name": "majority"}]), tmp_path).rows()
    assert row["error"] == "MarleneError: yeast: the change 'gradual' needs at least 10 examples, not 9"


@pytest.mark.parametrize("method", ["marlene", "br-resampled"])
def test_a_learner_is_told_of_every_drift_if_the_stream_says_so(tmp_path, method):
    stream = {"load": "yeast", "limit": 400, "change": "rotated", "told": True}
    (row,) = run_grid(Grid([stream], [{"name": method}]), tmp_path).rows()
    assert (row["status"], row["title"]) == ("done", f"{method} on yeast, rotated, told, seed 1")
    assert all(200 in row["found_drifts"][label] for label in row["true_drifts"])


def test_false_alarms_are_told_to_a_learner_without_detector(tmp_path):
    stream = {"load": "yeast", "limit": 400, "alarms": 3}
    (row,) = run_grid(Grid([stream], [{"name": "marlene"}]), tmp_path).rows()
    assert len(row["found_drifts"]) == 14
    assert all({100, 102, 104} <= set(times) for times in row["found_drifts"].values())


def test_who_inherited_from_whom_is_kept(tmp_path):
    stream = {"load": "yeast", "limit": 800, "change": "rotated"}
    told, other = run_grid(Grid([stream], [{"name": "marlene"}, {"name": "br-resampled"}]), tmp_path).rows()
    told, other = (told, other) if told["method"] == "marlene" else (other, told)
    assert other["inherited"] is None
    assert told["inherited"]
    labels = set(told["true_drifts"])
    for label, events in told["inherited"].items():
        assert [time for time, *_ in events] == told["found_drifts"][label]
        assert all(stream is None and giver in labels for _, stream, giver in events)


@pytest.mark.parametrize("method", ["marlene", "majority", "river:naive_bayes.GaussianNB"])
def test_a_warm_start_is_the_second_half_of_one_run(tmp_path, method):
    half = {"load": "yeast", "limit": 200, "archive": "warm"}
    store = run_grid(Grid([half], [{"name": method}]), tmp_path)
    (row,) = store.rows()
    assert (row["status"], row["examples"], row["sources"]) == ("done", 100, "first half, as the target")
    whole = prequential(create(method), load("yeast", limit=200))
    assert np.array_equal(store.traces(row["key"])["pred"], whole.pred[100:])
    assert all(0 <= time < 100 for times in (row["found_drifts"] or {}).values() for time in times)


def test_false_alarms_are_told_to_those_who_believe_an_oracle(tmp_path):
    stream = {"load": "yeast", "limit": 400, "alarms": 3}
    grid = Grid([stream], [{"name": "br-resampled", "drift": ["oracle", "none"]}])
    store = run_grid(grid, tmp_path)
    told, deaf = sorted(store.rows(), key=lambda row: -row["drifts"])
    assert told["title"] == "br-resampled (drift=oracle) on yeast, 3 false alarms, seed 1"
    assert told["found_drifts"] == {label: [100, 102, 104] for label in load("yeast", limit=9).labels}
    assert (told["drifts"], deaf["drifts"], told["true_drifts"]) == (42, 0, {})
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
    rows = {row["title"]: row for row in store.rows()}
    assert [row["status"] for row in rows.values()] == ["done", "done", "failed", "failed"]
    failure = rows["br-marlene on no-such-file.arff, seed 1"]
    assert failure["error"].startswith("MarleneError: 'no-such-file.arff' is neither a file nor a data set")
    assert "_load.py" in failure["traceback"]
    assert "macro_gmean" not in failure
    assert not (tmp_path / "traces" / f"{failure['key']}.npz").exists()


def test_what_failed_is_run_again_only_if_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = Grid([{"load": "late.csv", "labels": "y"}], [{"name": "majority"}])
    run_grid(grid, "out")
    (tmp_path / "late.csv").write_text("x,y\n" + "1.5,1\n0.5,0\n" * 20)
    assert [row["status"] for row in run_grid(grid, "out").rows()] == ["failed"]
    assert [row["status"] for row in run_grid(grid, "out", retry_failed=True).rows()] == ["done"]
    assert len(run_grid(grid, "out", retry_failed=True).rows()) == 1


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
    before = {path: path.read_bytes() for path in (out / "runs").glob("*.json")}
    assert 2 <= len(before) < 6
    store = run_grid(small(), out)
    assert all(path.read_bytes() == content for path, content in before.items())
    assert lasting(store) == lasting(expected)


def workers(process=None):
    """Return the worker processes of a process, by default of this one."""
    found = []
    for child in (process or psutil.Process()).children():
        with contextlib.suppress(psutil.Error):  # it has just ended
            found += [child] if "_pools import serve" in " ".join(child.cmdline()) else []
    return found


def wait_for_workers(process=None):
    deadline = time.monotonic() + 60
    while not (found := workers(process)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


SCRIPT = """
from marlene.experiments import Grid, run_grid
run_grid(Grid([{"load": "yeast"}], [{"name": "river:naive_bayes.GaussianNB"}], seeds=2), "out", jobs=2)
"""


def test_killed_it_leaves_no_process_behind(tmp_path):
    """The script starts its grid without asking whether it is the main module, as scripts may."""
    (tmp_path / "script.py").write_text(SCRIPT)
    with subprocess.Popen([sys.executable, "script.py"], env=environment(), cwd=tmp_path) as process:
        found = wait_for_workers(psutil.Process(process.pid))
        process.kill()
    assert psutil.wait_procs(found, timeout=20)[1] == []


def test_interrupted_it_keeps_what_has_ended(tmp_path):
    def stop(progress):
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_grid(small(), tmp_path, watch=stop)
    assert len(ResultStore(tmp_path).rows()) == 2


def test_several_processes_give_the_same(expected, tmp_path):
    seen = []
    store = run_grid(small(), tmp_path, jobs=2, watch=seen.append)
    assert lasting(store) == lasting(expected)
    for key in lasting(store):
        one, other = store.traces(key), expected.traces(key)
        assert one.keys() == other.keys()
        assert all(np.array_equal(one[name], other[name]) for name in one)
    assert max(len(progress.running) for progress in seen) == 2


def kill_workers(title, count):
    """Return a function to watch a grid with: it kills the worker of a run, so many times."""
    killed = []

    def watch(progress):
        if title in progress.running and len(progress.running) == 1 and not killed:
            killed.append(title)
            threading.Thread(target=kill, daemon=True).start()

    def kill():
        before = set()
        for _ in range(count):
            (worker,) = {one.pid: one for one in wait_for_workers() if one.pid not in before}.values()
            before.add(worker.pid)
            worker.kill()
            while worker.pid in {one.pid for one in workers()} or not workers():
                time.sleep(0.02)

    return watch


def lone_run(title):
    """Return a grid whose first run takes long, and a short one after it."""
    grid = Grid([{"load": "yeast", "limit": 1000}], [{"name": "river:naive_bayes.GaussianNB"}, {"name": "majority"}])
    assert grid.runs()[0].title == title
    return grid


SLOW = "river:naive_bayes.GaussianNB on yeast, seed 1"


@pytest.mark.parametrize(("count", "status"), [(1, "done"), (2, "failed")])
def test_a_process_that_is_killed_costs_no_run_and_killed_twice_only_its_own(tmp_path, count, status):
    store = run_grid(lone_run(SLOW), tmp_path, measure=True, watch=kill_workers(SLOW, count))
    rows = {row["method"]: row for row in store.rows()}
    assert rows["majority"]["status"] == "done"
    slow = rows["river:naive_bayes.GaussianNB"]
    assert slow["status"] == status
    if status == "failed":
        assert slow["error"] == "WorkerDiedError: its process died twice: it was killed, or memory ran out"
    assert workers() == []


def test_to_measure_seeds_share_a_process_and_other_runs_do_not(tmp_path):
    seen = {}

    def watch(progress):
        if progress.running and not progress.latest:
            (title,) = progress.running
            seen[title] = {worker.pid for worker in wait_for_workers()}

    grid = Grid([{"load": "yeast", "limit": 100}], [{"name": "majority"}, {"name": "br-marlene"}], seeds=2)
    store = run_grid(grid, tmp_path, measure=True, watch=watch)
    one, two, three, four = (seen[run.title] for run in grid.runs())
    assert one & two
    assert three & four
    assert not two & four
    for run in grid.runs():
        assert set(store.traces(run.key)) == {"steps", "confusion", "labels"}
    plain = {row["key"]: row["macro_gmean"] for row in run_grid(grid, tmp_path / "plain").rows()}
    assert {row["key"]: row["macro_gmean"] for row in store.rows()} == plain


def test_closed_while_runs_are_under_way_it_leaves_no_process(tmp_path):
    events = _pools.in_processes(ResultStore(tmp_path), small().runs(), 2, measure=False)
    assert {next(events)[1], next(events)[1]} == {False}
    wait_for_workers()
    events.close()
    assert workers() == []


def test_neither_polars_nor_joblib_is_needed(monkeypatch, tmp_path):
    for module in ("joblib", "polars"):
        monkeypatch.setitem(sys.modules, module, None)
    assert len(run_grid(small(seeds=1), tmp_path, jobs=2).rows()) == 2


def test_the_number_of_jobs_is_checked(tmp_path):
    with pytest.raises(MarleneError, match="jobs must be at least 1, not 0"):
        run_grid(small(), tmp_path, jobs=0)
