"""Changes of a learner that are made as a whole, whatever signals come meanwhile.

The handler of a signal may raise an exception between any two lines of Python: Ctrl-C in a notebook, an alarm. During a
change handlers wait for its end. (To block the signals would not do: another thread, of a BLAS say, would catch them,
and Python would call the handler in the main thread nevertheless.) Should a change end with an exception all the same,
the learner is of no more use, and says so.
"""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError

if TYPE_CHECKING:
    from types import TracebackType

    from marlene.learners._block_learner import BlockLearner

# The public functions make objects of all numbers, which takes several times as long.
_signal: Any = importlib.import_module("_signal")
NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGVTALRM", "SIGUSR1", "SIGUSR2", "SIGBREAK")
WAITING = tuple(int(getattr(signal, name)) for name in NAMES if hasattr(signal, name))
"""The signals whose handlers wait."""
UNFINISHED = "an error interrupted this learner while it learnt: it cannot be used any more, load a saved one"


class Undivided:
    """A context that no handler of a signal divides: signals that come are handled at its end."""

    __slots__ = ("_came", "_handlers")

    def __enter__(self) -> None:
        self._handlers: list[tuple[int, Any]] = []
        self._came: list[int] = []
        if threading.current_thread() is not threading.main_thread():
            return  # Python calls handlers in the main thread only
        try:
            known = [(number, handler) for number in WAITING if callable(handler := _signal.getsignal(number))]
            for number, handler in known:
                self._handlers.append((number, handler))
                _signal.signal(number, self._wait)
        except BaseException:  # what came before is handled before anything is changed
            self._end()
            raise

    def _wait(self, number: int, _frame: object) -> None:
        self._came.append(number)

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._end()

    def _end(self) -> None:
        try:
            self._restore()
        finally:
            if self._came:
                self._handle(list(dict.fromkeys(self._came)))

    def _restore(self) -> None:
        """Give all handlers back, even if one that is back already raises an exception, or several do."""
        try:
            for number, handler in self._handlers:
                _signal.signal(number, handler)
        except BaseException:
            try:
                self._restore()
            finally:
                self._restore()
            raise

    def _handle(self, came: list[int]) -> None:
        """Call the handlers of all signals that came, even if one of them raises an exception."""
        try:
            dict(self._handlers)[came[0]](came[0], sys._getframe())  # noqa: SLF001 (as a handler expects it)
        finally:
            if came[1:]:
                self._handle(came[1:])


class Whole(Undivided):
    """A context in which a learner changes; contexts within it are part of it.

    If it ends with an exception, the learner cannot be used any more. A `MarleneError` is raised before anything is
    changed, and a warning after it.
    """

    __slots__ = ("_learner", "_within")

    def __init__(self, learner: BlockLearner) -> None:
        self._learner = learner

    def __enter__(self) -> None:
        learner = self._learner
        self._within = learner._unfinished  # noqa: SLF001 (a part of learners)
        if not self._within:
            super().__enter__()
            learner._unfinished = not learner._settles  # noqa: SLF001

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if not self._within:
            if kind is None or self._learner._settles or issubclass(kind, MarleneError | Warning):  # noqa: SLF001
                self._learner._unfinished = False  # noqa: SLF001
            super().__exit__(kind, error, trace)
