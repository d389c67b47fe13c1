"""Sentences that say what a picture shows, computed from its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene.report import _tables as tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene._common.arrays import Floats, Ints
    from marlene.report._history import History

BACK = 0.01
"""A score is back if it is at most this much below what it was before a drift."""
FELL = 0.03
"""A score fell if it is at least this much lower."""
MOST_DRIFTS = 3


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "label"), counted(1200, "label")
    ('1 label', '1,200 labels')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return names with commas and an *and*.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d", "e"])
    ('a, b and c', 'a, b, c and 2 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def of_scores(macro: Floats, times: Ints, drifts: Sequence[int], full: int) -> str:
    """Say where a score over time was lowest and highest, and what true drifts did to it.

    Values before example `full`, when the first window was not full yet, do not count.
    """
    if not len(macro):
        return "No example was scored."
    if times[-1] > full:
        macro, times = macro[times >= full], times[times >= full]
    low, high = int(np.argmin(macro)), int(np.argmax(macro))
    first = (
        f"The Macro-G-Mean in the last window is {macro[-1]:.3f}; it was lowest ({macro[low]:.3f}) at example "
        f"{times[low]:,} and highest ({macro[high]:.3f}) at example {times[high]:,}."
    )
    said = [first]
    for number, drift in enumerate(drifts[:MOST_DRIFTS]):
        until = drifts[number + 1] if number + 1 < len(drifts) else int(times[-1]) + 1
        said.append(_after_drift(macro, times, drift, until))
    return " ".join(part for part in said if part)


def _after_drift(macro: Floats, times: Ints, drift: int, until: int) -> str:
    after = np.flatnonzero((times > drift) & (times <= until))
    earlier = np.flatnonzero(times <= drift)
    if not len(after) or not len(earlier):
        return ""
    before, lowest = float(macro[earlier[-1]]), int(after[np.argmin(macro[after])])
    if before - macro[lowest] < FELL:
        return f"The drift at example {drift:,} (dashed) hardly changed it."
    fell = f"After the drift at example {drift:,} (dashed) it fell from {before:.3f} to {macro[lowest]:.3f}"
    back = after[(after > lowest) & (macro[after] >= before - BACK)]
    if len(back):
        return f"{fell} and was back at {macro[back[0]]:.3f} by example {times[back[0]]:,}."
    return f"{fell}; its last value before the next drift or the end is {macro[after[-1]]:.3f}."


def of_changes(history: History, n_labels: int) -> str:
    """Say how many labels changed, how often, and from whom they inherited."""
    changes = history.changes
    if not changes:
        return "The learner reports no drift of any label."
    heirs = {change["label"] for change in changes}
    said = (
        f"{len(heirs)} of {counted(n_labels, 'label')} changed, {counted(len(changes), 'time')} in all, as the bars "
        "below show."
    )
    kinds = [tables.kind_of(change) for change in changes]
    told = [f"{counted(kinds.count(kind), 'time')} from {kind}" for kind in tables.KINDS[:3] if kinds.count(kind)]
    return f"{said} A label inherited {listed(told)}." if told else said


def of_labels(rows: Sequence[dict[str, Any]], shown: Sequence[int], lines: Floats) -> str:
    """Say which labels are best and worst over the stream, and which fell most; `lines` are bins × labels."""
    seen = [row for row in rows if row["positives"]]
    if not seen:
        return "No label was ever true."
    best, worst = max(seen, key=lambda row: row["gmean"]), min(seen, key=lambda row: row["gmean"])
    said = (
        f"Over the whole stream {best['label']} is predicted best (G-Mean {best['gmean']:.3f}) and {worst['label']} "
        f"worst ({worst['gmean']:.3f})."
    )
    falls = []
    for q in shown:
        line = lines[:, q][np.isfinite(lines[:, q])]
        if len(line):
            falls.append((float(line.max() - line[-1]), rows[q]["label"], float(line.max()), float(line[-1])))
    if falls and max(falls)[0] > FELL:
        _, label, top, last = max(falls)
        said += f" {label} ends furthest below its best window: {last:.3f} instead of {top:.3f}."
    return said


def of_help(history: History, labels: Sequence[str]) -> str:
    """Say how much labels owe to others at the last look, and who gives most."""
    last = history.helps[history.helps[:, 0] == len(history.at) - 1] if len(history.at) else history.helps
    others = [
        (share, labels[int(q)], tables.giver_name(history.givers[int(giver)]))
        for _, q, giver, share in last.tolist()
        if history.givers[int(giver)] != (None, labels[int(q)])
    ]
    if not others:
        return "At the end every label is predicted by its own learners alone."
    share, heir, giver = max(others)
    helped = len({label for _, label, _ in others})
    mean = sum(share for share, _, _ in others) / len(labels)
    return (
        f"At the end {helped} of {counted(len(labels), 'label')} {'gets' if helped == 1 else 'get'} help from others: "
        f"{percent(mean)} of the weight of a label on average. The largest share is that of {giver} in {heir}: "
        f"{percent(share)}."
    )


def percent(share: float) -> str:
    """Return a share in percent, small ones with a digit more.

    Examples
    --------
    >>> percent(0.123), percent(0.0042)
    ('12%', '0.4%')
    """
    return f"{share:.0%}" if share >= 0.01 else f"{share:.1%}"


def of_thresholds(history: History, labels: Sequence[str]) -> str:
    """Say where the thresholds are at the end, and which moved most."""
    last = history.thresholds[-1] if len(history.thresholds) else np.zeros(0)
    known = np.flatnonzero(np.isfinite(last))
    if not len(known):
        return "This learner decides without a threshold for every label."
    low, high = known[np.argmin(last[known])], known[np.argmax(last[known])]
    moved = np.nanmax(history.thresholds[:, known], axis=0) - np.nanmin(history.thresholds[:, known], axis=0)
    most = int(np.argmax(moved))
    return (
        f"At the end thresholds lie between {last[low]:.2f} ({labels[low]}) and {last[high]:.2f} ({labels[high]}). "
        f"That of {labels[known[most]]} moved most, by {moved[most]:.2f}."
    )


def of_reliability(curve: Floats, error: float) -> str:
    """Say how far probabilities are from what came true, and in which direction."""
    count, probability, share = curve.T
    used = count > 0
    if not used.any() or not np.isfinite(error):
        return "The learner gave no probabilities."
    bias = float(((probability - share) * count)[used].sum() / count[used].sum())
    side = "too high" if bias > 0 else "too low"
    lean = f"on the whole {side} by {abs(bias):.1%}" if abs(bias) >= 0.005 else "with no lean to either side"
    return (
        f"A probability is off by {error:.1%} on average (expected calibration error), {lean}. A point on the dashed "
        "line would be exactly right; larger points stand for more predictions."
    )


def of_frequency(rows: Sequence[dict[str, Any]], true: float, predicted: float) -> str:
    """Say how many labels examples have, and which are the most frequent and the rarest."""
    ordered = sorted(rows, key=lambda row: -row["share"])
    return (
        f"An example has {true:.2f} true labels on average, and {predicted:.2f} are predicted. The most frequent is "
        f"{ordered[0]['label']} ({ordered[0]['share']:.1%} of the examples), the rarest {ordered[-1]['label']} "
        f"({ordered[-1]['share']:.2%}). Bars are what is true, ticks what is predicted."
    )


def of_pairs(columns: dict[str, Any]) -> str:
    """Say which label most often brings another along."""
    if not columns["share"]:
        return "No two labels ever come together."
    best = int(np.argmax(columns["share"]))
    first, second = (columns[name]["names"][columns[name]["codes"][best]] for name in ("label", "other"))
    return f"Of the examples with {first}, {columns['share'][best]:.0%} have {second}, too: the strongest pair shown."


def of_costs(examples: int, seconds: float, history: History, base: float, peak: float) -> str:
    """Say how fast learning was, whether it became slower, and what memory it took."""
    speed = examples / max(seconds, 1e-9)
    said = f"Predicting and learning took {seconds:.2f} s of CPU time, {speed:,.0f} examples a second."
    quarter = len(history.at) // 4
    if quarter:
        first = history.at[quarter - 1] / max(history.seconds[quarter - 1], 1e-9)
        rest = history.at[-1] - history.at[-1 - quarter], history.seconds[-1] - history.seconds[-1 - quarter]
        last = rest[0] / max(rest[1], 1e-9)
        said += f" In the last quarter it was {last:,.0f} a second, in the first {first:,.0f}."
    if peak - base < 1:
        return said + f" Memory stayed at {peak:.0f} MB, the stream and all programs included."
    return said + f" Memory rose from {base:.0f} MB to {peak:.0f} MB at its peak, the stream and all programs included."


def of_worst(worst: Sequence[dict[str, Any]], labels: Sequence[str]) -> str:
    """Say which examples are listed, and which label is wrong most often among them."""
    if not worst:
        return "No example was predicted badly."
    wrong: dict[str, int] = {}
    for example in worst:
        for q, truth, pred, _ in example["labels"]:
            if truth != pred:
                wrong[labels[q]] = wrong.get(labels[q], 0) + 1
    said = (
        f"These {counted(len(worst), 'example')} came with the greatest surprise, number {worst[0]['index']:,} first."
    )
    if wrong:
        name = max(wrong, key=lambda label: wrong[label])
        said += f" {name} is wrong most often among them: {counted(wrong[name], 'time')}."
    return said


def of_label(row: dict[str, Any], history: History, line: Floats, error: float) -> str:
    """Say how one label was predicted, when it changed, who votes on it, and what speaks for it.

    `error` is its expected calibration error.
    """
    label = row["label"]
    first = (
        f"{label} is true in {counted(row['positives'], 'example')} ({row['share']:.2%}) and predicted in "
        f"{row['predicted_share']:.2%}. Recall {row['recall']:.3f}, precision {row['precision']:.3f}, G-Mean "
        f"{row['gmean']:.3f} over the stream."
    )
    said = [first]
    known = line[np.isfinite(line)]
    if len(known):
        said.append(f"In the last window with an example of each class its G-Mean is {known[-1]:.3f}.")
    changes = [change for change in history.changes if change["label"] == label]
    if changes:
        last = changes[-1]
        said.append(
            f"It changed {counted(len(changes), 'time')}, last at example {last['time']:,}: {tables.said(last)}."
        )
    if np.isfinite(error):
        said.append(f"Its probabilities are off by {error:.1%} on average.")
    votes = tables.voters(history, [label])
    if votes["share"]:
        first_voter = votes["voter"]["names"][votes["voter"]["codes"][0]]
        said.append(f"The heaviest voter at the end is {first_voter}, with {percent(votes['share'][0])} of the vote.")
    features = history.features.get(label, {})
    for word in ("for", "against"):
        names = list(features.get(word, {}))
        if names:
            said.append(f"{listed(names[:3])} {'speaks' if len(names) == 1 else 'speak'} most {word} it.")
    return " ".join(said)
