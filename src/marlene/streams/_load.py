"""`load`: one function for streams from any place."""

from __future__ import annotations

import difflib
import functools
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from marlene._common.checks import one_of
from marlene._common.errors import MarleneError
from marlene._common.labels import as_labels
from marlene.streams import catalogue
from marlene.streams._assemble import Choices, table_to_stream, with_columns
from marlene.streams._columns import RawTable
from marlene.streams._lines import STANDARD_INPUT, bare_stem, standard_head
from marlene.streams._stream import FeatureKinds, Stream
from marlene.streams.arff import arff_stream
from marlene.streams.frames import frame_package, frame_table, parquet_table
from marlene.streams.json_files import json_table
from marlene.streams.lazy._arff import arff_streams
from marlene.streams.lazy._open import guessed_format, open_lazily
from marlene.streams.lazy._svmlight import svmlight_streams
from marlene.streams.lazy._tables import table_streams
from marlene.streams.records import pairs_name, pairs_table, records_table
from marlene.streams.svmlight import read_svmlight
from marlene.streams.tables import csv_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from marlene.streams._download import Progress
    from marlene.streams._labels import LabelChoice
    from marlene.streams.lazy import LazyStream

TABLES: dict[str, Callable[[Path], RawTable]] = {
    "csv": csv_table,
    "tsv": functools.partial(csv_table, delimiter="\t"),
    "parquet": parquet_table,
    "json": json_table,
    "jsonl": json_table,
    "ndjson": json_table,
}
SPARSE = ("svm", "libsvm", "svmlight", "txt")
SUFFIXES = ".arff, .csv, .tsv, .parquet, .json, .jsonl, .ndjson, .svm, .libsvm, .svmlight or .txt"
NO_TABLE = RawTable("", (), 0, lambda _: None, str)
OTHERS = (tuple, bytes, Mapping, Stream)
HOW_TO_NAME_LABELS = "say which columns are labels: labels=-2 (the last two), labels='is_*' or labels=['a', 'b']"


@overload
def load(
    source: Any,  # noqa: ANN401
    *,
    labels: LabelChoice | None = None,
    separator: str | None = None,
    drop: str | Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    features: FeatureKinds = "auto",
    first_feature: int | None = None,
    absent: str = "unknown",
    name: str | None = None,
    limit: int | None = None,
    lazy: Literal[False] = False,
    progress: Progress | None = None,
) -> Stream: ...


@overload
def load(
    source: Any,  # noqa: ANN401
    *,
    labels: LabelChoice | None = None,
    separator: str | None = None,
    drop: str | Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    features: FeatureKinds = "auto",
    first_feature: int | None = None,
    absent: str = "unknown",
    name: str | None = None,
    limit: int | None = None,
    lazy: bool,
    progress: Progress | None = None,
) -> Stream | LazyStream: ...


