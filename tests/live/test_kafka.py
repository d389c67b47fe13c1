"""Kafka with librdkafka's own broker: transactions, and partitions that change hands."""

import os
import subprocess
import sys
import time
from collections import Counter

import pytest

from marlene._common.errors import MarleneError
from marlene.live import Checkpoints, Metrics
from marlene.live._open import Route, open_kafka
from tests.cli.commands import environment
from tests.live.killed import messages, worker
from tests.live.messages import said, same_state
from tests.live.over_kafka import PARTITIONS, answers, fill, uncommitted
from tests.live.test_killed import without_positions

KILLS = int(os.environ.get("MARLENE_KAFKA_KILLS", "2"))


@pytest.fixture
def brokers(tmp_path):
    file = tmp_path / "brokers.txt"
    command = [sys.executable, "-m", "tests.live.kafka_broker", str(file)]
    with subprocess.Popen(command, env=environment()) as process:
        while not file.exists():
            assert process.poll() is None
            time.sleep(0.02)
        yield file.read_text()
        process.kill()


def test_workers_that_are_killed(tmp_path, brokers):
    wanted = messages(150 * (KILLS + 2))
    fill(brokers, wanted)
    alone, expected = [worker() for _ in range(PARTITIONS)], []
    for number, mine in enumerate(alone):
        outputs = said(mine, wanted[number::PARTITIONS])
        expected += [body for channel, body in outputs if channel in {"answer", "event"}]
    command = [sys.executable, "-m", "tests.live.over_kafka", str(tmp_path), str(KILLS)]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        found = answers(brokers, len(set(expected)), process)
        (tmp_path / "enough").touch()
        _, errors = process.communicate()
    assert process.returncode == 0, errors
    counted, wanted_times = Counter(found), Counter(expected)
    assert counted.keys() == wanted_times.keys()
    assert not wanted_times - counted
    # This broker shows readers what was never committed, too; nothing else comes twice.
    assert (counted - wanted_times).total() <= uncommitted(tmp_path)
    for number, mine in enumerate(alone):
        last, checkpoints = worker(), Checkpoints(str(tmp_path / "state" / f"partition-{number}"))
        assert checkpoints.resume(last)
        checkpoints.close()
        said(last, wanted[number::PARTITIONS][last.positions[f"kafka {number}"] :])  # as its next owner would
        assert last.counts == mine.counts
        same_state(without_positions(last), without_positions(mine))


def test_metrics_are_those_of_all_partitions(tmp_path):
    def keep(partition):
        return Checkpoints(str(tmp_path / str(partition)))

    workers = open_kafka(Route("kafka://127.0.0.1:1/t?log_level=0", state=str(tmp_path)), worker, {})
    for partition in range(2):
        workers.workers[partition] = worker(), keep(partition)
        said(workers.workers[partition][0], messages(20))
    metrics = Metrics(workers, workers, workers)
    assert workers.written_at is None
    workers.workers[1][1].write(workers.workers[1][0])
    metrics.watch([], [], 0.0)
    found = metrics.text()[0].decode()
    for mine, checkpoints in workers.workers.values():
        assert f"marlene_learnt_total {2 * mine.counts['learnt']}.0" in found
        checkpoints.close()
    for line in ("marlene_checkpoints_total 1.0", "marlene_checkpoint_age_seconds ", "marlene_models 2.0"):
        assert line in found


def test_addresses():
    with pytest.raises(MarleneError, match="give a folder or an address as --state"):
        open_kafka(Route("kafka://x/t"), worker, {})
    with pytest.raises(MarleneError, match="expected kafka://BROKER"):
        open_kafka(Route("kafka://x", state="s"), worker, {})
