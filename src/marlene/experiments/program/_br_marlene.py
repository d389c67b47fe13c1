"""BR-MARLENE as the authors' program computes it, without drift handling."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from marlene._common.errors import MarleneError
from marlene.experiments.program._java import JavaRandom, repeated_draw
from marlene.experiments.program._trees import (
    Trees,
    has_room,
    learn,
    new_trees,
    raw_votes,
    repair,
    with_room,
)
from marlene.kernels.compile import kernel, subkernel

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Labels


class Records(NamedTuple):
    """What the program counts: of every label its examples, of every tree how it did on every label."""

    positive: Floats
    negative: Floats
    tp: Floats
    fp: Floats
    tn: Floats
    fn: Floats
    right: Floats
    wrong: Floats
    weight: Floats


@subkernel
def calibrate(records: Records, tree: int, label: int, votes: Floats) -> tuple[float, float]:
    """Return the votes of a tree on a label, negative and positive, in the light of how it did so far."""
    tp, fp, tn, fn = (
        records.tp[tree, label], records.fp[tree, label], records.tn[tree, label], records.fn[tree, label],
    )  # fmt: skip
    total = tp + fp + tn + fn
    of_positive = total / (tp + fn) if tp + fn > 0.0 else 1.0
    of_negative = total / (fp + tn) if fp + tn > 0.0 else 1.0
    tp, fp, tn, fn = tp * of_positive, fp * of_negative, tn * of_negative, fn * of_positive
    said_yes, said_no = tp + fp, tn + fn
    true, false = (tp / said_yes, fp / said_yes) if said_yes > 0.0 else (0.0, 0.0)
    absent, missed = (tn / said_no, fn / said_no) if said_no > 0.0 else (0.0, 0.0)
    return votes[0] * absent + votes[1] * false, votes[0] * missed + votes[1] * true


@subkernel
def vote_all(trees: Trees, x: Floats, votes: Floats) -> None:
    """Write the repaired votes of every tree."""
    for tree in range(len(votes)):
        raw_votes(trees, tree, x, votes[tree])
        repair(votes[tree])


@subkernel
def update(records: Records, votes: Floats, label: int, y: int) -> None:
    """Update weights, then counts, of every tree on a label."""
    for_it = against = 0.0
    for tree in range(len(votes)):
        said = calibrate(records, tree, label, votes[tree])
        for_it += said[y]
        against += said[1 - y]
    worth = against / for_it if for_it != 0.0 else 0.0
    for tree in range(len(votes)):
        said = calibrate(records, tree, label, votes[tree])
        if for_it != 0.0:
            records.right[tree, label] += worth * (said[y] / for_it)
        if against != 0.0:
            records.wrong[tree, label] += worth * (said[1 - y] / against)
        right, wrong = records.right[tree, label], records.wrong[tree, label]
        records.weight[tree, label] = right / (wrong + right) if right + wrong != 0.0 else 0.0
        if votes[tree, 1] > votes[tree, 0]:
            (records.tp if y else records.fp)[tree, label] += 1.0
        else:
            (records.fn if y else records.tn)[tree, label] += 1.0


@kernel
def run(
    trees: Trees,
    records: Records,
    draws: tuple[float, float],
    X: Floats,
    Y: Labels,
    begin: int,
    learning: bool,
    probabilities: Floats,
    pred: Labels,
) -> int:
    """Predict, then learn, row by row from `begin` on; return the row before which there was no room for splits."""
    labels = Y.shape[1]
    votes, scratch = np.zeros((labels, 2)), np.zeros((2, 2))
    for row in range(begin, len(X)):
        if not has_room(trees, labels):
            return row
        x = X[row]
        vote_all(trees, x, votes)
        for label in range(labels):
            no = yes = 0.0
            for tree in range(labels):
                said = calibrate(records, tree, label, votes[tree])
                no += records.weight[tree, label] * said[0]
                yes += records.weight[tree, label] * said[1]
            scale = 1.0 / (no + yes)
            pred[row, label] = yes * scale > no * scale
            probabilities[row, label] = yes * scale if math.isfinite(scale) else 0.5
        if not learning:
            continue
        for label in range(labels):
            y = Y[row, label]
            own = records.positive if y else records.negative
            own[label] += 1.0
            rate = max(records.positive[label], records.negative[label]) / own[label]
            k = repeated_draw(rate, *draws)
            if k > 0:
                learn(trees, label, x, y, float(k), scratch)
        vote_all(trees, x, votes)
        for label in range(labels):
            update(records, votes, label, Y[row, label])
    return len(X)


class ProgramBRMarlene:
    """BR-MARLENE in the way of the authors' program, for blocks of rows; all features are numbers.

    - Trees multiply densities. Votes are multiplied by the reciprocal of their sum, and what is then no number becomes
      certain: an infinite product wins, and of two the negative one.
    - The generator of random numbers starts anew for every draw, so that k depends on the rate alone.
    - Drifts are not handled: there is one tree for every label.

    Parameters
    ----------
    seed
        Of Java's generator.

    Examples
    --------
    >>> from marlene.streams import load
    >>> stream = load("yeast", limit=200)
    >>> probabilities, pred = ProgramBRMarlene().decide_then_train(stream.X, stream.Y)
    >>> pred.shape, int(pred.max())
    ((200, 14), 1)
    """

    def __init__(self, seed: int = 1) -> None:
        self._draws = JavaRandom(seed).uniform(), JavaRandom(seed).normal()
        self._trees: Trees | None = None

    def test_then_train(self, X: Any, Y: Labels) -> Floats:  # noqa: ANN401 (dense or sparse)
        """Predict, then learn, row after row; return probabilities."""
        return self.decide_then_train(X, Y)[0]

    def decide_then_train(self, X: Any, Y: Labels) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Predict, then learn, row after row; return probabilities and predictions."""
        return self._run(X, Y, learning=True)

    def learn_many(self, X: Any, Y: Labels) -> None:  # noqa: ANN401
        """Learn row after row."""
        self._run(X, Y, learning=True)

    def predict_proba_many(self, X: Any) -> Floats:  # noqa: ANN401
        """Return the probability of every label of every row."""
        if self._trees is None:
            raise MarleneError("nothing has been learnt yet, so the labels are not known")
        return self._run(X, np.zeros((X.shape[0], len(self._records.positive)), np.int8), learning=False)[0]

    def counts(self) -> dict[str, int]:
        """Return the number of trees."""
        return {"models": 0 if self._trees is None else len(self._records.positive), "drifts": 0}

    def _run(self, X: Any, Y: Labels, *, learning: bool) -> tuple[Floats, Labels]:  # noqa: ANN401
        rows = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        truth = np.ascontiguousarray(Y, dtype=np.int8)
        if np.isnan(rows).any() or (truth < 0).any():
            raise MarleneError("the imitation of the program takes neither missing values nor unknown labels")
        labels = truth.shape[1]
        if self._trees is None:
            self._trees = new_trees(labels, 2, rows.shape[1])
            self._records = Records(*np.zeros((2, labels)), *np.zeros((7, labels, labels)))
        probabilities, pred = np.empty(truth.shape), np.empty(truth.shape, np.int8)
        row = 0
        while row < len(rows):
            row = run(self._trees, self._records, self._draws, rows, truth, row, learning, probabilities, pred)
            if row < len(rows):
                self._trees = with_room(self._trees)
        return probabilities, pred
