"""The learner to reach for: naive Bayes and linear classifiers, transfer behind a gate, thresholds learnt online."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import arrays_under, require
from marlene.banks import KINDS, InputBank, MixedBank
from marlene.drift import make_bank
from marlene.kernels.ensemble.performance import NAMES
from marlene.learners.input._space_state import restore_space, space_header
from marlene.learners.marlene._blended import BlendedVotes
from marlene.learners.marlene._br_marlene import BRMarlene
from marlene.learners.marlene._gated_ensemble import TRANSFER, GatedEnsemble
from marlene.learners.marlene._state import ensemble_state, restore_ensemble
from marlene.learners.marlene._thresholds import DecisionThresholds

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    import river.base

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.drift import DetectorBank
    from marlene.kernels.rows import Rows

    RiverDetector = river.base.DriftDetector | river.base.BinaryDriftDetector

MIXED = MixedBank.name


class Marlene(BRMarlene):
    """MARLENE with simple sub-classifiers, a gate on transfer, and decisions made for what the user wants.

    As in `BRMarlene`, every label of every stream has sub-classifiers, one per concept, watched by a detector, and all
    are judged on every target label. What is different:

    - a sub-classifier is naive Bayes, which learns fast, beside logistic regression, which ends up better; each kind is
      an ensemble with detectors of its own, and the one that has come closer to the truth of a label counts more;
    - a sub-classifier of another label or stream votes on a label only while it serves that label clearly better than
      all of the label's own do;
    - after a drift the old sub-classifiers go on voting until they prove worse;
    - `predict_one` and `predict_many` compare P(label) with thresholds that are learnt online for an objective, not
      with 0.5; `predict_proba_one` and `predict_proba_many` return P(label) as it is, both classes being equally likely
      before anything is known of an example.

    Work follows the non-zeros of an example.

    Parameters
    ----------
    base
        "mixed" (both kinds), "naive-bayes", "linear", or an empty bank, or several, with other settings, such as
        ``NaiveBayesBank(smoothing=1)``, or a `MixedBank`.
    drift, features, resampling, seed, max_models
        As for `BRMarlene`; `max_models` holds for each kind of sub-classifier.
    transfer
        "gated", as described; "own": a label's own sub-classifiers vote alone; "full": all vote, as in the paper.
    objective
        What predictions are to be good at: "macro", "micro" or "label-set" (G-Means), "mix" (all three), "f1", "none"
        (thresholds stay at 0.5), or costs, such as ``{"false_positive": 1, "false_negative": 5}``.

    Examples
    --------
    >>> from marlene.streams import load
    >>> stream = load("yeast")
    >>> model = Marlene(seed=1)
    >>> model.learn_many(stream.X[:500], stream.Y[:500])
    >>> model.predict_many(stream.X[500:503]).shape
    (3, 14)
    >>> cautious = Marlene(objective={"false_positive": 10, "false_negative": 1})
    >>> cautious.learn_many(stream.X[:500], stream.Y[:500])
    >>> bool(cautious.predict_many(stream.X[500:]).sum() < model.predict_many(stream.X[500:]).sum())
    True
    """

    _method = "marlene"

    def __init__(
        self,
        base: str | InputBank | MixedBank | Sequence[InputBank] = MIXED,
        drift: str | DetectorBank | RiverDetector | None = "ddm-oci",
        features: str | Mapping[Hashable, str] = "auto",
        resampling: str = "poisson",
        seed: int = 1,
        max_models: int | None = None,
        transfer: str = "gated",
        objective: str | Mapping[str, float] = "mix",
    ) -> None:
        super().__init__(drift=drift, features=features, resampling=resampling, seed=seed, max_models=max_models)
        if transfer not in TRANSFER:
            raise MarleneError(f"transfer must be one of {', '.join(TRANSFER)}, not {transfer!r}")
        self.base = base  # type: ignore[assignment]  # other kinds of base classifiers than those of `BRMarlene`
        self.transfer = transfer
        self.objective = objective
        self._ensembles = [
            GatedEnsemble(
                bank,
                make_bank(drift),
                seed=seed,
                expected=resampling == "expected",
                max_models=max_models,
                transfer=transfer,
            )
            for bank in _make_banks(base)
        ]
        self._ensemble = self._ensembles[0]
        self._blend = BlendedVotes(len(self._ensembles))
        self._thresholds = DecisionThresholds(objective)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 1}

    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        super()._add(stream, labels)
        for ensemble in self._ensembles[1:]:
            ensemble.add_labels(stream, labels)
        if stream is None:
            new = len(self._labels(None)) - len(self._thresholds.values)
            self._blend.add_labels(new)
            self._thresholds.add_labels(new)

    def _add_features(self, widened: Mapping[int, int], kinds: list[int | str]) -> None:
        for ensemble in self._ensembles:
            for column, n_values in widened.items():
                ensemble.bank.widen(column, n_values)
            ensemble.add_features(kinds)

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        if stream is None:
            self._test(rows, truth, probabilities)
            return
        for ensemble in self._ensembles:
            ensemble.run(ensemble.streams[stream], rows, truth, probabilities)

    def _test(self, rows: Rows, truth: Labels, probabilities: Floats) -> Labels:
        said = np.full((len(self._ensembles), *truth.shape), np.nan)
        for ensemble, votes in zip(self._ensembles, said, strict=True):
            ensemble.run(ensemble.target, rows, truth, votes)
        scores = self._blend.learn(said, truth)
        if probabilities.shape[1] > 0:
            probabilities[:] = scores
        return self._thresholds.decide_and_learn(scores, truth)

    def _predict(self, rows: Rows, probabilities: Floats) -> None:
        said = np.full((len(self._ensembles), *probabilities.shape), np.nan)
        for ensemble, votes in zip(self._ensembles, said, strict=True):
            ensemble.predict(rows, votes)
        probabilities[:] = self._blend(said)

    def _decide(self, probabilities: Floats) -> Labels:
        return self._thresholds.decide(probabilities)

    def thresholds(self) -> dict[Hashable, float]:
        """Return for every target label the P(label) from which on it is predicted at present."""
        return dict(zip(self._labels(None), self._thresholds.values.tolist(), strict=True))

    def signal_drift(self, labels: Sequence[Hashable], stream: str | None = None) -> None:
        """Let each of the labels begin a new concept now: an oracle's word instead of a detector's."""
        super().signal_drift(labels, stream)
        for ensemble in self._ensembles[1:]:
            tasks = ensemble.streams[stream]
            for label in labels:
                ensemble.signal_drift(tasks, tasks.column[label])

    def explain(self, label: Hashable) -> list[dict[str, Any]]:
        """Return which sub-classifiers carry the vote on a target label, the heaviest first.

        Each comes with its kind, stream (None: the target), label, concept number from 0, weight (0 for those whom the
        gate keeps out), share of all weight, positive and negative predictive value.
        """
        task = self._target_task(label)
        rows = [row for ensemble in self._ensembles for row in ensemble.explain(task)]
        for row in rows:
            row["share"] /= len(self._ensembles)
        return sorted(rows, key=lambda row: -row["share"])

    def swr(self) -> dict[Hashable, float]:
        """Return for every target label the share of the weight of what was not trained on it; 0 without weight."""
        return {
            label: sum(share for source, share in row.items() if source != (None, label))
            for label, row in self.transfer_matrix().items()
        }

    def transfer_matrix(self) -> dict[Hashable, dict[tuple[str | None, Hashable], float]]:
        """Return for every target label the share of its weight that each (stream, label) has."""
        matrix: dict[Hashable, dict[tuple[str | None, Hashable], float]] = {}
        for label in self._labels(None):
            shares: dict[tuple[str | None, Hashable], float] = {}
            for row in self.explain(label):
                source = (row["stream"], row["label"])
                shares[source] = shares.get(source, 0.0) + row["share"]
            matrix[label] = shares
        return matrix

    def concepts(self, stream: str | None = None) -> dict[Hashable, list[int]]:
        """Return for every label of a stream the numbers of the examples at which either kind found it to drift."""
        times: dict[Hashable, list[int]] = {label: [] for label in self._tasks(stream).labels}
        for ensemble in self._ensembles:
            tasks = ensemble.streams[stream]
            for time, task in tasks.drifts:
                times[tasks.labels[task]].append(time)
        return {label: sorted(set(found)) for label, found in times.items()}

    def records(self, label: Hashable) -> dict[str, Floats]:
        """Return the performance records of a target label: TP, FP, TN, FN, SC, SW and α of every sub-classifier."""
        task = self._target_task(label)
        parts = []
        for ensemble in self._ensembles:
            active = ensemble.active
            parts.append(np.vstack([ensemble.records[task][:, active], ensemble.judged(task)[0, :1, active].T]))
        return dict(zip((*NAMES, "alpha"), np.hstack(parts), strict=True))

    def counts(self) -> dict[str, int]:
        """Return the number of sub-classifiers of all kinds, and of drifts they found in all streams."""
        drifts = sum(len(tasks.drifts) for ensemble in self._ensembles for tasks in ensemble.streams.values())
        return {"models": sum(len(ensemble.active) for ensemble in self._ensembles), "drifts": drifts}

    def _parameters(self) -> dict[str, Any]:
        objective = self.objective if isinstance(self.objective, str) else dict(self.objective)
        return super()._parameters() | {"transfer": self.transfer, "objective": objective}

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything, parameters included, as a JSON header and named arrays (copies)."""
        arrays = {f"thresholds.{name}": array for name, array in self._thresholds.state().items()}
        arrays |= {f"blend.{name}": array for name, array in self._blend.state().items()}
        headers = []
        for number, ensemble in enumerate(self._ensembles):
            header, own = ensemble_state(ensemble)
            headers.append(header)
            arrays |= {f"ensemble{number}.{name}": array for name, array in own.items()}
        return {
            "method": self._method,
            "parameters": self._parameters(),
            "space": space_header(self._space),
            "ensembles": headers,
        }, arrays

    @classmethod
    def _from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        if header["method"] != cls._method:
            raise MarleneError(f"the state of method {header['method']!r}, expected {cls._method!r}")
        parameters = dict(header["parameters"])
        if not isinstance(parameters["features"], str):
            parameters["features"] = dict(parameters["features"])
        headers = header["ensembles"]
        detectors = make_bank(headers[0]["detectors"])
        usual = make_bank(detectors.name).settings() == detectors.settings()
        base = _base_of([KINDS[part["bank"]](**part["forest"]) for part in headers])
        model = cls(base=base, drift=detectors.name if usual else detectors, **parameters)
        restore_space(model._space, header["space"])
        model._restore(header, arrays)
        return model

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        for number, (ensemble, part) in enumerate(zip(self._ensembles, header["ensembles"], strict=True)):
            restore_ensemble(ensemble, part, arrays_under(arrays, f"ensemble{number}."))
            bank: Any = ensemble.bank
            require(bank.kinds.tolist() == self._space.forest_kinds(), "the kinds of the features")
            same = {name: tasks.labels for name, tasks in ensemble.streams.items()}
            require(same == {name: t.labels for name, t in self._ensemble.streams.items()}, "the labels")
        self._blend.restore(arrays_under(arrays, "blend."), len(self._labels(None)))
        self._thresholds.restore(arrays_under(arrays, "thresholds."), len(self._labels(None)))
        self._n_features = len(self._space)


def _make_banks(base: str | InputBank | MixedBank | Sequence[InputBank]) -> list[InputBank]:
    """Return empty banks from the parameter `base`."""
    if isinstance(base, str):
        if base not in (MIXED, *KINDS):
            raise MarleneError(f"base must be one of {', '.join([MIXED, *KINDS])} or a bank, not {base!r}")
        return [kind() for name, kind in KINDS.items() if base in (MIXED, name)]
    banks = list(base.banks if isinstance(base, MixedBank) else base if isinstance(base, Iterable) else [base])
    if not banks or not all(isinstance(bank, InputBank) for bank in banks):
        raise MarleneError(f"base must be one of {', '.join([MIXED, *KINDS])} or a bank, not {base!r}")
    return [bank.clone() for bank in banks]


def _base_of(banks: list[InputBank]) -> str | list[InputBank]:
    """Return the parameter `base` that leads to such banks, a name where there is one."""
    for name in (MIXED, *KINDS):
        usual = _make_banks(name)
        if [(bank.name, bank.settings()) for bank in usual] == [(bank.name, bank.settings()) for bank in banks]:
            return name
    return banks
