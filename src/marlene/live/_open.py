"""Transports by their addresses, as `marlene serve` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from marlene._common.errors import MarleneError
from marlene.live._checkpoints import Checkpoints
from marlene.live._http import Http
from marlene.live._journal import Journal
from marlene.live._kafka import KafkaWorkers
from marlene.live._kafka import parts_of as kafka_parts
from marlene.live._lines import STANDARD, LineReader, Lines, Outlets
from marlene.live._redis import RedisStreams, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from marlene.live._transport import Transport
    from marlene.live._worker import Worker

PORT = 8000


@dataclass(frozen=True)
class Route:
    """Where messages come from and where outputs go.

    Parameters
    ----------
    source
        "-", a file, or an address: http://HOST:PORT, redis://HOST:PORT/DATABASE/STREAM,
        kafka://BROKER:PORT/TOPIC.
    output, events, dead
        Where answers, events, and messages that cannot be used go; None: as the transport has it by default.
    state
        The folder of the worker; HTTP keeps its journal there.
    follow, again
        As for `LineReader`.
    group
        The consumer group.
    longest
        The longest message in bytes.
    """

    source: str = STANDARD
    output: str | None = None
    events: str | None = None
    dead: str | None = None
    state: str | None = None
    follow: bool = False
    again: bool = False
    group: str = "marlene"
    longest: int = 1 << 20

    @property
    def scheme(self) -> str:
        """The kind of transport."""
        return self.source.partition("://")[0] if "://" in self.source else ""

    def channels(self, answers: str) -> dict[str, str]:
        """Return where every channel goes."""
        answers = self.output or answers
        return {"answer": answers, "event": self.events or answers, "dead": self.dead or answers}


def open_transport(route: Route) -> Transport:
    """Return the transport that an address names."""
    if route.scheme == "http":
        return _open_http(route)
    if route.scheme in {"redis", "rediss", "unix"}:
        stream = parts_of(route.source)[1]
        return RedisStreams(route.source, route.channels(f"{stream}.answers"), route.group)
    if route.scheme:
        raise MarleneError(f"{route.source}: expected a file, or an address with http, redis or kafka")
    reader = LineReader(route.source, route.follow, route.again, route.longest)
    return Lines(reader, Outlets(route.channels(STANDARD)))


def open_kafka(route: Route, make: Callable[[], Worker], often: Mapping[str, Any]) -> KafkaWorkers:
    """Return the workers of a Kafka topic; `often` says how checkpoints are kept."""
    if route.state is None:
        raise MarleneError("workers of a group hand over checkpoints: give a folder or an address as --state")
    place = route.state.rstrip("/")
    channels = route.channels(f"{kafka_parts(route.source)[1]}.answers")

    def keep(partition: int) -> Checkpoints:
        return Checkpoints(f"{place}/partition-{partition}", **often)

    return KafkaWorkers(route.source, channels, route.group, make, keep)


def _open_http(route: Route) -> Http:
    if route.state is None or "://" in route.state:
        raise MarleneError("requests over HTTP are kept in a journal: give a folder of this machine as --state")
    folder = Path(route.state)
    journal = Journal(str(folder / "journal"))
    outlets = {"event": route.events or str(folder / "events.jsonl"), "dead": route.dead or str(folder / "dead.jsonl")}
    if route.output is not None:
        outlets["answer"] = route.output
    return Http(journal, Outlets(outlets))


def host_and_port(address: str) -> tuple[str, int]:
    """Return host and port of an address; the loopback and port 8000 if it does not say.

    Examples
    --------
    >>> host_and_port("http://:9100"), host_and_port("0.0.0.0:80")
    (('127.0.0.1', 9100), ('0.0.0.0', 80))
    """
    try:
        found = urlsplit(address if "://" in address else f"http://{address}")
        port = PORT if found.port is None else found.port
    except ValueError as error:
        raise MarleneError(f"{address}: expected HOST:PORT ({error})") from error
    return found.hostname or "127.0.0.1", port