def load(
    source: Any,
    *,
    labels: LabelChoice | None = None,
    separator: str | None = None,
    drop: str | Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    features: FeatureKinds = "auto",
    first_feature: int | None = None,
    absent: str = "unknown",
    name: str | None = None,
    limit: int | None = None,
    lazy: bool = False,
    progress: Progress | None = None,
) -> Stream | LazyStream:
    """Load a stream.

    Parameters
    ----------
    source
        A name of the catalogue ("yeast", "imdb", …, capitals do not matter); a path to a file: ARFF, CSV, TSV, Parquet,
        JSON (a list of objects, or one per line), SVMLight, or the format of the extreme-classification repository
        (text files may be compressed: .gz, .bz2, .xz, .zst); a pandas or polars data frame, or an Arrow table; a list
        of dictionaries; a multi-label data set of River; a pair (X, Y) of arrays; or a stream.
    labels
        The label columns of a file or frame: a number n (the first n columns, or the last -n), a pattern such as
        "is_*", or a list of names. ARFF files may say it themselves. For a pair of arrays: the names of the labels.
    separator
        If the label column of a table lists the labels that are true, as in `a|b|c`: what stands between them. A column
        of lists needs none.
    drop
        Columns to leave out: patterns such as "id,note_*", or a list of names.
    kinds
        The kinds of single columns, by name or pattern: numeric, binary or nominal; for tables also text (text:pairs
        for pairs of words, too) and date (date:%d.%m.%Y for a form other than ISO 8601).
    features
        "auto" infers the kind of all other features; "numeric" and "binary" (whether a value is non-zero) set it for
        those that are not nominal; a mapping is the same as `kinds`.
    first_feature
        The number of the first feature in an SVMLight file: 0 or 1. Default: 0 if there is a feature 0 or a header.
    absent
        What a label is where nothing is said of it (no key in a dictionary, an empty cell, NaN): "unknown" or "false".
    name
        What the stream is called in reports.
    limit
        Keep only this many examples, from the first.
    lazy
        Return a `LazyStream`, which reads a file part by part: it need not fit in memory. The path "-" is standard
        input. A data set of the catalogue is loaded as usual.
    progress
        Called while a data set is downloaded, with the bytes received and the total (or None).

    Examples
    --------
    >>> load("yeast", limit=100)
    <Stream yeast: 100 examples, 103 features (dense), 14 labels>
    >>> import numpy
    >>> load((numpy.eye(3), [[1], [0], [1]]), labels=["odd"])
    <Stream arrays: 3 examples, 3 features (dense), 1 labels>
    """
    if isinstance(features, str) and features not in {"auto", "numeric", "binary"}:
        raise MarleneError(f"features must be 'auto', 'numeric', 'binary' or a mapping, not {features!r}")
    one_of(absent, "absent", ("unknown", "false"))
    if absent == "false" and isinstance(source, tuple) and len(source) == 2:
        source = (source[0], as_labels(source[1], f"{name or 'arrays'}: Y", untold=0))
    labels = _plain(labels)
    named = {**({} if isinstance(features, str) else features), **(kinds or {})}
    others = features if isinstance(features, str) else "auto"
    if lazy and not _in_catalogue(source):
        if not _is_path(source):
            raise MarleneError(f"lazy=True is for files, not for {type(source).__name__}: it is in memory already")
        choices = Choices(0, separator, drop, named, others)
        return _lazy(source, labels, choices, first_feature, absent == "false", name, limit)
    found = _table(source, labels, limit, name)
    if found is not None:
        table, chosen = found
        stream = table_to_stream(table, Choices(chosen, separator, drop, named, others), name or _name(source, table))
    else:
        if separator is not None:
            raise MarleneError("separator= is for tables whose label column lists labels")
        if _is_path(source) and not _in_catalogue(source) and _suffix(Path(source)) == "arff":
            stream = arff_stream(Path(source), labels, None, drop, named, others, name)
        else:
            stream = _no_table(source, labels, first_feature, name, progress)
            stream = with_columns(stream, NO_TABLE, drop, Choices(1, None, drop, named, others))
    if absent == "false" and not isinstance(source, tuple):
        stream = replace(stream, Y=np.maximum(stream.Y, 0))
    if name is not None and name != stream.name:
        stream = replace(stream, name=name)
    return stream if limit is None else stream.head(limit)


def _lazy(
    source: str | os.PathLike[str],
    labels: LabelChoice | None,
    choices: Choices,
    first: int | None,
    certain: bool,
    name: str | None,
    limit: int | None,
) -> LazyStream:
    path = Path(source)
    suffix = guessed_format(standard_head()) if str(path) == STANDARD_INPUT else _suffix(_existing(str(path)))
    if suffix in SPARSE and labels is None and choices.separator is None:
        return open_lazily(
            path, functools.partial(svmlight_streams, choices=choices, first=first), name, limit, certain
        )
    if suffix in SPARSE or (suffix == "arff" and choices.separator is not None):
        raise MarleneError(f"{path}: labels= and separator= do not apply: its labels are known")
    if suffix == "arff":
        return open_lazily(path, functools.partial(arff_streams, labels=labels, choices=choices), name, limit, certain)
    if suffix not in TABLES:
        raise MarleneError(f"{path}: expected the suffix {SUFFIXES}")
    choices = replace(choices, labels=_needed(labels, str(path)))
    return open_lazily(path, functools.partial(table_streams, suffix=suffix, choices=choices), name, limit, certain)


def _table(
    source: Any,  # noqa: ANN401 (as in `load`)
    labels: LabelChoice | None,
    limit: int | None,
    name: str | None,
) -> tuple[RawTable, LabelChoice] | None:
    """Return the cells of a source that is a table, and its label columns; None for other sources."""
    if frame_package(source):
        chosen = _needed(labels, "a data frame")
        return frame_table(source, name or "frame"), chosen
    if _is_path(source):
        reader = _reader(source)
        if reader is None:
            return None
        chosen = _needed(labels, os.fspath(source))
        return reader(Path(source)), chosen
    if isinstance(source, Iterable) and not isinstance(source, OTHERS) and not hasattr(source, "dtype"):
        return _dictionaries(source, labels, limit, name)
    return None


