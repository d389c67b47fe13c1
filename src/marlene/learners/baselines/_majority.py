"""The simplest learner there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from river import base

from marlene._common.errors import MarleneError
from marlene._common.labels import as_labels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels


class Majority(base.MultiLabelClassifier):
    """Predict for every label the value it had most often so far; ties, and no evidence, give 0.

    The floor that every other learner has to rise above. Under the G-Means it scores 0 for each label whose
    minority class it never predicts.

    Examples
    --------
    >>> model = Majority()
    >>> model.learn_one({"x": 0.5}, {"urgent": True, "spam": False})
    >>> model.predict_one({"x": 0.1})
    {'urgent': True, 'spam': False}
    >>> model.predict_proba_one({"x": 0.1})["urgent"]
    {False: 0.0, True: 1.0}
    """

    def __init__(self) -> None:
        self._column: dict[Any, int] = {}
        self._positive = np.zeros(0, dtype=np.int64)
        self._seen = np.zeros(0, dtype=np.int64)

    def learn_one(self, x: dict[Any, Any], y: dict[Any, bool]) -> None:  # noqa: ARG002 (a learner's signature)
        """Count the labels of one example; one that is not in `y` is not known."""
        self._know(y)
        row = np.full((1, len(self._column)), -1, dtype=np.int8)
        for label, value in y.items():
            row[0, self._column[label]] = bool(value)
        self._count(row)

    def predict_proba_one(self, x: dict[Any, Any], **_: Any) -> dict[Any, dict[bool, float]]:  # noqa: ANN401, ARG002
        """Return how often each label was positive so far."""
        shares = self._shares().tolist()
        return {label: {False: 1 - shares[i], True: shares[i]} for label, i in self._column.items()}

    def predict_one(self, x: dict[Any, Any], **_: Any) -> dict[Any, bool]:  # noqa: ANN401
        """Return each label's most frequent value."""
        return {label: p[True] > 0.5 for label, p in self.predict_proba_one(x).items()}

    def learn_many(self, X: Any, Y: Any) -> None:  # noqa: ANN401 (array-likes)
        """Count the labels of many examples; the columns of `Y` are labels 0, 1, … or those known already."""
        self._count(self._checked(X, Y))

    def predict_proba_many(self, X: Any) -> Floats:  # noqa: ANN401
        """Return the share of positives, the same for every row of `X`."""
        return np.tile(self._shares(), (X.shape[0], 1))

    def predict_many(self, X: Any) -> Labels:  # noqa: ANN401
        """Return each label's most frequent value, for every row of `X`."""
        return (self.predict_proba_many(X) > 0.5).astype(np.int8)

    def test_then_train(self, X: Any, Y: Any) -> Floats:  # noqa: ANN401
        """Predict, then learn, one example after the other; return the predicted probabilities."""
        truth = self._checked(X, Y)
        positive = self._positive + np.cumsum(truth == 1, axis=0) - (truth == 1)
        seen = self._seen + np.cumsum(truth >= 0, axis=0) - (truth >= 0)
        self._count(truth)
        return _share(positive, seen)

    def counts(self) -> dict[str, int]:
        """Return the number of models and drifts, as every learner does."""
        return {"models": len(self._column), "drifts": 0}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything as a JSON header and named arrays (copies)."""
        labels = list(self._column)
        if not all(isinstance(label, str | int) for label in labels):
            raise MarleneError("a learner can be saved if its labels are texts or whole numbers")
        return {"labels": labels}, {"positive": self._positive.copy(), "seen": self._seen.copy()}

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the learner whose `state` this is."""
        model = cls()
        model._column = {label: column for column, label in enumerate(header["labels"])}
        model._positive, model._seen = (np.array(arrays[name], np.int64) for name in ("positive", "seen"))
        if not model._positive.shape == model._seen.shape == (len(model._column),):
            raise MarleneError("not the state of a majority learner, or damaged")
        return model

    def _checked(self, X: Any, Y: Any) -> Labels:  # noqa: ANN401
        truth = as_labels(Y, "Y")
        if X.shape[0] != len(truth):
            raise MarleneError(f"X has {X.shape[0]} rows and Y {len(truth)}")
        if not self._column:
            self._know(dict.fromkeys(range(truth.shape[1]), False))
        if truth.shape[1] != len(self._column):
            raise MarleneError(f"Y has {truth.shape[1]} columns, but {len(self._column)} labels are known")
        return truth

    def _know(self, y: dict[Any, bool]) -> None:
        for label in y:
            self._column.setdefault(label, len(self._column))
        missing = len(self._column) - len(self._seen)
        self._positive = np.pad(self._positive, (0, missing))
        self._seen = np.pad(self._seen, (0, missing))

    def _count(self, truth: Labels) -> None:
        self._positive = self._positive + (truth == 1).sum(axis=0)
        self._seen = self._seen + (truth >= 0).sum(axis=0)

    def _shares(self) -> Floats:
        return _share(self._positive, self._seen)


def _share(positive: Ints, seen: Ints) -> Floats:
    return np.where(seen > 0, positive / np.maximum(seen, 1), 0.5)
