"""Thresholds and blends in plain Python."""

import math

from marlene.kernels.ensemble.blend import MEMORY, SHARPNESS, SMALLEST_ERROR
from marlene.kernels.ensemble.thresholds import BINS, EVERY, KEPT, PRIOR, WIDEST
from marlene.learners.marlene._decisions import FIRST_ERROR

MIDDLE = BINS // 2


def bin_of(score):
    """Return the bin of a score: bins are equally wide in log odds from -`WIDEST` to `WIDEST`."""
    if score <= 0 or score >= 1:
        return 0 if score <= 0 else BINS - 1
    place = (math.log(score / (1 - score)) + WIDEST) / (2 * WIDEST) * BINS
    return min(max(math.floor(place), 0), BINS - 1)


class Errors:
    """The squared errors of a voice on a label, by class, and how many examples they come from; both decay."""

    def __init__(self):
        self.sums, self.examples = [FIRST_ERROR, FIRST_ERROR], [1.0, 1.0]

    def copy(self):
        other = Errors()
        other.sums, other.examples = list(self.sums), list(self.examples)
        return other

    def count(self, said, y, w=1):
        self.sums[y] = MEMORY * self.sums[y] + w * (said - y) ** 2
        self.examples[y] = MEMORY * self.examples[y] + w

    def weight(self):
        """Return how much the voice counts."""
        mean = sum(self.sums[y] / self.examples[y] for y in (0, 1)) / 2
        return max(mean, SMALLEST_ERROR) ** -SHARPNESS


class Cuts:
    """Thresholds of all labels: for each label and class the number, and the sum of shares, of scores in each bin."""

    def __init__(self, n_labels, parts):
        self.parts = parts
        self.cut, self.counts, self.shares = [], [], []
        self.examples = 0
        self.add_labels(n_labels)

    def add_labels(self, count):
        for _ in range(count):
            self.cut.append(MIDDLE)
            self.counts.append([[0.0] * BINS for _ in range(2)])
            self.shares.append([[0.0] * BINS for _ in range(2)])

    def decide(self, scores):
        """Return the predictions."""
        return [
            int(not math.isnan(score) and bin_of(score) >= cut) for score, cut in zip(scores, self.cut, strict=True)
        ]

    def learn(self, scores, truth, w=1.0):
        sizes = [sum(y == c for y in truth) for c in (0, 1)]
        if sum(sizes) == 0:
            return
        for q, (score, y) in enumerate(zip(scores, truth, strict=True)):
            if y >= 0 and not math.isnan(score):
                self.counts[q][y][bin_of(score)] += w
                self.shares[q][y][bin_of(score)] += w / sizes[y]
        self.examples += 1
        if self.examples % EVERY == 0:
            self.choose()
            for bins in (bins for table in (*self.counts, *self.shares) for bins in table):
                bins[:] = [KEPT * count for count in bins]

    def right(self, table, cut, y):
        """Return how much of class y a cut gets right."""
        return sum(table[1][cut:]) if y else sum(table[0][:cut])

    def prior(self, cut, y):
        """Return how many of the pseudo-examples, spread evenly over their half, a cut gets right."""
        return PRIOR * (min(BINS - cut, MIDDLE) if y else min(cut, MIDDLE)) / MIDDLE

    def overall(self, tables):
        """Return what the present cuts get right of each class, and the G-Mean, over all labels."""
        prior = PRIOR * len(self.cut)
        right = [prior + sum(self.right(*pair, y) for pair in zip(tables, self.cut, strict=True)) for y in (0, 1)]
        everything = [prior + sum(sum(table[y]) for table in tables) for y in (0, 1)]
        return right, math.sqrt(right[0] / everything[0] * right[1] / everything[1])

    def choose(self):
        (micro, micro_g), (shares, shares_g) = self.overall(self.counts), self.overall(self.shares)
        self.values = []
        """What each cut of each label would be worth."""
        for q in range(len(self.cut)):
            values = []
            for cut in range(BINS + 1):
                tn, tp = (self.right(self.counts[q], cut, y) + self.prior(cut, y) for y in (0, 1))
                n, p = (sum(self.counts[q][y]) + PRIOR for y in (0, 1))
                value = self.parts.get("macro", 0) / len(self.cut) * math.sqrt(max(tp, 0) / p * tn / n)
                value += self.parts.get("micro", 0) * micro_g / 2 * (tp / micro[1] + tn / micro[0])
                stn, stp = (self.right(self.shares[q], cut, y) for y in (0, 1))
                value += self.parts.get("label_set", 0) * shares_g / 2 * (stp / shares[1] + stn / shares[0])
                value += self.parts.get("f1", 0) * 2 * tp / (tp + n - tn + p)
                value -= self.parts.get("false_positive", 0) * (n - tn)
                value -= self.parts.get("false_negative", 0) * (p - tp)
                values.append(value)
            self.values.append(values)
        self.cut = [max(range(BINS + 1), key=lambda cut: (values[cut], -abs(cut - MIDDLE))) for values in self.values]
