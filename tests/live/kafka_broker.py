"""librdkafka's broker in a process of its own: `python -m tests.live.kafka_broker FILE` writes its address there."""

import sys
import time
from pathlib import Path

from confluent_kafka import Producer


def main(file):
    cluster = Producer({"bootstrap.servers": "none:1", "test.mock.num.brokers": 3, "log_level": 0})
    brokers = cluster.list_topics(timeout=300).brokers.values()
    part = file.with_suffix(".part")
    part.write_text(",".join(f"{broker.host}:{broker.port}" for broker in brokers))
    part.rename(file)
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
