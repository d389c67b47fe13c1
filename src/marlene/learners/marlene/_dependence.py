"""How strongly labels depend on each other, and the partners of each label that follow."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.layouts import Field, Layout, Rule

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Labels

    Pair = tuple[Hashable, Hashable]

EVERY = 100
"""Partners are chosen every so many examples."""
LOYALTY = 4.0
"""A new partner must be better than a present one by this factor, and by the margin beyond that."""
AT_A_TIME = 64
"""Partners are chosen for so many labels at a time, to save memory."""

LAYOUT = Layout(
    "the dependence of labels",
    {
        "counts": Field(
            "float64", (4, "counted", "counted"), "examples with both labels, with one, with none", least=0
        ),
        "waiting": Field("int8", ("rows", "counted"), "labels not yet counted; -1 is unknown", least=-1, most=1),
    },
    (
        Rule("no more labels are counted than there are", lambda _, n: n["counted"] <= n["labels"]),
        Rule(f"fewer than {EVERY} rows wait", lambda _, n: n["rows"] < EVERY),
    ),
)


class Dependence:
    """Decaying counts of pairs of labels, from which their mutual information follows.

    Parameters
    ----------
    fading
        Factor of the counts at each choice of partners.
    margin
        By how much a new partner must be better, in 2 n times the information of n examples; chance makes about 1.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.random.default_rng(1).integers(0, 2, (100, 3)).astype(np.int8)
    >>> labels[:, 2] = labels[:, 0]
    >>> dependence = Dependence()
    >>> dependence.count(labels)
    >>> dependence.partners(["a", "b", "c"], 1, [])[:2]
    [('c', 'a'), ('a', 'b')]
    """

    def __init__(self, fading: float = 0.999, margin: float = 20.0) -> None:
        self.fading, self.margin = fading, margin
        self.counts: Floats = np.zeros((4, 0, 0))
        self.waiting: Labels = np.zeros((0, 0), np.int8)

    def room(self) -> int:
        """Return the number of examples until partners are chosen."""
        return EVERY - len(self.waiting)

    def count(self, truth: Labels) -> None:
        """Count at most `room()` examples; unknown labels (-1) do not count."""
        n_labels = truth.shape[1]
        more = n_labels - self.waiting.shape[1]
        self.waiting = np.pad(self.waiting, ((0, 0), (0, more)), constant_values=-1)
        self.counts = np.pad(self.counts, ((0, 0), (0, more), (0, more)))
        self.waiting = np.concatenate([self.waiting, truth])
        if self.room() == 0:
            yes, no = (self.waiting == 1).astype(np.float64), (self.waiting == 0).astype(np.float64)
            self.counts *= self.fading
            for both, (first, second) in enumerate(itertools.product((yes, no), repeat=2)):
                self.counts[both] += first.T @ second
            self.waiting = self.waiting[:0]

    @staticmethod
    def bytes_for(labels: int) -> int:
        """Return the memory of the counts of so many labels, and of one intermediate product."""
        return 5 * labels * labels * 8

    def information(self, labels: slice = slice(None)) -> Floats:
        """Return the mutual information of all labels (rows) and some of them (columns)."""
        smoothed = self.counts[:, :, labels] + 0.5
        joint = smoothed / smoothed.sum(axis=0)
        first = np.stack([joint[0] + joint[1]] * 2 + [joint[2] + joint[3]] * 2)
        second = np.stack([joint[0] + joint[2], joint[1] + joint[3]] * 2)
        information: Floats = (joint * np.log(joint / (first * second))).sum(axis=0)
        columns = np.arange(len(information))[labels]
        information[columns, np.arange(len(columns))] = -np.inf
        return information

    def partners(self, labels: Sequence[Hashable], m: int, present: Sequence[Pair]) -> list[Pair]:
        """Return for every label the pairs with the `m` labels it depends on most; prefer those already present."""
        place = {label: i for i, label in enumerate(labels)}
        partners_of: dict[Hashable, list[int]] = {}
        for given, label in present:
            partners_of.setdefault(label, []).append(place[given])
        chosen: list[Pair] = []
        for start in range(0, len(labels), AT_A_TIME):
            some = labels[start : start + AT_A_TIME]
            columns = slice(start, start + len(some))
            information = self.information(columns)
            ahead = self.margin / (2.0 * np.maximum(1.0, self.counts[:, :, columns].sum(axis=0)))
            for column, label in enumerate(some):
                own = partners_of.get(label, [])
                information[own, column] = LOYALTY * information[own, column] + ahead[own, column]
            best = np.argsort(-information, axis=0, kind="stable")[: min(m, len(labels) - 1)]
            chosen += [(labels[given], label) for i, label in enumerate(some) for given in best[:, i].tolist()]
        return chosen

    def state(self) -> Arrays:
        """Return everything as named arrays (copies)."""
        return {"counts": self.counts.copy(), "waiting": self.waiting.copy()}

    def restore(self, state: Mapping[str, Array], n_labels: int) -> None:
        """Take over what `state` gave; anything else is an error."""
        self.counts, self.waiting = LAYOUT.checked(state, labels=n_labels).values()
