"""Classifiers of all labels in columns, and the weights by which each label tracks the best of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene._common.states import require
from marlene.banks._bank import NO_BAYES, NO_LINEAR
from marlene.kernels.banks.scales import PRESENCE
from marlene.kernels.ensemble.thresholds import BINS, Thresholds, decide
from marlene.kernels.tracking import state as layout
from marlene.kernels.tracking.inherit import begin_concept
from marlene.kernels.tracking.learn import learn_source_rows, learn_target_rows, predict_rows
from marlene.kernels.tracking.state import (
    ABSENT,
    BAYES,
    EVENT_WIDTH,
    KINDS,
    LEADERS,
    LINEAR,
    Block,
    Growth,
    Kinds,
    Model,
    Rooms,
    Scratch,
    Streams,
    Weights,
)
from marlene.learners.marlene._decisions import FIRST_ERROR, threshold_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Bools, Floats, Ints, Labels
    from marlene.banks import InputBank
    from marlene.kernels.ensemble.thresholds import Objective
    from marlene.kernels.rows import Rows

SLOTS = 4
"""How many snapshots of each label are kept."""
LEAST_EVENTS = 256
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
    """

    def __init__(self, banks: Sequence[InputBank], objective: Objective, transfer: bool) -> None:
        self.banks = list(banks)
        self._objective = objective
        self._transfer = transfer
        self.slots = SLOTS if transfer else 0
        self.names: list[str | None] = [None]
        self.labels: list[list[Hashable]] = [[]]
        self.column: list[dict[Hashable, int]] = [{}]
        self.events: list[Event] = []
        self._block = 0
        self._widths = [0]
        self._first = np.zeros(2, np.int64)
        self._inputs: Ints = np.zeros(0, np.int64)
        self._scales = _no_scales(1, 0, 0)
        self._streams = _no_streams(1, 0, 0)
        self._weights = _no_weights(0, 0)
        self._growth = _no_growth(0, self.slots)
        self._events = np.zeros((LEAST_EVENTS, EVENT_WIDTH), np.int64)
        self._clock = np.zeros(layout.CLOCKS, np.int64)
        self._model: Model | None = None

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
        self._make_scales(before, self.bank.inputs_of(known))

    def _make_scales(self, before: Ints, after: Ints) -> None:
        """Let the scales of all rooms have a place for every input; those at `before` are now at `after`."""
        numeric, (met, seen, *numbers) = self.bank.numeric, self._scales
        n_inputs, n_numbers = len(numeric), int((numeric != PRESENCE).sum())
        sizes = _with_slack(n_inputs, met.shape[1]), _with_slack(n_numbers, numbers[0].shape[1])
        self._model = None
        if sizes == (met.shape[1], numbers[0].shape[1]) and np.array_equal(before, after):
            return
        larger = _no_scales(len(met), *sizes)
        larger[0][:, after] = met[:, before]
        larger[1][:] = seen
        for mine, theirs in zip(larger[2:], numbers, strict=True):
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
        for label in labels:
            if label not in known:
                known[label] = len(known)
                self.labels[number].append(label)
        self._arrange()

    def _arrange(self) -> None:
        """Let all arrays have room for all streams and labels."""
        sizes = [len(labels) for labels in self.labels]
        block, widths = _grown(self._block, sizes[0]), [0]
        for number in range(1, len(sizes)):
            before = self._widths[number] if number < len(self._widths) else 0
            widths.append(_grown(before, sizes[number]))
        if block != self._block or widths != self._widths:
            self._move(block, widths)
        self._streams.labels[:] = sizes
        for number in range(1, len(sizes)):
            same = [self.column[number].get(label, -1) for label in self.labels[0]]
            self._streams.same[number, : len(same)] = same
        for q in range(sizes[0]):
            if self._weights.leaders[0, q] == 0:
                self._weights.log[:, q, q] = 0.0
                self._weights.log[:, q, block + q] = NOT_YET
                self._weights.leaders[:, q] = 1
                self._weights.leader[:, q, 0] = q
                self._weights.share[:, q, 0] = 1.0
        self._clock[layout.STALE] = 1
        least = max(LEAST_EVENTS, KINDS * sizes[0])
        if len(self._events) < least:
            self._events = np.zeros((least, EVENT_WIDTH), np.int64)
        self._model = None

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
        n_streams, n_columns = len(widths), int(first[-1])
        weights, growth = _no_weights(block, n_columns), _no_growth(block, self.slots)
        weights.log[:, :old_block, new] = self._weights.log[:, :, old]
        weights.floor[:, new] = self._weights.floor[:, old]
        place = np.zeros(max(1, int(old_first[-1])), np.int64)
        place[old] = new
        for name in ("total", "leaders", "leader", "share"):
            getattr(weights, name)[:, :old_block] = getattr(self._weights, name)
        weights.leader[:, :old_block] = place[self._weights.leader]
        weights.begun[:old_block] = self._weights.begun
        for name in ("young", "since", "taken"):
            getattr(growth, name)[:old_block] = getattr(self._growth, name)
        growth.alive[:, :old_block] = self._growth.alive
        streams = _no_streams(n_streams, max(block, *widths), block)
        _put(streams, self._streams)
        scales = _no_scales(n_streams, self._scales[0].shape[1], self._scales[2].shape[1])
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
            kinds = Kinds(naive[0], naive[1], logistic[0], logistic[1], used)
            met, seen, times, mean, squares, origin = self._scales
            rooms = Rooms(self.bank.numeric, met, seen, times, mean, squares, origin, self._first, self._block)
            sizes = int(self._first[-1]), *self._streams.examples.shape[:2]
            self._model = Model(
                kinds,
                rooms,
                self._streams,
                self._weights,
                self._growth,
                _new_scratch(*sizes),
                self._events,
                self._clock,
            )
        return self._model

    def learn(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats, predictions: Labels) -> None:
        """Learn rows; before each row of the target write P(label) and the predictions, if there is room for them."""
        rows = self.bank.inputs(rows)
        truth = np.ascontiguousarray(truth)
        number = self.names.index(stream)
        if number:
            learn_source_rows(self.model(), self._objective, number, rows, truth)
            return
        row = 0
        while True:
            row = learn_target_rows(self.model(), self._objective, rows, Block(truth, probabilities, predictions), row)
            self._read_events()
            if row >= len(truth):
                return

    def _read_events(self) -> None:
        for time, kind, label, column in self._events[: self._clock[layout.EVENTS], :4].tolist():
            self.events.append(Event(time, label, kind, self.place(column)))
        self._clock[layout.EVENTS] = 0

    def predict(self, rows: Rows, probabilities: Floats) -> None:
        """Write P(label) of all target labels for every row."""
        model = self.model()
        sizes = int(self._first[-1]), *self._streams.examples.shape[:2]
        if self._clock[layout.STALE] and not self._weights.begun[: len(self.labels[0])].all():
            model = _copied(model)  # labels begin, but only for this prediction
        else:
            model = model._replace(scratch=_new_scratch(*sizes), clock=np.zeros_like(self._clock))
        predict_rows(model, self.bank.inputs(rows), probabilities)

    def decide(self, probabilities: Floats) -> Labels:
        """Return the predictions for P(label) of the target labels."""
        n_labels = probabilities.shape[1]
        predictions = np.zeros(probabilities.shape, np.int8)
        state = Thresholds(
            self._streams.counts[0, :n_labels],
            self._streams.shares[0, :n_labels],
            self._streams.cut[0, :n_labels],
            self._streams.judged[0],
        )
        decide(state, np.ascontiguousarray(probabilities), predictions)
        return predictions

    def thresholds(self) -> Floats:
        """Return the least P(label) at which each target label is predicted."""
        return threshold_of(self._streams.cut[0, : len(self.labels[0])])

    def signal(self, label: int) -> None:
        """Take note that a target label begins a new concept: all candidates get their prior weights again."""
        model = self.model()
        begin_concept(model.kinds, model.weights, model.rooms, model.growth, label)
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

    def count(self) -> int:
        """Return how many classifiers there are: of every label of every stream, and snapshots."""
        columns = sum(len(labels) for labels in self.labels) + len(self.labels[0]) + int(self._growth.alive.sum())
        return len(self.banks) * columns

    def room(self) -> dict[str, Any]:
        """Return how many columns there are for labels of the target and of sources."""
        return {"block": self._block, "widths": list(self._widths)}

    def parts(self) -> dict[str, Any]:
        """Return everything learnt but the classifiers, as NamedTuples of arrays."""
        met, seen, *numbers = self._scales
        n_inputs, n_numbers = len(self.bank.numeric), int((self.bank.numeric != PRESENCE).sum())
        return {
            "scales": ScaleArrays(met[:, :n_inputs], seen, *(array[:, :n_numbers] for array in numbers)),
            "streams": self._streams,
            "weights": self._weights,
            "growth": self._growth,
            "clock": Clock(self._clock),
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
        fits = len(widths) == len(streams) and len(self.labels[0]) <= block <= 2 * len(self.labels[0]) + 1
        fits = fits and all(len(a) <= b <= 2 * len(a) + 1 for a, b in zip(self.labels[1:], widths[1:], strict=True))
        require(fits and all(len(set(a)) == len(a) for a in self.labels), "the labels")
        self._make_scales(*2 * (np.zeros(0, np.int64),))
        self._move(block, widths)
        for bank in banks:
            require(len(bank) == int(self._first[-1]), "the classifiers")
        self.banks = list(banks)
        self._make_scales(*2 * (np.zeros(0, np.int64),))
        self._arrange()

    def take(self, parts: Mapping[str, Any]) -> None:
        """Take over what `parts` gave."""
        self._scales = tuple(parts["scales"])
        self._streams, self._weights, self._growth = parts["streams"], parts["weights"], parts["growth"]
        self._clock = parts["clock"].clock
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


def _with_slack(needed: int, room: int) -> int:
    return room if room >= needed else max(needed, room + room // 2)


def _grown(before: int, needed: int) -> int:
    """Return room for so many labels; further labels get room for a quarter more, as moving takes time."""
    return before if needed <= before else needed if before == 0 else max(needed, before + before // 4)


def _no_scales(rooms: int, inputs: int, numbers: int) -> tuple[Any, ...]:
    shape = (rooms, numbers)
    return (
        np.zeros((rooms, inputs), np.bool_),
        np.zeros((rooms, 2), np.int64),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
    )


def _no_streams(streams: int, labels: int, block: int) -> Streams:
    return Streams(
        labels=np.zeros(streams, np.int64),
        seen=np.zeros(streams, np.int64),
        examples=np.zeros((streams, labels, 2)),
        errors=np.full((streams, KINDS, labels, 2), FIRST_ERROR),
        counted=np.ones((streams, KINDS, labels, 2)),
        counts=np.zeros((streams, labels, 2, BINS)),
        shares=np.zeros((streams, labels, 2, BINS)),
        cut=np.full((streams, labels), BINS // 2),
        judged=np.zeros((streams, 1), np.int64),
        same=np.full((streams, block), -1),
    )


def _no_weights(labels: int, columns: int) -> Weights:
    return Weights(
        log=np.full((KINDS, labels, columns), ABSENT),
        floor=np.full((KINDS, columns), ABSENT),
        total=np.zeros((KINDS, labels)),
        leaders=np.zeros((KINDS, labels), np.int64),
        leader=np.zeros((KINDS, labels, LEADERS), np.int64),
        share=np.zeros((KINDS, labels, LEADERS)),
        begun=np.zeros(labels, np.bool_),
    )


def _no_growth(labels: int, slots: int) -> Growth:
    return Growth(
        young=np.zeros((labels, 2), np.int64),
        since=np.zeros((labels, 2), np.int64),
        taken=np.zeros(labels, np.int64),
        alive=np.zeros((slots, labels), np.bool_),
    )


def _new_scratch(columns: int, streams: int, labels: int) -> Scratch:
    return Scratch(
        np.zeros((KINDS, columns)),
        np.zeros((KINDS, 2, columns)),
        np.zeros((KINDS, labels)),
        np.zeros(labels),
        np.zeros(labels, np.int8),
        np.zeros((streams, labels + 1)),
    )


def _copied(part: Any) -> Any:  # noqa: ANN401 (NamedTuples of arrays, or what is in them)
    """Return a copy with copies of all arrays."""
    if isinstance(part, np.ndarray):
        return part.copy()
    return type(part)(*map(_copied, part)) if isinstance(part, tuple) else part


def _put(larger: Any, smaller: Any) -> None:  # noqa: ANN401 (NamedTuples of arrays)
    """Copy arrays into the beginning of larger ones."""
    for mine, theirs in zip(larger, smaller, strict=True):
        mine[tuple(slice(0, length) for length in theirs.shape)] = theirs
