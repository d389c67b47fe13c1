"""Blend the probabilities of several kinds of classifiers; those with smaller errors so far count more."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from marlene.kernels.compile import inlined

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Floats


MEMORY = 0.995
"""Decay of the errors in a class at each of its examples."""
SMALLEST_ERROR = 1e-3
"""The least error that is believed, so that no weight is infinite."""
SHARPNESS = 6
"""A kind counts as its error to the power of minus this: half the error, 64 times the weight."""


class Blend(NamedTuple):
    """For every kind, label and class the sum of squared errors and the number of examples, both decaying."""

    errors: Floats
    examples: Floats


@inlined
def error_of(state: Blend, k: int, q: int) -> float:
    """Return the mean squared error of a kind on a label; both classes count the same."""
    negative = state.errors[k, q, 0] / state.examples[k, q, 0]
    positive = state.errors[k, q, 1] / state.examples[k, q, 1]
    return max(float(0.5 * (negative + positive)), SMALLEST_ERROR)


@inlined
def blended_vote(state: Blend, said: Floats, used: Bools, q: int) -> float:
    """Return the mean of what the kinds in use say of a label (kinds × labels), weighted by their errors."""
    total = weights = 0.0
    for k in range(len(used)):
        if used[k]:
            weight = 1.0 / error_of(state, k, q) ** SHARPNESS
            total += weight * said[k, q]
            weights += weight
    return total / weights


@inlined
def count_error(state: Blend, k: int, q: int, said: float, y: int, weight: float) -> None:
    """Take note of what a kind said of a label whose class is y, in an example of some weight."""
    state.errors[k, q, y] = MEMORY * state.errors[k, q, y] + weight * (said - y) ** 2
    state.examples[k, q, y] = MEMORY * state.examples[k, q, y] + weight
