"""Guesses that ignore the features: what every measure gives to a learner that has learnt nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from marlene._common.checks import one_of, whole_number
from marlene.learners.baselines._majority import Majority

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marlene._common.arrays import Array, Arrays, Floats, Labels

COIN, PRIOR = HOW = ("coin", "prior")
# Weyl increments and multipliers of SplitMix64 (Steele, Lea, Flood 2014).
_STEPS = np.array([0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7], dtype=np.uint64)
_MIX = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)


class Guess(Majority):
    """Guess every label at random, whatever the example.

    A draw depends on the seed, the number of examples learnt and the label, so blocks of any size give the same.

    Parameters
    ----------
    how
        "prior": a label is predicted with the probability that it has had so far; "coin": with probability 0.5.
    seed
        What the guesses depend on.

    Examples
    --------
    >>> model = Guess("coin", seed=1)
    >>> model.learn_one({"x": 0.5}, {"urgent": True, "spam": False})
    >>> model.predict_one({"x": 0.1})
    {'urgent': True, 'spam': False}
    >>> model.predict_proba_one({"x": 0.1})["urgent"]
    {False: 0.5, True: 0.5}
    """

    def __init__(self, how: str = PRIOR, seed: int = 1) -> None:
        super().__init__()
        one_of(how, "how", HOW)
        self.how = how
        self.seed = whole_number(seed, "seed", 0, 2**63)

    def predict_proba_one(self, x: dict[Any, Any], **options: Any) -> dict[Any, dict[bool, float]]:  # noqa: ANN401
        """Return the probability with which each label is predicted."""
        shares = super().predict_proba_one(x, **options)
        return shares if self.how == PRIOR else {label: {False: 0.5, True: 0.5} for label in shares}

    def predict_one(self, x: dict[Any, Any], **_: Any) -> dict[Any, bool]:  # noqa: ANN401
        """Return a guess for each label."""
        given = self.predict_proba_one(x)
        shares = np.array([[p[True] for p in given.values()]])
        return dict(zip(given, self._guesses(shares, self._learnt)[0].astype(bool).tolist(), strict=True))

    def decide_many(self, X: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Return for every row of `X` the probability with which each label is predicted, and a guess."""
        probabilities = self._probabilities(super().decide_many(X)[0])
        return probabilities, self._guesses(probabilities, self._learnt)

    def test_then_train(self, X: Any, Y: Any) -> Floats:  # noqa: ANN401
        """Predict, then learn, one example after the other; return the probabilities before learning."""
        return self._probabilities(super().test_then_train(X, Y))

    def decide_then_train(self, X: Any, Y: Any) -> tuple[Floats, Labels]:  # noqa: ANN401
        """Do the same as `test_then_train`; return probabilities and guesses."""
        first = self._learnt
        probabilities = self.test_then_train(X, Y)
        return probabilities, self._guesses(probabilities, first)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """Return everything as a JSON header and named arrays (copies)."""
        header, arrays = super().state()
        return header | {"how": self.how, "seed": self.seed, "learnt": self._learnt}, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Return the learner whose `state` this is."""
        model = cls(header["how"], header["seed"])
        model._restore(header, arrays)
        model._learnt = whole_number(header["learnt"], "learnt", 0)
        return model

    def _probabilities(self, shares: Floats) -> Floats:
        return shares if self.how == PRIOR else np.full_like(shares, 0.5)

    def _guesses(self, probabilities: Floats, first: int) -> Labels:
        """Draw for every label of rows that come after `first` learnt examples."""
        rows = np.arange(first, first + len(probabilities), dtype=np.uint64)[:, np.newaxis]
        labels = np.arange(probabilities.shape[1], dtype=np.uint64)
        seed = np.array([self.seed], dtype=np.uint64)
        bits = (seed + np.uint64(1)) * _STEPS[0] + rows * _STEPS[1] + labels * _STEPS[2]
        for shift, factor in zip((30, 27), _MIX, strict=True):
            bits = (bits ^ (bits >> np.uint64(shift))) * factor
        bits ^= bits >> np.uint64(31)
        guesses: Labels = ((bits >> np.uint64(11)) * 2.0**-53 < probabilities).astype(np.int8)
        return guesses
