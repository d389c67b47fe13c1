"""What a user sets of a worker."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from marlene._common.checks import checked, one_of, whole_number
from marlene.live._messages import LONGEST

NEVER = ("drop", "unknown")
FIXED = ("key", "never", "teach", "window")
"""WorkerSettings that must stay the same over the life of a worker; bounds may change."""


@dataclass(frozen=True)
class WorkerSettings:
    """The settings of a worker.

    Parameters
    ----------
    key
        The field of a message that says which model it is for; None: one model for all.
    max_waiting, max_age
        The largest number of examples that wait for labels, for each model, and the longest time in seconds. Time is
        that of the messages ("time", else when the input received them); a file without times has none.
    never
        What becomes of examples whose labels never come: "drop", or "unknown", learnt without labels.
    max_keys, max_labels, max_features, max_streams
        The largest number of models, and for each of labels, features (with the values of nominal ones) and sources.
    teach
        A key whose latest labelled examples every new model learns first, as a source of that name.
    lessons
        How many examples of the key `teach` are kept for this.
    window
        How many of the latest labelled examples count for the scores.
    longest
        The longest message in bytes.
    """

    key: str | None = None
    max_waiting: int = 100_000
    max_age: float | None = None
    never: str = "drop"
    max_keys: int = 1000
    max_labels: int = 10_000
    max_features: int = 1_000_000
    max_streams: int = 16
    teach: str | None = None
    lessons: int = 1000
    window: int = 1000
    longest: int = LONGEST

    def __post_init__(self) -> None:
        one_of(self.never, "never", NEVER)
        for name in ("max_waiting", "max_keys", "max_labels", "max_features", "lessons", "window", "longest"):
            whole_number(getattr(self, name), name, low=1)
        whole_number(self.max_streams, "max_streams", low=0)
        if self.max_age is not None:
            checked(self.max_age, "max_age", (float, lambda x: x > 0, "a number above 0"))

    def fixed(self) -> dict[str, Any]:
        """Return the settings that a checkpoint must share."""
        return {name: value for name, value in asdict(self).items() if name in FIXED}
