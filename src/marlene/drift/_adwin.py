"""ADWIN: windows that grow as long as their parts agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from river import base

from marlene._common.layouts import Field, Rule
from marlene.drift._bank import DRIFT, SIGNAL, ArrayBank, counted_field, detector_layout
from marlene.drift._checks import as_values
from marlene.drift._single import THE_ONE, SingleDetector
from marlene.kernels.drift import adwin as kernels

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from marlene._common.arrays import Array, Bools, Codes, Floats, Ints


PER_ROW, PER_BUCKET = ("detectors", kernels.ROWS), ("detectors", kernels.ROWS, kernels.BUCKETS)


def _rows_in_use(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    used = np.arange(kernels.ROWS) < arrays["rows"][:, np.newaxis]
    return np.array_equal(arrays["bucket_count"] > 0, used)


def _buckets_fill_the_window(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    sizes = arrays["bucket_count"] * 2 ** np.arange(kernels.ROWS)
    return np.array_equal(sizes.sum(axis=1), arrays["width"])


LAYOUT = detector_layout(
    "adwin",
    {
        "inputs": counted_field("how many inputs there were"),
        "width": counted_field("how many of them are in the window"),
        "total": Field("float64", ("detectors",), "the sum of these"),
        "variance_sum": Field("float64", ("detectors",), "the sum of squared deviations from their mean"),
        "rows": Field("int64", ("detectors",), "how many rows of buckets are used", least=0, most=kernels.ROWS),
        "bucket_count": Field("uint8", PER_ROW, "buckets in each row", least=0, most=kernels.BUCKETS),
        "bucket_total": Field("float64", PER_BUCKET, "the sum of each bucket"),
        "bucket_variance": Field("float64", PER_BUCKET, "the sum of squared deviations in each bucket"),
        "cut": Field("bool", ("detectors",), "whether the last input made the window shorter"),
        "signal": SIGNAL,
    },
    Rule("rows in use hold buckets, and no others do", _rows_in_use),
    Rule("row r holds 2ʳ inputs in each bucket; together they are the window", _buckets_fill_the_window),
    Rule("no window has more inputs than there were", lambda a, _: (a["width"] <= a["inputs"]).all()),
)


@dataclass(eq=False, repr=False)
class ADWINSettings:
    """The parameters of ADWIN."""

    delta: float = 0.002


@dataclass(eq=False, repr=False)
class ADWINBank(ADWINSettings, ArrayBank[kernels.ADWINArrays, kernels.ADWINParameters]):
    """ADWIN detectors, which watch whether the mean of the inputs rises within a window of adaptive length.

    The window [1]_ takes every input. Every 32 inputs it is cut: its oldest part is dropped as long as the means of an
    older and a newer part differ more than chance allows. There is drift when the window was cut *and* its mean is
    higher than before the input; with errors as inputs, a change for the worse. The inputs of `update` are errors (1 if
    not correct); `update_values` takes any numbers. There are no warnings, and the true class is not used.

    After a drift a detector does not start afresh: the rest of its window is the new concept. Buckets and bounds are
    those of MOA. River's ADWIN also reports changes for the better, and forgets everything at each change.

    Parameters
    ----------
    delta
        Confidence: the approximate probability of a cut in a stationary stream.

    Notes
    -----
    The window is an exponential histogram (section 3.2 of the paper): 32 rows with up to 5 buckets of 2**row inputs
    each. A detector takes 2.6 kB at any width. A window of more than 2·10¹⁰ inputs drops its oldest ones.
    `state` has, for each: the number of `inputs`, `width`, `total` and `variance_sum` (the sum of squared deviations)
    of the window, its buckets (`rows`, `bucket_count`, `bucket_total`, `bucket_variance`), whether the last input
    `cut` it, and the last answer, `signal`.

    References
    ----------
    .. [1] A. Bifet and R. Gavaldà: Learning from time-changing data with adaptive windowing. SIAM International
       Conference on Data Mining, 2007.

    Examples
    --------
    Two detectors get a 1 once in ten times; the second one gets only ones from the 500th input on:

    >>> bank = ADWINBank()
    >>> ids = bank.add(2)
    >>> answers = [bank.update_values(ids, [t % 10 == 0, t % 10 == 0 or t >= 500]) for t in range(600)]
    >>> [t for t, answer in enumerate(answers) if DRIFT in answer], answers[543]
    ([543], array([0, 2], dtype=uint8))
    >>> bank.state()["width"]
    array([600, 120])
    """

    name = "adwin"

    _arrays_type, _parameters_type, saved = kernels.ADWINArrays, kernels.ADWINParameters, LAYOUT

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:  # noqa: ARG002
        return self._update_values(ids, np.where(correct, 0.0, 1.0))

    def _update_values(self, ids: Ints, values: Floats) -> Codes:
        signals = np.empty(len(ids), np.uint8)
        kernels.adwin_update(self.arrays, self.parameters, ids, values, signals)
        return signals

    def update_values(self, ids: npt.ArrayLike, values: npt.ArrayLike) -> Codes:
        """Give detectors one number each, in the order of `ids`.

        Parameters
        ----------
        ids
            Which detectors.
        values
            For each of `ids`, a finite number.

        Returns
        -------
        numpy.ndarray
            As for `update`.
        """
        known = self._known(ids)
        return self._update_values(known, as_values(values, "values", len(known)))


@dataclass(eq=False, repr=False)
class ADWIN(ADWINSettings, SingleDetector[ADWINBank], base.DriftDetector):
    """One ADWIN detector in River's interface; the parameter is that of `ADWINBank`.

    The input is any number. Unlike `river.drift.ADWIN`, only a rise of the mean is a drift, and the window continues
    after it.

    Examples
    --------
    >>> detector = ADWIN()
    >>> for t in range(600):
    ...     detector.update(t % 10 == 0 or t >= 500)
    ...     if detector.drift_detected:
    ...         print(f"drift at {t}, {detector.width} inputs are left")
    drift at 543, 64 inputs are left
    >>> round(detector.estimation, 2)
    0.85
    """

    _bank_type = ADWINBank

    def update(self, x: float) -> None:
        """Take one number.

        Parameters
        ----------
        x
            The next input; 1 for an error and 0 otherwise, if errors are watched.
        """
        self._drift_detected = bool(self._bank.update_values(THE_ONE, [x])[0] == DRIFT)

    @property
    def width(self) -> int:
        """Number of inputs in the window."""
        return int(self._bank.arrays.width[0])

    @property
    def total(self) -> float:
        """Sum of the inputs in the window."""
        return float(self._bank.arrays.total[0])

    @property
    def estimation(self) -> float:
        """Mean of the inputs in the window, 0 while there is none."""
        return self.total / self.width if self.width else 0.0

    @property
    def variance(self) -> float:
        """Variance of the inputs in the window, 0 while there is none."""
        return float(self._bank.arrays.variance_sum[0]) / self.width if self.width else 0.0
