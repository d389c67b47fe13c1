"""`load`: one function for streams from any place."""

from __future__ import annotations

import difflib
import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marlene._common.errors import MarleneError
from marlene.streams import catalogue
from marlene.streams._lines import bare_stem
from marlene.streams._stream import FeatureKinds, Stream
from marlene.streams.arff import read_arff
from marlene.streams.tables import frame_package, from_frame, from_river, read_csv, read_parquet

if TYPE_CHECKING:
    from collections.abc import Callable

    from marlene.streams._download import Progress
    from marlene.streams._labels import LabelChoice

TABLES: dict[str, Callable[..., Stream]] = {
    "csv": read_csv,
    "tsv": functools.partial(read_csv, delimiter="\t"),
    "parquet": read_parquet,
}
HOW_TO_NAME_LABELS = "say which columns are labels: labels=-2 (the last two), labels='is_*' or labels=['a', 'b']"


def load(
    source: Any,  # noqa: ANN401 (a name, a path or an object of many packages)
    *,
    labels: LabelChoice | None = None,
    features: FeatureKinds = "auto",
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
        "auto" infers the kind of every feature; "numeric" and "binary" (whether a value is non-zero) set it for all
        features that are not nominal; a mapping sets it for single features by name.
    name
        What the stream is called in reports.
    limit
        Keep only this many examples, from the first.
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
    if isinstance(source, (str, os.PathLike)):
        stream = _from_text(os.fspath(source), labels, features, progress)
    elif frame_package(source):
        stream = from_frame(source, labels=_needed(labels, "a data frame"), kinds=features)
    elif isinstance(source, tuple) and len(source) == 2:
        stream = _from_arrays(source, labels, name or "arrays")
    elif labels is not None:
        raise MarleneError(f"labels= does not apply to {type(source).__name__}: its labels are known")
    elif isinstance(source, Stream):
        stream = source
    elif isinstance(source, Iterable) and not isinstance(source, (bytes, Mapping)) and not hasattr(source, "dtype"):
        stream = from_river(source, limit=limit, kinds=features, name=name)
    else:
        raise MarleneError(
            f"cannot load a stream from {type(source).__name__}: expected a name, a path, a data frame, a River data "
            "set or a pair of arrays"
        )
    if name is not None and name != stream.name:
        stream = replace(stream, name=name)
    stream = stream.with_kinds(features)
    return stream if limit is None else stream.head(limit)


def _from_text(text: str, labels: LabelChoice | None, features: FeatureKinds, progress: Progress | None) -> Stream:
    if text.lower() in catalogue.CATALOGUE:
        if labels is not None:
            raise MarleneError(f"labels= does not apply to {text.lower()}: its labels are known")
        return catalogue.read(text.lower(), progress=progress)
    path = Path(text)
    if not path.exists():
        close = difflib.get_close_matches(text.lower(), catalogue.CATALOGUE, n=1)
        hint = f" (did you mean {close[0]}?)" if close else ""
        known = ", ".join(catalogue.CATALOGUE)
        raise MarleneError(f"{text!r} is neither a file nor a data set of the catalogue{hint}: {known}")
    suffix = path.name[len(bare_stem(path)) + 1 :].lower().partition(".")[0]
    if suffix == "arff":
        return read_arff(path, labels=labels)
    if suffix in TABLES:
        return TABLES[suffix](path, labels=_needed(labels, text), kinds=features)
    raise MarleneError(f"{text}: expected the suffix .arff, .csv, .tsv or .parquet")


def _from_arrays(pair: tuple[Any, Any], labels: LabelChoice | None, name: str) -> Stream:
    if isinstance(labels, str) or not (labels is None or isinstance(labels, Sequence)):
        raise MarleneError(f"{name}: labels= must be a list of names for a pair of arrays, not {labels!r}")
    return Stream.from_arrays(*pair, labels=labels, name=name)


def _needed(labels: LabelChoice | None, source: str) -> LabelChoice:
    if labels is None:
        raise MarleneError(f"{source}: {HOW_TO_NAME_LABELS}")
    return labels
