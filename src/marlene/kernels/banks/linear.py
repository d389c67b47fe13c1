"""Logistic regression learnt by AdaGrad, any number of classifiers side by side: arrays are laid out by input."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.banks.scales import PRESENCE, scaled
from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.banks.scales import Scales
    from marlene.kernels.rows import Rows


class LinearSettings(NamedTuple):
    """AdaGrad's learning rate, the start of its sums of squares, and the largest weight of an example."""

    rate: float
    start: float
    largest_weight: float


class Linear(NamedTuple):
    """State of linear classifiers; the last axis is the classifier.

    Attributes
    ----------
    weight, squares
        Coefficients, and AdaGrad's sums of squared gradients (inputs × classifiers).
    bias, bias_squares
        The same for the constant.
    examples
        How many examples each was trained on.
    """

    weight: Floats
    squares: Floats
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
def linear_scores(bank: Linear, scales: Scales, rows: Rows, row: int, out: Floats) -> None:
    """Write the log odds of the positive class, by every classifier."""
    for h in range(len(out)):
        out[h] = bank.bias[h]
    length = length_of_row(scales, rows, row)
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot = rows.indices[j]
        z = value_of_input(scales, slot, rows.values[j]) / length
        if z != 0.0:
            weight = bank.weight[slot]
            for h in range(len(out)):
                out[h] += weight[h] * z


@inlined
def linear_vote(bank: Linear, h: int, score: float) -> tuple[float, float]:
    """Return the votes for and against; none before the first example."""
    if bank.examples[h] == 0.0:
        return 0.0, 0.0
    p = 1.0 / (1.0 + math.exp(-score))
    return p, 1.0 - p


@subkernel
def linear_learn(
    bank: Linear,
    settings: LinearSettings,
    scales: Scales,
    rows: Rows,
    row: int,
    ids: Ints,
    slopes: Floats,
    count: int,
) -> None:
    """Move classifiers along the slopes of their loss on a row: weight × (vote for it − truth)."""
    length = length_of_row(scales, rows, row)
    for k in range(count):
        h, g = ids[k], slopes[k]
        bank.examples[h] += 1.0
        bank.bias_squares[h] += g * g
        bank.bias[h] -= settings.rate * g / math.sqrt(settings.start + bank.bias_squares[h])
    for j in range(rows.starts[row], rows.starts[row + 1]):
        slot = rows.indices[j]
        z = value_of_input(scales, slot, rows.values[j]) / length
        if z != 0.0:
            weight, squares = bank.weight[slot], bank.squares[slot]
            for k in range(count):
                h, g = ids[k], slopes[k] * z
                squares[h] += g * g
                weight[h] -= settings.rate * g / math.sqrt(settings.start + squares[h])


@inlined
def slope(settings: LinearSettings, p: float, truth: int, weight: float) -> float:
    """Return the slope of the weighted logistic loss at the vote p for the positive class."""
    return min(weight, settings.largest_weight) * (p - truth)
