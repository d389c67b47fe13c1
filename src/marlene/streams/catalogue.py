"""The seven data sets of the paper."""

from __future__ import annotations

import bz2
import hashlib
import os
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.files import user_cache
from marlene.streams._download import CHUNK, Progress, download
from marlene.streams._stream import Stream
from marlene.streams.arff import read_arff
from marlene.streams.tables import read_csv

if TYPE_CHECKING:
    from collections.abc import Mapping

GOOWE = "https://raw.githubusercontent.com/abuyukcakir/gooweml/544122a6985949162373948ca6f0abacead47526/datasets/"
MULAN = "https://raw.githubusercontent.com/tsoumakas/mulan/43f6389095ad71984264db4387a8074b22bc7d4a/data/multi-label/"
MEKA = "https://raw.githubusercontent.com/Waikato/meka/f9ffe231e06ebaa75b4a95c5cdeb737419731621/src/main/data/"

YEAST_TRAINING_SET = 917
"""River's copy of Yeast starts with the last 917 examples of MEKA's."""


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set of the paper and where to get it.

    Parameters
    ----------
    name
        What `load` calls it.
    file
        The name of its ARFF file.
    examples, features, labels
        Its size.
    feature_kind
        The kind of all of its features.
    size, sha256
        Length in bytes and checksum of the uncompressed file.
    url
        A public copy that never changes.
    labels_last
        Whether the label columns are the last ones of the file, as Mulan has them, rather than the first.

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
    labels_last: bool = False


CATALOGUE: Mapping[str, DataSet] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            DataSet(
                name="slashdot",
                file="SLASHDOT-F.arff",
                examples=3782,
                features=1079,
                labels=22,
                feature_kind="binary",
                size=245_003,
                sha256="34159872618a6164f7a98ad3fdd4374f34a3b261678129227db378eec20ac36d",
                url=GOOWE + "SLASHDOT-F.arff",
            ),
            DataSet(
                name="ohsumed",
                file="OHSUMED-F.arff",
                examples=13929,
                features=1002,
                labels=23,
                feature_kind="binary",
                size=3_423_767,
                sha256="ce91256e06bd48140ecf5c03e6e4c28285ee0b8e161583b77a8fbc0c88c20b62",
                url=GOOWE + "OHSUMED-F.arff",
            ),
            DataSet(
                name="reuters",
                file="REUTERS-K500-EX2.arff",
                examples=6000,
                features=500,
                labels=103,
                feature_kind="numeric",
                size=684_659,
                sha256="c00409c37e3af4c855ec88f604d81f31dc989c7e6596d25a9a0e08b5607d1a3b",
                url=GOOWE + "REUTERS-K500-EX2.arff",
            ),
            DataSet(
                name="yeast",
                file="Yeast.arff",
                examples=2417,
                features=103,
                labels=14,
                feature_kind="numeric",
                size=2_416_708,
                sha256="71ffb9a0992d01b3387ef72203f44fb006e51ff79ca00c3ed57bb5e04d154d6d",
                url=GOOWE + "Yeast.arff",
            ),
            DataSet(
                name="20ng",
                file="20NG-F.arff",
                examples=19300,
                features=1006,
                labels=20,
                feature_kind="binary",
                size=3_842_029,
                sha256="25e12aa11aa37ffedc3bc60460a2875227a80dd5dacd43ce45f5651629611208",
                url=GOOWE + "20NG-F.arff",
            ),
            DataSet(
                name="tmc2007",
                file="tmc2007-500.arff",
                examples=28596,
                features=500,
                labels=22,
                feature_kind="binary",
                size=4_193_699,
                sha256="3ea7e95dd80a78a3e7d521d77c3371bfef888da1d364b5a3bb71c7222ad7f013",
                url=MULAN + "tmc2007/tmc2007-500.arff",
                labels_last=True,
            ),
            DataSet(
                name="imdb",
                file="Imdb.arff",
                examples=120919,
                features=1001,
                labels=28,
                feature_kind="binary",
                size=15_406_138,
                sha256="ba63a84e89ef7d449d6f57eef9c9b097ef5182e6aca5373fd8ba0f5210334ae8",
                url=MEKA + "Imdb.arff.bz2",
            ),
        )
    }
)
"""The data sets by name."""


def find(name: str, *, progress: Progress | None = None) -> Path:
    """Return the file of a data set: from `$MARLENE_DATA`, the user's cache, or the web.

    A download is checked before it is kept in the cache; a file that is already there is not read.

    Parameters
    ----------
    name
        A name of the catalogue.
    progress
        Called with the bytes received and the bytes to come in all (or None) while downloading.

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
    """Return the file of a data set if this machine has it: from `$MARLENE_DATA` or the user's cache.

    Examples
    --------
    >>> import tempfile, unittest.mock
    >>> with unittest.mock.patch.dict(os.environ, MARLENE_DATA="", MARLENE_CACHE=tempfile.mkdtemp()):
    ...     local_file("imdb") is None
    True
    """
    entry = CATALOGUE[name]
    chosen = os.environ.get("MARLENE_DATA")
    for folder in [Path(chosen), user_cache("data")] if chosen else [user_cache("data")]:
        for path in (folder / entry.file, folder / f"{entry.file}.bz2"):
            if path.is_file():
                return path
    return None


def verify(name: str) -> None:
    """Raise a `MarleneError` unless the file of a data set has the right checksum.

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
    digest = hashlib.sha256()
    with bz2.open(path) if path.suffix == ".bz2" else path.open("rb") as file:
        while data := file.read(CHUNK):
            digest.update(data)
    if digest.hexdigest() != entry.sha256:
        raise MarleneError(f"{path}: this is not {name}: the checksum is {digest.hexdigest()[:12]}…")


def read(name: str, *, progress: Progress | None = None) -> Stream:
    """Return a data set of the catalogue as a stream; Yeast comes with River and needs no file.

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
    # importing river.datasets to ask it for the path would take a second
    with as_file(files("river") / "datasets" / "yeast.csv.gz") as path:
        stream = read_csv(path, labels=-CATALOGUE["yeast"].labels, name="yeast")
    return Stream(
        np.roll(stream.X, -YEAST_TRAINING_SET, axis=0),
        np.roll(stream.Y, -YEAST_TRAINING_SET, axis=0),
        stream.features,
        stream.labels,
        stream.name,
    )
