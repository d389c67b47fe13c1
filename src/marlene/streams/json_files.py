"""Streams from JSON: files of one object per line, or of a list of objects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from marlene._common.errors import MarleneError
from marlene.streams._assemble import Choices, table_to_stream
from marlene.streams._columns import RawTable
from marlene.streams._lines import Meter, bare_stem, text_parts, whole_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marlene._common.files import AnyPath
    from marlene.streams._json_objects import JsonObjects
    from marlene.streams._labels import LabelChoice
    from marlene.streams._stream import FeatureKinds, Stream


def read_json(
    path: AnyPath,
    *,
    labels: LabelChoice,
    separator: str | None = None,
    drop: str | Sequence[str] = (),
    kinds: FeatureKinds = "auto",
    name: str | None = None,
) -> Stream:
    r"""Read examples from a JSON file.

    The file has one object per line, or a list of objects. The keys are columns; `a.b` is the key b of the object a. A
    key that is absent, and null, are missing. A label column of lists holds the labels that are true.

    Parameters
    ----------
    path
        A UTF-8 file, plain or compressed.
    labels, separator, drop, kinds, name
        As in `read_csv`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mail.jsonl"
    >>> _ = path.write_text('{"size": 3, "from": {"age": 7}, "tags": ["late"]}\n{"size": 1.5, "tags": []}\n')
    >>> stream = read_json(path, labels="tags")
    >>> [feature.name for feature in stream.features], stream.labels
    (['size', 'from.age'], ('late',))
    >>> stream.X
    array([[3. , 7. ],
           [1.5, nan]])
    """
    choices = Choices(labels, separator, drop, kinds)
    return table_to_stream(json_table(path), choices, name or bare_stem(Path(path)))


def json_table(path: AnyPath) -> RawTable:
    """Read the cells of a JSON file."""
    from marlene.streams._json_objects import JsonObjects  # noqa: PLC0415 (Numba takes a while)

    found = JsonObjects(whole_text(Path(path)), str(path))
    if not found.rows:
        raise MarleneError(f"{path}: expected objects, found an empty file")
    return _table(found, path)


def json_parts(path: Path, size: int, meter: Meter) -> Iterator[RawTable]:
    """Read the cells of a file of one object per line, in tables of as many objects as have `size` bytes."""
    from marlene.streams._json_objects import JsonObjects  # noqa: PLC0415 (Numba takes a while)

    lines, empty = 0, True
    for text in text_parts(path, size, meter):
        if empty and text.lstrip().startswith(b"["):
            raise MarleneError(f"{path}: expected one object per line, found a list, which cannot be read lazily")
        found = JsonObjects(text, str(path), lines)
        lines += text.count(b"\n")
        if found.rows:
            empty = False
            yield _table(found, path)
    if empty:
        raise MarleneError(f"{path}: expected objects, found an empty file")


def _table(found: JsonObjects, path: AnyPath) -> RawTable:
    return RawTable(
        source=str(path),
        names=found.names,
        rows=found.rows,
        column=found.column,
        where=lambda row: f"{path}, line {found.line(int(found.starts[row]))}",
        present=found.present,
    )
