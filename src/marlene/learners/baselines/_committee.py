"""Committees, the members of an ensemble, and transformations, which make them."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from marlene._common.states import plain
from marlene.learners.classifiers._bases import base_of, make_base, saved_bank
from marlene.learners.classifiers._classifiers import make_classifiers
from marlene.learners.input._rows import slice_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt
    from river.base import Classifier as RiverClassifier

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._classifiers import Classifiers
    from marlene.learners.classifiers._protocol import ClassifierBank

    Keys = npt.NDArray[np.uint64]
    Base = str | ClassifierBank | RiverClassifier


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
    def n_classifiers(self) -> int:
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


class ClassifiersCommittee(Committee):
    """Members made of base classifiers.

    Parameters
    ----------
    size
        Number of members.
    classifiers
        An empty collection of base classifiers.

    Attributes
    ----------
    ids
        Which classifiers belong to each member (members × classifiers).
    """

    def __init__(self, size: int, classifiers: Classifiers) -> None:
        super().__init__(size)
        self.classifiers = classifiers
        self.ids: Ints = np.zeros((size, 0), np.int64)

    def add_features(self, kinds: Sequence[int]) -> None:
        self.classifiers.add_features(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        self.classifiers.widen(feature, n_values)

    def add_classifiers(self, count: int) -> None:
        """Give every member further classifiers."""
        new = self.classifiers.add(self.size * count).reshape(self.size, count)
        self.ids = np.concatenate([self.ids, new], axis=1)

    def add_labels(self, count: int, keys: Keys) -> None:  # noqa: ARG002 (nothing about a classifier is random)
        """Append labels, each with a classifier of its own for every member."""
        self.add_classifiers(count)
        self.n_labels += count

    def renew(self, member: int, key: np.uint64) -> None:  # noqa: ARG002 (nothing about a classifier is random)
        self.classifiers.remove(self.ids[member])
        self.ids[member] = self.classifiers.add(self.ids.shape[1])

    def run(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        for begin, end in self.classifiers.steps(len(truth)):
            here = slice(begin, end)
            self.run_members(slice_rows(rows, begin, end), truth[here], weights[here], scores[here])

    @abstractmethod
    def run_members(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        """Do what `run` does, for rows that each member may take at once."""

    def n_classifiers(self) -> int:
        return self.ids.size

    def state(self) -> Arrays:
        return self.classifiers.state() | {"ids": self.ids.copy()}

    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        self.classifiers.restore(arrays, kinds)
        self.ids = self.classifiers.restored_ids(arrays, self.size, self.classifiers_per_member(n_labels))
        self.n_labels = n_labels

    def classifiers_per_member(self, n_labels: int) -> int:
        """Return the number of classifiers of a member."""
        return n_labels


@dataclass(eq=False, repr=False)
class Transformation(ABC):
    """What the members of an ensemble are: an untrained prototype, whose fields are the parameters."""

    name: ClassVar[str]
    """Its name in files."""

    @abstractmethod
    def committee(self, size: int) -> Committee:
        """Return untrained members."""

    def settings(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Return the transformation whose `settings` these are."""
        return cls(**settings)

    def clone(self) -> Self:
        """Return a transformation with the same parameters."""
        return copy.deepcopy(self)

    def __eq__(self, other: object) -> bool:
        """Tell whether two transformations have the same type and the same parameters."""
        if not isinstance(other, Transformation):
            return NotImplemented
        return type(self) is type(other) and self.settings() == other.settings()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = ((field, getattr(self, field.name)) for field in fields(self))
        shown = (f"{field.name}={value!r}" for field, value in given if value != field.default)
        return f"{type(self).__name__}({', '.join(shown)})"


class BasedTransformation(Transformation):
    """A transformation into tasks for base classifiers; `base` is one of its parameters."""

    base: Base

    def __post_init__(self) -> None:
        make_base(self.base)

    def classifiers(self, n_classes: int = 2) -> Classifiers:
        """Return an empty collection of base classifiers."""
        return make_classifiers(make_base(self.base), n_classes)

    def settings(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them; a River object as `base` is refused."""
        base, bank = saved_bank(make_base(self.base))
        others = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "base"}
        return {name: plain(value) for name, value in others.items()} | {"base": [base, bank.settings()]}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Return the transformation whose `settings` these are."""
        return cls(**dict(settings) | {"base": base_of(*settings["base"])})
