"""Which labels a label depends on most, counted example by example: the partners of BRPW-MARLENE with `pairs=m`."""

import math
from collections.abc import Hashable, Mapping, Sequence

Label = Hashable
Pair = tuple[Label, Label]

EVERY = 100
FACTOR = 4


class NaivePartners:
    """All examples in blocks of a hundred; the mutual information of two labels is taken from those that tell both.

    Parameters
    ----------
    m
        Number of partners of a label.
    fading
        Factor of the weight of an example at every later choice.
    margin
        A partner stays unless a label has more than four times its information and this much beyond, in 2 n times the
        information of n examples.
    """

    def __init__(self, m: int, fading: float, margin: float) -> None:
        self.m, self.fading, self.margin = m, fading, margin
        self.blocks: list[list[Mapping[Label, int]]] = [[]]
        self.chosen: dict[Label, list[Label]] = {}

    def learn(self, y: Mapping[Label, int], labels: Sequence[Label]) -> None:
        """Count an example; with every hundredth choose the partners of all labels anew."""
        self.blocks[-1].append(y)
        if len(self.blocks[-1]) == EVERY:
            self.chosen = {label: self.choose(label, labels) for label in labels}
            self.blocks.append([])

    def choose(self, label: Label, labels: Sequence[Label]) -> list[Label]:
        """Return the partners of a label, the best first; of equals the label that was known first."""
        rated = []
        for place, given in enumerate(labels):
            if given != label:
                value = self.information(given, label)
                if given in self.chosen.get(label, []):
                    value = FACTOR * value + self.margin / (2 * max(1.0, self.examples(given, label)))
                rated.append((-value, place, given))
        return [given for _, _, given in sorted(rated)[: self.m]]

    def weights(self, given: Label, label: Label) -> dict[tuple[int, int], float]:
        """Return the weight of the examples with each value of both labels."""
        found = {(a, b): 0.0 for a in (0, 1) for b in (0, 1)}
        for age, block in enumerate(reversed(self.blocks)):
            for y in block:
                if given in y and label in y:
                    found[y[given], y[label]] += self.fading**age
        return found

    def examples(self, given: Label, label: Label) -> float:
        """Return the weight of all examples that tell both labels."""
        return sum(self.weights(given, label).values())

    def information(self, given: Label, label: Label) -> float:
        """Return the mutual information of two labels, half an example added to each combination of their values."""
        counts = {values: weight + 0.5 for values, weight in self.weights(given, label).items()}
        total = sum(counts.values())
        return sum(
            counts[a, b]
            / total
            * math.log(counts[a, b] * total / ((counts[a, 0] + counts[a, 1]) * (counts[0, b] + counts[1, b])))
            for a in (0, 1)
            for b in (0, 1)
        )
