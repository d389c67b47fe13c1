"""How a file is opened that is read part by part."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene.streams._lines import STANDARD_INPUT, bare_stem
from marlene.streams.lazy._stream import LazyStream

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from marlene.streams._lines import Meter
    from marlene.streams.lazy._stream import Opened

PART_BYTES = 1 << 21
"""How large a part is: bytes of text, decompressed; or eight times as many as cells of a Parquet file."""
_SPARSE = re.compile(rb"(?:[-+.\d,]+[ \t]+)?\d+:[-+.\deE]+[ \t\r\n]|\d+ \d+ \d+[ \t]*\r?\n")


def open_lazily(
    path: Path,
    streams: Callable[[Path, int, Meter, str], Opened],
    name: str | None,
    limit: int | None,
    certain: bool,
) -> LazyStream:
    """Return a stream that is read part by part.

    Parameters
    ----------
    path
        The file, or `-` for standard input.
    streams
        Yields the parts of a file, given their size in bytes, a meter, and what they are called.
    name, limit
        As in `load`.
    certain
        Whether a label of which nothing is said is false.
    """
    standard, opened = str(path) == STANDARD_INPUT, False
    title = name or ("standard input" if standard else bare_stem(path))

    def begin(meter: Meter) -> Opened:
        nonlocal opened
        if standard and opened:
            raise MarleneError("standard input can be read only once")
        opened = True
        for part in streams(path, PART_BYTES, meter, title):
            yield replace(part, Y=np.maximum(part.Y, 0)) if certain else part

    return LazyStream(title, begin, limit)


def guessed_format(head: bytes) -> str:
    r"""Return the format of a text by its beginning.

    Examples
    --------
    >>> [guessed_format(head) for head in (b'{"a": 1}', b"% rows\n@relation r", b"1,3 2:0.5 7:1", b"a,b\n1,2")]
    ['jsonl', 'arff', 'svm', 'csv']
    """
    text = head.lstrip()
    if text.startswith(b"PAR1"):
        raise MarleneError("standard input: a Parquet file cannot be read from there; give its name")
    if text.startswith((b"{", b"[")):
        return "jsonl"
    if text.startswith((b"@", b"%")):
        return "arff"
    return "svm" if _SPARSE.match(text) else "csv"
