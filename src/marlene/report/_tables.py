"""From what a run recorded to the columns that charts are drawn from, each of a bounded length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.report._page import coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene._common.arrays import Floats, Ints
    from marlene.report._history import History

Columns = dict[str, Any]
MOST_LABELS = 64
"""How many labels are shown: the most frequent."""
POINTS = 600
"""How many points a line of scores has at most."""
LABEL_POINTS, LABEL_CELLS = 256, 7168
"""The same for the line of one label, and for the lines of all labels together."""
COLUMNS = 96
"""How many columns a heat map over time has at most."""
CHANGE_BINS = 120
MOST_CHANGES = 40
"""How many changes of one label are marked: the latest."""
MOST_HELPERS = 12_000
"""How many shares of helpers are shown, over all times: the largest."""
TOGETHER = 40
"""How many labels are compared by how often they come together."""
OTHERS = "another label"
SOURCE = "a source"
ITSELF = "its own past"
ALARM = "a drift"
KINDS = [OTHERS, SOURCE, ITSELF, ALARM]
ALL = "all labels"


def thinned(values: Floats, times: Ints, most: int) -> tuple[Floats, Ints]:
    """Return means over equal parts of a line, and the time at which each part ends.

    Examples
    --------
    >>> thinned(np.array([1.0, 3.0, 5.0, 7.0]), np.arange(1, 5), 2)
    (array([2., 6.]), array([2, 4]))
    """
    if len(values) <= most:
        return values, times
    starts = np.linspace(0, len(values), most, endpoint=False).astype(np.int64)
    ends = np.append(starts[1:], len(values))
    sums = np.add.reduceat(values, starts, axis=0)
    return sums / (ends - starts).reshape(-1, *([1] * (values.ndim - 1))), times[ends - 1]


def step_times(steps: Floats, start: int, window: int, examples: int) -> Ints:
    """Return how many examples there were at every step; of a stream without end there is a step per window."""
    every = 1 if len(steps) >= examples - start - 1 else window
    return start + 1 + every * np.arange(1, len(steps) + 1)


def ratios(counts: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return G-Mean, recall, specificity and share of positives; NaN where there is nothing to divide by."""
    tp, fp, tn, fn = np.moveaxis(np.asarray(counts, np.float64), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall, specificity = tp / (tp + fn), tn / (tn + fp)
        share = (tp + fn) / (tp + fp + tn + fn)
    return np.sqrt(recall * specificity), recall, specificity, share


def most_frequent(history: History, most: int = MOST_LABELS) -> list[int]:
    """Return the numbers of the labels that are shown, the most frequent first."""
    positives = history.counts[:, :, [0, 3]].sum(axis=(0, 2))
    return [int(q) for q in np.argsort(-positives, kind="stable")[:most]]


def label_lines(history: History, window: int, shown: Sequence[int], labels: Sequence[str]) -> Columns:
    """Return windowed scores of every shown label over time."""
    chosen, ends = _some(len(history.counts), min(LABEL_POINTS, LABEL_CELLS // len(shown))), history.ends()
    gmean, recall, specificity, share = (v[chosen][:, shown] for v in ratios(history.windowed(window)))
    return {
        "t": np.tile(ends[chosen], len(shown)),
        "label": _repeated([labels[q] for q in shown], len(chosen)),
        "gmean": gmean.T.ravel(),
        "recall": recall.T.ravel(),
        "specificity": specificity.T.ravel(),
        "share": share.T.ravel(),
    }


def label_heat(history: History, window: int, shown: Sequence[int], labels: Sequence[str]) -> Columns:
    """Return the windowed G-Mean of every shown label, in few columns of time."""
    chosen, ends = _some(len(history.counts), COLUMNS), history.ends()
    gmean = ratios(history.windowed(window))[0][chosen][:, shown]
    begins = np.append(0, ends[chosen][:-1])
    return {
        "t": np.tile(begins, len(shown)),
        "t2": np.tile(ends[chosen], len(shown)),
        "label": _repeated([labels[q] for q in shown], len(chosen)),
        "gmean": gmean.T.ravel(),
    }


def _some(count: int, most: int) -> Ints:
    """Return the places of at most so many equally distant items, the last among them."""
    return np.unique(np.linspace(0, count, min(count, most) + 1)[1:].round().astype(np.int64) - 1)


def _repeated(names: Sequence[str], times: int) -> Columns:
    return {"names": list(names), "codes": np.repeat(np.arange(len(names)), times)}


def kind_of(change: dict[str, Any]) -> str:
    """Return from whom a label inherited, or that it only drifted."""
    if not change["inherited"]:
        return ALARM
    if change["stream"] is not None:
        return SOURCE
    return ITSELF if change["giver"] == change["label"] else OTHERS


def changes_over_time(history: History) -> Columns:
    """Return how many labels changed in every part of the stream, by kind."""
    width = max(1, -(-history.examples // CHANGE_BINS))
    counts: dict[tuple[int, str], int] = {}
    for change in history.changes:
        cell = change["time"] // width, kind_of(change)
        counts[cell] = counts.get(cell, 0) + 1
    cells = sorted(counts, key=lambda cell: (cell[0], KINDS.index(cell[1])))
    high: list[int] = []
    for number, cell in enumerate(cells):
        below = high[-1] if number and cells[number - 1][0] == cell[0] else 0
        high.append(below + counts[cell])
    return {
        "t": [place * width for place, _ in cells],
        "t2": [min(history.examples, (place + 1) * width) for place, _ in cells],
        "kind": coded([kind for _, kind in cells]),
        "count": [counts[cell] for cell in cells],
        "low": [top - counts[cell] for top, cell in zip(high, cells, strict=True)],
        "high": high,
    }


def changes_of_labels(history: History, shown: Sequence[str]) -> Columns:
    """Return the latest changes and the true drifts of every shown label, in words."""
    rows: list[tuple[int, str, str, bool]] = []
    kept: dict[str, int] = dict.fromkeys(shown, 0)
    for change in reversed(history.changes):
        label = change["label"]
        if kept.get(label, MOST_CHANGES) < MOST_CHANGES:
            kept[label] += 1
            rows.append((change["time"], label, said(change), False))
    rows += [(time, label, "true drift", True) for label in shown for time in history.drifts.get(label, [])]
    times, labels, words, true = zip(*rows, strict=True) if rows else ((), (), (), ())
    return {"t": list(times), "label": coded(labels), "says": coded(words), "true": list(true)}


def said(change: dict[str, Any]) -> str:
    """Return a change in words."""
    kind = kind_of(change)
    if kind == ALARM:
        return "drift"
    if kind == ITSELF:
        return "inherited from its own past"
    return f"inherited from {change['giver']}" + (f" of {change['stream']}" if change["stream"] is not None else "")


def true_drifts(history: History) -> Columns:
    """Return the times of true drifts, each with how many labels drift."""
    counts: dict[int, int] = {}
    for times in history.drifts.values():
        for time in times:
            counts[time] = counts.get(time, 0) + 1
    return {"t": sorted(counts), "says": [f"true drift of {counts[time]} labels" for time in sorted(counts)]}


def giver_name(giver: tuple[str | None, str]) -> str:
    """Return the name of a giver."""
    return giver[1] if giver[0] is None else f"{giver[0]}: {giver[1]}"


def helpers(history: History, shown: Sequence[int], labels: Sequence[str]) -> Columns:
    """Return the share of every other giver in the weight of every shown label, at every look."""
    wanted, givers = set(shown), history.givers
    rows = [
        (int(point), labels[int(label)], giver_name(givers[int(giver)]), float(share))
        for point, label, giver, share in history.helps.tolist()
        if int(label) in wanted and givers[int(giver)] != (None, labels[int(label)])
    ]
    if len(rows) > MOST_HELPERS:
        least = sorted((share for *_, share in rows), reverse=True)[MOST_HELPERS - 1]
        rows = [row for row in rows if row[3] >= least]
    points, heirs, names, shares = zip(*rows, strict=True) if rows else ((), (), (), ())
    return {"point": list(points), "label": coded(heirs), "giver": coded(names), "share": list(shares)}


def thresholds(history: History, shown: Sequence[int], labels: Sequence[str]) -> Columns:
    """Return the threshold of every shown label at every look."""
    return {
        "t": np.tile(history.at, len(shown)),
        "label": _repeated([labels[q] for q in shown], len(history.at)),
        "threshold": history.thresholds[:, shown].T.ravel(),
    }


def frequency(rows: Sequence[dict[str, Any]], shown: Sequence[int]) -> Columns:
    """Return how often every shown label is true and predicted."""
    chosen = [rows[q] for q in shown]
    return {
        "label": coded([row["label"] for row in chosen]),
        "share": [row["share"] for row in chosen],
        "predicted": [row["predicted_share"] for row in chosen],
    }


def together(history: History, shown: Sequence[int], labels: Sequence[str]) -> Columns:
    """Return for pairs of labels the part of the examples with the first that have the second, too."""
    kept = [q for q in shown if q < len(history.together)][:TOGETHER]
    rows = [
        (labels[one], labels[other], float(history.together[one, other] / history.together[one, one]))
        for one in kept
        for other in kept
        if other != one and history.together[one, other] > 0
    ]
    first, second, share = zip(*rows, strict=True) if rows else ((), (), ())
    return {"label": coded(first), "other": coded(second), "share": list(share)}


def costs(history: History) -> Columns:
    """Return examples per second of learning between looks, and the memory at each."""
    before = np.append(0, history.at[:-1]), np.append(0.0, history.seconds[:-1])
    seconds = np.maximum(history.seconds - before[1], 1e-9)
    return {"t": history.at, "speed": (history.at - before[0]) / seconds, "memory": history.memory}


def voters(history: History, shown: Sequence[str]) -> Columns:
    """Return who votes on every shown label at the end."""
    rows = []
    for label in shown:
        for place, row in enumerate(history.voters.get(label, [])):
            whose = (row.get("stream"), str(row["label"]))
            part = [row["base"]] if "base" in row else []
            part += [row["role"]] if "role" in row else []
            part += [f"concept {row['concept']}"] if "concept" in row else []
            name = f"{giver_name(whose)}, {' '.join(part)}" if part else giver_name(whose)
            rows.append((label, name, float(row["share"]), place))
    named, who, share, places = zip(*rows, strict=True) if rows else ((), (), (), ())
    return {"label": coded(named), "voter": coded(who), "share": list(share), "place": list(places)}


def features(history: History, shown: Sequence[str]) -> Columns:
    """Return which features speak for and against every shown label."""
    rows = []
    for label in shown:
        said = history.features.get(label, {})
        listed = [*said.get("for", {}).items(), *said.get("against", {}).items()]
        rows += [(label, name, term, place) for place, (name, term) in enumerate(listed)]
    named, names, terms, places = zip(*rows, strict=True) if rows else ((), (), (), ())
    return {
        "label": coded(named),
        "feature": coded(names),
        "term": list(terms),
        "place": list(places),
        "speaks": coded(["for" if term > 0 else "against" for term in terms]),
    }
