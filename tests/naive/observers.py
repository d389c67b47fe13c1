"""What one leaf of the naive Hoeffding tree remembers about one feature, and how it would split on it.

"Item n" refers to the numbered list of tree semantics in the README of the golden traces. The order of every
floating point sum is part of the rules: two merits that are equal on paper may differ in the last bit, and
that bit decides between a multiway and a binary test (item 10) or between two features (item 8).
"""

import copy
import math
from collections.abc import Sequence
from typing import NamedTuple

LOG_2 = math.log(2.0)
SQRT_2_PI = math.sqrt(2.0 * math.pi)
SQRT_HALF = math.sqrt(0.5)
MINIMUM_BRANCH_FRACTION = 0.01


class Suggestion(NamedTuple):
    """The best test on one feature: its merit and the class counts each branch would start with."""

    merit: float
    feature: int
    test: str
    value: float
    branches: list[list[float]]


def total(values: Sequence[float]) -> float:
    """Sum from left to right; the built-in ``sum`` compensates rounding since Python 3.12."""
    result = 0.0
    for value in values:
        result += value
    return result


def add_to(vector: list[float], index: int, amount: float) -> None:
    """Add to one entry of a vector that is only as long as its highest index ever used (item 3)."""
    vector.extend([0.0] * (index + 1 - len(vector)))
    vector[index] += amount


def log2(value: float) -> float:
    """Logarithm to base two as a quotient of natural ones."""
    return math.log(value) / LOG_2


def entropy(counts: Sequence[float]) -> float:
    """Entropy of class counts in bits; counts that are not positive are left out."""
    negative = 0.0
    weight = 0.0
    for count in counts:
        if count > 0.0:
            negative -= count * log2(count)
            weight += count
    return (negative + weight * log2(weight)) / weight if weight > 0.0 else 0.0


def information_gain(before: Sequence[float], branches: Sequence[Sequence[float]]) -> float:
    """Merit of a split; -infinity unless two branches hold more than 1% of the branches' weight (item 9).

    ``before`` are the leaf's class counts with everything it inherited, ``branches`` only what its observers
    have seen, so the two need not have the same weight.
    """
    weights = [total(branch) for branch in branches]
    weight = total(weights)
    if weight <= 0.0 or sum(part / weight > MINIMUM_BRANCH_FRACTION for part in weights) < 2:
        return -math.inf
    after = 0.0
    for part, branch in zip(weights, branches, strict=True):
        after += part * entropy(branch)
    return entropy(before) - after / weight


def normal_cdf(z: float) -> float:
    """Standard normal distribution function, by erf near zero and by erfc in the tails."""
    x = z * SQRT_HALF
    if abs(x) < SQRT_HALF:
        return 0.5 + 0.5 * math.erf(x)
    tail = 0.5 * math.erfc(abs(x))
    return 1.0 - tail if x > 0.0 else tail


