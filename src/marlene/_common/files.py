"""Files that are written whole or not at all, and where they go."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

from marlene._common.errors import MarleneError

if TYPE_CHECKING:
    from collections.abc import Iterator

AnyPath: TypeAlias = str | os.PathLike[str]


@contextlib.contextmanager
def atomic_write(path: AnyPath) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces `path` only when the block ends without an error.

    The bytes are on disk before the name changes: a crash or a full disk leaves either the old file or the new one,
    never a part. If `path` is a link, the file it points to is replaced. Permissions stay. A device or a folder is
    refused.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "result.json"
    >>> with atomic_write(target) as file:
    ...     _ = file.write(b"{}")
    >>> target.read_bytes()
    b'{}'
    """
    target = Path(path).resolve()
    mode = _mode_of(target)
    # Only a part of the name: the whole name plus the suffix may be too long.
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:32]}.", suffix=".tmp", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _mode_of(target: Path) -> int:
    """Return the permissions of the file, or those of a new one; mkstemp's would be for the owner only."""
    if target.exists():
        if not target.is_file():
            raise OSError(errno.EINVAL, "Not an ordinary file", str(target))
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def take_lock(file: int) -> bool:
    """Take the lock of an open file; return False if another process has it. It ends with the process."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def used_alone(path: AnyPath) -> Iterator[None]:
    """Keep others from writing a file: a second user, in this process or another one, is refused.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "run.npz"
    >>> with used_alone(target), used_alone(target):
    ...     pass
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: .../run.npz: another run is using this file
    """
    target = Path(path).resolve()
    lock = target.with_name(f".{target.name[:32]}.lock")
    while True:
        try:
            file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise MarleneError(f"{path}: {error.strerror}") from error
        if not take_lock(file):
            os.close(file)
            raise MarleneError(f"{path}: another run is using this file")
        with contextlib.suppress(FileNotFoundError):
            if lock.stat().st_ino == os.fstat(file).st_ino:
                break
        os.close(file)  # the user before removed it just now
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        os.close(file)


def user_cache(*parts: str) -> Path:
    """Return a path below this user's cache folder (`$MARLENE_CACHE`, else the system's convention).

    Examples
    --------
    >>> user_cache("data").name
    'data'
    """
    chosen = os.environ.get("MARLENE_CACHE")
    if chosen:
        return Path(chosen, *parts)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(base or Path.home() / ".cache", "marlene", *parts)
