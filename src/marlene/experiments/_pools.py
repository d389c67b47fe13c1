"""Where runs happen: in this process, in processes of joblib's, or on a Dask cluster. All are used in the same way."""

from __future__ import annotations

import concurrent.futures
import concurrent.futures.process
import os
import queue
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.experiments._perform import Outcome, perform

if TYPE_CHECKING:
    from collections.abc import Collection

    from marlene.experiments._grid import Run

PATIENCE = "20s"
SHORTLY = 2.0


class Pool(Protocol):
    """What the runner asks of a place where runs happen. A future is whatever `submit` returns."""

    crashes: tuple[type[BaseException], ...]
    """What `result` of a future raises if a worker died; the pool must then be renewed."""

    def slots(self) -> int:
        """Return how many runs can happen at a time."""
        ...

    def submit(self, run: Run) -> Any:  # noqa: ANN401
        """Start a run; its future's `result()` is an `Outcome`."""
        ...

    def wait(self, futures: Collection[Any]) -> Collection[Any]:
        """Return those that have ended, at least one."""
        ...

    def renew(self) -> None:
        """Make the pool usable again after a crash."""
        ...

    def close(self) -> None:
        """End it, and whatever runs in it."""
        ...


class InProcess:
    """Runs one after the other in this process."""

    crashes: tuple[type[BaseException], ...] = ()

    def slots(self) -> int:
        """One."""
        return 1

    def submit(self, run: Run) -> concurrent.futures.Future[Outcome]:
        """Do the run."""
        future: concurrent.futures.Future[Outcome] = concurrent.futures.Future()
        future.set_result(perform(run))
        return future

    def wait(self, futures: Collection[Any]) -> Collection[Any]:
        """Return all."""
        return list(futures)

    def renew(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Nothing to do."""


class Processes:
    """Runs in processes of this machine, through joblib's loky."""

    def __init__(self, jobs: int) -> None:
        optional("joblib", "experiments", "running on several cores")
        self._loky = optional("joblib.externals.loky", "experiments", "running on several cores")
        # An error of loky's own for a worker that was killed is a kind of the standard library's.
        self.crashes: tuple[type[BaseException], ...] = (concurrent.futures.process.BrokenProcessPool,)
        self._jobs = jobs
        self._executor = self._new()

    def _new(self) -> Any:  # noqa: ANN401 (an executor of joblib's)
        return self._loky.ProcessPoolExecutor(self._jobs, initializer=_settle, initargs=(os.getpid(),))

    def slots(self) -> int:
        """As many as processes."""
        return self._jobs

    def submit(self, run: Run) -> Any:  # noqa: ANN401
        """Hand the run to a process."""
        return self._executor.submit(perform, run)

    def wait(self, futures: Collection[Any]) -> Collection[Any]:
        """Wait for the first."""
        return concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_COMPLETED).done

    def renew(self) -> None:
        """Begin with new processes."""
        self.close()
        self._executor = self._new()

    def close(self) -> None:
        """End the processes."""
        # Not shutdown(kill_workers=True): it stumbles over a run that no process has begun yet.
        executor = self._executor
        processes = list(executor._processes.values())  # noqa: SLF001 (there is no other way to them)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        # One of them may have died with this lock in hand, for which the executor would wait for ever.
        lock = executor._processes_management_lock  # noqa: SLF001
        lock.acquire(timeout=SHORTLY)
        lock.release()
        executor.shutdown(wait=True)


def _settle(parent: int) -> None:
    """Prepare a process of loky's for runs of any size."""
    # Where psutil is installed, loky takes a process for leaking that is 300 MB larger than after its first run, and
    # replaces it with a warning: kernels and a larger data set are no leak.
    sys.modules["joblib.externals.loky.process_executor"]._USE_PSUTIL = False  # type: ignore[attr-defined]  # noqa: SLF001
    _end_with_parent(parent)


def _end_with_parent(parent: int) -> None:
    """Watch from a thread of this process for its parent's end: one that was killed cannot end it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Cluster:
    """Runs on the workers of a Dask cluster, which gives those of a worker that died to another."""

    crashes: tuple[type[BaseException], ...] = ()

    def __init__(self, address: str) -> None:
        distributed = optional("distributed", "distributed", "running on a Dask cluster")
        try:
            self._client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise MarleneError(f"no Dask scheduler answers at {address} ({error})") from error
        self._address = address
        self._ended: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def slots(self) -> int:
        """As many as the workers have threads now; one if none is there yet, to wait for it."""
        try:
            threads: dict[str, int] = self._client.nthreads()
        except OSError as error:
            raise self._gone() from error
        return max(1, sum(threads.values()))

    def submit(self, run: Run) -> Any:  # noqa: ANN401
        """Hand the run to the cluster."""
        future = self._client.submit(perform, run, pure=False)
        future.add_done_callback(self._ended.put)
        return future

    def wait(self, futures: Collection[Any]) -> Collection[Any]:  # noqa: ARG002 (they announce themselves)
        """Wait for the first."""
        future = self._ended.get()
        if future.cancelled():
            raise self._gone()
        return [future]

    def _gone(self) -> MarleneError:
        return MarleneError(f"the Dask scheduler at {self._address} is gone; what has ended is kept, the rest is not")

    def renew(self) -> None:
        """Nothing to do."""

    def close(self) -> None:
        """Leave the cluster; what was submitted and has not ended is dropped by it."""
        self._client.close()


def make_pool(jobs: int, dask: str | None) -> Pool:
    """Return the place for runs that these settings mean."""
    if dask is not None:
        return Cluster(dask)
    return Processes(jobs) if jobs > 1 else InProcess()
