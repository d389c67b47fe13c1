"""What a learner asks of a bank of base classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy.typing as npt

    from marlene._common.arrays import Floats, Ints


class ClassifierBank(Protocol):
    """Any number of base classifiers of the same sort, known by their ids; `HoeffdingForest` is one."""

    def add(self, count: int = 1) -> Ints:
        """Add untrained classifiers and return their ids."""
        ...

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove classifiers."""
        ...

    def add_features(self, kinds: list[int | str]) -> None:
        """Append features: 0 for a numeric one, else the number of its values."""
        ...

    def widen(self, feature: int, n_values: int) -> None:
        """Let a nominal feature have more values; asked for only where there are nominal features."""
        ...

    def votes(self, x: Any, ids: npt.ArrayLike | None = None) -> Floats:  # noqa: ANN401 (array-like)
        """Return the votes (classifiers × classes) on a dense row; each sums to 1, or to 0 without evidence."""
        ...

    def learn(self, ids: npt.ArrayLike, x: Any, y: npt.ArrayLike, weights: npt.ArrayLike = 1) -> None:  # noqa: ANN401
        """Train classifiers on a dense row, with a class and a weight for each."""
        ...

    def clone(self) -> ClassifierBank:
        """Return an empty bank of the same settings."""
        ...
