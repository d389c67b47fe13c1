"""A record of `Marlene` before it tracked: the scores of its gated ensemble. No run of this version computes them."""

from __future__ import annotations

import csv
import functools
import statistics
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from marlene._common.arrays import Floats

GATE, TOLD_GATE, NEW_GATE = HOW = ("gate", "gate told of every drift", "gate started anew at every drift")
"""What is recorded; the last two only for swapped labels."""
SEEDS = (1, 2, 3)
"""The seeds of random changes."""
CURVE_OF = "20ng"
"""The data set, with labels swapped by seed 1, whose Macro-G-Mean over time is recorded."""


@functools.cache
def scores() -> dict[tuple[str, str, str, str], float]:
    """Return the recorded scores by data set, score, change and how, as means over the seeds of the change.

    Examples
    --------
    >>> round(scores()["yeast", "macro_gmean", "as it is", "gate"], 3)
    0.496
    """
    found: dict[tuple[str, str, str, str], list[float]] = {}
    for row in _rows("gate.csv"):
        for score in ("macro_gmean", "micro_gmean", "label_set_gmean"):
            found.setdefault((row["data_set"], score, row["change"], row["how"]), []).append(float(row[score]))
    return {key: statistics.fmean(values) for key, values in found.items()}


def curve() -> tuple[Floats, Floats]:
    """Return examples, and the Macro-G-Mean in a window of a fortieth of the stream after each of them.

    Examples
    --------
    >>> at, values = curve()
    >>> len(at), float(at[-1])
    (394, 19257.0)
    """
    rows = _rows("gate_curve.csv")
    return np.array([float(row["example"]) for row in rows]), np.array([float(row["macro_gmean"]) for row in rows])


def _rows(name: str) -> list[dict[str, str]]:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
