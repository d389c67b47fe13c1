"""Checkpoints of a worker: numbered files in a folder, written beside the running worker."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError, one_line
from marlene._common.states import load_state, save_state
from marlene.live._folders import open_folder
from marlene.live._worker import Unfit

if TYPE_CHECKING:
    from collections.abc import Callable

    from marlene._common.arrays import Arrays
    from marlene.live._worker import Worker

FILE_TYPE = "marlene-worker"
VERSION = 1
OLDEST = 1
"""The oldest version of the format that is read."""
SECONDS = 10.0
NAME = "checkpoint-{:015d}.npz"


class Upload(threading.Thread):
    """Publishes a file beside the worker; `error` says what went wrong."""

    def __init__(self, publish: Callable[[str], None], name: str) -> None:
        super().__init__(daemon=True)
        self._publish, self._file = publish, name
        self.error: Exception | None = None

    def run(self) -> None:
        """Publish."""
        try:
            self._publish(self._file)
        except Exception as error:  # noqa: BLE001 (whatever an address raises, the worker goes on)
            self.error = error


class Unfinished(NamedTuple):
    """A checkpoint that is being written: the process, the number of messages, the file, positions, and its upload."""

    pid: int
    number: int
    name: str
    positions: dict[str, Any]
    upload: Upload | None = None


class Checkpoints:
    """The checkpoints of one worker.

    The file name is the number of messages taken. Files are written by a forked process, which has a copy of the
    worker's memory; the worker goes on at once. Where processes cannot be forked, the worker waits. A thread uploads
    what is kept elsewhere.

    Parameters
    ----------
    place
        A folder, or the address of one, as fsspec takes it.
    keep
        How many files are kept.
    seconds
        The time from one checkpoint to the next.
    every
        The number of messages from one to the next, instead of a time.
    beside
        Whether files are written beside the worker.
    """

    def __init__(
        self, place: str, keep: int = 3, seconds: float = SECONDS, every: int | None = None, beside: bool = True
    ) -> None:
        self._folder = open_folder(place)
        self._keep = whole_number(keep, "keep", low=1)
        self._seconds = seconds
        self._every = every
        self._beside = beside and hasattr(os, "fork")
        self._child: Unfinished | None = None
        self._last = time.monotonic()
        self._number = 0
        self.written_at: float | None = None
        self.written = 0
        self.failed = 0
        self.longest_pause = 0.0
        self._missed = False
        self._kept: list[dict[str, Any]] = []
        self._scratch = Path(self._folder.local or tempfile.mkdtemp(prefix="marlene-"))

    def resume(self, worker: Worker) -> bool:
        """Bring a worker to the latest state that can be read; return False if there is none.

        A damaged file is passed over with a warning; that of a newer program, or of another worker, is refused.
        """
        for name in reversed(self._names()):
            with self._folder.fetched(name) as path:
                try:
                    header, arrays = self._read(path, name)
                    written_at = path.stat().st_mtime
                except Unfit:
                    raise
                except MarleneError as error:
                    warnings.warn(f"{error}; the checkpoint before it is used", UserWarning, stacklevel=2)
                    continue
            try:
                worker.restore(header, arrays)
            except Unfit as error:
                raise MarleneError(f"{self._folder.name(name)}: {error}") from error
            except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
                said = error if isinstance(error, MarleneError) else f"damaged ({error!r})"
                warned = one_line(f"{self._folder.name(name)}: {said}; the checkpoint before it is used")
                warnings.warn(warned, UserWarning, stacklevel=2)
                continue
            self._number, self.written_at = int(worker.counts["messages"]), written_at
            self._kept = [dict(worker.positions)]
            return True
        return False

    def _read(self, path: Path, name: str) -> tuple[dict[str, Any], Arrays]:
        try:
            return load_state(path, FILE_TYPE, VERSION, OLDEST)
        except MarleneError as error:
            said = str(error).replace(str(path), self._folder.name(name))
            kind = Unfit if " of the format" in said else MarleneError
            raise kind(said) from error

    def offer(self, worker: Worker) -> dict[str, Any] | None:
        """Begin a checkpoint if it is time; after one is complete, return the positions of the oldest that is kept.

        That is None as long as files of an earlier worker are among them.
        """
        done = self._completed(wait=False)
        taken = worker.counts["messages"] - self._number
        waited = time.monotonic() - self._last >= self._seconds
        due = waited if self._every is None or self._missed else taken >= self._every
        if due and taken and self._child is None:
            began = time.perf_counter()
            if self._beside:
                self._fork(worker)
            else:
                self._write(worker)
                done = self._floor()
            self.longest_pause = max(self.longest_pause, time.perf_counter() - began)
        return done

    def write(self, worker: Worker) -> dict[str, Any] | None:
        """Write a checkpoint now, unless the latest is up to date; return what `offer` returns."""
        self._completed(wait=True)
        if worker.counts["messages"] != self._number or not self._names():
            self._write(worker)
        return self._floor()

    def _floor(self) -> dict[str, Any] | None:
        return self._kept[-self._keep] if len(self._kept) >= self._keep else None

    def close(self) -> None:
        """Wait for the file that is being written, and let others use the folder."""
        self._completed(wait=True)
        self._folder.close()

    def _names(self) -> list[str]:
        return sorted(name for name in self._folder.names() if name.startswith("checkpoint-") and name.endswith("npz"))

    def _write(self, worker: Worker) -> None:
        name = NAME.format(worker.counts["messages"])
        try:
            self._save(worker, name)
            self._publish(name)
        except OSError as error:
            raise MarleneError(f"{self._folder.name(name)}: {error.strerror or error}") from error
        self._note(worker.counts["messages"], dict(worker.positions))

    def _save(self, worker: Worker, name: str) -> None:
        header, arrays = worker.state()
        save_state(self._scratch / name, FILE_TYPE, VERSION, header, arrays)

    def _publish(self, name: str) -> None:
        """Publish a file that is complete; remove the oldest."""
        if not self._folder.local:
            self._folder.send(self._scratch / name, name)
        for old in self._names()[: -self._keep]:
            self._folder.remove(old)

    def _note(self, number: int, positions: dict[str, Any]) -> None:
        """Take note of a file that is published."""
        self._kept = [*self._kept, positions][-self._keep :]
        self._last, self._number = time.monotonic(), number
        self.written_at, self.written = time.time(), self.written + 1

    def _fork(self, worker: Worker) -> None:
        number = worker.counts["messages"]
        name = NAME.format(number)
        self._last = time.monotonic()
        sys.stderr.flush()
        with warnings.catch_warnings():  # of threads: the child calls nothing that another thread may hold
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            self._in_child(worker, name)
        self._child = Unfinished(pid, number, name, dict(worker.positions))

    def _in_child(self, worker: Worker, name: str) -> None:
        """Write the file and end; nothing of the parent's may be touched."""
        code = 1
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            self._save(worker, name)
            code = 0
        except OSError as error:
            os.write(2, f"marlene: warning: {self._folder.name(name)}: {error.strerror or error}\n".encode())
        except BaseException:  # noqa: BLE001 (whatever it is, only this process may end)
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(code)

    def _completed(self, wait: bool) -> dict[str, Any] | None:
        """Return what `offer` returns, if the file that was being written is complete and published now."""
        child = self._child
        if child is None:
            return None
        upload = child.upload
        if upload is None:
            ended, status = os.waitpid(child.pid, 0 if wait else os.WNOHANG)
            if not ended:
                return None
            if status:
                self._ended(missed=True)
                return None
            upload = Upload(self._publish, child.name)
            self._child = child._replace(upload=upload)
            upload.start()
        upload.join(None if wait or self._folder.local else 0.0)
        if upload.is_alive():
            return None
        error = upload.error
        self._ended(missed=error is not None)
        if error is not None:
            said = f"{self._folder.name(child.name)}: {getattr(error, 'strerror', None) or error}"
            warnings.warn(said, UserWarning, stacklevel=2)
            return None
        self._note(child.number, child.positions)
        return self._floor()

    def _ended(self, missed: bool) -> None:
        self._child, self._missed = None, missed
        self.failed += missed


def read_checkpoint(path: str) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a checkpoint of a worker."""
    return load_state(path, FILE_TYPE, VERSION, OLDEST)
