"""Live: predict now, learn when labels arrive, go on after a crash as if nothing had happened."""

from marlene.live._checkpoints import Checkpoints
from marlene.live._http import Http
from marlene.live._journal import Journal
from marlene.live._kafka import KafkaWorkers
from marlene.live._lines import LineReader, Lines, LineWriter, Outlets
from marlene.live._messages import Message, Output, Record, read
from marlene.live._metrics import Metrics
from marlene.live._redis import RedisStreams
from marlene.live._serve import Stop, serve
from marlene.live._settings import WorkerSettings
from marlene.live._transport import Transport
from marlene.live._web import Web
from marlene.live._worker import Worker

__all__ = [
    "Checkpoints",
    "Http",
    "Journal",
    "KafkaWorkers",
    "LineReader",
    "LineWriter",
    "Lines",
    "Message",
    "Metrics",
    "Outlets",
    "Output",
    "Record",
    "RedisStreams",
    "Stop",
    "Transport",
    "Web",
    "Worker",
    "WorkerSettings",
    "read",
    "serve",
]
