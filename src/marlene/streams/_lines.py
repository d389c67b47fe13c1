"""Lines of a text file, compressed or not, without holding the whole file in memory."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import sys
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Self

from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene._common.resources import free_memory_mb

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

BLOCK = 1 << 18
LOOK = 1 << 24
"""After so many bytes is looked at the memory."""
PACKED_BLOCK = 1 << 12
"""So many bytes are unpacked at once where nothing bounds what they become: up to 2¹⁵ times as many."""
STANDARD_INPUT = "-"


@dataclass
class Meter:
    """How much of a source is read so far: `at` of `size`, which is None if it is not known."""

    at: int = 0
    size: int | None = None


def _open_zst(raw: Any, _: str) -> Any:  # noqa: ANN401 (binary files, which have no common type)
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415 (new in Python 3.14)

        return zstd.open(raw, "rb")
    return _Zst(raw, optional("zstandard", "zstd", "reading a .zst file"))


class _Zst:
    """A file read by the package zstandard, whose own reader does not notice that a file is cut off."""

    def __init__(self, raw: IO[bytes], package: Any) -> None:  # noqa: ANN401 (an optional package)
        self.raw, self.package = raw, package
        self.frame = package.ZstdDecompressor().decompressobj()
        self.begun = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the file open: who opened it closes it."""

    def read(self, size: int = -1) -> bytes:
        """Return some of the text, about as much as `size` or a little more, or all of it."""
        parts: list[bytes] = []
        taken = 0
        while block := self.raw.read(PACKED_BLOCK):
            parts.append(self._decompressed(block))
            taken += len(parts[-1])
            if 0 < size <= taken:
                break
        else:
            if self.begun and not self.frame.eof:
                raise EOFError("the data end within a frame")
        return b"".join(parts)

    def _decompressed(self, block: bytes) -> bytes:
        parts = []
        try:
            while block:
                if self.frame.eof:
                    self.frame = self.package.ZstdDecompressor().decompressobj()
                self.begun = True
                parts.append(self.frame.decompress(block))
                block = self.frame.unused_data
        except self.package.ZstdError as error:
            raise EOFError(str(error)) from error
        return b"".join(parts)


_COMPRESSED: dict[str, tuple[bytes, Callable[..., Any]]] = {
    ".bz2": (b"BZh", bz2.open),
    ".gz": (b"\x1f\x8b", gzip.open),
    ".xz": (b"\xfd7zXZ\x00", lzma.open),
    ".zst": (b"\x28\xb5\x2f\xfd", _open_zst),
}
DAMAGED = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError)


def bare_stem(path: Path) -> str:
    """Return the file's name without the suffixes of its format and its compression.

    Examples
    --------
    >>> from pathlib import Path
    >>> bare_stem(Path("data/tmc2007-500.arff.bz2"))
    'tmc2007-500'
    """
    plain = path.with_suffix("") if path.suffix.lower() in _COMPRESSED else path
    return plain.stem


