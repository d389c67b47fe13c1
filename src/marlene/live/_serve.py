"""The loop of a worker: messages in, answers out, a checkpoint now and then."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from marlene._common.checks import checked
from marlene._common.errors import MarleneError
from marlene.live._transport import BATCH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from marlene.live._checkpoints import Checkpoints
    from marlene.live._messages import Output, Record
    from marlene.live._transport import Transport
    from marlene.live._worker import Worker

TICK = 0.2
"""The longest time without a look at the clock and at signals, in seconds."""
BLOCK_SECONDS = 0.02
"""The longest time that a message waits for those that are taken with it."""
FIRST_LOT = 8
RELAXATION = 0.8
"""How much of the time of the slowest messages is remembered from lot to lot."""


class Pace:
    """How many messages are taken together, so that none waits longer for the others than a set time.

    Parameters
    ----------
    seconds
        The time.

    Examples
    --------
    >>> pace = Pace(0.02)
    >>> pace.note(8, seconds=0.08)
    >>> pace.most
    2
    """

    def __init__(self, seconds: float = BLOCK_SECONDS) -> None:
        self._seconds = checked(seconds, "block_seconds", (float, lambda x: x > 0, "a number above 0"))
        self._each = self._seconds / FIRST_LOT

    @property
    def most(self) -> int:
        """How many messages may be taken together."""
        return int(max(1, min(BATCH, self._seconds / self._each)))

    def note(self, count: int, seconds: float) -> None:
        """Take note of how long so many messages took. One slow lot makes the next ones small, which then grow."""
        self._each = max(seconds / count, RELAXATION * self._each)


class Stop:
    """Tells a worker to end: after SIGTERM, Ctrl-C, or when it is set."""

    def __init__(self) -> None:
        self._wanted = threading.Event()

    def set(self, *_: object) -> None:
        """Ask for the end."""
        self._wanted.set()

    def __bool__(self) -> bool:
        return self._wanted.is_set()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Let SIGTERM and SIGINT ask for the end."""
        before = {number: signal.signal(number, self.set) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    worker: Worker,
    transport: Transport,
    checkpoints: Checkpoints | None = None,
    stop: Stop | None = None,
    watch: Callable[[Sequence[Record], Sequence[Output], float], None] | None = None,
    block_seconds: float = BLOCK_SECONDS,
) -> None:
    """Serve until the inputs end or somebody asks for the end; then write a checkpoint.

    Parameters
    ----------
    worker
        The worker, with an empty model: the latest checkpoint is loaded first.
    transport
        Where messages come from and answers go.
    checkpoints
        Where the state is kept; None: nowhere.
    stop
        Who may ask for the end.
    watch
        Called after each lot of messages, also of none: with them, the outputs, and the time in seconds it took.
    block_seconds
        How long messages that are taken together may take; a prediction waits no longer for others.
    """
    stop, pace = Stop() if stop is None else stop, Pace(block_seconds)
    try:
        resumed = checkpoints is not None and checkpoints.resume(worker)
        transport.open(worker.positions)
        worker.positions |= transport.positions()
        if checkpoints is not None and not resumed:
            checkpoints.write(worker)
        while not stop:
            records = transport.poll(TICK, pace.most)
            if records is None:
                break
            began, outputs = time.perf_counter(), []
            if records:
                outputs = worker.take(records)
                pace.note(len(records), time.perf_counter() - began)
                transport.send(outputs, records)
                worker.positions |= transport.positions()
            if watch is not None:
                watch(records, outputs, time.perf_counter() - began)
            _tell(transport, checkpoints.offer(worker) if checkpoints is not None else worker.positions)
        if checkpoints is not None:
            _tell(transport, checkpoints.write(worker))
    except OSError as error:
        raise MarleneError(f"stopped: {error.strerror or error}") from error
    finally:
        transport.close()


def _tell(transport: Transport, positions: dict[str, Any] | None) -> None:
    if positions is not None:
        transport.saved(positions)
