"""ADWIN: windows that grow as long as their parts agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from river import base

from marlene._common.errors import MarleneError
from marlene.drift._bank import DRIFT, ArrayBank
from marlene.drift._checks import as_factor, as_values
from marlene.drift._single import THE_ONE, SingleDetector
from marlene.kernels.drift import adwin as kernels

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Bools, Codes, Ints


class ADWINBank(ArrayBank[kernels.ADWINArrays, kernels.ADWINParameters]):
    """ADWIN detectors, which watch whether the mean of the inputs rises within a window of adaptive length.

    The window [1]_ takes every input and, every 32 inputs, loses its oldest part as long as an older and a newer part
    of it have means that differ more than chance allows. There is drift when the window was cut *and* its mean is
    higher than before the input: with errors as inputs, a change for the worse. The inputs of `update` are the errors
    (1 where not correct); `update_values` takes any numbers. There are no warnings, and the true class plays no part.

    After a drift a detector does not start afresh, because what is left in its window is the new concept. Buckets
    and bounds are those of MOA; River's ADWIN reports changes for the better, too, and forgets everything at each.

    Parameters
    ----------
    delta
        Confidence: about how often a cut at a stationary stream is accepted.

    Notes
    -----
    The window is an exponential histogram (section 3.2 of the paper): 32 rows with up to 5 buckets of 2**row inputs
    each. A detector takes 2.6 kB whatever its width. A window of more than 2·10¹⁰ inputs loses its oldest ones.
    `state` has, for each: the number of `inputs`, `width`, `total` and `variance_sum` (the sum of squared deviations)
    of the window, its buckets (`rows`, `bucket_count`, `bucket_total`, `bucket_variance`), whether the last input
    `cut` it, and the last answer, `signal`.

    References
    ----------
    .. [1] A. Bifet and R. Gavaldà: Learning from time-changing data with adaptive windowing. SIAM International
       Conference on Data Mining, 2007.

    Examples
    --------
    Of two classifiers, one is wrong once in ten examples, the other every time from the 500th on:

    >>> bank = ADWINBank()
    >>> ids = bank.add(2)
    >>> for t in range(600):
    ...     right = t % 10 > 0
    ...     answers = bank.update(ids, [right, right and t < 500], [0, 0])
    ...     if DRIFT in answers:
    ...         print(f"at {t}: {answers}")
    at 543: [0 2]
    >>> bank.state()["width"]
    array([600, 120])
    """

    name = "adwin"

    def __init__(self, delta: float = 0.002) -> None:
        if as_factor(delta, "delta") == 1:
            raise MarleneError("delta must be below 1")
        super().__init__(kernels.ADWINParameters(float(delta)))

    @staticmethod
    def _new_arrays(capacity: int) -> kernels.ADWINArrays:
        return kernels.new_adwin(capacity)

    def _start(self, ids: Ints) -> None:
        for i in ids:
            kernels.adwin_reset(self._arrays, i)

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:  # noqa: ARG002
        return kernels.adwin_update(self._arrays, self._parameters, ids, np.where(correct, 0.0, 1.0))

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
        return kernels.adwin_update(self._arrays, self._parameters, known, as_values(values, "values", len(known)))

    def _refuse_impossible(self) -> None:
        arrays = self._arrays
        limit = arrays.bucket_count.shape[1]
        used = np.arange(limit) < arrays.rows[:, np.newaxis]
        sizes = arrays.bucket_count * 2 ** np.arange(limit)
        if (
            (arrays.rows < 0).any()
            or (arrays.rows > limit).any()
            or (arrays.bucket_count > kernels.BUCKETS).any()
            or not np.array_equal(arrays.bucket_count > 0, used)
            or not np.array_equal(sizes.sum(axis=1), arrays.width)
        ):
            raise MarleneError("state of an adwin bank: width, rows and bucket_count contradict each other")


class ADWIN(SingleDetector, base.DriftDetector):
    """One ADWIN detector in River's interface; the parameter is that of `ADWINBank`.

    The input is any number. Only a rise of the mean is a drift, and the window goes on after it; in both it differs
    from `river.drift.ADWIN`.

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

    _bank: ADWINBank

    def __init__(self, delta: float = 0.002) -> None:
        super().__init__()
        self.delta = delta
        self._hold(ADWINBank(delta))

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