def unreadable(path: Path, error: Exception) -> MarleneError:
    """Return the error for a file that cannot be opened or read."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return MarleneError(f"{path}: cannot be read ({reason})")


def whole_text(path: Path) -> bytes:
    """Return all bytes of a text file, plain or compressed, without a byte order mark."""
    try:
        with path.open("rb") as raw, _decompressed(raw, path.suffix.lower()) as file:
            if file is raw:
                return bytes(raw.read()).removeprefix(codecs.BOM_UTF8)
            parts, held = [], 0
            while block := file.read(BLOCK):
                parts.append(block)
                held = _held(held, len(block))
            return b"".join(parts).removeprefix(codecs.BOM_UTF8)
    except DAMAGED as error:
        raise _damaged(path, error, "") from error


def _held(before: int, more: int) -> int:
    """Return how many bytes are held; refuse to hold more than memory has room for, as a small file may unpack to."""
    held = before + more
    if held // LOOK != before // LOOK and held > 1e6 * free_memory_mb():
        raise ValueError(f"more than {held / 1e6:,.0f} MB at once, and as much memory is not free")
    return held


@contextmanager
def _metered(path: Path, meter: Meter | None) -> Iterator[Callable[[], bytes]]:
    """Yield a function that returns the next bytes of a text file, decompressed; `-` is standard input."""
    standard = str(path) == STANDARD_INPUT
    raw = sys.stdin.buffer if standard else path.open("rb")
    try:
        if meter is not None:
            meter.at, meter.size = 0, None if standard or not raw.seekable() else path.stat().st_size
        file = _decompressed(raw, path.suffix.lower())

        def read() -> bytes:
            block = bytes(file.read(BLOCK))
            if meter is not None and meter.size is not None:
                meter.at = raw.tell()
            return block

        yield read
    finally:
        if not standard:
            raw.close()


def standard_head() -> bytes:
    """Return the beginning of standard input, decompressed, without taking it away; perhaps only a line."""
    buffer: Any = sys.stdin.buffer
    head = bytes(buffer.peek(BLOCK))
    for suffix, (magic, _) in _COMPRESSED.items():
        if head.startswith(magic):
            try:
                return bytes(_decompressor(suffix).decompress(head))
            except (*DAMAGED, RuntimeError):
                return b""
    return head


def _decompressor(suffix: str) -> Any:  # noqa: ANN401 (of one of four packages)
    if suffix == ".gz":
        return zlib.decompressobj(31)
    if suffix == ".zst":
        if sys.version_info >= (3, 14):
            from compression import zstd  # noqa: PLC0415 (new in Python 3.14)

            return zstd.ZstdDecompressor()
        return optional("zstandard", "zstd", "reading a .zst file").ZstdDecompressor().decompressobj()
    return bz2.BZ2Decompressor() if suffix == ".bz2" else lzma.LZMADecompressor()


def text_parts(path: Path, size: int, meter: Meter | None = None) -> Generator[bytes, None, None]:
    r"""Yield the text of a file in parts of whole lines: as many as fit into `size` bytes, and at least one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "lines.txt"
    >>> _ = file.write_bytes(b"one\ntwo\nthree\nfour")
    >>> list(text_parts(file, 9))
    [b'one\ntwo\n', b'three\n', b'four']
    """
    held, first = b"", True
    try:
        with _metered(path, meter) as read:
            while block := read():
                _held(len(held), len(block))
                held += block
                held, first = held.removeprefix(codecs.BOM_UTF8) if first else held, False
                begin, end = 0, len(held)
                while end - begin > size and (cut := _line_end(held, begin, begin + size)):
                    yield held[begin:cut]
                    begin = cut
                held = held[begin:]
        if held:
            yield held
    except MarleneError:
        raise
    except DAMAGED as error:
        raise _damaged(path, error, "") from error


def _line_end(text: bytes, begin: int, end: int) -> int:
    """Return where the last line ends that fits between two positions, or else the first; 0 if none ends yet."""
    for sign in (b"\n", b"\r"):
        # A CR at the end may be the first half of CR LF.
        last = len(text) if sign == b"\n" else len(text) - 1
        cut = text.rfind(sign, begin, min(end, last)) + 1 or text.find(sign, end, last) + 1
        if cut:
            return cut
    return 0


def numbered_lines(path: Path, meter: Meter | None = None) -> Generator[tuple[int, bytes], None, None]:
    r"""Yield the number, from 1, and the text of every line.

    A line ends with LF, CR LF or CR, which are not part of the text. The text is bytes, because one character outside
    Latin-1 makes a `str` four times as large. It is checked to be UTF-8, and has no byte order mark.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "lines.txt"
    >>> _ = file.write_bytes(b"one\r\ntwo\rthree")
    >>> list(numbered_lines(file))
    [(1, b'one'), (2, b'two'), (3, b'three')]
    """
    number = 0
    try:
        with _metered(path, meter) as read:
            for number, text in enumerate(_lines(read), 1):
                line = text.removeprefix(codecs.BOM_UTF8) if number == 1 else text
                if not line.isascii():
                    _refuse_other_encodings(line, f"{path}, line {number}")
                yield number, line
    except MarleneError:
        raise
    except DAMAGED as error:
        raise _damaged(path, error, f", line {number + 1}") from error


def _damaged(path: Path, error: Exception, where: str) -> MarleneError:
    # The decompressors raise OSErrors too, but without an error number of the operating system.
    if isinstance(error, ValueError) or (isinstance(error, OSError) and error.errno is not None):
        return unreadable(path, error)
    return MarleneError(f"{path}{where}: the compressed data are damaged or cut off ({error})")


def _decompressed(raw: Any, suffix: str) -> Any:  # noqa: ANN401 (binary files, which have no common type)
    if suffix in _COMPRESSED:
        return _COMPRESSED[suffix][1](raw, "rb")
    head = raw.peek(8)
    for magic, opener in _COMPRESSED.values():
        if head.startswith(magic):
            return opener(raw, "rb")
    return raw


def _lines(read: Callable[[], bytes]) -> Iterator[bytes]:
    unfinished: list[bytes] = []
    held, length = b"", 0
    while block := read():
        block = held + block
        # A CR at the end of a block may be the first half of CR LF.
        held = b"\r" if block.endswith(b"\r") else b""
        block = block[: len(block) - len(held)]
        if not block:
            continue
        lines = block.splitlines()
        tail = None if block.endswith((b"\n", b"\r")) else lines.pop()
        if lines:
            if unfinished:
                unfinished.append(lines[0])
                lines[0] = b"".join(unfinished)
                unfinished.clear()
                length = 0
            yield from lines
        if tail is not None:
            length = _held(length, len(tail))
            unfinished.append(tail)
    if unfinished:
        yield b"".join(unfinished)


def _refuse_other_encodings(line: bytes, where: str) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(line), BLOCK):
            decoder.decode(line[start : start + BLOCK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        found = error.object[error.start]
        raise MarleneError(f"{where}: expected UTF-8 text, found the byte 0x{found:02x} ({error.reason})") from error
