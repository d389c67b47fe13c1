"""Transports by their addresses, as `marlene serve` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from marlene.live._lines import STANDARD, LineReader, Lines, Outlets

if TYPE_CHECKING:
    from marlene.live._transport import Transport


@dataclass(frozen=True)
class Route:
    """Where messages come from and where outputs go.

    Parameters
    ----------
    source
        "-", a file, or an address: http://HOST:PORT, redis://HOST:PORT/DB/STREAM.
    output, events, dead
        Where answers, events, and messages that cannot be used go; None: as the transport has it by default.
    follow, again
        As for `LineReader`.
    longest
        The longest message in bytes.
    """

    source: str = STANDARD
    output: str | None = None
    events: str | None = None
    dead: str | None = None
    follow: bool = False
    again: bool = False
    longest: int = 1 << 20


def open_transport(route: Route) -> Transport:
    """Return the transport that an address names."""
    answers = route.output or STANDARD
    paths = {"answer": answers, "event": route.events or answers, "dead": route.dead or answers}
    reader = LineReader(route.source, route.follow, route.again, route.longest)
    return Lines(reader, Outlets(paths))