class GaussianEstimator:
    """Weighted mean, variance and range of one feature within one class (item 5)."""

    def __init__(self, value: float, weight: float) -> None:
        self.weight = weight
        self.mean = value
        self.squares = 0.0
        self.low = value
        self.high = value
        self.zeros = weight if value == 0.0 else 0.0
        self.nonzero = [value] if value != 0.0 else []

    def add(self, value: float, weight: float) -> None:
        """One update with weight ``weight``, not ``weight`` updates (item 2)."""
        self.zeros += weight if value == 0.0 else 0.0
        self.nonzero += [value] if value != 0.0 else []
        self.low = min(self.low, value)
        self.high = max(self.high, value)
        self.weight += weight
        before = self.mean
        self.mean += weight * (value - before) / self.weight
        self.squares += weight * (value - before) * (value - self.mean)

    def deviation(self, variance_floor: float) -> float:
        """Standard deviation, of at least ``sqrt(variance_floor)``; 0 while the weight is at most 1."""
        variance = self.squares / (self.weight - 1.0) if self.weight > 1.0 else 0.0
        variance = max(variance, variance_floor)
        return math.sqrt(variance) if variance > 0.0 else 0.0

    def density(self, value: float, variance_floor: float) -> float:
        """Normal density as a double, which may underflow to 0; deviation 0 means a point mass of 1."""
        deviation = self.deviation(variance_floor)
        if deviation == 0.0:
            return 1.0 if value == self.mean else 0.0
        distance = value - self.mean
        exponent = distance * distance / (2.0 * deviation * deviation)
        return (1.0 / (SQRT_2_PI * deviation)) * math.exp(-exponent)

    def log_density(self, value: float, variance_floor: float) -> float:
        """Logarithm of the density, exact where the density itself would underflow (spec section 8)."""
        deviation = self.deviation(variance_floor)
        if deviation == 0.0:
            return 0.0 if value == self.mean else -math.inf
        distance = value - self.mean
        return -math.log(SQRT_2_PI * deviation) - distance * distance / (2.0 * deviation * deviation)

    def weights_beside(self, threshold: float) -> tuple[float, float]:
        """Estimated weight at most and above a threshold strictly inside the range (item 9)."""
        equal = self.density(threshold, 0.0) * self.weight
        deviation = self.deviation(0.0)
        if deviation > 0.0:
            less = normal_cdf((threshold - self.mean) / deviation) * self.weight - equal
        else:
            less = self.weight - equal if threshold < self.mean else 0.0
        return less + equal, max(0.0, self.weight - equal - less)

    def share(self, part: float) -> "GaussianEstimator":
        """Return what a branch with this part of the class inherits, if the split is on another feature."""
        new = copy.copy(self)
        new.weight, new.zeros = self.weight * part, self.zeros * part
        new.nonzero = list(self.nonzero)
        variance = self.deviation(0.0) ** 2
        new.squares = max(variance * (new.weight - 1.0), new.between(new.mean))
        return new

    def between(self, mean: float) -> float:
        """Return the least possible sum of squares: that of the zeros and of the mean of all other values."""
        others = self.weight - self.zeros
        return mean * mean * self.weight * self.zeros / others if others > 0.0 else 0.0

    def cut_off(self, part: float, threshold: float, branch: int) -> "GaussianEstimator":
        """Return what a branch inherits of the feature of the split: a normal distribution truncated at the threshold.

        All zeros are on one side. The weight of the other values is the rest. Their variance is what remains of the
        variance of all values, if anything.
        """
        new = self.share(part)
        deviation = self.deviation(0.0)
        clip = min if branch == 0 else max
        new.nonzero = [clip(value, threshold) for value in self.nonzero]
        zeros_here = (branch == 0) == (threshold >= 0.0)
        new.zeros = min(self.zeros, new.weight) if zeros_here else 0.0
        values = new.nonzero + ([0.0] if new.zeros else [])
        mean, variance = self.mean, deviation * deviation
        if deviation > 0.0:
            z = (threshold - mean) / deviation
            density = math.exp(-0.5 * z * z) / SQRT_2_PI
            if branch == 0:
                ratio = density / normal_cdf(z) if normal_cdf(z) > 0.0 else 0.0
                mean -= deviation * ratio
                variance *= max(0.0, 1.0 - z * ratio - ratio * ratio)
            else:
                ratio = density / (1.0 - normal_cdf(z)) if normal_cdf(z) < 1.0 else 0.0
                mean += deviation * ratio
                variance *= max(0.0, 1.0 + z * ratio - ratio * ratio)
        bounds = new.nonzero + ([0.0] if zeros_here else [])
        mean = min(max(mean, min(bounds)), max(bounds))
        squares = variance * max(0.0, new.weight - 1.0)
        others = new.weight - new.zeros
        if others <= 1e-12 * new.weight:  # a matter of rounding
            others, new.zeros, new.nonzero = 0.0, new.weight, []
        if others > 0.0 and new.zeros > 0.0:
            of_others = min(max(mean * new.weight / others, min(new.nonzero)), max(new.nonzero))
            mean = of_others * others / new.weight
            squares = max(squares, new.between(mean))
        new.mean, new.squares = (mean, squares) if others > 0.0 else (0.0, 0.0)
        new.low, new.high = (min(values), max(values)) if others > 0.0 else (0.0, 0.0)
        return new


