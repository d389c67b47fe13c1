"""Kafka with librdkafka's own broker: transactions, and partitions that change hands."""

import os
import subprocess
import sys
import time
from collections import Counter

import pytest

from marlene._common.errors import MarleneError
from marlene.live import Checkpoints
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
        found = answers(brokers, len(set(expected)), 60 + 10 * KILLS)
        (tmp_path / "enough").touch()
        _, errors = process.communicate(timeout=120)
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


def test_addresses():
    with pytest.raises(MarleneError, match="give a folder or an address as --state"):
        open_kafka(Route("kafka://x/t"), worker, {})
    with pytest.raises(MarleneError, match="expected kafka://BROKER"):
        open_kafka(Route("kafka://x", state="s"), worker, {})
