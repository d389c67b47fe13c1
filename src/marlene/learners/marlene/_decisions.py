"""From scores to probabilities and decisions, learnt online."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.errors import MarleneError, quoted
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import arrays_under, copied_arrays, with_prefix
from marlene.kernels.decisions.calibration import LINE
from marlene.kernels.decisions.cuts import BINS, PULL, WIDEST, Aims, Cuts
from marlene.kernels.decisions.decide import (
    BEST_LABELS,
    COSTS,
    CUTS,
    HALF,
    SUBSET,
    DecisionState,
    Objective,
    calibrate,
    decide,
    decide_and_learn,
    settle_alone,
)
from marlene.kernels.decisions.label_sets import F1, G_MEAN, JACCARD, LARGEST_SET, MOST_SETS, POWERS, LabelSets

if TYPE_CHECKING:
    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels

FIRST_ERROR = 0.25
"""The prior error of every kind of classifiers in each class: that of always saying 0.5."""

AIMS: dict[str, dict[str, float]] = {
    "mix": {"macro": 1.1, "micro": 1.0, "label_set": 1.0},  # the latter two mostly move together
    "macro": {"macro": 1.0},
    "micro": {"micro": 1.0},
    "macro-f1": {"macro_f1": 1.0},
    "micro-f1": {"micro_f1": 1.0},
}
RULES = {
    "label-set": BEST_LABELS + G_MEAN,
    "example-f1": BEST_LABELS + F1,
    "jaccard": BEST_LABELS + JACCARD,
    "subset": SUBSET,
    "hamming": COSTS,
    "none": HALF,
}
OBJECTIVES = (*AIMS, *RULES)
PRICES = ("false_positive", "false_negative")
LARGEST_PRICE = 1e100


DECISIONS = Layout(
    "decisions",
    {
        "lines": Field("float64", ("labels", LINE), "how probabilities follow from scores"),
        "examples": Field("float64", ("labels", 2), "negative and positive examples", least=0),
    },
)
CUTS_OF_LABELS = Layout(
    "thresholds",
    {
        "counts": Field("float64", ("labels", 2, BINS), "examples by label, class and bin", least=0),
        "shares": Field("float64", ("labels", 2, BINS), "the same, as shares of the labels of an example", least=0),
        "cut": Field("int64", ("labels",), "the lowest bin in which each label is predicted", least=0, most=BINS),
        "rows": Field("float64", (3,), "how many examples there were, and sums of how much is certain", least=0),
        "seen": Field("int64", (1,), "how many examples there were", least=0),
    },
)


def _are_labels(members: Array, labels: int) -> bool:
    return bool(((members >= -1) & (members < labels)).all())


def _are_ascending(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    members, unused = np.split(arrays["members"], arrays["size"])
    before, after = members[:, :-1], members[:, 1:]
    return bool(((after == -1) | ((before != -1) & (before < after))).all() and (unused == -1).all())


SETS = Layout(
    "label sets",
    {
        "members": Field("int64", (MOST_SETS, LARGEST_SET), "the labels of each set in ascending order, then -1"),
        "times": Field("float64", (MOST_SETS,), "how often each occurred"),
        "size": Field("int64", (1,), "how many sets there are", least=0, most=MOST_SETS),
        "rows": Field("float64", (3,), "examples without labels, how many were expected, all", least=0),
        "right": Field("float64", (len(POWERS),), "how often each power was right, decaying", least=0),
    },
    (
        Rule("every set that there is occurred", lambda a, _: (a["times"][: a["size"][0]] > 0).all()),
        Rule("sets are of labels that there are", lambda a, n: _are_labels(a["members"][: a["size"][0]], n["labels"])),
        Rule("the labels of a set ascend", _are_ascending),
    ),
)


class Decisions:
    """Calibrated probabilities and decisions from scores of labels, learnt online for an objective.

    A score is P(label) for equal priors of both classes, from 0 to 1, NaN if there is none. Its probability is learnt
    from the past. For G-Means and F1 of labels, scores of positive and negative examples are counted in a hundred
    bins, equally wide in log odds. Before, the log odds of all labels of an example are lowered by a part of the
    largest, if that is positive, since labels compete. The counts decay, and every ten examples the labels choose their
    thresholds, one after the other, so that the objective grows. Costs and "hamming" compare probabilities with a fixed
    level. "label-set", "example-f1", "jaccard" and "subset" decide for all labels of an example together.

    Parameters
    ----------
    objective
        As for `Marlene`.

    Examples
    --------
    >>> decisions = Decisions("macro")
    >>> decisions.add_labels(1)
    >>> scores = np.tile([[0.1], [0.3]], (50, 1))  # positive examples score 0.3
    >>> probabilities, predictions = decisions.decide_and_learn(scores, np.tile([[0], [1]], (50, 1)).astype(np.int8))
    >>> predictions[:2].ravel().tolist(), predictions[-2:].ravel().tolist()
    ([0, 0], [0, 1])
    >>> probabilities[-2:].ravel().round(1)
    array([0.2, 0.6])
    """

    def __init__(self, objective: str | Mapping[str, float] = "mix") -> None:
        self._objective = make_objective(objective)
        self._state = DecisionState(no_cuts(0), np.zeros((0, LINE)), no_sets(), np.zeros((0, 2)))

    @property
    def thresholds(self) -> Floats:
        """The least score at which each label is predicted if no label is surer; NaN if probabilities decide."""
        return thresholds_of(self._objective, self._state.cuts.cut)

    def set_objective(self, objective: str | Mapping[str, float]) -> None:
        """Decide for another objective from now on."""
        self._objective = make_objective(objective)
        settle_alone(self._state, self._objective)

    def add_labels(self, count: int) -> None:
        """Append labels without any evidence."""
        n_labels = len(self._state.lines) + count
        cuts = no_cuts(n_labels)
        for mine, theirs in zip(cuts, self._state.cuts, strict=True):
            mine[: len(theirs)] = theirs
        lines, examples = np.zeros((n_labels, LINE)), np.zeros((n_labels, 2))
        lines[: n_labels - count], examples[: n_labels - count] = self._state.lines, self._state.examples
        self._state = DecisionState(cuts, lines, self._state.sets, examples)

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities of labels (examples × labels)."""
        probabilities = np.zeros(scores.shape)
        calibrate(self._state, np.ascontiguousarray(scores), probabilities)
        return probabilities

    def decide(self, scores: Floats) -> Labels:
        """Return the predictions for scores (examples × labels)."""
        predictions = np.zeros(scores.shape, np.int8)
        decide(self._state, self._objective, np.ascontiguousarray(scores), self.probabilities(scores), predictions)
        return predictions

    def decide_and_learn(self, scores: Floats, truth: Labels) -> tuple[Floats, Labels]:
        """Return probabilities and predictions, example by example, and learn from each before the next.

        A label of -1 is unknown.
        """
        probabilities, predictions = np.zeros(scores.shape), np.zeros(scores.shape, np.int8)
        scores, truth = np.ascontiguousarray(scores), np.ascontiguousarray(truth)
        decide_and_learn(self._state, self._objective, scores, truth, probabilities, predictions)
        return probabilities, predictions

    def state(self) -> Arrays:
        """Return everything but the objective as named arrays (copies)."""
        cuts, lines, sets, examples = self._state
        arrays = {"lines": lines.copy(), "examples": examples.copy()}
        return arrays | with_prefix(copied_arrays(cuts), "cuts.") | with_prefix(copied_arrays(sets), "sets.")

    def restore(self, state: Mapping[str, Array], n_labels: int) -> None:
        """Take over what `state` gave."""
        cuts = CUTS_OF_LABELS.taken(arrays_under(state, "cuts."), no_cuts(n_labels))
        sets = SETS.taken(arrays_under(state, "sets."), no_sets(), labels=n_labels)
        lines, examples = DECISIONS.checked(state, labels=n_labels).values()
        self._state = DecisionState(cuts, lines, sets, examples)


