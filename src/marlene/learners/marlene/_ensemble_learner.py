"""What BR-MARLENE and BRPW-MARLENE share: a learner made of ensembles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import one_of, whole_number
from marlene._common.errors import MarleneError
from marlene._common.states import arrays_under, with_prefix
from marlene.drift import BalancedBank, make_bank
from marlene.kernels.ensemble.performance import NAMES
from marlene.learners._saved import SavedLearner
from marlene.learners._whole import Whole
from marlene.learners.input._rows import single_row
from marlene.learners.marlene._plain import ExampleDesk
from marlene.learners.marlene._roster import EnsembleSettings
from marlene.learners.marlene._state import ensemble_state, restore_ensemble

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    import river.base

    from marlene._common.arrays import Array, Arrays, Floats
    from marlene.drift import DetectorBank
    from marlene.kernels.rows import Rows
    from marlene.learners.marlene._givers import Source
    from marlene.learners.marlene._tasks import StreamTasks

    RiverDetector = river.base.DriftDetector | river.base.BinaryDriftDetector

RESAMPLINGS = ("poisson", "expected")
RETIRED = ("better", "all")
NUMBERS = {int, float}
NO_PROBABILITIES = np.zeros((0, 0))


@dataclass(eq=False, repr=False)
class EnsembleLearner(SavedLearner):
    """A learner that owns a list of ensembles; its fields are the parameters, see `BRMarlene`.

    BR-MARLENE has one, BRPW-MARLENE one for labels and one for pairs of labels. The tasks of the first are the labels.
    """

    _objects = ("base", "drift")

    base: Any
    drift: str | DetectorBank | RiverDetector | None = "balanced"
    features: str | Mapping[Hashable, str] = "auto"
    resampling: str = "poisson"
    seed: int = 1
    max_models: int | None = None
    absent: str = "unknown"
    retired: str | None = field(default=None, kw_only=True)
    max_labels: int | None = field(default=None, kw_only=True)
    max_features: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        one_of(self.resampling, "resampling", RESAMPLINGS)
        whole_number(self.seed, "seed")
        if self.max_models is not None:
            whole_number(self.max_models, "max_models", low=1)
        retired = self.retired
        if retired is None:
            retired = "better" if make_bank(self.drift).name == BalancedBank.name else "all"
        one_of(retired, "retired", RETIRED)
        self._begin()
        expected = self.resampling == "expected"
        self._settings = EnsembleSettings(self.seed, expected, self.max_models, proving=retired == "better")
        self._ensembles: list[Any] = []
        self._desk: ExampleDesk | None = None

    @property
    def _ensemble(self) -> Any:  # noqa: ANN401 (an `Ensemble`)
        """The first ensemble, whose tasks are the labels."""
        return self._ensembles[0]

    def _labels(self, stream: str | None) -> list[Hashable]:
        tasks = self._ensembles[0].streams.get(stream)
        return [] if tasks is None else tasks.labels

    def _count_labels(self) -> int:
        return sum(len(tasks.labels) for tasks in self._ensembles[0].streams.values())

    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        widened, kinds = self._space.take_changes()
        for ensemble in self._ensembles:
            ensemble.add_features(widened, kinds)
        self._ensemble.add_labels(stream, labels)

    def _taken_desk(self, width: int) -> ExampleDesk | None:
        """Return room for an example of so many features; None if examples must take the long way.

        `_desk` gets it back, so that the handler of a signal does not use it meanwhile.
        """
        labels, kinds = self._labels(None), self._space.numbers()
        if not labels or not self._space.reads_plainly():
            return None
        desk, self._desk = self._desk, None
        return desk if desk is not None and desk.fits(labels, kinds, width) else ExampleDesk(labels, kinds, width)

    def _learnt_plainly(self, x: Any, y: Any, w: Any, stream: str | None) -> bool:  # noqa: ANN401
        if stream is not None or type(x) is not dict or type(y) is not dict or type(w) not in NUMBERS or w != 1:
            return False
        desk = self._taken_desk(len(x))
        if desk is None:
            return False
        return self._learnt_row(desk, desk.read(x, self._space.column) if desk.put_truth(y, 1.0) else None)

    def _learnt_row_plainly(self, X: Any, Y: Any, w: Any, stream: str | None) -> bool:  # noqa: ANN401
        row = single_row(X)
        if row is None or stream is not None or type(w) not in NUMBERS or w != 1 or self.max_features is not None:
            return False
        columns, values, n_columns = row
        desk, layout = self._taken_desk(len(columns)), self._space.layouts.get(None)
        expected = len(self._space) if layout is None else len(layout)
        if desk is None:
            return False
        fits = n_columns == expected and desk.put_truth_row(Y, 1.0)
        own = columns if layout is None or not fits else layout[columns]
        return self._learnt_row(desk, desk.read_columns(own, values) if fits else None)

    def _learnt_row(self, desk: ExampleDesk, rows: Rows | None) -> bool:
        """Learn the example of a desk, and give the desk back; tell whether it was one."""
        if rows is not None:
            self._never_false.see(None, desk.labels, desk.truth)
            with Whole(self):
                self._run(None, rows, desk.truth, NO_PROBABILITIES)
        self._desk = desk
        return rows is not None

    def _decided_plainly(self, x: Any, what: str) -> dict[Hashable, Any] | None:  # noqa: ANN401
        desk, column = self._taken_desk(len(x)) if type(x) is dict else None, self._space.column
        if desk is None:
            return None
        rows = desk.read(x, column) or desk.read({name: value for name, value in x.items() if name in column}, column)
        if rows is not None:
            self._predict(rows, desk.probabilities)
        said, self._desk = desk.probabilities[0].tolist(), desk
        if rows is None:
            return None
        if what == "predictions":
            return {label: p > 0.5 for label, p in zip(desk.labels, said, strict=True)}
        return {label: p if p == p else 0.5 for label, p in zip(desk.labels, said, strict=True)}  # noqa: PLR0124 (NaN)

    def _tasks(self, stream: str | None) -> StreamTasks:
        if stream not in self._ensemble.streams:
            raise MarleneError(f"there is no stream {stream!r}")
        tasks: StreamTasks = self._ensemble.streams[stream]
        return tasks

    def _target_task(self, label: Hashable) -> int:
        if label not in self._ensemble.target.column:
            raise MarleneError(f"there is no target label {label!r}")
        return int(self._ensemble.target.column[label])

    def signal_drift(self, labels: Sequence[Hashable], stream: str | None = None) -> None:
        """Let each of the labels begin a new concept now: an oracle's word instead of a detector's."""
        known = self._tasks(stream).column
        for label in labels:
            if label not in known:
                raise MarleneError(f"there is no label {label!r} in {'the target' if stream is None else repr(stream)}")
        with Whole(self):
            for ensemble in self._ensembles:
                ensemble.signal_drift(stream, labels)

    def aswr(self) -> float:
        """Return the average source weight ratio: the weight of other labels and streams (paper, VII-C)."""
        ratios = self.swr()
        return float(np.mean(list(ratios.values()))) if ratios else 0.0

    def swr(self) -> dict[Hashable, float]:
        """Return for every target label the weight share of sub-classifiers not trained on it; 0 without weight."""
        return {label: float(self._ensemble.source_share(task)) for task, label in enumerate(self._labels(None))}

    def explain(self, label: Hashable, most: int = 5) -> list[dict[str, Any]]:
        """Return which sub-classifiers carry the vote on a target label, the heaviest first.

        Each comes with its stream (None: the target), label, concept number from 0, weight, share of all weight,
        positive and negative predictive value. A tree also tells its `features`: how many of its splits test each, at
        most `most`.
        """
        rows: list[dict[str, Any]] = self._ensemble.explain(self._target_task(label))
        names = list(self._space.column)
        for row in rows:
            member = row.pop("member")
            if most and self._ensemble.has_trees:
                used = self._ensemble.feature_use(member)
                row["features"] = {str(names[feature]): used[feature] for feature in list(used)[:most]}
        return sorted(rows, key=lambda row: -row["share"])

    def explain_one(self, x: dict[Hashable, Any]) -> dict[Hashable, Any]:
        """Return for every target label what is said of an example, and the path to that.

        `probability` is P(label). `path` is the way of the example through the tree with the most weight: the
        conditions that it meets, from the root on; the classifiers in the leaves do the rest. `stream` and `label` are
        those that the tree was trained on. Without trees there is no path.

        Examples
        --------
        >>> from marlene import BRMarlene
        >>> model = BRMarlene(features="numeric")
        >>> for i in range(400):
        ...     model.learn_one({"age": i % 10}, {"old": i % 10 > 4})
        >>> [condition.split()[0] for condition in model.explain_one({"age": 9})["old"]["path"]]
        ['age']
        """
        rows = self._space.rows_of_dicts([x], learning=False)[0]
        scores = self._scores(rows)[0]
        dense = np.zeros(len(self._space))
        dense[rows.indices] = rows.values
        names = [str(name) for name in self._space.column]
        found: dict[Hashable, Any] = {}
        for task, label in enumerate(self._labels(None)):
            said: dict[str, Any] = {"probability": 0.5 if np.isnan(scores[task]) else float(scores[task])}
            voters = self._ensemble.explain(task)
            if voters and self._ensemble.has_trees:
                heaviest = max(voters, key=lambda row: row["share"])
                said |= {name: heaviest[name] for name in ("stream", "label")}
                said["path"] = self._ensemble.path(heaviest["member"], dense, names)
            found[label] = said
        return found

    def transfer_matrix(self) -> dict[Hashable, dict[Source, float]]:
        """Return for every target label the share of its weight that each (stream, label) has."""
        givers, shares = self._ensemble.shares_of_givers()
        return {
            label: dict(zip(givers, row, strict=True))
            for label, row in zip(self._labels(None), shares.tolist(), strict=True)
        }

    def concepts(self, stream: str | None = None) -> dict[Hashable, list[int]]:
        """Return for every label of a stream the numbers of the examples at which it drifted."""
        tasks = self._tasks(stream)
        times: dict[Hashable, set[int]] = {label: set() for label in tasks.labels}
        for time, task in tasks.drifts:
            times[tasks.labels[task]].add(time)
        return {label: sorted(found) for label, found in times.items()}

    def records(self, label: Hashable) -> dict[str, Floats]:
        """Return the performance records of a target label: TP, FP, TN, FN, SC, SW and α of every sub-classifier."""
        task, ensemble = self._target_task(label), self._ensemble
        records, weights = ensemble.records[task][:, ensemble.active], ensemble.judged(task)[0, :1, ensemble.active].T
        return dict(zip((*NAMES, "alpha"), np.vstack([records, weights]), strict=True))

    def counts(self) -> dict[str, int]:
        """Return the number of sub-classifiers, and of drifts in all streams."""
        drifts = sum(len(tasks.drifts) for ensemble in self._ensembles for tasks in ensemble.streams.values())
        return {"models": sum(len(ensemble.active) for ensemble in self._ensembles), "drifts": drifts}

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        headers: list[dict[str, Any]] = []
        arrays: Arrays = {}
        for number, ensemble in enumerate(self._ensembles):
            header, own = ensemble_state(ensemble)
            headers.append(header)
            arrays |= with_prefix(own, f"ensemble{number}.")
        return {"ensembles": headers}, arrays

    @classmethod
    def _base_of(cls, saved: list[tuple[str, dict[str, Any]]]) -> Any:  # noqa: ANN401 (the parameter `base`)
        """Return the parameter `base` that leads to banks of these names and settings."""
        raise NotImplementedError

    @classmethod
    def _restored_objects(cls, header: Mapping[str, Any]) -> dict[str, Any]:
        saved = header["ensembles"]
        return {"base": cls._base_of([part["base"] for part in saved]), "drift": _drift_of(saved[0]["detectors"])}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        kinds = self._space.forest_kinds()
        for number, (ensemble, part) in enumerate(zip(self._ensembles, header["ensembles"], strict=True)):
            restore_ensemble(ensemble, part, arrays_under(arrays, f"ensemble{number}."), kinds)

    def _load_rare_kernels(self) -> None:
        self.signal_drift([0])
        self.explain(0)
        for ensemble in self._ensembles:
            ensemble.load_kernels()


def _drift_of(settings: Mapping[str, Any]) -> str | DetectorBank:
    """Return the parameter `drift` that leads to a bank of these settings, its name if they are the defaults."""
    bank = make_bank(settings)
    return bank.name if make_bank(bank.name).settings() == bank.settings() else bank
