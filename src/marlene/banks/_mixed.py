"""Naive Bayes and linear classifiers side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from marlene._common.errors import MarleneError
from marlene._common.states import arrays_under, with_prefix
from marlene.banks._bank import InputBank
from marlene.banks._linear import LinearBank
from marlene.banks._naive_bayes import NaiveBayesBank

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from marlene._common.arrays import Array, Arrays, Floats, Ints


SIMPLE_BANKS: dict[str, Callable[..., InputBank]] = {bank.name: bank for bank in (NaiveBayesBank, LinearBank)}
"""Banks of simple classifiers by their names."""


class MixedBank:
    """Any number of mixed classifiers: two classifiers that learn the same, and vote by their mean.

    While one of the two has no evidence, the other votes alone.

    Parameters
    ----------
    first, second
        "naive-bayes" and "linear" (default), or empty banks with other settings.

    Examples
    --------
    >>> bank = MixedBank()
    >>> bank.add_features(["binary", "binary"])
    >>> ids = bank.add(2)
    >>> for _ in range(5):
    ...     bank.learn(ids[:1], [1, 0], [1])
    ...     bank.learn(ids[:1], [0, 1], [0])
    >>> bool(bank.votes([1, 0])[0, 1] > 0.8), bank.votes([1, 0])[1].tolist()  # the second has learnt nothing
    (True, [0.0, 0.0])
    """

    name = "mixed"

    def __init__(self, first: str | InputBank = "naive-bayes", second: str | InputBank = "linear") -> None:
        self._banks = [_made(first), _made(second)]

    def __repr__(self) -> str:
        return f"<MixedBank of {self._banks[0]!r} and {self._banks[1]!r}>"

    def __len__(self) -> int:
        return len(self._banks[0])

    @property
    def banks(self) -> tuple[InputBank, InputBank]:
        """The two banks."""
        return self._banks[0], self._banks[1]

    @property
    def kinds(self) -> Ints:
        """For every feature 0 if it is numeric, else the number of its values."""
        return self._banks[0].kinds

    @property
    def ids(self) -> Ints:
        """Ids of all mixed classifiers, ascending."""
        return self._banks[0].ids

    def settings(self) -> dict[str, Any]:
        """Return the parameters, as JSON can hold them."""
        first, second = ([bank.name, bank.settings()] for bank in self._banks)
        return {"first": first, "second": second}

    def clone(self) -> Self:
        """Return an empty bank with the same settings."""
        return type(self)(*(bank.clone() for bank in self._banks))

    def add(self, count: int = 1) -> Ints:
        """Add untrained classifiers and return their ids, the lowest ones that are free."""
        self._banks[1].add(count)
        return self._banks[0].add(count)

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove classifiers; their ids may be given to others."""
        for bank in self._banks:
            bank.remove(ids)

    def add_features(self, kinds: list[int | str]) -> None:
        """Append features: 0 or "numeric", 2 or "binary", or the number of a nominal feature's values."""
        for bank in self._banks:
            bank.add_features(kinds)

    def widen(self, feature: int, n_values: int) -> None:
        """Let a nominal feature have more values."""
        for bank in self._banks:
            bank.widen(feature, n_values)

    def votes(self, x: Any, ids: npt.ArrayLike | None = None) -> Floats:  # noqa: ANN401 (array-like)
        """Return the votes (classifiers × 2) on a dense row; each sums to 1, or to 0 without evidence."""
        both = self._banks[0].votes(x, ids) + self._banks[1].votes(x, ids)
        total = both.sum(axis=1, keepdims=True)
        mean: Floats = np.divide(both, total, out=np.zeros_like(both), where=total > 0)
        return mean

    def learn(self, ids: npt.ArrayLike, x: Any, y: npt.ArrayLike, weights: npt.ArrayLike = 1) -> None:  # noqa: ANN401
        """Train classifiers on a dense row, with a class and a weight for each."""
        for bank in self._banks:
            bank.learn(ids, x, y, weights)

    def state(self) -> Arrays:
        """Return everything but the settings as named arrays (copies)."""
        return with_prefix(self._banks[0].state(), "0.") | with_prefix(self._banks[1].state(), "1.")

    @classmethod
    def from_state(cls, state: Mapping[str, Array], settings: Mapping[str, Any]) -> Self:
        """Return what `state` was called on; it goes on where that one stood."""
        mixed = cls(**settings)
        for i, bank in enumerate(mixed._banks):
            mixed._banks[i] = type(bank).from_state(arrays_under(state, f"{i}."), bank.settings())
        first, second = mixed._banks
        same = first.ids.tolist() == second.ids.tolist() and first.kinds.tolist() == second.kinds.tolist()
        if not same:
            raise MarleneError("not the state of a mixed bank, or damaged: its banks do not belong together")
        return mixed


def _made(bank: Any) -> InputBank:  # noqa: ANN401 (a parameter)
    """Return an empty bank from a name, a bank, or what JSON keeps of one."""
    if isinstance(bank, InputBank):
        return bank.clone()
    name, settings = bank if isinstance(bank, list | tuple) and len(bank) == 2 else (bank, {})
    if not isinstance(name, str) or name not in SIMPLE_BANKS:
        known = ", ".join(SIMPLE_BANKS)
        raise MarleneError(f"each part of a mixed bank must be one of {known} or a bank, not {bank!r}")
    return SIMPLE_BANKS[name](**settings)
