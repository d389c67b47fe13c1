"""Where runs are carried out: in this process, in worker processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.evaluation._prequential import load_kernels
from marlene.experiments._grid import Run
from marlene.experiments._perform import failed, perform
from marlene.experiments._store import ResultStore
from marlene.learners import create

if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE = "20s"
# Ctrl-C is for the process that runs the grid. Packages are looked for where that process finds them.
START = (
    "import json, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] = json.loads(sys.argv[1]); "
    "from marlene.experiments._pools import serve; serve(sys.argv[2], bool(sys.argv[3]))"
)


class WorkerDiedError(RuntimeError):
    """The process of a run ended before the run: it was killed, or there was no memory left."""


class Pool(Protocol):
    """A place where runs are carried out. It writes every run to the store it was made with."""

    def has_room(self) -> bool:
        """Tell whether another run can be started now."""
        ...

    def start(self, todo: list[Run]) -> Run:
        """Take a run from the list, start it and return it."""
        ...

    def wait(self) -> str:
        """Wait until some run has ended and is in the store; return its key."""
        ...

    def close(self) -> None:
        """Stop everything that is under way."""
        ...


class InProcess:
    """Carries out one run after the other in this process."""

    def __init__(self, store: ResultStore) -> None:
        self._store = store
        self._next: list[Run] = []

    def has_room(self) -> bool:
        """Tell whether the last run has ended."""
        return not self._next

    def start(self, todo: list[Run]) -> Run:
        """Take the first run; `wait` carries it out."""
        self._next.append(todo.pop(0))
        return self._next[0]

    def wait(self) -> str:
        """Carry out the run."""
        return self._store.keep(perform(self._next.pop()))

    def close(self) -> None:
        """Nothing to do."""


class Processes:
    """Carries out runs in worker processes of this machine.

    A worker that dies costs only its own run: that run is started once more, and fails if its process dies again.

    Parameters
    ----------
    store
        Where the workers write their runs.
    jobs
        How many workers there are.
    measure
        Do not let a worker go on with another method or stream, and keep no traces. Then times and memory are those
        of the run alone.
    runs
        What will be run. Its kernels are compiled here, before several workers would all compile them.
    """

    def __init__(self, store: ResultStore, jobs: int, measure: bool, runs: Sequence[Run]) -> None:
        self._store = store
        self._jobs = jobs
        self._measure = measure
        self._ended: queue.SimpleQueue[tuple[_Worker, str]] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._died: set[str] = set()
        for run in {json.dumps([run.method, run.options]): run for run in runs}.values():
            with contextlib.suppress(Exception):  # whatever is wrong is told when the run is carried out
                load_kernels(create(run.method, **run.options))

    def has_room(self) -> bool:
        """Tell whether a worker is idle, or can still be started."""
        return sum(worker.run is not None for worker in self._workers) < self._jobs

    def start(self, todo: list[Run]) -> Run:
        """Hand a run to a worker; to measure, prefer what an idle worker did, then what no other one is doing."""
        idle = [worker for worker in self._workers if worker.run is None]
        place = 0
        if self._measure:
            done = [worker.group for worker in idle]
            doing = [worker.group for worker in self._workers if worker.run is not None]
            groups = [_group(run) for run in todo]
            place = min(range(len(todo)), key=lambda i: (groups[i] not in done, groups[i] in doing))
            for worker in idle:
                if worker.group != groups[place]:
                    self._dismiss(worker)
            idle = [worker for worker in idle if worker.group == groups[place]]
        run = todo.pop(place)
        (idle[0] if idle else self._hire()).begin(run)
        return run

    def wait(self) -> str:
        """Wait for a worker; deal with those that died."""
        while True:
            worker, key = self._ended.get()
            if key:
                worker.run = None
                return key
            if worker in self._workers:
                self._dismiss(worker)
            run = worker.run
            if run is not None and run.key in self._died:
                code = worker.process.returncode
                error = WorkerDiedError(f"the process ended with code {code}: it was killed, or memory ran out")
                return self._store.keep(failed(run, error))
            if run is not None:
                self._died.add(run.key)
                self._hire().begin(run)

    def close(self) -> None:
        """End all workers."""
        for worker in list(self._workers):
            self._dismiss(worker)

    def _hire(self) -> _Worker:
        self._workers.append(_Worker(self._store, self._measure, self._ended))
        return self._workers[-1]

    def _dismiss(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.close()


class _Worker:
    """A process that carries out the runs that it is given, one at a time."""

    def __init__(self, store: ResultStore, rows_only: bool, ended: queue.SimpleQueue[tuple[_Worker, str]]) -> None:
        self.run: Run | None = None
        self.group: tuple[Any, ...] = ()
        words = [json.dumps(sys.path), str(store.folder), "rows only" if rows_only else ""]
        command = [sys.executable, "-c", START, *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        self._listener = threading.Thread(target=self._listen, args=(ended,), daemon=True)
        self._listener.start()

    def _listen(self, ended: queue.SimpleQueue[tuple[_Worker, str]]) -> None:
        """Pass on the key of every run that has ended; an empty one says that the process has."""
        for line in self.process.stdout or ():
            ended.put((self, line.strip()))
        self.process.wait()
        ended.put((self, ""))

    def begin(self, run: Run) -> None:
        self.run, self.group = run, _group(run)
        with contextlib.suppress(OSError):  # it has died; `_listen` tells so
            print(json.dumps(asdict(run)), file=self.process.stdin, flush=True)

    def close(self) -> None:
        self.process.kill()
        self._listener.join()
        with contextlib.suppress(OSError), self.process:
            pass


def _group(run: Run) -> tuple[Any, ...]:
    """Return what runs that differ only in their seed have in common."""
    return run.stream, run.method, run.options, run.evaluation


def serve(folder: str, rows_only: bool) -> None:
    """Be a worker: carry out the runs that come as lines of JSON, and print the key of each when it is in the store."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a run prints is no answer
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    store = ResultStore(folder)
    while True:
        outcome = perform(Run(**json.loads(orders.get())), rows_only=rows_only)
        print(store.keep(outcome), file=answers, flush=True)


