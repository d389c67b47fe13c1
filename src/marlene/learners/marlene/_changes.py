"""A tracker and its features, changed example by example, each all or nothing.

An exception may be raised anywhere in Python code, by the handler of a signal, say. So an example that changes nothing
but numbers is learnt by one call of a kernel. One that brings new features or labels is learnt by a *fork* of the
tracker. Whether the kernel has counted the example decides whether the fork takes the tracker's place, or what was
added is forgotten. New features of plain numbers for which there is room need no fork: their names and their places in
the room are all that a kernel needs. Space and tracker are told of them *late*, of many at once, when somebody asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from marlene.learners._whole import Undivided
from marlene.learners.input._features import PLAIN
from marlene.learners.input._rows import single_row
from marlene.learners.marlene._desk import RowDesk

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from marlene._common.arrays import Ints
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import Block
    from marlene.learners.input._additions import Additions
    from marlene.learners.input._features import FeatureSpace
    from marlene.learners.input._known import Mark
    from marlene.learners.marlene._tracker import Tracker


Result = TypeVar("Result")
MOST_LATE = 64
"""Of how many features space and tracker are told late, at most."""


class Pending(NamedTuple):
    """A change under way: the fork, what was known before, and which stream, by number, has had how many examples."""

    tracker: Tracker
    mark: Mark
    number: int
    seen: int
    done: bool = False


class Fresh(NamedTuple):
    """An example with new features under way: how many features, late ones and examples there were before."""

    features: int
    late: int
    seen: int


class Changes:
    """A tracker and its features."""

    def __init__(self, space: FeatureSpace, tracker: Tracker) -> None:
        self.space = space
        self._tracker = tracker
        self._pending: Pending | Fresh | None = None
        self._late: list[str] = []
        self._desks: list[RowDesk] = []
        self._version = object()

    def settled(self) -> Tracker:
        """Return the tracker as it is before or after an example, never in between.

        Whoever asks may change it, so desks are looked at anew.
        """
        self._version = object()
        return self._whole()

    def _whole(self) -> Tracker:
        if self._pending is not None or self._late:
            with Undivided():  # the handler of a signal may ask, too
                if self._pending is not None:
                    self._settle(self._pending)
                if self._late:
                    self._tell_late()
        return self._tracker

    def _tell_late(self) -> None:
        """Tell space and tracker of late features, in a way that may be interrupted and repeated."""
        self.space.complete(self._late)
        lacking = self.space.forest_kinds(len(self._tracker.bank.kinds))
        if lacking:
            fork = self._tracker.fork()
            fork.add_features({}, lacking)
            self._tracker = fork
        self._late = []

    def change(self, make: Callable[[Tracker], Result]) -> Result:
        """Return what a change of the tracker returns; desks are looked at anew, even those used meanwhile."""
        try:
            return make(self.settled())
        finally:
            self._version = object()

    def _settle(self, pending: Pending | Fresh) -> None:
        """End a change, in a way that may be interrupted and repeated."""
        if isinstance(pending, Fresh):
            if self._tracker.seen(0) == pending.seen:
                self.space.forget_names(pending.features)
                del self._late[pending.late :]
                self._tracker.bank.clear_room(pending.features)
            self._pending = None
            return
        if pending.done or pending.tracker.seen(pending.number) != pending.seen:
            self._tracker = pending.tracker
        else:
            self.space.undo(pending.mark)
            self._tracker.bank.clear_room()
        if self._tracker.values.is_due:
            self._tracker = self._tracker.decided()
        self._pending = None

    def finish(self) -> None:
        """Let a change be done."""
        if isinstance(self._pending, Pending):
            self._pending = self._pending._replace(done=True)
            self._settle(self._pending)

    def _fork(self, stream: str | None) -> Tracker:
        tracker = self.settled()
        known = stream in tracker.names
        number = tracker.names.index(stream) if known else len(tracker.names)
        self._pending = Pending(tracker.fork(), self.space.mark(), number, tracker.seen(number))
        return self._pending.tracker

    def admit(self, stream: str | None, additions: Additions, labels: Sequence[Hashable]) -> Tracker:
        """Let new features and labels be known while an example is learnt; return the fork that knows them."""
        fork = self._fork(stream)
        self.space.add(additions)
        fork.add_features(*self.space.take_changes())
        fork.add_labels(stream, labels)
        return fork

    def declare(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        """Add labels of a stream, and the new features of the space."""
        tracker = self.settled()
        tracker.add_features(*self.space.take_changes())
        tracker.add_labels(stream, labels)

    def forget(self, columns: Ints, most: int) -> None:
        """Forget features, at once or not at all; there may be so many at most."""
        tracker = self.settled()
        if len(columns):
            kept = np.setdiff1d(np.arange(len(self.space)), columns)
            changed = {"space": self.space.without(columns, most), "_tracker": tracker.with_features(kept)}
            self.__dict__.update(changed)

    def learn(self, stream: str | None, rows: Rows, block: Block) -> None:
        """Learn rows, with what was admitted for them."""
        block, start = block._replace(truth=np.ascontiguousarray(block.truth)), 0
        try:
            while True:
                if isinstance(self._pending, Pending):
                    tracker = self._pending.tracker
                else:
                    tracker = self._fork(stream) if self._tracker.values.is_open else self._tracker
                start = tracker.learn(stream, rows, block, start)
                self.finish()
                if start >= len(block.truth):
                    return
        finally:
            self._version = object()

    def _desk(self, width: int) -> RowDesk | None:
        """Return room for an example of so many features; None if examples cannot be read there.

        `_desks` gets it back, so that nobody else uses it meanwhile. One that was looked at since anything but numbers
        changed is good.
        """
        try:
            version, desk = self._version, self._desks.pop()
        except IndexError:  # there is none, or somebody else has it
            pass
        else:
            if desk.version is version and self._pending is None and width <= desk.width:
                return desk
            self._desks.append(desk)
        version = self._version = object()
        tracker = self._whole()
        if not (self.space.reads_plainly() and tracker.labels[0]):
            return None
        desk = self._fitting_desk(tracker, width)
        desk.version, desk.can_decide = version, tracker.is_ready()
        return desk

    def _fitting_desk(self, tracker: Tracker, width: int) -> RowDesk:
        kinds = self.space.numbers()
        while self._desks:
            try:
                desk = self._desks.pop()
            except IndexError:
                break
            if desk.fits(tracker, kinds, width):
                return desk
        return RowDesk(tracker, kinds, width)

    def decided_plainly(self, x: Mapping[Hashable, Any], what: str) -> dict[Hashable, Any] | None:
        """Return scores, probabilities or predictions of an example of plain numbers; None if it is no such example."""
        desk = self._desk(len(x))
        if desk is None:
            return None
        found = None
        if desk.can_decide:
            column = self.space.column
            count = desk.put(x, column)
            if count < 0:
                count = desk.put({name: value for name, value in x.items() if name in column}, column)
            if count >= 0 and desk.decide(count):
                found = dict(zip(desk.labels, getattr(desk, what).tolist(), strict=True))
        self._desks.append(desk)
        return found

    def learnt_plainly(self, x: Mapping[Hashable, Any], y: Mapping[Hashable, Any], weight: float) -> RowDesk | None:
        """Learn an example of plain numbers and of the known labels; return its desk, None if it was not learnt."""
        desk = self._desk(len(x))
        if desk is None:
            return None
        if not desk.put_truth(y, weight):
            self._desks.append(desk)
            return None
        count = desk.put(x, self.space.column)
        if count >= 0:
            learnt = desk.learn(count) == 1
            self._desks.append(desk)
            return desk if learnt else None
        with Undivided():  # the handler of a signal may use the model, and finds it before or after the example
            learnt = desk.version is self._version and self._learnt_with_new_features(desk, x)
            self._desks.append(desk)
            return desk if learnt else self._learnt_by_fork(x, y, weight)

    def learnt_row(self, X: Any, Y: Any, weight: float) -> RowDesk | None:  # noqa: ANN401 (array-likes)
        """Learn a matrix of one row of known features and its labels; return its desk, None if it was not learnt."""
        row = single_row(X)
        desk = None if row is None else self._desk(len(row[0]))
        if row is None or desk is None:
            return None
        columns, values, n_columns = row
        layout, learnt = self.space.layouts.get(None), False
        if n_columns == (len(self.space.column) if layout is None else len(layout)) and desk.put_truth_row(Y, weight):
            learnt = desk.learn(desk.put_columns(columns if layout is None else layout[columns], values)) == 1
        self._desks.append(desk)
        return desk if learnt else None

    def _learnt_with_new_features(self, desk: RowDesk, x: Mapping[Hashable, Any]) -> bool:
        """Learn an example of plain numbers, some of them new features, if there is room for these."""
        column, late = self.space.column, self._late
        new = self.space.new_kinds(x) if PLAIN.issuperset(map(type, x.values())) else None
        if not new or len(late) + len(new) > MOST_LATE:
            return False
        known = len(column)
        numbers = self._tracker.bank.n_numbers + late.count("numeric")
        if not desk.has_room(known + len(new), numbers + len(new)):
            return False
        self._pending = fresh = Fresh(known, len(late), self._tracker.seen(0))
        desk.note(known, self.space.numbers_of(new), numbers)
        column.update(zip(new, range(known, known + len(new)), strict=True))
        late.extend(new.values())
        count = desk.put(x, column)
        if count >= 0 and self._pending is fresh and desk.learn(count) == 1:
            self._pending = None
            return True
        self._settle(fresh)
        return False

    def _learnt_by_fork(self, x: Mapping[Hashable, Any], y: Mapping[Hashable, Any], weight: float) -> RowDesk | None:
        self.settled()
        additions = self.space.plain_additions(x) if PLAIN.issuperset(map(type, x.values())) else None
        if not additions:
            return None
        fork = self.admit(None, additions, ())
        fork.make_room(len(x))
        desk = self._fitting_desk(fork, len(x))
        desk.version = None
        count = desk.put(x, self.space.column)
        if count >= 0 and desk.put_truth(y, weight) and desk.learn(count) == 1:
            self.finish()
            self._desks.append(desk)
            return desk
        self.settled()
        return None
