"""The simplest learner: the most frequent value of every label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from river import base

from marlene._common.alone import OneAtATime
from marlene._common.errors import MarleneError
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import MOST_COUNTED, plain
from marlene.learners._whole import Undivided
from marlene.learners.input._frames import like_input
from marlene.learners.input._labels import labels_of_block, labels_of_example

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels

LAYOUT = Layout(
    "the counts of a majority",
    {
        "positive": Field("int64", ("labels",), "how often each label was true", least=0),
        "seen": Field("int64", ("labels",), "how often it was known", least=0, most=MOST_COUNTED),
    },
    (Rule("no label was true more often than known", lambda a, _: (a["positive"] <= a["seen"]).all()),),
)


class Majority(OneAtATime, base.MultiLabelClassifier):
    """Predict for every label its most frequent value so far; 0 for a tie or without evidence.

    Every other learner should be better. Its G-Mean is 0 for each label whose minority class it never predicts.

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
        self._learnt = 0
        self._labels: list[Hashable] = []
        self._positive = np.zeros(0, dtype=np.int64)
        self._seen = np.zeros(0, dtype=np.int64)

    def learn_one(self, x: dict[Any, Any], y: dict[Any, bool]) -> None:  # noqa: ARG002 (a learner's signature)
        """Count the labels of one example, a dictionary or a set of those that are true."""
        self._count(*labels_of_example(self._labels, y))

    def predict_proba_one(self, x: dict[Any, Any], **_: Any) -> dict[Any, dict[bool, float]]:  # noqa: ANN401, ARG002
        """Return the share of positives of each label so far."""
        shares = _share(self._positive, self._seen).tolist()
        return {label: {False: 1 - share, True: share} for label, share in zip(self._labels, shares, strict=True)}

    def predict_one(self, x: dict[Any, Any], **_: Any) -> dict[Any, bool]:  # noqa: ANN401
        """Return each label's most frequent value."""
        return {label: p[True] > 0.5 for label, p in self.predict_proba_one(x).items()}

    def learn_many(self, X: Any, Y: Any) -> None:  # noqa: ANN401 (array-likes)
        """Count the labels of many examples; columns of a frame are labels by name, others by position."""
        self._count(*self._checked(X, Y))

    def decide_many(self, X: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Return the share of positives and each label's most frequent value, the same for every row of `X`."""
        shares = np.tile(_share(self._positive, self._seen), (X.shape[0], 1))
        return shares, (shares > 0.5).astype(np.int8)

    def predict_proba_many(self, X: Any) -> Any:  # noqa: ANN401 (an array or a frame)
        """Return the first part of `decide_many`; for a frame as a frame with its index."""
        return like_input(X, self.decide_many(X)[0], self._labels)

    def predict_many(self, X: Any) -> Any:  # noqa: ANN401 (an array or a frame)
        """Return the second part of `decide_many`; for a frame as a frame with its index."""
        return like_input(X, self.decide_many(X)[1], self._labels)

    def test_then_train(self, X: Any, Y: Any) -> Floats:  # noqa: ANN401
        """Predict, then learn, one example after the other; return the predicted probabilities."""
        labels, truth = self._checked(X, Y)
        self._count(labels, truth[:0])
        positive = self._positive + np.cumsum(truth == 1, axis=0) - (truth == 1)
        seen = self._seen + np.cumsum(truth >= 0, axis=0) - (truth >= 0)
        self._count(labels, truth)
        return _share(positive, seen)

    def counts(self) -> dict[str, int]:
        """Return the number of models and drifts, as every learner does."""
        return {"models": len(self._labels), "drifts": 0}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything as a JSON header and named arrays (copies)."""
        labels = [plain(label) for label in self._labels]
        return {"labels": labels}, {"positive": self._positive.copy(), "seen": self._seen.copy()}

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the learner whose `state` this is."""
        model = cls()
        model._restore(header, arrays)
        return model

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Take over the labels and counts of a state."""
        self._labels = list(header["labels"])
        self._positive, self._seen = LAYOUT.checked(arrays, labels=len(self._labels)).values()

    def _checked(self, X: Any, Y: Any) -> tuple[list[Hashable], Labels]:  # noqa: ANN401
        labels, truth = labels_of_block(self._labels, Y)
        if X.shape[0] != len(truth):
            raise MarleneError(f"X has {X.shape[0]} rows, but Y has {len(truth)}")
        return labels, truth

    def _count(self, labels: list[Hashable], truth: Labels) -> None:
        """Count known labels and new ones."""
        new = np.zeros(len(labels) - len(self._labels), np.int64)
        positive = np.append(self._positive, new) + (truth == 1).sum(axis=0)
        seen = np.append(self._seen, new) + (truth >= 0).sum(axis=0)
        with Undivided():
            self._labels, self._positive, self._seen = labels, positive, seen
            self._learnt += len(truth)


def _share(positive: Ints, seen: Ints) -> Floats:
    return np.where(seen > 0, positive / np.maximum(seen, 1), 0.5)
