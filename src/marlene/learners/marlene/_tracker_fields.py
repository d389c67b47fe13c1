"""What the arrays of a tracker must be like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import MOST_COUNTED
from marlene.banks._inputs import number_field
from marlene.kernels.decisions.calibration import LINE
from marlene.kernels.decisions.cuts import BINS
from marlene.kernels.tracking.state import (
    ABSENT,
    CLOCKS,
    EVENTS,
    KINDS,
    LEADERS,
    NOT_YET,
    QUIET,
    RECORDS,
    SEARCHING,
)
from marlene.learners.input._values import TALLY
from marlene.learners.marlene._decisions import SETS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Ints

LARGEST_LOG = 1e12
"""The largest logarithm of a leader's weight. It takes billions of examples; beyond it, differences would be lost."""


def _counted(axes: tuple[str | int, ...], says: str, dtype: str = "float64") -> Field:
    return Field(dtype, axes, says, least=0, most=MOST_COUNTED)


SCALES = Layout(
    "the scales of a tracker",
    {
        "met": Field("bool", ("streams", "inputs"), "whether an example had an input"),
        "known": Field("bool", ("streams", "inputs"), "whether one of the stream's own had it"),
        "seen": _counted(("streams", 2), "how many examples there were, and how many inputs were met", "int64"),
        "times": Field("float64", ("streams", "numbers"), "how often a number was not zero", least=0),
        "mean": number_field(("streams", "numbers"), "its mean"),
        "squares": Field("float64", ("streams", "numbers"), "the sum of squared deviations from it", least=0),
        "origin": number_field(("streams", "numbers"), "its first value"),
        "missing": Field("float64", ("streams", "numbers"), "how often it was missing", least=0),
    },
    (
        Rule("`seen` counts the inputs that were met", lambda a, _: (a["met"].sum(axis=1) == a["seen"][:, 1]).all()),
        Rule(
            "no number was there more often than examples",
            lambda a, _: (a["times"] + a["missing"] <= a["seen"][:, :1]).all(),
        ),
        Rule("what is known was met", lambda a, _: (a["known"] <= a["met"]).all()),
    ),
)


