"""A journal: what came over a transport that cannot be read again, in files that can."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.live._messages import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SEGMENT = 16 << 20
"""A new file begins when one has so many bytes."""
SOURCE = "journal"


class Journal:
    """Messages, one per line, in numbered files.

    A message is written before it is taken, so that a killed worker finds it again. The operating system has it then;
    with `sync` the disk has it, too.

    Parameters
    ----------
    folder
        Where the files are.
    sync
        Whether to wait for the disk.
    segment
        A new file begins when one has so many bytes.
    """

    def __init__(self, folder: str, sync: bool = False, segment: int = SEGMENT) -> None:
        self._folder, self._sync, self._segment = Path(folder), sync, segment
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MarleneError(f"{folder}: {error.strerror}") from error
        self._number, self._size, self._fd = 0, 0, -1

    def open(self, position: Sequence[int] | None) -> Iterator[Record]:
        """Go to the end; yield the messages after a position."""
        number, offset = position or (1, 0)
        there = self._numbers()
        later = [found for found in there if found >= number]
        for found in later:
            yield from self._records(found, offset if found == number else 0)
        self._begin(max([*later, number]))

    def write(self, bodies: Sequence[bytes]) -> list[Record]:
        """Write messages; return them with their positions."""
        if self._size >= self._segment:
            self._begin(self._number + 1)
        rest = memoryview(b"\n".join(bodies) + b"\n")
        records = []
        for body in bodies:
            self._size += len(body) + 1
            records.append(Record(SOURCE, [self._number, self._size], body))
        while rest:
            rest = rest[os.write(self._fd, rest) :]
        if self._sync:
            os.fsync(self._fd)
        return records

    def forget(self, position: Sequence[int]) -> None:
        """Remove the files that hold nothing after a position."""
        for number in self._numbers():
            if number < position[0]:
                self._path(number).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)

    def _records(self, number: int, offset: int) -> Iterator[Record]:
        """Yield the messages of a file; cut off a last line that was not written whole."""
        path = self._path(number)
        with path.open("r+b") as file:
            file.seek(offset)
            for line in file:
                if not line.endswith(b"\n"):
                    file.truncate(offset)
                    break
                offset += len(line)
                yield Record(SOURCE, [number, offset], line[:-1])

    def _begin(self, number: int) -> None:
        self.close()
        self._number = number
        self._fd = os.open(self._path(number), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        self._size = os.fstat(self._fd).st_size

    def _path(self, number: int) -> Path:
        return self._folder / f"journal-{number:09d}.jsonl"

    def _numbers(self) -> list[int]:
        return sorted(int(path.stem.removeprefix("journal-")) for path in self._folder.glob("journal-*.jsonl"))

    def position(self) -> Any:  # noqa: ANN401 (as JSON can hold it)
        """Return where the journal ends."""
        return [self._number, self._size]
