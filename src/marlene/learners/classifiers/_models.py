"""The base classifiers of a transformation: trees of one forest, or any other bank's, which are asked row by row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from river.base import Classifier as RiverClassifier

from marlene._common.states import arrays_under, require
from marlene.learners.baselines._committee import Transformation
from marlene.learners.classifiers._bases import FOREST, base_of, make_base, saved_bank
from marlene.learners.input._rows import dense_row
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints
    from marlene.kernels.rows import Rows
    from marlene.learners.classifiers._protocol import ClassifierBank

PREFIX = "models."


class Models(ABC):
    """Any number of classifiers for the same classes over the same features, known by their ids."""

    n_classes: int
    n_features: int

    @abstractmethod
    def add_features(self, kinds: Sequence[int]) -> None:
        """Append features: 0 for a numeric one, else the number of its values."""

    @abstractmethod
    def widen(self, feature: int, n_values: int) -> None:
        """Let a nominal feature have more values."""

    @abstractmethod
    def add(self, count: int = 1) -> Ints:
        """Add untrained classifiers and return their ids."""

    @abstractmethod
    def remove(self, ids: Ints) -> None:
        """Remove classifiers."""

    @abstractmethod
    def run(self, ids: Ints, rows: Rows, classes: Ints, weights: Ints) -> Floats:
        """Let classifiers vote on rows that have been checked, and learn them; return the votes before that.

        Classes and weights are given per row and classifier, and a weight may be 0; votes are rows × classifiers ×
        classes, and sum to 1, or to 0 without evidence.
        """

    @abstractmethod
    def state(self) -> Arrays:
        """Return what was learnt as named arrays (copies)."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, Array], kinds: Sequence[int]) -> None:
        """Take over what `state` gave; anything else is an error."""

    @abstractmethod
    def ids(self) -> list[int]:
        """Return the ids of all classifiers, ascending."""

    def steps(self, n_rows: int) -> Iterator[tuple[int, int]]:
        """Give the rows that members may learn at once, one member after the other."""
        yield 0, n_rows

    def load_kernels(self) -> None:  # noqa: B027 (most need nothing more)
        """Load the kernels that a first few examples would not call."""

    def restored_ids(self, given: Array, shape: tuple[int, ...]) -> Ints:
        """Return ids that were saved, which must be those of all classifiers."""
        ids = np.array(given, np.int64)
        require(ids.shape == shape and sorted(ids.ravel().tolist()) == self.ids(), "the base classifiers")
        return ids


