"""What a transformation of multi-label learning and an ensemble know of each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.kernels.rows import Rows


class Committee(ABC):
    """The trained state of all members of an ensemble, each a multi-label classifier of its own.

    Parameters
    ----------
    size
        Number of members.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.n_labels = 0

    @abstractmethod
    def add_features(self, kinds: Sequence[int]) -> None:
        """Append features: 0 for a numeric one, else the number of its values."""

    @abstractmethod
    def widen(self, feature: int, n_values: int) -> None:
        """Let a nominal feature have more values."""

    @abstractmethod
    def add_labels(self, count: int) -> None:
        """Append labels."""

    @abstractmethod
    def renew(self, member: int, key: np.uint64) -> None:
        """Make a member untrained; what is random about it depends on `key`."""

    @abstractmethod
    def run(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        """Write what every member says of every row (rows × members × labels), and let it learn the row then.

        A score is in [0, 1], above 0.5 where the member predicts the label. Weights (rows × members) are whole
        numbers; a member learns nothing where they are 0. Labels may be -1, not known. Members do not see each other.
        """

    @abstractmethod
    def n_models(self) -> int:
        """Return the number of base models."""

    @abstractmethod
    def state(self) -> Arrays:
        """Return what was learnt as named arrays (copies)."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        """Fill a committee without features and labels with what `state` gave; anything else is an error."""

    def load_kernels(self) -> None:  # noqa: B027 (most need nothing more)
        """Load the kernels that a first few examples would not call."""

    def scores(self, rows: Rows) -> Floats:
        """Return what every member says of every row (rows × members × labels)."""
        n = len(rows.starts) - 1
        scores = np.empty((n, self.size, self.n_labels))
        self.run(rows, np.zeros((n, self.n_labels), np.int8), np.zeros((n, self.size), np.int64), scores)
        return scores


class Transformation(ABC):
    """How multi-label learning becomes learning of simpler sorts; an untrained prototype that holds parameters."""

    name: ClassVar[str]
    """What it is called in files."""

    @abstractmethod
    def committee(self, size: int) -> Committee:
        """Return untrained members."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Return the transformation whose `settings` these are."""

    def __eq__(self, other: object) -> bool:
        """Tell whether two are of the same sort and have the same parameters."""
        if not isinstance(other, Transformation):
            return NotImplemented
        return type(self) is type(other) and self.settings() == other.settings()

    __hash__ = None  # type: ignore[assignment]

    def clone(self) -> Self:
        """Return one of the same parameters."""
        return type(self).from_settings(self.settings())
