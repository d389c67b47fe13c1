"""A bank of linear classifiers."""

from __future__ import annotations

from marlene._common.layouts import Field, Layout
from marlene.banks._bank import CLASSIFIER, INPUT, InputBank
from marlene.kernels.banks.linear import Linear, LinearSettings
from marlene.kernels.banks.simple import LINEAR

LINEAR_FIELDS = Layout(
    "a linear bank",
    {
        "weight": Field("float32", (INPUT, CLASSIFIER), "the coefficient of each input"),
        "squares": Field("float32", (INPUT, CLASSIFIER), "the sum of its squared gradients", least=0),
        "bias": Field("float64", (CLASSIFIER,), "the constant"),
        "bias_squares": Field("float64", (CLASSIFIER,), "the sum of its squared gradients", least=0),
        "examples": Field("float64", (CLASSIFIER,), "how many examples each was trained on", least=0),
    },
)


class LinearBank(InputBank):
    """Logistic regression, learnt by AdaGrad.

    Numbers are scaled by their mean and variance so far, rows to length one. Work follows the non-zeros.

    Parameters
    ----------
    rate
        AdaGrad's learning rate.
    start
        The start of its sums of squared gradients.
    largest_weight
        The largest weight of an example.

    Examples
    --------
    >>> import numpy as np
    >>> bank = LinearBank()
    >>> bank.add_features(["binary", "binary"])
    >>> ids = bank.add(2)
    >>> for x, y in [([1, 0], 0), ([0, 1], 1)] * 20:
    ...     bank.learn(ids[:1], np.array(x), [y], [1])
    >>> bank.votes(np.array([0, 1])).round(1)  # the second has learnt nothing
    array([[0.1, 0.9],
           [0. , 0. ]])
    """

    name = "linear"
    which = LINEAR
    arrays_type = Linear
    saved = LINEAR_FIELDS

    def __init__(self, rate: float = 1.0, start: float = 1.0, largest_weight: float = 20.0) -> None:
        super().__init__(LinearSettings(float(rate), float(start), float(largest_weight)))
