"""What the authors' program does otherwise than the paper says: its votes and its draws."""

import math

from tests.naive.br_marlene import NaiveBRMarlene
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
