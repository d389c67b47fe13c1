"""MARLENE's machinery over a bank of simple classifiers, with a gate against negative transfer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.kernels.ensemble.over_banks import advance_bank, gate_weights
from marlene.kernels.ensemble.performance import FN, TP
from marlene.kernels.ensemble.state import FULL, GATED, OWN, Voters
from marlene.learners.marlene._ensemble import Ensemble

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels
    from marlene.banks import InputBank
    from marlene.drift import DetectorBank
    from marlene.kernels.ensemble.state import Batch, Members, Tasks
    from marlene.kernels.rows import Rows
    from marlene.learners.marlene._roster import EnsembleSettings
    from marlene.learners.marlene._tasks import StreamTasks

TRANSFER = {"own": OWN, "gated": GATED, "full": FULL}
"""Who votes on a label."""
KEPT_EXAMPLES = 5.0
"""After a drift the records of a label count for this many examples."""


class GatedEnsemble(Ensemble):
    """An ensemble in which other labels and streams vote on a label only while they serve it clearly better.

    After a drift the records of a label are kept but count for few examples, so that its sub-classifiers go on voting.
    A false alarm then costs little, and after a true drift new examples soon outweigh the old ones.

    Parameters
    ----------
    bank, detectors, settings
        As for `Ensemble`.
    transfer
        "gated": a sub-classifier of another label or stream votes on a label while its weight there is a tenth above
        that of all of the label's own; "own": it never does; "full": it always does.
    """

    def __init__(self, bank: InputBank, detectors: DetectorBank, settings: EnsembleSettings, transfer: str) -> None:
        self._gate = TRANSFER[transfer]
        super().__init__(bank, detectors, settings)

    def learn(self, tasks: StreamTasks, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        """Learn rows one after the other; before each, write P(label) of the target tasks if there is room for it."""
        super().learn(tasks, self.classifiers.bank.inputs(rows), truth, probabilities)

    def predict(self, rows: Rows, probabilities: Floats) -> None:
        """Write P(label) of the target tasks for every row."""
        super().predict(self.classifiers.bank.inputs(rows), probabilities)

    def _voters(self, members: Members) -> Voters:
        return Voters(members, len(self.origins), self.records, self.owners(), self._gate)

    def _advance(self, voters: Voters, tasks: Tasks, batch: Batch) -> int:
        self._make_work_room(len(tasks.latest))
        expected = self.settings.expected
        return int(
            advance_bank(self.classifiers.bank.simple(), voters, tasks, batch, self.watch(), expected, self._work)
        )

    def change_concept(self, tasks: StreamTasks, task: int) -> None:
        """Let the background classifier, or a new one, take over a task; the task's records count for less."""
        before = self.records[task].copy() if tasks.name is None else None
        super().change_concept(tasks, task)
        if before is not None:
            judged = before[TP : FN + 1].sum(axis=0).max(initial=0.0)
            kept = before * min(1.0, KEPT_EXAMPLES / max(judged, 1.0))
            self.records[task, :, : kept.shape[1]] = np.where(self.members.active[: kept.shape[1]] > 0, kept, 0.0)

    def weights(self, task: int) -> Floats:
        """Return the weight of every member's vote on a target task: 0 for those whom the gate keeps out."""
        weights = np.zeros(len(self.members.classifier))
        gate_weights(self._voters(self.members), task, weights)
        return weights

    def explain(self, task: int) -> list[dict[str, Any]]:
        """Return which sub-classifiers carry the vote on a target task, the heaviest first, each with its base."""
        return [{"base": self.bank.name} | row for row in super().explain(task)]
