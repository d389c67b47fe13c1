"""BR-MARLENE, and the same without transfer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from marlene._common.errors import MarleneError
from marlene.drift import make_bank
from marlene.kernels.ensemble.performance import NAMES
from marlene.learners._saved import SavedLearner
from marlene.learners.classifiers._bases import FOREST, base_of, make_base
from marlene.learners.input._features import FeatureSpace
from marlene.learners.input._space_state import restore_space, space_header, wanted_features
from marlene.learners.marlene._ensemble import Ensemble
from marlene.learners.marlene._state import ensemble_state, restore_ensemble

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    import river.base
    from river.base import Classifier as RiverClassifier

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.drift import DetectorBank
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._protocol import ClassifierBank
    from marlene.learners.marlene._tasks import StreamTasks

    RiverDetector = river.base.DriftDetector | river.base.BinaryDriftDetector

RESAMPLINGS = ("poisson", "expected")


class BRMarlene(SavedLearner):
    """BR-MARLENE: one sub-classifier per label and concept, all of which vote on every label (paper, section IV).

    Every label of every stream has a sub-classifier that learns it, and a detector that watches it. When the
    detector warns, a background classifier is trained beside; when it signals drift, that one takes over, and the old
    one stays in the ensemble. Every sub-classifier votes on every target label with a weight that says how well it
    has served that label lately, so that what was learnt of one label, concept or stream helps another. Rare
    classes are learnt with weights drawn from Poisson(λ), λ the ratio of the class sizes.

    Parameters
    ----------
    base
        What a sub-classifier is: "hoeffding-forest" (the paper's Hoeffding trees), "inheriting-forest" (whose leaves
        begin with what their parent knew), "naive-bayes", "linear", "mixed" (the two side by side), or an empty bank
        with other settings, such as ``HoeffdingForest([], grace_period=100)``, or any River classifier.
    drift
        "ddm-oci" (the paper's, in its strict form), "ddm", "adwin", "none", "oracle" (drifts are told by
        `signal_drift`), a bank of detectors, or a River detector.
    features
        "auto": a bool is binary, a text nominal, a number numeric, fixed when first seen; "numeric"; "binary": whether
        a number is non-zero; or a mapping from names to kinds. A `Stream` brings its own kinds.
    resampling
        "poisson" (the paper) or "expected": the nearest whole number to λ, without chance.
    seed
        What random numbers depend on: they are the same on any number of threads and after a restart.
    max_models
        How many sub-classifiers are kept at most (those that learn are always kept); the one with the least total
        weight goes first. None, as in the paper, keeps all.

    Examples
    --------
    >>> from marlene.streams import load
    >>> stream = load("yeast")
    >>> model = BRMarlene(seed=1)
    >>> model.learn_many(stream.X[:500], stream.Y[:500])
    >>> model.predict_many(stream.X[500:503]).shape
    (3, 14)
    >>> model.learn_one({"age": 3, "late": True}, {"refund": True}, stream="archive")
    Traceback (most recent call last):
        ...
    marlene._common.errors.MarleneError: source 'archive' has no feature in common with the streams before it
    """

    _transfer = True
    _method = "br-marlene"
    _objects = ("base", "drift")

    def __init__(
        self,
        base: str | ClassifierBank | RiverClassifier = FOREST,
        drift: str | DetectorBank | RiverDetector | None = "ddm-oci",
        features: str | Mapping[Hashable, str] = "auto",
        resampling: str = "poisson",
        seed: int = 1,
        max_models: int | None = None,
    ) -> None:
        self.base = base
        self.drift = drift
        self.features = features
        self.resampling = resampling
        self.seed = seed
        self.max_models = max_models
        if resampling not in RESAMPLINGS:
            raise MarleneError(f"resampling must be one of {', '.join(RESAMPLINGS)}, not {resampling!r}")
        if not isinstance(seed, int | np.integer):
            raise MarleneError(f"seed must be a whole number, not {seed!r}")
        if max_models is not None and max_models < 1:
            raise MarleneError(f"max_models must be at least 1, not {max_models}")
        self._space = FeatureSpace(features)
        self._ensemble = Ensemble(
            make_base(base),
            make_bank(drift),
            seed=seed,
            expected=resampling == "expected",
            max_models=max_models,
            transfer=self._transfer,
        )
        self._n_features = 0

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 1}

    def _labels(self, stream: str | None) -> list[Hashable]:
        tasks = self._ensemble.streams.get(stream)
        return tasks.labels if tasks else []

    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        widened = {c: n_values for c, n_values in self._space.take_widened().items() if c < self._n_features}
        self._add_features(widened, list(self._space.forest_kinds(self._n_features)))
        self._n_features = len(self._space)
        self._ensemble.add_labels(stream, labels)

    def _add_features(self, widened: Mapping[int, int], kinds: list[int | str]) -> None:
        for column, n_values in widened.items():
            self._ensemble.bank.widen(column, n_values)
        self._ensemble.add_features(kinds)

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        self._ensemble.run(self._ensemble.streams[stream], rows, truth, probabilities)

    def _predict(self, rows: Rows, probabilities: Floats) -> None:
        self._ensemble.predict(rows, probabilities)

    def _tasks(self, stream: str | None) -> StreamTasks:
        if stream not in self._ensemble.streams:
            raise MarleneError(f"there is no stream {stream!r}")
        return self._ensemble.streams[stream]

    def _target_task(self, label: Hashable) -> int:
        if label not in self._ensemble.target.column:
            raise MarleneError(f"there is no target label {label!r}")
        return self._ensemble.target.column[label]

    def signal_drift(self, labels: Sequence[Hashable], stream: str | None = None) -> None:
        """Let each of the labels begin a new concept now: an oracle's word instead of a detector's."""
        tasks = self._tasks(stream)
        for label in labels:
            if label not in tasks.column:
                raise MarleneError(f"there is no label {label!r} in {'the target' if stream is None else repr(stream)}")
        for label in labels:
            self._ensemble.signal_drift(tasks, tasks.column[label])

    def aswr(self) -> float:
        """Return the average source weight ratio: the weight of other labels and streams (paper, VII-C)."""
        ratios = self.swr()
        return float(np.mean(list(ratios.values()))) if ratios else 0.0

    def swr(self) -> dict[Hashable, float]:
        """Return for every target label the share of the weight of what was not trained on it; 0 without weight."""
        ratios = {}
        for label, weights in self._weights().items():
            total = sum(weights.values())
            own = sum(weight for h, weight in weights.items() if self._is_own(h, label))
            ratios[label] = (total - own) / total if total > 0 else 0.0
        return ratios

    def _weights(self) -> dict[Hashable, dict[int, float]]:
        alpha = self._ensemble.judged()[:, 0]
        active = self._ensemble.active.tolist()
        return {label: {h: float(alpha[q, h]) for h in active} for q, label in enumerate(self._ensemble.target.labels)}

    def _is_own(self, h: int, label: Hashable) -> bool:
        origin = self._ensemble.origins[h]
        return origin is not None and origin.stream is None and origin.label == label

    def explain(self, label: Hashable) -> list[dict[str, Any]]:
        """Return which sub-classifiers carry the vote on a target label, the heaviest first.

        Each comes with its stream (None: the target), label, concept number from 0, weight, share of all weight,
        positive and negative predictive value.
        """
        return self._ensemble.explain(self._target_task(label))

    def transfer_matrix(self) -> dict[Hashable, dict[tuple[str | None, Hashable], float]]:
        """Return for every target label the share of its weight that each (stream, label) has."""
        matrix: dict[Hashable, dict[tuple[str | None, Hashable], float]] = {}
        for label, weights in self._weights().items():
            total = sum(weights.values())
            row: dict[tuple[str | None, Hashable], float] = {}
            for h, weight in weights.items():
                origin = self._ensemble.origins[h]
                if origin is not None:
                    source = (origin.stream, origin.label)
                    row[source] = row.get(source, 0.0) + (weight / total if total > 0 else 0.0)
            matrix[label] = row
        return matrix

    def concepts(self, stream: str | None = None) -> dict[Hashable, list[int]]:
        """Return for every label of a stream the numbers of the examples at which it drifted."""
        tasks = self._tasks(stream)
        times: dict[Hashable, list[int]] = {label: [] for label in tasks.labels}
        for time, task in tasks.drifts:
            times[tasks.labels[task]].append(time)
        return times

    def records(self, label: Hashable) -> dict[str, Floats]:
        """Return the performance records of a target label: TP, FP, TN, FN, SC, SW and α of every sub-classifier."""
        task = self._target_task(label)
        active = self._ensemble.active
        records, judged = self._ensemble.records[task], self._ensemble.judged()[task]
        return {name: records[column, active] for column, name in enumerate(NAMES)} | {"alpha": judged[0, active]}

    def counts(self) -> dict[str, int]:
        """Return the number of sub-classifiers, and of drifts in all streams."""
        drifts = sum(len(tasks.drifts) for tasks in self._ensemble.streams.values())
        return {"models": len(self._ensemble.active), "drifts": drifts}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything, parameters included, as a JSON header and named arrays (copies)."""
        header, arrays = ensemble_state(self._ensemble)
        header["parameters"] = self._parameters()
        return header | {"method": self._method, "space": space_header(self._space)}, arrays

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters that JSON can hold."""
        return {
            "features": wanted_features(self.features),
            "resampling": self.resampling,
            "seed": int(self.seed),
            "max_models": None if self.max_models is None else int(self.max_models),
        }

    @classmethod
    def _from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        if header["method"] != cls._method:
            raise MarleneError(f"the state of method {header['method']!r}, expected {cls._method!r}")
        parameters = dict(header["parameters"])
        if not isinstance(parameters["features"], str):
            parameters["features"] = dict(parameters["features"])
        base = base_of(header["bank"], header["forest"])
        model = cls(base=base, drift=_drift_of(header["detectors"]), **parameters)
        restore_space(model._space, header["space"])
        model._restore(header, arrays)
        return model

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        restore_ensemble(self._ensemble, header, arrays)
        forest: Any = self._ensemble.bank
        if forest.kinds.tolist() != self._space.forest_kinds():
            raise MarleneError("not the state of a learner, or damaged: the kinds of the features")
        self._n_features = len(self._space)

    def load_kernels(self) -> None:
        """Compile the kernels, or load them from the cache, before they are needed."""
        trial = self.clone()
        trial.test_then_train(np.zeros((2, 1)), np.array([[0, 1], [1, 0]]))
        trial.predict_proba_many(np.zeros((1, 1)))
        trial.signal_drift([0])
        trial.explain(0)
        trial._ensemble.driver.load_kernels()  # noqa: SLF001 (of the same class)


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


def _drift_of(settings: Mapping[str, Any]) -> str | DetectorBank:
    """Return the parameter `drift` that leads to a bank of these settings, its name if they are the defaults."""
    bank = make_bank(settings)
    return bank.name if make_bank(bank.name).settings() == bank.settings() else bank
