"""Streams from SVMLight files, and from those of the extreme-classification repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from marlene._common.errors import MarleneError
from marlene.streams._cells import as_text
from marlene.streams._lines import bare_stem, whole_text
from marlene.streams._matrix import inferred_kinds
from marlene.streams._stream import Feature, Stream
from marlene.streams._truth import MOST_CELLS

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene._common.files import AnyPath
    from marlene.kernels.reading.svmlight import Entries

MOST_FEATURES = MOST_LABELS = 1 << 22
AS_IN = f"as in 7:0.5, with a feature below {MOST_FEATURES}"
HEADER = re.compile(rb"[ \t]*(\d{1,10})[ \t]+(\d{1,10})[ \t]+(\d{1,10})[ \t]*(?:\r?\n|$)")


def read_svmlight(path: AnyPath, *, first: int | None = None, name: str | None = None) -> Stream:
    r"""Read a sparse file of lines such as `2,5 1:0.5 7:1`: labels, then features and their values.

    A file of the extreme-classification repository has a header with the numbers of examples, features and labels. A
    feature i is called `xi`, a label by its number. If -1 is a label and no other but 1 is, 1 is the only label, and -1
    means that it is false. What is left out is zero. A comment begins with `#`; `qid:…` is ignored.

    Parameters
    ----------
    path
        The file, plain or compressed.
    first
        The number of the first feature: 0 or 1. Default: 0 if there is a header or any feature 0, else 1.
    name
        What the stream is called in reports. Default: the file's name without its suffixes.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "mail.svm"
    >>> _ = path.write_text("2,5 1:0.5 3:1\n5 3:1 # a comment\n 2:7\n")
    >>> stream = read_svmlight(path)
    >>> stream.labels, [feature.name for feature in stream.features]
    (('2', '5'), ['x1', 'x2', 'x3'])
    >>> stream.X.toarray(), stream.Y
    (array([[0.5, 0. , 1. ],
           [0. , 0. , 1. ],
           [0. , 7. , 0. ]]), array([[1, 1],
           [0, 1],
           [0, 0]], dtype=int8))
    """
    if first not in {None, 0, 1}:
        raise MarleneError(f"{path}: the number of the first feature must be 0 or 1, not {first!r}")
    text = whole_text(Path(path))
    header = HEADER.match(text)
    found = read_entries(text, header.end() if header else 0, str(path))
    rows = len(found.rows)
    if not rows:
        raise MarleneError(f"{path}: expected examples, found none")
    sizes = [int(number) for number in header.groups()] if header else None
    if sizes and sizes[0] != rows:
        raise MarleneError(f"{path}, line 1: the header says {sizes[0]} examples, found {rows}")
    smallest, largest = int(found.indices.min(initial=1)), int(found.indices.max(initial=0))
    first = first if first is not None else int(sizes is None and smallest > 0)
    if smallest < first:
        place = int(np.argmin(found.indices))
        raise MarleneError(f"{where_entry(found, place, text, path)}: feature 0, but the first feature is 1")
    width = sizes[1] if sizes else largest + 1 - first
    if width > MOST_FEATURES:
        raise MarleneError(f"{path}, line 1: the header says {width} features, which are too many")
    if len(found.indices) and largest - first >= width:
        place = int(np.argmax(found.indices))
        raise MarleneError(f"{where_entry(found, place, text, path)}: feature {largest}, but the header says {width}")
    if sizes and sizes[2] > MOST_LABELS:
        raise MarleneError(f"{path}, line 1: the header says {sizes[2]} labels, which are too many")
    X = entries_matrix(found, first, width, text, path)
    features = tuple(Feature(f"x{number}", kind) for number, kind in enumerate(inferred_kinds(X), first))
    names, Y = _labels(found, None if sizes is None else sizes[2], text, path)
    return Stream(X, Y, features, names, name or bare_stem(Path(path)))


def read_entries(text: bytes, position: int, source: str, before: int = 0) -> Entries:
    """Read the examples of a text, from a position on; `before` is the number of lines before the text."""
    from marlene.kernels.reading.spans import count_signs  # noqa: PLC0415 (Numba takes a while)
    from marlene.kernels.reading.svmlight import BAD_LABEL, BAD_VALUE, GOOD, Entries, read_rows  # noqa: PLC0415

    data = np.frombuffer(text, np.uint8)
    lines, colons, commas, _ = count_signs(data)
    rows, entries, labels = lines + 1, colons, lines + 1 + commas
    ints = np.empty(rows, np.int64), np.empty(rows + 1, np.int64), np.empty(entries, np.int64)
    slow = np.empty((entries + labels, 3), np.int64)
    found = Entries(*ints, np.empty(entries), np.empty(rows + 1, np.int64), np.empty(labels), slow)
    counts = np.zeros(4, np.int64)
    wrong, at = read_rows(data, position, found, counts, MOST_FEATURES)
    count, used, labelled, slows = counts.tolist()
    if wrong != GOOD:
        word = re.split(rb"[\s#]", text[at : at + 60], maxsplit=1)[0][:40].decode(errors="replace")
        expected = "a label, which is a number" if wrong == BAD_LABEL else f"feature:value, {AS_IN}"
        expected = "a number after the colon" if wrong == BAD_VALUE else expected
        column = at - max(text.rfind(b"\n", 0, at), text.rfind(b"\r", 0, at))
        line = before + line_at(text, at)
        raise MarleneError(f"{source}, line {line}, column {column}: expected {expected}, found {word!r}")
    for place, begin, end in slow[:slows].tolist():
        try:
            value = float(text[begin:end])
        except ValueError:
            found_here = text[begin:end][:40].decode(errors="replace")
            where = f"{source}, line {before + line_at(text, begin)}"
            raise MarleneError(f"{where}: expected a number, found {found_here!r}") from None
        (found.values if place >= 0 else found.labels)[place if place >= 0 else -1 - place] = value
    return Entries(
        found.rows[:count],
        found.starts[: count + 1],
        found.indices[:used],
        found.values[:used],
        found.label_starts[: count + 1],
        found.labels[:labelled],
        slow[:0],
    )


def line_at(text: bytes, position: int) -> int:
    """Return the number of the line at a position."""
    return len(re.findall(rb"\r\n|\n|\r", text[:position])) + 1


def where_entry(found: Entries, place: int, text: bytes, path: AnyPath, before: int = 0) -> str:
    """Return the file and line of an entry."""
    row = int(np.searchsorted(found.starts, place, side="right")) - 1
    return f"{path}, line {before + line_at(text, int(found.rows[row]))}"


def entries_matrix(found: Entries, first: int, width: int, text: bytes, path: AnyPath, before: int = 0) -> sp.csr_array:
    """Return the entries as a matrix."""
    infinite = np.isinf(found.values)
    if infinite.any():
        place = int(np.argmax(infinite))
        raise MarleneError(
            f"{where_entry(found, place, text, path, before)}: the value of feature {found.indices[place]} is infinite"
        )
    small = np.int32 if len(found.values) < 1 << 31 else np.int64
    indices, starts = (found.indices - first).astype(small), found.starts.astype(small)
    X = sp.csr_array((found.values, indices, starts), shape=(len(found.rows), width))
    X.sort_indices()
    twice = (np.diff(X.indices) == 0) & (np.diff(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))) == 0)
    if twice.any():
        place = int(np.argmax(twice))
        where = where_entry(found, place, text, path, before)
        raise MarleneError(f"{where}: feature {X.indices[place] + first} is there twice")
    X.eliminate_zeros()
    return X


def _labels(found: Entries, count: int | None, text: bytes, path: AnyPath) -> tuple[tuple[str, ...], Labels]:
    rows = np.repeat(np.arange(len(found.rows)), np.diff(found.label_starts))
    values, places = np.unique(found.labels, return_inverse=True)
    if count is not None:
        outside = (found.labels < 0) | (found.labels >= count) | (found.labels != np.floor(found.labels))
        if outside.any():
            row = int(rows[int(np.argmax(outside))])
            label = as_text(found.labels[int(np.argmax(outside))])
            where = f"{path}, line {line_at(text, int(found.rows[row]))}"
            raise MarleneError(f"{where}: label {label}, but the header says {count} labels")
        values, places = np.arange(count, dtype=np.float64), found.labels.astype(np.int64)
    if not len(values):
        raise MarleneError(f"{path}: there is no label")
    if values[0] == -1 and {-1.0, 1.0}.issuperset(values.tolist()) and (np.diff(found.label_starts) <= 1).all():
        return ("1",), two_classes(found, rows)
    if len(values) * len(found.rows) > MOST_CELLS:
        raise MarleneError(f"{path}: {len(values)} labels of {len(found.rows)} examples are too many")
    Y = np.zeros((len(found.rows), len(values)), np.int8)
    Y[rows, places] = 1
    return tuple(as_text(value) for value in values.tolist()), Y


def two_classes(found: Entries, rows: Ints) -> Labels:
    """Return the truth where the only labels are 1 and -1."""
    Y = np.full((len(found.rows), 1), -1, np.int8)
    labels: Floats = found.labels
    Y[rows, 0] = labels > 0
    return Y
