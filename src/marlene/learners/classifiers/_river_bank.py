"""Any River classifier as a bank of classifiers."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.river import classifier_shares

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy.typing as npt
    from river import base

    from marlene._common.arrays import Floats, Ints


class RiverClassifierBank:
    """Clones of a River classifier, known by their ids.

    An example is a dictionary from column numbers to values, zeros included. Missing values are left out, as usual in
    River; a nominal value is its code. A classifier that takes a weight (`w`) is given it; any other learns the example
    as many times. The bank calls Python objects one by one and cannot be saved as arrays.

    Parameters
    ----------
    classifier
        Every member of the bank is an untrained clone of it.

    Examples
    --------
    >>> from river import naive_bayes
    >>> bank = RiverClassifierBank(naive_bayes.GaussianNB())
    >>> ids = bank.add(2)
    >>> for value, truth in [(0.1, 0), (0.9, 1), (0.2, 0), (0.8, 1)]:
    ...     bank.learn(ids[:1], np.array([value]), [truth], [1])
    >>> bank.votes(np.array([0.85])).round(3)  # the second is untrained
    array([[0., 1.],
           [0., 0.]])
    """

    def __init__(self, classifier: base.Classifier) -> None:
        self._prototype = classifier.clone()
        self._weighted = "w" in inspect.signature(classifier.learn_one).parameters
        self._models: dict[int, base.Classifier] = {}

    def __repr__(self) -> str:
        return f"<RiverClassifierBank of {len(self._models)} {type(self._prototype).__name__}>"

    def add(self, count: int = 1) -> Ints:
        """Add untrained classifiers and return their ids, the lowest free ones."""
        free = [i for i in range(len(self._models) + count) if i not in self._models][:count]
        self._models |= {i: self._prototype.clone() for i in free}
        return np.array(free, np.int64)

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove classifiers; their ids become free."""
        for i in np.asarray(ids).tolist():
            del self._models[i]

    def add_features(self, kinds: list[int | str]) -> None:
        """Do nothing: River's classifiers take any features."""

    def widen(self, feature: int, n_values: int) -> None:
        """Do nothing: River's classifiers take any values."""

    def votes(self, x: Any, ids: npt.ArrayLike | None = None) -> Floats:  # noqa: ANN401 (array-like)
        """Return the votes (classifiers × 2) on a dense row; each sums to 1, or to 0 without evidence."""
        chosen = sorted(self._models) if ids is None else np.asarray(ids).tolist()
        example = _example(x)
        return np.array([classifier_shares(self._models[i], example) for i in chosen]).reshape(-1, 2)

    def learn(self, ids: npt.ArrayLike, x: Any, y: npt.ArrayLike, weights: npt.ArrayLike = 1) -> None:  # noqa: ANN401
        """Train classifiers on a dense row, with a class and a weight for each."""
        chosen, example = np.asarray(ids), _example(x)
        classes, times = np.broadcast_to(y, chosen.shape), np.broadcast_to(weights, chosen.shape)
        for i, truth, weight in zip(chosen.tolist(), classes.tolist(), times.tolist(), strict=True):
            if self._weighted and weight > 0:
                self._models[i].learn_one(example, bool(truth), w=weight)  # type: ignore[call-arg]
            elif not self._weighted:
                for _ in range(weight):
                    self._models[i].learn_one(example, bool(truth))

    def clone(self) -> RiverClassifierBank:
        """Return an empty bank of the same classifiers."""
        return RiverClassifierBank(self._prototype)


def _example(x: Any) -> dict[Hashable, Any]:  # noqa: ANN401
    return {column: value for column, value in enumerate(np.asarray(x).ravel().tolist()) if not math.isnan(value)}