class Trees(Models):
    """Trees of one forest."""

    def __init__(self, forest: HoeffdingForest, n_classes: int) -> None:
        self.n_classes = n_classes
        self.forest = HoeffdingForest([], **forest.settings() | {"n_classes": n_classes})

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """The number of features."""
        return len(self.forest.arrays.kind)

    def add_features(self, kinds: Sequence[int]) -> None:
        self.forest.add_features(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        self.forest.widen(feature, n_values)

    def add(self, count: int = 1) -> Ints:
        return self.forest.add(count)

    def remove(self, ids: Ints) -> None:
        self.forest.remove(ids)

    def ids(self) -> list[int]:
        return [int(i) for i in self.forest.ids]

    def run(self, ids: Ints, rows: Rows, classes: Ints, weights: Ints) -> Floats:
        return self.forest.run_rows(ids, rows, classes, weights)

    def load_kernels(self) -> None:
        self.forest.load_kernels()

    def state(self) -> Arrays:
        return {f"{PREFIX}{name}": array for name, array in self.forest.state().items()}

    def restore(self, arrays: Mapping[str, Array], kinds: Sequence[int]) -> None:
        self.forest = HoeffdingForest.from_state(arrays_under(arrays, PREFIX), self.forest.settings())
        require(self.forest.kinds.tolist() == list(kinds), "the kinds of the features")


class BankModels(Models):
    """Classifiers of a bank; for more than two classes one against the rest for each of them."""

    def __init__(self, bank: ClassifierBank, n_classes: int) -> None:
        self.n_classes = n_classes
        self.n_features = 0
        self.bank = bank
        self._n_parts = 1 if n_classes == 2 else n_classes
        self._parts: dict[int, Ints] = {}

    def add_features(self, kinds: Sequence[int]) -> None:
        self.bank.add_features(list(kinds))
        self.n_features += len(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        self.bank.widen(feature, n_values)

    def add(self, count: int = 1) -> Ints:
        new = self.bank.add(count * self._n_parts).reshape(count, self._n_parts)
        self._parts |= {int(own[0]): own for own in new}
        return new[:, 0].copy()

    def remove(self, ids: Ints) -> None:
        for i in np.asarray(ids).tolist():
            self.bank.remove(self._parts.pop(i))

    def ids(self) -> list[int]:
        return sorted(self._parts)

    def steps(self, n_rows: int) -> Iterator[tuple[int, int]]:
        """Give row by row: members share what a bank knows of its features, which is to be that of the rows before."""
        return zip(range(n_rows), range(1, n_rows + 1), strict=True)

    def run(self, ids: Ints, rows: Rows, classes: Ints, weights: Ints) -> Floats:
        out = np.zeros((*weights.shape, self.n_classes))
        for row in range(len(weights)):
            x = dense_row(rows, row, self.n_features)
            out[row] = self.votes(ids, x)
            self.learn(ids, x, classes[row], weights[row])
        return out

    def votes(self, ids: Ints, x: Floats) -> Floats:
        """Return the votes (classifiers × classes) on a dense row."""
        parts = np.array([self._parts[i] for i in ids.tolist()], np.int64)
        said = self.bank.votes(x, parts.ravel()).reshape(*parts.shape, 2)
        if self.n_classes == 2:
            return said[:, 0]
        total = said[:, :, 1].sum(axis=1, keepdims=True)
        shares: Floats = np.divide(said[:, :, 1], total, out=np.zeros(parts.shape), where=total > 0)
        return shares

    def learn(self, ids: Ints, x: Floats, classes: Ints, weights: Ints) -> None:
        """Train classifiers on a dense row; those whose weight is 0 learn nothing."""
        learning = weights > 0
        if not learning.any():
            return
        parts = np.array([self._parts[i] for i in ids[learning].tolist()], np.int64)
        own = classes[learning, None]
        truth = own if self.n_classes == 2 else (np.arange(self.n_classes) == own).astype(np.int64)
        self.bank.learn(parts.ravel(), x, truth.ravel(), np.repeat(weights[learning], parts.shape[1]))

    def state(self) -> Arrays:
        _, bank = saved_bank(self.bank)
        parts = np.array([self._parts[i] for i in self.ids()], np.int64)
        return {f"{PREFIX}{name}": array for name, array in bank.state().items()} | {"parts": parts}

    def restore(self, arrays: Mapping[str, Array], kinds: Sequence[int]) -> None:
        _, like = saved_bank(self.bank)
        bank = type(like).from_state(arrays_under(arrays, PREFIX), like.settings())
        require(bank.kinds.tolist() == list(kinds), "the kinds of the features")
        self.bank = bank
        self.n_features = len(kinds)
        parts = np.array(arrays["parts"], np.int64)
        require(parts.size == 0 or parts.shape[1:] == (self._n_parts,), "the base classifiers")
        require(sorted(parts.ravel().tolist()) == bank.ids.tolist(), "the base classifiers")
        self._parts = {int(own[0]): own for own in parts}


class BasedTransformation(Transformation):
    """A transformation whose only parameter, or one of them, is the sort of its base classifiers."""

    def __init__(self, base: str | ClassifierBank | RiverClassifier = FOREST) -> None:
        self.base = base
        make_base(base)

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in self._parameters().items()]
        return f"{type(self).__name__}({', '.join(shown + ([] if self.base == FOREST else [f'base={self.base!r}']))})"

    def _parameters(self) -> dict[str, Any]:
        """Return the other parameters."""
        return {}

    def models(self, n_classes: int = 2) -> Models:
        """Return untrained base classifiers, none yet."""
        bank = make_base(self.base)
        return Trees(bank, n_classes) if isinstance(bank, HoeffdingForest) else BankModels(bank, n_classes)

    def settings(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them; with a River object there are none."""
        name, bank = saved_bank(make_base(self.base))
        return self._parameters() | {"base": [name, bank.settings()]}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Return the transformation whose `settings` these are."""
        return cls(**dict(settings) | {"base": base_of(*settings["base"])})

    def clone(self) -> Self:
        """Return one of the same parameters."""
        base = self.base.clone() if isinstance(self.base, RiverClassifier) else self.base
        return type(self)(**self._parameters() | {"base": base})
