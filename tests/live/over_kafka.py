"""Workers of a Kafka topic that are killed: `python -m tests.live.over_kafka FOLDER KILLS`.

Two workers share four partitions. One after the other is killed and started again, so that partitions change hands,
until all messages are answered.
"""

import contextlib
import os
import random
import signal
import sys
import time
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from marlene.live import Checkpoints, KafkaWorkers, Stop, _serve
from tests.live.killed import forked, messages, worker
from tests.live.messages import said

PARTITIONS = 4
OPTIONS = "session.timeout.ms=6000&heartbeat.interval.ms=500&log_level=0"
CHANNELS = {"answer": "answers", "event": "answers", "dead": "dead"}


class Journalled(KafkaWorkers):
    """Workers that write down how many outputs a transaction has, before it begins and after it is committed.

    This broker takes the positions of a transaction and forgets them; they are committed once more, outside of it.
    """

    def __init__(self, folder, *settings):
        super().__init__(*settings)
        self._journal = folder / f"transactions-{os.getpid()}.txt"

    def _commit(self, outputs, ends):
        count = sum(output.channel in CHANNELS for output in outputs)
        with self._journal.open("a") as journal:
            journal.write(f"{count}\n")
            journal.flush()
            super()._commit(outputs, ends)
            if ends.items() <= self._committed.items():
                positions = [TopicPartition("tickets", *end) for end in ends.items()]
                with contextlib.suppress(KafkaException):  # the group is changing: not committed
                    self._consumer.commit(offsets=positions, asynchronous=False)
                    journal.write(f"-{count}\n")


def uncommitted(folder):
    """Return how many outputs were sent in transactions that are not known to be committed."""
    files = folder.glob("transactions-*.txt")
    return sum(int(line) for file in files for line in file.read_text().splitlines())


def run(folder):
    brokers, stop = (folder / "brokers.txt").read_text(), Stop()

    def keep(partition):
        return Checkpoints(str(folder / "state" / f"partition-{partition}"), keep=2, every=40)

    _serve.BATCH = 5
    workers = Journalled(folder, f"kafka://{brokers}/tickets?{OPTIONS}", CHANNELS, "g", worker, keep)
    with stop.listening():
        workers.run(stop, lambda *_: time.sleep(0.03))


def fill(brokers, wanted):
    """Spread messages over partitions by their place."""
    producer = Producer({"bootstrap.servers": brokers, "log_level": 0})
    for number, message in enumerate(wanted):
        producer.produce("tickets", message, partition=number % PARTITIONS, timestamp=1)
        producer.poll(0)
    producer.flush(30)


def answers(brokers, count, process):
    """Return the answers, each entry of the topic once, though this reader may be given some twice.

    Wait until there are so many different ones, or until the process that kills workers has ended.
    """
    settings = {"bootstrap.servers": brokers, "group.id": "reader", "auto.offset.reset": "earliest", "log_level": 0}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    consumer.subscribe(["answers"])
    found, last = {}, False
    while not last:
        last = process.poll() is not None or len(set(found.values())) >= count
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
        if any(os.waitpid(pid, os.WNOHANG)[0] for pid in children):
            sys.exit("a worker has ended")
        time.sleep(0.05)
    codes = []
    for pid in children:
        os.kill(pid, signal.SIGTERM)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    sys.exit(max(codes))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
