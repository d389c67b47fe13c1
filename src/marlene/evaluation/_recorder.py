"""Collect what a run is like over time, in bounded memory and for about a hundredth of its CPU time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.labels import UNKNOWN
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.resources import memory_mb
from marlene._common.states import refuse_other, restored_count
from marlene.report._history import COUNTED, History, check_worst
from marlene.report._history import TOGETHER as BOTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from marlene._common.arrays import Array, Arrays, Floats, Labels

BINS, LEAST_BINS, CELLS = 512, 64, 1 << 16
"""The most and the fewest bins; and with many labels, about how many bins × labels."""
POINTS = 48
"""How many times the learner is looked at, at most."""
LEAST_PACE = 128
"""How many examples there are between two looks, at least."""
GIVERS = 8
"""How many givers of a label are noted at a time, and how many voters at the end."""
LEAST_SHARE = 0.01
TOGETHER = 256
"""For how many labels it is counted which come together."""
WORST = 20
"""How many of the worst examples are kept, with so many of their labels and features."""
SHOWN_LABELS, SHOWN_FEATURES = 6, 8
CERTAIN = 1e-3
"""Probabilities count as no smaller than this, so that one bold mistake is not all."""
DEEP = 64
"""For how many labels, the most frequent, voters and features are noted at the end."""


def _are_known(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    return bool((arrays["helps"][:, :2] < (lengths["all labels"], lengths["givers"])).all())


COLLECTED = Layout("a history that is collected", {"counts": COUNTED, "together": BOTH})
POINT = Layout(
    "a point of a history that is collected",
    {
        "thresholds": Field("float64", ("labels",), "the thresholds of the labels that there were", bounded=False),
        "helps": Field("float64", ("rows", 3), "number of a label and of a giver; the giver's share", least=0),
    },
    (
        Rule("there were no more labels than there are", lambda _, n: n["labels"] <= n["all labels"]),
        Rule("`helps` names labels and givers", _are_known),
    ),
)
Example = dict[str, Any]


class Recorder:
    """Collects the `History` of one run.

    Parameters
    ----------
    n_labels, total
        Number of labels, and of examples if that is known.
    start
        Examples with a greater index may be among the worst.
    """

    def __init__(self, n_labels: int, total: int | None, start: int) -> None:
        self._start = start
        self.bins = min(BINS, max(LEAST_BINS, 2 * (CELLS // max(1, 2 * n_labels))))
        self.stride = 1 if total is None else max(1, math.ceil(total / self.bins))
        self.pace = LEAST_PACE if total is None else max(LEAST_PACE, math.ceil(total / POINTS))
        self._counts = np.zeros((self.bins, n_labels, 4), np.int64)
        self._together = np.zeros((min(n_labels, TOGETHER),) * 2)
        self._points: list[dict[str, Any]] = []
        self._givers: dict[tuple[str | None, str], int] = {}
        self._worst: list[Example] = []

    def add_labels(self, count: int) -> None:
        """Make room for more labels."""
        self._counts = np.pad(self._counts, ((0, 0), (0, count), (0, 0)))
        more = min(TOGETHER, self._counts.shape[1]) - len(self._together)
        self._together = np.pad(self._together, (0, more))

    def add(
        self, first: int, truth: Labels, pred: Labels, proba: Array | None, example: Callable[[int], Example]
    ) -> None:
        """Count a block of examples, the first of which has the index `first`; `example` returns one by its row."""
        end = first + len(truth)
        while end > self.bins * self.stride:
            self._counts = np.concatenate([self._counts[::2] + self._counts[1::2], np.zeros_like(self._counts[::2])])
            self.stride *= 2
        begun = first // self.stride, (end - 1) // self.stride + 1
        starts = np.maximum(np.arange(*begun) * self.stride - first, 0)
        for outcome, (value, said) in enumerate(((1, 1), (0, 1), (0, 0), (1, 0))):
            hits = (truth == value) & (pred == said)
            self._counts[begun[0] : begun[1], :, outcome] += np.add.reduceat(hits, starts, axis=0, dtype=np.int64)
        present = (truth[:, : len(self._together)] == 1).astype(np.float32)
        # Not a matrix product: threads of the BLAS would spin for longer than all of this takes.
        self._together += np.einsum("ni,nj->ij", present, present)
        self._keep_worst(first, truth, pred, proba, example)

    def _keep_worst(
        self, first: int, truth: Labels, pred: Labels, proba: Array | None, example: Callable[[int], Example]
    ) -> None:
        known = truth != UNKNOWN
        if proba is None:
            losses = ((pred != truth) & known).astype(np.float32)
        else:
            right = np.where(truth == 1, proba, 1.0 - proba)
            losses = -np.log(np.clip(right, CERTAIN, 1.0), dtype=np.float32)
            losses[~known] = 0.0
        means = losses.sum(axis=1, dtype=np.float64) / np.maximum(1, known.sum(axis=1))
        means[: max(0, self._start + 1 - first)] = -1.0
        least = self._worst[-1]["loss"] if len(self._worst) == WORST else 0.0
        chosen = np.argsort(-means, kind="stable")[:WORST]
        found = []
        for row in chosen[means[chosen] > least].tolist():
            columns = np.argsort(-losses[row], kind="stable")[:SHOWN_LABELS].tolist()
            told = [
                [int(q), int(truth[row, q]), int(pred[row, q]), None if proba is None else float(proba[row, q])]
                for q in columns
                if losses[row, q] > 0
            ]
            values = {str(name): value for name, value in example(row).items() if value and value == value}  # noqa: PLR0124 (NaN)
            shown = {name: values[name] for name in list(values)[:SHOWN_FEATURES]}
            found.append({"index": first + row, "loss": float(means[row]), "labels": told, "features": shown})
            found[-1]["more_features"] = len(values) - len(shown)
        if found:
            self._worst = sorted([*self._worst, *found], key=lambda kept: (-kept["loss"], kept["index"]))[:WORST]

    def look(self, model: object, labels: tuple[str, ...], done: int, seconds: float) -> None:
        """Look at the learner after `done` examples, a multiple of `pace`."""
        self._points.append(self._point(model, labels, done, seconds))
        if len(self._points) > POINTS:
            self._points = self._points[1::2]
            self.pace *= 2

    def _point(self, model: Any, labels: tuple[str, ...], done: int, seconds: float) -> dict[str, Any]:  # noqa: ANN401
        tell = getattr(model, "thresholds", None)
        known = tell() if callable(tell) else {}
        thresholds = np.array([known.get(label, math.nan) for label in labels], np.float64)
        return {
            "at": done,
            "thresholds": thresholds,
            "seconds": seconds,
            "memory": memory_mb(),
            "helps": self._helps(model, labels),
        }

    def _helps(self, model: Any, labels: tuple[str, ...]) -> Floats:  # noqa: ANN401 (some learners tell)
        tell = getattr(model, "transfer_matrix", None)
        if not callable(tell):
            return np.zeros((0, 3))
        place = {label: column for column, label in enumerate(labels)}
        rows = []
        for label, shares in tell().items():
            large = [item for item in shares.items() if item[1] >= LEAST_SHARE] if label in place else []
            for (stream, giver), share in sorted(large, key=lambda item: (-item[1], str(item[0])))[:GIVERS]:
                number = self._givers.setdefault((stream, str(giver)), len(self._givers))
                rows.append([place[label], number, share])
        return np.array(rows, np.float64).reshape(-1, 3)

    def history(
        self, model: object, labels: tuple[str, ...], drifts: Mapping[str, Any], done: int, seconds: float
    ) -> History:
        """Return all that was collected, with what the learner tells at the end."""
        points = list(self._points)
        if done and (not points or points[-1]["at"] < done):
            points.append(self._point(model, labels, done, seconds))
        used = -(-done // self.stride)
        thresholds = np.full((len(points), len(labels)), np.nan)
        for row, point in zip(thresholds, points, strict=True):
            row[: len(point["thresholds"])] = point["thresholds"]
        helps = [np.insert(point["helps"], 0, number, axis=1) for number, point in enumerate(points)]
        positives = self._counts[:, :, [0, 3]].sum(axis=(0, 2))
        deep = [labels[q] for q in np.argsort(-positives, kind="stable")[:DEEP].tolist()]
        voters = _voters(model, deep) if done else {}
        return History(
            stride=self.stride,
            examples=done,
            counts=self._counts[:used].copy(),
            at=np.array([point["at"] for point in points], np.int64),
            thresholds=thresholds,
            seconds=np.array([point["seconds"] for point in points], np.float64),
            memory=np.array([point["memory"] for point in points], np.float64),
            helps=np.concatenate([np.zeros((0, 4)), *helps]),
            together=self._together.copy(),
            givers=list(self._givers),
            drifts={label: [int(time) for time in times if time < done] for label, times in drifts.items() if times},
            changes=_changes(model, done),
            worst=[kept | {"labels": [list(row) for row in kept["labels"]]} for kept in self._worst],
            voters=voters,
            features=_features(model, deep) if done else {},
        )

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything as a JSON header and named arrays."""
        points = [{name: point[name] for name in ("at", "seconds", "memory")} for point in self._points]
        header = {"stride": self.stride, "pace": self.pace, "points": points, "worst": self._worst}
        header["givers"] = [list(giver) for giver in self._givers]
        arrays = {"counts": self._counts, "together": self._together}
        for number, point in enumerate(self._points):
            arrays |= {f"{name}.{number}": point[name] for name in ("thresholds", "helps")}
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Return to a state that `state` gave."""
        lengths = {"bins": self.bins, "labels": self._counts.shape[1], "first labels": len(self._together)}
        self._counts, self._together = COLLECTED.checked(arrays, **lengths).values()
        self.stride, self.pace = (restored_count(header[name], "the history", 1) for name in ("stride", "pace"))
        check_worst(header["worst"], self._counts.shape[1])
        self._worst = list(header["worst"])
        self._givers = {(stream, label): number for number, (stream, label) in enumerate(header["givers"])}
        for stream, label in self._givers:
            refuse_other([stream or "", label], [str], "the givers")
        lengths = {"all labels": self._counts.shape[1], "givers": len(header["givers"])}
        self._points = []
        for number, point in enumerate(header["points"]):
            own = POINT.checked({name: arrays[f"{name}.{number}"] for name in POINT.fields}, **lengths)
            numbers = {name: float(point[name]) for name in ("seconds", "memory")}
            self._points.append({"at": restored_count(point["at"], "the history"), **numbers, **own})


def _changes(model: Any, done: int) -> list[dict[str, Any]]:  # noqa: ANN401 (some learners tell)
    """Return when labels changed, in the order of time, and if the learner knows, from whom they inherited."""
    tell = getattr(model, "concepts", None)
    if not callable(tell):
        return []
    found = []
    for label, times in tell().items():
        for time in times:
            if time <= done:
                giver = times[time] if isinstance(times, Mapping) else None
                stream, name = giver or (None, None)
                told = {"time": int(time), "label": str(label), "inherited": giver is not None}
                found.append(told | {"stream": stream, "giver": None if giver is None else str(name)})
    return sorted(found, key=lambda change: change["time"])


def _voters(model: Any, labels: list[str]) -> dict[str, list[dict[str, Any]]]:  # noqa: ANN401
    tell = getattr(model, "explain", None)
    if not callable(tell):
        return {}
    # Without the features of every single voter: those of all together are noted, too.
    brief = {"most": 0} if callable(getattr(model, "telling_features", None)) else {}
    return {label: [_plain(row) for row in tell(label, **brief)[:GIVERS]] for label in labels}


def _features(model: Any, labels: list[str]) -> dict[str, dict[str, dict[str, float]]]:  # noqa: ANN401
    tell = getattr(model, "telling_features", None)
    if not callable(tell):
        return {}
    found: dict[str, dict[str, dict[str, float]]] = tell(labels)
    return found


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a voter's row says, as JSON can hold it."""
    kept = ("base", "role", "stream", "label", "concept", "share")
    return {name: str(row[name]) if name == "label" else row[name] for name in kept if name in row}
