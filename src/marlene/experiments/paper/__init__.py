"""What the paper prints: its tables as data, read from the CSV files beside this module.

Data sets have the names of `marlene.streams.CATALOGUE`, scores those of `marlene.evaluation`, methods those of
`marlene methods`. A mark is "best" where the paper prints red, "same" where bold says that there is no significant
difference to the best, and otherwise empty.
"""

from __future__ import annotations

import csv
import functools
from importlib import resources
from typing import NamedTuple

__all__ = [
    "CLOSEST_SETTINGS",
    "SCORES",
    "PaperDataSet",
    "PaperResult",
    "PaperSyntheticRank",
    "PaperTime",
    "best",
    "data_sets",
    "real_data",
    "score",
    "scores",
    "synthetic_ranks",
    "times",
]

SCORES = ("macro_gmean", "micro_gmean", "label_set_gmean")

CLOSEST_SETTINGS = ("--features", "numeric", "--drift", "none")
"""Options of `marlene run` that come closest to the paper's scores; they are not this program's defaults."""


class PaperDataSet(NamedTuple):
    """A row of the table of real-world data sets."""

    data_set: str
    features_are: str
    examples: int
    features: int
    labels: int
    label_density: float
    label_imbalance_rate: float
    label_set_imbalance_rate: float


class PaperResult(NamedTuple):
    """A method on a data set; the data set "average" has the mean rank and no value."""

    score: str
    method: str
    data_set: str
    value: float | None
    rank: float | None
    mark: str


class PaperTime(NamedTuple):
    """How long a method took on a data set."""

    method: str
    data_set: str
    milliseconds: int
    mark: str


class PaperSyntheticRank(NamedTuple):
    """A rank on a synthetic stream; the drift "average" has the mean over all and no size."""

    score: str
    drift: str
    size: int | None
    method: str
    sources: str
    rank: float
    mark: str


@functools.cache
def data_sets() -> tuple[PaperDataSet, ...]:
    """Return the table of real-world data sets.

    Examples
    --------
    >>> data_sets()[3][:5]
    ('yeast', 'numeric', 2417, 103, 14)
    """
    rows = _rows("data_sets.csv")
    return tuple(
        PaperDataSet(name, kind, int(n), int(x), int(q), *map(float, rest)) for name, kind, n, x, q, *rest in rows
    )


@functools.cache
def real_data() -> tuple[PaperResult, ...]:
    """Return the table of results on real-world data sets; what the paper leaves out is absent.

    Examples
    --------
    >>> [row.value for row in real_data() if row.method == "brpw-marlene"]
    [0.567, 0.663, 0.636]
    """
    rows = _rows("real_data.csv")
    return tuple(
        PaperResult(f, method, d, _number(value), _number(rank), mark) for f, method, d, value, rank, mark in rows
    )


@functools.cache
def times() -> tuple[PaperTime, ...]:
    """Return the table of execution times.

    Examples
    --------
    >>> min(times(), key=lambda row: row.milliseconds)
    PaperTime(method='br-marlene', data_set='yeast', milliseconds=1562, mark='best')
    """
    return tuple(PaperTime(method, data, int(time), mark) for method, data, time, mark in _rows("times.csv"))


@functools.cache
def synthetic_ranks() -> tuple[PaperSyntheticRank, ...]:
    """Return the table of Friedman's ranks on synthetic streams.

    Examples
    --------
    >>> synthetic_ranks()[5]
    PaperSyntheticRank(score='macro_gmean', drift='SS', size=50, method='brpw-marlene', sources='similar', rank=2.47, mark='best')
    """  # noqa: E501 (a doctest shows a row on one line)
    rows = _rows("synthetic_ranks.csv")
    return tuple(
        PaperSyntheticRank(f, drift, int(size) if size else None, method, sources, float(rank), mark)
        for f, drift, size, method, sources, rank, mark in rows
    )


def scores(method: str, data_set: str) -> tuple[float, ...]:
    """Return Macro-, Micro- and Label-set-G-Mean of a method on a data set; empty if the paper has none.

    Examples
    --------
    >>> scores("br-marlene", "yeast"), scores("majority", "yeast")
    ((0.539, 0.644, 0.606), ())
    """
    wanted = (method, data_set)
    return tuple(row.value for row in real_data() if (row.method, row.data_set) == wanted and row.value is not None)


def score(method: str, data_set: str, name: str) -> float | None:
    """Return one of these scores; None if the paper has none.

    Examples
    --------
    >>> score("br-marlene", "yeast", "micro_gmean")
    0.644
    """
    found = scores(method, data_set)
    return found[SCORES.index(name)] if found else None


def best(data_set: str) -> tuple[float, ...]:
    """Return the best Macro-, Micro- and Label-set-G-Mean that any method has on a data set; empty if none has.

    Examples
    --------
    >>> best("yeast"), best("enron")
    ((0.567, 0.724, 0.697), ())
    """
    every = [scores(method, data_set) for method in dict.fromkeys(row.method for row in real_data())]
    return tuple(max(column) for column in zip(*filter(None, every), strict=True))


def _rows(name: str) -> list[list[str]]:
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.reader(text.splitlines()))[1:]


def _number(text: str) -> float | None:
    return float(text) if text else None
