"""The balanced detector: drift detection on the mean of both recalls."""

from __future__ import annotations

from dataclasses import dataclass

from river import base

from marlene._common.layouts import Field
from marlene.drift._bank import SIGNAL, ArrayBank, counted_field, detector_layout, share_field, sum_field
from marlene.drift._checks import as_bit
from marlene.drift._ddm_oci import DEVIATION, RECALLS
from marlene.drift._single import SingleDetector
from marlene.kernels.drift import detectors as kernels

LAYOUT = detector_layout(
    "balanced",
    {
        "n": counted_field("how many inputs of the smaller class there were"),
        "p": share_field("the mean of both recalls"),
        "s": Field("float64", ("detectors",), "its deviation", bounded=False),
        "p_max": share_field("the best mean of both recalls"),
        "s_max": share_field("its deviation"),
        "class_size": sum_field("how often each class came, fading", 2),
        "recall_num": sum_field("how many of each class were right, fading", 2),
        "recall_den": sum_field("how many of each class there were, fading", 2),
        "signal": SIGNAL,
    },
    DEVIATION,
    RECALLS,
)


@dataclass(eq=False, repr=False)
class BalancedSettings:
    """The parameters of balanced detectors."""

    theta: float = 0.99
    fading: float = 0.999
    minimum: int = 30
    warning: float = 2
    drift: float = 3


@dataclass(eq=False, repr=False)
class BalancedBank(BalancedSettings, ArrayBank[kernels.BalancedArrays, kernels.BalancedParameters]):
    """Balanced detectors (ours), which watch the mean of the recalls of both classes.

    DDM-OCI watches the recall of the smaller class alone. A classifier that learns resampled examples trades one recall
    for the other now and then, while it tells the classes apart as well as before. The balanced detector tests
    b = (r⁺ + r⁻) / 2, which stays the same then. Its deviation is s = sqrt(s₊² + s₋²) / 2, where s₊ and s₋ are those of
    the recalls. It remembers the b and s with the largest sum. There is drift when b - s is at most b_max - `drift` ·
    s_max, a warning when it is at most b_max - `warning` · s_max.

    Both recalls fade at examples of the smaller class, so that they tell of the same time. While both are exactly 1,
    nothing is tested.

    Parameters
    ----------
    theta
        Factor by which the class sizes fade at each input.
    fading
        Factor by which both recalls fade at each example of the smaller class.
    minimum
        Examples of the smaller class before the first test.
    warning, drift
        Thresholds, in deviations s_max below b_max.

    Notes
    -----
    A detector takes 89 bytes. `state` has, for each: the number `n` of examples of the smaller class; b, s, b_max and
    s_max as `p`, `s`, `p_max` and `s_max`; the sizes `class_size` and the recalls `recall_num` / `recall_den` of
    classes 0 and 1; and the last answer, `signal`.

    Examples
    --------
    One example in four is positive. At first four in five of either class are right, from the 2000th example on none:

    >>> from marlene.drift import DRIFT, WARNING
    >>> bank = BalancedBank()
    >>> ids = bank.add()
    >>> answers = []
    >>> for t in range(3000):
    ...     positive = t % 4 == 0
    ...     correct = (t % 20 > 0 if positive else t % 5 > 0) and t < 2000
    ...     answers += bank.update(ids, [correct], [positive]).tolist()
    >>> answers.index(WARNING), answers.index(DRIFT)
    (2139, 2231)
    """

    name = "balanced"

    _arrays_type, _parameters_type = kernels.BalancedArrays, kernels.BalancedParameters
    saved = LAYOUT
    _reset_kernel, _update_kernel = staticmethod(kernels.balanced_reset), staticmethod(kernels.balanced_update)


@dataclass(eq=False, repr=False)
class Balanced(BalancedSettings, SingleDetector[BalancedBank], base.BinaryDriftAndWarningDetector):
    """One balanced detector in River's interface; the parameters are those of `BalancedBank`.

    As for `DDMOCI`, `update` needs the error and the true class.

    Examples
    --------
    >>> detector = Balanced()
    >>> for t in range(3000):
    ...     positive = t % 4 == 0
    ...     error = t % 20 == 0 if positive else t % 5 == 0
    ...     detector.update(error or t >= 2000, positive)
    ...     if detector.drift_detected:
    ...         print(f"drift at {t}")
    drift at 2231
    """

    _bank_type = BalancedBank

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
