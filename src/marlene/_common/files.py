"""Files that are written whole or not at all, and where they go."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

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
