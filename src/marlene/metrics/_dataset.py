"""How multi-label and how imbalanced a label matrix is (section VI-A of the paper).

Every function takes labels (examples × labels) of 0 and 1. Labels that are not known (-1 or NaN) do not count: the
paper divides by the size of the matrix, these functions by the number of known labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.labels import as_labels

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Floats, Ints, Labels


def label_density(Y: npt.ArrayLike) -> float:
    """Return LDen, the share of labels that are positive.

    Examples
    --------
    >>> label_density([[1, 0, 0, 0], [1, 1, 0, 0]])
    0.375
    """
    labels = _known(Y)
    return float((labels == 1).sum() / (labels >= 0).sum())


def label_cardinality(Y: npt.ArrayLike) -> float:
    """Return LCard, the mean number of positive labels per example (of those with a known label).

    Examples
    --------
    >>> label_cardinality([[1, 0, 0, 0], [1, 1, 0, 0]])
    1.5
    """
    labels = _known(Y)
    return float((labels == 1).sum() / (labels >= 0).any(axis=1).sum())


def label_imbalance_rate(Y: npt.ArrayLike) -> float:
    """Return LIR, the share of examples in the minority class of a label, over all labels.

    One half is balance; the lower, the more imbalanced. Equal to `label_density` if every label's minority is positive.

    Examples
    --------
    >>> label_imbalance_rate([[1, 0, 0, 0], [1, 1, 0, 0]])
    0.125
    """
    return _minority_share(_known(Y), axis=0)


def label_set_imbalance_rate(Y: npt.ArrayLike) -> float:
    """Return LSIR, the share of labels in the minority class of their example, over all examples.

    Equal to `label_density` if every example's minority is positive.

    Examples
    --------
    >>> label_set_imbalance_rate([[1, 0, 0, 0], [1, 1, 1, 0]])
    0.25
    """
    return _minority_share(_known(Y), axis=1)


def positive_shares(Y: npt.ArrayLike) -> Floats:
    """Return for every label the share of examples in which it is positive; NaN if it is never known.

    Examples
    --------
    >>> positive_shares([[1, 0, -1], [1, 1, -1]])
    array([1. , 0.5, nan])
    """
    labels = _known(Y)
    known = (labels >= 0).sum(axis=0)
    shares = np.full(labels.shape[1], np.nan)
    np.divide((labels == 1).sum(axis=0), known, out=shares, where=known > 0)
    return shares


def co_occurrence(Y: npt.ArrayLike) -> Ints:
    """Return for every pair of labels the number of examples in which both are positive.

    The diagonal holds the number of positive examples of each label.

    Examples
    --------
    >>> co_occurrence([[1, 0, 0], [1, 1, 0], [0, 1, 0]])
    array([[2, 1, 0],
           [1, 2, 0],
           [0, 0, 0]])
    """
    # Of floats, because their product is a fast BLAS call and exact here.
    positive = (_known(Y) == 1).astype(np.float64)
    pairs: Floats = positive.T @ positive
    return pairs.astype(np.int64)


def _known(Y: npt.ArrayLike) -> Labels:
    labels = as_labels(Y, "Y")
    if not (labels >= 0).any():
        raise MarleneError(f"Y of shape {labels.shape} holds no known label")
    return labels


def _minority_share(labels: Labels, axis: int) -> float:
    positive = (labels == 1).sum(axis=axis)
    negative = (labels == 0).sum(axis=axis)
    return float(np.minimum(positive, negative).sum() / (positive + negative).sum())
