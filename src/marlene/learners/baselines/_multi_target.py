"""Multi-target trees, a transformation: one tree for all labels at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from marlene._common.checks import checked
from marlene._common.layouts import Field, Layout, Rule
from marlene._common.states import arrays_under
from marlene.kernels.multi_target import state as layout
from marlene.kernels.multi_target.trees import run_tree
from marlene.learners.baselines._committee import Committee, Transformation
from marlene.learners.baselines._inputs import Inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene.kernels.rows import Rows
    from marlene.learners.baselines._committee import Keys


RULES: dict[str, tuple[Callable[[float], bool], str]] = {
    "grace_period": (lambda w: w > 0, "a positive number"),
    "delta": (lambda p: 0 < p < 1, "a number between 0 and 1"),
    "tie_threshold": (lambda b: b >= 0, "a number of at least 0"),
    "split_points": (lambda n: 1 <= n <= 1000 and n == int(n), "a whole number from 1 to 1000"),
    "learning_rate": (lambda r: 0 < r < 1, "a number between 0 and 1"),
    "decay": (lambda d: d >= 0, "a number of at least 0"),
}


def _are_leaves(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    node = arrays["node"]
    return np.array_equal(np.sort(node[node[:, layout.INPUT] < 0, layout.LEAF]), np.arange(lengths["leaves"]))


def _are_children(arrays: Mapping[str, Array], lengths: Mapping[str, int]) -> bool:
    tests = np.flatnonzero(arrays["node"][:, layout.INPUT] >= 0)
    children = arrays["node"][tests, layout.CHILDREN]
    in_twos = np.array_equal(np.sort(children), np.arange(1, lengths["nodes"], 2)) and lengths["nodes"] % 2 == 1
    return in_twos and bool((children > tests).all())


def _are_means(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    """Tell whether means at leaves, which are partly estimated, are about those of zeros and ones.

    What holds for a leaf holds after it has learnt more, too.
    """
    weight, total = arrays["leaf_target"][..., layout.MEAN_WEIGHT], arrays["leaf_target"][..., layout.MEAN_SUM]
    return bool(((-weight - 1 <= total) & (total <= 2 * weight + 1)).all())


def _are_numbers(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    """Tell whether only inputs with moments may have had other values than 0 and 1."""
    numbers = arrays["leaf_input"][..., layout.NUMBERS]
    return bool(np.isin(numbers, (0.0, 1.0)).all() and (numbers[:, arrays["place"] < 0] == 0.0).all())


def _are_shares(arrays: Mapping[str, Array], _: Mapping[str, int]) -> bool:
    weight, total = arrays["target_sum"].T
    return bool(((total >= 0) & (total <= weight)).all())


TREE = Layout(
    "a multi-target tree",
    {
        "node": Field("int64", ("nodes", layout.NODE_COLUMNS), "input of the test (-1: a leaf), children, leaf"),
        "node_value": Field("float64", ("nodes",), "thresholds of the tests"),
        "top": Field("int64", (2,), "how many nodes and leaves there are"),
        "total": Field("float64", (1,), "the weight of all examples"),
        "input_sum": Field("float64", ("inputs", 2), "sum and sum of squares of every input"),
        "target_sum": Field("float64", ("labels", 2), "weight and sum of every label"),
        "leaf": Field("float64", ("leaves", layout.LEAF_COLUMNS), "weights seen"),
        "leaf_target": Field("float64", ("leaves", "labels", layout.TARGET_COLUMNS), "means, sums, errors"),
        "leaf_input": Field("float64", ("leaves", "inputs", layout.INPUT_COLUMNS), "weights, sums, least, greatest"),
        "leaf_weight": Field("float64", ("leaves", "(1 + inputs)", "labels"), "perceptrons"),
        "leaf_cross": Field("float64", ("leaves", "inputs", "labels"), "weight of examples with input and label"),
        "leaf_moment": Field("float64", ("leaves", "numbers", "labels", 2), "sums of numbers where a label is true"),
    },
    (
        Rule("`top` says how many there are", lambda a, n: a["top"].tolist() == [n["nodes"], n["leaves"]]),
        Rule("tests are of inputs that exist", lambda a, n: (a["node"][:, layout.INPUT] < n["inputs"]).all()),
        Rule("every leaf belongs to one node", _are_leaves),
        Rule("children come in twos after their parent, so every path ends in a leaf", _are_children),
        Rule("no label was true more often than it was known", _are_shares),
        Rule("the means of a leaf are about those of zeros and ones", _are_means),
        Rule("inputs that are 0 or 1 had no other numbers", _are_numbers),
    ),
)
LEARNT = tuple(TREE.fields)
"""The arrays of a tree that are saved; the committee knows the place of every input."""


@dataclass(eq=False, repr=False)
class MultiTargetTree(Transformation):
    """One iSOUP tree (Osojnik, Panov and Džeroski 2017) for all labels, which are the targets, 0 or 1, of a regression.

    A split lowers the variance of the targets, averaged over them. A leaf predicts each target by its mean or by a
    linear perceptron on standardised inputs, whichever had the smaller faded error. A nominal feature becomes one
    input, 0 or 1, for each value but the first. A missing value counts as zero. Split points of a numeric feature come
    from one Gaussian per target value, as in the Hoeffding forest; inputs that were always 0 or 1 are counted.

    Parameters
    ----------
    grace_period
        Weight that a leaf sees between two attempts to split.
    delta
        Allowed probability of a wrong split: δ of the Hoeffding bound.
    tie_threshold
        Hoeffding bound below which a leaf splits even if several tests are equally good.
    split_points
        Number of thresholds that are tried for a numeric feature.
    learning_rate, decay
        The perceptrons learn with rate `learning_rate` / (1 + `decay` · n) after n examples.

    Examples
    --------
    >>> from marlene.learners import OnlineBagging
    >>> model = OnlineBagging(MultiTargetTree(), members=3)
    >>> for i in range(1000):
    ...     model.learn_one({"x": i % 10}, {"big": i % 10 > 4, "small": i % 10 < 5})
    >>> model.predict_one({"x": 9})
    {'big': True, 'small': False}
    """

    name = "multi-target-tree"

    grace_period: float = 200
    delta: float = 1e-7
    tie_threshold: float = 0.05
    split_points: int = 10
    learning_rate: float = 0.02
    decay: float = 0.001

    def __post_init__(self) -> None:
        for parameter, (holds, rule) in RULES.items():
            checked(getattr(self, parameter), parameter, (float, holds, rule))

    def committee(self, size: int) -> Committee:
        """Return untrained members."""
        settings = layout.MultiTargetSettings(
            float(self.grace_period),
            math.log(1.0 / self.delta),
            float(self.tie_threshold),
            int(self.split_points),
            float(self.learning_rate),
            float(self.decay),
        )
        return TargetTreeCommittee(size, settings)


def _empty(place: Ints, n_targets: int, nodes: int = 1, leaves: int = 1, spare: int = 0) -> layout.TargetTrees:
    """Return an untrained tree with room for `nodes`, `leaves` and `spare` further inputs."""
    n_inputs, n_numeric = len(place) + spare, int((place >= 0).sum()) + spare
    tree = layout.TargetTrees(
        node=np.zeros((nodes, layout.NODE_COLUMNS), np.int64),
        node_value=np.zeros(nodes),
        top=np.ones(2, np.int64),
        total=np.zeros(1),
        input_sum=np.zeros((n_inputs, 2)),
        target_sum=np.zeros((n_targets, 2)),
        leaf=np.zeros((leaves, layout.LEAF_COLUMNS)),
        leaf_target=np.zeros((leaves, n_targets, layout.TARGET_COLUMNS)),
        leaf_input=np.zeros((leaves, n_inputs, layout.INPUT_COLUMNS)),
        leaf_weight=np.zeros((leaves, 1 + n_inputs, n_targets)),
        leaf_cross=np.zeros((leaves, n_inputs, n_targets)),
        leaf_moment=np.zeros((leaves, n_numeric, n_targets, 2)),
        place=np.append(place, np.full(spare, -1, np.int64)),
    )
    tree.node[0, layout.INPUT] = -1
    return tree


def _copied(tree: layout.TargetTrees, into: layout.TargetTrees) -> layout.TargetTrees:
    """Copy a tree into an untrained one with more or less room; return the copy."""
    for name in LEARNT:
        old, new = getattr(tree, name), getattr(into, name)
        both = tuple(slice(0, min(lengths)) for lengths in zip(old.shape, new.shape, strict=True))
        new[both] = old[both]
    return into


class TargetTreeCommittee(Committee):
    """One tree per member, each in arrays of its own.

    Attributes
    ----------
    inputs
        The inputs of all features.
    spare
        Number of inputs that there is room for beyond those.
    """

    def __init__(self, size: int, settings: layout.MultiTargetSettings) -> None:
        super().__init__(size)
        self.settings = settings
        self.inputs = Inputs()
        self.spare = 0
        self.trees = [_empty(self.inputs.place, 0) for _ in range(size)]

    def add_features(self, kinds: Sequence[int]) -> None:
        self.inputs.add_features(kinds)
        self._enlarge()

    def widen(self, feature: int, n_values: int) -> None:
        self.inputs.widen(feature, n_values)
        self._enlarge()

    def add_labels(self, count: int, keys: Keys) -> None:  # noqa: ARG002 (nothing about a tree is random)
        self.n_labels += count
        self._enlarge()

    def _enlarge(self) -> None:
        """Make room for all inputs and labels. If inputs come one by one, make room for more of them."""
        room, needed = len(self.trees[0].place), len(self.inputs.place)
        if room >= needed and len(self.trees[0].target_sum) == self.n_labels:
            self.spare = room - needed
            for tree in self.trees:
                tree.place[:needed] = self.inputs.place
            return
        self.spare = max(room, room + room // 2 if needed > room else 0, needed) - needed
        self.trees = [_copied(tree, self._new(len(tree.node), len(tree.leaf))) for tree in self.trees]

    def _new(self, nodes: int = 1, leaves: int = 1) -> layout.TargetTrees:
        return _empty(self.inputs.place, self.n_labels, nodes, leaves, self.spare)

    def renew(self, member: int, key: np.uint64) -> None:  # noqa: ARG002 (nothing about a tree is random)
        self.trees[member] = self._new()

    def run(self, rows: Rows, truth: Labels, weights: Ints, scores: Floats) -> None:
        given = self.inputs.rows(rows)
        any_known = (truth >= 0).any(axis=1)
        for member in range(self.size):
            own = weights[:, member] * any_known
            out = np.empty((len(truth), self.n_labels))
            done = 0
            while done < len(truth):
                tree = self.trees[member]
                done = run_tree(tree, self.settings, given, truth, own, done, out)
                if done < len(truth):
                    self.trees[member] = _copied(tree, self._new(2 * len(tree.node) + 1, 2 * len(tree.leaf)))
            scores[:, member] = out

    def n_classifiers(self) -> int:
        return self.size

    def state(self) -> Arrays:
        arrays = self.inputs.state()
        for member, tree in enumerate(self.trees):
            used = _copied(tree, _empty(self.inputs.place, self.n_labels, *tree.top.tolist()))
            arrays |= {f"tree{member}.{name}": getattr(used, name) for name in LEARNT}
        return arrays

    def restore(self, arrays: Mapping[str, Array], n_labels: int, kinds: Sequence[int]) -> None:
        self.n_labels = n_labels
        self.inputs.restore(arrays, kinds)
        self.trees = [self._restored_tree(arrays_under(arrays, f"tree{member}.")) for member in range(self.size)]

    def _restored_tree(self, arrays: Mapping[str, Array]) -> layout.TargetTrees:
        place, known = self.inputs.place, {"place": self.inputs.place}
        lengths = {"inputs": len(place), "(1 + inputs)": 1 + len(place), "numbers": int((place >= 0).sum())}
        return layout.TargetTrees(**TREE.checked(arrays, known, labels=self.n_labels, **lengths), place=place.copy())
