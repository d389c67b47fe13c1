"""Detectors that detect nothing: one that never answers, one that is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene.drift._bank import ArrayBank
from marlene.kernels.drift import detectors as kernels

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Bools, Codes, Ints


class NoArrays(NamedTuple):
    """Nothing to remember."""


class NoParameters(NamedTuple):
    """Nothing to set."""


class NoneBank(ArrayBank[NoArrays, NoParameters]):
    """Detectors that are always in control: a learner with these never reacts to drift.

    Examples
    --------
    >>> bank = NoneBank()
    >>> bank.update(bank.add(2), [False, True], [1, 0])
    array([0, 0], dtype=uint8)
    """

    name = "none"

    def __init__(self) -> None:
        super().__init__(NoParameters())

    @staticmethod
    def _new_arrays(capacity: int) -> NoArrays:  # noqa: ARG004
        return NoArrays()

    def _start(self, ids: Ints) -> None:
        """Do nothing: there is nothing to forget."""

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:  # noqa: ARG002
        return np.zeros(len(ids), np.uint8)


class OracleBank(ArrayBank[kernels.OracleArrays, NoParameters]):
    """Detectors that report the drifts they were told of, and nothing else.

    For streams whose drifts are known, as in the synthetic study of the paper.

    Examples
    --------
    >>> bank = OracleBank()
    >>> ids = bank.add(3)
    >>> bank.signal(ids[1:2])
    >>> bank.update(ids, [True, True, False], [0, 0, 1])
    array([0, 2, 0], dtype=uint8)
    >>> bank.update(ids, [True, True, False], [0, 0, 1])
    array([0, 0, 0], dtype=uint8)
    """

    name = "oracle"

    def __init__(self) -> None:
        super().__init__(NoParameters())

    def signal(self, ids: npt.ArrayLike) -> None:
        """Let each of `ids` report a drift at its next input."""
        self._arrays.announced[self._known(ids)] = True

    @staticmethod
    def _new_arrays(capacity: int) -> kernels.OracleArrays:
        return kernels.new_oracle(capacity)

    def _start(self, ids: Ints) -> None:
        self._arrays.announced[ids] = False

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:  # noqa: ARG002
        return kernels.oracle_update(self._arrays, ids)
