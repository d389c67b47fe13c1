"""MARLENE's machinery over a bank of simple classifiers, with a gate against negative transfer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.banks import NaiveBayesBank
from marlene.kernels.ensemble.over_banks import CLEARLY, FULL, GATED, OWN, run_bayes, run_linear
from marlene.kernels.ensemble.performance import FN, TP
from marlene.learners.marlene._driver import Driver, watchers
from marlene.learners.marlene._ensemble import Ensemble

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.banks import InputBank
    from marlene.drift import DetectorBank
    from marlene.kernels.ensemble.state import Members, Tasks
    from marlene.kernels.rows import Rows
    from marlene.learners.marlene._driver import Block
    from marlene.learners.marlene._tasks import StreamTasks


TRANSFER = {"own": OWN, "gated": GATED, "full": FULL}
"""Who votes on a label."""
KEPT_EXAMPLES = 5.0
"""How many examples the records of a label count for after a drift."""


class InputDriver(Driver):
    """Lets the classifiers of a bank vote and learn: one kernel call for as many rows as it goes.

    `owner` is the target task each member was trained on, -1 if none.
    """

    def __init__(self, bank: InputBank, detectors: DetectorBank, transfer: int, expected: bool) -> None:
        super().__init__(expected)
        self._bank: Any = bank
        self._detectors = detectors
        self._transfer = transfer
        self.owner: Ints = np.zeros(0, np.int64)

    def run(self, members: Members, count: int, records: Floats, tasks: Tasks, block: Block) -> int:
        """Go on with a block of inputs; return `DONE`, `ASK_DETECTORS` or `REACT`."""
        work = self._prepare(members, len(tasks.latest), 0, block)
        watched, watching = watchers(self._detectors)
        run: Any = run_bayes if isinstance(self._bank, NaiveBayesBank) else run_linear
        return int(
            run(
                self._bank.arrays,
                self._bank.parameters,
                self._bank.scales,
                members,
                count,
                records,
                self.owner,
                self._transfer,
                tasks,
                block.rows,
                block.truth,
                block.everyone,
                block.probabilities,
                watched.arrays,
                watched.parameters,
                watching,
                self._expected,
                work,
            )
        )


class GatedEnsemble(Ensemble):
    """An ensemble in which other labels and streams vote on a label only while they serve it clearly better.

    After a drift the records of a label are not forgotten but count for few examples, so that its sub-classifiers go on
    voting: a false alarm costs little, and after a true one what comes next soon outweighs them.

    Parameters
    ----------
    bank, detectors, seed, expected, max_models
        As for `Ensemble`.
    transfer
        "gated": a sub-classifier of another label or stream votes on a label while its weight there is a tenth above
        that of all of the label's own; "own": it never does; "full": it always does.
    """

    def __init__(
        self,
        bank: InputBank,
        detectors: DetectorBank,
        *,
        seed: int,
        expected: bool,
        max_models: int | None,
        transfer: str,
    ) -> None:
        self._who = TRANSFER[transfer]
        super().__init__(bank, detectors, seed=seed, expected=expected, max_models=max_models, transfer=True)

    def adopt(self, bank: Any, detectors: DetectorBank) -> None:  # noqa: ANN401 (an `InputBank`)
        """Work with these banks from now on."""
        self.bank: Any = bank
        self.detectors = detectors
        self.driver: Any = InputDriver(bank, detectors, self._who, self._expected)
        self._owner: Ints | None = None

    def _driven_records(self) -> Floats:
        self.driver.owner = self.owners()
        return super()._driven_records()

    def run(self, tasks: StreamTasks, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        """Learn rows one after the other; before each, write P(label) of the target tasks if there is room for it."""
        super().run(tasks, self.bank.inputs(rows), truth, probabilities)

    def predict(self, rows: Rows, probabilities: Floats) -> None:
        """Write P(label) of the target tasks for every row."""
        self.driver.owner = self.owners()
        super().predict(self.bank.inputs(rows), probabilities)

    def change_concept(self, tasks: StreamTasks, task: int) -> None:
        """Let the background classifier, or a new one, take over a task; what is known of the others counts less."""
        before = self.records[task].copy() if tasks.name is None else None
        super().change_concept(tasks, task)
        if before is not None:
            judged = before[TP : FN + 1].sum(axis=0).max(initial=0.0)
            kept = before * min(1.0, KEPT_EXAMPLES / max(judged, 1.0))
            self.records[task, :, : kept.shape[1]] = np.where(self.members.active[: kept.shape[1]] > 0, kept, 0.0)

    def weights(self, task: int) -> Floats:
        """Return the weight of every member's vote on a target task: 0 for those whom the gate keeps out."""
        alpha: Floats = self.judged(task)[0, 0]
        own = self.owners() == task
        best = {OWN: np.inf, FULL: -1.0, GATED: CLEARLY * alpha[own].max(initial=-1.0)}[self._who]
        return np.where(own | (alpha > best), alpha, 0.0)

    def explain(self, task: int) -> list[dict[str, Any]]:
        """Return which sub-classifiers carry the vote on a target task, the heaviest first, each with its kind."""
        return [{"base": self.bank.name} | row for row in super().explain(task)]
