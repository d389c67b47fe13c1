"""Where runs are carried out: in this process, in worker processes of this machine, or on a Dask cluster.

Each way is a generator of events: a run, and True if it has ended, False if it has begun. A run that has ended is in
the store. Closing the generator stops all runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.evaluation._prequential import load_kernels
from marlene.experiments._grid import Run
from marlene.experiments._perform import failed, perform
from marlene.experiments._store import ResultStore
from marlene.experiments.program import create

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Events = Generator[tuple[Run, bool], None, None]

PATIENCE = "20s"
# Ctrl-C is for the process that runs the grid. Packages are looked for where that process finds them.
WORKER = (
    "import json, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = json.loads(sys.argv[1]); "
    "from marlene.experiments._pools import serve; serve(sys.argv[2], bool(sys.argv[3]))"
)


class WorkerDiedError(RuntimeError):
    """The process of a run ended before the run: it was killed, or there was no memory left."""


def in_this_process(store: ResultStore, runs: Sequence[Run]) -> Events:
    """Carry out one run after the other."""
    for run in runs:
        yield run, False
        store.add(*perform(run))
        yield run, True


def in_processes(store: ResultStore, runs: Sequence[Run], jobs: int, measure: bool) -> Events:
    """Carry out runs in worker processes.

    A process that dies costs only its own run. That run is started once more, and fails if its process dies again.
    To measure, runs that differ only in their seed share a process, and no others; of traces only scores over time are
    kept.
    """
    for run in {json.dumps([run.method, run.options]): run for run in runs}.values():
        # Compile once here, not in every worker. Errors are reported when the run is carried out.
        with contextlib.suppress(Exception):
            load_kernels(create(run.method, **run.options))
    together: dict[str, list[Run]] = {}
    for run in runs:
        together.setdefault(run.group if measure else run.key, []).append(run)
    crew = _Crew(store, measure, iter(together.values()))
    threads = [threading.Thread(target=crew.work, daemon=True) for _ in range(min(jobs, len(together)))]
    for thread in threads:
        thread.start()
    left = len(runs)
    try:
        while left:
            event = crew.events.get()
            if isinstance(event, Exception):
                raise event
            left -= event[1]
            yield event
    finally:
        crew.stop()
        for thread in threads:
            thread.join()


class _Crew:
    """Threads that share groups of runs, each with a worker process that carries the runs out."""

    def __init__(self, store: ResultStore, measure: bool, groups: Iterator[list[Run]]) -> None:
        self.events: queue.SimpleQueue[tuple[Run, bool] | Exception] = queue.SimpleQueue()
        self._store = store
        self._measure = measure
        self._groups = groups
        self._lock = threading.Lock()
        self._workers: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def work(self) -> None:
        """Carry out groups until none is left."""
        worker = None
        try:
            for group in self._groups:  # one iterator for all threads
                for run in group:
                    self.events.put((run, False))
                    worker = self._carry_out(run, worker) or self._carry_out(run, None)
                    if worker is None and not self._stopped:
                        error = WorkerDiedError("its process died twice: it was killed, or memory ran out")
                        self._store.add(*failed(run, error))
                    self.events.put((run, True))
                if self._measure:
                    self._end(worker)
                    worker = None
        except Exception as error:  # noqa: BLE001 (told by the thread that waits)
            self.events.put(error)
        self._end(worker)

    def stop(self) -> None:
        """End all workers; their threads notice."""
        with self._lock:
            self._stopped = True
            for worker in self._workers:
                worker.kill()

    def _carry_out(self, run: Run, worker: subprocess.Popen[str] | None) -> subprocess.Popen[str] | None:
        """Hand a run to a worker, by default a new one; return the worker if it is still alive afterwards."""
        worker = worker or self._start()
        if worker is not None and worker.stdin and worker.stdout:
            with contextlib.suppress(OSError):  # it has died
                print(json.dumps(asdict(run)), file=worker.stdin, flush=True)
                if worker.stdout.readline():
                    return worker
        self._end(worker)
        return None

    def _start(self) -> subprocess.Popen[str] | None:
        words = [json.dumps(sys.path), str(self._store.folder), "rows only" if self._measure else ""]
        command = [sys.executable, "-c", WORKER, *words]
        with self._lock:
            if self._stopped:
                return None
            worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
            self._workers.add(worker)
        return worker

    def _end(self, worker: subprocess.Popen[str] | None) -> None:
        if worker is not None:
            with self._lock:
                self._workers.discard(worker)
            worker.kill()
            with contextlib.suppress(OSError), worker:  # close its pipes
                pass


def serve(folder: str, rows_only: bool) -> None:
    """Be a worker: carry out runs that come as lines of JSON, and print the key of each when it is in the store."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a run prints is no answer
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    store = ResultStore(folder)
    while True:
        outcome = perform(Run(**json.loads(orders.get())), rows_only=rows_only)
        store.add(*outcome)
        print(outcome.row["key"], file=answers, flush=True)


def _read(orders: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        orders.put(line)
    os._exit(1)  # the process that runs the grid has ended: nobody waits for this run


def on_cluster(store: ResultStore, runs: Sequence[Run], address: str) -> Events:
    """Carry out runs on a Dask cluster, which gives the runs of a worker that died to another one."""
    distributed = optional("distributed", "distributed", "running on a Dask cluster")
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise MarleneError(f"no Dask scheduler answers at {address} ({error})") from error
    gone = MarleneError(f"the Dask scheduler at {address} is gone; runs that have ended are kept")
    todo, running = deque(runs), dict[Any, Run]()
    ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with contextlib.closing(client):
        while todo or running:
            try:
                threads = sum(client.nthreads().values())
            except OSError as error:
                raise gone from error
            # Before there are workers, one run waits for them.
            while todo and len(running) < max(1, threads):
                future = client.submit(perform, todo[0], pure=False)
                running[future] = todo.popleft()
                future.add_done_callback(ended.put)
                yield running[future], False
            future = ended.get()
            if future.cancelled():
                raise gone
            run = running.pop(future)
            wrong = future.exception()
            store.add(*(failed(run, wrong) if wrong else future.result()))
            yield run, True
