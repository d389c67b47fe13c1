"""The windowed scores of a run: at every step, or for a stream of unknown length only their sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.layouts import Field, Layout
from marlene.metrics import TRACE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Floats

STEPS = Field("float64", ("steps", len(TRACE)), "the scores in the window at every step", least=0)
KEPT_STEPS = Layout("the scores of a run", {"steps": STEPS})
RUNNING_STEPS = Layout(
    "the scores of a run over a stream of any length",
    {
        "steps": Field("float64", ("steps", len(TRACE)), "the scores in the window at some steps", least=0),
        "sum": Field("float64", (len(TRACE),), "their sums over all steps", least=0),
        "last": Field("float64", (len(TRACE),), "those of the last step", least=0),
    },
)


class KeptSteps:
    """The scores at all of at most `steps` steps."""

    def __init__(self, steps: int) -> None:
        self._steps = np.empty((steps, len(TRACE)))
        self.count = 0

    def add(self, scores: Floats) -> None:
        """Add the scores of the next steps."""
        self._steps[self.count : self.count + len(scores)] = scores
        self.count += len(scores)

    @property
    def steps(self) -> Floats:
        """The scores at every step so far."""
        return self._steps[: self.count]

    def last(self) -> Floats:
        """Return the scores at the last step."""
        scores: Floats = self._steps[self.count - 1]
        return scores

    def mean(self) -> Floats:
        """Return the mean over all steps."""
        means: Floats = self.steps.mean(axis=0)
        return means

    def state(self) -> Arrays:
        """Return everything as named arrays."""
        return {"steps": self.steps}

    def restore(self, arrays: Mapping[str, Array], count: int) -> None:
        """Return to a state that `state` gave after so many steps."""
        self.count = count
        self._steps[:count] = KEPT_STEPS.checked(arrays, steps=count)["steps"]


class RunningSteps:
    """The sum of the scores at all steps, and the scores at every `every`-th."""

    def __init__(self, every: int) -> None:
        self._every = every
        self._sum, self._last = np.zeros(len(TRACE)), np.zeros(len(TRACE))
        self._some: list[Floats] = []
        self.count = 0

    def add(self, scores: Floats) -> None:
        """Add the scores of the next steps."""
        # In the order of the steps, so that the sum does not depend on how they are cut into blocks.
        self._sum = np.add.reduce(np.vstack([self._sum, scores]), axis=0)
        self._last = scores[-1]
        first = -(self.count + 1) % self._every
        self._some.append(scores[first :: self._every].copy())
        self.count += len(scores)

    @property
    def steps(self) -> Floats:
        """The scores at every `every`-th step so far."""
        self._some = [np.concatenate([np.zeros((0, len(TRACE))), *self._some])]
        return self._some[0]

    def last(self) -> Floats:
        """Return the scores at the last step."""
        return self._last

    def mean(self) -> Floats:
        """Return the mean over all steps."""
        return self._sum / self.count

    def state(self) -> Arrays:
        """Return everything as named arrays."""
        return {"steps": self.steps, "sum": self._sum, "last": self._last}

    def restore(self, arrays: Mapping[str, Array], count: int) -> None:
        """Return to a state that `state` gave after so many steps."""
        self.count = count
        some, self._sum, self._last = RUNNING_STEPS.checked(arrays, steps=count // self._every).values()
        self._some = [some]
