"""The information gain of a split, and a cheap upper bound of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels.compile import inlined, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats


LOG_2 = math.log(2.0)
LEAST_SHARE = 0.01
ROUNDING = 1e-9


@inlined
def is_pure(counts: Floats, node: int) -> bool:
    """Tell whether fewer than two classes were counted."""
    classes = 0
    for c in range(counts.shape[1]):
        classes += counts[node, c] != 0.0
    return classes < 2


@inlined
def row_sum(matrix: Floats, row: int) -> float:
    """Sum a row from left to right."""
    total = 0.0
    for c in range(matrix.shape[1]):
        total += matrix[row, c]
    return total


@inlined
def entropy(counts: Floats, row: int) -> float:
    """Return the entropy of a row of class counts in bits: H = log2(n) - Σ n_c log2(n_c) / n."""
    negative = 0.0
    weight = 0.0
    for c in range(counts.shape[1]):
        count = counts[row, c]
        if count > 0.0:
            negative -= count * (math.log(count) / LOG_2)
            weight += count
    return (negative + weight * (math.log(weight) / LOG_2)) / weight if weight > 0.0 else 0.0


@subkernel
def merit(entropy_before: float, branches: Floats, n_branches: int) -> float:
    """Return the information gain; -infinity unless two branches hold more than 1 % of the weight each.

    Gain = H(before) - Σ over branches (n_b / n) H(branch b).
    """
    weight = 0.0
    for b in range(n_branches):
        weight += row_sum(branches, b)
    if weight <= 0.0:
        return -np.inf
    wide = 0
    for b in range(n_branches):
        wide += row_sum(branches, b) / weight > LEAST_SHARE
    if wide < 2:
        return -np.inf
    after = 0.0
    for b in range(n_branches):
        after += row_sum(branches, b) * entropy(branches, b)
    return entropy_before - after / weight


@inlined
def surely_narrow(branches: Floats, b: int) -> bool:
    """Tell whether one branch of a split in two surely holds too little of the weight for `merit`."""
    share = row_sum(branches, b) / (row_sum(branches, 0) + row_sum(branches, 1))
    return share < LEAST_SHARE - ROUNDING


@inlined
def cannot_exceed(least: float, before_less_all: float, branches: Floats) -> bool:
    """Tell whether the merit of a split in two is surely below `least`, at a small part of the cost of `merit`.

    The mutual information of class and branch is at most Pearson's mean square contingency (by Jensen's inequality):
    χ² / n = Σ over classes (n_c1 n_0 - n_c0 n_1)² / (n_c n_0 n_1 n), in nats. `before_less_all` is the entropy before
    the split less that of both branches together. These differ where a leaf began with estimated counts; infinite if
    not known.
    """
    first, second = row_sum(branches, 0), row_sum(branches, 1)
    contingency = 0.0
    for c in range(branches.shape[1]):
        total = branches[0, c] + branches[1, c]
        if total > 0.0:
            difference = branches[1, c] * first - branches[0, c] * second
            contingency += difference * difference / total
    bits = contingency / (first * second * (first + second) * LOG_2)
    return before_less_all + bits + ROUNDING < least
