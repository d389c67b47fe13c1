"""Naive Bayes, logistic regression and the scales of their inputs: plain lists and sums."""

import math
from statistics import fmean

import numpy as np

from marlene.kernels.banks.naive_bayes import AT_LEAST, REFRESH, SMALLEST_VARIANCE, TOLERANCE
from marlene.kernels.banks.scales import FURTHEST, USUAL


def short(x):
    """Return a number as it is kept where there are many: with 24 bits."""
    return float(np.float32(x))


class Scales:
    """The non-zero values of every numeric input, all of them kept; `numeric` may grow."""

    def __init__(self, numeric):
        self.numeric = numeric
        self.values = {}
        self.met = set()
        self.seen = 0
        self.missing = {}
        self.known = {}

    def observe(self, row):
        self.seen += 1
        self.met |= {slot for slot, x in row.items() if not math.isnan(x)}
        for slot, x in row.items():
            if slot in self.numeric and not math.isnan(x):
                self.values.setdefault(slot, []).append(x)
            elif slot in self.numeric:
                self.missing[slot] = self.missing.get(slot, 0) + 1
        self.known = {}

    def moments(self, slot):
        """Return mean and variance."""
        if slot not in self.known:
            values = self.values[slot]
            mean = fmean(values)
            self.known[slot] = mean, fmean((x - mean) ** 2 for x in values)
        return self.known[slot]

    def is_dense(self, slot):
        return slot in self.values and 2 * len(self.values[slot]) > self.seen

    def scaled(self, slot, x):
        if slot not in self.numeric:
            return 1.0
        if slot not in self.values:
            return math.copysign(1.0, x)
        mean, variance = self.moments(slot)
        if self.is_dense(slot):
            values = self.values[slot] + [0.0] * (self.seen - self.missing.get(slot, 0) - len(self.values[slot]))
            all_mean = fmean(values)
            all_variance = fmean((value - all_mean) ** 2 for value in values)
            if all_mean**2 <= USUAL**2 * all_variance:
                mean, variance = all_mean, all_variance
            elif x == 0:
                return 0.0
            z = (x - mean) / math.sqrt(variance) if variance > 0 else 0.0
        else:
            size = math.sqrt(variance + mean * mean)
            z = x / size if size > 0 else (x > 0) - (x < 0)
        return min(max(z, -FURTHEST), FURTHEST)

    def inputs(self, row):
        """Return what inputs count, by slot: those a row has, and zeros where zero is a value like others."""
        full = row | {slot: 0.0 for slot in self.numeric if slot in self.values and slot not in row}
        z = {slot: self.scaled(slot, x) for slot, x in full.items() if not math.isnan(x)}
        return {slot: value for slot, value in z.items() if value != 0}


def is_due(count):
    """Tell whether what an input adds is computed afresh: for every number below 64, every second below 128, ..."""
    return int(count) % 2 ** max(0, int(count).bit_length() - 6) == 0


