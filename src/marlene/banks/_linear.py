"""A bank of linear classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene.banks._bank import InputBank
from marlene.kernels.banks.linear import Linear, LinearSettings, linear_train, linear_votes

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints
    from marlene.kernels.rows import Rows


class LinearBank(InputBank):
    """Logistic regression, learnt by AdaGrad.

    Numbers are scaled by what was seen of them so far, and rows to length one. Work follows the non-zeros.

    Parameters
    ----------
    rate
        AdaGrad's learning rate.
    start
        What its sums of squared gradients begin with.
    largest_weight
        With which weight an example is learnt at most.

    Examples
    --------
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

    def __init__(self, rate: float = 2.0, start: float = 1.0, largest_weight: float = 20.0) -> None:
        for what, value in (("rate", rate), ("start", start), ("largest_weight", largest_weight)):
            if not 0 < value < np.inf:
                raise MarleneError(f"{what} must be positive, not {value!r}")
        self.parameters = LinearSettings(float(rate), float(start), float(largest_weight))
        super().__init__()

    def settings(self) -> dict[str, Any]:
        """Return the parameters, as JSON can hold them."""
        return dict(self.parameters._asdict())

    def _new_arrays(self, inputs: int, numeric: int, capacity: int) -> Linear:  # noqa: ARG002 (numbers are inputs like others)
        return Linear(
            weight=np.zeros((inputs, capacity)),
            squares=np.zeros((inputs, capacity)),
            bias=np.zeros(capacity),
            bias_squares=np.zeros(capacity),
            examples=np.zeros(capacity),
        )

    def _votes(self, rows: Rows, ids: Ints, out: Floats) -> None:
        linear_votes(self.arrays, self.scales, rows, ids, out)

    def _learn(self, ids: Ints, rows: Rows, truth: Ints, weights: Ints) -> None:
        linear_train(self.arrays, self.parameters, self.scales, rows, ids, truth, weights)
