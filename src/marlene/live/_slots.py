"""Outputs in the order of the messages, though some are known later than others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marlene.live._messages import Output


class Slots:
    """Places for outputs, to be filled in any order."""

    def __init__(self) -> None:
        self._slots: list[Output | None] = []

    def reserve(self) -> int:
        """Return a place to fill later."""
        self._slots.append(None)
        return len(self._slots) - 1

    def fill(self, slot: int, output: Output) -> None:
        """Fill a place."""
        self._slots[slot] = output

    def say(self, output: Output) -> None:
        """Take the next place at once."""
        self._slots.append(output)

    def taken(self) -> list[Output]:
        """Return all outputs, and begin anew."""
        slots, self._slots = self._slots, []
        return [output for output in slots if output is not None]
