"""The true labels of examples, from dictionaries, frames and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.labels import UNKNOWN, as_labels

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Labels


def labels_of_dict(known: Sequence[Hashable], y: Mapping[Hashable, object]) -> tuple[list[Hashable], Labels]:
    """Return all labels, the known ones first, and one row of truth."""
    return _in_order(known, list(y), np.array([[_as_truth(*item) for item in y.items()]], np.int8))


def labels_of_block(known: Sequence[Hashable], Y: Any) -> tuple[list[Hashable], Labels]:  # noqa: ANN401 (array-like)
    """Return all labels, the known ones first, and the truth; columns of a frame are labels by name."""
    truth = as_labels(Y, "Y", wording=lambda row, column: f"Y, row {row}, column {column}")
    if hasattr(Y, "columns"):
        if len(set(Y.columns)) != len(Y.columns):
            raise MarleneError("Y has two columns of the same name")
        return _in_order(known, list(Y.columns), truth)
    labels = list(known or range(truth.shape[1]))
    if len(labels) != truth.shape[1]:
        raise MarleneError(f"Y has {truth.shape[1]} columns, but {len(labels)} labels are known")
    return labels, truth


def _in_order(known: Sequence[Hashable], labels: list[Hashable], truth: Labels) -> tuple[list[Hashable], Labels]:
    """Put columns in the order of the known labels, then the new ones; a label without a column is unknown."""
    places = {label: place for place, label in enumerate(known)}
    columns = [places.setdefault(label, len(places)) for label in labels]
    ordered = np.full((len(truth), len(places)), UNKNOWN, np.int8)
    ordered[:, columns] = truth
    return [*places], ordered


def _as_truth(label: Hashable, value: object) -> int:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return UNKNOWN
    if value not in (0, 1):
        raise MarleneError(f"label {label!r}: expected 0 or 1, found {value!r}")
    return int(bool(value))
