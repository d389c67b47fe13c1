"""BRPW-MARLENE as the paper writes it down: BR-MARLENE and, beside it, the same machinery on pairs of labels."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from tests.naive.br_marlene import (
    TARGET,
    Detector,
    Ensemble,
    Example,
    Label,
    NaiveBRMarlene,
    Stream,
    Tree,
    Votes,
    expected,
    normalised,
    predictions,
    probabilities,
)

Pair = tuple[Label, Label]

# Number of values of the feature that every PW sub-classifier has more than a BR one, its last.
GIVEN_LABEL = 2
COMBINATIONS = ("predicted", "marginal")


class NaiveBRPWMarlene:
    """BRPW-MARLENE (spec section 5): two separate ensembles, ``br`` of labels and ``pw`` of ordered pairs.

    A pair is (given, label): its task is to predict ``label`` from the features and the value of ``given``.

    Decisions beyond the specification:

    * A pair is left alone by an example that does not tell both its labels: no detector, no training, no records.
      Its sub-classifiers still vote on the other pairs. Its task starts with the first example that tells both.
      Until then, and if it is not among ``pairs``, it adds nothing to the sum.
    * One without evidence adds nothing either: a given label because P^BR is 0 for both its values, a pair because
      P^PW is. What is left of the sum is not rescaled before it is normalised.
    * ŷ of a given label is what BR-MARLENE alone would predict: decided on the summed votes, ties are 0.
    * A signalled drift of a label is one of the label itself and of every pair that predicts it; pairs that are
      only given it go on.
    * ASWR is the mean over the target pairs that have a task; 0 before the first.

    Parameters
    ----------
    kinds
        Kinds of the features as the naive tree takes them (0 = numeric, k >= 2 = nominal with k values).
    make_tree
        Called with the kinds of its features, makes an empty sub-classifier. Those of a PW sub-classifier end
        with a nominal feature of two values, the given label.
    make_detector, resampling, ignore_drift_without_background
        As in the naive BR-MARLENE. The resampling of a pair is called with the pair in place of the label.
    combine
        ``"predicted"``: condition on BR's prediction of the given label, weighted with its probability. ``"marginal"``:
        condition on both values, each weighted with its own.
    pairs
        Pairs to model in every stream that has both labels; None for all.
    voters
        ``"all"``: everybody votes on a pair. ``"own"``: those trained on it in the target only.
    """

    def __init__(
        self,
        kinds: Sequence[int],
        make_tree: Callable[[Sequence[int]], Tree],
        make_detector: Callable[[], Detector] | None = None,
        *,
        resampling: Callable[[Stream, Label, int, int, float], int] = expected,
        combine: str = "predicted",
        pairs: Iterable[Pair] | None = None,
        voters: str = "all",
        ignore_drift_without_background: bool = False,
    ) -> None:
        if combine not in COMBINATIONS:
            raise ValueError(f"combine must be one of {', '.join(COMBINATIONS)}, not {combine!r}")
        self.combine = combine
        self.pairs = None if pairs is None else set(pairs)
        self.br = NaiveBRMarlene(
            lambda: make_tree([*kinds]),
            make_detector,
            resampling=resampling,
            ignore_drift_without_background=ignore_drift_without_background,
        )
        self.pw = Ensemble(
            lambda: make_tree([*kinds, GIVEN_LABEL]),
            make_detector,
            resampling=resampling,
            ignore_drift_without_background=ignore_drift_without_background,
        )

        self.pw.own_voters_only = voters == "own"

    def learn(self, x: Sequence[float], y: Mapping[Label, int], stream: Stream = TARGET) -> None:
        """Learn one example of a stream: every pair is given the true value of its first label."""
        self.br.learn(x, y, stream)
        examples: dict[Label, Example] = {}
        for given in y:
            for label in y:
                if given != label and (self.pairs is None or (given, label) in self.pairs):
                    examples[given, label] = Example([*x, float(y[given])], y[label])
        self.pw.learn_tasks(examples, stream)

    def known_pairs(self, stream: Stream = TARGET) -> list[Pair]:
        """Pairs of a stream that have a task, in the order they appeared."""
        return [cast("Pair", pair) for other, pair in self.pw.tasks if other == stream]

    def signal_drift(self, labels: Iterable[Label], stream: Stream = TARGET) -> None:
        """Take drifts from the caller: of the labels, and of all pairs that predict one of them."""
        labels = list(labels)
        self.br.signal_drift(labels, stream)
        self.pw.signal_drift([pair for pair in self.known_pairs(stream) if pair[1] in labels], stream)

    def evidence(self, x: Sequence[float]) -> dict[Label, Votes]:
        """P_q^BR + Σ_{q'≠q} P^BR_{q'}(v)·P^PW_{q',q}(·|x, v), not normalised, for each target label q."""
        br = {label: normalised(votes) for label, votes in self.br.evidence(x).items()}
        predicted = self.br.predict(x)
        sums = dict(br)
        for given, label in self.known_pairs():
            for value in (0, 1) if self.combine == "marginal" else (predicted[given],):
                negative, positive = normalised(self.pw.task_evidence((given, label), [*x, float(value)]))
                weight = br[given][value]
                sums[label] = (sums[label][0] + weight * negative, sums[label][1] + weight * positive)
        return sums

    def predict_proba(self, x: Sequence[float]) -> dict[Label, Votes]:
        """(P⁻, P⁺) of each target label, (0.5, 0.5) without evidence."""
        return probabilities(self.evidence(x))

    def predict(self, x: Sequence[float]) -> dict[Label, int]:
        """1 iff P⁺ > P⁻, so 0 on a tie or without evidence."""
        return predictions(self.evidence(x))

    def swr(self, pair: Pair) -> float:
        """Part of a target pair's weights on what was not trained on that pair (spec section 6)."""
        return self.pw.swr(pair)

    def aswr(self) -> float:
        """Mean of :meth:`swr` over the target pairs; BR's sub-classifiers have no part in it."""
        return self.pw.aswr()
