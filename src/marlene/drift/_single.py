"""A bank of one detector behind River's interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from marlene.drift._bank import DRIFT, WARNING, ArrayBank

THE_ONE = np.zeros(1, np.int64)
"""Ints of the only detector of a bank."""


class SingleDetector:
    """What the detectors in River's interface share; their other base class is River's."""

    _bank: ArrayBank[Any, Any]
    _drift_detected: bool
    _warning_detected: bool

    def bank(self) -> ArrayBank[Any, Any]:
        """Return an empty bank of detectors with the same settings."""
        return self._bank.clone()

    def _hold(self, bank: ArrayBank[Any, Any]) -> None:
        bank.add()
        self._bank = bank

    def _take(self, correct: bool, truth: bool) -> None:
        self._note(int(self._bank.update(THE_ONE, [correct], [truth])[0]))

    def _note(self, signal: int) -> None:
        self._drift_detected = signal == DRIFT
        self._warning_detected = signal == WARNING