def open_table(source: str) -> RawTable | None:
    """Return the cells of a file that is a table; None for other files and for data sets of the catalogue."""
    reader = _reader(source)
    return None if reader is None else reader(Path(source))


def _reader(source: str | os.PathLike[str]) -> Callable[[Path], RawTable] | None:
    if _in_catalogue(source):
        return None
    path = _existing(os.fspath(source))
    suffix = _suffix(path)
    if suffix == "arff" or suffix in SPARSE:
        return None
    if suffix not in TABLES:
        raise MarleneError(f"{path}: expected the suffix {SUFFIXES}")
    return TABLES[suffix]


def _dictionaries(
    source: Iterable[Any], labels: LabelChoice | None, limit: int | None, name: str | None
) -> tuple[RawTable, LabelChoice]:
    """Return the cells of dictionaries, or of pairs of them."""
    first: list[Any] = []
    if isinstance(source, Iterator):
        first = list(itertools.islice(source, 1))
    elif isinstance(source, Sequence):
        first = list(source[:1])
    if not first and isinstance(source, Iterator | Sequence):
        raise MarleneError(f"{name or 'records'}: expected dictionaries, found none")
    if first and isinstance(first[0], Mapping):
        rows = itertools.chain(first, source) if isinstance(source, Iterator) else source
        return records_table(rows, limit, name or "records"), _needed(labels, "a list of dictionaries")
    if labels is not None:
        raise MarleneError(f"labels= does not apply to {type(source).__name__}: its labels are known")
    pairs = itertools.chain(first, source) if isinstance(source, Iterator) else source
    return pairs_table(pairs, limit, name or pairs_name(source))


def _suffix(path: Path) -> str:
    return path.name[len(bare_stem(path)) + 1 :].lower().partition(".")[0]


def _is_path(source: object) -> bool:
    return isinstance(source, (str, os.PathLike))


def _in_catalogue(source: Any) -> bool:  # noqa: ANN401 (as in `load`)
    return isinstance(source, str) and source.lower() in catalogue.CATALOGUE


def _name(source: Any, table: RawTable) -> str:  # noqa: ANN401 (as in `load`)
    if _is_path(source):
        return bare_stem(Path(source))
    return "frame" if frame_package(source) else table.source


def _no_table(
    source: Any,  # noqa: ANN401 (as in `load`)
    labels: LabelChoice | None,
    first: int | None,
    name: str | None,
    progress: Progress | None,
) -> Stream:
    if _is_path(source) and not _in_catalogue(source) and labels is None:
        return read_svmlight(source, first=first)
    if isinstance(source, tuple) and len(source) == 2:
        return _from_arrays(source, labels, name or "arrays")
    if not _is_path(source) and not isinstance(source, Stream):
        raise MarleneError(
            f"cannot load a stream from {type(source).__name__}: expected a name, a path, a data frame, a River data "
            "set, a list of dictionaries or a pair of arrays"
        )
    if labels is not None:
        what = source.lower() if _in_catalogue(source) else source if _is_path(source) else type(source).__name__
        raise MarleneError(f"labels= does not apply to {what}: its labels are known")
    if isinstance(source, str):
        return catalogue.read(source.lower(), progress=progress)
    stream: Stream = source
    return stream


def _existing(text: str) -> Path:
    path = Path(text)
    if path.exists():
        return path
    if text == STANDARD_INPUT:
        raise MarleneError(
            "standard input is read part by part, by `marlene run -` or with lazy=True; here a file is needed"
        )
    close = difflib.get_close_matches(text.lower(), catalogue.CATALOGUE, n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    known = ", ".join(catalogue.CATALOGUE)
    raise MarleneError(f"{text!r} is neither a file nor a data set of the catalogue{hint}: {known}")


def _from_arrays(pair: tuple[Any, Any], labels: LabelChoice | None, name: str) -> Stream:
    if isinstance(labels, str) or not (labels is None or isinstance(labels, Sequence)):
        raise MarleneError(f"{name}: labels= must be a list of names for a pair of arrays, not {labels!r}")
    return Stream.from_arrays(*pair, labels=labels, name=name)


def _plain(labels: Any) -> LabelChoice | None:  # noqa: ANN401 (as in `load`, or an array of names)
    return [str(label) for label in labels] if isinstance(labels, np.ndarray) else labels


def _needed(labels: LabelChoice | None, source: str) -> LabelChoice:
    if labels is None:
        raise MarleneError(f"{source}: {HOW_TO_NAME_LABELS}")
    return labels
