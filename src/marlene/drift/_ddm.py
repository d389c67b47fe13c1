"""DDM: drift detection on the error rate."""

from __future__ import annotations

from dataclasses import dataclass

from river import base

from marlene.drift._bank import SIGNAL, ArrayBank, counted_field, detector_layout, share_field
from marlene.drift._checks import as_bit
from marlene.drift._single import SingleDetector
from marlene.kernels.drift import detectors as kernels

LAYOUT = detector_layout(
    "ddm",
    {
        "n": counted_field("how many inputs there were"),
        "p": share_field("the error rate"),
        "s": share_field("its deviation"),
        "p_min": share_field("the lowest error rate; infinite before there is one", bounded=False),
        "s_min": share_field("its deviation", bounded=False),
        "signal": SIGNAL,
    },
)


@dataclass(eq=False, repr=False)
class DDMSettings:
    """The parameters of DDM."""

    minimum: int = 30
    warning: float = 2
    drift: float = 3


@dataclass(eq=False, repr=False)
class DDMBank(DDMSettings, ArrayBank[kernels.DDMArrays, kernels.DDMParameters]):
    """DDM detectors, which watch whether the error rate has risen above its lowest value so far.

    With the error rate p of n inputs and s = sqrt(p (1 - p) / n), a detector [1]_ remembers the p and s with the
    smallest sum. There is drift when p + s is above p_min + `drift` · s_min, a warning when it is above
    p_min + `warning` · s_min. Minima and tests begin after `minimum` inputs, as in River. The true class is not used.

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
    A classifier is wrong once in ten examples, and every time from the 500th on:

    >>> from marlene.drift import DRIFT
    >>> bank = DDMBank()
    >>> ids = bank.add()
    >>> answers = [int(bank.update(ids, [t % 10 > 0 and t < 500], [0])[0]) for t in range(600)]
    >>> answers.index(DRIFT)
    514
    """

    name = "ddm"

    _arrays_type, _parameters_type, saved = kernels.DDMArrays, kernels.DDMParameters, LAYOUT
    _reset_kernel, _update_kernel = staticmethod(kernels.ddm_reset), staticmethod(kernels.ddm_update)


@dataclass(eq=False, repr=False)
class DDM(DDMSettings, SingleDetector[DDMBank], base.BinaryDriftAndWarningDetector):
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

    _bank_type = DDMBank

    def update(self, x: bool) -> None:
        """Take one prediction.

        Parameters
        ----------
        x
            Whether it was wrong.
        """
        self._take(not as_bit(x, "x"), truth=False)