class NumericObserver:
    """One Gaussian estimator for each class seen with a value of this feature."""

    def __init__(self, n_classes: int, split_points: int, variance_floor: float) -> None:
        self.estimators: list[GaussianEstimator | None] = [None] * n_classes
        self.split_points = split_points
        self.variance_floor = variance_floor
        self.seen = False
        self.merits: list[float] = []

    def observe(self, value: float, y: int, weight: float) -> None:
        """Count one value of class ``y``."""
        self.seen = True
        estimator = self.estimators[y]
        if estimator is None:
            self.estimators[y] = GaussianEstimator(value, weight)
        else:
            estimator.add(value, weight)

    def inherited(self, parts: Sequence[float], split: Suggestion | None, branch: int) -> "NumericObserver":
        """Return the observer of a branch that gets these parts of the classes; `split` is None for other features."""
        new = NumericObserver(len(self.estimators), self.split_points, self.variance_floor)
        for y, (estimator, part) in enumerate(zip(self.estimators, parts, strict=True)):
            if estimator is not None and part > 0.0:
                whole = split is None or part == 1.0
                new.estimators[y] = estimator.share(part) if whole else estimator.cut_off(part, split.value, branch)
        new.seen = any(estimator is not None for estimator in new.estimators)
        return new

    def likelihood(self, value: float, y: int) -> float:
        """Density of the value in class ``y``; 0 for a class never seen here (item 5)."""
        estimator = self.estimators[y]
        return 0.0 if estimator is None else estimator.density(value, self.variance_floor)

    def log_likelihood(self, value: float, y: int) -> float:
        """Log density of the value in class ``y``; -infinity for a class never seen here."""
        estimator = self.estimators[y]
        return -math.inf if estimator is None else estimator.log_density(value, self.variance_floor)

    def thresholds(self) -> list[float]:
        """Equally spaced candidates strictly inside the range over all classes (item 9)."""
        seen = [estimator for estimator in self.estimators if estimator is not None]
        low = min(estimator.low for estimator in seen)
        high = max(estimator.high for estimator in seen)
        step = (high - low) / (self.split_points + 1.0)
        candidates = [step * (i + 1) + low for i in range(self.split_points)]
        return [threshold for threshold in candidates if low < threshold < high]

    def branches(self, threshold: float) -> list[list[float]]:
        """Class counts at most and above the threshold; no entry on a side that has nothing of the class."""
        left: list[float] = []
        right: list[float] = []
        for y, estimator in enumerate(self.estimators):
            if estimator is None:
                continue
            if threshold < estimator.low:
                add_to(right, y, estimator.weight)
            elif threshold >= estimator.high:
                add_to(left, y, estimator.weight)
            else:
                at_most, above = estimator.weights_beside(threshold)
                add_to(left, y, at_most)
                add_to(right, y, above)
        return [left, right]

    def best_split(self, before: Sequence[float], feature: int) -> Suggestion | None:
        """The first threshold with the largest merit; none if the feature is constant here."""
        best: Suggestion | None = None
        self.merits = []
        for threshold in self.thresholds():
            branches = self.branches(threshold)
            merit = information_gain(before, branches)
            self.merits.append(merit)
            if best is None or merit > best.merit:
                best = Suggestion(merit, feature, "numeric", threshold, branches)
        return best


class NominalObserver:
    """For each class the weight of every value of this feature, up to the highest value it has shown."""

    def __init__(self, n_classes: int) -> None:
        self.counts: list[list[float]] = [[] for _ in range(n_classes)]
        self.weights = [0.0] * n_classes
        self.seen = False
        self.merits: list[float] = []

    def observe(self, value: float, y: int, weight: float) -> None:
        """Count one value of class ``y``."""
        self.seen = True
        add_to(self.counts[y], int(value), weight)
        self.weights[y] += weight

    def inherited(self, parts: Sequence[float], split: Suggestion | None, branch: int) -> "NominalObserver":
        """Return the observer of a branch that gets these parts of the classes; `split` is None for other features."""
        new = NominalObserver(len(self.counts))
        for y, (counts, part) in enumerate(zip(self.counts, parts, strict=True)):
            for code, count in enumerate(counts if part > 0.0 else []):
                inside = split is not None and (
                    (code == split.value) == (branch == 0) if split.test == "equals" else code == branch
                )
                amount = count * part if split is None else count * inside
                if amount > 0.0 or code == 0:
                    add_to(new.counts[y], code, amount)
                    new.weights[y] += amount
        new.seen = any(new.counts)
        return new

    def likelihood(self, value: float, y: int) -> float:
        """(count + 1) / (sum + highest value this class has shown + 1); 0 for a class never seen (item 6)."""
        counts = self.counts[y]
        if not counts:
            return 0.0
        code = int(value)
        count = counts[code] if code < len(counts) else 0.0
        return (count + 1.0) / (self.weights[y] + len(counts))

    def log_likelihood(self, value: float, y: int) -> float:
        """Logarithm of the likelihood; -infinity for a class never seen here."""
        likelihood = self.likelihood(value, y)
        return math.log(likelihood) if likelihood > 0.0 else -math.inf

    def multiway_branches(self) -> list[list[float]]:
        """Class counts of one branch per value up to the highest seen here by any class (item 10)."""
        branches: list[list[float]] = [[] for _ in range(max(map(len, self.counts)))]
        for y, counts in enumerate(self.counts):
            for code, count in enumerate(counts):
                add_to(branches[code], y, count)
        return branches

    def equality_branches(self, value: int) -> list[list[float]]:
        """Class counts of the two branches of the test ``x == value``."""
        branches: list[list[float]] = [[], []]
        for y, counts in enumerate(self.counts):
            for code, count in enumerate(counts):
                add_to(branches[code != value], y, count)
        return branches

    def best_split(self, before: Sequence[float], feature: int) -> Suggestion | None:
        """The multiway test, unless a test for one value is strictly better (item 10)."""
        branches = self.multiway_branches()
        best = Suggestion(information_gain(before, branches), feature, "multiway", math.nan, branches)
        self.merits = [best.merit]
        for value in range(len(branches)):
            sides = self.equality_branches(value)
            merit = information_gain(before, sides)
            self.merits.append(merit)
            if merit > best.merit:
                best = Suggestion(merit, feature, "equals", float(value), sides)
        return best


Observer = NumericObserver | NominalObserver
