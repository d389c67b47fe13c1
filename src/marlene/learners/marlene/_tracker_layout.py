"""Where a tracker keeps what: columns and arrays for all streams, labels and features, with room for new ones."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from marlene._common.arrays import room_of
from marlene._common.states import require
from marlene.banks._bank import INPUT, NUMBER
from marlene.kernels.banks.scales import PRESENCE
from marlene.kernels.tracking import state as layout
from marlene.kernels.tracking.state import EVENT_WIDTH, KINDS, OWN_PLACE, YOUNG_PLACE, RoomScales
from marlene.learners.input._values import CommonValues
from marlene.learners.marlene._decisions import no_sets
from marlene.learners.marlene._tracker_arrays import (
    copied,
    grown,
    is_room,
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

    from marlene._common.arrays import Ints
    from marlene.banks import InputBank, Neighbours
    from marlene.kernels.decisions.decide import Objective
    from marlene.kernels.tracking.state import Model

Part = TypeVar("Part")
SLOTS = 4
"""How many snapshots of each label are kept."""
CANDIDATES = 256
"""How many snapshots and learners of sources the list of a label holds at most."""
LEAST_EVENTS = 256
MOST_EVENTS = 10_000
"""How many changes of labels are kept: the latest."""
NOT_YET = -3 * 5.0
"""The first weight of a young learner, as a logarithm; the floor lifts it."""
NOTHING = np.zeros(0, np.int64)
ROLES = OWN, YOUNG, SNAPSHOT, WARM, SOURCE = "own", "young", "snapshot", "inherited", "source"


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


class Log(NamedTuple):
    """The changes of labels that were read, and the clock, which counts those to be read."""

    events: deque[Event]
    clock: Ints


class Clock(NamedTuple):
    """See `Model.clock`."""

    clock: Ints


def _twin(part: Part) -> Part:
    """Return another object with the same attributes (`copy.copy` asks a lot of questions first)."""
    other = object.__new__(type(part))
    other.__dict__.update(part.__dict__)
    return other


class TrackerLayout:
    """Which columns and arrays belong to which streams, labels and features, and room for new ones.

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
        self._block = 0
        self._widths = [0]
        self._first = np.zeros(2, np.int64)
        self._scales = no_scales(1, 0, 0)
        self._streams = no_streams(1, 0, 0, 0)
        self._weights = no_weights(0, 2, 0)
        self._growth = no_growth(0, self.slots)
        self._sets = no_sets()
        self._events = np.zeros((LEAST_EVENTS, EVENT_WIDTH), np.int64)
        self._log = Log(deque(maxlen=MOST_EVENTS), np.zeros(layout.CLOCKS, np.int64))
        self._model: Model | None = None
        self._steps = np.zeros(1, np.int64)
        self._begun: tuple[Model, tuple[int, ...], Model] | None = None
        self._table: Ints | None = None
        self._sources: tuple[Any, ...] = ()
        self.values = CommonValues()

    @property
    def _clock(self) -> Ints:
        return self._log.clock

    @property
    def events(self) -> deque[Event]:
        """The latest changes of labels."""
        self.read_events()
        return self._log.events

    def read_events(self) -> None:
        """Take over what kernels wrote down of labels that inherited, all or nothing."""
        count = int(self._clock[layout.EVENTS])
        if count:
            log = Log(self._log.events.copy(), self._clock.copy())
            for time, kind, label, column in self._events[:count, :4].tolist():
                log.events.append(Event(time, label, kind, self.place(column)))
            log.clock[layout.EVENTS] = 0
            self._log = log

    def fork(self) -> Self:
        """Return another tracker of the same arrays, to which features and labels may be added.

        As long as it has learnt nothing, this one stays as it is: what is added takes new arrays, or room that this one
        does not use.
        """
        other = _twin(self)
        other.banks = [_twin(bank) for bank in self.banks]
        other.neighbours = self.neighbours and _twin(self.neighbours)
        other.values = _twin(self.values)
        return other

    @property
    def bank(self) -> InputBank:
        """A bank; all have the same inputs."""
        return self.banks[0]

    def add_features(self, widened: Mapping[int, int], kinds: Sequence[int]) -> None:
        """Let nominal features have further values, and append features of these kinds."""
        if not widened and not kinds:
            return
        known = self.bank.kinds
        before = self.bank.inputs_of(known) if widened else NOTHING
        first, *others = self.banks
        for column, n_values in widened.items():
            first.widen(column, n_values)
            for bank in others:
                bank.widen(column, n_values)
        if kinds:
            first.add_features([*kinds])
            for bank in others:
                bank.share_inputs(first)
        self.values.arrange(self.bank.kinds)
        if widened:
            self._make_scales(before, self.bank.inputs_of(known))
        else:
            self._fit_inputs()

    def _fit_inputs(self) -> None:
        """Let the scales of all rooms, and neighbours, have a place for every input; known ones stay where they are."""
        room = self._scales.met.shape[1], self._scales.mean.shape[1]
        if self._sizes() != room:
            larger = no_scales(len(self._scales.met), *self._sizes())
            put(larger, self._scales)
            self._scales = larger
        if self.neighbours:
            self.neighbours.fit(inputs=self.bank.n_inputs)

    def room_for_inputs(self) -> float:
        """Return how many inputs arrays have room for."""
        rooms = [len(room_of(self.bank.numeric)), self._scales.met.shape[1], *(bank.room(INPUT) for bank in self.banks)]
        if self.neighbours:
            rooms.append(self.neighbours.room())
        return float(min(rooms))

    def room_for_numbers(self) -> float:
        """Return how many numeric inputs arrays have room for."""
        return float(min([self._scales.mean.shape[1], *(bank.room(NUMBER) for bank in self.banks)]))

    def _sizes(self) -> tuple[int, int]:
        """Return how many inputs, and numbers among them, there is to be room for."""
        met, mean = self._scales.met, self._scales.mean
        return with_slack(self.bank.n_inputs, met.shape[1]), with_slack(self.bank.n_numbers, mean.shape[1])

    def _make_scales(self, before: Ints, after: Ints) -> None:
        """Let the scales of all rooms have a place for every input; those at `before` are now at `after`."""
        scales, sizes = self._scales, self._sizes()
        if self.neighbours:
            self.neighbours.move(before, after, self.bank.n_inputs)
        larger = no_scales(len(scales.met), *sizes)
        put(larger, scales._replace(met=scales.met[:, :0], known=scales.known[:, :0]))
        larger.met[:, after] = scales.met[:, before]
        larger.known[:, after] = scales.known[:, before]
        self._scales = larger

    def add_labels(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        """Start learners for the labels that are new to a stream."""
        if stream in self.names and all(label in self.column[self.names.index(stream)] for label in labels):
            return
        self._take_copies()
        if stream not in self.names:
            self.names.append(stream)
            self.labels.append([])
            self.column.append({})
        number = self.names.index(stream)
        known = self.column[number]
        before = len(known)
        for label in labels:
            if label not in known:
                known[label] = len(known)
                self.labels[number].append(label)
        self._arrange({number: before})

    def _take_copies(self) -> None:
        """Have copies of all that new labels change in place."""
        self.names, self.labels = list(self.names), [list(labels) for labels in self.labels]
        self.column = [dict(column) for column in self.column]
        self._streams, self._weights = copied(self._streams), copied(self._weights)
        self._log = Log(self.events, self._clock.copy())

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
        streams = no_streams(n_streams, max(block, *widths), block, min(self.candidates, sum(widths)))
        put(streams, self._streams)
        scales = no_scales(n_streams, self._scales.met.shape[1], self._scales.mean.shape[1])
        put(scales, self._scales)
        self._weights, self._growth, self._streams, self._scales = weights, growth, streams, scales
        self._block, self._widths, self._first = block, widths, first

    def decided(self) -> Self:
        """Return a tracker in which the commonest values of nominal features stand for absence."""
        other = self.fork()
        other.forget_commonest()
        return other

    def forget_commonest(self) -> None:
        """Let the commonest values of nominal features stand for absence, in copies of all arrays."""
        self._scales = copied(self._scales)
        for bank in self.banks:
            bank.take_copies()
        if self.neighbours:
            self.neighbours.take_copies()
        for feature, value in self.values.decide():
            slot = self.bank.input_of(feature, value)  # stands for another value from now on
            self._forget(np.array([slot]))
            if self.neighbours:
                self.neighbours.forget_input(slot)

    def _forget(self, slots: Ints) -> None:
        """Let banks and scales forget what was learnt of inputs."""
        scales = self._scales
        before = scales.met[:, slots]
        scales.seen[:, 1] -= before.sum(axis=1)
        scales.met[:, slots] = scales.known[:, slots] = False
        for bank in self.banks:
            bank.forget(slots, np.repeat(before.T, np.diff(self._first), axis=1))

    def with_features(self, features: Ints) -> Self:
        """Return a tracker that has only these features, in copies of all arrays; none of the others is nominal."""
        other = self.fork()
        other._keep_features(features)  # noqa: SLF001 (of the same class)
        return other

    def _keep_features(self, features: Ints) -> None:
        known, inputs = self.bank.n_inputs, self.bank.inputs_at(features)
        numbers = self.bank.numeric[inputs]
        numbers = numbers[numbers != PRESENCE]
        self._scales = copied(self._scales)
        for bank in self.banks:
            bank.take_copies()
        self._forget(np.setdiff1d(np.arange(known), inputs))
        for bank in self.banks:
            bank.keep(features)
        scales = self._scales
        self._scales = no_scales(len(scales.met), scales.met.shape[1], scales.mean.shape[1])
        taken = {name: inputs if name in ("met", "known") else numbers for name in scales._fields}
        kept = {name: getattr(scales, name)[:, places] for name, places in taken.items() if name != "seen"}
        put(self._scales, scales._replace(**kept))
        self.values.keep(features)
        if self.neighbours:
            self.neighbours.keep(inputs, known)

    def room(self) -> dict[str, Any]:
        """Return how many columns there are for labels of the target and of sources, and how long lists may be."""
        return {"block": self._block, "widths": list(self._widths), "candidates": self.candidates}

    def parts(self) -> dict[str, Any]:
        """Return everything learnt but the classifiers, as NamedTuples of arrays."""
        self.read_events()
        n_inputs, n_numbers = self.bank.n_inputs, self.bank.n_numbers
        met, known, seen, *numbers = self._scales
        return {
            "scales": RoomScales(
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
        fits = len(widths) == len(streams) and widths[0] == 0 and is_room(block, len(self.labels[0]))
        fits = fits and all(is_room(b, len(a)) for a, b in zip(self.labels[1:], widths[1:], strict=True))
        require(fits and all(len(set(a)) == len(a) for a in self.labels), "the labels")
        self._make_scales(NOTHING, NOTHING)
        self._move(block, widths)
        for bank in banks:
            require(len(bank) == int(self._first[-1]), "the classifiers")
        self.banks = list(banks)
        self.values.arrange(self.bank.kinds)
        self._make_scales(NOTHING, NOTHING)
        self._arrange(dict.fromkeys(range(len(streams)), 0))

    def take(self, parts: Mapping[str, Any]) -> None:
        """Take over what `parts` gave."""
        self._scales = parts["scales"]
        self._streams, self._weights, self._growth = parts["streams"], parts["weights"], parts["growth"]
        self._sets, self._log = parts["sets"], Log(self.events, parts["clock"].clock)
        self.values.take(parts["values"])

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
