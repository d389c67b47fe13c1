"""The seven data sets of the paper; catalogue.csv lists them."""

from __future__ import annotations

import bz2
import csv
import hashlib
import os
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.files import user_cache
from marlene.streams._download import Progress, download
from marlene.streams.arff import read_arff
from marlene.streams.tables import read_csv

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene.streams._stream import Stream

YEAST_TRAINING_SET = 917
"""River's copy of Yeast starts with the last 917 examples of MEKA's."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set of the paper and where to get it.

    Parameters
    ----------
    name
        The name that `load` takes.
    file
        The name of its ARFF file.
    examples, features, labels
        Numbers of examples, features and labels.
    feature_kind
        The kind of all of its features.
    size, sha256
        Length in bytes and checksum of the uncompressed file.
    url
        A public copy that never changes.
    labels_last
        Whether the label columns are the last ones of the file, as in Mulan's files, rather than the first.

    Examples
    --------
    >>> CATALOGUE["imdb"].labels
    28
    """

    name: str
    file: str
    examples: int
    features: int
    labels: int
    feature_kind: Literal["numeric", "binary"]
    size: int
    sha256: str
    url: str
    labels_last: bool


def _entry(row: dict[str, Any]) -> DataSet:
    numbers = {name: int(row[name]) for name in ("examples", "features", "labels", "size")}
    return DataSet(**row | numbers | {"labels_last": row["labels_last"] == "yes"})


with files(__package__).joinpath("catalogue.csv").open(encoding="utf-8") as _table:
    CATALOGUE: Mapping[str, DataSet] = MappingProxyType({row["name"]: _entry(row) for row in csv.DictReader(_table)})
"""The data sets by name."""


def find(name: str, *, progress: Progress | None = None) -> Path:
    """Return the file of a data set: from `$MARLENE_DATA`, the user's cache, or the web.

    A download is checked before it goes to the cache; a file that is already there is not checked.

    Parameters
    ----------
    name
        A name of the catalogue.
    progress
        Called while downloading, with the bytes received and the total (or None).

    Examples
    --------
    >>> import tempfile, unittest.mock
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "Imdb.arff").touch()
    >>> with unittest.mock.patch.dict(os.environ, MARLENE_DATA=str(folder)):
    ...     find("imdb").name
    'Imdb.arff'
    """
    found = local_file(name)
    if found is not None:
        return found
    entry, cache = CATALOGUE[name], user_cache("data")
    target = cache / entry.file
    try:
        download(entry.url, target, entry.sha256, limit=entry.size, progress=progress)
    except MarleneError as error:
        raise MarleneError(
            f"{name}: {error}; put {entry.file} or {entry.file}.bz2 into {cache} or the folder $MARLENE_DATA names"
        ) from error
    return target


def local_file(name: str) -> Path | None:
    """Return the file of a data set in `$MARLENE_DATA` or the user's cache; None if it is in neither.

    Examples
    --------
    >>> import tempfile, unittest.mock
    >>> with unittest.mock.patch.dict(os.environ, MARLENE_DATA="", MARLENE_CACHE=tempfile.mkdtemp()):
    ...     local_file("imdb") is None
    True
    """
    entry = CATALOGUE[name]
    chosen = os.environ.get("MARLENE_DATA")
    folders = [Path(chosen), user_cache("data")] if chosen else [user_cache("data")]
    paths = [folder / file for folder in folders for file in (entry.file, f"{entry.file}.bz2")]
    return next((path for path in paths if path.is_file()), None)


def verify(name: str) -> None:
    """Refuse the file of a data set if its checksum is wrong.

    Examples
    --------
    >>> import tempfile, unittest.mock
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "Imdb.arff").touch()
    >>> with unittest.mock.patch.dict(os.environ, MARLENE_DATA=str(folder)):
    ...     verify("imdb")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: ...Imdb.arff: this is not imdb: the checksum is e3b0c44298fc…
    """
    entry, path = CATALOGUE[name], find(name)
    with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    if checksum != entry.sha256:
        raise MarleneError(f"{path}: this is not {name}: the checksum is {checksum[:12]}…")


def read(name: str, *, progress: Progress | None = None) -> Stream:
    """Return a data set of the catalogue as a stream; Yeast is part of River and needs no file.

    Parameters
    ----------
    name
        A name of the catalogue.
    progress
        As in `find`.

    Examples
    --------
    >>> read("yeast")
    <Stream yeast: 2417 examples, 103 features (dense), 14 labels>
    """
    entry = CATALOGUE[name]
    if name == "yeast":
        return _yeast()
    path = find(name, progress=progress)
    stream = read_arff(path, labels=-entry.labels if entry.labels_last else entry.labels, name=name)
    shape = (len(stream), len(stream.features), len(stream.labels))
    if shape != (entry.examples, entry.features, entry.labels):
        raise MarleneError(
            f"{path}: this is not {name}: expected {entry.examples} examples, {entry.features} features and "
            f"{entry.labels} labels, found {shape[0]}, {shape[1]} and {shape[2]}"
        )
    return stream


def _yeast() -> Stream:
    # Not through river.datasets: its import takes a second.
    with as_file(files("river") / "datasets" / "yeast.csv.gz") as path:
        stream = read_csv(path, labels=-CATALOGUE["yeast"].labels, name="yeast")
    order = np.roll(np.arange(len(stream)), -YEAST_TRAINING_SET)
    return stream.rows(order)
