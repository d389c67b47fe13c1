"""What a worker needs of a transport; a new one is a class with these methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene.live._messages import Output, Record

BATCH = 256
"""The largest number of messages that are taken together."""


class Transport(Protocol):
    """Brings messages and takes outputs away."""

    def open(self, positions: Mapping[str, Any]) -> None:
        """Begin, or go on from the positions in a checkpoint."""

    def poll(self, seconds: float, most: int) -> Sequence[Record] | None:
        """Return the next messages, at most so many, none if none came in time, or None at the end of all inputs."""

    def send(self, outputs: Sequence[Output], records: Sequence[Record]) -> None:
        """Take the outputs of messages away; return when they are safe. Waiting here is the only back-pressure."""

    def positions(self) -> Mapping[str, Any]:
        """Return where the outputs go on, if that is to be in a checkpoint."""

    def saved(self, positions: Mapping[str, Any]) -> None:
        """Take note that all checkpoints that are kept are at these positions or later."""

    def lag(self) -> int | None:
        """Return how many messages wait to be taken; None if nobody knows."""

    def close(self) -> None:
        """End."""
