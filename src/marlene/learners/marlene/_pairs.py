"""Rows that include a given label, and the sum of all votes on a label."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.ensemble.combining import contribute
from marlene.kernels.rows import Rows

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels


def with_given_label(rows: Rows, column: int) -> Rows:
    """Return all rows with 0, then all rows with 1 in a new column; later columns move up by one.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1, 3]), np.array([2, 0, 1]), np.array([5.0, 6.0, 7.0]))
    >>> with_given_label(rows, 1).indices
    array([3, 0, 2, 1, 3, 0, 1, 2])
    """
    n = len(rows.starts) - 1
    moved = rows.indices + (rows.indices >= column)
    row_of = np.repeat(np.arange(n), np.diff(rows.starts))
    at = rows.starts[:-1] + np.bincount(row_of[rows.indices < column], minlength=n)
    starts = np.concatenate([rows.starts[:-1], rows.starts[-1] + rows.starts + np.arange(n + 1)])
    indices = np.concatenate([moved, np.insert(moved, at, column)])
    return Rows(starts, indices, np.concatenate([rows.values, np.insert(rows.values, at, 1.0)]))


def contributions(said: Floats, assumed: Labels, votes: Floats, given: Ints, both: bool) -> tuple[Floats, Floats]:
    """Return the votes of BR-MARLENE on an example (labels × 2), and what every pair adds to its label (pairs × 2).

    Parameters
    ----------
    said
        P(label) of BR-MARLENE; NaN, no evidence, becomes (0, 0).
    assumed
        The predicted labels.
    votes
        P(0) and P(1) of every pair for both values of its given label (pairs × 2 × 2).
    given
        The given label of every pair.
    both
        Whether both values of the given label count, each by its probability, or only the predicted one.
    """
    own, added = np.zeros((len(said), 2)), np.zeros((len(given), 2))
    contribute(said, assumed, votes, given, both, own, added)
    return own, added
