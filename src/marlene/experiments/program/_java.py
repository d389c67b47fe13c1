"""Random numbers as Java's `java.util.Random` gives them, and the draws that MOA makes of them."""

from __future__ import annotations

import math

from marlene.kernels.compile import subkernel

MULTIPLIER, INCREMENT, MASK = 0x5DEECE66D, 0xB, (1 << 48) - 1
MANY = 100.0
"""From this rate on, MOA draws from a normal distribution instead of a Poisson distribution."""


class JavaRandom:
    """The generator of Java's documentation: linear and congruential, with 48 bits.

    Examples
    --------
    >>> JavaRandom(1).uniform(), JavaRandom(2).uniform()
    (0.7308781907032909, 0.7311469360199058)
    >>> round(JavaRandom(1).normal(), 12)
    1.561581040189
    """

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ MULTIPLIER) & MASK

    def uniform(self) -> float:
        """Return a number from 0 to below 1."""
        return ((self._bits(26) << 27) + self._bits(27)) / (1 << 53)

    def normal(self) -> float:
        """Return a number from the standard normal distribution, by the polar method."""
        while True:
            first, second = 2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0
            square = first * first + second * second
            if 0.0 < square < 1.0:
                return first * math.sqrt(-2.0 * math.log(square) / square)

    def _bits(self, count: int) -> int:
        self._state = (self._state * MULTIPLIER + INCREMENT) & MASK
        return self._state >> (48 - count)


@subkernel
def repeated_draw(rate: float, uniform: float, normal: float) -> int:
    """Return what MOA draws from Poisson(`rate`) if the generator's first numbers are these."""
    if rate >= MANY:
        return max(0, math.floor(rate + math.sqrt(rate) * normal))
    term = total = 1.0
    count, most = 1, max(100, 10 * math.ceil(rate))
    until = uniform * math.exp(rate)
    while count < most and total <= until:
        term *= rate / count
        total += term
        count += 1
    return count - 1
