"""A bank of naive Bayes or of linear classifiers, behind one set of functions.

Kernels cannot take functions as arguments. Both banks therefore have one type, in which the arrays of the other one
are empty, and `which` says whose turn it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.kernels.banks.linear import linear_learn, linear_scores, linear_vote, slope
from marlene.kernels.banks.naive_bayes import WORK, bayes_learn, bayes_scores, bayes_vote
from marlene.kernels.banks.scales import LISTED, PRESENCE, complete_row, may_be_dense, observe_row
from marlene.kernels.compile import inlined, kernel, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.banks.linear import Linear, LinearSettings
    from marlene.kernels.banks.naive_bayes import Bayes, BayesSettings
    from marlene.kernels.banks.scales import FullRow, Scales
    from marlene.kernels.rows import Rows

BAYES, LINEAR = range(2)


class SimpleBank(NamedTuple):
    """A bank of simple classifiers; `which` is `BAYES` or `LINEAR`."""

    which: int
    bayes: Bayes
    bayes_settings: BayesSettings
    linear: Linear
    linear_settings: LinearSettings
    scales: Scales
    full: FullRow


@subkernel
def _add_zeros(bank: SimpleBank, rows: Rows) -> None:
    """Write the first row with its zeros."""
    scales, count = bank.scales, 0
    for slot in range(len(scales.numeric)):
        i = scales.numeric[slot]
        if i != PRESENCE and may_be_dense(scales.times[i], scales.seen[0], 1):
            bank.full.listed[count] = slot
            count += 1
    bank.full.clock[LISTED] = count
    complete_row(bank.full, rows, 0)


@inlined
def capacity(bank: SimpleBank) -> int:
    """Return how many classifiers the arrays have room for."""
    return len(bank.bayes.base) if bank.which == BAYES else len(bank.linear.bias)


@inlined
def write_scores(bank: SimpleBank, rows: Rows, out: Floats) -> None:
    """Write the log odds of the positive class for the first row, by every classifier."""
    if bank.which == BAYES:
        bayes_scores(bank.bayes, bank.bayes_settings, bank.scales, rows, 0, 0, len(out), out)
    else:
        _add_zeros(bank, rows)
        linear_scores(bank.linear, bank.scales, bank.full.rows, 0, 0, len(out), out)


@inlined
def vote(bank: SimpleBank, i: int, score: float) -> tuple[float, float]:
    """Return the votes for and against that follow from a classifier's log odds."""
    if bank.which == BAYES:
        return bayes_vote(bank.bayes, i, score)
    return linear_vote(bank.linear, i, score)


@kernel
def bank_votes(bank: SimpleBank, rows: Rows, ids: Ints, out: Floats) -> None:
    """Write the votes against and for (classifiers × 2) on the first row."""
    score = np.empty(capacity(bank))
    write_scores(bank, rows, score)
    for k in range(len(ids)):
        out[k, 1], out[k, 0] = vote(bank, ids[k], score[ids[k]])


@kernel
def bank_train(bank: SimpleBank, rows: Rows, ids: Ints, truth: Ints, weights: Ints) -> None:
    """Train classifiers on the first row, with a class and a weight for each."""
    score = np.zeros(capacity(bank))
    if bank.which == LINEAR:
        write_scores(bank, rows, score)
    observe_row(bank.scales, rows, 0)
    if bank.which == BAYES:
        lesson, weight = np.full(len(score), -1, np.int8), score
        for k in range(len(ids)):
            lesson[ids[k]], weight[ids[k]] = truth[k], weights[k]
        work, listed = np.empty((WORK, len(score))), np.empty(len(bank.scales.met), np.int64)
        bayes_learn(
            bank.bayes, bank.bayes_settings, bank.scales, rows, 0, 0, lesson, weight, 1.0, len(lesson), work, listed
        )
        return
    slopes = np.zeros(len(score))
    for k in range(len(ids)):
        positive, negative = vote(bank, ids[k], score[ids[k]])
        p = positive if positive + negative > 0.0 else 0.5
        slopes[ids[k]] = slope(bank.linear_settings, p, truth[k], weights[k])
    linear_learn(bank.linear, bank.linear_settings, bank.scales, bank.full.rows, 0, 0, slopes)
