"""Carry out the runs of a grid that are not in its store yet."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.experiments._pools import in_processes, in_this_process, on_cluster
from marlene.experiments._store import DONE, FAILED, ResultStore

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from marlene.experiments._grid import Grid, Run
    from marlene.experiments._pools import Events


@dataclass(frozen=True)
class GridProgress:
    """How a grid stands.

    Parameters
    ----------
    done, failed, left
        How many runs. Runs of earlier calls count as done or failed.
    running
        Titles of the runs under way.
    seconds_left
        Time to the end at the present pace; None before the first run has ended.
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
    measure: bool = False,
    watch: Callable[[GridProgress], None] | None = None,
) -> ResultStore:
    """Carry out the runs that the folder does not have yet, and keep every run as soon as it has ended.

    Stop it in any way and call it again: it goes on with what has no row. A run that fails, or whose process dies
    twice, gets a row with the error and does not stop the others. Scores depend on neither `jobs` nor `dask`.

    Parameters
    ----------
    grid
        What to run.
    out
        The folder of the results. It may hold results of other grids.
    jobs
        How many processes of this machine to use. With 1, runs are carried out in this process.
    dask
        Address of a Dask scheduler; its workers are used instead, and must have this package.
    retry_failed
        Run again what failed before.
    measure
        Give every method on every stream a process of its own, and keep only rows and scores over time. Then times
        and memory are those of the runs alone.
    watch
        Called whenever a run begins or ends.

    Examples
    --------
    >>> import tempfile
    >>> from marlene.experiments import Grid
    >>> grid = Grid(streams=[{"load": "yeast", "limit": 200}], methods=[{"name": "majority"}], seeds=2)
    >>> store = run_grid(grid, tempfile.mkdtemp())
    >>> [(row["name"], row["method"], row["seed"], row["status"]) for row in store.rows()]
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
        counts = Counter(statuses[run.key] for run in runs if statuses.get(run.key) in over)
        began, left, seconds_left = time.monotonic(), len(todo), None
        tell = watch or (lambda _: None)
        tell(GridProgress(counts[DONE], counts[FAILED], left))
        running: dict[str, str] = {}
        with closing(_events(store, todo, jobs, dask, measure)) as events:
            for run, has_ended in events:
                row = store.row(run.key) if has_ended else None
                if row is None:
                    running[run.key] = run.title
                else:
                    del running[run.key]
                    counts[row["status"]] += 1
                    left -= 1
                    seconds_left = (time.monotonic() - began) / (len(todo) - left) * left
                tell(GridProgress(counts[DONE], counts[FAILED], left, tuple(running.values()), seconds_left, row))
    return store


def _events(store: ResultStore, todo: list[Run], jobs: int, dask: str | None, measure: bool) -> Events:
    if dask is not None and todo:
        return on_cluster(store, todo, dask)
    return in_processes(store, todo, jobs, measure) if jobs > 1 or measure else in_this_process(store, todo)
