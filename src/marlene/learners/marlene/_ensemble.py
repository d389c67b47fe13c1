"""The machinery of MARLENE: vote, watch for drift, learn and judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.drift import DRIFT, IN_CONTROL, WARNING, BalancedBank, DDMOCIBank, NoneBank, OracleBank
from marlene.kernels.ensemble import state as kernels
from marlene.kernels.ensemble.performance import CLEARLY
from marlene.kernels.ensemble.state import Batch, Voters, Watch
from marlene.learners.marlene._members import larger_work, new_work, with_own_votes
from marlene.learners.marlene._roster import Roster
from marlene.learners.marlene._tasks import NONE, StreamTasks
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from marlene._common.arrays import Codes, Floats, Ints, Labels
    from marlene.kernels.ensemble.state import Members, Tasks
    from marlene.kernels.rows import Rows
    from marlene.learners.marlene._givers import Source

NO_PROBABILITIES = np.zeros((0, 0))
NO_DDM_OCI, NO_BALANCED = DDMOCIBank(), BalancedBank()
NO_TASKS = StreamTasks(None)


class Ensemble(Roster):
    """All sub-classifiers of all streams, and how well each serves every target task.

    Parameters are those of `Roster`.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:  # noqa: ANN401 (those of `Roster`)
        super().__init__(*arguments, **settings)
        self._work_sizes: tuple[int, ...] = (0, 0, 0, self.values)
        self._work = new_work(*self._work_sizes)
        self._own_votes: tuple[Members, Members] | None = None

    def owners(self) -> Ints:
        """Return the target task each member was trained on, -1 if none; kept until members or tasks change."""
        if self._owner is None:
            self._owner = np.full(len(self.members.classifier), NONE)
            for h, origin in enumerate(self.origins):
                if origin is not None and origin.stream is None:
                    self._owner[h] = self.target.column.get(origin.label, NONE)
        return self._owner

    def learn(self, tasks: StreamTasks, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        """Learn rows one after the other; before each, write P(label) of the target tasks if there is room for it."""
        target = tasks.name is None
        probabilities = probabilities if target else NO_PROBABILITIES
        self.advance(tasks, self._batch(rows, truth, probabilities, everyone=target and self.transfer))

    def predict(self, rows: Rows, probabilities: Floats) -> None:
        """Write P(label) of the target tasks for every row."""
        batch = self._batch(rows, np.zeros((0, 0), np.int8), probabilities, everyone=True)
        self._advance(self._voters(self._apart()), self.target.arrays, batch._replace(clock=0))

    def _apart(self) -> Members:
        """Return the members with votes of their own, for predictions; made once for the same members."""
        if self._own_votes is None or self._own_votes[0] is not self.members:
            self._own_votes = self.members, with_own_votes(self.members)
        return self._own_votes[1]

    def _batch(self, rows: Rows, truth: Labels, probabilities: Floats, everyone: bool) -> Batch:
        return Batch(rows, truth, probabilities, everyone, self.clock, np.zeros(3, np.int64))

    def advance(self, tasks: StreamTasks, batch: Batch) -> None:
        """Take all rows of a batch forward.

        The kernel goes on until a task changes: until a background classifier starts, is dropped or takes over.
        """
        seen, position = tasks.seen, batch.position
        try:
            while True:
                status = self._advance(self._voters(self.members), tasks.arrays, batch)
                tasks.seen = seen + int(position[kernels.ROW])
                if status == kernels.DONE:
                    break
                if status == kernels.JUDGE:
                    self._judge(batch)
                    continue
                signals, row = tasks.arrays.signal, int(position[kernels.ROW])
                if status == kernels.ASK_DETECTORS:
                    self._ask_detectors(tasks, signals, batch.truth[row])
                    position[kernels.PHASE] = kernels.LEARN
                self._change(tasks, signals)
        finally:  # also when interrupted: no two examples may have the same number
            self.clock += min(len(batch.truth), int(position[kernels.ROW]) + 1)

    def _advance(self, voters: Voters, tasks: Tasks, batch: Batch) -> int:
        """Take rows forward as far as the kernel goes; return why it stopped."""
        self._make_work_room(len(tasks.latest))
        return self.classifiers.advance(voters, tasks, batch, self.watch(), self.settings.expected, self._work)

    def _make_work_room(self, n_tasks: int) -> None:
        wanted = len(self.members.classifier), n_tasks, self.classifiers.n_features, self.values
        sizes = tuple(map(max, wanted, self._work_sizes))
        if sizes != self._work_sizes:
            self._work_sizes, self._work = sizes, larger_work(self._work, sizes)

    def _voters(self, members: Members) -> Voters:
        return Voters(members, len(self.origins), self._kept_records())

    def _kept_records(self) -> Floats:
        """Return the records that the kernel reads and updates."""
        return self.records

    def watch(self) -> Watch:
        """Return how drift is watched for: by the kernel, by nobody, or by detectors that the caller asks."""
        if self._watch is None or isinstance(self.detectors, OracleBank):
            oci = self.detectors if isinstance(self.detectors, DDMOCIBank) else NO_DDM_OCI
            balanced = self.detectors if isinstance(self.detectors, BalancedBank) else NO_BALANCED
            banks = oci.arrays, oci.parameters, balanced.arrays, balanced.parameters
            self._watch = Watch(*banks, self._watch_mode())
        return self._watch

    def _watch_mode(self) -> int:
        if isinstance(self.detectors, DDMOCIBank):
            return kernels.BY_DDM_OCI
        if isinstance(self.detectors, BalancedBank):
            return kernels.BY_BALANCED
        silent = isinstance(self.detectors, OracleBank) and not self.detectors.arrays.announced.any()
        return kernels.UNWATCHED if silent or isinstance(self.detectors, NoneBank) else kernels.ASKED

    def _change(self, tasks: StreamTasks, signals: Codes) -> None:
        """React to warnings, drifts and false warnings."""
        alarmed = (signals == DRIFT) | ((signals == WARNING) & (tasks.background == NONE))
        changing = np.flatnonzero(alarmed | ((signals == IN_CONTROL) & (tasks.background != NONE))).tolist()
        if changing:
            self._prepare_change(tasks, signals)
        for task in changing:
            self._react(tasks, task, int(signals[task]))

    def _judge(self, batch: Batch) -> None:
        """Update records that the kernel does not keep, after some rows."""

    def _prepare_change(self, tasks: StreamTasks, signals: Codes) -> None:
        """Update records that the kernel does not keep, before some of them are reset."""

    def _ask_detectors(self, tasks: StreamTasks, signals: Codes, truth: Labels) -> None:
        """Tell the detectors how the latest sub-classifiers did, and write their signals."""
        known = np.flatnonzero((truth[tasks.label] >= 0) & ((tasks.given == NONE) | (truth[tasks.given] >= 0)))
        values = np.where(tasks.given[known] == NONE, 0, truth[tasks.given[known]])
        latest = tasks.latest[known]
        positive = self.members.positive[values, latest] > self.members.negative[values, latest]
        expected = truth[tasks.label[known]]
        signals[:] = kernels.UNSEEN
        signals[known] = self.detectors.update(tasks.detector[known], positive == expected, expected)

    def _react(self, tasks: StreamTasks, task: int, signal: int) -> None:
        if signal == WARNING:
            self._start_background(tasks, task)
        elif signal == DRIFT:
            self.change_concept(tasks, task)
        elif signal == IN_CONTROL:
            self._drop_background(tasks, task)

    def weights(self, task: int) -> Floats:
        """Return the weight of every member's vote on a target task; 0 for those that have no vote."""
        alpha: Floats = self.judged(task)[0, 0]
        alpha[alpha <= self.members.proving * (alpha[self.target.latest[task]] + CLEARLY)] = 0.0
        return alpha

    def source_share(self, task: int) -> float:
        """Return the share of the weight on a target task of members not trained on it; 0 without weight."""
        weights, active = self.weights(task), self.active
        total = weights[active].sum()
        own = weights[active[self.owners()[active] == task]].sum()
        return float((total - own) / total) if total > 0 else 0.0

    def shares_of_givers(self) -> tuple[list[Source], Floats]:
        """Return the streams and labels that members were trained on, and their shares in the weight on each task."""
        places: dict[Source, int] = {}
        active = self.active
        origins = [origin for h in active.tolist() if (origin := self.origins[h]) is not None]
        giver = np.array([places.setdefault((o.stream, o.label), len(places)) for o in origins], np.int64)
        n_tasks = len(self.target)
        weights = np.array([self.weights(task)[active] for task in range(n_tasks)]).reshape(n_tasks, len(active))
        sums = np.zeros((len(places), len(weights)))
        np.add.at(sums, giver, weights.T)
        total = weights.sum(axis=1)
        shares: Floats = np.divide(sums, total, where=total > 0, out=np.zeros_like(sums)).T
        return [*places], shares

    def explain(self, task: int) -> list[dict[str, Any]]:
        """Return which sub-classifiers carry the vote on a target task, the heaviest first."""
        weights, (_, ppv, npv) = self.weights(task), self.judged(task)[0]
        active = self.active
        total = weights[active].sum()
        rows = []
        for h in sorted(active.tolist(), key=lambda h: -weights[h]):
            origin = self.origins[h]
            if origin is not None:
                rows.append(
                    {
                        "member": h,
                        "stream": origin.stream,
                        "label": origin.label,
                        "concept": origin.number,
                        "weight": float(weights[h]),
                        "share": float(weights[h] / total) if total > 0 else 0.0,
                        "ppv": float(ppv[h]),
                        "npv": float(npv[h]),
                    }
                )
        return rows

    @property
    def has_trees(self) -> bool:
        """Whether the sub-classifiers are trees."""
        return isinstance(self.classifiers.bank, HoeffdingForest)

    def feature_use(self, member: int) -> dict[int, int]:
        """Return how many splits of a member's tree test each feature, the most used first."""
        found: dict[int, int] = self.classifiers.bank.feature_use(int(self.members.classifier[member]))
        return found

    def path(self, member: int, dense: Floats, names: list[str]) -> list[str]:
        """Return the conditions on the way of an example through a member's tree."""
        found: list[str] = self.classifiers.bank.path(int(self.members.classifier[member]), dense, names)
        return found