def _read(orders: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        orders.put(line)
    os._exit(1)  # the process that runs the grid has ended, so nobody waits for this run


class Cluster:
    """Carries out runs on a Dask cluster, which gives the runs of a worker that died to another one."""

    def __init__(self, store: ResultStore, address: str) -> None:
        distributed = optional("distributed", "distributed", "running on a Dask cluster")
        try:
            self._client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise MarleneError(f"no Dask scheduler answers at {address} ({error})") from error
        self._store = store
        self._address = address
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._running: dict[Any, Run] = {}

    def has_room(self) -> bool:
        """Tell whether a thread of the workers is idle; before there are workers, one run waits for them."""
        try:
            threads: dict[str, int] = self._client.nthreads()
        except OSError as error:
            raise self._gone() from error
        return len(self._running) < max(1, sum(threads.values()))

    def start(self, todo: list[Run]) -> Run:
        """Hand the first run to the cluster."""
        run = todo.pop(0)
        future = self._client.submit(perform, run, pure=False)
        self._running[future] = run
        future.add_done_callback(self._ended.put)
        return run

    def wait(self) -> str:
        """Wait for the first run that ends."""
        future = self._ended.get()
        if future.cancelled():
            raise self._gone()
        run = self._running.pop(future)
        try:
            return self._store.keep(future.result())
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 (what the cluster could not do is the run's failure)
            return self._store.keep(failed(run, error))

    def _gone(self) -> MarleneError:
        return MarleneError(f"the Dask scheduler at {self._address} is gone; runs that have ended are kept")

    def close(self) -> None:
        """Leave the cluster, which drops what has not ended."""
        self._client.close()
