"""Inputs: features as numbers, with an input for each further value of a nominal feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.layouts import Field, Layout, Rule
from marlene.kernels.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Ints

LARGEST_VALUE = 1e60
"""Larger values are cut to this, so that sums of squares stay finite, and within what a state may hold."""


def _are_wanted(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    """Tell whether features came in order, each with its values in order; further values may have come between."""
    found = arrays["inputs"]
    first = np.unique(found[:, 0], return_index=True)[1]
    by_feature = found[np.argsort(found[:, 0], kind="stable")]
    return np.array_equal(by_feature, arrays["wanted"]) and bool((np.diff(first) > 0).all())


VALUES = Layout(
    "inputs that stand for values",
    {"inputs": Field("int64", ("inputs", 2), "the feature and the value of each input", least=0)},
    (Rule("every feature has its inputs, in the order in which they come, and there are no others", _are_wanted),),
)


def _values_with_input(kind: int) -> Sequence[int]:
    """Return the values of a feature that have an input: all but the first if it is nominal, else 0 for any value."""
    return range(1, kind) if kind > 2 else (0,)


class Inputs:
    """The inputs of a learner that takes numbers only. A missing value counts as zero.

    Attributes
    ----------
    kinds
        0 for a numeric feature, else the number of its values.
    place
        The number of every input among the numeric ones; -1: it is 0 or 1.
    of
        The input of every feature and value; value 0 if the feature is not nominal.
    """

    def __init__(self) -> None:
        self.place: Ints = np.zeros(0, np.int64)
        self.kinds: list[int] = []
        self.of: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.place)

    def add_features(self, kinds: Sequence[int]) -> None:
        """Append features."""
        for feature, kind in enumerate(kinds, len(self.kinds)):
            self.kinds.append(kind)
            for value in _values_with_input(kind):
                self._add(feature, value)

    def widen(self, feature: int, n_values: int) -> None:
        """Let a nominal feature have more values."""
        for value in range(self.kinds[feature], n_values):
            self._add(feature, value)
        self.kinds[feature] = n_values

    def _add(self, feature: int, value: int) -> None:
        self.of[feature, value] = len(self.place)
        self.place = np.append(self.place, int((self.place >= 0).sum()) if self.kinds[feature] == 0 else -1)

    def rows(self, rows: Rows, largest: float = LARGEST_VALUE) -> Rows:
        """Return rows of inputs; missing values are left out, as zeros are."""
        begin, end = int(rows.starts[0]), int(rows.starts[-1])
        features, values = rows.indices[begin:end], np.clip(rows.values[begin:end], -largest, largest)
        missing = np.isnan(values)
        nominal = np.array([kind > 2 for kind in self.kinds], bool)
        if not missing.any() and not nominal.any():
            return Rows(rows.starts - begin, features, values)
        plain = np.array([self.of.get((feature, 0), -1) for feature in range(len(self.kinds))], np.int64)
        inputs, numbers = plain[features], values
        for position in np.flatnonzero(nominal[features] & ~missing).tolist():
            inputs[position] = self.of[int(features[position]), int(values[position])]
            numbers[position] = 1.0
        counts = np.concatenate([np.zeros(1, np.int64), np.cumsum(~missing)])
        return Rows(counts[rows.starts - begin], inputs[~missing], numbers[~missing])

    def state(self) -> Arrays:
        """Return which feature and value every input stands for."""
        return {"inputs": np.array(list(self.of), np.int64).reshape(-1, 2)}

    def restore(self, arrays: Mapping[str, Array], kinds: Sequence[int]) -> None:
        """Take over what `state` gave, of features of these kinds."""
        self.kinds = list(kinds)
        wanted = [(feature, value) for feature, kind in enumerate(kinds) for value in _values_with_input(kind)]
        known = {"wanted": np.array(wanted, np.int64).reshape(-1, 2)}
        for feature, value in VALUES.checked(arrays, known)["inputs"].tolist():
            self._add(feature, value)
