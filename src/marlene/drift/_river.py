"""Any of River's drift detectors as a bank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from river import base

from marlene._common.errors import MarleneError
from marlene.drift._bank import DRIFT, IN_CONTROL, WARNING, DetectorBank
from marlene.drift._single import SingleDetector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Bools, Codes, Ints

    RiverDetector = base.DriftDetector | base.BinaryDriftDetector


class RiverBank(DetectorBank):
    """Clones of a River drift detector.

    The input of each is its classifier's error, 0 or 1; the true class is not used. Every drift of the detector counts,
    for better or worse. River's detectors start afresh by themselves at the next input after a drift. River's `FHDDM`
    looks for a *fall* of its input, although its documentation asks for errors: in this bank it reports changes for the
    better.

    The bank holds Python objects and calls them one by one. It can be copied and pickled if they can. It cannot be
    saved as arrays, and a bank equals only itself.

    Parameters
    ----------
    detector
        A `river.base.DriftDetector` or `river.base.BinaryDriftDetector`, with or without warnings. It is cloned.

    Examples
    --------
    >>> from river import drift
    >>> bank = RiverBank(drift.binary.HDDMW())
    >>> ids = bank.add(2)
    >>> for t in range(600):
    ...     right = t % 10 > 0
    ...     answers = bank.update(ids, [right, right and t < 500], [0, 0])
    ...     if DRIFT in answers:
    ...         print(f"at {t}: {answers}")
    at 515: [0 2]
    """

    name = "river"

    def __init__(self, detector: RiverDetector) -> None:
        super().__init__()
        if not isinstance(detector, base.DriftDetector | base.BinaryDriftDetector):
            raise MarleneError(f"expected a drift detector of River, not {detector!r}")
        if isinstance(detector, SingleDetector):
            raise MarleneError(f"{type(detector).__name__} has a bank of its own: use make_bank")
        self._prototype = detector.clone()
        self._detectors: list[RiverDetector | None] = []

    def _grow(self, capacity: int) -> None:
        self._detectors += [None] * (capacity - len(self._detectors))

    def _start(self, ids: Ints) -> None:
        for i in ids.tolist():
            self._detectors[i] = self._prototype.clone()

    def _clear(self, ids: Ints) -> None:
        for i in ids.tolist():
            self._detectors[i] = None

    def _update(self, ids: Ints, correct: Bools, truth: Bools) -> Codes:  # noqa: ARG002
        signals = np.empty(len(ids), np.uint8)
        for k, (i, right) in enumerate(zip(ids.tolist(), correct.tolist(), strict=True)):
            signals[k] = _answer(self[i], error=not right)
        return signals

    def __getitem__(self, i: int) -> RiverDetector:
        """Return the detector with the id `i`."""
        detector = self._detectors[i] if 0 <= i < len(self._detectors) else None
        if detector is None:
            raise MarleneError(f"there is no detector {i} in this bank")
        return detector

    def settings(self) -> dict[str, Any]:
        """Return the name and a description of the detector."""
        return {"name": self.name, "detector": " ".join(repr(self._prototype).split())}

    def clone(self) -> RiverBank:
        """Return an empty bank of clones of the same detector."""
        return RiverBank(self._prototype)

    def state(self) -> NoReturn:
        """Raise an error: the state of a River detector is not arrays."""
        raise MarleneError(f"a bank that holds River objects ({type(self._prototype).__name__}) cannot be saved")

    @classmethod
    def from_state(cls, state: Mapping[str, Array]) -> NoReturn:  # noqa: ARG003
        """Raise an error: there is no such state."""
        raise MarleneError("a bank that holds River objects cannot be saved, so it cannot be restored")


def _answer(detector: RiverDetector, *, error: bool) -> int:
    detector.update(error)
    if detector.drift_detected:
        return DRIFT
    # Not all of River's detectors have warnings.
    return WARNING if getattr(detector, "warning_detected", False) else IN_CONTROL
