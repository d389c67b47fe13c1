"""One way to get a stream, wherever it comes from."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.streams import catalogue
from marlene.streams._lines import bare_stem
from marlene.streams._stream import Stream
from marlene.streams.arff import read_arff
from marlene.streams.tables import frame_package, from_frame, from_river, read_csv, read_parquet

if TYPE_CHECKING:
    from marlene.streams._download import Progress
    from marlene.streams._labels import LabelChoice

HOW_TO_NAME_LABELS = "say which columns are labels: labels=-2 (the last two), labels='is_*' or labels=['a', 'b']"


def load(
    source: Any,  # noqa: ANN401 (a name, a path or an object of many packages)
    *,
    labels: LabelChoice | None = None,
    features: str | Mapping[str, str] = "auto",
    name: str | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Stream:
    """Load a stream.

    Parameters
    ----------
    source
        A name of the catalogue ("yeast", "imdb", …, capitals do not matter); a path to an ARFF, CSV, TSV or Parquet
        file (the text files may be compressed: .gz, .bz2, .xz); a pandas or polars data frame; a multi-label data
        set of River; a pair (X, Y) of arrays; or a stream.
    labels
        The label columns of a file or frame: a number n (the first n columns, or the last -n), a pattern such as
        "is_*", or a list of names. ARFF files may say it themselves. For a pair of arrays: the names of the labels.
    features
        "auto" infers the kind of every feature; "numeric" and "binary" (is it non-zero?) set it for all that are not
        nominal; a mapping sets it for single features by name.
    name
        What the stream is called in reports.
    limit
        Keep only this many examples, from the first.
    progress
        Called with the bytes received and the bytes to come in all (or None) while a data set is downloaded.

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
    if isinstance(source, (str, os.PathLike)):
        stream = _from_text(source, labels, features, name, progress)
    elif frame_package(source):
        stream = from_frame(source, labels=_needed(labels, "a data frame"), kinds=features, name=name or "frame")
    elif isinstance(source, tuple) and len(source) == 2:
        stream = _from_arrays(source, labels, name or "arrays").with_kinds(features)
    elif labels is not None:
        raise MarleneError(f"labels= does not apply to {type(source).__name__}: its labels are known")
    elif isinstance(source, Stream):
        stream = _renamed(source, name).with_kinds(features)
    elif isinstance(source, Iterable) and not isinstance(source, (bytes, Mapping)) and not hasattr(source, "dtype"):
        stream = from_river(source, limit=limit, kinds=features, name=name)
    else:
        raise MarleneError(
            f"cannot load a stream from {type(source).__name__}: expected a name, a path, a data frame, a River data "
            "set or a pair of arrays"
        )
    return stream if limit is None else stream.head(limit)


def _from_text(
    source: str | os.PathLike[str],
    labels: LabelChoice | None,
    features: str | Mapping[str, str],
    name: str | None,
    progress: Progress | None,
) -> Stream:
    text = os.fspath(source)
    if text.lower() in catalogue.CATALOGUE:
        if labels is not None:
            raise MarleneError(f"labels= does not apply to {text.lower()}: its labels are known")
        return _renamed(catalogue.read(text.lower(), progress=progress), name).with_kinds(features)
    path = Path(text)
    if not path.exists():
        close = difflib.get_close_matches(text.lower(), catalogue.CATALOGUE, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        known = ", ".join(catalogue.CATALOGUE)
        raise MarleneError(f"{text!r} is neither a file nor a data set of the catalogue{hint}: {known}")
    name = name or bare_stem(path)
    suffix = path.name[len(bare_stem(path)) + 1 :].lower()
    match suffix.partition(".")[0]:
        case "arff":
            return read_arff(path, labels=labels, name=name).with_kinds(features)
        case "csv":
            return read_csv(path, labels=_needed(labels, text), kinds=features, name=name)
        case "tsv":
            return read_csv(path, labels=_needed(labels, text), delimiter="\t", kinds=features, name=name)
        case "parquet":
            return read_parquet(path, labels=_needed(labels, text), kinds=features, name=name)
    raise MarleneError(f"{text}: expected the suffix .arff, .csv, .tsv or .parquet")


def _from_arrays(pair: tuple[Any, Any], labels: LabelChoice | None, name: str) -> Stream:
    if isinstance(labels, str) or not (labels is None or isinstance(labels, Sequence)):
        raise MarleneError(f"{name}: labels= must be a list of names for a pair of arrays, not {labels!r}")
    return Stream.from_arrays(*pair, labels=labels, name=name)


def _needed(labels: LabelChoice | None, source: str) -> LabelChoice:
    if labels is None:
        raise MarleneError(f"{source}: {HOW_TO_NAME_LABELS}")
    return labels


def _renamed(stream: Stream, name: str | None) -> Stream:
    return stream if name is None else Stream(stream.X, stream.Y, stream.features, stream.labels, name)
