"""The Hoeffding tree as a graph of plain objects: the reference the compiled forest is compared with."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from tests.naive.observers import (
    NominalObserver,
    NumericObserver,
    Observer,
    Suggestion,
    add_to,
    log2,
    total,
)


class SplitEvent(NamedTuple):
    """One split: where (``R`` is the root, ``.i`` its branch i) and by which test.

    ``test`` is ``"numeric"`` (at most ``value``: branch 0), ``"equals"`` (equal to ``value``: branch 0) or
    ``"multiway"`` (branch = value of the feature; ``value`` is NaN).
    """

    path: str
    feature: int
    test: str
    value: float


def first_maximum(values: Sequence[float]) -> int:
    """Index of the first maximum; -1 of an empty vector."""
    best = -1
    for index, value in enumerate(values):
        if best < 0 or value > values[best]:
            best = index
    return best


def margin(values: Sequence[float]) -> float:
    """Return the difference of the two largest finite values; infinite if there is only one."""
    possible = sorted(value for value in values if value > -math.inf)
    return possible[-1] - possible[-2] if len(possible) > 1 else math.inf


class Split:
    """An inner node."""

    def __init__(self, suggestion: Suggestion, leaf: "Leaf") -> None:
        self.feature = suggestion.feature
        self.test = suggestion.test
        self.value = suggestion.value
        self.counts = leaf.counts
        self.path = leaf.path
        self.depth = leaf.depth
        self.heaviest = first_maximum([total(branch) for branch in suggestion.branches])
        self.children: dict[int, Split | Leaf] = {}

    def branch(self, x: Sequence[float]) -> int:
        """Branch an example takes; a missing value follows the branch that was heaviest at the split."""
        value = x[self.feature]
        if math.isnan(value):
            return self.heaviest
        if self.test == "numeric":
            return 0 if value <= self.value else 1
        if self.test == "equals":
            return 0 if value == self.value else 1
        return int(value)


class Leaf:
    """A leaf with class counts (some of them inherited, possibly fractional) and one observer per feature."""

    def __init__(self, tree: "NaiveHoeffdingTree", counts: list[float], path: str, depth: int) -> None:
        self.tree = tree
        self.counts = counts
        self.path = path
        self.depth = depth
        self.weight_at_last_attempt = total(counts)
        self.majority_correct = 0.0
        self.naive_bayes_correct = 0.0
        self.squared_weights = 0.0
        self.observers: list[Observer] = []

    def raw_votes(self, x: Sequence[float]) -> list[float]:
        """Class counts or naive Bayes, whichever the leaf prediction rule selects (item 3)."""
        rule = self.tree.leaf_prediction
        adaptive_majority = rule == "adaptive" and self.majority_correct > self.naive_bayes_correct
        if rule == "majority" or adaptive_majority:
            return list(self.counts)
        if self.tree.imitate_underflow:
            return self.products(x)
        scores = self.log_scores(x)
        best = max(scores, default=-math.inf)
        if best == -math.inf:
            return [0.0] * len(scores)
        return [math.exp(score - best) for score in scores]

    def log_scores(self, x: Sequence[float]) -> list[float]:
        """Log prior plus log likelihoods in feature order, for each class up to the highest counted here."""
        weight = total(self.counts)
        scores = []
        for y, count in enumerate(self.counts):
            score = math.log(count / weight) if count > 0.0 else -math.inf
            for value, observer in zip(x, self.observers, strict=False):
                if observer.seen and not math.isnan(value):
                    score += observer.log_likelihood(value, y)
            scores.append(score)
        return scores

    def products(self, x: Sequence[float]) -> list[float]:
        """Prior times likelihoods as MOA multiplies them, underflow included (item 4)."""
        weight = total(self.counts)
        products = []
        for y, count in enumerate(self.counts):
            product = count / weight if weight > 0.0 else 0.0
            for value, observer in zip(x, self.observers, strict=False):
                if observer.seen and not math.isnan(value):
                    product *= observer.likelihood(value, y)
            products.append(product)
        return products

    def learn(self, x: Sequence[float], y: int, weight: float) -> None:
        """Score both predictors on the example, then count it (items 2 and 3)."""
        if self.tree.leaf_prediction == "adaptive":
            bayes = self.products(x) if self.tree.imitate_underflow else self.log_scores(x)
            self.tree.note(margin(bayes))
            if first_maximum(self.counts) == y:
                self.majority_correct += weight
            # An empty vector elects class 0 in naive Bayes but no class among the counts (item 3).
            if max(0, first_maximum(bayes)) == y:
                self.naive_bayes_correct += weight
        add_to(self.counts, y, weight)
        self.squared_weights += weight * weight
        if not self.observers:
            self.observers = self.tree.new_observers()
        for value, observer in zip(x, self.observers, strict=True):
            if not math.isnan(value):
                observer.observe(value, y, weight)

    def is_pure(self) -> bool:
        """Whether fewer than two classes have a count (item 7)."""
        return sum(count != 0.0 for count in self.counts) < 2


class NaiveHoeffdingTree:
    """Hoeffding tree with adaptive naive Bayes leaves, as in MOA except for four deliberate differences.

    Items 1 to 12 of the golden README are followed. The differences (spec section 8) are log-space
    likelihoods, ``variance_floor``, refusing a split when every merit is -infinity, and ``grace_tolerance``;
    a floor and a tolerance of 0 and the two imitation switches give MOA's own results.

    Decisions beyond that list:

    * NaN is a missing value. It is neither observed nor used as a factor of naive Bayes. An observer exists
      for this purpose from the first value it is shown: one that has only met NaN contributes no factor and
      no split suggestion, like the observers of a leaf not trained since its creation. A class that an
      existing observer has not seen is impossible (items 5 and 6), whether its counts were inherited or all
      its values were missing.
    * The naive Bayes winner of item 3 is the first maximum of the log scores, taken before exponentiating.
    * If no feature offers a suggestion (all numeric and constant), nothing happens and the grace period
      restarts.
    * ``max_depth`` is the depth at which a leaf no longer splits (the root has depth 0). With ``max_nodes``
      a leaf attempts a split only while there is room for the widest conceivable one; leaves grown on
      unseen branches of a multiway split count but are never refused.

    Parameters
    ----------
    kinds
        One entry per feature: 0 = numeric, k >= 2 = nominal with values 0 to k-1.
    n_classes
        Number of classes.
    grace_period, delta, tie_threshold
        When a leaf attempts to split, and how sure it must be (item 7).
    split_points
        Candidate thresholds of a numeric feature (item 9).
    leaf_prediction
        ``"majority"``, ``"naive_bayes"`` or ``"adaptive"`` (item 3).
    max_depth, max_nodes
        Limits of growth; 0 means none.
    variance_floor
        Smallest variance used in a likelihood, and nowhere else.
    imitate_underflow
        Multiply likelihoods as doubles instead of adding logarithms (item 4).
    split_on_all_minus_infinity
        Split on a tie even if every merit is -infinity (item 8).
    inherit
        Whether new leaves take over their share of the split leaf's statistics.
    effective_size
        Whether the bound counts (Σw)² / Σw² examples.
    grace_tolerance
        A leaf attempts to split if it lacks no more than this of its grace period; MOA has 0.

    Attributes
    ----------
    closest_call
        The smallest margin of any decision so far: the winner of naive Bayes where it is scored, a split against the
        bound, the best feature against the second. Numbers equal on paper may differ by the order of additions.
    """

    def __init__(
        self,
        *,
        kinds: Sequence[int],
        n_classes: int = 2,
        grace_period: float = 200,
        delta: float = 1e-7,
        tie_threshold: float = 0.05,
        split_points: int = 10,
        leaf_prediction: str = "adaptive",
        max_depth: int = 0,
        max_nodes: int = 0,
        variance_floor: float = 1e-4,
        imitate_underflow: bool = False,
        split_on_all_minus_infinity: bool = False,
        inherit: bool = False,
        effective_size: bool = False,
        grace_tolerance: float = 1e-6,
    ) -> None:
        self.kinds = list(kinds)
        self.n_classes = n_classes
        self.grace_period = grace_period
        self.delta = delta
        self.tie_threshold = tie_threshold
        self.split_points = split_points
        self.leaf_prediction = leaf_prediction
        self.max_depth = max_depth
        self.max_nodes = max_nodes
        self.variance_floor = variance_floor
        self.imitate_underflow = imitate_underflow
        self.split_on_all_minus_infinity = split_on_all_minus_infinity
        self.inherit = inherit
        self.effective_size = effective_size
        self.grace_tolerance = grace_tolerance
        self.root: Split | Leaf | None = None
        self.n_split = 0
        self.n_leaves = 0
        self.depth = 0
        self.splits: list[SplitEvent] = []
        self.closest_call = math.inf

    def note(self, how_close: float) -> None:
        """Keep the closest call."""
        self.closest_call = min(self.closest_call, how_close)

    def new_observers(self) -> list[Observer]:
        """One empty observer per feature."""
        return [
            NominalObserver(self.n_classes)
            if kind
            else NumericObserver(self.n_classes, self.split_points, self.variance_floor)
            for kind in self.kinds
        ]

    def votes(self, x: Sequence[float]) -> list[float]:
        """Votes per class, summing to 1, or all 0 without evidence."""
        raw = self.raw_votes(x)
        weight = total(raw)
        if weight == 0.0:
            return [0.0] * self.n_classes
        return [vote / weight for vote in raw] + [0.0] * (self.n_classes - len(raw))

    def raw_votes(self, x: Sequence[float]) -> list[float]:
        """Votes before normalising, only as long as the leaf's class counts (item 3).

        On an unseen branch they are the class counts its split node had when it was made (item 11).
        """
        if self.root is None:
            return [0.0] * self.n_classes
        node, parent, _ = self._find(x)
        if node is not None:
            return node.raw_votes(x)
        assert parent is not None
        return list(parent.counts)

    def learn(self, x: Sequence[float], y: int, w: int) -> None:
        """One update with weight ``w``; none at all if it is 0 (items 1 and 2)."""
        if w == 0:
            return
        leaf, parent, branch = self._find(x)
        if leaf is None:
            leaf = self._add_leaf([], parent, branch)
        leaf.learn(x, y, float(w))
        weight = total(leaf.counts)
        if self._may_grow(leaf) and weight - leaf.weight_at_last_attempt >= self.grace_period - self.grace_tolerance:
            suggestion = None if leaf.is_pure() else self._choose(leaf, weight)
            leaf.weight_at_last_attempt = weight
            if suggestion is not None:
                self._split(leaf, suggestion, parent, branch)

    def _find(self, x: Sequence[float]) -> tuple[Leaf | None, Split | None, int]:
        """Leaf of an example (None on an unseen branch), its parent and the branch between them."""
        node, parent, branch = self.root, None, -1
        while isinstance(node, Split):
            parent, branch = node, node.branch(x)
            node = parent.children.get(branch)
        return node, parent, branch

    def _add_leaf(self, counts: list[float], parent: Split | None, branch: int) -> Leaf:
        path, depth = ("R", 0) if parent is None else (f"{parent.path}.{branch}", parent.depth + 1)
        leaf = Leaf(self, counts, path, depth)
        self._attach(leaf, parent, branch)
        self.n_leaves += 1
        self.depth = max(self.depth, depth)
        return leaf

    def _attach(self, node: Split | Leaf, parent: Split | None, branch: int) -> None:
        if parent is None:
            self.root = node
        else:
            parent.children[branch] = node

    def _may_grow(self, leaf: Leaf) -> bool:
        if self.max_depth and leaf.depth >= self.max_depth:
            return False
        widest = max([2, *self.kinds])
        return not self.max_nodes or self.n_split + self.n_leaves + widest <= self.max_nodes

    def _choose(self, leaf: Leaf, weight: float) -> Suggestion | None:
        """The split a leaf decides for, if any (items 7 and 8)."""
        suggestions = []
        for feature, observer in enumerate(leaf.observers):
            suggestion = observer.best_split(leaf.counts, feature) if observer.seen else None
            if suggestion is not None:
                suggestions.append(suggestion)
        if not suggestions:
            return None
        suggestions.sort(key=lambda suggestion: suggestion.merit)
        best = suggestions[-1]
        # The suggestion not to split takes part with merit -infinity, so it is the second of a single one.
        second = suggestions[-2].merit if len(suggestions) > 1 else -math.inf
        if best.merit == -math.inf and not self.split_on_all_minus_infinity:
            return None
        if self.effective_size:
            weight = weight * weight / leaf.squared_weights
        merit_range = log2(max(2, len(leaf.counts)))
        bound = math.sqrt(merit_range * merit_range * math.log(1.0 / self.delta) / (2.0 * weight))
        self.note(abs(bound - self.tie_threshold))
        self.note(abs(best.merit - second - bound))
        if best.merit - second > bound or bound < self.tie_threshold:
            self.note(best.merit - second)
            if self.inherit:  # equal merits of two tests on a feature are then a matter of rounding
                self.note(margin(leaf.observers[best.feature].merits))
            return best
        return None

    def _parts(self, branches: Sequence[Sequence[float]], child: int) -> list[float]:
        """Return the part of each class that a branch gets; a negligible weight counts as 0."""
        padded = [[*counts, *[0.0] * (self.n_classes - len(counts))] for counts in branches]
        sums = [total(column) for column in zip(*padded, strict=True)]
        return [own / whole if own > 1e-9 else 0.0 for own, whole in zip(padded[child], sums, strict=True)]

    def _split(self, leaf: Leaf, suggestion: Suggestion, parent: Split | None, branch: int) -> None:
        """Replace a leaf; its children start with the estimated class counts of the branches (item 9)."""
        split = Split(suggestion, leaf)
        self._attach(split, parent, branch)
        self.n_split += 1
        self.n_leaves -= 1
        weight = total(leaf.counts)
        for child, counts in enumerate(suggestion.branches):
            new = self._add_leaf(counts, split, child)
            new.squared_weights = leaf.squared_weights * total(counts) / weight
            if self.inherit:
                new.observers = [
                    observer.inherited(
                        self._parts(suggestion.branches, child), suggestion if f == suggestion.feature else None, child
                    )
                    for f, observer in enumerate(leaf.observers)
                ]
        self.splits.append(SplitEvent(leaf.path, suggestion.feature, suggestion.test, suggestion.value))
