"""Logistic regression learnt by AdaGrad, any number of classifiers side by side: arrays are laid out by input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.banks.scales import PRESENCE, scaled
from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Floats32
    from marlene.kernels.banks.scales import Scales
    from marlene.kernels.rows import Rows


class LinearSettings(NamedTuple):
    """AdaGrad's learning rate, the start of its sums of squares, and the largest weight of an example."""

    rate: float
    start: float
    largest_weight: float


class Linear(NamedTuple):
    """State of linear classifiers; the last axis is the classifier.

    Coefficients are many and move in small steps; they are kept, and moved, with 24 bits.

    Attributes
    ----------
    weight, squares
        Coefficients, and AdaGrad's sums of squared gradients (inputs × classifiers).
    bias, bias_squares
        The same for the constant.
    examples
        How many examples each was trained on.
    """

    weight: Floats32
    squares: Floats32
    bias: Floats
    bias_squares: Floats
    examples: Floats


@inlined
def value_of_input(scales: Scales, slot: int, x: float) -> float:
    """Return 1 for presence, 0 for a missing value, and a number in units of its size."""
    if math.isnan(x):
        return 0.0
    i = scales.numeric[slot]
    return 1.0 if i == PRESENCE else scaled(scales, i, x)


@inlined
def length_of_row(scales: Scales, rows: Rows, row: int) -> float:
    """Return the length that a row's inputs are divided by."""
    total = 1.0
    for j in range(rows.starts[row], rows.starts[row + 1]):
        z = value_of_input(scales, rows.indices[j], rows.values[j])
        total += z * z
    return math.sqrt(total)


@subkernel
def linear_scores(bank: Linear, scales: Scales, rows: Rows, row: int, first: int, stop: int, out: Floats) -> None:
    """Write the log odds of the positive class, by the classifiers from `first` to `stop`."""
    odds, bias, count = out[first:stop], bank.bias[first:stop], stop - first
    for h in range(count):
        odds[h] = bias[h]
    length = length_of_row(scales, rows, row)
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot = rows.indices[j]
        z = value_of_input(scales, slot, rows.values[j]) / length
        if z != 0.0:
            weight = bank.weight[slot, first:stop]
            for h in range(count):
                odds[h] += weight[h] * z


@inlined
def linear_vote(bank: Linear, h: int, score: float) -> tuple[float, float]:
    """Return the votes for and against; none before the first example."""
    if bank.examples[h] == 0.0:
        return 0.0, 0.0
    p = 1.0 / (1.0 + math.exp(-score))
    return p, 1.0 - p


@subkernel
def linear_learn(
    bank: Linear, settings: LinearSettings, scales: Scales, rows: Rows, row: int, first: int, slopes: Floats
) -> None:
    """Move the classifiers from `first` on along the slopes of their loss on a row; a slope of 0 moves nothing."""
    length = length_of_row(scales, rows, row)
    count, moves, rate, start = len(slopes), False, np.float32(settings.rate), np.float32(settings.start)
    for k in range(count):
        h, g = first + k, slopes[k]
        moves = moves or g != 0.0
        bank.examples[h] += 1.0 if g != 0.0 else 0.0
        bank.bias_squares[h] += g * g
        bank.bias[h] -= settings.rate * g / math.sqrt(settings.start + bank.bias_squares[h])
    for j in range(rows.starts[row], rows.starts[row + 1] if moves else 0):
        slot = rows.indices[j]
        z = np.float32(value_of_input(scales, slot, rows.values[j]) / length)
        if z != 0.0:
            weight, squares = bank.weight[slot, first : first + count], bank.squares[slot, first : first + count]
            for k in range(count):
                g = np.float32(slopes[k]) * z
                squares[k] += g * g
                weight[k] -= rate * g / math.sqrt(start + squares[k])


@inlined
def slope(settings: LinearSettings, p: float, truth: int, weight: float) -> float:
    """Return the slope of the weighted logistic loss at the vote p for the positive class: weight × (p − truth)."""
    return min(weight, settings.largest_weight) * (p - truth)
