"""The weights of online bagging (Oza and Russell 2001): how often each member sees each example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.kernels.compile import kernel
from marlene.kernels.ensemble.resampling import poisson

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from marlene._common.arrays import Ints


@kernel
def draw_weights(keys: npt.NDArray[np.uint64], first: int, rate: float, weights: Ints) -> None:
    """Write Poisson variates to `weights` (examples × members); example i is draw `first` + i of every member."""
    for row in range(weights.shape[0]):
        for member in range(len(keys)):
            weights[row, member] = poisson(keys[member], first + row, rate)
