"""Files that are either wholly there or not there at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces `path` only when the block ends without an error.

    The bytes are on disk before the name changes, so that a crash or a full disk leaves either the old
    file or the new one, never a part. Where `path` is a link, what it points to is replaced; permissions stay as
    they were; and what is not an ordinary file (a device, a folder) is refused.

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
    # A part of the name, because the whole may leave no room for more.
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
    """Return the permissions of the file, or those an ordinary new file gets; mkstemp's are for its owner only."""
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
