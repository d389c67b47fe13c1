"""Probabilities from scores, learnt online.

Scores are balanced: they treat both classes as equally frequent. The log odds of a label are those of its frequency
plus a line in the log odds of the score (Platt 1999). The line is found by Newton's method, a step per example, with
sums that decay; until there are examples it stays where it began.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from marlene.kernels.compile import inlined, subkernel

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


@inlined
def log_odds(score: float) -> float:
    """Return the log odds of a score; 0 if there is none."""
    if math.isnan(score):
        return 0.0
    score = min(max(score, SUREST), 1.0 - SUREST)
    return math.log(score / (1.0 - score))


@inlined
def calibrated(line: Floats, examples: Floats, score: float) -> float:
    """Return the probability of a label, from its line and how many negative and positive examples it had."""
    prior = math.log((examples[1] + PRIOR) / (examples[0] + PRIOR))
    odds = prior + line[SHIFT] + max(FIRST_SLOPE + line[SLOPE], LEAST_SLOPE) * log_odds(score)
    return 1.0 / (1.0 + math.exp(-min(max(odds, -30.0), 30.0)))


@inlined
def learn_line(line: Floats, score: float, said: float, y: int, weight: float) -> None:
    """Move a label's line by a step; `said` is what it made of the score."""
    x, error, curve = log_odds(score), weight * (y - said), weight * max(said * (1.0 - said), SUREST)
    line[CURVE] = MEMORY * line[CURVE] + curve
    line[CURVE_SHIFT_SLOPE] = MEMORY * line[CURVE_SHIFT_SLOPE] + curve * x
    line[CURVE_SLOPE] = MEMORY * line[CURVE_SLOPE] + curve * x * x
    a, b, c = line[CURVE] + RIDGE, line[CURVE_SHIFT_SLOPE], line[CURVE_SLOPE] + RIDGE
    scale = error / (a * c - b * b)
    line[SHIFT] += scale * (c - b * x)
    line[SLOPE] += scale * (a * x - b)


@subkernel
def calibrate_row(lines: Floats, examples: Floats, scores: Floats, out: Floats) -> None:
    """Write the probabilities of all labels."""
    for q in range(len(scores)):
        out[q] = calibrated(lines[q], examples[q], scores[q])


@subkernel
def learn_lines(lines: Floats, scores: Floats, probabilities: Floats, truth: Labels, weight: float) -> None:
    """Move the lines of all labels that are known and have a score."""
    for q in range(len(scores)):
        if truth[q] >= 0 and not math.isnan(scores[q]):
            learn_line(lines[q], scores[q], probabilities[q], truth[q], weight)
