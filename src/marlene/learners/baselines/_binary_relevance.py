"""Binary relevance over any River classifier."""

from __future__ import annotations

from typing import Any

from river import base

from marlene._common.alone import OneAtATime
from marlene._common.river import classifier_shares


class BinaryRelevance(OneAtATime, base.Wrapper[base.Classifier], base.MultiLabelClassifier):
    """One copy of a River classifier per label. None of them sees the other labels.

    Parameters
    ----------
    classifier
        Any River classifier; a label gets an untrained copy when it first appears.

    Examples
    --------
    >>> from river import naive_bayes
    >>> model = BinaryRelevance(naive_bayes.GaussianNB())
    >>> for x, y in [(0.1, False), (0.9, True), (0.2, False), (0.8, True)]:
    ...     model.learn_one({"x": x}, {"big": y})
    >>> model.predict_one({"x": 0.7})
    {'big': True}
    """

    def __init__(self, classifier: base.Classifier) -> None:
        self.classifier = classifier
        self._of_label: dict[Any, base.Classifier] = {}

    @property
    def _wrapped_model(self) -> base.Classifier:
        return self.classifier

    @classmethod
    def _unit_test_params(cls) -> Any:  # noqa: ANN401 (River asks for a generator of keyword arguments)
        from river import naive_bayes  # noqa: PLC0415 (only for River's checks)

        yield {"classifier": naive_bayes.GaussianNB()}  # type: ignore[no-untyped-call]

    def learn_one(self, x: dict[Any, Any], y: dict[Any, bool], **options: Any) -> None:  # noqa: ANN401
        """Train the classifier of every label in `y`; a label that is not in `y` is unknown.

        Further arguments are passed to the classifier.
        """
        for label, value in y.items():
            if label not in self._of_label:
                self._of_label[label] = self.classifier.clone()
            self._of_label[label].learn_one(x, bool(value), **options)

    def predict_proba_one(self, x: dict[Any, Any], **options: Any) -> dict[Any, dict[bool, float]]:  # noqa: ANN401
        """Return every label's probabilities; 0.5 without evidence."""
        said = {label: classifier_shares(model, x, **options) for label, model in self._of_label.items()}
        return {
            label: {False: no, True: yes} if no or yes else {False: 0.5, True: 0.5} for label, (no, yes) in said.items()
        }

    def predict_one(self, x: dict[Any, Any], **options: Any) -> dict[Any, bool]:  # noqa: ANN401
        """Return every label's more probable value."""
        return {label: p[True] > p[False] for label, p in self.predict_proba_one(x, **options).items()}

    def counts(self) -> dict[str, int]:
        """Return the number of models and drifts, as every learner does."""
        return {"models": len(self._of_label), "drifts": 0}
