"""Live: predict now, learn when labels arrive, go on after a crash as if nothing had happened."""

from marlene.live._checkpoints import Checkpoints
from marlene.live._lines import LineReader, Lines, LineWriter, Outlets
from marlene.live._messages import Message, Output, Record, read
from marlene.live._serve import Stop, serve
from marlene.live._settings import Settings
from marlene.live._transport import Transport
from marlene.live._worker import Worker

__all__ = [
    "Checkpoints",
    "LineReader",
    "LineWriter",
    "Lines",
    "Message",
    "Outlets",
    "Output",
    "Record",
    "Settings",
    "Stop",
    "Transport",
    "Worker",
    "read",
    "serve",
]
