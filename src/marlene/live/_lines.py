"""JSON lines: from standard input or a file to standard output or files."""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.live._messages import LONGEST, Record
from marlene.live._transport import BATCH

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene.live._messages import Output

STANDARD = "-"
CHUNK = 1 << 16
PAUSE = 0.05
"""How long to wait for a file to grow before looking again, in seconds."""


class LineReader:
    """Reads lines, and knows the position after each.

    Parameters
    ----------
    path
        A file, or "-" for standard input.
    follow
        Whether to wait for more at the end of a file.
    again
        Whether standard input, if it is a pipe, begins anew after a restart: what was read before is then passed over.
    longest
        What is beyond so many bytes of a line is not kept.
    """

    def __init__(self, path: str, follow: bool = False, again: bool = False, longest: int = LONGEST) -> None:
        self.name = path
        self._follow, self._again, self._longest = follow, again, longest
        try:
            self._fd = sys.stdin.fileno() if path == STANDARD else os.open(path, os.O_RDONLY)
            self._seekable = stat.S_ISREG(os.fstat(self._fd).st_mode)
        except (OSError, ValueError) as error:
            raise MarleneError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
        self._follow = follow and self._seekable
        self._rest = b""
        self._skipped = 0
        self._offset = 0
        self._ended = False

    def open(self, position: int) -> None:
        """Go to a position."""
        if self._seekable:
            if position > os.fstat(self._fd).st_size:
                raise MarleneError(f"{self.name}: shorter than when it was last read; it is not the same file")
            os.lseek(self._fd, position, os.SEEK_SET)
            self._offset = position
        elif self._again:
            while self._offset < position:
                passed = os.read(self._fd, min(CHUNK, position - self._offset))
                if not passed:
                    raise MarleneError(f"{self.name}: ended before what was read last time")
                self._offset += len(passed)
        else:
            self._offset = position

    def poll(self, seconds: float, most: int = BATCH) -> list[Record] | None:
        """Return the next lines, at most so many; None at the end."""
        lines = self._lines(most)
        while not lines and not self._ended:
            if not self._readable(seconds):
                return []
            chunk = os.read(self._fd, CHUNK)
            if chunk:
                self._rest += chunk
                lines = self._lines(most)
            elif self._follow:
                time.sleep(min(PAUSE, seconds))
                return []
            else:
                self._ended = True
                lines = [self._record(self._rest)] if self._rest else []
                self._rest = b""
        return lines or (None if self._ended else [])

    def _readable(self, seconds: float) -> bool:
        return self._seekable or bool(select.select([self._fd], [], [], seconds)[0])

    def _lines(self, most: int) -> list[Record]:
        """Return complete lines of what was read; of a line that is too long keep only the beginning."""
        *lines, rest = self._rest.split(b"\n", most)
        if not lines and len(rest) > self._longest + 1:
            self._skipped += len(rest) - self._longest - 1
            rest = rest[: self._longest + 1]
        found = [self._record(line + b"\n") for line in lines]
        self._rest = rest
        return [record for record in found if record.body.strip()]

    def _record(self, line: bytes) -> Record:
        self._offset += len(line) + self._skipped
        self._skipped = 0
        return Record(self.name, self._offset, line.removesuffix(b"\n"))

    def close(self) -> None:
        """Close the file."""
        if self.name != STANDARD:
            os.close(self._fd)


class LineWriter:
    """Writes lines to a file or to standard output."""

    def __init__(self, path: str) -> None:
        self.name = path
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            self._fd = -1 if path == STANDARD else os.open(path, flags, 0o666)
        except (OSError, ValueError) as error:
            raise MarleneError(f"{path}: {getattr(error, 'strerror', None) or error}") from error
        self._regular = path != STANDARD and stat.S_ISREG(os.fstat(self._fd).st_mode)
        self.size: int | None = os.fstat(self._fd).st_size if self._regular else None

    def open(self, size: int | None) -> None:
        """Cut off what was written after a checkpoint: it is written again, the same."""
        if self._regular and size is not None and self.size is not None and self.size > size:
            os.ftruncate(self._fd, size)
            self.size = size

    def write(self, bodies: Sequence[bytes]) -> None:
        """Write lines; return when all are written."""
        if not bodies:
            return
        rest = memoryview(b"\n".join(bodies) + b"\n")
        if self.name == STANDARD:
            sys.stdout.buffer.write(rest)
            sys.stdout.buffer.flush()
            return
        while rest:
            rest = rest[os.write(self._fd, rest) :]
        if self.size is not None:
            self.size = os.fstat(self._fd).st_size

    def close(self) -> None:
        """Close the file."""
        if self.name != STANDARD:
            os.close(self._fd)


class Outlets:
    """Writes every channel of outputs to its file.

    Parameters
    ----------
    paths
        The file of every channel, by its name; those of the same name share a file.
    """

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._writers = {path: LineWriter(path) for path in dict.fromkeys(paths.values())}
        self._paths = dict(paths)

    def open(self, positions: Mapping[str, Any]) -> None:
        """Go on from the positions in a checkpoint."""
        for path, writer in self._writers.items():
            writer.open(positions.get(f"output {path}"))

    def write(self, outputs: Sequence[Output]) -> None:
        """Write outputs."""
        bodies: dict[str, list[bytes]] = {path: [] for path in self._writers}
        for output in outputs:
            path = self._paths.get(output.channel)
            if path is not None and output.body:
                bodies[path].append(output.body)
        for path, lines in bodies.items():
            self._writers[path].write(lines)

    def positions(self) -> dict[str, Any]:
        """Return how long the files are."""
        return {f"output {path}": writer.size for path, writer in self._writers.items() if writer.size is not None}

    def close(self) -> None:
        """Close all files."""
        for writer in self._writers.values():
            writer.close()


class Lines:
    """The transport of JSON lines."""

    def __init__(self, reader: LineReader, outlets: Outlets) -> None:
        self._reader, self._outlets = reader, outlets

    def open(self, positions: Mapping[str, Any]) -> None:
        """Begin, or go on."""
        self._reader.open(int(positions.get(self._reader.name, 0)))
        self._outlets.open(positions)

    def poll(self, seconds: float, most: int) -> Sequence[Record] | None:
        """Return the next lines, but empty ones."""
        return self._reader.poll(seconds, most)

    def send(self, outputs: Sequence[Output], records: Sequence[Record]) -> None:  # noqa: ARG002
        """Write outputs."""
        self._outlets.write(outputs)

    def positions(self) -> Mapping[str, Any]:
        """Return how long the outputs are."""
        return self._outlets.positions()

    def saved(self, positions: Mapping[str, Any]) -> None:
        """Do nothing: files stay."""

    def lag(self) -> int | None:
        """Return None: nobody knows."""
        return None

    def close(self) -> None:
        """Close all files."""
        self._reader.close()
        self._outlets.close()
