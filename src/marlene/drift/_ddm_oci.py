"""DDM-OCI: drift detection on the recall of the minority class."""

from __future__ import annotations

from typing import TYPE_CHECKING

from river import base

from marlene.drift._bank import ArrayBank
from marlene.drift._checks import as_bit, as_count, as_factor, as_levels
from marlene.drift._single import SingleDetector
from marlene.kernels.drift import detectors as kernels

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Codes, Ints


class DDMOCIBank(ArrayBank[kernels.DDMOCIArrays, kernels.DDMOCIParameters]):
    """DDM-OCI detectors, which watch the recall of the class that is in the minority at present.

    With few positives, the error rate says little about them. DDM-OCI [1]_ keeps a fading size of both classes and a
    fading recall of each. Of the smaller class (of the positive one at a tie), with recall p estimated from d
    effective examples and s = sqrt(p (1 - p) / d), it remembers the p and s with the largest sum so far. There is
    drift when p - s is no more than p_max - `drift` · s_max, a warning when it is no more than
    p_max - `warning` · s_max.

    By this rule a minority recall of exactly 1, whose s is 0, is a drift as soon as it is tested, and a recall
    estimated from three examples is noise. The *strict* rule leaves such inputs out. And where the classes are about
    equally frequent, each is the smaller one at times, and the recall of one is compared with the best of the other:
    a drift whenever they differ enough. The strict rule remembers the best of each class.

    Parameters
    ----------
    strict
        While s is 0 or d below 10, neither move the maxima nor test; compare a class with its own best only. False is
        the published rule.
    theta
        Factor by which the class sizes fade at each input.
    fading
        Factor by which the recall of a class fades at each example of it.
    minimum
        Inputs before the first test.
    warning, drift
        Thresholds, in deviations s_max below p_max.

    Notes
    -----
    A detector takes 114 bytes. `state` has, for each: the number of inputs `n`, the `minority` class, `p`, `s`,
    `p_max` and `s_max`, the class sizes `class_size` / `class_size_den`, the recalls `recall_num` / `recall_den` of
    classes 0 and 1, and the last answer, `signal`.

    References
    ----------
    .. [1] S. Wang, L. L. Minku, D. Ghezzi, D. Caltabiano, P. Tino and X. Yao: Concept drift detection for online
       class imbalance learning. International Joint Conference on Neural Networks (IJCNN), 2013.

    Examples
    --------
    One example in four is positive. At first four positives in five are found, from the 2000th example on none is:

    >>> from marlene.drift import DRIFT, WARNING
    >>> bank = DDMOCIBank()
    >>> ids = bank.add()
    >>> answers = []
    >>> for t in range(3000):
    ...     positive = t % 4 == 0
    ...     correct = not positive or (t % 20 > 0 and t < 2000)
    ...     answers += bank.update(ids, [correct], [positive]).tolist()
    >>> answers.index(WARNING), answers.index(DRIFT)
    (2444, 2800)
    """

    name = "ddm-oci"

    def __init__(
        self,
        strict: bool = True,
        *,
        theta: float = 0.99,
        fading: float = 0.999,
        minimum: int = 30,
        warning: float = 2,
        drift: float = 3,
    ) -> None:
        super().__init__(
            kernels.DDMOCIParameters(
                as_bit(strict, "strict"),
                as_factor(theta, "theta"),
                as_factor(fading, "fading"),
                as_count(minimum, "minimum"),
                *as_levels(warning, drift),
            )
        )

    @staticmethod
    def _new_arrays(capacity: int) -> kernels.DDMOCIArrays:
        return kernels.new_ddm_oci(capacity)

    def _start(self, ids: Ints) -> None:
        for i in ids:
            kernels.ddm_oci_reset(self._arrays, i)

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:
        return kernels.ddm_oci_update(self._arrays, self._parameters, ids, correct, truth)


class DDMOCI(SingleDetector, base.BinaryDriftAndWarningDetector):
    """One DDM-OCI detector in River's interface; the parameters are those of `DDMOCIBank`.

    As with River's other binary detectors, the input `x` is 1 for an error. Unlike them, `update` wants the true class
    of the example, too: without it there is no recall. River's wrappers, which give their detector the error alone,
    can therefore not use it.

    Examples
    --------
    >>> detector = DDMOCI()
    >>> for t in range(3000):
    ...     positive = t % 4 == 0
    ...     error = positive and (t % 20 == 0 or t >= 2000)
    ...     detector.update(error, positive)
    ...     if detector.drift_detected:
    ...         print(f"drift at {t}")
    drift at 2800
    """

    def __init__(
        self,
        strict: bool = True,
        *,
        theta: float = 0.99,
        fading: float = 0.999,
        minimum: int = 30,
        warning: float = 2,
        drift: float = 3,
    ) -> None:
        super().__init__()
        self.strict = strict
        self.theta = theta
        self.fading = fading
        self.minimum = minimum
        self.warning = warning
        self.drift = drift
        self._hold(DDMOCIBank(strict, theta=theta, fading=fading, minimum=minimum, warning=warning, drift=drift))

    def update(self, x: bool, y: int) -> None:  # type: ignore[override]
        """Take one prediction.

        Parameters
        ----------
        x
            Whether it was wrong.
        y
            The true class of the example, 0 or 1.
        """
        self._take(not as_bit(x, "x"), as_bit(y, "y"))
