"""What others have published on the same data sets, as data, read from the CSV file beside this module.

`mlhat.csv` holds the figures of 17 methods on six of the paper's data sets, as published, under CC0, with Esteban,
Cano, Zafra, Ventura: *Hoeffding adaptive trees for multi-label classification on data streams* (2024), which proposes
MLHAT. The measures are cumulative over the whole stream, the first example is not scored, and labels are predicted if
their probability is above 0.5. A label that is neither true nor predicted has an F1 of 0. `hamming` is a loss, and
`time_s` is measured on their machine. Data sets have the names of `marlene.streams.CATALOGUE`. Their sizes are the
same; whether the order of examples is the same is not known.

Methods: `MLBELS` is ML-BELS, `iSOUPT` iSOUP-Tree, `ABALR` and `ABOLR` are ADWIN bagging and boosting of logistic
regression, `MLHT` and `MLHTPS` multi-label Hoeffding trees; the others are River's classifiers, one per label.
"""

from __future__ import annotations

import csv
import functools
from importlib import resources

__all__ = ["DATA_SETS", "LOSSES", "METHODS", "UNFINISHED", "best", "scores"]

LOSSES = ("hamming", "time_s")
"""Measures of which less is better."""
UNFINISHED = "did not finish"
"""What a table says of a run without figures."""
LONGEST = 1e9
"""More seconds than a run can have taken: the file has such a number, and zeros, where one did not finish."""


@functools.cache
def scores() -> dict[tuple[str, str, str], float]:
    """Return the published figures by data set, method and measure; a run that did not finish has none.

    Examples
    --------
    >>> scores()["yeast", "MLHAT", "example_f1"]
    0.5758
    >>> ("imdb", "AMF", "example_f1") in scores()
    False
    """
    text = resources.files(__package__).joinpath("mlhat.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    every = {(row["dataset"], row["method"], row["measure"]): float(row["value"]) for row in rows}
    return {key: value for key, value in every.items() if every[*key[:2], "time_s"] < LONGEST}


DATA_SETS = tuple(dict.fromkeys(data_set for data_set, _, _ in scores()))
METHODS = tuple(dict.fromkeys(method for _, method, _ in scores()))


def best(data_set: str, measure: str) -> tuple[str, float]:
    """Return the method that is best on a data set by a measure, and its figure.

    Examples
    --------
    >>> best("yeast", "micro_f1")
    ('MLBELS', 0.6127)
    """
    every = {method: scores().get((data_set, method, measure)) for method in METHODS}
    found = {method: value for method, value in every.items() if value is not None}
    method = (min if measure in LOSSES else max)(found, key=found.__getitem__)
    return method, found[method]
