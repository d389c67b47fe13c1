"""Blend the probabilities of several ensembles; those with smaller errors so far count more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels


MEMORY = 0.999
"""Decay of the errors in a class at each of its examples."""
SHARPNESS = 4.0
"""The weight of an ensemble is its error to minus this power."""
SMALLEST_ERROR = 1e-3


class Blend(NamedTuple):
    """For every ensemble, label and class the sum of squared errors and the number of examples, both decaying."""

    errors: Floats
    examples: Floats


@inlined
def error_of(state: Blend, e: int, q: int) -> float:
    """Return the mean squared error of an ensemble on a label; both classes count the same."""
    negative = state.errors[e, q, 0] / state.examples[e, q, 0]
    positive = state.errors[e, q, 1] / state.examples[e, q, 1]
    return max(float(0.5 * (negative + positive)), SMALLEST_ERROR)


@inlined
def blended(state: Blend, said: Floats, row: int, q: int) -> float:
    """Return the weighted mean probability of a label (from ensembles × examples × labels); NaN without any."""
    total = weights = 0.0
    for e in range(len(said)):
        p = said[e, row, q]
        if not math.isnan(p):
            weight = error_of(state, e, q) ** -SHARPNESS
            total += weight * p
            weights += weight
    return total / weights if weights > 0.0 else np.nan


@kernel
def blend(state: Blend, said: Floats, out: Floats) -> None:
    """Write the blended probabilities (examples × labels)."""
    for row in range(said.shape[1]):
        for q in range(said.shape[2]):
            out[row, q] = blended(state, said, row, q)


@kernel
def blend_and_learn(state: Blend, said: Floats, truth: Labels, out: Floats) -> None:
    """Write the same, and learn from each example before the next."""
    for row in range(said.shape[1]):
        for q in range(said.shape[2]):
            out[row, q] = blended(state, said, row, q)
            y = truth[row, q]
            if y < 0:
                continue
            for e in range(len(said)):
                p = said[e, row, q]
                if not math.isnan(p):
                    state.errors[e, q, y] = MEMORY * state.errors[e, q, y] + (p - y) ** 2
                    state.examples[e, q, y] = MEMORY * state.examples[e, q, y] + 1.0
