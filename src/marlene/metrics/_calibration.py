"""Whether predicted probabilities are those with which labels occur."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.checks import whole_number
from marlene._common.errors import MarleneError
from marlene._common.labels import as_labels
from marlene._common.layouts import Field, Layout, Rule
from marlene.kernels import calibration as kernels

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Floats

BINS = 10
RELIABILITY = Field("float64", ("labels", "bins", 3), "predictions, positives, sum of probabilities by bin", least=0)
RELIABLE = Rule(
    "no bin has more positives than predictions",
    lambda a, _: (a["reliability"][..., 1] <= a["reliability"][..., 0]).all(),
)
LAYOUT = Layout(
    "a calibration",
    {"reliability": RELIABILITY},
    (Rule("there are labels and bins", lambda _, n: n["labels"] > 0 and n["bins"] > 0), RELIABLE),
)


class Calibration:
    """Reliability of the predicted probabilities of every label.

    Predictions are counted in bins of equal width, by their probability. A label is well calibrated if it is true as
    often as predicted in each of its bins. The expected calibration error is the mean of the absolute difference
    between both, each bin weighted by its number of predictions.

    Parameters
    ----------
    n_labels
        Number of labels.
    bins
        Number of bins from 0 to 1.

    Examples
    --------
    >>> calibration = Calibration(n_labels=1, bins=2)
    >>> calibration.update_many([[0], [1], [1]], [[0.3], [0.5], [0.7]])
    >>> calibration.curve()
    array([[1. , 0.3, 0. ],
           [2. , 0.6, 1. ]])
    >>> round(calibration.error(), 6)
    0.366667
    """

    def __init__(self, n_labels: int, bins: int = BINS) -> None:
        self._bins = np.zeros((whole_number(n_labels, "n_labels", 1), whole_number(bins, "bins", 1), 3))

    def update_many(self, truth: npt.ArrayLike, probabilities: npt.ArrayLike) -> None:
        """Count predictions.

        Parameters
        ----------
        truth
            A row per example: 1, 0, or -1 where a label is not known.
        probabilities
            The predicted probability of every label. NaN is not counted.
        """
        true, predicted = as_labels(truth, "truth"), np.asarray(probabilities)
        if predicted.dtype not in (np.float32, np.float64):
            predicted = predicted.astype(np.float64)
        if true.shape != predicted.shape or true.shape[1] != len(self._bins):
            raise MarleneError(
                f"truth has shape {true.shape} and probabilities {predicted.shape}, "
                f"expected a value for each of {len(self._bins)} labels in both"
            )
        kernels.count_predictions(self._bins, true, np.ascontiguousarray(predicted))

    def add_labels(self, count: int) -> None:
        """Make room for `count` more labels.

        Examples
        --------
        >>> calibration = Calibration(n_labels=1)
        >>> calibration.add_labels(2)
        >>> calibration.bins.shape
        (3, 10, 3)
        """
        self._bins = np.pad(self._bins, ((0, whole_number(count, "count", 1)), (0, 0), (0, 0)))

    @property
    def bins(self) -> Floats:
        """Predictions, positives and sum of probabilities (labels × bins × 3), as a copy."""
        return self._bins.copy()

    @classmethod
    def of(cls, bins: Floats) -> Calibration:
        """Return the calibration that has these `bins`."""
        given = LAYOUT.checked({"reliability": bins})["reliability"]
        result = cls(1)
        result._bins = given
        return result

    def curve(self, label: int | None = None) -> Floats:
        """Return number of predictions, mean probability and share of positives, a row per bin; NaN where it is empty.

        Of one label, given by its column, or of all labels together.
        """
        count, positives, probability = (self._bins.sum(axis=0) if label is None else self._bins[label]).T
        with np.errstate(invalid="ignore"):
            return np.column_stack([count, probability / count, positives / count])

    def error(self, label: int | None = None) -> float:
        """Return the expected calibration error of one label or of all together; NaN without predictions."""
        count, said, found = self.curve(label).T
        total = count.sum()
        return float(np.nansum(count * np.abs(said - found)) / total) if total else float("nan")
