"""The probabilities of River classifiers, as shares of False and True."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def shares(given: Mapping[Any, float]) -> tuple[float, float]:
    """Return the shares of False and True in the probabilities of a River classifier; both 0 without evidence.

    Examples
    --------
    >>> shares({True: 3.0, False: 1.0}), shares({True: 1.0}), shares({})
    ((0.25, 0.75), (0.0, 1.0), (0.0, 0.0))
    """
    negative, positive = float(given.get(False, 0.0)), float(given.get(True, 0.0))
    total = negative + positive
    return (negative / total, positive / total) if total > 0 else (0.0, 0.0)


def classifier_shares(classifier: Any, x: dict[Any, Any], **options: Any) -> tuple[float, float]:  # noqa: ANN401
    """Return the shares of False and True that a River classifier gives an example; both 0 without evidence.

    For a classifier without probabilities, the predicted class has the share 1.
    """
    try:
        return shares(classifier.predict_proba_one(x, **options))
    except NotImplementedError:
        value = classifier.predict_one(x, **options)
        return shares({} if value is None else {bool(value): 1.0})
