"""Naive Bayes, logistic regression and the scales of their inputs: plain lists and sums."""

import math
from statistics import fmean, pvariance


class Scales:
    """The non-zero values of every numeric input, all of them kept."""

    def __init__(self, numeric):
        self.values = {slot: [] for slot in numeric}
        self.met = set()
        self.seen = 0

    def observe(self, row):
        self.seen += 1
        self.met |= {slot for slot, x in row.items() if not math.isnan(x)}
        for slot, x in row.items():
            if slot in self.values and not math.isnan(x):
                self.values[slot].append(x)

    def is_dense(self, slot):
        return 2 * len(self.values[slot]) > self.seen

    def scaled(self, slot, x):
        if slot not in self.values:
            return 1.0
        values = self.values[slot]
        if not values:
            return math.copysign(1.0, x)
        if self.is_dense(slot):
            deviation = math.sqrt(pvariance(values))
            z = (x - fmean(values)) / deviation if deviation > 0 else 0.0
        else:
            z = x / math.sqrt(fmean(value * value for value in values))
        return min(max(z, -5.0), 5.0)


class NaiveBayes:
    """One classifier. What an input adds is as it was when a training example last had it."""

    def __init__(self, scales, smoothing, pseudo_examples, weighted):
        self.scales = scales
        self.smoothing, self.pseudo, self.weighted = smoothing, pseudo_examples, weighted
        self.rows = ([], [])
        self.weights = [0.0, 0.0]
        self.gain, self.curve = {}, {}
        self.absent, self.refreshed = [0.0, 0.0], [0, 0]

    def count(self, y, slot):
        return sum(slot in row for row in self.rows[y])

    def present(self, y, slot):
        return (self.count(y, slot) + self.smoothing) / (len(self.rows[y]) + 2 * self.smoothing)

    def lacking(self, y, slot):
        return 1 - self.present(y, slot)

    def gaussian(self, y, slot):
        """Return mean and variance of the values of a class and of pseudo-examples like all values."""
        values, everyone = [row[slot] for row in self.rows[y] if slot in row], self.scales.values[slot]
        n = len(values) + self.pseudo
        mean = (sum(values) + self.pseudo * fmean(everyone)) / n
        spread = sum((x - mean) ** 2 for x in values)
        spread += self.pseudo * (pvariance(everyone) + (fmean(everyone) - mean) ** 2)
        return mean, spread / n + 1e-12

    def learn(self, row, y, weight):
        n_stored = len(row)
        row = {slot: x for slot, x in row.items() if not math.isnan(x)}
        times = weight if self.weighted else 1
        self.rows[y].extend([row] * times)
        self.weights[y] += weight
        for slot in row:
            odds = [self.present(c, slot) / self.lacking(c, slot) for c in (0, 1)]
            self.gain[slot] = math.log(odds[1] / odds[0])
            if slot in self.scales.values and self.scales.is_dense(slot):
                self.curve[slot] = (self.gaussian(0, slot), self.gaussian(1, slot))
        if len(self.rows[y]) >= self.refreshed[y] * (1 + 1 / 16):
            self.refreshed[y] = len(self.rows[y])
            self.absent[y] = sum(math.log(self.lacking(y, slot)) for slot in self.scales.met)
        else:
            n, a = len(self.rows[y]), self.smoothing
            self.absent[y] += (len(self.scales.met) - n_stored) * math.log((n + a) / (n - times + a))
            self.absent[y] -= len(self.scales.met) * math.log((n + 2 * a) / (n - times + 2 * a))

    def log_odds(self, row):
        total = math.log((self.weights[1] + 1) / (self.weights[0] + 1)) + self.absent[1] - self.absent[0]
        known = 0
        for slot, x in row.items():
            if math.isnan(x):
                total -= math.log(self.lacking(1, slot)) - math.log(self.lacking(0, slot))
                continue
            known += 1
            total += self.gain.get(slot, 0.0)
            if slot in self.curve and self.scales.is_dense(slot):
                negative, positive = self.curve[slot]
                total += log_normal(x, *positive) - log_normal(x, *negative)
        return total / math.sqrt(max(1, known))

    def vote(self, row):
        """Return the votes against and for."""
        if 0.0 in self.weights:
            return tuple(float(weight > 0) for weight in self.weights)
        p = 1 / (1 + math.exp(-self.log_odds(row)))
        return 1 - p, p


def log_normal(x, mean, variance):
    return -0.5 * (math.log(variance) + (x - mean) ** 2 / variance)


class Logistic:
    """One classifier, trained by AdaGrad on rows of length one."""

    def __init__(self, scales, rate, start, largest_weight):
        self.scales, self.rate, self.start, self.largest = scales, rate, start, largest_weight
        self.weights, self.squares = {None: 0.0}, {None: 0.0}
        self.examples = 0

    def inputs(self, row):
        z = {slot: self.scales.scaled(slot, x) for slot, x in row.items() if not math.isnan(x)}
        length = math.sqrt(1 + sum(value * value for value in z.values()))
        return {None: 1.0} | {slot: value / length for slot, value in z.items()}

    def vote(self, row):
        """Return the votes against and for."""
        if self.examples == 0:
            return 0.0, 0.0
        p = 1 / (1 + math.exp(-sum(self.weights.get(slot, 0.0) * z for slot, z in self.inputs(row).items())))
        return 1 - p, p

    def slope(self, row, y, weight):
        negative, positive = self.vote(row)
        return min(weight, self.largest) * ((positive if positive + negative > 0 else 0.5) - y)

    def learn(self, row, slope):
        self.examples += 1
        for slot, z in self.inputs(row).items():
            gradient = slope * z
            self.squares[slot] = self.squares.get(slot, 0.0) + gradient**2
            step = self.rate * gradient / math.sqrt(self.start + self.squares[slot])
            self.weights[slot] = self.weights.get(slot, 0.0) - step
