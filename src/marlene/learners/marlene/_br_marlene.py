"""BR-MARLENE, and the same without transfer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from marlene.drift import make_bank
from marlene.learners.classifiers._bases import FOREST, base_of, make_base
from marlene.learners.marlene._ensemble import Ensemble
from marlene.learners.marlene._ensemble_learner import EnsembleLearner

if TYPE_CHECKING:
    from river.base import Classifier as RiverClassifier

    from marlene._common.arrays import Floats, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._protocol import ClassifierBank


@dataclass(eq=False, repr=False)
class BRMarlene(EnsembleLearner):
    """BR-MARLENE: one sub-classifier per label and concept, all of which vote on every label (paper, section IV).

    Every label of every stream has a sub-classifier that learns it, and a detector that watches it. When the detector
    warns, a background classifier starts to learn; when it signals drift, the background classifier takes over, and the
    old one stays in the ensemble. Every sub-classifier votes on every target label, with a weight that says how well it
    has served that label: one label, concept or stream helps another. An example of the rarer class is learnt with a
    weight drawn from Poisson(λ), λ the ratio of the class sizes.

    Parameters
    ----------
    base
        The base classifier: "hoeffding-forest" (the paper's Hoeffding trees), "inheriting-forest" (new leaves inherit
        from their parent), "naive-bayes", "linear", "mixed" (the last two side by side); an empty bank with other
        settings, such as ``HoeffdingForest([], grace_period=100)``; or any River classifier.
    drift
        "balanced" (ours, the default), "ddm-oci" (the paper's, in its strict form), "ddm", "adwin", "none", "oracle"
        (drifts are told by `signal_drift`), a bank of detectors, or a River detector.
    features
        "auto": a bool is binary, a number numeric, a text of four words or more is text, a date is a date, any other
        text nominal, decided at the first value; "numeric"; "binary": whether a number is non-zero; or a mapping from
        names to kinds, such as ``{"subject": "text", "created": "date"}``. A `Stream` brings its own kinds.
    resampling
        "poisson" (the paper), or "expected": the nearest whole number to λ, not drawn.
    seed
        The seed of the random numbers; they are the same on any number of threads and after a restart.
    max_models
        The largest number of sub-classifiers. Those that still learn always stay; of the others the one with the least
        total weight goes first. None, as in the paper, keeps all.
    retired
        On which labels a sub-classifier votes that no longer learns: "better" (ours): those on which it has more weight
        than the label's latest sub-classifier; "all" (the paper). None: "better" with the balanced detector, which is
        ours too, otherwise "all".
    absent
        What a known label is of which an example says nothing (absent, None or NaN): "unknown" or "false". A set or
        list of labels that are true says it of all.
    max_labels
        The largest number of labels, of all streams together; an example with a further one is refused.
    max_features
        The largest number of features, counting the values of nominal ones; further ones are left out.

    Examples
    --------
    >>> from marlene.streams import load
    >>> stream = load("yeast")
    >>> model = BRMarlene(seed=1)
    >>> model.learn_many(stream.X[:500], stream.Y[:500])
    >>> model.predict_many(stream.X[500:503]).shape
    (3, 14)
    """

    _transfer = True
    _method = "br-marlene"

    base: str | ClassifierBank | RiverClassifier = FOREST

    def __post_init__(self) -> None:
        super().__post_init__()
        self._ensembles = [Ensemble(make_base(self.base), make_bank(self.drift), self._settings, self._transfer)]

    @classmethod
    def _base_of(cls, saved: list[tuple[str, dict[str, Any]]]) -> str | ClassifierBank:
        return base_of(*saved[0])

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        self._ensemble.learn(self._ensemble.streams[stream], rows, truth, probabilities)
        self._growth.see_models(self._ensemble, self.max_models)

    def _predict(self, rows: Rows, probabilities: Floats) -> None:
        self._ensemble.predict(rows, probabilities)


class BRResampled(BRMarlene):
    """BR-MARLENE without transfer: each label is predicted by its own latest sub-classifier alone.

    Base classifiers, detectors and resampling are the same, so that the difference is what transfer is worth.

    Examples
    --------
    >>> model = BRResampled(features="numeric")
    >>> for i in range(100):
    ...     model.learn_one({"x": i % 10}, {"big": i % 10 > 4})
    >>> model.predict_one({"x": 9}), model.predict_one({"x": 1})
    ({'big': True}, {'big': False})
    """

    _transfer = False
    _method = "br-resampled"
