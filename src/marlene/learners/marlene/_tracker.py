"""Classifiers of all labels in columns, and the weights by which each label tracks the best of them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene._common.states import require
from marlene.banks._bank import NO_BAYES, NO_LINEAR
from marlene.banks._neighbours import no_window
from marlene.kernels.banks.neighbours import WindowSettings
from marlene.kernels.banks.scales import PRESENCE
from marlene.kernels.ensemble.blend import SHARPNESS, SMALLEST_ERROR
from marlene.kernels.tracking import state as layout
from marlene.kernels.tracking.decisions import calibrate_rows, decide_rows, settle_cuts
from marlene.kernels.tracking.inherit import begin_concept
from marlene.kernels.tracking.learn import begin_labels, learn_source_rows, learn_target_rows, predict_rows
from marlene.kernels.tracking.state import (
    BAYES,
    EVENT_WIDTH,
    KINDS,
    LINEAR,
    NEIGHBOURS,
    OWN_PLACE,
    YOUNG_PLACE,
    Block,
    Kinds,
    Model,
    Rooms,
)
from marlene.learners.input._rows import cut_rows
from marlene.learners.input._values import CommonValues
from marlene.learners.marlene._decisions import no_sets, thresholds_of
from marlene.learners.marlene._tracker_arrays import (
    copied,
    grown,
    new_scratch,
    no_growth,
    no_scales,
    no_streams,
    no_weights,
    put,
    put_weights,
    with_slack,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Bools, Floats, Ints, Labels
    from marlene.banks import InputBank, Neighbours
    from marlene.kernels.decisions.decide import Objective
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import WorkSpace

SLOTS = 4
"""How many snapshots of each label are kept."""
CANDIDATES = 256
"""How many snapshots and learners of sources the list of a label holds at most."""
NO_WINDOW = no_window(0, 0, 0, 0), WindowSettings(0.0)
LEAST_EVENTS = 256
MOST_EVENTS = 10_000
"""How many changes of labels are kept: the latest."""
NOT_YET = -3 * 5.0
"""The first weight of a young learner, as a logarithm; the floor lifts it."""
OWN, YOUNG, SNAPSHOT, WARM, SOURCE = "own", "young", "snapshot", "inherited", "source"


class Place(NamedTuple):
    """What a column holds: the role, the stream (by number) and the label (by number) it was trained on."""

    role: str
    stream: int
    label: int


class Event(NamedTuple):
    """A target label inherited, before the example `time`, from `giver`; None: a new concept was signalled."""

    time: int
    label: int
    kind: int
    giver: Place | None


class ScaleArrays(NamedTuple):
    """The scales of all rooms, see `Rooms`."""

    met: Bools
    known: Bools
    seen: Ints
    times: Floats
    mean: Floats
    squares: Floats
    origin: Floats


class Clock(NamedTuple):
    """See `Model.clock`."""

    clock: Ints


class Tracker:
    """All classifiers of all streams.

    Parameters
    ----------
    banks
        Empty banks, at most one of each kind.
    objective
        What decisions are to be good at.
    transfer
        Whether snapshots and sources are candidates.
    candidates
        How many of them the list of a label holds at most.
    neighbours
        An empty window, if nearest neighbours vote, too.
    """

    def __init__(
        self,
        banks: Sequence[InputBank],
        objective: Objective,
        transfer: bool,
        candidates: int = CANDIDATES,
        neighbours: Neighbours | None = None,
    ) -> None:
        self.banks = list(banks)
        self.neighbours = neighbours
        self._objective = objective
        self._transfer = transfer
        self.candidates = candidates
        self.slots = SLOTS if transfer else 0
        self.names: list[str | None] = [None]
        self.labels: list[list[Hashable]] = [[]]
        self.column: list[dict[Hashable, int]] = [{}]
        self.events: deque[Event] = deque(maxlen=MOST_EVENTS)
        self._block = 0
        self._widths = [0]
        self._first = np.zeros(2, np.int64)
        self._inputs: Ints = np.zeros(0, np.int64)
        self._scales = no_scales(1, 0, 0)
        self._streams = no_streams(1, 0, 0)
        self._weights = no_weights(0, 2, 0)
        self._growth = no_growth(0, self.slots)
        self._sets = no_sets()
        self._events = np.zeros((LEAST_EVENTS, EVENT_WIDTH), np.int64)
        self._clock = np.zeros(layout.CLOCKS, np.int64)
        self._model: Model | None = None
        self.values = CommonValues()

    @property
    def bank(self) -> InputBank:
        """A bank; all have the same inputs."""
        return self.banks[0]

    def add_features(self, widened: Mapping[int, int], kinds: Sequence[int]) -> None:
        """Let nominal features have further values, and append features of these kinds."""
        if not widened and not kinds:
            return
        known = self.bank.kinds
        before = self.bank.inputs_of(known)
        for bank in self.banks:
            for column, n_values in widened.items():
                bank.widen(column, n_values)
            if kinds:
                bank.add_features(list(kinds))
        self.values.arrange(self.bank.kinds)
        self._make_scales(before, self.bank.inputs_of(known))

    def _make_scales(self, before: Ints, after: Ints) -> None:
        """Let the scales of all rooms have a place for every input; those at `before` are now at `after`."""
        numeric, (met, known, seen, *numbers) = self.bank.numeric, self._scales
        n_inputs, n_numbers = len(numeric), int((numeric != PRESENCE).sum())
        sizes = with_slack(n_inputs, met.shape[1]), with_slack(n_numbers, numbers[0].shape[1])
        self._model = None
        if self.neighbours:
            self.neighbours.move(before, after, n_inputs)
        if sizes == (met.shape[1], numbers[0].shape[1]) and np.array_equal(before, after):
            return
        larger = no_scales(len(met), *sizes)
        larger[0][:, after] = met[:, before]
        larger[1][:, after] = known[:, before]
        larger[2][:] = seen
        for mine, theirs in zip(larger[3:], numbers, strict=True):
            mine[:, : theirs.shape[1]] = theirs
        self._scales = larger

    def add_labels(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        """Start learners for the labels that are new to a stream."""
        if stream not in self.names:
            self.names.append(stream)
            self.labels.append([])
            self.column.append({})
        elif all(label in self.column[self.names.index(stream)] for label in labels):
            return
        number = self.names.index(stream)
        known = self.column[number]
        before = len(known)
        for label in labels:
            if label not in known:
                known[label] = len(known)
                self.labels[number].append(label)
        self._arrange({number: before})

    def _arrange(self, before: Mapping[int, int]) -> None:
        """Let all arrays have room for all streams and labels; streams had so many labels before."""
        sizes = [len(labels) for labels in self.labels]
        block, widths = grown(self._block, sizes[0]), [0]
        for number in range(1, len(sizes)):
            width = self._widths[number] if number < len(self._widths) else 0
            widths.append(grown(width, sizes[number]))
        if block != self._block or widths != self._widths:
            self._move(block, widths)
        self._streams.labels[:] = sizes
        for number, first in before.items():
            for i in range(first, sizes[number]):
                self._find_same(number, i)
        self._start_lists(before.get(0, sizes[0]), sizes[0])
        self._clock[layout.STALE] = 1
        least = max(LEAST_EVENTS, KINDS * sizes[0])
        if len(self._events) < least:
            self._events = np.zeros((least, EVENT_WIDTH), np.int64)
        self._model = None

    def _find_same(self, number: int, i: int) -> None:
        """Note which labels of other streams have the name of a new label."""
        label, same = self.labels[number][i], self._streams.same
        if number and label in self.column[0]:
            same[number, self.column[0][label]] = i
        for other in range(1, len(self.labels) if number == 0 else 0):
            same[other, i] = self.column[other].get(label, -1)

    def _start_lists(self, start: int, stop: int) -> None:
        """Let target labels from `start` on have their own, young and warm learners as candidates."""
        weights, residents = self._weights, self.residents()[start:stop]
        weights.candidate[:, start:stop, : residents.shape[1]] = residents
        weights.log[:, start:stop, OWN_PLACE] = 0.0
        weights.log[:, start:stop, YOUNG_PLACE] = NOT_YET
        weights.size[:, start:stop] = residents.shape[1]
        weights.leaders[:, start:stop] = 1
        weights.leader[:, start:stop, 0] = residents[:, OWN_PLACE]
        weights.share[:, start:stop, 0] = 1.0

    def residents(self) -> Ints:
        """Return the columns of the own, young and warm learners of every target label."""
        q = np.arange(len(self.labels[0]))
        return np.stack([q, self._block + q, *(first + q for first in self._first[1:-1])], axis=1)

    def _move(self, block: int, widths: list[int]) -> None:
        old_block, old_first, old_widths = self._block, self._first, self._widths
        rooms = [(2 + self.slots) * block, *(block + width for width in widths[1:])]
        first = np.concatenate([[0], np.cumsum(rooms)]).astype(np.int64)
        from_, to = [], []
        for part in range(2 + self.slots):
            from_.append(part * old_block + np.arange(old_block))
            to.append(part * block + np.arange(old_block))
        for number in range(1, len(old_widths)):
            from_.append(old_first[number] + np.arange(old_block + old_widths[number]))
            to.append(first[number] + np.arange(old_block))
            to.append(first[number] + block + np.arange(old_widths[number]))
        old, new = np.concatenate(from_), np.concatenate(to)
        for bank in self.banks:
            bank.arrange(old, new, int(first[-1]))
        if self.neighbours:
            self.neighbours.fit(labels=block)
        n_streams, n_columns = len(widths), int(first[-1])
        moved = np.zeros(int(old_first[-1]), np.int64)
        moved[old] = new
        guests = min(self.candidates, self.slots * block + sum(widths))
        weights = no_weights(block, 1 + n_streams + guests, n_columns)
        put_weights(self._weights, weights, moved, 1 + len(old_widths), n_streams - len(old_widths))
        for number in range(len(old_widths), n_streams):  # labels have a warm learner with every source
            weights.candidate[:, :old_block, 1 + number] = first[number] + np.arange(old_block)
        growth = no_growth(block, self.slots)
        for name in ("young", "since", "taken"):
            getattr(growth, name)[:old_block] = getattr(self._growth, name)
        growth.alive[:, :old_block] = self._growth.alive
        streams = no_streams(n_streams, max(block, *widths), block)
        put(streams, self._streams)
        scales = no_scales(n_streams, self._scales[0].shape[1], self._scales[-1].shape[1])
        for mine, theirs in zip(scales, self._scales, strict=True):
            mine[: len(theirs)] = theirs
        self._weights, self._growth, self._streams, self._scales = weights, growth, streams, scales
        self._block, self._widths, self._first = block, widths, first

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
            met, known, seen, times, mean, squares, origin = self._scales
            rooms = Rooms(self.bank.numeric, met, known, seen, times, mean, squares, origin, self._first, self._block)
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
        return new_scratch(int(self._first[-1]), self._streams.examples.shape[1], self._weights.log.shape[2], window)

    def learn(self, stream: str | None, rows: Rows, block: Block) -> None:
        """Learn rows; before each row of the target write P(label) and the predictions, if there is room for them."""
        block = block._replace(truth=np.ascontiguousarray(block.truth))
        number, start = self.names.index(stream), 0
        while True:
            stop = self.values.count(rows, start)
            part = slice(start, stop)
            inputs = self._inputs_of(cut_rows(rows, start, stop))
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
        if self.neighbours and self.neighbours.fit(widest=int(np.diff(rows.starts).max(initial=0))):
            self._model = None
        row = 0
        while True:
            row = learn_target_rows(self.model(), self._objective, rows, block, row)
            self._read_events()
            if row >= len(block.truth):
                return

    def _forget(self, slot: int) -> None:
        """Forget what was learnt of an input, which stands for another value from now on."""
        met, known, seen, *_ = self._scales
        before = met[:, slot].copy()
        seen[:, 1] -= before
        met[:, slot] = known[:, slot] = False
        for bank in self.banks:
            bank.forget(slot, np.repeat(before, np.diff(self._first)))
        if self.neighbours:
            self.neighbours.forget_input(slot)

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
            window = model.kinds.window  # large, and no label changes it by beginning
            model = copied(model._replace(kinds=model.kinds._replace(window=NO_WINDOW[0])))
            model = model._replace(kinds=model.kinds._replace(window=window))
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

    def shares(self, label: int) -> list[tuple[int, Place, float]]:
        """Return the kind, the place and the share of the weight of all that vote on a target label."""
        weights = self._weights
        return [
            (
                bank.which,
                self.place(int(weights.leader[bank.which, label, j])),
                float(weights.share[bank.which, label, j]),
            )
            for bank in self.banks
            for j in range(int(weights.leaders[bank.which, label]))
        ]

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

    def room(self) -> dict[str, Any]:
        """Return how many columns there are for labels of the target and of sources, and how long lists may be."""
        return {"block": self._block, "widths": list(self._widths), "candidates": self.candidates}

    def parts(self) -> dict[str, Any]:
        """Return everything learnt but the classifiers, as NamedTuples of arrays."""
        met, known, seen, *numbers = self._scales
        n_inputs, n_numbers = len(self.bank.numeric), int((self.bank.numeric != PRESENCE).sum())
        return {
            "scales": ScaleArrays(
                met[:, :n_inputs], known[:, :n_inputs], seen, *(array[:, :n_numbers] for array in numbers)
            ),
            "streams": self._streams,
            "weights": self._weights,
            "growth": self._growth,
            "sets": self._sets,
            "clock": Clock(self._clock),
            "values": self.values.tally,
        }

    def restore(
        self,
        streams: Sequence[tuple[str | None, Sequence[Hashable]]],
        room: Mapping[str, Any],
        banks: Sequence[InputBank],
    ) -> None:
        """Have these streams and banks, and arrays of the right shapes."""
        self.names = [name for name, _ in streams]
        self.labels = [list(labels) for _, labels in streams]
        self.column = [{label: i for i, label in enumerate(labels)} for labels in self.labels]
        block, widths = int(room["block"]), [int(width) for width in room["widths"]]
        self.candidates = int(room["candidates"])
        require(self.candidates >= 0, "the candidates")
        fits = len(widths) == len(streams) and len(self.labels[0]) <= block <= 2 * len(self.labels[0]) + 1
        fits = fits and all(len(a) <= b <= 2 * len(a) + 1 for a, b in zip(self.labels[1:], widths[1:], strict=True))
        require(fits and all(len(set(a)) == len(a) for a in self.labels), "the labels")
        self._make_scales(*2 * (np.zeros(0, np.int64),))
        self._move(block, widths)
        for bank in banks:
            require(len(bank) == int(self._first[-1]), "the classifiers")
        self.banks = list(banks)
        self.values.arrange(self.bank.kinds)
        self._make_scales(*2 * (np.zeros(0, np.int64),))
        self._arrange(dict.fromkeys(range(len(streams)), 0))

    def take(self, parts: Mapping[str, Any]) -> None:
        """Take over what `parts` gave."""
        self._scales = tuple(parts["scales"])
        self._streams, self._weights, self._growth = parts["streams"], parts["weights"], parts["growth"]
        self._sets, self._clock = parts["sets"], parts["clock"].clock
        self.values.take(parts["values"])
        self._model = None

    def place(self, column: int) -> Place:
        """Return what a column holds."""
        room = int(np.searchsorted(self._first, column, side="right")) - 1
        within = column - int(self._first[room])
        if room == 0:
            part, label = divmod(within, self._block)
            return Place((OWN, YOUNG)[part] if part < 2 else SNAPSHOT, 0, label)
        if within < self._block:
            return Place(WARM, room, within)
        return Place(SOURCE, room, within - self._block)
