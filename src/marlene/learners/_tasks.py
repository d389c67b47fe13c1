"""The tasks of one stream: which sub-classifier learns each, and what happened to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.ensemble import Tasks

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

NONE = -1


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

    def append(self, label: Hashable, detector: int, column: int, given: int = NONE) -> None:
        """Add a task, which has no sub-classifier yet: a column of the stream's labels, perhaps given another."""
        self.column[label] = len(self.labels)
        self.labels.append(label)
        self.latest = np.append(self.latest, NONE)
        self.background = np.append(self.background, NONE)
        self.detector = np.append(self.detector, detector)
        self.concepts = np.append(self.concepts, 0)
        self.made = np.append(self.made, 0)
        self.label = np.append(self.label, column)
        self.given = np.append(self.given, given)

    def arrays(self) -> Tasks:
        """Return what kernels see of the tasks: the same arrays, not copies."""
        self.signal = np.zeros(len(self), np.uint8)
        return Tasks(self.latest, self.background, self.detector, self.label, self.given, self.signal)
