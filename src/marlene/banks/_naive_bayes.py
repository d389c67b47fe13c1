"""A bank of naive Bayes classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.layouts import Field, Layout, Rule
from marlene.banks._bank import CLASSIFIER, INPUT, NUMBER, InputBank
from marlene.banks._inputs import number_field
from marlene.kernels.banks.naive_bayes import Bayes, BayesSettings
from marlene.kernels.banks.simple import BAYES

if TYPE_CHECKING:
    from marlene._common.arrays import Bools, Ints


AT_ONCE = 1000
"""How many inputs are forgotten in one go: it takes memory."""


def _of_classes(says: str, least: float | None = None) -> Field:
    return Field("float64", (2, CLASSIFIER), says, least)


BAYES_FIELDS = Layout(
    "a naive-bayes bank",
    {
        "present": Field("float64", (INPUT, 2, CLASSIFIER), "how many examples of each class had an input", least=0),
        "gain": Field("float32", (INPUT, CLASSIFIER), "what the presence of an input adds to the log odds"),
        "mean": number_field((NUMBER, 2, CLASSIFIER), "the mean of a numeric input in each class"),
        "squares": Field("float64", (NUMBER, 2, CLASSIFIER), "the sum of squared deviations from it"),
        "curve": Field("float64", (NUMBER, 3, CLASSIFIER), "the log odds of its values, as a parabola"),
        "examples": _of_classes("examples of each class, or their weight", least=0),
        "weights": _of_classes("the sums of the weights they were learnt with", least=0),
        "absent": _of_classes("log P(absent), added up over the inputs met so far"),
        "inputs": _of_classes("how many inputs the examples had, all together", least=0),
        "refreshed": _of_classes("how many examples there were when `absent` was computed afresh", least=0),
        "base": Field("float64", (CLASSIFIER,), "the log odds of an example without inputs"),
    },
    (
        Rule(  # sums of weights in another order may differ in the last digits
            "no input was there more often than examples",
            lambda a, _: (a["present"] <= a["examples"] * (1 + 1e-9)).all(),
        ),
    ),
)


class NaiveBayesBank(InputBank):
    """Naive Bayes over the presence of features, and over a Gaussian of the values where a feature is mostly present.

    A feature is present where it is not zero. By default an example counts once whatever its weight, which only goes
    into the prior of the classes. Features are not independent: the log odds are divided by the square root of how many
    are present. Work follows the non-zeros.

    Parameters
    ----------
    smoothing
        Laplace's pseudo-count of every value in every class.
    pseudo_examples
        The strength of the prior: mean and variance of a class are shrunk towards those of all examples, as if the
        class had begun with this many of them.
    weighted
        Whether an example counts as often as its weight says.

    Examples
    --------
    >>> import numpy as np
    >>> bank = NaiveBayesBank()
    >>> bank.add_features(["binary", "numeric"])
    >>> ids = bank.add(2)
    >>> for x, y in [([1, 0.2], 0), ([0, 1.9], 1), ([1, 0.3], 0), ([0, 2.1], 1)]:
    ...     bank.learn(ids[:1], np.array(x), [y], [1])
    >>> bank.votes(np.array([0, 2.0])).round(2)  # the second has learnt nothing
    array([[0.03, 0.97],
           [0.  , 0.  ]])
    """

    name = "naive-bayes"
    which = BAYES
    arrays_type = Bayes
    saved = BAYES_FIELDS

    def __init__(self, smoothing: float = 0.1, pseudo_examples: float = 10.0, weighted: bool = False) -> None:
        if not isinstance(weighted, bool):
            raise MarleneError(f"weighted must be True or False, not {weighted!r}")
        super().__init__(BayesSettings(float(smoothing), float(pseudo_examples), weighted))

    def forget(self, slots: Ints, met: Bools) -> None:
        """Forget what was learnt of inputs; `met`: which were among the inputs of each classifier."""
        a, bank = self.parameters.smoothing, Bayes(*(array[..., : met.shape[1]] for array in self._arrays))
        for begin in range(0, len(slots), AT_ONCE):
            given = bank.present[slots[begin : begin + AT_ONCE]]
            counted = met[begin : begin + AT_ONCE, None] & (bank.refreshed > 0.0)
            log_absent = np.log((bank.examples - given + a) / (bank.examples + 2.0 * a))
            bank.absent[:] -= np.where(counted, log_absent, 0.0).sum(axis=0)
            bank.inputs[:] = np.maximum(bank.inputs - given.sum(axis=0), 0.0)  # sums of weights are not exact
        prior = np.log((bank.weights[1] + 1.0) / (bank.weights[0] + 1.0))
        bank.base[:] = np.where(bank.weights.any(axis=0), prior + bank.absent[1] - bank.absent[0], 0.0)
        super().forget(slots, met)
