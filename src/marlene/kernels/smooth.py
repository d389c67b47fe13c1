"""Logarithm and exponential without branches and calls, so that loops over many numbers take several at a time.

The order of all operations is fixed: results are the same to the bit on every processor, for one number and for many.
They are exact to about two units of the last place.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from marlene.kernels.compile import inlined

if TYPE_CHECKING:
    from collections.abc import Callable

FRACTION = 52
"""Bits of the fraction of a number."""
ROOT_OF_HALF = 0x3FE6A09E667F3BCD
"""The bits of √½."""
WHOLE, WHOLE_BITS = 6755399441055744.0, 0x4338000000000000
"""A number so large that adding it rounds to whole numbers, and its bits."""
BIAS = 1023
LOG_2_HIGH, LOG_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts; the first has few bits, so that its products with small whole numbers are exact."""


@intrinsic
def _bits_of(_typing: Any, number: Any) -> Any:  # noqa: ANN401 (the compiler's own objects)
    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:  # noqa: ANN401
        return builder.bitcast(values[0], ir.IntType(64))

    return types.int64(types.float64), generate if number == types.float64 else None


@intrinsic
def _of_bits(_typing: Any, bits: Any) -> Any:  # noqa: ANN401
    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:  # noqa: ANN401
        return builder.bitcast(values[0], ir.DoubleType())

    return types.float64(types.int64), generate if bits == types.int64 else None


bits_of = cast("Callable[[float], int]", _bits_of)
of_bits = cast("Callable[[int], float]", _of_bits)


@inlined
def log_of(x: float) -> float:
    """Return the logarithm of a positive number, neither infinite nor as small as 1e-307."""
    bits = bits_of(x)
    exponent = (bits - ROOT_OF_HALF) >> FRACTION
    m = of_bits(bits - (exponent << FRACTION))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = 1 / 19 + z * (1 / 21)
    series = 1 / 15 + z * (1 / 17 + z * series)
    series = 1 / 11 + z * (1 / 13 + z * series)
    series = 1 / 7 + z * (1 / 9 + z * series)
    series = 1 / 3 + z * (1 / 5 + z * series)
    e = of_bits(WHOLE_BITS + exponent) - WHOLE
    return e * LOG_2_HIGH + (e * LOG_2_LOW + (2.0 * s + 2.0 * s * z * series))


@inlined
def exp_of(x: float) -> float:
    """Return the exponential of a number from -700 to 700."""
    shifted = x * (1.0 / math.log(2.0)) + WHOLE
    k = shifted - WHOLE
    r = (x - k * LOG_2_HIGH) - k * LOG_2_LOW
    series = 1 / 479001600 + r * (1 / 6227020800)
    series = 1 / 3628800 + r * (1 / 39916800 + r * series)
    series = 1 / 40320 + r * (1 / 362880 + r * series)
    series = 1 / 720 + r * (1 / 5040 + r * series)
    series = 1 / 24 + r * (1 / 120 + r * series)
    series = 1 / 2 + r * (1 / 6 + r * series)
    return (1.0 + (r + r * r * series)) * of_bits((bits_of(shifted) + BIAS) << FRACTION)


@inlined
def probability(odds: float) -> float:
    """Return the probability that belongs to log odds from -700 to 700."""
    return 1.0 / (1.0 + exp_of(-odds))


@inlined
def within(x: float, bound: float) -> float:
    """Return x, or the nearest number from -bound to bound."""
    x = x if x < bound else bound  # noqa: FURB136 (faster: no check for NaN)
    return x if x > -bound else -bound  # noqa: FURB136
