"""Detectors that do not look at their inputs: one never reports a drift, the other reports announced drifts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marlene._common.layouts import Field
from marlene.drift._bank import ArrayBank, detector_layout
from marlene.kernels.drift import detectors as kernels

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Bools, Codes, Ints


class NoArrays(NamedTuple):
    """Nothing to remember."""


class NoParameters(NamedTuple):
    """Nothing to set."""


class NoneBank(ArrayBank[NoArrays, NoParameters]):
    """Detectors that are always in control: a learner with them never reacts to drift.

    Examples
    --------
    >>> bank = NoneBank()
    >>> bank.update(bank.add(2), [False, True], [1, 0])
    array([0, 0], dtype=uint8)
    """

    name = "none"

    _arrays_type, _parameters_type, saved = NoArrays, NoParameters, detector_layout("none", {})

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:  # noqa: ARG002
        return np.zeros(len(ids), np.uint8)


class OracleBank(ArrayBank[kernels.OracleArrays, NoParameters]):
    """Detectors that report announced drifts and nothing else.

    For streams with known drifts, as in the synthetic study of the paper.

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

    _arrays_type, _parameters_type = kernels.OracleArrays, NoParameters
    saved = detector_layout(
        "oracle", {"announced": Field("bool", ("detectors",), "whether a drift was announced and not yet reported")}
    )

    def signal(self, ids: npt.ArrayLike) -> None:
        """Let each of `ids` report a drift at its next input."""
        self.arrays.announced[self._known(ids)] = True

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:  # noqa: ARG002
        signals = np.empty(len(ids), np.uint8)
        kernels.oracle_update(self.arrays, ids, signals)
        return signals
