"""A grid, run to its end, whatever happens on the way."""

from __future__ import annotations

import time
from collections import deque
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.experiments._perform import failed
from marlene.experiments._pools import make_pool
from marlene.experiments._store import DONE, FAILED, ResultStore

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from marlene.experiments._grid import Grid, Run
    from marlene.experiments._pools import Pool


class WorkerDiedError(RuntimeError):
    """The process of a run ended without a word: it was killed, or there was no memory left."""


@dataclass(frozen=True)
class GridProgress:
    """How a grid stands.

    Parameters
    ----------
    done, failed, left
        How many runs; those of earlier calls are among the first two.
    running
        Titles of those under way.
    seconds_left
        How long it will take at the present pace; None before the first run has ended.
    latest
        The row of the run that has just ended; None if one has just begun.
    """

    done: int
    failed: int
    left: int
    running: tuple[str, ...] = ()
    seconds_left: float | None = None
    latest: dict[str, Any] | None = None


def run_grid(
    grid: Grid,
    out: str | os.PathLike[str],
    *,
    jobs: int = 1,
    dask: str | None = None,
    retry_failed: bool = False,
    watch: Callable[[GridProgress], None] | None = None,
) -> ResultStore:
    """Run what the folder does not have yet, and keep every run as soon as it has ended.

    Stop it in any way and call it again: what has a row is not run again. A run that fails, or whose process dies, gets
    a row with the error and does not stop the others. Results depend on neither `jobs` nor `dask`.

    Parameters
    ----------
    grid
        What to run.
    out
        The folder of the results; may hold those of other grids.
    jobs
        How many processes of this machine to use.
    dask
        Address of a Dask scheduler; its workers are used instead, and must have this package.
    retry_failed
        Run again what failed before.
    watch
        Called whenever a run begins or ends.

    Examples
    --------
    >>> import tempfile
    >>> from marlene.experiments import Grid
    >>> grid = Grid(streams=[{"load": "yeast", "limit": 200}], methods=[{"name": "majority"}], seeds=2)
    >>> store = run_grid(grid, tempfile.mkdtemp())
    >>> store.frame().select("name", "method", "seed", "status").rows()
    [('yeast', 'majority', 1, 'done'), ('yeast', 'majority', 2, 'done')]
    """
    if jobs < 1:
        raise MarleneError(f"jobs must be at least 1, not {jobs}")
    store = ResultStore(out)
    with store.locked():
        runs = grid.runs()
        statuses = store.statuses()
        over = {DONE} if retry_failed else {DONE, FAILED}
        todo = [run for run in runs if statuses.get(run.key) not in over]
        ended = [statuses[run.key] for run in runs if statuses.get(run.key) in over]
        board = _Board(ended.count(DONE), ended.count(FAILED), len(todo), watch)
        board.tell(())
        if todo:
            with closing(make_pool(jobs, dask)) as pool:
                _Runner(pool, store, board).work_through(todo)
    return store


class _Board:
    """Counts what has ended, and tells whoever watches."""

    def __init__(self, done: int, failed: int, left: int, watch: Callable[[GridProgress], None] | None) -> None:
        self._counts = {DONE: done, FAILED: failed}
        self._left = left
        self._ended = 0
        self._began = time.monotonic()
        self._watch = watch

    def count(self, status: str) -> None:
        self._counts[status] += 1
        self._left -= 1
        self._ended += 1

    def tell(self, running: Sequence[Run], latest: dict[str, Any] | None = None) -> None:
        if self._watch is None:
            return
        pace = (time.monotonic() - self._began) / self._ended if self._ended else None
        self._watch(
            GridProgress(
                self._counts[DONE],
                self._counts[FAILED],
                self._left,
                tuple(run.title for run in running),
                None if pace is None else pace * self._left,
                latest,
            )
        )


class _Runner:
    """Keeps a pool busy.

    When a worker dies, joblib's pool does not say which run killed it, if any did: all that were under way are run
    again, each with the pool for itself, and the one that brings it down once more is the one that fails.
    """

    def __init__(self, pool: Pool, store: ResultStore, board: _Board) -> None:
        self._pool = pool
        self._store = store
        self._board = board
        self._running: dict[Any, Run] = {}
        self._suspects: deque[Run] = deque()
        self._second_time: set[str] = set()

    def work_through(self, runs: Sequence[Run]) -> None:
        todo = deque(runs)
        crashed = False
        while todo or self._suspects or self._running:
            if not crashed:
                self._fill(todo)
            for future in self._pool.wait(self._running):
                crashed |= not self._take(future)
            if crashed and not self._running:
                self._pool.renew()
                crashed = False

    def _fill(self, todo: deque[Run]) -> None:
        slots = 1 if self._suspects else self._pool.slots()
        while len(self._running) < slots and (self._suspects or todo):
            queue = self._suspects or todo
            self._board.tell([*self._running.values(), queue[0]])
            try:
                future = self._pool.submit(queue[0])
            except self._pool.crashes:
                # A worker died while it had nothing to do, or what it did is about to be told.
                if self._running:
                    return
                self._pool.renew()
                continue
            self._running[future] = queue.popleft()

    def _take(self, future: Any) -> bool:  # noqa: ANN401
        """Keep what a future brings; return whether its worker is alive."""
        run = self._running.pop(future)
        alive = True
        try:
            outcome = future.result()
        except self._pool.crashes as error:
            alive = False
            if run.key not in self._second_time:
                self._second_time.add(run.key)
                self._suspects.append(run)
                return alive
            died = WorkerDiedError("the process was killed from outside, or ran out of memory")
            died.__cause__ = error
            outcome = failed(run, died)
        except Exception as error:  # noqa: BLE001 (whatever the pool could not do is the run's failure)
            outcome = failed(run, error)
        self._store.add(outcome.row, outcome.traces)
        self._board.count(outcome.row["status"])
        self._board.tell(list(self._running.values()), outcome.row)
        return alive
