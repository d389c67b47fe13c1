"""Folders of checkpoints: on this machine, or anywhere fsspec reaches."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene._common.files import take_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 20.0
"""How long a worker waits for the one before it to let go of the folder, in seconds."""


class Folder(Protocol):
    """Where checkpoints are kept."""

    local: str
    """The path, if files can be written there directly; else empty."""

    def name(self, file: str) -> str:
        """Return the address of a file, for messages."""

    def names(self) -> list[str]:
        """Return the names of all files."""

    def fetched(self, file: str) -> contextlib.AbstractContextManager[Path]:
        """Return a local copy of a file."""

    def send(self, path: Path, file: str) -> None:
        """Publish a local file, which is then removed."""

    def remove(self, file: str) -> None:
        """Remove a file."""

    def close(self) -> None:
        """Let others use the folder."""


def open_folder(place: str) -> Folder:
    """Return the folder at a path or address; it is made if there is none."""
    return RemoteFolder(place) if "://" in place else LocalFolder(place)


class LocalFolder:
    """A folder on this machine; only one worker may use it at a time."""

    def __init__(self, place: str) -> None:
        self.local = place
        self._path = Path(place)
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._path / "lock", os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise MarleneError(f"{place}: {error.strerror}") from error
        # A process that still writes a checkpoint for a killed worker holds the lock, too.
        deadline = time.monotonic() + PATIENCE
        while not take_lock(self._lock):
            if time.monotonic() > deadline:
                self.close()
                raise MarleneError(f"{place}: another worker uses this folder")
            time.sleep(0.02)
        for unfinished in self._path.glob(".*.tmp"):
            unfinished.unlink()

    def name(self, file: str) -> str:
        """Return the path of a file."""
        return str(self._path / file)

    def names(self) -> list[str]:
        """Return the names of all files."""
        return [path.name for path in self._path.iterdir()]

    @contextlib.contextmanager
    def fetched(self, file: str) -> Iterator[Path]:
        """Return the file itself."""
        yield self._path / file

    def send(self, path: Path, file: str) -> None:
        """Move a file here."""
        path.replace(self._path / file)

    def remove(self, file: str) -> None:
        """Remove a file."""
        (self._path / file).unlink(missing_ok=True)

    def close(self) -> None:
        """Give the lock back."""
        os.close(self._lock)


class RemoteFolder:
    """A folder at an address that fsspec understands, such as s3://bucket/folder."""

    local = ""

    def __init__(self, place: str) -> None:
        fsspec = optional("fsspec", "live", f"keeping checkpoints at {place}")
        try:
            self._files, self._path = fsspec.core.url_to_fs(place)
            self._files.makedirs(self._path, exist_ok=True)
        except (ImportError, ValueError, OSError) as error:
            raise MarleneError(f"{place}: {error}") from error
        self._place = place.rstrip("/")

    def name(self, file: str) -> str:
        """Return the address of a file."""
        return f"{self._place}/{file}"

    def names(self) -> list[str]:
        """Return the names of all files."""
        return [str(found).rsplit("/", 1)[-1] for found in self._files.ls(self._path, detail=False)]

    @contextlib.contextmanager
    def fetched(self, file: str) -> Iterator[Path]:
        """Return a copy of the file, removed afterwards."""
        with tempfile.TemporaryDirectory(prefix="marlene-") as folder:
            path = Path(folder) / file
            self._files.get_file(f"{self._path}/{file}", str(path))
            yield path

    def send(self, path: Path, file: str) -> None:
        """Upload a file under another name, then give it its own."""
        self._files.put_file(str(path), f"{self._path}/upload-{file}")
        self._files.mv(f"{self._path}/upload-{file}", f"{self._path}/{file}")
        path.unlink()

    def remove(self, file: str) -> None:
        """Remove a file."""
        with contextlib.suppress(FileNotFoundError):
            self._files.rm_file(f"{self._path}/{file}")

    def close(self) -> None:
        """Do nothing: an address has no lock."""
