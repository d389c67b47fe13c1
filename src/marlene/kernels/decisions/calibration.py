"""Probabilities from scores, learnt online.

Scores are balanced: they treat both classes as equally frequent. The log odds of a label are those of its frequency
plus a line in the log odds of the score (Platt 1999). The line is found by Newton's method, a step per example, with
sums that decay; until there are examples it stays where it began.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, subkernel
from marlene.kernels.smooth import log_of, probability, within

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels

SHIFT, SLOPE, CURVE, CURVE_SHIFT_SLOPE, CURVE_SLOPE, LINE = range(6)
"""The numbers of a label's line: how far it lies above its first shift and slope, and the decaying second derivatives
of the loss."""
FIRST_SLOPE = 0.7
LEAST_SLOPE = 0.05
"""A larger score is never a smaller probability."""
RIDGE = 5.0
"""How hard a line is to move at first."""
MEMORY = 0.999
"""Decay of the second derivatives at each example."""
PRIOR = 1.0
"""Pseudo-examples of each class in the frequency of a label."""
SUREST = 1e-4
"""Scores are taken to be at least so far from 0 and 1."""


@subkernel
def write_odds(scores: Floats, odds: Floats) -> None:
    """Write the log odds of scores; NaN where there is none."""
    for q in range(len(scores)):
        score = scores[q] if scores[q] < 1.0 - SUREST else 1.0 - SUREST  # noqa: FURB136 (faster: no check for NaN)
        score = score if score > SUREST else SUREST  # noqa: FURB136
        odds[q] = log_of(score / (1.0 - score)) if scores[q] == scores[q] else math.nan


@inlined
def calibrated(line: Floats, examples: Floats, x: float) -> float:
    """Return the probability of a label, from its line, how many negatives and positives it had, and its log odds."""
    prior = log_of((examples[1] + PRIOR) / (examples[0] + PRIOR))
    odds = prior + line[SHIFT] + max(FIRST_SLOPE + line[SLOPE], LEAST_SLOPE) * (0.0 if math.isnan(x) else x)
    return probability(within(odds, 30.0))


@inlined
def learn_line(line: Floats, x: float, said: float, y: int, weight: float) -> None:
    """Move a label's line by a step; `said` is what it made of the log odds x."""
    error, curve = weight * (y - said), weight * max(said * (1.0 - said), SUREST)
    line[CURVE] = MEMORY * line[CURVE] + curve
    line[CURVE_SHIFT_SLOPE] = MEMORY * line[CURVE_SHIFT_SLOPE] + curve * x
    line[CURVE_SLOPE] = MEMORY * line[CURVE_SLOPE] + curve * x * x
    a, b, c = line[CURVE] + RIDGE, line[CURVE_SHIFT_SLOPE], line[CURVE_SLOPE] + RIDGE
    scale = error / (a * c - b * b)
    line[SHIFT] += scale * (c - b * x)
    line[SLOPE] += scale * (a * x - b)


@subkernel
def calibrate_row(lines: Floats, examples: Floats, odds: Floats, out: Floats) -> None:
    """Write the probabilities of all labels."""
    for q in range(len(odds)):
        out[q] = calibrated(lines[q], examples[q], odds[q])


@subkernel
def learn_lines(lines: Floats, odds: Floats, probabilities: Floats, truth: Labels, weight: float) -> None:
    """Move the lines of all labels that are known and have a score."""
    for q in range(len(odds)):
        if truth[q] >= 0 and not math.isnan(odds[q]):
            learn_line(lines[q], odds[q], probabilities[q], truth[q], weight)
