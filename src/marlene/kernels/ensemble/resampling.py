"""Random numbers by counting, and the weight an example is learnt with.

A draw is a hash of (key of the sub-classifier, number of the draw), so that it depends neither on threads nor on the
order in which sub-classifiers are trained. The hash is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, kernel

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Ints

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)
SHIFT_30, SHIFT_27, SHIFT_31, SHIFT_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 1.0 / (1 << 53)
LARGEST_PART = 16.0


@inlined
def mix(key: np.uint64, number: np.uint64) -> np.uint64:
    """Return a hash of two numbers."""
    z = key + (number + np.uint64(1)) * GOLDEN
    z = (z ^ (z >> SHIFT_30)) * FIRST
    z = (z ^ (z >> SHIFT_27)) * SECOND
    return z ^ (z >> SHIFT_31)


@inlined
def poisson(key: np.uint64, draw: int, rate: float) -> int:
    """Return a Poisson variate, by inversion; a large rate is the sum of equal parts."""
    parts = max(1, math.ceil(rate / LARGEST_PART))
    rate_of_part = rate / parts
    base = mix(key, np.uint64(draw))
    none = math.exp(-rate_of_part)
    total = 0
    for part in range(parts):
        uniform = float(mix(base, np.uint64(part)) >> SHIFT_11) * UNIT
        k = 0
        chance = none
        below = none
        while uniform >= below and chance > 0.0:
            k += 1
            chance *= rate_of_part / k
            below += chance
        total += k
    return total


@inlined
def learning_weight(key: np.uint64, n_positive: int, n_negative: int, truth: int, expected: bool) -> int:
    """Return the weight k of an example of class `truth`, which the counts include already.

    k is drawn from Poisson(max(n⁺, n⁻) / n_y), or, if `expected`, the nearest whole number to that rate.
    """
    rate = max(n_positive, n_negative) / (n_positive if truth else n_negative)
    if expected:
        return math.floor(rate + 0.5)
    return poisson(key, n_positive + n_negative, rate)


@kernel
def mix_many(parts: npt.NDArray[np.uint64]) -> np.uint64:
    """Return a hash of several numbers, the order of which counts."""
    key = np.uint64(0)
    for part in parts:
        key = mix(key, part)
    return key


@kernel
def poisson_draws(key: np.uint64, count: int, rate: float) -> Ints:
    """Return the variates of draws 0 to `count` - 1."""
    draws = np.empty(count, np.int64)
    for draw in range(count):
        draws[draw] = poisson(key, draw, rate)
    return draws
