"""HTTP: requests that wait for their answers."""

from __future__ import annotations

import collections
import itertools
import json
import threading
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.live._journal import SOURCE, Journal
from marlene.live._messages import dumped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from marlene.live._lines import Outlets
    from marlene.live._messages import Output, Record

MOST_WAITING = 10_000
"""More messages than these are not kept waiting: the client is to come again."""
Reply = tuple[int, bytes]


class Call:
    """The messages of one request, and what is to be told when all are done."""

    def __init__(self, bodies: Sequence[bytes], tell: Callable[[list[Reply]], None]) -> None:
        self.bodies, self._tell = bodies, tell
        self.replies: list[Reply] = []

    def reply(self, reply: Reply) -> None:
        """Take the reply to the next message."""
        self.replies.append(reply)
        if len(self.replies) == len(self.bodies):
            self._tell(self.replies)


class Http:
    """The transport of requests. What comes is written to a journal first, in the order in which it is taken.

    Predictions and labels wait in two queues, which have their turn one after the other.

    Parameters
    ----------
    journal
        Where messages are kept until a checkpoint has them.
    outlets
        Where events and unusable messages go.
    """

    def __init__(self, journal: Journal, outlets: Outlets) -> None:
        self._journal, self._outlets = journal, outlets
        self._asked: collections.deque[tuple[Call, bytes]] = collections.deque()
        self._told: collections.deque[tuple[Call, bytes]] = collections.deque()
        self._news = threading.Condition()
        self._taken: list[Call] = []
        self._replay: Iterator[Record] | None = None
        self._labels_next = False
        self.ready = False

    def submit(self, bodies: Sequence[bytes], learn: bool, tell: Callable[[list[Reply]], None]) -> bool:
        """Put the messages of a request in a queue; return False if it is full. May be called from any thread."""
        call = Call(bodies, tell)
        with self._news:
            if not self.ready or len(self._asked) + len(self._told) + len(bodies) > MOST_WAITING:
                return False
            (self._told if learn else self._asked).extend((call, body) for body in bodies)
            self._news.notify()
        return True

    def open(self, positions: Mapping[str, Any]) -> None:
        """Begin with what the journal has after the checkpoint."""
        self._outlets.open(positions)
        self._replay = self._journal.open(positions.get(SOURCE))

    def poll(self, seconds: float, most: int) -> Sequence[Record] | None:
        """Return the next messages of the journal, then of one of the queues."""
        if self._replay is not None:
            records = list(itertools.islice(self._replay, most))
            if records:
                return records
            self._replay, self.ready = None, True
        with self._news:
            if not self._asked and not self._told:
                self._news.wait(seconds)
            calls, bodies = self._next_lot(most)
        if not bodies:
            return []
        self._taken = calls
        return self._journal.write(bodies)

    def _next_lot(self, most: int) -> tuple[list[Call], list[bytes]]:
        learning = bool(self._told) and (self._labels_next or not self._asked)
        queue = self._told if learning else self._asked
        self._labels_next = bool(queue) and not learning
        lot = [queue.popleft() for _ in range(min(len(queue), most))]
        return [call for call, _ in lot], [body for _, body in lot]

    def send(self, outputs: Sequence[Output], records: Sequence[Record]) -> None:  # noqa: ARG002
        """Reply to the requests; write events and what else there is to files."""
        self._outlets.write(outputs)
        calls, self._taken = self._taken, []
        if not calls:
            return
        replies: dict[int, Reply] = {}
        for output in outputs:
            if output.channel == "answer" or (output.channel in {"told", "dead"} and output.record not in replies):
                replies[output.record] = (422 if output.channel == "dead" else 200, output.body)
        for number, call in enumerate(calls):
            call.reply(replies.get(number, (200, b'{"outcome":"nothing"}')))

    def positions(self) -> Mapping[str, Any]:
        """Return how long the outputs are."""
        return self._outlets.positions()

    def saved(self, positions: Mapping[str, Any]) -> None:
        """Forget what all checkpoints have."""
        if SOURCE in positions:
            self._journal.forget(positions[SOURCE])

    def lag(self) -> int | None:
        """Return how many messages wait."""
        return len(self._asked) + len(self._told)

    def close(self) -> None:
        """Refuse further requests, and those that wait."""
        with self._news:
            self.ready = False
            waiting = [*self._asked, *self._told]
        for call, _ in waiting:
            call.reply((503, b'{"error":"the worker ends"}'))
        self._journal.close()
        self._outlets.close()


def bodies_of(body: bytes, now: float) -> tuple[list[bytes], bool]:
    """Return the messages of a request, one line each, and whether they came as a list.

    A message without a time gets that of its arrival.
    """
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MarleneError(f"not JSON ({str(error) or 'nested too deep'})") from None
    several = isinstance(given, list)
    messages = given if several else [given]
    if not messages:
        raise MarleneError("no messages")
    for message in messages:
        if not isinstance(message, dict):
            raise MarleneError("expected a JSON object, or a list of them")
    return [dumped({"time": now, **message}) for message in messages], several
