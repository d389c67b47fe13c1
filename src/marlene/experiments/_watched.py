"""A wrapper that signals drifts to a learner and records its weights while an evaluation runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.evaluation._adapter import as_block_learner, decided, tested
from marlene.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from marlene._common.arrays import Floats, Labels


POINTS = 200


class Watched:
    """A wrapper around a learner, used by experiments. It has the learner's own methods and does two things more.

    Before given examples it calls `model.signal_drift` (for a learner that is told of drifts). After 200 examples,
    evenly spaced, it records `model.aswr()`, where the learner has it. The evaluation may cut the stream into blocks of
    any size: the wrapper cuts blocks further, at these examples.

    Parameters
    ----------
    model
        The learner.
    stream
        The target stream.
    drifts
        For every label, the examples (from 0) before which its drift is signalled.

    Examples
    --------
    >>> from marlene.learners import BRMarlene
    >>> from marlene.streams import synthetic_experiment
    >>> made = synthetic_experiment("AA", 50)
    >>> watched = Watched(BRMarlene(drift="oracle"), made.target, made.target.drifts)
    >>> watched.declare(made.target.features, made.target.labels)
    >>> watched.test_then_train(made.target.X, made.target.Y).shape
    (500, 5)
    >>> watched.model.concepts()["l2"], len(watched.aswr)
    ([250], 200)
    """

    def __init__(self, model: Any, stream: Stream, drifts: Mapping[str, Sequence[int]]) -> None:  # noqa: ANN401
        self.model = model
        self.aswr: list[tuple[int, float]] = []
        self._learner: Any = as_block_learner(model, stream)
        self._seen = 0
        self._drifting: dict[int, list[str]] = {}
        for label, times in drifts.items():
            for time in times:
                self._drifting.setdefault(time, []).append(label)
        known = isinstance(stream, Stream) and hasattr(model, "aswr")
        points = np.linspace(0, len(stream), POINTS + 1)[1:] if known else np.zeros(0)
        self._looks = {int(point) for point in points}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the learner has)
        """Return whatever else the learner has."""
        if name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    @property
    def gives_probabilities(self) -> bool:
        """Whether the learner predicts probabilities."""
        return bool(getattr(self._learner, "gives_probabilities", True))

    def test_then_train(self, X: Any, Y: Any) -> Floats:  # noqa: ANN401
        """Predict, then learn, row after row; return probabilities."""
        return self.decide_then_train(X, Y)[0]

    def decide_then_train(self, X: Any, Y: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Predict, then learn, row after row; return probabilities and predictions."""
        parts = [tested(self._learner, X[rows], Y[rows]) for rows in self._parts(len(Y))]
        probabilities, predictions = (np.concatenate(part) for part in zip(*parts, strict=True))
        return probabilities, predictions

    def decide_many(self, X: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Return the probability and the prediction of every label of every row."""
        return decided(self._learner, X)

    def predict_proba_many(self, X: Any) -> Floats:  # noqa: ANN401
        """Return the probability of every label of every row."""
        return np.asarray(self._learner.predict_proba_many(X))

    def learn_many(self, X: Any, Y: Any, stream: str | None = None) -> None:  # noqa: ANN401
        """Learn every row. Drifts and weights belong to the target, which has no stream name."""
        if stream is not None:
            self._learner.learn_many(X, Y, stream=stream)
            return
        for rows in self._parts(len(Y)):
            self._learner.learn_many(X[rows], Y[rows])

    def _parts(self, count: int) -> Iterator[slice]:
        """Cut the next `count` rows: signal drifts before a part, record weights after it."""
        first = self._seen
        due = sorted({*self._drifting, *self._looks, first + count})
        for end in due:
            if not first < end <= first + count:
                continue
            if self._seen in self._drifting:
                self.model.signal_drift(self._drifting[self._seen])
            begin = self._seen
            yield slice(begin - first, end - first)
            self._seen = end
            if end in self._looks:
                self.aswr.append((end, float(self.model.aswr())))
