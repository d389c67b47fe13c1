"""Redis Streams: a consumer group reads one stream; answers go to others."""

from __future__ import annotations

import collections
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.live._messages import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene.live._messages import Output

FIELD = b"message"
"""The field of an entry that holds the message."""
PATIENCE = 60.0
"""How long a server may be out of reach before the worker ends, in seconds."""
BEGINNING = "0-0"


def parts_of(address: str) -> tuple[str, str]:
    """Return the address of the server and the name of the stream.

    Examples
    --------
    >>> parts_of("redis://localhost:6379/2/tickets")
    ('redis://localhost:6379/2', 'tickets')
    >>> parts_of("redis://localhost/tickets")
    ('redis://localhost/0', 'tickets')
    """
    path = urlsplit(address).path.strip("/")
    database, _, stream = path.rpartition("/")
    if not stream or (database and not database.isdecimal()):
        raise MarleneError(f"{address}: expected redis://HOST:PORT/DATABASE/STREAM")
    return f"{address.partition('://')[0]}://{urlsplit(address).netloc}/{database or 0}", stream


class RedisStreams:
    """The transport of Redis Streams.

    An entry is acknowledged when no checkpoint that is kept needs it. A restarted worker reads what it was given and
    did not acknowledge, then new entries.

    Parameters
    ----------
    address
        redis://HOST:PORT/DATABASE/STREAM
    channels
        The stream of every channel of outputs, by its name.
    group, consumer
        Names of the consumer group and of this worker, the same after a restart.
    """

    def __init__(
        self, address: str, channels: Mapping[str, str], group: str = "marlene", consumer: str = "worker"
    ) -> None:
        self._redis = optional("redis", "live", "reading Redis Streams")
        server, self._stream = parts_of(address)
        self._channels, self._group, self._consumer = dict(channels), group, consumer
        self._server = self._redis.Redis.from_url(server)
        self.name = f"redis {self._stream}"
        self._given: collections.deque[str] = collections.deque()
        self._pending: str | None = BEGINNING
        self._after = (0, 0)
        self._lost: float | None = None

    def open(self, positions: Mapping[str, Any]) -> None:
        """Join the group."""
        self._after = _number(positions.get(self.name, BEGINNING))
        try:
            self._server.xgroup_create(self._stream, self._group, id="0", mkstream=True)
        except self._redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise MarleneError(f"{self.name}: {error}") from error
        except self._redis.RedisError as error:
            raise MarleneError(f"{self.name}: {error}") from error

    def poll(self, seconds: float, most: int) -> Sequence[Record] | None:
        """Return the next entries: first those given before, then new ones."""
        start = ">" if self._pending is None else self._pending
        block = None if self._pending is not None else max(1, int(seconds * 1000))
        try:
            found = self._server.xreadgroup(self._group, self._consumer, {self._stream: start}, count=most, block=block)
        except (self._redis.ConnectionError, self._redis.TimeoutError) as error:
            self._wait(seconds, error)
            return []
        except self._redis.RedisError as error:
            raise MarleneError(f"{self.name}: {error}") from error
        self._lost = None
        entries = _entries(found)
        if self._pending is not None:
            self._pending = entries[-1][0].decode() if entries else None
        return [record for entry in entries if (record := self._record(*entry)) is not None]

    def _record(self, number: bytes, fields: Mapping[bytes, bytes] | None) -> Record | None:
        """Return an entry as a message; None if the checkpoint has it already."""
        name = number.decode()
        self._given.append(name)
        if _number(name) <= self._after:
            return None
        return Record(self.name, name, (fields or {}).get(FIELD, b""), _number(name)[0] / 1000)

    def _wait(self, seconds: float, error: Exception) -> None:
        """Wait for the server to come back, but not for ever."""
        now = time.monotonic()
        self._lost = now if self._lost is None else self._lost
        if now - self._lost > PATIENCE:
            raise MarleneError(f"{self.name}: {error}") from error
        time.sleep(seconds)

    def send(self, outputs: Sequence[Output], records: Sequence[Record]) -> None:  # noqa: ARG002
        """Add outputs to their streams; try again while the server is out of reach."""
        wanted = [(self._channels[o.channel], o.body) for o in outputs if o.channel in self._channels]
        while wanted:
            pipeline = self._server.pipeline(transaction=False)
            for stream, body in wanted:
                pipeline.xadd(stream, {FIELD: body})
            try:
                pipeline.execute()
            except (self._redis.ConnectionError, self._redis.TimeoutError) as error:
                self._wait(0.1, error)
            except self._redis.RedisError as error:
                raise MarleneError(f"{self.name}: {error}") from error
            else:
                self._lost = None
                return

    def positions(self) -> Mapping[str, Any]:
        """Return nothing: streams only grow."""
        return {}

    def saved(self, positions: Mapping[str, Any]) -> None:
        """Acknowledge what all checkpoints have."""
        until = _number(positions.get(self.name, BEGINNING))
        done = []
        while self._given and _number(self._given[0]) <= until:
            done.append(self._given.popleft())
        try:
            for begin in range(0, len(done), 1000):
                self._server.xack(self._stream, self._group, *done[begin : begin + 1000])
        except self._redis.RedisError:
            self._given.extendleft(reversed(done))  # the next time

    def lag(self) -> int | None:
        """Return how many entries were not read yet, if the server knows."""
        try:
            groups = self._server.xinfo_groups(self._stream)
        except self._redis.RedisError:
            return None
        return next((group.get("lag") for group in groups if group["name"] == self._group.encode()), None)

    def close(self) -> None:
        """Close the connection."""
        self._server.close()


def _number(name: str) -> tuple[int, int]:
    """Return the number of an entry in parts that can be compared."""
    first, _, second = name.partition("-")
    return int(first), int(second or 0)


def _entries(found: Any) -> list[tuple[bytes, Mapping[bytes, bytes] | None]]:  # noqa: ANN401 (as redis-py gives it)
    """Return the entries of one stream; protocols 2 and 3 wrap them differently."""
    if not found:
        return []
    lots = found.values() if isinstance(found, dict) else (lot for _, lot in found)
    entries: list[Any] = [entry for lot in lots for entry in lot]
    while entries and isinstance(entries[0], list) and entries[0] and isinstance(entries[0][0], (list, tuple)):
        entries = [entry for lot in entries for entry in lot]
    return [(entry[0], entry[1]) for entry in entries]
