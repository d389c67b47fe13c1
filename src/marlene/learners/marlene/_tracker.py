"""Classifiers of all labels in columns, and the weights by which each label tracks the best of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.banks._bank import NO_BAYES, NO_LINEAR
from marlene.banks._neighbours import no_window
from marlene.kernels.banks.neighbours import WindowSettings
from marlene.kernels.ensemble.blend import SHARPNESS, SMALLEST_ERROR
from marlene.kernels.tracking import state as layout
from marlene.kernels.tracking.decisions import calibrate_rows, decide_rows, settle_cuts
from marlene.kernels.tracking.inherit import begin_concept
from marlene.kernels.tracking.learn import begin_labels, learn_source_rows, learn_target_rows, predict_rows
from marlene.kernels.tracking.state import (
    BAYES,
    LINEAR,
    NEIGHBOURS,
    Block,
    Kinds,
    Model,
    Rooms,
)
from marlene.learners.input._rows import cut_rows
from marlene.learners.marlene._decisions import thresholds_of
from marlene.learners.marlene._tracker_arrays import copied, new_scratch
from marlene.learners.marlene._tracker_layout import Event, Place, TrackerLayout

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels
    from marlene.kernels.decisions.decide import Objective
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import WorkSpace

NO_WINDOW = no_window(0, 0, 0, 0), WindowSettings(0.0)


class Tracker(TrackerLayout):
    """All classifiers of all streams, at work; parameters as for `TrackerLayout`."""

    def model(self) -> Model:
        """Return everything as kernels take it."""
        if self._model is None:
            by_kind = {bank.which: bank for bank in self.banks}
            bayes, linear = by_kind.get(BAYES), by_kind.get(LINEAR)
            used = np.array([bayes is not None, linear is not None])
            naive = (bayes.arrays, bayes.parameters) if bayes else NO_BAYES
            logistic = (linear.arrays, linear.parameters) if linear else NO_LINEAR
            window = (self.neighbours.arrays, self.neighbours.parameters) if self.neighbours else NO_WINDOW
            voices = np.append(used, self.neighbours is not None)
            kinds = Kinds(naive[0], naive[1], logistic[0], logistic[1], window[0], window[1], used, voices)
            rooms = Rooms(self.bank.numeric, self._scales, self._first, self._block)
            self._model = Model(
                kinds,
                rooms,
                self._streams,
                self._weights,
                self._growth,
                self._sets,
                self._scratch(),
                self._events,
                self._clock,
            )
        return self._model

    def _scratch(self) -> WorkSpace:
        window = self.neighbours.window if self.neighbours else 0
        labels, places = self._streams.examples.shape[1], self._weights.log.shape[2]
        return new_scratch(len(self.bank.numeric), int(self._first[-1]), labels, places, window)

    def learn(self, stream: str | None, rows: Rows, block: Block) -> None:
        """Learn rows; before each row of the target write P(label) and the predictions, if there is room for them."""
        block = block._replace(truth=np.ascontiguousarray(block.truth))
        number, start = self.names.index(stream), 0
        while True:
            stop = self.values.count(rows, start)
            part = slice(start, stop)
            inputs = self._inputs_of(cut_rows(rows, start, stop))
            self._fit_window(int(np.diff(inputs.starts).max(initial=0)))
            if number:
                learn_source_rows(self.model(), self._objective, number, inputs, block.truth[part], block.weights[part])
            else:
                truth, weights, probabilities, predictions = block
                part_of = Block(truth[part], weights[part], probabilities[part], predictions[part])
                self._learn_target(inputs, part_of)
            for feature, value in self.values.decide():
                self._forget(self.bank.input_of(feature, value))
            start = stop
            if start >= len(block.truth):
                return

    def _inputs_of(self, rows: Rows) -> Rows:
        return self.bank.inputs(self.values.swapped(rows))

    def _learn_target(self, rows: Rows, block: Block) -> None:
        row = 0
        while True:
            row = learn_target_rows(self.model(), self._objective, rows, block, row)
            self._read_events()
            if row >= len(block.truth):
                return

    def _fit_window(self, widest: int) -> None:
        """Let the window have room for examples of so many inputs, with their zeros.

        Fewer than twice as many inputs are dense as the examples had on the mean.
        """
        if self.neighbours:
            zeros = min(2 * widest, self._scales.mean.shape[1])
            if self.neighbours.fit(widest=min(widest + zeros, len(self.bank.numeric))):
                self._model = None

    def make_room_for_zeros(self) -> None:
        """Let the window have room for further examples as wide as those so far, whatever is left of these in it."""
        widths = self._scales.times.sum(axis=1) / np.maximum(1, self._scales.seen[:, 0])
        self._fit_window(math.ceil(widths.max()))

    def _read_events(self) -> None:
        for time, kind, label, column in self._events[: self._clock[layout.EVENTS], :4].tolist():
            self.events.append(Event(time, label, kind, self.place(column)))
        self._clock[layout.EVENTS] = 0

    def predict(self, rows: Rows, scores: Floats) -> None:
        """Write the score of all target labels for every row."""
        model = self._ready()._replace(scratch=self._scratch())
        predict_rows(model, self._inputs_of(rows), scores)

    def _ready(self) -> Model:
        """Return everything as it is for predictions: labels that have not begun do so in a copy."""
        model = self.model()
        if self._clock[layout.STALE] and not self._weights.began[: len(self.labels[0])].all():
            model = copied(model)
            begin_labels(model)
        return model

    def calibrate(self, scores: Floats) -> Floats:
        """Return P(label) for the scores of the target labels."""
        probabilities = np.zeros(scores.shape)
        calibrate_rows(self._ready(), np.ascontiguousarray(scores), probabilities)
        return probabilities

    def decide(self, scores: Floats) -> Labels:
        """Return the predictions for the scores of the target labels."""
        predictions = np.zeros(scores.shape, np.int8)
        decide_rows(self._ready(), self._objective, np.ascontiguousarray(scores), predictions)
        return predictions

    def set_objective(self, objective: Objective) -> None:
        """Decide for another objective from now on."""
        self._objective = objective
        settle_cuts(self.model(), objective)

    def thresholds(self) -> Floats:
        """Return the least score at which each target label is predicted; NaN if there is none."""
        return thresholds_of(self._objective, self._ready().streams.cut[0, : len(self.labels[0])])

    def signal(self, label: int) -> None:
        """Take note that a target label begins a new concept: all candidates get their prior weights again."""
        model = self.model()
        begin_concept(model.kinds, model.weights, model.rooms, model.growth, label)
        if self.neighbours:
            self.neighbours.forget_label(label)
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
