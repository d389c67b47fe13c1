"""The tasks of one stream: which sub-classifier learns each, and what happened to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.ensemble.state import Tasks

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from marlene._common.arrays import Ints


NONE = -1
ARRAYS = ("latest", "background", "detector", "concepts", "made", "label", "given")


class StreamTasks:
    """For every task of a stream its latest and its background member, its detector, and its concepts so far.

    `made` counts all sub-classifiers a task ever had, those dropped again included: no two draw the same numbers.
    `signal` is what the detectors said of the last example.

    Parameters
    ----------
    name
        The stream's name; None is the target.
    """

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.labels: list[Hashable] = []
        self.column: dict[Hashable, int] = {}
        self.latest: Ints = np.zeros(0, np.int64)
        self.background: Ints = np.zeros(0, np.int64)
        self.detector: Ints = np.zeros(0, np.int64)
        self.concepts: Ints = np.zeros(0, np.int64)
        self.made: Ints = np.zeros(0, np.int64)
        self.label: Ints = np.zeros(0, np.int64)
        self.given: Ints = np.zeros(0, np.int64)
        self.signal = np.zeros(0, np.uint8)
        self.seen = 0
        self.drifts: list[tuple[int, int]] = []

    def __len__(self) -> int:
        return len(self.labels)

    def extend(self, labels: Sequence[Hashable], detectors: Ints, columns: Ints, given: Ints) -> None:
        """Add tasks that have no sub-classifiers yet: columns of the stream's labels, perhaps given others."""
        self.column.update({label: len(self.labels) + i for i, label in enumerate(labels)})
        self.labels.extend(labels)
        none, zero = np.full(len(labels), NONE), np.zeros(len(labels), np.int64)
        further = (none, none, detectors, zero, zero, columns, given)
        for name, values in zip(ARRAYS, further, strict=True):
            setattr(self, name, np.concatenate([getattr(self, name), values]))

    def remove(self, gone: Ints) -> None:
        """Remove tasks; the times at which they drifted are forgotten."""
        kept = np.delete(np.arange(len(self)), gone)
        place = {int(task): i for i, task in enumerate(kept)}
        self.drifts = [(time, place[task]) for time, task in self.drifts if task in place]
        self.labels = [self.labels[task] for task in kept]
        self.column = {label: i for i, label in enumerate(self.labels)}
        for name in ARRAYS:
            setattr(self, name, getattr(self, name)[kept])

    def arrays(self) -> Tasks:
        """Return what kernels see of the tasks: the same arrays, not copies."""
        self.signal = np.zeros(len(self), np.uint8)
        return Tasks(self.latest, self.background, self.detector, self.label, self.given, self.signal)
