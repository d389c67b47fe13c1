"""A bank of naive Bayes classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene.banks._bank import InputBank
from marlene.kernels.banks.naive_bayes import Bayes, BayesSettings, bayes_train, bayes_votes

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.rows import Rows


class NaiveBayesBank(InputBank):
    """Naive Bayes: whether a feature is there, and, of one that mostly is, the Gaussian its values follow.

    A feature counts as present where it is not zero. By default examples are counted once, whatever their weight, which
    goes into the classes' prior alone. Features are not as independent as naive Bayes has it: the log odds are divided
    by the square root of how many are present. Work follows the non-zeros.

    Parameters
    ----------
    smoothing
        Laplace's pseudo-count of every value in every class.
    pseudo_examples
        With as many examples each class begins that look like all examples so far: means and variances are shrunk
        towards those of both classes.
    weighted
        Whether an example counts as many times as its weight says.

    Examples
    --------
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

    def __init__(self, smoothing: float = 0.1, pseudo_examples: float = 10.0, weighted: bool = False) -> None:
        for what, value in (("smoothing", smoothing), ("pseudo_examples", pseudo_examples)):
            if not 0 < value < np.inf:
                raise MarleneError(f"{what} must be positive, not {value!r}")
        if not isinstance(weighted, bool):
            raise MarleneError(f"weighted must be True or False, not {weighted!r}")
        self.parameters = BayesSettings(float(smoothing), float(pseudo_examples), weighted)
        super().__init__()

    def settings(self) -> dict[str, Any]:
        """Return the parameters, as JSON can hold them."""
        return dict(self.parameters._asdict())

    def _new_arrays(self, inputs: int, numeric: int, capacity: int) -> Bayes:
        return Bayes(
            present=np.zeros((inputs, 2, capacity)),
            gain=np.zeros((inputs, capacity)),
            mean=np.zeros((numeric, 2, capacity)),
            squares=np.zeros((numeric, 2, capacity)),
            curve=np.zeros((numeric, 3, capacity)),
            examples=np.zeros((2, capacity)),
            weights=np.zeros((2, capacity)),
            absent=np.zeros((2, capacity)),
            refreshed=np.zeros((2, capacity)),
            base=np.zeros(capacity),
        )

    def _votes(self, rows: Rows, ids: Ints, out: Floats) -> None:
        bayes_votes(self.arrays, self.parameters, self.scales, rows, ids, out)

    def _learn(self, ids: Ints, rows: Rows, truth: Ints, weights: Ints) -> None:
        bayes_train(self.arrays, self.parameters, self.scales, rows, ids, truth, weights)
