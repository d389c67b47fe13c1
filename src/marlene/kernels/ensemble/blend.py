"""One probability out of several, each counting the more the closer it came to the truth so far."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.compile import inlined, kernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels


MEMORY = 0.999
"""What is left of the errors on examples of a class after each of them."""
SHARPNESS = 4.0
"""The weight of a voice is one over its error, to this power."""
SMALLEST_ERROR = 1e-3


class Blend(NamedTuple):
    """For every voice, label and class the sum of squared errors and the number of examples, both fading."""

    errors: Floats
    examples: Floats


@inlined
def error_of(state: Blend, voice: int, q: int) -> float:
    """Return the mean squared error of a voice on a label, both classes counting the same."""
    negative = state.errors[voice, q, 0] / state.examples[voice, q, 0]
    positive = state.errors[voice, q, 1] / state.examples[voice, q, 1]
    return max(float(0.5 * (negative + positive)), SMALLEST_ERROR)


@inlined
def blended(state: Blend, said: Floats, row: int, q: int) -> float:
    """Return the weighted mean of what the voices say of a label (voices × examples × labels); NaN if none does."""
    total = weights = 0.0
    for voice in range(len(said)):
        p = said[voice, row, q]
        if not math.isnan(p):
            weight = error_of(state, voice, q) ** -SHARPNESS
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
            for voice in range(len(said)):
                p = said[voice, row, q]
                if not math.isnan(p):
                    state.errors[voice, q, y] = MEMORY * state.errors[voice, q, y] + (p - y) ** 2
                    state.examples[voice, q, y] = MEMORY * state.examples[voice, q, y] + 1.0
