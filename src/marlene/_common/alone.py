"""Objects whose public methods run one at a time, whatever thread calls them.

Kernels run without the interpreter's lock. Without a lock of its own a learner could be read by one thread while
another one changes it.
"""

from __future__ import annotations

import _thread
import copy
import functools
import inspect
import os
import weakref
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Method = TypeVar("Method", bound="Callable[..., Any]")


class Lock(_thread.RLock):  # type: ignore[misc]  # (the interpreter allows it)
    """A lock that a thread may take several times. A copy of it is a new one, which nobody holds."""

    def __init__(self) -> None:
        LOCKS.add(self)

    def __copy__(self) -> Lock:
        return Lock()

    def __deepcopy__(self, memo: object) -> Lock:
        return Lock()

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


LOCKS: weakref.WeakSet[Lock] = weakref.WeakSet()
_held: list[Lock] = []
PATIENCE = 0.05
"""How long a lock is waited for while others are held, in seconds."""


def _take_all() -> None:
    """Wait until no thread is at work: a child process gets whole objects.

    A thread may hold one lock and wait for another, which is held here. So none is waited for long while others are
    held; all are given back, and the one that was lacking is waited for first.
    """
    lacking: Lock | None = None
    while True:
        if lacking is not None:
            lacking.acquire()
            _held.append(lacking)
        known = list(LOCKS.data)  # type: ignore[attr-defined]  # (at once: threads may add some meanwhile)
        there = [lock for each in known if (lock := each()) is not None]
        for lock in there:
            if not lock.acquire(timeout=PATIENCE):
                lacking = lock
                break
            _held.append(lock)
        else:
            return
        _give_all_back()


def _give_all_back() -> None:
    while _held:
        _held.pop().release()


def _renew_all() -> None:
    """Free all locks in a child process, which has no other threads."""
    _held.clear()
    for lock in list(LOCKS):
        lock._at_fork_reinit()  # type: ignore[attr-defined]  # noqa: SLF001 (what the standard library does)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_all, after_in_parent=_give_all_back, after_in_child=_renew_all)


def alone(method: Method) -> Method:
    """Let a method wait until no other thread runs one of the same object."""

    @functools.wraps(method)
    def guarded(self: OneAtATime, *args: Any, **keywords: Any) -> Any:  # noqa: ANN401 (whatever the method takes)
        with self._lock:
            return method(self, *args, **keywords)

    guarded.is_alone = True  # type: ignore[attr-defined]
    return cast("Method", guarded)


class OneAtATime:
    """The public methods of a subclass run one at a time.

    Examples
    --------
    >>> class Counter(OneAtATime):
    ...     count = 0
    ...
    ...     def add(self):
    ...         self.count += 1
    >>> counter = Counter()
    >>> counter.add()
    >>> counter.count
    1
    """

    _lock: Lock

    def __new__(cls, *_args: Any, **_keywords: Any) -> Self:  # noqa: ANN401 (whatever __init__ takes)
        """Make an object and its lock before anybody can call it."""
        made = super().__new__(cls)
        made._lock = Lock()
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return copies of all attributes, for a pickle or a copy: other threads may change them meanwhile."""
        with self._lock:
            return copy.deepcopy(self.__dict__)

    def __init_subclass__(cls, **keywords: Any) -> None:  # noqa: ANN401
        super().__init_subclass__(**keywords)
        for name, member in vars(cls).copy().items():
            if inspect.isfunction(member) and not name.startswith("_") and not hasattr(member, "is_alone"):
                setattr(cls, name, alone(member))
