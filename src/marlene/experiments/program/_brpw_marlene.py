"""BRPW-MARLENE that reacts to a signalled drift as the authors' program does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from marlene.learners import BRPWMarlene

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


@dataclass(eq=False, repr=False)
class ProgramBRPWMarlene(BRPWMarlene):
    """BRPW-MARLENE that also begins a new concept of the pairs that are given a drifted label.

    Examples
    --------
    >>> model = ProgramBRPWMarlene(drift="oracle")
    >>> model.learn_one({"x": 1.0}, {"a": True, "b": False, "c": True})
    >>> before = model.counts()["models"]
    >>> model.signal_drift(["a"])  # a itself, two pairs that predict it, two that are given it
    >>> model.counts()["models"] - before
    5
    """

    def signal_drift(self, labels: Sequence[Hashable], stream: str | None = None) -> None:
        """Let each of the labels, and all pairs with one of them, begin a new concept now."""
        super().signal_drift(labels, stream)
        ensemble, drifted = self._pair_ensemble, set(labels)
        tasks = ensemble.streams[stream]
        for task, pair in enumerate(tasks.labels):
            given, label = cast("tuple[Hashable, Hashable]", pair)
            if given in drifted and label not in drifted:
                ensemble._begin_concept(tasks, task)  # noqa: SLF001 (what a signal does)