def _labels_searched(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    stream, label = arrays["searched"][..., 0], arrays["searched"][..., 1]
    return bool((stream < lengths["streams"]).all() and (label < np.maximum(1, arrays["labels"][stream])).all())


STREAMS = Layout(
    "the streams of a tracker",
    {
        "labels": Field("int64", ("streams",), "how many labels each stream has", least=0),
        "seen": _counted(("streams",), "how many examples each had", "int64"),
        "examples": _counted(("streams", "labels", 2), "negative and positive examples"),
        "lent": _counted(("streams", "labels", 2), "those of them that sources lent"),
        "errors": _counted(("streams", RECORDS, "labels", 2), "errors of every kind of classifiers"),
        "counted": Field("float64", ("streams", RECORDS, "labels", 2), "how many examples these are of", least=0),
        "counts": _counted(("streams", "labels", 2, BINS), "scores by bin"),
        "shares": _counted(("streams", "labels", 2, BINS), "the same, as shares of the labels of an example"),
        "cut": Field("int64", ("streams", "labels"), "the lowest bin that is predicted", least=0, most=BINS),
        "rows": _counted(("streams", 3), "how many examples there were, and sums of how much is certain"),
        "judged": _counted(("streams", 1), "how many examples thresholds were chosen after", "int64"),
        "lines": Field("float64", ("streams", "labels", LINE), "how probabilities follow from scores"),
        "same": Field("int64", ("streams", "block"), "the label that has the name of a target label, or -1", least=-1),
        "trust": Field("float64", ("streams", "labels"), "how much other labels trust a label", least=0, most=1),
        "learnt": Field("bool", ("streams",), "whether a source has learnt since"),
        "searched": Field("int64", ("block", "searched", 2), "streams and labels among which is searched", least=0),
        "search": Field("float64", ("block", "searched"), "how likely each is, as a logarithm"),
        "alone": Field("float64", ("block",), "how likely none is"),
    },
    (
        Rule("`labels` counts the names in the header", lambda a, _: np.array_equal(a["labels"], a["names"])),
        Rule(
            "`same` are labels of the stream",
            lambda a, _: (a["same"] < np.maximum(1, a["labels"])[:, np.newaxis]).all(),
        ),
        Rule("`searched` are labels that there are", _labels_searched),
        Rule("something was counted", lambda a, _: (a["counted"] > 0).all()),
        Rule("no more was lent than there is", lambda a, _: (a["lent"] <= a["examples"]).all()),
    ),
)


def _lists_are_whole(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    """Tell whether lists hold a label's learners, and of the pool guests in ascending order.

    A label that has not begun has none of these, another one has all, or as many as there are places.
    """
    residents, used, places, n_pool = arrays["residents"], arrays["used"], lengths["places"], lengths["pooled"]
    n_labels, n_residents = residents.shape
    pool, began = arrays["pool"][:n_pool], arrays["began"]
    spare = arrays["size"][:, n_labels:], arrays["leaders"][:, n_labels:], began[n_labels:]
    if not _ascends(pool) or np.isin(residents, pool).any() or any(array.any() for array in spare):
        return False
    for k, q in np.ndindex(KINDS, n_labels):
        size, count = int(arrays["size"][k, q]), int(arrays["leaders"][k, q])
        listed = arrays["candidate"][k, q, :size]
        guests = listed[n_residents:]
        if not (
            n_residents <= size <= places
            and count >= 1
            and np.array_equal(listed[:n_residents], residents[q])
            and _ascends(guests)
            and np.isin(guests, pool).all()
            and (len(guests) == 0 if began[q] == NOT_YET else size == places or len(guests) == n_pool or k not in used)
            and np.isin(arrays["leader"][k, q, :count], listed).all()
        ):
            return False
    return True


def _leaders_have_weight(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    """Tell whether no leader's weight is so small that differences of logarithms would be lost."""
    for k, q in np.ndindex(arrays["size"].shape):
        listed = arrays["candidate"][k, q, : arrays["size"][k, q]]
        leads = np.isin(listed, arrays["leader"][k, q, : arrays["leaders"][k, q]])
        if not (arrays["log"][k, q, : len(listed)][leads] >= -LARGEST_LOG).all():
            return False
    return True


def _ascends(columns: Ints) -> bool:
    return bool((np.diff(columns) > 0).all())


def _log(axes: tuple[str | int, ...], says: str) -> Field:
    return Field("float64", axes, says, least=2 * ABSENT, most=LARGEST_LOG)


WEIGHTS = Layout(
    "the candidates of a tracker",
    {
        "log": _log((KINDS, "block", "places"), "logarithms of the weights of candidates"),
        "candidate": Field("int64", (KINDS, "block", "places"), "their columns", least=0, most="columns"),
        "size": Field("int64", (KINDS, "block"), "how long the lists are", least=0),
        "floor": _log(("columns",), "the least weight of a column for any label, as a logarithm"),
        "pool": Field("int64", ("columns",), "columns that are candidates of all labels", least=0, most="columns"),
        "total": Field("float64", (KINDS, "block"), "the logarithm of the leaders' weight", -LARGEST_LOG, LARGEST_LOG),
        "leaders": Field("int64", (KINDS, "block"), "how many leaders there are", least=0, most=LEADERS),
        "leader": Field("int64", (KINDS, "block", LEADERS), "their columns", least=0, most="columns"),
        "share": Field("float64", (KINDS, "block", LEADERS), "their shares of the weight"),
        "began": Field("int64", ("block",), "how a label began", least=NOT_YET, most=SEARCHING),
        "silent": _log((KINDS, "block", 2), "the weight of one that always says 0.5, as a logarithm"),
        "least": _log((1,), "the floor of all that have one"),
    },
    (
        Rule("the clock says how many are in the pool", lambda _, n: 0 <= n["pooled"] <= n["columns"]),
        Rule("lists hold the learners of a label, then guests of the pool, ascending", _lists_are_whole),
        Rule("leaders have weight", _leaders_have_weight),
    ),
)
GROWTH = Layout(
    "the snapshots of a tracker",
    {
        "young": _counted(("block", 2), "examples that each young learner has learnt", "int64"),
        "since": _counted(("block", 2), "examples of each label since its last snapshot", "int64"),
        "taken": _counted(("block",), "how many snapshots each label has had", "int64"),
        "alive": Field("bool", ("slots", "block"), "which snapshots there are"),
    },
)
CLOCK = Layout(
    "the clock of a tracker",
    {"clock": Field("int64", (CLOCKS,), "whether a source has learnt since, events, size of the pool, quiet")},
    (
        Rule("there are no events", lambda a, _: a["clock"][EVENTS] == 0),
        Rule("neighbours are quiet or not", lambda a, _: a["clock"][QUIET] in (0, 1)),
    ),
)
PARTS = {
    "scales": SCALES,
    "streams": STREAMS,
    "clock": CLOCK,
    "weights": WEIGHTS,
    "growth": GROWTH,
    "sets": SETS,
    "values": TALLY,
}
"""All parts of a tracker by their prefix in files; the clock comes before the candidates."""
NEWER = {"streams": ("lent", "searched", "search", "alone")}
"""Arrays that older files lack: no label searched then."""
