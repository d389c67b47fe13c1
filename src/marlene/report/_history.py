"""What a run was like over time: plain data for its report, saved with its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import EVERY, refuse_other, require

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Ints


def _name_what_there_is(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    limits = (lengths["points"], lengths["labels"], lengths["givers"])
    return bool((arrays["helps"][:, :3] < limits).all())


COUNTED = Field("int64", ("bins", "labels", 4), "true positives, false positives, true and false negatives", least=0)
TOGETHER = Field("float64", ("first labels", "first labels"), "how many examples have both of two labels", least=0)
LAYOUT = Layout(
    "the history of a run",
    {
        "counts": COUNTED,
        "at": Field("int64", ("points",), "after how many examples the learner was looked at", least=0),
        "thresholds": Field("float64", ("points", "labels"), "the threshold of every label; or NaN", bounded=False),
        "seconds": Field("float64", ("points",), "CPU time of learning", least=0),
        "memory": Field("float64", ("points",), "memory of the process in MB", least=0),
        "helps": Field("float64", ("rows", 4), "number of a point, of a label, of a giver; the giver's share", least=0),
        "together": TOGETHER,
    },
    (
        Rule("`together` is of the first labels", lambda _, n: n["first labels"] <= n["labels"]),
        Rule("`helps` names what there is", _name_what_there_is),
    ),
)
PLAIN: dict[str, Any] = {
    "stride": int,
    "examples": int,
    "givers": list,
    "drifts": {EVERY: [int]},
    "changes": [{"time": int, "label": str, "inherited": bool, "stream": (str, None), "giver": (str, None)}],
    "worst": [{"index": int, "loss": float, "labels": [list], "features": dict, "more_features": int}],
    "voters": {EVERY: [{"label": str, "share": float}]},
    "features": {EVERY: {EVERY: {EVERY: float}}},
}
LABEL = (int, int, int, (float, None))
"""What is kept of a label of one of the worst examples: its place, what it was, what was predicted and how probably."""


def check_worst(worst: object, n_labels: int) -> None:
    """Refuse what are not the worst examples of a run, which have labels of so many."""
    refuse_other(worst, PLAIN["worst"], "the worst examples")
    for kept in cast("list[dict[str, Any]]", worst):
        for row in kept["labels"]:
            require(len(row) == len(LABEL), "the worst examples", "a run")
            for value, pattern in zip(row, LABEL, strict=True):
                refuse_other(value, pattern, "the worst examples, labels")
            require(0 <= row[0] < n_labels, "the worst examples", "a run")


@dataclass(frozen=True, eq=False)
class History:
    """What a run was like over time, in at most a few hundred points whatever its length.

    Parameters
    ----------
    stride, examples
        How many examples a bin has, and all examples.
    counts
        True positives, false positives, true negatives and false negatives in every bin (bins × labels × 4).
    at
        After how many examples the learner was looked at.
    thresholds
        The threshold of every label then (points × labels); NaN if there is none.
    seconds, memory
        CPU time of learning so far, and memory of the process in MB, at these points.
    helps
        Who helped whom: rows of the number of a point, of a label and of a giver, and the giver's share of the weight.
    together
        How many examples have both of two labels, for the first labels.
    givers
        Stream (None: the target) and label of every giver.
    drifts
        The true drifts of every label, if the stream knows them.
    changes
        What the learner says of drifts: time, label, and if it knows the stream and label that was inherited from.
    worst
        The examples that were predicted worst.
    voters, features
        For the most frequent labels: who votes at the end, and which features speak for and against.
    """

    stride: int
    examples: int
    counts: Ints
    at: Ints
    thresholds: Floats
    seconds: Floats
    memory: Floats
    helps: Floats
    together: Floats
    givers: list[tuple[str | None, str]]
    drifts: dict[str, list[int]]
    changes: list[dict[str, Any]]
    worst: list[dict[str, Any]]
    voters: dict[str, list[dict[str, Any]]]
    features: dict[str, dict[str, dict[str, float]]]

    def header(self) -> dict[str, Any]:
        """Return everything but the arrays, as JSON can hold it."""
        return {name: getattr(self, name) for name in PLAIN}

    def arrays(self) -> Arrays:
        """Return the arrays by name."""
        return {name: getattr(self, name) for name in LAYOUT.fields}

    @classmethod
    def of(cls, header: Mapping[str, Any], arrays: Mapping[str, Array], n_labels: int) -> History:
        """Return what `header` and `arrays` gave; refuse other shapes."""
        given: dict[str, Any] = {name: header[name] for name in PLAIN}
        given["givers"] = [(stream, str(label)) for stream, label in given["givers"]]
        refuse_other(given, PLAIN, "the history")
        check_worst(given["worst"], n_labels)
        require(given["stride"] >= 1 and given["examples"] >= 0, "the history", "a run")
        return cls(**given | LAYOUT.checked(arrays, labels=n_labels, givers=len(given["givers"])))

    def ends(self) -> Ints:
        """Return after how many examples each bin ended."""
        return np.minimum(self.stride * np.arange(1, len(self.counts) + 1), self.examples)

    def windowed(self, window: int) -> Floats:
        """Return the counts over the latest `window` examples at the end of every bin, as near as bins allow."""
        width = max(1, round(window / self.stride))
        sums = np.cumsum(self.counts, axis=0, dtype=np.float64)
        sums[width:] -= sums[:-width].copy()
        return sums