def threshold_of(cut: Ints) -> Floats:
    """Return the least score that lies in a bin or above: 0 for the lowest, 1 above the highest.

    That is, if no other label of the example scores higher.
    """
    odds = (cut / BINS - 0.5) * 2.0 * WIDEST
    odds = np.where(odds > 0.0, odds / (1.0 - PULL), odds)
    inner: Floats = 1.0 / (1.0 + np.exp(-odds))
    return np.where(cut <= 0, 0.0, np.where(cut >= BINS, 1.0, inner))


def thresholds_of(objective: Objective, cut: Ints) -> Floats:
    """Return the least score at which each label is predicted; NaN if that is decided by probabilities."""
    if objective.rule == CUTS:
        return threshold_of(cut)
    return np.full(len(cut), 0.5 if objective.rule == HALF else np.nan)


def no_cuts(n_labels: int) -> Cuts:
    """Return the cuts of labels of which nothing is known."""
    shape = (n_labels, 2, BINS)
    return Cuts(np.zeros(shape), np.zeros(shape), np.full(n_labels, BINS // 2), np.zeros(3), np.zeros(1, np.int64))


def no_sets() -> LabelSets:
    """Return an empty memory of label sets."""
    return LabelSets(
        members=np.full((MOST_SETS, LARGEST_SET), -1),
        times=np.zeros(MOST_SETS),
        size=np.zeros(1, np.int64),
        rows=np.zeros(3),
        right=np.zeros(len(POWERS)),
    )


def _is_price(name: object, price: object) -> bool:
    return name in PRICES and isinstance(price, int | float | np.number) and bool(0 < price <= LARGEST_PRICE)


def make_objective(objective: str | Mapping[str, float]) -> Objective:
    """Return the rule and its settings, from the parameter `objective`."""
    aims = Aims(**dict.fromkeys(Aims._fields, 0.0))
    if isinstance(objective, str):
        if objective not in OBJECTIVES:
            raise MarleneError(f"objective must be one of {', '.join(OBJECTIVES)} or costs, not {objective!r}")
        if objective in AIMS:
            return Objective(CUTS, aims._replace(**AIMS[objective]), 0.5)
        return Objective(RULES[objective], aims, 0.5)
    if not isinstance(objective, Mapping) or not objective or not all(_is_price(*each) for each in objective.items()):
        raise MarleneError(
            f"costs are positive numbers up to {LARGEST_PRICE:g} for {' and '.join(PRICES)}, not {quoted(objective)}"
        )
    false_positive, false_negative = (float(objective.get(name, 1.0)) for name in PRICES)
    return Objective(COSTS, aims, false_positive / (false_positive + false_negative))
