"""The learner to reach for: naive Bayes and linear classifiers, transfer behind a gate, thresholds learnt online."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import one_of
from marlene._common.errors import MarleneError
from marlene._common.states import arrays_under, with_prefix
from marlene.banks import SIMPLE_BANKS, InputBank, MixedBank
from marlene.drift import make_bank
from marlene.learners.marlene._decisions import BlendedVotes, DecisionThresholds
from marlene.learners.marlene._ensemble_learner import EnsembleLearner
from marlene.learners.marlene._gated_ensemble import TRANSFER, GatedEnsemble

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Labels
    from marlene.kernels.rows import Rows

MIXED = MixedBank.name


@dataclass(eq=False, repr=False)
class Marlene(EnsembleLearner):
    """MARLENE with simple sub-classifiers, a gate on transfer, and decisions made for what the user wants.

    As in `BRMarlene`, every label of every stream has sub-classifiers, one per concept, watched by a detector, and all
    are judged on every target label. What is different:

    - There are two ensembles: naive Bayes learns fast, logistic regression is better in the end. Each has its own
      detectors. For every label, the one with the smaller error so far counts more.
    - A sub-classifier of another label or stream votes on a label only while it serves that label clearly better than
      all of the label's own do.
    - After a drift the old sub-classifiers go on voting until they prove worse.
    - `predict_one` and `predict_many` compare P(label) with thresholds learnt online for an objective, not with 0.5.
      `predict_proba_one` and `predict_proba_many` return P(label) itself, for equal priors of both classes.

    Work follows the non-zeros of an example.

    Parameters
    ----------
    base
        "mixed" (both), "naive-bayes", "linear", or an empty bank, or several, with other settings, such as
        ``NaiveBayesBank(smoothing=1)``, or a `MixedBank`.
    drift, features, resampling, seed, max_models
        As for `BRMarlene`; `max_models` holds for each ensemble.
    transfer
        "gated", as described; "own": a label's own sub-classifiers vote alone; "full": all vote, as in the paper.
    objective
        What predictions are to be good at: "macro", "micro" or "label-set" (G-Means), "mix" (all three), "f1", "none"
        (thresholds stay at 0.5), or costs, such as ``{"false_positive": 1, "false_negative": 5}``.

    Examples
    --------
    >>> from marlene.streams import load
    >>> stream = load("yeast")
    >>> model = Marlene(seed=1)
    >>> model.learn_many(stream.X[:500], stream.Y[:500])
    >>> model.predict_many(stream.X[500:503]).shape
    (3, 14)
    >>> cautious = Marlene(objective={"false_positive": 10, "false_negative": 1})
    >>> cautious.learn_many(stream.X[:500], stream.Y[:500])
    >>> bool(cautious.predict_many(stream.X[500:]).sum() < model.predict_many(stream.X[500:]).sum())
    True
    """

    _method = "marlene"

    base: str | InputBank | MixedBank | Sequence[InputBank] = MIXED
    transfer: str = "gated"
    objective: str | Mapping[str, float] = "mix"

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.transfer, "transfer", TRANSFER)
        self._ensembles = [
            GatedEnsemble(bank, make_bank(self.drift), self._settings, self.transfer) for bank in _make_banks(self.base)
        ]
        self._blend = BlendedVotes(len(self._ensembles))
        self._thresholds = DecisionThresholds(self.objective)

    def _add(self, stream: str | None, labels: Sequence[Hashable]) -> None:
        super()._add(stream, labels)
        if stream is None:
            new = len(self._labels(None)) - len(self._thresholds.values)
            self._blend.add_labels(new)
            self._thresholds.add_labels(new)

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:
        if stream is None:
            self._test(rows, truth, probabilities)
            return
        for ensemble in self._ensembles:
            ensemble.learn(ensemble.streams[stream], rows, truth, probabilities)

    def _test(self, rows: Rows, truth: Labels, probabilities: Floats) -> Labels:
        said = np.full((len(self._ensembles), *truth.shape), np.nan)
        for ensemble, votes in zip(self._ensembles, said, strict=True):
            ensemble.learn(ensemble.streams[None], rows, truth, votes)
        scores = self._blend.learn(said, truth)
        if probabilities.shape[1] > 0:
            probabilities[:] = scores
        return self._thresholds.decide_and_learn(scores, truth)

    def _predict(self, rows: Rows, probabilities: Floats) -> None:
        said = np.full((len(self._ensembles), *probabilities.shape), np.nan)
        for ensemble, votes in zip(self._ensembles, said, strict=True):
            ensemble.predict(rows, votes)
        probabilities[:] = self._blend(said)

    def _decide(self, probabilities: Floats) -> Labels:
        return self._thresholds.decide(probabilities)

    def thresholds(self) -> dict[Hashable, float]:
        """Return for every target label the P(label) from which on it is predicted at present."""
        return dict(zip(self._labels(None), self._thresholds.values.tolist(), strict=True))

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        header, arrays = super()._learnt()
        arrays |= with_prefix(self._thresholds.state(), "thresholds.")
        return header, arrays | with_prefix(self._blend.state(), "blend.")

    @classmethod
    def _base_of(cls, saved: list[tuple[str, dict[str, Any]]]) -> str | list[InputBank]:
        banks = [SIMPLE_BANKS[name](**settings) for name, settings in saved]
        found = [(bank.name, bank.settings()) for bank in banks]
        for name in (MIXED, *SIMPLE_BANKS):
            if [(bank.name, bank.settings()) for bank in _make_banks(name)] == found:
                return name
        return banks

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        super()._restore(header, arrays)
        self._blend.restore(arrays_under(arrays, "blend."), len(self._labels(None)))
        self._thresholds.restore(arrays_under(arrays, "thresholds."), len(self._labels(None)))


def _make_banks(base: str | InputBank | MixedBank | Sequence[InputBank]) -> list[InputBank]:
    """Return empty banks from the parameter `base`."""
    if isinstance(base, str):
        if base not in (MIXED, *SIMPLE_BANKS):
            raise MarleneError(f"base must be one of {', '.join([MIXED, *SIMPLE_BANKS])} or a bank, not {base!r}")
        return [bank() for name, bank in SIMPLE_BANKS.items() if base in (MIXED, name)]
    banks = list(base.banks if isinstance(base, MixedBank) else base if isinstance(base, Iterable) else [base])
    if not banks or not all(isinstance(bank, InputBank) for bank in banks):
        raise MarleneError(f"base must be one of {', '.join([MIXED, *SIMPLE_BANKS])} or a bank, not {base!r}")
    return [bank.clone() for bank in banks]
