"""Workers of a Kafka topic that are killed: `python -m tests.live.over_kafka FOLDER KILLS`.

Two workers share four partitions. One after the other is killed and started again, so that partitions change hands,
until all messages are answered.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from confluent_kafka import Consumer, Producer

from marlene.live import Checkpoints, KafkaWorkers, Stop, _kafka
from tests.live.killed import forked, messages, worker
from tests.live.messages import said

PARTITIONS = 4
OPTIONS = "session.timeout.ms=6000&heartbeat.interval.ms=500&log_level=0"
CHANNELS = {"answer": "answers", "event": "answers", "dead": "dead"}


def run(folder):
    brokers, stop = (folder / "brokers.txt").read_text(), Stop()

    def keep(partition):
        return Checkpoints(str(folder / "state" / f"partition-{partition}"), keep=2, every=40)

    _kafka.BATCH = 5
    workers = KafkaWorkers(f"kafka://{brokers}/tickets?{OPTIONS}", CHANNELS, "g", worker, keep)
    with stop.listening():
        workers.run(stop, lambda *_: time.sleep(0.03))


def fill(brokers, wanted):
    """Spread messages over partitions by their place."""
    producer = Producer({"bootstrap.servers": brokers, "log_level": 0})
    for number, message in enumerate(wanted):
        producer.produce("tickets", message, partition=number % PARTITIONS, timestamp=1)
        producer.poll(0)
    producer.flush(30)


def answers(brokers, count, seconds):
    """Return the answers, each entry of the topic once, though this reader may be given some twice."""
    settings = {"bootstrap.servers": brokers, "group.id": "reader", "auto.offset.reset": "earliest", "log_level": 0}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    consumer.subscribe(["answers"])
    found, deadline, last = {}, time.monotonic() + seconds, False
    while not last:
        last = time.monotonic() > deadline or len(set(found.values())) >= count
        for message in consumer.consume(500, 1.0):
            if message.error() is None:
                found[message.partition(), message.offset()] = message.value()
    consumer.close()
    return [*found.values()]


def main(folder, kills):
    said(worker(), messages(30))  # loads the kernels
    rng, killed = random.Random(5), 0
    children = [forked(run, folder), forked(run, folder)]
    while killed < kills:
        time.sleep(rng.uniform(3.5, 6.0))  # joining a group takes three seconds
        chosen = killed % 2
        os.kill(children[chosen], signal.SIGKILL)
        os.waitpid(children[chosen], 0)
        killed += 1
        children[chosen] = forked(run, folder)
    (folder / "killed.txt").write_text(str(killed))
    while not (folder / "enough").exists():
        time.sleep(0.05)
    codes = []
    for pid in children:
        os.kill(pid, signal.SIGTERM)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    sys.exit(max(codes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
