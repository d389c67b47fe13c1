"""Constant answers: the same labels for every example, chosen with the whole stream in view."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.experiments.reproduce._measures import MEASURES, Measure
from marlene.metrics import TRACE, Scores

if TYPE_CHECKING:
    from marlene._common.arrays import Labels
    from marlene.experiments._grid import Run
    from marlene.experiments.reproduce._results import Results

    Floor = dict[Measure, "Constant"]

CONSTANT = "best constant"


class Constant(NamedTuple):
    """The best constant answer by a measure: its value, and how many labels it has."""

    value: float
    labels: int


def candidates(truth: Labels) -> Labels:
    """Return the constant answers that are tried, a row each: the k most frequent labels, and the commonest label set.

    Examples
    --------
    >>> candidates(np.array([[1, 0], [1, 0], [0, 0], [1, 1], [0, 0], [0, 0]]))
    array([[0, 0],
           [1, 0],
           [1, 1],
           [0, 0]], dtype=int8)
    """
    order = np.argsort(-(truth == 1).sum(axis=0), kind="stable")
    tried = np.zeros((truth.shape[1] + 2, truth.shape[1]), np.int8)
    for k in range(1, truth.shape[1] + 1):
        tried[k, order[:k]] = 1
    sets, counts = np.unique(np.maximum(truth, 0), axis=0, return_counts=True)
    tried[-1] = sets[np.argmax(counts)]
    return tried


def best_constants(truth: Labels, window: int, start: int) -> Floor:
    """Return the best constant answer by every measure, each chosen with the whole stream in view.

    Parameters
    ----------
    truth
        The labels of all examples.
    window, start
        Settings of the evaluation.
    """
    best: Floor = {}
    for answer in candidates(truth):
        pred = np.broadcast_to(answer, truth.shape)
        windowed, cumulative = Scores(truth.shape[1], window=window), Scores(truth.shape[1])
        steps = windowed.update_many(truth[start + 1 :], pred[start + 1 :], trace=True)
        cumulative.update_many(truth[1:], pred[1:])
        found = {f"cumulative_{name}": value for name, value in cumulative.as_dict().items()}
        found["cumulative_hamming_loss"] = 1.0 - cumulative.hamming_score
        found |= dict(zip(TRACE, steps.mean(axis=0).tolist(), strict=True))
        for measure in MEASURES:
            value = found[measure.column]
            if measure not in best or measure.better(value, best[measure].value):
                best[measure] = Constant(value, int(answer.sum()))
    return best


def constants_of(results: Results, run: Run) -> Floor:
    """Return the best constant answers on the stream of a run; nothing if it was not run."""
    for row, arrays in zip(results.rows(run), results.traces(run, "truth"), strict=False):
        return best_constants(arrays["truth"], row["window"], row["start"])
    return {}