class NaiveBayes:
    """One classifier. What an input adds is as it was when it was last computed."""

    def __init__(self, scales, smoothing, pseudo_examples, weighted):
        self.scales = scales
        self.smoothing, self.pseudo, self.weighted = smoothing, pseudo_examples, weighted
        self.rows = ([], [])
        """The examples of each class, and how often each counts."""
        self.examples, self.present = [0.0, 0.0], ({}, {})
        self.weights = [0.0, 0.0]
        self.gain, self.curve = {}, {}
        self.absent, self.refreshed = [0.0, 0.0], [0.0, 0.0]

    def copy(self, positives=math.inf):
        """Return a copy whose examples count less, so that there are at most so many positive ones."""
        kept = min(1.0, positives / self.examples[1]) if self.examples[1] > 0 else 1.0
        heir = NaiveBayes(self.scales, self.smoothing, self.pseudo, self.weighted)
        heir.rows = tuple([(row, kept * times) for row, times in rows] for rows in self.rows)
        heir.examples = [kept * count for count in self.examples]
        heir.present = tuple({slot: kept * count for slot, count in counts.items()} for counts in self.present)
        heir.weights = [kept * weight for weight in self.weights]
        heir.gain, heir.curve, heir.absent = dict(self.gain), dict(self.curve), list(self.absent)
        heir.refreshed = list(heir.examples)
        return heir

    def having(self, y, slot):
        count = self.present[y].get(slot, 0.0)
        return (count + self.smoothing) / (self.examples[y] + 2 * self.smoothing)

    def lacking(self, y, slot):
        count = self.present[y].get(slot, 0.0)
        return (self.examples[y] - count + self.smoothing) / (self.examples[y] + 2 * self.smoothing)

    def gaussian(self, y, slot):
        """Return mean and variance of the values of a class and of pseudo-examples like all values."""
        values = [(row[slot], times) for row, times in self.rows[y] if slot in row]
        all_mean, all_variance = self.scales.moments(slot)
        n = sum(times for _, times in values) + self.pseudo
        mean = (sum(times * x for x, times in values) + self.pseudo * all_mean) / n
        spread = sum(times * (x - mean) ** 2 for x, times in values)
        spread += self.pseudo * (all_variance + (all_mean - mean) ** 2)
        return mean, spread / n + SMALLEST_VARIANCE

    def learn(self, row, y, weight, patience=1.0, importance=1):
        row = {slot: x for slot, x in row.items() if not math.isnan(x)}
        times = importance * (weight if self.weighted else 1)
        self.rows[y].append((row, times))
        self.examples[y] += times
        self.weights[y] += importance * weight
        for slot in row:
            self.present[y][slot] = self.present[y].get(slot, 0.0) + times
            if importance <= 1 and not is_due(self.present[y][slot]):
                continue
            odds = [self.having(c, slot) / self.lacking(c, slot) for c in (0, 1)]
            self.gain[slot] = short(math.log(odds[1] / odds[0]))
            if self.scales.is_dense(slot):
                self.curve[slot] = (self.gaussian(0, slot), self.gaussian(1, slot))
        self.update_absent(y, row, times, patience)

    def update_absent(self, y, row, times, patience):
        n, a = self.examples[y], self.smoothing
        late = n - self.refreshed[y]
        common = sum(self.present[y][slot] - times for slot in row)
        is_late = late >= patience * max(REFRESH * self.refreshed[y], AT_LEAST)
        if self.refreshed[y] == 0 or (is_late and common * late > TOLERANCE * n * n):
            self.refreshed[y] = n
            self.absent[y] = sum(math.log(self.lacking(y, slot)) for slot in self.scales.met)
            return
        met, before = len(self.scales.met), n - times
        others = sum(count for slot, count in self.present[y].items() if slot not in row)
        self.absent[y] += (met - len(row)) * math.log((n + a) / (before + a)) + others * times / (
            (before + a) * (n + a)
        )
        self.absent[y] -= met * math.log((n + 2 * a) / (before + 2 * a))

    def forget(self, slot):
        """Forget what was learnt of an input that was met."""
        for y in (0, 1):
            if self.refreshed[y] > 0:
                self.absent[y] -= math.log(self.lacking(y, slot))
            self.present[y].pop(slot, None)
            self.rows[y][:] = [({s: x for s, x in row.items() if s != slot}, times) for row, times in self.rows[y]]
        self.gain.pop(slot, None)

    def log_odds(self, row):
        total = math.log((self.weights[1] + 1) / (self.weights[0] + 1)) + self.absent[1] - self.absent[0]
        known = 0
        for slot, x in row.items():
            if math.isnan(x):
                if slot in self.scales.met:
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
        z = self.scales.inputs(row)
        length = math.sqrt(1 + sum(value * value for value in z.values()))
        return {None: 1.0} | {slot: value / length for slot, value in z.items()}

    def forget(self, slot):
        """Forget what was learnt of an input."""
        self.weights.pop(slot, None)
        self.squares.pop(slot, None)

    def copy(self, squares=1.0):
        """Return a copy that keeps a part of the sums of squares."""
        heir = Logistic(self.scales, self.rate, self.start, self.largest)
        heir.weights, heir.examples = dict(self.weights), self.examples
        heir.squares = {slot: squares * total for slot, total in self.squares.items()}  # a power of two: exact
        return heir

    def log_odds(self, row):
        return sum(float(self.weights.get(slot, 0.0)) * z for slot, z in self.inputs(row).items())

    def vote(self, row):
        """Return the votes against and for."""
        if self.examples == 0:
            return 0.0, 0.0
        p = 1 / (1 + math.exp(-self.log_odds(row)))
        return 1 - p, p

    def slope(self, row, y, weight):
        negative, positive = self.vote(row)
        return min(weight, self.largest) * ((positive if positive + negative > 0 else 0.5) - y)

    def learn(self, row, slope):
        self.examples += 1
        for slot, z in self.inputs(row).items():
            bits = float if slot is None else np.float32  # as they are kept; all but the constant are many
            gradient = bits(slope) * bits(z)
            total = bits(self.squares.get(slot, 0.0)) + gradient * gradient
            step = bits(self.rate) * gradient / bits(np.sqrt(bits(self.start) + total))
            self.squares[slot], self.weights[slot] = total, bits(self.weights.get(slot, 0.0)) - step
