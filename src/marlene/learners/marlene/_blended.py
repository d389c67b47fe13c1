"""One probability out of those of several ensembles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from marlene._common.states import require
from marlene.kernels.ensemble.blend import Blend, blend, blend_and_learn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Labels


FIRST_ERROR = 0.25
"""The squared error of saying 0.5, with which every voice begins in each class."""


class BlendedVotes:
    """The weighted mean of what several voices say of labels; who was closer to the truth counts more.

    Closeness is the mean squared error, both classes of a label counting the same, and the weight its fourth power,
    inverted. One example of each class with the error of saying 0.5 comes before all others.

    Parameters
    ----------
    voices
        How many there are.

    Examples
    --------
    >>> votes = BlendedVotes(2)
    >>> votes.add_labels(1)
    >>> said = np.tile([[[0.9]], [[0.4]]], (1, 20, 1))  # of twenty positive examples, by one voice and the other
    >>> votes.learn(said, np.ones((20, 1), np.int8))[[0, -1], 0].round(2)
    array([0.65, 0.88])
    """

    def __init__(self, voices: int) -> None:
        self._voices = voices
        self._state = _empty(voices, 0)

    def add_labels(self, count: int) -> None:
        """Append labels, of which nothing is known."""
        known = self._state.errors.shape[1]
        larger = _empty(self._voices, known + count)
        for mine, theirs in zip(larger, self._state, strict=True):
            mine[:, :known] = theirs
        self._state = larger

    def __call__(self, said: Floats) -> Floats:
        """Return the mean of probabilities (voices × examples × labels); NaN is none."""
        out = np.empty(said.shape[1:])
        blend(self._state, said, out)
        return out

    def learn(self, said: Floats, truth: Labels) -> Floats:
        """Return the same, and learn from each example, before the next, what its labels were (-1: not known)."""
        out = np.empty(said.shape[1:])
        blend_and_learn(self._state, said, np.ascontiguousarray(truth), out)
        return out

    def state(self) -> Arrays:
        """Return everything as named arrays (copies)."""
        return {name: array.copy() for name, array in self._state._asdict().items()}

    def restore(self, state: Mapping[str, Array], n_labels: int) -> None:
        """Take over what `state` gave."""
        empty = _empty(self._voices, n_labels)
        for name, array in empty._asdict().items():
            given = np.asarray(state[name])
            require(given.shape == array.shape and given.dtype == array.dtype, f"the blend: {name}")
            require(bool(np.isfinite(given).all() and (given >= 0).all()), f"the blend: {name}")
            array[...] = given
        require(bool((empty.examples > 0).all()), "the blend: examples")
        self._state = empty


def _empty(voices: int, n_labels: int) -> Blend:
    shape = (voices, n_labels, 2)
    return Blend(np.full(shape, FIRST_ERROR), np.ones(shape))
