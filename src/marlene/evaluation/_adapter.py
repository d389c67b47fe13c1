"""Every model as one that takes blocks of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from river import base

from marlene._common.errors import MarleneError
from marlene._common.river import shares

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels
    from marlene.streams import Stream


@runtime_checkable
class ArrayLearner(Protocol):
    """What prequential evaluation asks of a model that takes arrays."""

    def test_then_train(self, X: Any, Y: Any) -> Floats:  # noqa: ANN401
        """Predict, then learn, row after row; return the probability of every label of every row."""
        ...

    def predict_proba_many(self, X: Any) -> Floats:  # noqa: ANN401
        """Return the probability of every label of every row."""
        ...

    def learn_many(self, X: Any, Y: Any) -> None:  # noqa: ANN401
        """Learn every row."""
        ...


@runtime_checkable
class Decider(Protocol):
    """A `ArrayLearner` that decides itself, and not by whether a probability is above 0.5."""

    def decide_then_train(self, X: Any, Y: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Predict, then learn, row after row; return the probability and the prediction of every label."""
        ...

    def decide_many(self, X: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Return the probability and the prediction of every label of every row."""
        ...


def tested(learner: ArrayLearner, X: Any, Y: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
    """Let a learner predict, then learn; return probabilities and predictions."""
    if isinstance(learner, Decider):
        return learner.decide_then_train(X, Y)
    probabilities = learner.test_then_train(X, Y)
    return probabilities, (probabilities > 0.5).astype(np.int8)


def decided(learner: ArrayLearner, X: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
    """Let a learner predict; return probabilities and predictions."""
    if isinstance(learner, Decider):
        return learner.decide_many(X)
    probabilities = learner.predict_proba_many(X)
    return probabilities, (probabilities > 0.5).astype(np.int8)


def as_block_learner(model: Any, stream: Stream) -> ArrayLearner:  # noqa: ANN401
    """Return the model itself if it takes blocks, else in a wrapper that hands it row after row."""
    multi_label = callable(getattr(model, "learn_one", None)) and callable(getattr(model, "predict_one", None))
    if isinstance(model, (type, base.Classifier)) or not multi_label:
        raise MarleneError(
            f"{model!r} is not a River-style multi-label model; BinaryRelevance makes one of a single-label classifier"
        )
    return model if isinstance(model, ArrayLearner) else RowsForRiver(model, stream.as_example, stream.labels)


class RowsForRiver:
    """A River-style model in the shape of a `ArrayLearner`.

    Parameters
    ----------
    model
        Has `learn_one` and `predict_proba_one` or at least `predict_one`, over dictionaries.
    as_dict
        Turns a row of the stream's `X` into the dictionary of an example.
    labels
        The stream's labels.
    """

    def __init__(self, model: Any, as_dict: Any, labels: tuple[str, ...]) -> None:  # noqa: ANN401
        self._model = model
        self._predict_proba = getattr(model, "predict_proba_one", _not_offered)
        self._as_dict = as_dict
        self._labels = labels

    def test_then_train(self, X: Any, Y: Any) -> Floats:  # noqa: ANN401
        """Predict, then learn, row after row."""
        probabilities = np.empty((len(Y), len(self._labels)))
        for row in range(len(Y)):
            x = self._as_dict(X[[row]])
            probabilities[row] = self._predict(x)
            self._learn(x, Y[row])
        return probabilities

    def predict_proba_many(self, X: Any) -> Floats:  # noqa: ANN401
        """Predict row after row."""
        return np.array([self._predict(self._as_dict(X[[row]])) for row in range(X.shape[0])])

    def learn_many(self, X: Any, Y: Any) -> None:  # noqa: ANN401
        """Learn row after row."""
        for row in range(len(Y)):
            self._learn(self._as_dict(X[[row]]), Y[row])

    def _predict(self, x: dict[str, Any]) -> list[float]:
        try:
            given = self._predict_proba(x) or {}
        except NotImplementedError:
            values = self._model.predict_one(x) or {}
            return [float(bool(values.get(label))) for label in self._labels]
        said = [shares(given.get(label) or {}) for label in self._labels]
        return [positive if negative or positive else 0.5 for negative, positive in said]

    def _learn(self, x: dict[str, Any], y: Labels) -> None:
        known = {label: bool(value) for label, value in zip(self._labels, y, strict=True) if value >= 0}
        self._model.learn_one(x, known)


def _not_offered(_x: dict[str, Any]) -> dict[str, Any]:
    raise NotImplementedError
