"""The tasks of one stream: which sub-classifier learns each, and what happened to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.ensemble.state import Tasks

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Ints


NONE = -1
ARRAYS = ("latest", "background", "detector", "concepts", "made", "label", "given")


class StreamTasks:
    """For every task of a stream its latest and its background member, its detector, and its concepts so far.

    `made` counts all sub-classifiers a task ever had, dropped ones included: no two draw the same random numbers.
    `arrays` is what kernels see: the same arrays, not copies.

    Parameters
    ----------
    name
        The stream's name; None is the target.
    """

    latest: Ints
    background: Ints
    detector: Ints
    concepts: Ints
    made: Ints
    label: Ints
    given: Ints

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.seen = 0
        self.drifts: list[tuple[int, int]] = []
        self.set([], {array: np.zeros(0, np.int64) for array in ARRAYS})

    def __len__(self) -> int:
        return len(self.labels)

    def set(self, labels: Sequence[Hashable], arrays: Mapping[str, Ints]) -> None:
        """Replace labels and arrays."""
        self.labels = list(labels)
        self.column = {label: i for i, label in enumerate(labels)}
        for name in ARRAYS:
            setattr(self, name, arrays[name])
        signal = np.zeros(len(labels), np.uint8)
        self.arrays = Tasks(self.latest, self.background, self.detector, self.label, self.given, signal)

    def extend(self, labels: Sequence[Hashable], detectors: Ints, columns: Ints, given: Ints) -> None:
        """Add tasks without sub-classifiers: columns of the stream's labels, perhaps given others."""
        none, zero = np.full(len(labels), NONE), np.zeros(len(labels), np.int64)
        further = (none, none, detectors, zero, zero, columns, given)
        longer = {n: np.concatenate([getattr(self, n), more]) for n, more in zip(ARRAYS, further, strict=True)}
        self.set([*self.labels, *labels], longer)

    def remove(self, gone: Ints) -> None:
        """Remove tasks, and forget when they drifted."""
        kept = np.delete(np.arange(len(self)), gone)
        place = {int(task): i for i, task in enumerate(kept)}
        self.drifts = [(time, place[task]) for time, task in self.drifts if task in place]
        self.set([self.labels[task] for task in kept], {name: getattr(self, name)[kept] for name in ARRAYS})
