"""One interface for all models: blocks of rows in, probabilities and predictions out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from river import base

from marlene._common.errors import MarleneError
from marlene._common.river import shares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marlene._common.arrays import Floats, Labels
    from marlene.streams import LazyStream, Stream


BLOCK_METHODS = ("test_then_train", "predict_proba_many", "learn_many")
"""Methods of a model that takes arrays, a row per example.

`test_then_train(X, Y)` predicts and then learns, row after row, and returns the probability of every label of every
row; `predict_proba_many(X)` only predicts; `learn_many(X, Y)` only learns.
"""


def tested(learner: Any, X: Any, Y: Any) -> tuple[Floats, Labels]:  # noqa: ANN401 (a model that takes arrays)
    """Let a learner predict, then learn; return probabilities and predictions.

    A learner with its own decision rule has the methods `decide_then_train` and `decide_many`, which return both. For
    others, a label is predicted if its probability is above 0.5.
    """
    if hasattr(learner, "decide_then_train"):
        return learner.decide_then_train(X, Y)  # type: ignore[no-any-return]
    return _above_half(learner.test_then_train(X, Y))


def decided(learner: Any, X: Any) -> tuple[Floats, Labels]:  # noqa: ANN401 (a model that takes arrays)
    """Let a learner predict; return probabilities and predictions, as `tested` does."""
    if hasattr(learner, "decide_many"):
        return learner.decide_many(X)  # type: ignore[no-any-return]
    return _above_half(learner.predict_proba_many(X))


def _above_half(probabilities: Floats) -> tuple[Floats, Labels]:
    return probabilities, (probabilities > 0.5).astype(np.int8)


def as_block_learner(model: Any, stream: Stream | LazyStream) -> Any:  # noqa: ANN401
    """Return the model itself if it takes blocks, else a wrapper that passes it row after row."""
    if not isinstance(model, type) and all(hasattr(model, name) for name in BLOCK_METHODS):
        return model
    multi_label = callable(getattr(model, "learn_one", None)) and callable(getattr(model, "predict_one", None))
    if isinstance(model, (type, base.Classifier)) or not multi_label:
        raise MarleneError(
            f"{model!r} is not a River-style multi-label model; BinaryRelevance makes one of a single-label classifier"
        )
    return RowsForRiver(model, stream)


class RowsForRiver:
    """A River-style model with the methods of one that takes arrays.

    Parameters
    ----------
    model
        Has `learn_one` and `predict_proba_one` or at least `predict_one`, over dictionaries.
    stream
        The stream whose rows and labels become dictionaries.

    Attributes
    ----------
    gives_probabilities
        False if the model only tells what it predicts; its probabilities are then 0 and 1.
    """

    def __init__(self, model: Any, stream: Stream | LazyStream) -> None:  # noqa: ANN401
        self._model = model
        self._predict_proba = getattr(model, "predict_proba_one", _not_offered)
        self.gives_probabilities = True
        self._stream = stream

    def test_then_train(self, X: Any, Y: Any) -> Floats:  # noqa: ANN401
        """Predict, then learn, row after row."""
        probabilities = np.empty((len(Y), len(self._stream.labels)))
        for row, x in enumerate(self._examples(X)):
            probabilities[row] = self._predict(x)
            self._learn(x, Y[row])
        return probabilities

    def predict_proba_many(self, X: Any) -> Floats:  # noqa: ANN401
        """Predict row after row."""
        return np.array([self._predict(x) for x in self._examples(X)])

    def learn_many(self, X: Any, Y: Any) -> None:  # noqa: ANN401
        """Learn row after row."""
        for x, y in zip(self._examples(X), Y, strict=True):
            self._learn(x, y)

    def _examples(self, X: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
        return (self._stream.as_example(X[[row]]) for row in range(X.shape[0]))

    def _predict(self, x: dict[str, Any]) -> list[float]:
        try:
            given = self._predict_proba(x) or {}
        except NotImplementedError:
            self.gives_probabilities = False
            values = self._model.predict_one(x) or {}
            return [float(bool(values.get(label))) for label in self._stream.labels]
        said = [shares(given.get(label) or {}) for label in self._stream.labels]
        return [positive if negative or positive else 0.5 for negative, positive in said]

    def _learn(self, x: dict[str, Any], y: Labels) -> None:
        known = {label: bool(value) for label, value in zip(self._stream.labels, y, strict=True) if value >= 0}
        self._model.learn_one(x, known)


def _not_offered(_x: dict[str, Any]) -> dict[str, Any]:
    raise NotImplementedError
