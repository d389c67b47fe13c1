"""DDM-OCI: drift detection on the recall of the minority class."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from river import base

from marlene._common.layouts import Field, Rule
from marlene.drift._bank import SIGNAL, ArrayBank, counted_field, detector_layout, share_field, sum_field
from marlene.drift._checks import as_bit
from marlene.drift._single import SingleDetector
from marlene.kernels.drift import detectors as kernels

DEVIATION = Rule("`s` is a deviation, or NaN", lambda a, _: not ((a["s"] < 0) | (a["s"] > 1)).any())
RECALLS = Rule("no recall is above 1", lambda a, _: (a["recall_num"] <= a["recall_den"]).all())
LAYOUT = detector_layout(
    "ddm-oci",
    {
        "n": counted_field("how many inputs there were"),
        "minority": Field("uint8", ("detectors",), "the smaller class", least=0, most=1),
        "p": share_field("the recall of the smaller class"),
        "s": Field("float64", ("detectors",), "its deviation", bounded=False),
        "p_max": share_field("the best recall of each class", 2),
        "s_max": share_field("its deviation", 2),
        "class_size": sum_field("how often each class came, fading", 2),
        "class_size_den": sum_field("how many inputs there were, fading"),
        "recall_num": sum_field("how many of each class were right, fading", 2),
        "recall_den": sum_field("how many of each class there were, fading", 2),
        "signal": SIGNAL,
    },
    DEVIATION,
    RECALLS,
)


@dataclass(eq=False, repr=False)
class DDMOCISettings:
    """The parameters of DDM-OCI."""

    strict: bool = True
    _: KW_ONLY
    theta: float = 0.99
    fading: float = 0.999
    minimum: int = 30
    warning: float = 2
    drift: float = 3


@dataclass(eq=False, repr=False)
class DDMOCIBank(DDMOCISettings, ArrayBank[kernels.DDMOCIArrays, kernels.DDMOCIParameters]):
    """DDM-OCI detectors, which watch the recall of the current minority class.

    With few positives, the error rate says little about them. DDM-OCI [1]_ keeps a fading size and a fading recall of
    both classes. It watches the smaller class (at a tie, the positive one). Let its recall p be estimated from d
    effective examples, and s = sqrt(p (1 - p) / d). The detector remembers the p and s with the largest sum. There is
    drift when p - s is at most p_max - `drift` · s_max, a warning when it is at most p_max - `warning` · s_max.

    The published rule has two weaknesses, which the *strict* rule avoids:

    - A minority recall of exactly 1 has s = 0 and is a drift as soon as it is tested; a recall estimated from three
      examples is noise. The strict rule skips such inputs.
    - If both classes are about equally frequent, they take turns as the smaller one. The recall of one is then compared
      with the best recall of the other. The strict rule remembers the best of each class.

    Parameters
    ----------
    strict
        Skip inputs while s is 0 or d below 10, and compare a class with its own best only. False: the published rule.
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

    _arrays_type, _parameters_type = kernels.DDMOCIArrays, kernels.DDMOCIParameters
    saved = LAYOUT
    _reset_kernel, _update_kernel = staticmethod(kernels.ddm_oci_reset), staticmethod(kernels.ddm_oci_update)


@dataclass(eq=False, repr=False)
class DDMOCI(DDMOCISettings, SingleDetector[DDMOCIBank], base.BinaryDriftAndWarningDetector):
    """One DDM-OCI detector in River's interface; the parameters are those of `DDMOCIBank`.

    As with River's other binary detectors, the input `x` is 1 for an error. Unlike them, `update` also needs the true
    class of the example: without it there is no recall. River's wrappers pass the error alone, so that they cannot use
    this detector.

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

    _bank_type = DDMOCIBank

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
