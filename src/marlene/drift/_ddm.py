"""DDM: drift detection on the error rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from river import base

from marlene.drift._bank import ArrayBank
from marlene.drift._checks import as_bit, as_count, as_levels
from marlene.drift._single import SingleDetector
from marlene.kernels.drift import detectors as kernels

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Codes, Ints


class DDMBank(ArrayBank[kernels.DDMArrays, kernels.DDMParameters]):
    """DDM detectors, which watch whether the error rate has risen above its lowest value so far.

    With the error rate p of n inputs and s = sqrt(p (1 - p) / n), a detector [1]_ remembers the p and s with the
    smallest sum. There is drift when p + s is above p_min + `drift` · s_min, a warning when it is above
    p_min + `warning` · s_min. Minima and tests begin after `minimum` inputs, as in River. The true class plays no
    part.

    Parameters
    ----------
    minimum
        Inputs before the first test.
    warning, drift
        Thresholds, in deviations s_min above p_min.

    Notes
    -----
    A detector takes 41 bytes. `state` has, for each: the number of inputs `n`, `p`, `s`, `p_min`, `s_min`, and the
    last answer, `signal`.

    References
    ----------
    .. [1] J. Gama, P. Medas, G. Castillo and P. Rodrigues: Learning with drift detection. Brazilian Symposium on
       Artificial Intelligence (SBIA), 2004.

    Examples
    --------
    Of two classifiers, one is wrong once in ten examples, the other every time from the 500th on:

    >>> from marlene.drift import DRIFT
    >>> bank = DDMBank()
    >>> ids = bank.add(2)
    >>> for t in range(600):
    ...     right = t % 10 > 0
    ...     answers = bank.update(ids, [right, right and t < 500], [0, 0])
    ...     if DRIFT in answers:
    ...         print(f"at {t}: {answers}")
    at 514: [0 2]
    """

    name = "ddm"

    def __init__(self, *, minimum: int = 30, warning: float = 2, drift: float = 3) -> None:
        super().__init__(kernels.DDMParameters(as_count(minimum, "minimum"), *as_levels(warning, drift)))

    @staticmethod
    def _new_arrays(capacity: int) -> kernels.DDMArrays:
        return kernels.new_ddm(capacity)

    def _start(self, ids: Ints) -> None:
        for i in ids:
            kernels.ddm_reset(self._arrays, i)

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:
        return kernels.ddm_update(self._arrays, self._parameters, ids, correct, truth)


class DDM(SingleDetector, base.BinaryDriftAndWarningDetector):
    """One DDM detector in River's interface; the parameters are those of `DDMBank`.

    It gives what `river.drift.binary.DDM` gives.

    Examples
    --------
    >>> detector = DDM()
    >>> for t in range(600):
    ...     detector.update(t % 10 == 0 or t >= 500)
    ...     if detector.drift_detected:
    ...         print(f"drift at {t}")
    drift at 514
    """

    def __init__(self, minimum: int = 30, warning: float = 2, drift: float = 3) -> None:
        super().__init__()
        self.minimum = minimum
        self.warning = warning
        self.drift = drift
        self._hold(DDMBank(minimum=minimum, warning=warning, drift=drift))

    def update(self, x: bool) -> None:
        """Take one prediction.

        Parameters
        ----------
        x
            Whether it was wrong.
        """
        self._take(not as_bit(x, "x"), truth=False)
