"""A bank of one detector behind River's interface."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np

from marlene.drift._bank import DRIFT, WARNING, ArrayBank

THE_ONE = np.zeros(1, np.int64)
"""The id of the only detector of a bank."""


Bank = TypeVar("Bank", bound=ArrayBank[Any, Any])


class SingleDetector(Generic[Bank]):
    """One detector in River's interface; a subclass also inherits its settings (a dataclass) and River's class."""

    _bank_type: type[Bank]

    def __post_init__(self) -> None:
        """Make a bank of one detector with the same settings."""
        super().__init__()
        names = self._bank_type._parameters_type._fields  # noqa: SLF001 (of this package)
        self._bank = self._bank_type(**{name: getattr(self, name) for name in names})
        self._bank.add()

    def bank(self) -> ArrayBank[Any, Any]:
        """Return an empty bank of detectors with the same settings."""
        return self._bank.clone()

    def _take(self, correct: bool, truth: bool) -> None:
        signal = int(self._bank.update(THE_ONE, [correct], [truth])[0])
        self._drift_detected = signal == DRIFT
        self._warning_detected = signal == WARNING
