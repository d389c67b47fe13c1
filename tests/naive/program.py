"""What the authors' program does otherwise than the paper says: its votes and its draws."""

import math

from tests.naive.br_marlene import NaiveBRMarlene
from tests.naive.hoeffding_tree import Leaf, NaiveHoeffdingTree
from tests.naive.observers import normal_cdf
from tests.naive.replay_br import QuickTree


class ProgramTree(QuickTree):
    """A tree that multiplies densities, and whose votes are repaired as the program repairs them."""

    def __init__(self, features):
        super().__init__(
            kinds=[0] * features, variance_floor=0.0, imitate_underflow=True, split_on_all_minus_infinity=True
        )

    def votes(self, x):
        return program_votes(self.raw_votes(x))


def program_votes(raw):
    """Multiply by the reciprocal of the sum; a first vote that is no number wins, then a second."""
    raw = [*raw, 0.0, 0.0][:2]
    total = raw[0] + raw[1]
    if not total > 0.0:
        return 0.0, 0.0
    reciprocal = 1.0 / total if total > 1.0 / 1.7e308 else math.inf
    negative, positive = (vote * reciprocal for vote in raw)
    if math.isnan(negative):
        return 1.0, 0.0
    return (0.0, 1.0) if math.isnan(positive) else (negative, positive)


def repeated(rate, uniform, normal):
    """The least count whose Poisson probability of at most that many is above a number; normal for high rates."""
    if rate >= 100.0:
        return max(0, math.floor(rate + math.sqrt(rate) * normal))
    count, at_most = 0, math.exp(-rate)
    while at_most <= uniform:
        count += 1
        at_most += math.exp(-rate + count * math.log(rate) - math.lgamma(count + 1))
    return count


def naive_program(features, uniform, normal):
    """BR-MARLENE with these trees; every k comes from the same two numbers."""

    def draw(_stream, _label, _number, _draw, rate):
        return repeated(rate, uniform, normal)

    return NaiveBRMarlene(lambda: ProgramTree(features), resampling=draw)


class WekaLeaf(Leaf):
    """A leaf with WEKA's naive Bayes: intervals of 0.01 around rounded values, no factor below 1e-75."""

    def products(self, x):
        seen = [self._weight(y) for y in range(2)]
        products = [(weight + 1.0) / (sum(seen) + 2.0) for weight in seen]
        for f, value in enumerate(x):
            products = [product * self._factor(f, value, y) for y, product in enumerate(products)]
            if 0.0 < max(products) < 1e-75:
                products = [product * 1e75 for product in products]
        return products

    def _estimator(self, f, y):
        return self.observers[f].estimators[y] if self.observers else None

    def _weight(self, y):
        estimator = self._estimator(0, y)
        return estimator.weight if estimator else 0.0

    def _factor(self, f, value, y):
        estimator = self._estimator(f, y)
        mean = estimator.mean if estimator else 0.0
        deviation = math.sqrt(max(0.0, estimator.squares) / estimator.weight) if estimator else 0.0
        deviation = max(0.01 / 6.0, deviation)
        distance = round(value / 0.01) * 0.01 - mean
        mass = normal_cdf((distance + 0.005) / deviation) - normal_cdf((distance - 0.005) / deviation)
        return max(1e-75, mass)


class WekaTree(NaiveHoeffdingTree):
    """A tree of such leaves."""

    def __init__(self, features):
        super().__init__(
            kinds=[0] * features, variance_floor=0.0, imitate_underflow=True, split_on_all_minus_infinity=True
        )

    def _add_leaf(self, counts, parent, branch):
        plain = super()._add_leaf(counts, parent, branch)
        leaf = WekaLeaf(self, counts, plain.path, plain.depth)
        self._attach(leaf, parent, branch)
        return leaf
