"""Scores of multi-label predictions, kept up to date example by example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from marlene._common.checks import checked, whole_number
from marlene._common.errors import MarleneError
from marlene._common.labels import as_labels
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import MOST_COUNTED, copied_arrays
from marlene.kernels import scores as kernels
from marlene.metrics._formulas import Score, f1, macro, micro, over_examples, precision, recall

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from marlene._common.arrays import Array, Floats, Labels
    from marlene._common.checks import Rule as Check

TRACE = kernels.TRACE
"""Columns of the array `Scores.update_many` returns with ``trace=True``."""
FADING: Check = (float, lambda x: 0 < x < 1, "a number above 0 and below 1")


def _are_in_the_ring(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    row, *filled = arrays["cursor"].tolist()
    return 0 <= row < lengths["rows"] and all(kernels.NOTHING_TO_REVERT <= n < lengths["rows"] for n in filled)


_COUNTED, _SUMMED = ("labels", 4), (kernels.WEIGHT + 1, 2)
LAYOUT = Layout(
    "scores",
    {
        "window": Field("int64", (), "how many examples count; 0 for all", least=0, most=MOST_COUNTED),
        "fading": Field("float64", (), "by how much earlier ones fade; 1 for not at all", least=0, most=1),
        "counts": Field("float64", _COUNTED, "true positives, false positives, true and false negatives", least=0),
        "sums": Field("float64", _SUMMED, "coarse and fine parts of sums over examples"),
        "ring": Field("int8", ("rows", "labels"), "which of the four each label was; -1 is unknown", least=-1, most=3),
        "cursor": Field("int64", (3,), "the next row, how many are in the window, and were before; -1 is not known"),
        "counts_before": Field("float64", _COUNTED, "`counts` before the last example", least=0),
        "sums_before": Field("float64", _SUMMED, "`sums` before the last example"),
    },
    (
        Rule("there are labels", lambda _, n: n["labels"] > 0),
        Rule("the ring has a row more than the window", lambda a, n: n["rows"] == a["window"] + 1),
        Rule("`cursor` is in the ring", _are_in_the_ring),
    ),
)


class Scores:
    """Confusion counts of every label and averages over examples, of a whole stream or of its recent past.

    All scores lie between 0 and 1, bigger is better, and a ratio 0/0 is 0. The G-Mean of counts is
    sqrt(TP / (TP + FN) · TN / (TN + FP)). *Macro* scores are means over all labels (one that was never seen counts
    as 0), *micro* scores those of the counts summed over labels, and *label-set* and *example* scores are computed
    from each example's own labels and averaged over examples.

    A label that is not known for an example (-1 or NaN) is left out of all scores. An example without a known label
    adds to no score, but it takes a place in the window, and earlier examples fade.

    Parameters
    ----------
    n_labels
        Number of labels.
    window
        Number of most recent examples that count. By default all do.
    fading
        Factor between 0 and 1: each new example multiplies the weight of all earlier ones by it.
        By default none; not together with `window`.

    Examples
    --------
    >>> scores = Scores(n_labels=3)
    >>> scores.update([1, 0, 1], [1, 0, 0])
    >>> scores.update([0, 1, 0], [0, 1, 1])
    >>> scores.confusion  # true positives, false positives, true negatives, false negatives
    array([[1., 0., 1., 0.],
           [1., 0., 1., 0.],
           [0., 1., 0., 1.]])
    >>> scores.label_gmeans
    array([1., 1., 0.])
    >>> scores.hamming_score == 2 / 3
    True

    The last two examples only, and the values at each step:

    >>> recent = Scores(n_labels=2, window=2)
    >>> steps = recent.update_many([[1, 0], [1, 0], [1, 0]], [[0, 1], [1, 0], [1, 0]], trace=True)
    >>> steps[:, TRACE.index("micro_gmean")]
    array([0. , 0.5, 1. ])
    """

    def __init__(self, n_labels: int, window: int | None = None, fading: float | None = None) -> None:
        if window is not None and fading is not None:
            raise MarleneError("window and fading exclude each other: give one of them")
        self._window = None if window is None else whole_number(window, "window", 1)
        self._fading: float | None = None if fading is None else checked(fading, "fading", FADING)
        self._state = kernels.new_state(whole_number(n_labels, "n_labels", 1), self._window or 0)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self._state.counts)

    @property
    def window(self) -> int | None:
        """Number of most recent examples that count; None if all do."""
        return self._window

    @property
    def fading(self) -> float | None:
        """Factor by which earlier examples lose weight; None if they do not."""
        return self._fading

    @property
    def weight(self) -> float:
        """Number of examples that count (with a known label); the sum of their weights if they fade."""
        return float(self._state.sums[kernels.WEIGHT, 0])

    def update(self, truth: npt.ArrayLike, prediction: npt.ArrayLike) -> None:
        """Add one example.

        Parameters
        ----------
        truth
            1, 0, or -1 where unknown, for every label.
        prediction
            1 or 0 for every label.
        """
        self._update(*self._checked(truth, prediction, dimensions=1), trace=False)

    @overload
    def update_many(self, truth: npt.ArrayLike, prediction: npt.ArrayLike, trace: Literal[False] = False) -> None: ...

    @overload
    def update_many(self, truth: npt.ArrayLike, prediction: npt.ArrayLike, trace: Literal[True]) -> Floats: ...

    def update_many(self, truth: npt.ArrayLike, prediction: npt.ArrayLike, trace: bool = False) -> Floats | None:
        """Add examples in their order.

        Parameters
        ----------
        truth, prediction
            As for `update`, one row per example.
        trace
            Return the scores named by `TRACE` after each example, one row per example.
        """
        return self._update(*self._checked(truth, prediction, dimensions=2), trace=trace)

    def _checked(self, truth: npt.ArrayLike, prediction: npt.ArrayLike, dimensions: int) -> tuple[Labels, Labels]:
        """Return both as matrices of one row per example."""
        true = as_labels(truth, "truth", dimensions=dimensions)
        predicted = as_labels(prediction, "prediction", dimensions=dimensions, unknown=False)
        if true.shape != predicted.shape or true.shape[-1] != self.n_labels:
            raise MarleneError(
                f"truth has shape {true.shape} and prediction {predicted.shape}, "
                f"expected a value for each of {self.n_labels} labels in both"
            )
        return true.reshape(-1, self.n_labels), predicted.reshape(-1, self.n_labels)

    def _update(self, truth: Labels, prediction: Labels, *, trace: bool) -> Floats | None:
        steps = np.empty((len(truth) if trace else 0, len(TRACE)))
        kernels.update_block(self._state, self._fading or 1.0, truth, prediction, steps)
        return steps if trace else None

    def revert(self, truth: npt.ArrayLike, prediction: npt.ArrayLike) -> None:
        """Remove one example.

        Without window and fading, every example that was added can be removed, in any order. With a window or fading,
        only the most recent example can be removed, and only once before the next one is added.

        Parameters
        ----------
        truth, prediction
            The example as it was added.

        Examples
        --------
        >>> scores = Scores(n_labels=2, window=1)
        >>> scores.update([1, 0], [1, 0])
        >>> scores.update([1, 0], [0, 1])
        >>> scores.revert([1, 0], [0, 1])
        >>> scores.micro_gmean
        1.0
        """
        truth_rows, prediction_rows = self._checked(truth, prediction, dimensions=1)
        outcomes = np.empty(self.n_labels, dtype=np.int8)
        kernels.write_outcomes(truth_rows[0], prediction_rows[0], outcomes)
        if self._window is None and self._fading is None:
            self._take_away(outcomes)
        else:
            self._undo(outcomes)

    def _take_away(self, outcomes: Labels) -> None:
        known = np.flatnonzero(outcomes != kernels.UNKNOWN)
        if (self._state.counts[known, outcomes[known]] < 1).any():
            raise MarleneError("this example was not added, so it cannot be reverted")
        kernels.add_outcomes(self._state.counts, self._state.sums, outcomes, -1.0)

    def _undo(self, outcomes: Labels) -> None:
        state = self._state
        if state.cursor[kernels.FILLED_BEFORE] == kernels.NOTHING_TO_REVERT:
            raise MarleneError("with a window or fading only the most recent update can be reverted, and only once")
        last = (state.cursor[kernels.NEXT_ROW] - 1) % len(state.ring)
        if not np.array_equal(state.ring[last], outcomes):
            raise MarleneError("with a window or fading only the most recent example can be reverted; this is another")
        state.counts[:] = state.counts_before
        state.sums[:] = state.sums_before
        state.cursor[:] = last, state.cursor[kernels.FILLED_BEFORE], kernels.NOTHING_TO_REVERT

    def add_labels(self, count: int) -> None:
        """Make room for `count` more labels, which are unknown for all earlier examples.

        Examples
        --------
        >>> scores = Scores(n_labels=1)
        >>> scores.add_labels(2)
        >>> scores.label_gmeans
        array([0., 0., 0.])
        """
        more = whole_number(count, "count", 1)
        state = self._state
        self._state = state._replace(
            counts=np.pad(state.counts, ((0, more), (0, 0))),
            counts_before=np.pad(state.counts_before, ((0, more), (0, 0))),
            ring=np.pad(state.ring, ((0, 0), (0, more)), constant_values=kernels.UNKNOWN),
        )

    def reset(self) -> None:
        """Forget all examples."""
        self._state = kernels.new_state(self.n_labels, self._window or 0)

    @property
    def confusion(self) -> Floats:
        """True positives, false positives, true negatives and false negatives (columns) of every label (rows)."""
        return self._state.counts.copy()

    @property
    def label_gmeans(self) -> Floats:
        """G-Mean of every label."""
        return kernels.label_gmeans(self._state.counts)

    macro_gmean = Score(lambda state: kernels.macro_gmean(state.counts), "Mean of the G-Means of all labels.")
    micro_gmean = Score(lambda state: kernels.micro_gmean(state.counts), "G-Mean of the counts summed over labels.")
    label_set_gmean = Score(over_examples(kernels.LABEL_SET_GMEAN), "Mean over examples of their G-Mean.")
    hamming_score = Score(over_examples(kernels.HAMMING_SCORE), "Mean share of labels predicted right.")
    subset_accuracy = Score(over_examples(kernels.SUBSET_ACCURACY), "Share of examples predicted wholly right.")
    macro_f1 = Score(macro(f1), "Mean of the F1 scores of all labels.")
    micro_f1 = Score(micro(f1), "F1 score of the counts summed over labels.")
    example_f1 = Score(over_examples(kernels.EXAMPLE_F1), "Mean over examples of their F1 score.")
    macro_precision = Score(macro(precision), "Mean of the precisions of all labels.")
    micro_precision = Score(micro(precision), "Precision of the counts summed over labels.")
    example_precision = Score(over_examples(kernels.EXAMPLE_PRECISION), "Mean over examples of their precision.")
    macro_recall = Score(macro(recall), "Mean of the recalls of all labels.")
    micro_recall = Score(micro(recall), "Recall of the counts summed over labels.")
    example_recall = Score(over_examples(kernels.EXAMPLE_RECALL), "Mean over examples of their recall.")
    example_jaccard = Score(over_examples(kernels.EXAMPLE_JACCARD), "Mean over examples of their Jaccard index.")

    @property
    def labels_predicted(self) -> float:
        """Mean number of known labels that are predicted for an example; 0 before the first."""
        return self._per_example(kernels.TRUE_POSITIVE, kernels.FALSE_POSITIVE)

    @property
    def labels_true(self) -> float:
        """Mean number of labels that an example has; 0 before the first."""
        return self._per_example(kernels.TRUE_POSITIVE, kernels.FALSE_NEGATIVE)

    def _per_example(self, *outcomes: int) -> float:
        return float(self._state.counts[:, outcomes].sum()) / self.weight if self.weight else 0.0

    def as_dict(self) -> dict[str, float]:
        """Return every score that is one number, by name.

        Examples
        --------
        >>> list(Scores(n_labels=1).as_dict())[:3]
        ['macro_gmean', 'micro_gmean', 'label_set_gmean']
        """
        return {name: getattr(self, name) for name in SCORES}

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return settings and counts as named arrays (copies).

        Examples
        --------
        >>> scores = Scores(n_labels=2, window=10)
        >>> scores.update([1, 0], [1, 1])
        >>> Scores.from_state(scores.state()) == scores
        True
        """
        settings = {"window": np.array(self._window or 0), "fading": np.array(self._fading or 1.0)}
        return settings | copied_arrays(self._state)

    @classmethod
    def from_state(cls, state: Mapping[str, npt.NDArray[np.generic]]) -> Scores:
        """Return the scores whose `state` this is; they continue from there."""
        wanted = {"window", "fading", *kernels.ScoreState._fields}
        if set(state) != wanted:
            raise MarleneError(f"state of scores holds {sorted(state)}, expected {sorted(wanted)}")
        given = LAYOUT.checked(state)
        window, fading = int(given.pop("window")), float(given.pop("fading"))
        result = cls(1, window or None, None if fading == 1 else fading)
        result._state = kernels.ScoreState(**given)
        return result

    def copy(self) -> Scores:
        """Return an independent copy."""
        return Scores.from_state(self.state())

    __copy__ = copy

    def __eq__(self, other: object) -> bool:
        """Tell whether settings, counts and window are the same; what `revert` can remove may differ."""
        if not isinstance(other, Scores):
            return NotImplemented
        mine, its = self._state, other._state
        return (
            (self._window, self._fading) == (other._window, other._fading)
            and np.array_equal(mine.counts, its.counts)
            and np.array_equal(mine.sums, its.sums)
            and np.array_equal(self._in_window(), other._in_window())
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name):.4f}" for name in TRACE)
        return f"<Scores of {self.n_labels} labels, weight {self.weight:g}: {values}>"

    def _in_window(self) -> Labels:
        """Return the outcomes that are in the window, oldest first."""
        row, filled = self._state.cursor[[kernels.NEXT_ROW, kernels.FILLED]].tolist()
        return self._state.ring.take(range(row - filled, row), axis=0, mode="wrap")


SCORES = tuple(name for name, value in vars(Scores).items() if isinstance(value, Score))
"""Every score that is one number: attributes of `Scores` and keys of `Scores.as_dict`."""
