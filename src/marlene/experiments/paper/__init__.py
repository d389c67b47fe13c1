"""What the paper prints: its tables as data, read from the CSV files beside this module.

Data sets have the names of `marlene.streams.CATALOGUE`, figures those of `marlene.evaluation`, methods those of
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
    "FIGURES",
    "PaperDataSet",
    "PaperResult",
    "PaperSyntheticRank",
    "PaperTime",
    "best",
    "data_sets",
    "figures",
    "real_data",
    "synthetic_ranks",
    "times",
]

FIGURES = ("macro_gmean", "micro_gmean", "label_set_gmean")

CLOSEST_SETTINGS = ("--features", "numeric", "--drift", "none")
"""Options of `marlene run` that meet the paper's figures most closely; they are not this program's defaults."""


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

    figure: str
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

    figure: str
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
    PaperSyntheticRank(figure='macro_gmean', drift='SS', size=50, method='brpw-marlene', sources='similar', rank=2.47, mark='best')
    """  # noqa: E501 (a doctest shows a row on one line)
    rows = _rows("synthetic_ranks.csv")
    return tuple(
        PaperSyntheticRank(f, drift, int(size) if size else None, method, sources, float(rank), mark)
        for f, drift, size, method, sources, rank, mark in rows
    )


def figures(method: str, data_set: str) -> tuple[float, ...]:
    """Return Macro-, Micro- and Label-set-G-Mean of a method on a data set; empty if the paper has none.

    Examples
    --------
    >>> figures("br-marlene", "yeast"), figures("majority", "yeast")
    ((0.539, 0.644, 0.606), ())
    """
    wanted = (method, data_set)
    return tuple(row.value for row in real_data() if (row.method, row.data_set) == wanted and row.value is not None)


def best(data_set: str) -> tuple[float, ...]:
    """Return the best Macro-, Micro- and Label-set-G-Mean that any method has on a data set; empty if none has.

    Examples
    --------
    >>> best("yeast"), best("enron")
    ((0.567, 0.724, 0.697), ())
    """
    columns = [
        [row.value for row in real_data() if (row.figure, row.data_set) == (figure, data_set) and row.value is not None]
        for figure in FIGURES
    ]
    return tuple(max(column) for column in columns if column)


def _rows(name: str) -> list[list[str]]:
    text = resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.reader(text.splitlines()))[1:]


def _number(text: str) -> float | None:
    return float(text) if text else None
