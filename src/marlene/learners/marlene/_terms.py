"""Which inputs speak for a label and which against it: the terms that naive Bayes and linear classifiers add up.

A term is in log odds. Candidates of one kind vote by the mean of what they say, and so do kinds; the term of an input
is the mean of their terms by the same shares. Nearest neighbours have no terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.banks.neighbours import FILLED, NEXT
from marlene.kernels.banks.scales import FURTHEST, PRESENCE, USUAL, Scales
from marlene.kernels.tracking.state import BAYES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from marlene._common.arrays import Bools, Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.kernels.tracking.state import Model, Rooms
    from marlene.learners.input._features import FeatureSpace
    from marlene.learners.marlene._tracker import Tracker

Voter = tuple[int, int, float]
"""The kind and the column of a voter, and its share."""
Spoken = tuple["Ints", "Floats"]
"""Inputs, and the log odds that each adds."""
NO_SLOTS = np.zeros(0, np.int64)
MOST_ENTRIES = 30_000
"""How many inputs of the latest examples are looked at, at most."""


class InputEntries(NamedTuple):
    """Inputs of examples: the number of the example, the input and its value (NaN: missing) of each entry.

    Zeros, and missing values, say nothing to naive Bayes.
    """

    row: Ints
    slot: Ints
    value: Floats
    examples: int


def entries_of(rows: Rows, model: Model) -> InputEntries:
    """Return the inputs of rows, with the zeros of numbers that seldom are zero."""
    count, scales, slots, values = len(rows.starts) - 1, model.rooms.scales, [], []
    numbers = np.flatnonzero(model.rooms.numeric != PRESENCE)
    dense = np.any(2.0 * scales.times > scales.seen[:, :1], axis=0)
    numbers = numbers[np.asarray(dense)[model.rooms.numeric[numbers]]]
    for row in range(count):
        stored = slice(rows.starts[row], rows.starts[row + 1])
        zeros = np.setdiff1d(numbers, rows.indices[stored])
        slots.append(np.append(rows.indices[stored], zeros))
        values.append(np.append(rows.values[stored], np.zeros(len(zeros))))
    row_of = np.repeat(np.arange(count), [len(slot) for slot in slots])
    return InputEntries(row_of, np.concatenate([NO_SLOTS, *slots]), np.concatenate([np.zeros(0), *values]), count)


def latest(model: Model) -> tuple[InputEntries, Labels]:
    """Return the inputs and the labels of the latest examples of the target, as far as neighbours remember them.

    There may be many: at most about `MOST_ENTRIES` inputs are returned.
    """
    window, scales = model.kinds.window, _scales_of(model.rooms, 0)
    count, end = int(window.ring[FILLED]), int(window.ring[NEXT])
    newest_first = (end - 1 - np.arange(count)) % max(1, count)
    chosen = newest_first[np.cumsum(window.sizes[newest_first]) <= MOST_ENTRIES]
    listed = np.arange(window.where.shape[1]) < window.sizes[chosen, None]
    row, slot = np.nonzero(listed)[0], window.where[chosen][listed].astype(np.int64)
    z = window.value[chosen][listed].astype(np.float64) / window.constant[chosen].astype(np.float64)[row]
    i = scales.numeric[slot]
    number = i != PRESENCE
    centre, size = _centre_and_size(scales, i[number])
    value = np.ones(len(slot))
    value[number] = centre + size * z[number]
    return InputEntries(row, slot, value, len(chosen)), window.truth[chosen]


def _scales_of(rooms: Rooms, room: int) -> Scales:
    scales = rooms.scales
    names = ("met", "seen", "times", "mean", "squares", "origin", "missing")
    return Scales(rooms.numeric, *(getattr(scales, name)[room] for name in names))


def _dense(scales: Scales, i: Ints) -> Bools:
    return np.asarray(2.0 * scales.times[i] > scales.seen[0])


def _centre_and_size(scales: Scales, i: Ints) -> tuple[Floats, Floats]:
    """Return what numbers are measured from, and their unit; see `kernels.banks.scales.scaled`."""
    count = np.maximum(scales.times[i], 1.0)
    variance, mean, dense = scales.squares[i] / count, scales.mean[i], _dense(scales, i)
    part = count / np.maximum(scales.seen[0] - scales.missing[i], count)
    all_mean, all_variance = part * mean, part * (variance + (1.0 - part) * mean * mean)
    usual = all_mean * all_mean <= USUAL * USUAL * all_variance
    centre, spread = np.where(usual, all_mean, mean), np.where(usual, all_variance, variance)
    return np.where(dense, centre, 0.0), np.sqrt(np.where(dense, spread, variance + mean * mean))


class Terms:
    """What the inputs of some examples add to log odds, whoever votes.

    Parameters
    ----------
    model
        The classifiers.
    entries
        The inputs.
    """

    def __init__(self, model: Model, entries: InputEntries) -> None:
        self._model, self._entries = model, entries
        self._missing = np.isnan(entries.value) | (entries.value == 0.0)
        known = np.bincount(entries.row[~self._missing], minlength=entries.examples)
        self._certainty = (1.0 / np.sqrt(np.maximum(1, known)))[entries.row]
        self._values: dict[int, Floats] = {}

    def of(self, voters: Sequence[Voter]) -> Floats:
        """Return what each input adds to the log odds of a label, in the mean of the voters."""
        total = np.zeros(len(self._entries.slot))
        whole = sum(share for _, _, share in voters)
        first = self._model.rooms.first
        for kind in sorted({kind for kind, _, _ in voters}):
            for room in range(len(first) - 1):
                chosen = [(h, share) for k, h, share in voters if k == kind and first[room] <= h < first[room + 1]]
                if chosen:
                    columns = np.array([h for h, _ in chosen])
                    shares = np.array([share for _, share in chosen]) / whole
                    total += (self._bayes if kind == BAYES else self._linear)(room, columns, shares)
        return total

    def _linear(self, room: int, columns: Ints, shares: Floats) -> Floats:
        if room not in self._values:
            self._values[room] = _scaled(_scales_of(self._model.rooms, room), self._entries)
        weight = self._model.kinds.linear.weight[:, columns] @ shares
        return np.asarray(weight[self._entries.slot] * self._values[room])

    def _bayes(self, room: int, columns: Ints, shares: Floats) -> Floats:
        entries, bank, scales = self._entries, self._model.kinds.bayes, _scales_of(self._model.rooms, room)
        found: Floats = (bank.gain[:, columns] @ shares)[entries.slot]
        i = scales.numeric[entries.slot]
        number = np.flatnonzero((i != PRESENCE) & ~self._missing)
        number = number[_dense(scales, i[number])]
        i = i[number]
        x = entries.value[number] - scales.origin[i]
        c0, c1, c2 = (bank.curve[:, c, columns] @ shares for c in range(3))
        found[number] += c0[i] + x * (c1[i] + c2[i] * x)
        found[self._missing] = 0.0
        return np.asarray(found * self._certainty)


def _scaled(scales: Scales, entries: InputEntries) -> Floats:
    """Return the values of inputs as linear classifiers take them."""
    z = np.ones(len(entries.slot))
    i = scales.numeric[entries.slot]
    number = np.flatnonzero(i != PRESENCE)
    i, x = i[number], entries.value[number]
    centre, size = _centre_and_size(scales, i)
    without_size = np.where(2.0 * scales.times[i] > scales.seen[0], 0.0, np.sign(x))
    z[number] = np.divide(x - centre, size, out=without_size, where=size > 0)
    unseen = scales.times[i] < 1.0
    z[number[unseen]] = np.sign(x[unseen])
    z[number[(x == 0.0) & (np.abs(centre) > USUAL * size)]] = 0.0
    z[np.isnan(entries.value)] = 0.0
    z = np.clip(z, -FURTHEST, FURTHEST)
    length = np.sqrt(1.0 + np.bincount(entries.row, z * z, entries.examples))
    return np.asarray(z / length[entries.row])


def spoken(said: Floats, entries: InputEntries, truth: Labels, most: int) -> list[Spoken]:
    """Return the inputs that spoke most for a label in examples of known truth, then those most against it.

    The inputs that spoke for it are those that add most to its positive examples on average; those against it take most
    from its negative ones.
    """
    found = []
    for value, sign in ((1, 1.0), (0, -1.0)):
        of_class = (truth == value)[entries.row] & (sign * said > 0)
        total = np.bincount(entries.slot[of_class], said[of_class]) / max(1, int((truth == value).sum()))
        best = np.argsort(-np.abs(total), kind="stable")[:most]
        best = best[total[best] != 0]
        found.append((best, total[best]))
    return found


def input_names(tracker: Tracker, space: FeatureSpace, slots: Ints) -> list[str]:
    """Return the names of inputs: that of the feature; of a nominal one also the value."""
    kinds = tracker.bank.kinds
    begins = np.array([tracker.bank.input_of(feature, 1) for feature in range(len(kinds))])
    names, found = list(space.column), []
    for slot in slots.tolist():
        feature = int(np.searchsorted(begins, slot, side="right")) - 1
        name = str(names[feature])
        if space.kinds[feature] == "nominal":
            code = slot - int(begins[feature]) + 1
            code = 0 if code == int(tracker.values.tally.absent[feature]) else code
            values = {number: value for value, number in space.codes[feature].items()}
            name = f"{name}={values.get(code, code)}"
        found.append(name)
    return found
