"""The same grid on a Dask cluster of two worker processes, one of which is killed on the way."""

import logging
import os
import signal

import pytest
from distributed import Client, LocalCluster

from marlene._common.errors import MarleneError
from marlene.experiments import run_grid
from tests.experiments.grids import lasting, small


@pytest.fixture
def cluster():
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    ) as made:
        yield made


def test_a_worker_that_is_killed_costs_no_run(cluster, tmp_path):
    with Client(cluster, set_as_default=False) as client:
        pids = list(client.run(os.getpid).values())
    assert len(set(pids)) == 2
    assert os.getpid() not in pids
    seen, killed = [], []

    def kill_one(progress):
        seen.append(progress)
        if progress.done == 1 and not killed:
            os.kill(pids[0], signal.SIGKILL)
            killed.append(pids[0])

    store = run_grid(small(seeds=5), tmp_path / "dask", dask=cluster.scheduler_address, watch=kill_one)
    assert killed == [pids[0]]
    assert max(len(progress.running) for progress in seen) >= 2
    assert (seen[-1].done, seen[-1].failed, seen[-1].left) == (10, 0, 0)
    assert lasting(store) == lasting(run_grid(small(seeds=5), tmp_path / "here"))


def test_no_scheduler_at_the_address(tmp_path, monkeypatch):
    monkeypatch.setattr("marlene.experiments._pools.PATIENCE", "1s")
    with pytest.raises(MarleneError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        run_grid(small(), tmp_path, dask="tcp://127.0.0.1:9")
