"""What Ctrl-C does before anything is learnt."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERRUPTED = 130
SAID = "marlene: interrupted"


@contextlib.contextmanager
def leaving_at_once() -> Iterator[None]:
    """End the process at Ctrl-C, in one line, as long as there is nothing to lose.

    An exception instead might appear anywhere in the modules that are imported, or be swallowed by a compiler.
    """
    ours = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if ours else signal.SIG_IGN
    if before is not signal.default_int_handler:  # somebody else takes care of it
        yield
        return
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _leave(*_: object) -> None:
    os.write(2, f"{SAID}\n".encode())
    os._exit(INTERRUPTED)
