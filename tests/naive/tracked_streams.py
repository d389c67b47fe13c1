"""What a tracker knows of the labels of a stream, in plain Python."""

import math

from marlene.kernels.banks.naive_bayes import LARGEST
from marlene.kernels.decisions.cuts import BINS
from marlene.kernels.tracking.learn import FAMILIAR
from marlene.kernels.tracking.state import VOICES
from marlene.kernels.tracking.weights import GOOD
from tests.naive.banks import Scales
from tests.naive.decisions import Errors
from tests.naive.row_decisions import Decisions


def probability(odds):
    return 1 / (1 + math.exp(-min(max(odds, -LARGEST), LARGEST)))


class Stream:
    """What is known of the labels of a stream."""

    def __init__(self, kinds, numeric, objective, is_target):
        self.kinds = kinds
        self.labels = []
        self.seen = 0
        self.errors = []
        self.lent = []
        self.is_target = is_target
        self.decisions = Decisions(0, objective)
        self.examples, self.cuts = self.decisions.examples, self.decisions.cuts
        self.scales = Scales(numeric)
        self.known = set()
        """The inputs of its own examples."""

    def add_label(self, name):
        self.labels.append(name)
        self.errors.append({k: Errors() for k in self.kinds})
        self.lent.append([0.0, 0.0])
        self.decisions.add_labels(1)

    def blend(self, q, said):
        """Return the mean of what those who vote say, weighted by how small their errors were."""
        weights = {k: self.errors[q][k].weight() for k in said}
        return sum(weights[k] * said[k] for k in said) / sum(weights.values())

    def voices(self, q):
        """Return the share of each kind, and of the neighbours, in the votes on a label."""
        weights = {k: errors.weight() for k, errors in self.errors[q].items() if k < VOICES}
        return {k: weight / sum(weights.values()) for k, weight in weights.items()}

    def learn(self, said, scores, truth, settled, w):
        """Learn from what kinds said of labels, and from their scores; `settled`, see `Cuts.learn`."""
        for q, y in enumerate(truth):
            if y >= 0:
                for k in said[q]:
                    self.errors[q][k].count(said[q][k], y, w)
        self.decisions.learn(scores, truth, settled=settled, sets=self.is_target, w=w)

    def borrow_examples(self, q, given, examples):
        """Let a label have so many examples of another one."""
        part = min(1.0, examples / max(1.0, sum(given)))
        for y in (0, 1):
            self.lent[q][y] += part * given[y]
            self.examples[q][y] += part * given[y]

    def own_examples(self, q):
        """Return how many negative and positive examples a label has had, without those lent."""
        return [self.examples[q][y] - self.lent[q][y] for y in (0, 1)]

    def class_weight(self, q, y):
        positive = (self.examples[q][1] + 1) / (sum(self.examples[q]) + 2)
        return 0.5 / (positive if y else 1 - positive)

    def trust(self, q, proven):
        """Return the area under the ROC curve above one half, in parts of a good one, if it is significant."""
        negative, positive = self.cuts.counts[q]
        n, p = sum(negative), sum(positive)
        if n < 1 or p < 1:
            return 0.0
        wins = sum(positive[b] * (sum(negative[:b]) + negative[b] / 2) for b in range(BINS))
        area = wins / (n * p) - 0.5
        error = math.sqrt((n + p + 1) / (12 * n * p))
        return min(1.0, area / GOOD) if area > proven * error else 0.0

    def is_familiar(self, row):
        """Tell whether enough inputs of a row were met."""
        return len(self.known & row.keys()) >= FAMILIAR * len(row)
