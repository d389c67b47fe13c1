"""Classifiers of all labels in columns, and the weights by which each label tracks the best of them."""

from __future__ import annotations

import math
from operator import is_not
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.arrays import room_of
from marlene.banks._bank import NO_BAYES, NO_LINEAR
from marlene.banks._neighbours import no_window
from marlene.kernels.banks.neighbours import WindowSettings
from marlene.kernels.ensemble.blend import SHARPNESS, SMALLEST_ERROR
from marlene.kernels.held import table_of
from marlene.kernels.tracking import state as layout
from marlene.kernels.tracking.calls import (
    begin_concept_of,
    begin_labels,
    learn_source_rows,
    run_target_rows,
    settle_cuts,
)
from marlene.kernels.tracking.given import Given
from marlene.kernels.tracking.state import BAYES, LINEAR, NEIGHBOURS, Block, Kinds, Model, Rooms, Task
from marlene.learners.input._rows import cut_rows
from marlene.learners.marlene._decisions import thresholds_of
from marlene.learners.marlene._tracker_arrays import copied, new_scratch
from marlene.learners.marlene._tracker_layout import Event, Place, TrackerLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene._common.arrays import Floats, Ints, Labels
    from marlene.kernels.decisions.decide import Objective
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import WorkSpace

NO_WINDOW = no_window(0, 0, 0, 0), WindowSettings(0.0)
NO_EXAMPLE = Given(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
NO_SCORES = np.zeros((0, 0))
NO_TRUTH = np.zeros((0, 0), np.int8), np.zeros(0)


class Tracker(TrackerLayout):
    """All classifiers of all streams, at work; parameters as for `TrackerLayout`."""

    def model(self) -> Model:
        """Return everything as kernels take it."""
        sources = self._parts_in_use()
        if self._model is None or any(map(is_not, sources, self._sources)):
            bayes, linear, window, numeric, scales, first, streams, weights, growth, sets, events, clock, goal = sources
            by_kind = {bank.which: bank.parameters for bank in self.banks}
            used = np.array([kind in by_kind for kind in (BAYES, LINEAR)])
            kinds = Kinds(
                bayes,
                by_kind.get(BAYES, NO_BAYES[1]),
                linear,
                by_kind.get(LINEAR, NO_LINEAR[1]),
                window,
                self.neighbours.parameters if self.neighbours else NO_WINDOW[1],
                used,
                np.append(used, self.neighbours is not None),
            )
            rooms, scratch = Rooms(numeric, scales, first, self._block), self.scratch()
            self._model = Model(kinds, rooms, streams, weights, growth, sets, scratch, events, clock, self._steps, goal)
            self._table, self._sources = None, sources
        return self._model

    def _parts_in_use(self) -> tuple[Any, ...]:
        """Return all bundles of arrays; each is replaced by another if its arrays are."""
        by_kind = {bank.which: bank.arrays for bank in self.banks}
        return (
            by_kind.get(BAYES, NO_BAYES[0]),
            by_kind.get(LINEAR, NO_LINEAR[0]),
            self.neighbours.arrays if self.neighbours else NO_WINDOW[0],
            room_of(self.bank.numeric),
            self._scales,
            self._first,
            self._streams,
            self._weights,
            self._growth,
            self._sets,
            self._events,
            self._clock,
            self._objective,
        )

    def scratch(self) -> WorkSpace:
        """Return work space."""
        window = self.neighbours.window if self.neighbours else 0
        (streams, labels, _), places = self._streams.examples.shape, self._weights.log.shape[2]
        inputs, met, columns = len(room_of(self.bank.numeric)), self._scales.met.shape[1], int(self._first[-1])
        return new_scratch(inputs, met, columns, streams, labels, places, window, len(self._growth.alive))

    def table(self) -> Ints:
        """Return where kernels find everything."""
        model = self.model()
        if self._table is None:
            self._table = table_of(model)
        return self._table

    def learn(self, stream: str | None, rows: Rows, block: Block, start: int) -> int:
        """Learn rows from `start` on; return the first row that is not to be learnt before `decided`.

        Before each row of the target write P(label) and the predictions, if there is room for them.
        """
        number, stop = self.names.index(stream), self.values.count(rows, start)
        inputs = self.inputs_of(cut_rows(rows, start, stop))
        task = Task(inputs, block.part(start, stop), NO_EXAMPLE)
        self.make_room(int(np.diff(inputs.starts).max(initial=0)))
        self._learn(task, number)
        return stop

    def inputs_of(self, rows: Rows) -> Rows:
        """Return rows of features as rows of inputs."""
        return self.bank.inputs(self.values.swapped(rows))

    def _learn(self, task: Task, number: int) -> None:
        row, stop, where = 0, len(task.block.truth), table_of(task)
        while True:
            if number:
                row = learn_source_rows(self.table(), where, number, row, stop)
            else:
                row = run_target_rows(self.table(), where, row, stop, -1, True)
            if row >= stop:
                return
            self._make_more_room()

    def make_room(self, inputs: int) -> None:
        """Have room for an example of so many inputs with its zeros, and for what may happen there.

        Fewer than twice as many inputs are dense as the examples had on the mean.
        """
        if self.neighbours:
            zeros = min(2 * inputs, self._scales.mean.shape[1])
            self.neighbours.fit(widest=min(inputs + zeros, self.bank.n_inputs))
        if self._clock[layout.EVENTS] > len(self._events) // 2:
            self.read_events()

    def _make_more_room(self) -> None:
        """Have room for the example at which a kernel stopped."""
        if self.neighbours:
            self.neighbours.fit(widest=int(self.model().scratch.full.rows.starts[1]))
        self.read_events()

    def make_room_for_zeros(self) -> None:
        """Let the window have room for further examples as wide as those so far, whatever is left of these in it."""
        widths = self._scales.times.sum(axis=1) / np.maximum(1, self._scales.seen[:, 0])
        self.make_room(math.ceil(widths.max()))

    def learn_late(self, rows: Rows, truth: Labels, delay: int) -> Block:
        """Predict rows of the target from `delay` on, and learn after each the row `delay` rows before it."""
        shape, weights = truth.shape, np.ones(len(truth))
        block = Block(np.ascontiguousarray(truth), weights, np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int8))
        task = Task(self.inputs_of(rows), block, NO_EXAMPLE)
        lesson = task._replace(block=block._replace(scores=NO_SCORES))
        self.make_room(int(np.diff(rows.starts).max(initial=0)))
        asked, learnt = table_of(task), table_of(lesson)
        for row in range(delay, len(truth)):
            if self.is_ready():
                run_target_rows(self.table(), asked, row, row + 1, -1, False)
            else:
                found = self.predict(cut_rows(rows, row, row + 1))
                block.probabilities[row], block.predictions[row] = found.probabilities[0], found.predictions[0]
            while run_target_rows(self.table(), learnt, row - delay, row - delay + 1, -1, True) == row - delay:
                self._make_more_room()
        return block

    def seen(self, number: int) -> int:
        """Return how many examples a stream, by number, has had."""
        return int(self._streams.seen[number]) if number < len(self._streams.seen) else 0

    def predict(self, rows: Rows) -> Block:
        """Return the scores, the probabilities and the predictions of all target labels for every row."""
        shape = len(rows.starts) - 1, len(self.labels[0])
        block = Block(*NO_TRUTH, np.full(shape, 0.5), np.full(shape, 0.5), np.zeros(shape, np.int8))
        model = self.ready()._replace(scratch=self.scratch())
        task = Task(self.inputs_of(rows), block, NO_EXAMPLE)
        run_target_rows(table_of(model), table_of(task), 0, len(block.scores), -1, False)
        return block

    def is_ready(self) -> bool:
        """Tell whether there are target labels, and all of them have begun, or need not."""
        n_labels = len(self.labels[0])
        return n_labels > 0 and (not self._clock[layout.STALE] or bool(self._weights.began[:n_labels].all()))

    def ready(self) -> Model:
        """Return everything as it is for predictions: labels that have not begun do so in a copy."""
        model = self.model()
        if not self._clock[layout.STALE] or self.is_ready():
            return model
        seen = tuple(self._streams.seen.tolist())
        if self._begun is None or self._begun[0] is not model or self._begun[1] != seen:
            begun = copied(model)
            begin_labels(table_of(begun))
            self._begun = model, seen, begun
        return self._begun[2]

    def set_objective(self, objective: Objective) -> None:
        """Decide for another objective from now on."""
        self._objective = objective
        settle_cuts(self.table())

    def thresholds(self) -> Floats:
        """Return the least score at which each target label is predicted; NaN if there is none."""
        return thresholds_of(self._objective, self.ready().streams.cut[0, : len(self.labels[0])])

    def signal(self, labels: Sequence[int]) -> None:
        """Take note that target labels begin a new concept: all candidates get their prior weights again."""
        for label in labels:
            if self.neighbours:
                self.neighbours.forget_label(label)
            begin_concept_of(self.table(), label)
            self._begun = None
            self.events.append(Event(int(self._streams.seen[0]), label, -1, None))

    def leaders(self, label: int) -> list[tuple[int, int, float]]:
        """Return the kind, the column and the share of the weight of all that vote on a target label."""
        weights = self._weights
        return [
            (bank.which, int(weights.leader[bank.which, label, j]), float(weights.share[bank.which, label, j]))
            for bank in self.banks
            for j in range(int(weights.leaders[bank.which, label]))
        ]

    def shares(self, label: int) -> list[tuple[int, Place, float]]:
        """Return the kind, the place and the share of the weight of all that vote on a target label."""
        return [(kind, self.place(column), share) for kind, column, share in self.leaders(label)]

    def voices(self, label: int) -> dict[int, float]:
        """Return how much each kind, and the neighbours, count in the vote on a target label."""
        used = [bank.which for bank in self.banks] + ([NEIGHBOURS] if self.neighbours else [])
        errors = (self._streams.errors[0, used, label] / self._streams.counted[0, used, label]).mean(axis=1)
        weights = np.maximum(errors, SMALLEST_ERROR) ** -SHARPNESS
        return dict(zip(used, (weights / weights.sum()).tolist(), strict=True))

    def listed(self, kind: int, label: int) -> list[int]:
        """Return the columns of the candidates of a target label."""
        columns: list[int] = self._weights.candidate[kind, label, : self._weights.size[kind, label]].tolist()
        return columns

    def count(self) -> int:
        """Return how many classifiers there are: of every label of every stream, and snapshots."""
        columns = sum(len(labels) for labels in self.labels) + len(self.labels[0]) + int(self._growth.alive.sum())
        return len(self.banks) * columns
