"""Examples of one part of a stream after those of another; and a checksum of all so far."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from marlene._common.labels import UNKNOWN

if TYPE_CHECKING:
    from marlene._common.arrays import Labels
    from marlene.streams import Stream
    from marlene.streams._matrix import Matrix


class RunningDigest:
    """A checksum of examples that does not depend on how they are cut into blocks."""

    def __init__(self) -> None:
        self._digests = [hashlib.sha256() for _ in range(4)]

    def update(self, X: Matrix, Y: Labels) -> None:
        """Add the next examples."""
        parts = (X.data, X.indices.astype(np.int64), np.diff(X.indptr)) if isinstance(X, sp.csr_array) else (X,)
        for digest, array in zip(self._digests, (Y, *parts), strict=False):
            digest.update(np.ascontiguousarray(array).data)

    def digest(self) -> str:
        """Return the checksum of all examples so far."""
        return hashlib.sha256(b"".join(digest.digest() for digest in self._digests)).hexdigest()


def after(before: Stream, part: Stream) -> Stream:
    """Return the examples of two parts of a stream, with the features and labels of the second.

    An example of the first part has no words that came later; in dense parts, what came later is missing.
    """
    return replace(
        part,
        X=_stacked(_aligned(before, part), part.X),
        Y=np.concatenate([_more_labels(before.Y, part.Y.shape[1]), part.Y]),
        clock=None,
    )


def _aligned(before: Stream, part: Stream) -> Matrix:
    if before.features == part.features:
        return before.X
    place = {feature.name: i for i, feature in enumerate(part.features)}
    columns = np.array([place[feature.name] for feature in before.features], np.int64)
    if isinstance(before.X, np.ndarray):
        X = np.full((len(before), len(part.features)), np.nan)
        X[:, columns] = before.X
        return X
    moved = sp.csr_array(
        (before.X.data, columns[before.X.indices], before.X.indptr), shape=(len(before), len(part.features))
    )
    moved.sort_indices()
    return moved


def _more_labels(Y: Labels, count: int) -> Labels:
    return np.pad(Y, ((0, 0), (0, count - Y.shape[1])), constant_values=UNKNOWN)


def _stacked(above: Matrix, below: Matrix) -> Matrix:
    if isinstance(above, np.ndarray) and isinstance(below, np.ndarray):
        return np.concatenate([above, below])
    return sp.csr_array(sp.vstack([sp.csr_array(above), sp.csr_array(below)]))
