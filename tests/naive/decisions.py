"""Blends, and thresholds of labels, in plain Python."""

import math

from marlene.kernels.decisions.calibration import SUREST
from marlene.kernels.decisions.cuts import BINS, BORROWED, EVERY, HYSTERESIS, KEPT, PRIOR, PULL, RARE, WIDEST
from marlene.kernels.ensemble.blend import MEMORY, SHARPNESS, SMALLEST_ERROR
from marlene.learners.marlene._decisions import FIRST_ERROR

MIDDLE = BINS // 2


def lowering(scores):
    """Return by how much the log odds of the scores of an example are lowered."""
    surest = max((score for score in scores if score > 0.5), default=0.5)
    return PULL * math.log(surest / (1 - surest)) if surest < 1 - SUREST else PULL * math.log((1 - SUREST) / SUREST)


def bin_of(score, lower=0.0):
    """Return the bin of a score: bins are equally wide in log odds from -`WIDEST` to `WIDEST`."""
    if score <= 0 or score >= 1:
        return 0 if score <= 0 else BINS - 1
    place = (math.log(score / (1 - score)) - lower + WIDEST) / (2 * WIDEST) * BINS
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

    def value(self):
        """Return the mean error; both classes count the same."""
        return max(sum(self.sums[y] / self.examples[y] for y in (0, 1)) / 2, SMALLEST_ERROR)

    def weight(self):
        """Return how much the voice counts."""
        return self.value() ** -SHARPNESS


class Cuts:
    """Thresholds of all labels: for each label and class the number, and the sum of shares, of scores in each bin."""

    def __init__(self, n_labels, aims):
        self.aims = aims
        self.cut, self.counts, self.shares = [], [], []
        self.examples = 0
        self.rows, self.certain = 0.0, [0.0, 0.0]
        self.add_labels(n_labels)

    def add_labels(self, count):
        for _ in range(count):
            self.cut.append(MIDDLE)
            self.counts.append([[0.0] * BINS for _ in range(2)])
            self.shares.append([[0.0] * BINS for _ in range(2)])

    def decide(self, scores):
        """Return the predictions."""
        lower = lowering(scores)
        return [
            int(not math.isnan(score) and bin_of(score, lower) >= cut)
            for score, cut in zip(scores, self.cut, strict=True)
        ]

    def learn(self, scores, truth, settled=None, w=1.0):
        """Count the scores of an example; `settled`: cuts to take over from a twin where ours are as good."""
        sizes = [sum(y == c for y in truth) for c in (0, 1)]
        if sum(sizes) == 0:
            return
        if min(sizes) > 0:
            self.rows += w
            for y in (0, 1):
                self.certain[y] += w * sizes[y] ** -1.5
        for q, (score, y) in enumerate(zip(scores, truth, strict=True)):
            if y >= 0 and not math.isnan(score):
                self.counts[q][y][bin_of(score, lowering(scores))] += w
                self.shares[q][y][bin_of(score, lowering(scores))] += w / sizes[y]
        self.examples += 1
        if self.examples % EVERY == 0:
            if self.aims:
                self.choose(1, settled)
            for bins in (bins for table in (*self.counts, *self.shares) for bins in table):
                bins[:] = [KEPT * count for count in bins]
            self.rows *= KEPT
            self.certain = [KEPT * sum_ for sum_ in self.certain]

    def priors(self):
        """Return the pseudo-examples of a label in each bin, by class."""
        found = []
        for y in (0, 1):
            flat = [PRIOR / MIDDLE if (b >= MIDDLE) == (y == 1) else 0.0 for b in range(BINS)]
            smooth = [[count + more for count, more in zip(table[y], flat, strict=True)] for table in self.counts]
            shapes = [[count / sum(bins) for count in bins] for bins in smooth]
            mean = [sum(shape[b] for shape in shapes) / len(shapes) for b in range(BINS)]
            found.append([more + BORROWED * part for more, part in zip(flat, mean, strict=True)])
        return found

    def right(self, table, q, cut):
        """Return how much of the negatives and of the positives of a label a cut gets right."""
        return sum(table[q][0][:cut]), sum(table[q][1][cut:])

    def worth(self, aims, own, label, others, labels):
        """Return the objective.

        `own`, `others`: what a label, and all others, get right of negatives and positives, as counts and as shares;
        `label`, `labels`: how many the label, and all labels, have.
        """
        (tn, tp), (n, p) = own[0], label
        value = aims.get("macro", 0) / len(self.cut) * math.sqrt(max(tp, 0) / p * tn / n)
        value += aims.get("macro_f1", 0) / len(self.cut) * 2 * tp / (tp + n - tn + p)
        (tn, tp), (stn, stp) = ([a + b for a, b in zip(*pair, strict=True)] for pair in zip(own, others, strict=True))
        (n, p), (sn, sp) = labels
        value += aims.get("micro", 0) * math.sqrt(tp / p * tn / n)
        value += aims.get("micro_f1", 0) * 2 * tp / (tp + n - tn + p)
        if aims.get("label_set", 0) and self.rows:
            found = [max(stn / (sn + 1e-9), 0.0), max(stp / (sp + 1e-9), 0.0)]
            certain = [sum_ / self.rows for sum_ in self.certain]
            roots = [c * share + (1 - c) * math.sqrt(share) for c, share in zip(certain, found, strict=True)]
            value += aims["label_set"] * roots[0] * roots[1]
        return value

    def values_of(self, q, counts):
        """Return what each cut of a label is worth, all others as they are."""
        tables, aims = (counts, self.shares), self.aims_of(q)
        others = [
            [sum(self.right(table, r, cut)[y] for r, cut in enumerate(self.cut) if r != q) for y in (0, 1)]
            for table in tables
        ]
        labels = [[sum(sum(bins[y]) for bins in table) for y in (0, 1)] for table in tables]
        label = [sum(counts[q][y]) for y in (0, 1)]
        return [
            self.worth(aims, [self.right(table, q, cut) for table in tables], label, others, labels)
            for cut in range(BINS + 1)
        ]

    def aims_of(self, q):
        """Return what counts for a label: the rarer it is, the less do measures over all labels, if its own count."""
        positives, examples = sum(self.counts[q][1]) + 1, sum(map(sum, self.counts[q])) + 2
        part = min(1.0, positives / examples / RARE) if self.aims.get("macro") else 1.0
        return {name: weight * (part if name in ("micro", "label_set") else 1) for name, weight in self.aims.items()}

    def choose(self, sweeps, settled=None):
        prior = self.priors()
        counts = [
            [[count + more for count, more in zip(table[y], prior[y], strict=True)] for y in (0, 1)]
            for table in self.counts
        ]
        for _ in range(sweeps):
            before = list(self.cut)
            for q, present in enumerate(before):
                values = self.values_of(q, counts)
                best = max(range(BINS + 1), key=lambda cut: (values[cut], -abs(cut - MIDDLE)))
                gain = (values[best] - values[present]) * len(self.cut)
                self.cut[q] = best if gain > HYSTERESIS else present
                if settled is not None and self.cut[q] != settled[q]:
                    # two may be equally good but for the order in which numbers are added, or a gain be just enough
                    close = abs(values[settled[q]] - values[best]) < 1e-9 or (
                        settled[q] == present and abs(gain - HYSTERESIS) < 1e-9
                    )
                    assert close, (q, self.cut[q], settled[q])
                    self.cut[q] = settled[q]
            if self.cut == before:
                return
