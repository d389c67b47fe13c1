"""Thresholds, blends and the gate in plain Python."""

import math


def gated(records, own, votes, transfer):
    """Return P(label) from records (TP FP TN FN SC SW), who is the label's own, and votes (against, for)."""
    alphas = [sc / (sc + sw) if sc + sw > 0 else 0.0 for *_, sc, sw in records]
    best = max([alpha for alpha, mine in zip(alphas, own, strict=True) if mine], default=-1.0)
    total = [0.0, 0.0]
    for (tp, fp, tn, fn, *_), mine, vote, alpha in zip(records, own, votes, alphas, strict=True):
        if not mine and (transfer == "own" or (transfer == "gated" and alpha <= 1.1 * best)):
            continue
        n = tp + fp + tn + fn
        rare, common = (n / (2 * c) if c else 1.0 for c in (tp + fn, fp + tn))
        said_yes, said_no = tp * rare + fp * common, tn * common + fn * rare
        ppv = tp * rare / said_yes if said_yes else 0.0
        npv = tn * common / said_no if said_no else 0.0
        not_ppv, not_npv = (1 - ppv if said_yes else 0.0), (1 - npv if said_no else 0.0)
        total[1] += alpha * (vote[1] * ppv + vote[0] * not_npv)
        total[0] += alpha * (vote[0] * npv + vote[1] * not_ppv)
    return total[1] / sum(total) if sum(total) > 0 else math.nan


class Cuts:
    """Thresholds of all labels, from a list of everything that was seen."""

    def __init__(self, n_labels, parts):
        self.parts = parts
        self.cut = [50] * n_labels
        self.seen = [[] for _ in range(n_labels)]
        """For every label: class, bin, weight, and weight times the share among the example's labels of that class."""
        self.examples = 0

    def learn(self, scores, truth):
        sizes = [sum(y == c for y in truth) for c in (0, 1)]
        if sum(sizes) == 0:
            return
        for q, (score, y) in enumerate(zip(scores, truth, strict=True)):
            if y >= 0 and not math.isnan(score):
                self.seen[q].append([y, min(int(score * 100), 99), 1.0, 1.0 / sizes[y]])
        self.examples += 1
        if self.examples % 20 == 0:
            self.choose()
            for one in (one for label in self.seen for one in label):
                one[2] *= 0.99
                one[3] *= 0.99

    def right(self, q, cut, y, column):
        """Return how much of class y of a label a cut gets right."""
        return sum(one[column] for one in self.seen[q] if one[0] == y and (one[1] >= cut) == (y == 1))

    def total(self, q, y, column):
        return sum(one[column] for one in self.seen[q] if one[0] == y)

    def prior(self, cut, y):
        """Return how many of two pseudo-examples, spread evenly over their half, a cut gets right."""
        return 2.0 * (min(100 - cut, 50) if y else min(cut, 50)) / 50

    def overall(self, column):
        """Return what the present cuts get right of each class, and the G-Mean, over all labels."""
        labels, prior = range(len(self.cut)), 2.0 * len(self.cut)
        right = [sum(self.right(q, self.cut[q], y, column) for q in labels) + prior for y in (0, 1)]
        everything = [sum(self.total(q, y, column) for q in labels) + prior for y in (0, 1)]
        return right, math.sqrt(right[0] / everything[0] * right[1] / everything[1])

    def choose(self):
        (micro, micro_g), (shares, shares_g) = self.overall(2), self.overall(3)
        cuts = []
        for q in range(len(self.cut)):
            values = []
            for cut in range(101):
                tn, tp = (self.right(q, cut, y, 2) + self.prior(cut, y) for y in (0, 1))
                n, p = (self.total(q, y, 2) + 2.0 for y in (0, 1))
                value = self.parts.get("macro", 0) / len(self.cut) * math.sqrt(max(tp, 0) / p * tn / n)
                value += self.parts.get("micro", 0) * micro_g / 2 * (tp / micro[1] + tn / micro[0])
                stn, stp = (self.right(q, cut, y, 3) for y in (0, 1))
                value += self.parts.get("label_set", 0) * shares_g / 2 * (stp / shares[1] + stn / shares[0])
                value += self.parts.get("f1", 0) * 2 * tp / (tp + n - tn + p)
                value -= self.parts.get("false_positive", 0) * (n - tn)
                value -= self.parts.get("false_negative", 0) * (p - tp)
                values.append(value)
            cuts.append(values)
        self.values = cuts
        self.cut = [max(range(101), key=lambda cut: (values[cut], -abs(cut - 50))) for values in cuts]
