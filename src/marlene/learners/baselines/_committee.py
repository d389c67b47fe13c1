"""The members of an ensemble, all at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from marlene.learners.input._rows import slice_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._models import Models

    Keys = npt.NDArray[np.uint64]


class Committee(ABC):
    """The trained state of all members of an ensemble. Each member is a multi-label classifier.

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
    def add_labels(self, count: int, keys: Keys) -> None:
        """Append labels; what is random about them depends on the key of every member."""

    @abstractmethod
    def renew(self, member: int, key: np.uint64) -> None:
        """Replace a member by an untrained one; what is random about it depends on `key`."""

    @abstractmethod
    def run(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        """For each row in turn, write the score of every member and label, then let the members learn the row.

        Scores (rows × members × labels) are in [0, 1], above 0.5 where the member predicts the label. Weights
        (rows × members) are whole numbers; 0: the member does not learn the row. Labels may be -1 (unknown). Members
        do not see each other.
        """

    @abstractmethod
    def n_models(self) -> int:
        """Return the number of base models."""

    @abstractmethod
    def state(self) -> Arrays:
        """Return what was learnt as named arrays (copies)."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        """Fill an empty committee with what `state` gave; anything else is an error."""

    def load_kernels(self) -> None:  # noqa: B027 (most need nothing more)
        """Load the kernels that a first few examples do not call."""

    def scores(self, rows: Rows) -> Floats:
        """Return the score of every row, member and label."""
        n = len(rows.starts) - 1
        scores = np.empty((n, self.size, self.n_labels))
        self.run(rows, np.zeros((n, self.n_labels), np.int8), np.zeros((n, self.size), np.int64), scores)
        return scores


class ModelsCommittee(Committee):
    """Members made of base classifiers.

    Parameters
    ----------
    size
        Number of members.
    models
        An empty collection of base classifiers.

    Attributes
    ----------
    ids
        Which classifiers belong to each member (members × classifiers).
    """

    def __init__(self, size: int, models: Models) -> None:
        super().__init__(size)
        self.models = models
        self.ids: Ints = np.zeros((size, 0), np.int64)

    def add_features(self, kinds: Sequence[int]) -> None:
        self.models.add_features(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        self.models.widen(feature, n_values)

    def add_models(self, count: int) -> None:
        """Give every member further classifiers."""
        new = self.models.add(self.size * count).reshape(self.size, count)
        self.ids = np.concatenate([self.ids, new], axis=1)

    def add_labels(self, count: int, keys: Keys) -> None:  # noqa: ARG002 (nothing about a classifier is random)
        """Append labels, each with a classifier of its own for every member."""
        self.add_models(count)
        self.n_labels += count

    def renew(self, member: int, key: np.uint64) -> None:  # noqa: ARG002 (nothing about a classifier is random)
        self.models.remove(self.ids[member])
        self.ids[member] = self.models.add(self.ids.shape[1])

    def run(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        for begin, end in self.models.steps(len(truth)):
            here = slice(begin, end)
            self.run_members(slice_rows(rows, begin, end), truth[here], weights[here], scores[here])

    @abstractmethod
    def run_members(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        """Do what `run` does, for rows that each member may take at once."""

    def n_models(self) -> int:
        return self.ids.size

    def state(self) -> Arrays:
        return self.models.state() | {"ids": self.ids.copy()}

    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        self.models.restore(arrays, kinds)
        self.ids = self.models.restored_ids(arrays["ids"], (self.size, self.models_per_member(n_labels)))
        self.n_labels = n_labels

    def models_per_member(self, n_labels: int) -> int:
        """Return the number of classifiers of a member."""
        return n_labels
