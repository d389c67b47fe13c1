"""Decimal numbers from bytes, rounded as Python rounds them.

The product of the digits and a power of ten is computed to 128 bits, which decides the rounding of almost all numbers
(Lemire, "Number parsing at a gigabyte per second", 2021). The rest is left to Python.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Codes

FOUND, UNDECIDED, ABSENT = range(3)
"""Whether a number was read, must be read by Python, or is not there."""
MOST_POWER = 60
LOW = np.uint64(0xFFFFFFFF)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint64(1)
TEN = np.uint64(10)
TOP = np.uint64(1 << 63)
FULL = np.uint64(0x1FF)


def _powers() -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """Return the first 128 bits of the powers of five, those of negative exponents rounded up."""
    rows = []
    for exponent in range(-MOST_POWER, MOST_POWER + 1):
        power = 5 ** abs(exponent)
        if exponent < 0:
            bits = power.bit_length()
            power = (1 << (2 * bits + 128)) // power + 1
        shift = power.bit_length() - 128
        power = power >> shift if shift > 0 else power << -shift
        rows.append((power >> 64, power & ((1 << 64) - 1)))
    return np.array(rows, np.uint64)


POWERS = _powers()
EXACT = np.uint64(1 << 53)
TENS = np.array([10.0**power for power in range(23)])
"""The powers of ten that floats hold exactly."""


@inlined
def high_product(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the upper half of a product."""
    a_high, a_low, b_high, b_low = a >> HALF, a & LOW, b >> HALF, b & LOW
    middle = a_high * b_low + ((a_low * b_low) >> HALF)
    other = a_low * b_high + (middle & LOW)
    return a_high * b_high + (middle >> HALF) + (other >> HALF)


@subkernel
def scaled(digits: np.uint64, power: int) -> float:
    """Return digits × 10^power, rounded to the nearest float; NaN if that is not decided here."""
    if digits <= EXACT and -23 < power < 23:
        return float(digits) / float(TENS[-power]) if power < 0 else float(digits) * float(TENS[power])
    if digits == 0:
        return 0.0
    if abs(power) > MOST_POWER:
        return math.nan
    shift = 0
    while digits & TOP == 0:
        digits <<= ONE
        shift += 1
    place = power + MOST_POWER
    upper = high_product(digits, POWERS[place, 0])
    lower = digits * POWERS[place, 0]
    if upper & FULL == FULL:
        more = high_product(digits, POWERS[place, 1])
        lower += more
        if more > lower:
            upper += ONE
    if lower == ALL:
        return math.nan
    first = upper >> np.uint64(63)
    drop = first + np.uint64(9)
    mantissa = upper >> drop
    if lower <= ONE and mantissa & np.uint64(3) == ONE and (mantissa << drop) == upper:
        mantissa -= ONE  # half way between two floats: to the even one
    mantissa = (mantissa + (mantissa & ONE)) >> ONE
    return math.ldexp(float(mantissa), ((217706 * power) >> 16) + 63 + int(np.int64(first)) - shift - 52)


@subkernel
def read_exponent(data: Codes, position: int, end: int) -> tuple[int, int]:
    """Read an exponent, if one begins here; return it, and where it ends, or -1 if it has no digit."""
    if position == end or (data[position] != 101 and data[position] != 69):
        return 0, position
    position += 1
    minus = False
    if position < end and (data[position] == 45 or data[position] == 43):
        minus = data[position] == 45
        position += 1
    if position == end or not 48 <= data[position] <= 57:
        return 0, -1
    exponent = 0
    while position < end and 48 <= data[position] <= 57:
        exponent = min(10 * exponent + int(data[position]) - 48, 99_999)
        position += 1
    return -exponent if minus else exponent, position


@subkernel
def read_number(data: Codes, position: int, end: int) -> tuple[float, int, int]:
    """Read a decimal number; return it, where it ends, and whether it was found.

    Before the digits there may be a sign; there must be a digit, before the point or after it.
    """
    negative = False
    if position < end and (data[position] == 45 or data[position] == 43):
        negative = data[position] == 45
        position += 1
    digits = np.uint64(0)
    many, power = 0, 0
    found, point = False, False
    while position < end:
        code = data[position]
        if code == 46 and not point:
            point = True
        elif 48 <= code <= 57:
            found = True
            many += many > 0 or code != 48
            if many < 20:
                digits = digits * TEN + np.uint64(code - 48)
            power -= point
        else:
            break
        position += 1
    exponent, position = read_exponent(data, position, end)
    if not found or position < 0:
        return 0.0, position, ABSENT
    value = scaled(digits, power + exponent) if many < 20 else math.nan
    if math.isnan(value):
        return 0.0, position, UNDECIDED
    return -value if negative else value, position, FOUND
