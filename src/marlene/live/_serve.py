"""The loop of a worker: messages in, answers out, a checkpoint now and then."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from marlene.live._checkpoints import Checkpoints
    from marlene.live._messages import Output, Record
    from marlene.live._transport import Transport
    from marlene.live._worker import Worker

TICK = 0.2
"""The longest time without a look at the clock and at signals, in seconds."""


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
    """
    stop = Stop() if stop is None else stop
    try:
        resumed = checkpoints is not None and checkpoints.resume(worker)
        transport.open(worker.positions)
        worker.positions |= transport.positions()
        if checkpoints is not None and not resumed:
            checkpoints.write(worker)
        while not stop:
            records = transport.poll(TICK)
            if records is None:
                break
            began, outputs = time.perf_counter(), []
            if records:
                outputs = worker.take(records)
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
