"""Formulas of the scores; a ratio is 0 where there is nothing to divide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene.kernels import scores as kernels

if TYPE_CHECKING:
    from collections.abc import Callable

    from marlene._common.arrays import Floats
    from marlene.kernels.scores import ScoreState

    Formula = Callable[[ScoreState], float | np.floating]


class Score(property):
    """A read-only attribute of `Scores`, computed from its state when it is read."""

    def __init__(self, formula: Formula, meaning: str) -> None:
        super().__init__(lambda scores: float(formula(scores._state)), doc=meaning)  # noqa: SLF001 (of `Scores`)

    if TYPE_CHECKING:

        def __get__(self, scores: object, owner: type | None = None) -> float: ...  # type: ignore[override]


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=part > 0)


def f1(counts: Floats) -> Floats:
    """Return the F1 score of each row of confusion counts, or of a single row."""
    tp, fp, _, fn = counts.T
    return _ratio(2 * tp, 2 * tp + fp + fn)


def precision(counts: Floats) -> Floats:
    """Return the precision of each row of confusion counts, or of a single row."""
    tp, fp, _, _ = counts.T
    return _ratio(tp, tp + fp)


def recall(counts: Floats) -> Floats:
    """Return the recall of each row of confusion counts, or of a single row."""
    tp, _, _, fn = counts.T
    return _ratio(tp, tp + fn)


def macro(score: Callable[[Floats], Floats]) -> Formula:
    """Return the formula of the mean of a score over all labels."""
    return lambda state: score(state.counts).mean()


def micro(score: Callable[[Floats], Floats]) -> Formula:
    """Return the formula of a score of the counts summed over labels."""
    return lambda state: float(score(state.counts.sum(axis=0)))


def over_examples(row: int) -> Formula:
    """Return the formula of the mean over examples that a row of `ScoreState.sums` holds."""
    return lambda state: kernels.example_mean(state.sums[row], state.sums[kernels.WEIGHT])
