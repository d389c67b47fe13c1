"""Kafka: one worker for every partition of a topic, and every answer exactly once."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.live._messages import Record
from marlene.live._serve import BLOCK_SECONDS, Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from marlene.live._checkpoints import Checkpoints
    from marlene.live._desk import ModelDesk
    from marlene.live._messages import Output
    from marlene.live._serve import Stop
    from marlene.live._worker import Worker

SECONDS = 30.0
"""How long a broker may take to reply."""
TICK = 0.2


def parts_of(address: str) -> tuple[str, str, dict[str, str]]:
    """Return brokers, topic, and settings of the clients.

    Examples
    --------
    >>> parts_of("kafka://one:9092,two:9092/tickets?session.timeout.ms=6000")
    ('one:9092,two:9092', 'tickets', {'session.timeout.ms': '6000'})
    """
    found = urlsplit(address)
    topic = found.path.strip("/")
    if not found.netloc or not topic or "/" in topic:
        raise MarleneError(f"{address}: expected kafka://BROKER:PORT/TOPIC")
    return found.netloc, topic, dict(parse_qsl(found.query))


class KafkaWorkers:
    """The workers of one process: one for each partition that the group gives it.

    Answers and the position of the input are committed in one transaction; a checkpoint is written after it, so it is
    never ahead. A worker begins with the latest checkpoint of its partition and takes the messages up to the committed
    position again, without a word: its outputs depend on the messages only.

    Parameters
    ----------
    address
        kafka://BROKER:PORT/TOPIC, with settings of librdkafka after a question mark.
    channels
        The topic of every channel of outputs, by its name.
    group
        The consumer group.
    make
        Returns a new worker.
    keep
        Returns the checkpoints of a partition, which any process must be able to read.
    """

    ready = False

    def __init__(
        self,
        address: str,
        channels: Mapping[str, str],
        group: str,
        make: Callable[[], Worker],
        keep: Callable[[int], Checkpoints],
    ) -> None:
        self._kafka = optional("confluent_kafka", "live", "reading Kafka")
        brokers, self._topic, options = parts_of(address)
        self._channels, self._make, self._keep = dict(channels), make, keep
        common = {"bootstrap.servers": brokers, **options}
        consumer = {"group.id": group, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        self._consumer = self._kafka.Consumer({**common, **consumer, "isolation.level": "read_committed"})
        producer = {name: value for name, value in common.items() if not name.startswith(("session.", "heartbeat."))}
        self._producer = self._kafka.Producer({**producer, "transactional.id": f"{group}-{uuid.uuid4()}"})
        self.workers: dict[int, tuple[Worker, Checkpoints]] = {}
        self._committed: dict[int, int] = {}

    def run(
        self,
        stop: Stop,
        watch: Callable[[Sequence[Record], Sequence[Output], float], None] | None = None,
        block_seconds: float = BLOCK_SECONDS,
    ) -> None:
        """Serve until somebody asks for the end; then write checkpoints and leave the group."""
        pace = Pace(block_seconds)
        try:
            self._producer.init_transactions(SECONDS)
            self._consumer.subscribe(
                [self._topic], on_assign=self._take_over, on_revoke=self._hand_over, on_lost=self._lose
            )
            while not stop:
                messages = self._consumer.consume(pace.most, TICK)
                began = time.perf_counter()
                records, outputs = self._turn(messages, pace)
                if watch is not None:
                    watch(records, outputs, time.perf_counter() - began)
                for worker, checkpoints in self.workers.values():
                    checkpoints.offer(worker)
            for worker, checkpoints in self.workers.values():
                checkpoints.write(worker)
        except self._kafka.KafkaException as error:
            raise MarleneError(f"kafka {self._topic}: {error.args[0]}") from error
        finally:
            for _, checkpoints in self.workers.values():
                checkpoints.close()
            self.workers = {}
            self._consumer.close()

    def _turn(self, messages: Sequence[Any], pace: Pace) -> tuple[list[Record], list[Output]]:
        """Take messages, and commit their outputs and positions together."""
        lots: dict[int, list[Record]] = {}
        for message in messages:
            if message.error() is not None:
                if message.error().fatal():
                    raise self._kafka.KafkaException(message.error())
                continue
            kind, stamp = message.timestamp()
            time_of = stamp / 1000 if kind else None
            record = Record(_name(message.partition()), message.offset() + 1, message.value() or b"", time_of)
            lots.setdefault(message.partition(), []).append(record)
        outputs, ends, began = [], {}, time.perf_counter()
        for partition, records in lots.items():
            if partition not in self.workers:
                continue
            worker, done = self.workers[partition][0], self._committed[partition]
            worker.take([record for record in records if record.position <= done])
            new = [record for record in records if record.position > done]
            if new:
                outputs += worker.take(new)
                ends[partition] = new[-1].position
        if lots:
            pace.note(sum(map(len, lots.values())), time.perf_counter() - began)
        if ends:
            self._commit(outputs, ends)
        return [record for records in lots.values() for record in records], outputs

    def _commit(self, outputs: Sequence[Output], ends: Mapping[int, int]) -> None:
        """Send outputs and positions in one transaction; if that fails, go back to the latest checkpoints."""
        offsets = [self._kafka.TopicPartition(self._topic, partition, end) for partition, end in ends.items()]
        try:
            self._producer.begin_transaction()
            for output in outputs:
                if output.channel in self._channels:
                    self._produce(self._channels[output.channel], output.body)
            metadata = self._consumer.consumer_group_metadata()
            self._producer.send_offsets_to_transaction(offsets, metadata, SECONDS)
            self._producer.commit_transaction(SECONDS)
        except self._kafka.KafkaException as error:
            if not error.args[0].txn_requires_abort():
                raise
            self._producer.abort_transaction(SECONDS)
            mine = self._consumer.assignment()
            self._lose(self._consumer, mine)
            self._take_over(self._consumer, mine)
        else:
            self._committed |= ends

    def _produce(self, topic: str, body: bytes) -> None:
        while True:
            try:
                self._producer.produce(topic, body)
            except BufferError:
                self._producer.poll(TICK)
            else:
                return

    def _take_over(self, consumer: Any, partitions: Sequence[Any]) -> None:  # noqa: ANN401
        """Begin with the latest checkpoints of the partitions that the group gives."""
        for found in consumer.committed(list(partitions), timeout=SECONDS):
            worker, checkpoints = self._make(), self._keep(found.partition)
            self.workers[found.partition] = worker, checkpoints
            checkpoints.resume(worker)
            self._committed[found.partition] = max(0, found.offset)
        for partition in partitions:
            worker = self.workers[partition.partition][0]
            position = worker.positions.get(_name(partition.partition))
            partition.offset = self._kafka.OFFSET_BEGINNING if position is None else int(position)
        consumer.assign(list(partitions))
        self.ready = True

    def _hand_over(self, _: Any, partitions: Sequence[Any]) -> None:  # noqa: ANN401
        """Write checkpoints of the partitions that the group takes away."""
        for partition in partitions:
            if partition.partition in self.workers:
                worker, checkpoints = self.workers.pop(partition.partition)
                checkpoints.write(worker)
                checkpoints.close()

    def _lose(self, _: Any, partitions: Sequence[Any]) -> None:  # noqa: ANN401
        """Forget the partitions that others have already."""
        for partition in partitions:
            if partition.partition in self.workers:
                self.workers.pop(partition.partition)[1].close()

    @property
    def counts(self) -> dict[str, int]:
        """Return the counters of all workers together."""
        total: dict[str, int] = {}
        for worker, _ in self.workers.values():
            for name, count in worker.counts.items():
                total[name] = total.get(name, 0) + count
        return total

    @property
    def desks(self) -> dict[str | None, ModelDesk]:
        """Return the models of all workers."""
        found = [(number, worker) for number, (worker, _) in self.workers.items()]
        return {
            f"{number}" if key is None else key: desk for number, worker in found for key, desk in worker.desks.items()
        }

    @property
    def written_at(self) -> float | None:
        """Return when the oldest of the latest checkpoints was written; None before the first."""
        return min((found.written_at for found in self._kept() if found.written_at is not None), default=None)

    @property
    def written(self) -> int:
        """Return how many checkpoints of its partitions were written."""
        return sum(found.written for found in self._kept())

    @property
    def failed(self) -> int:
        """Return how many of them could not be written."""
        return sum(found.failed for found in self._kept())

    @property
    def longest_pause(self) -> float:
        """Return the longest time that one of them stopped the workers, in seconds."""
        return max((found.longest_pause for found in self._kept()), default=0.0)

    def _kept(self) -> list[Checkpoints]:
        return [checkpoints for _, checkpoints in list(self.workers.values())]

    def lag(self) -> int | None:
        """Return how many messages wait to be taken, as far as the client knows."""
        total = 0
        for partition in list(self.workers):
            where = self._kafka.TopicPartition(self._topic, partition)
            _, high = self._consumer.get_watermark_offsets(where, cached=True)
            total += max(0, high - self._committed.get(partition, 0))
        return total


def _name(partition: int) -> str:
    return f"kafka {partition}"
