"""MLHAT: a Hoeffding tree for label sets, with alternate trees where errors rise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.checks import checked, whole_number
from marlene._common.states import arrays_under, require, restored_count, with_prefix
from marlene.drift import ADWINBank
from marlene.kernels.bagging import draw_weights
from marlene.kernels.drift.adwin import BUCKETS, ROWS
from marlene.kernels.ensemble.resampling import mix_many
from marlene.kernels.rivals import tree_state as layout
from marlene.kernels.rivals.tree import CHANGE_COLUMNS, SPLIT, START, SWITCH, run_adaptive_tree
from marlene.kernels.rivals.tree_state import ALTERNATE, FREE, INPUT, IS_LEAF, LEAF, LEAF_ARRAYS, LEFT, NONE, RIGHT
from marlene.learners._saved import SavedLearner
from marlene.learners.baselines._adaptive_tree_state import ADAPTIVE_TREE
from marlene.learners.baselines._committee_learner import blocks
from marlene.learners.baselines._inputs import Inputs
from marlene.learners.baselines._one_stream import OneStreamLearner

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from marlene._common.arrays import Array, Arrays, Floats, Ints, Labels
    from marlene._common.checks import Rule
    from marlene.kernels.rows import Rows

POSITIVE = (float, lambda w: 0 < w <= 1e9, "a number above 0 and at most 1e9")
PROBABILITY = (float, lambda p: 0 < p < 1, "a number between 0 and 1")
NOT_NEGATIVE = (float, lambda e: 0 <= e <= 1e9, "a number from 0 to 1e9")
RULES: dict[str, Rule] = {
    "grace_period": POSITIVE,
    "delta": PROBABILITY,
    "tie_threshold": NOT_NEGATIVE,
    "cardinality": NOT_NEGATIVE,
    "entropy": NOT_NEGATIVE,
    "learning_rate": POSITIVE,
    "significance": PROBABILITY,
}
WHOLE = {
    "neighbours": (1, 1000),
    "window": (1, 100_000),
    "members": (1, 1000),
    "patience": (1, 10**9),
    "max_leaves": (1, 100_000),
}
SPLIT_POINTS = 10
ROUNDING = 1e-6
"""By how much sums of errors may differ from their bounds."""


def _watch_errors(detectors: ADWINBank) -> bool:
    """Tell whether windows and their buckets hold errors from 0 to 1."""
    arrays = detectors.arrays
    size = np.where(np.arange(BUCKETS) < arrays.bucket_count[..., np.newaxis], 2.0 ** np.arange(ROWS)[:, np.newaxis], 0)
    total = np.where(size > 0, arrays.bucket_total, 0.0)
    within = ((total >= -ROUNDING) & (total <= size + ROUNDING)).all()
    return bool(within and (np.abs(total.sum(axis=(1, 2)) - arrays.total) <= ROUNDING * (1 + arrays.width)).all())


@dataclass(eq=False, repr=False)
class AdaptiveTree(OneStreamLearner, SavedLearner):
    """MLHAT (Esteban, Cano, Zafra and Ventura 2024): a multi-label Hoeffding adaptive tree.

    - A leaf splits where the entropy of its labels, summed over labels, falls most, if the Hoeffding bound allows.
    - A leaf that has seen one label set answers with it. One of few examples (`cardinality`), or of labels that hardly
      vary (`entropy`), asks its nearest neighbours; any other asks linear models, a bagged set of them for each label.
    - Every node has an ADWIN detector of the Hamming loss below it. Where it rises, an alternate tree begins. It
      replaces the branch when its error is significantly lower, and is dropped when it is significantly higher.
      Until then it votes: the votes of trees are weighted by 1 / squared error.
    - An example has a weight of Poisson(1), at least 1, in the tree. A linear model learns it Poisson(1) times.

    A nominal feature becomes one input, 0 or 1, for each value but the first. A missing value counts as zero.

    Parameters
    ----------
    grace_period
        Weight that a leaf sees between two attempts to split.
    delta
        Allowed probability of a wrong split: δ of the Hoeffding bound.
    tie_threshold
        Hoeffding bound below which a leaf splits even if several tests are equally good.
    cardinality, entropy
        A leaf asks its linear models if it has seen at least this weight, and its labels have at least this entropy.
    neighbours, window
        Number of nearest neighbours, and of the latest examples of a leaf among which they are looked for.
    members, learning_rate
        Number of linear models for each label of a leaf, and how far their gradient steps go.
    patience
        Number of examples after which an alternate tree votes and may replace a branch.
    significance
        Allowed probability that a branch is replaced or kept wrongly.
    max_leaves
        The tree does not grow beyond so many leaves, those of alternate trees included.
    features
        "auto", "numeric", "binary" or a mapping, as of `BRMarlene`.
    seed
        Seed of the random numbers. They do not depend on the number of threads or on restarts.
    absent
        "unknown" or "false", as of `BRMarlene`.

    Examples
    --------
    >>> model = AdaptiveTree()
    >>> for i in range(200):
    ...     model.learn_one({"x": i % 10}, {"big": i % 10 > 4, "odd": i % 2 == 1})
    >>> model.predict_one({"x": 9})
    {'big': True, 'odd': True}
    """

    _method = "adaptive-tree"

    grace_period: float = 200
    delta: float = 1e-7
    tie_threshold: float = 0.05
    cardinality: float = 750
    entropy: float = 0.3
    neighbours: int = 4
    window: int = 170
    members: int = 10
    learning_rate: float = 0.3
    patience: int = 200
    significance: float = 0.05
    max_leaves: int = 100
    features: str | Mapping[Hashable, str] = "auto"
    seed: int = 1
    absent: str = "unknown"
    max_labels: int | None = field(default=None, kw_only=True)
    max_features: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        numbers = {name: checked(getattr(self, name), name, rule) for name, rule in RULES.items()}
        whole = {name: whole_number(getattr(self, name), name, *limits) for name, limits in WHOLE.items()}
        whole_number(self.seed, "seed")
        self._begin()
        self._settings = layout.TreeSettings(
            numbers["grace_period"],
            math.log(1.0 / numbers["delta"]),
            numbers["tie_threshold"],
            SPLIT_POINTS,
            whole["neighbours"],
            numbers["cardinality"],
            numbers["entropy"],
            numbers["learning_rate"],
            whole["patience"],
            math.log(2.0 / numbers["significance"]),
        )
        parts = np.array([int(self.seed) & (2**64 - 1), 0], np.uint64)
        self._keys = np.zeros(1 + whole["members"], np.uint64)
        for i in range(len(self._keys)):
            parts[1] = i
            self._keys[i] = mix_many(parts)
        self._inputs = Inputs()
        self._seen = self._switches = 0
        self._detectors = ADWINBank()
        self._tree = self._empty(0, 0, 0, 0)
        self._free: list[int] = []
        self._new_leaf()

    def _empty(self, nodes: int, leaves: int, labels: int, width: int) -> layout.AdaptiveTree:
        inputs, window, members = len(self._inputs), int(self.window), int(self.members)
        tree = layout.AdaptiveTree(
            node=np.full((nodes, layout.NODE_COLUMNS), NONE, np.int64),
            threshold=np.zeros(nodes),
            leaf=np.zeros((leaves, layout.LEAF_COLUMNS)),
            counts=np.zeros((leaves, layout.COUNT_COLUMNS), np.int64),
            label=np.zeros((leaves, labels)),
            sets=np.zeros((leaves, layout.MOST_SETS), np.uint64),
            moment=np.zeros((leaves, inputs, labels + 1, 3)),
            bound=np.zeros((leaves, inputs, 2)),
            where=np.zeros((leaves, window, width), np.int64),
            value=np.zeros((leaves, window, width)),
            size=np.zeros((leaves, window), np.int64),
            truth=np.zeros((leaves, window, labels), np.int8),
            coefficient=np.zeros((leaves, 1 + inputs, members, labels)),
            numeric=self._inputs.place.copy(),
        )
        tree.node[:, INPUT] = FREE
        return tree

    def _enlarge(self, nodes: int = 0, leaves: int = 0, width: int = 0) -> None:
        """Have room for so many nodes, leaves and non-zeros, and for all inputs and labels."""
        old = self._tree
        nodes, leaves = max(nodes, len(old.node)), max(leaves, len(old.leaf))
        labels, known = len(self._names), old.label.shape[1]
        new = self._empty(nodes, leaves, labels, max(width, old.where.shape[2]))
        for name in (*LEAF_ARRAYS, "node", "threshold"):
            mine, theirs = getattr(new, name), getattr(old, name)
            if name == "moment":  # the last label stands for all examples
                inputs = theirs.shape[1]
                mine[: len(theirs), :inputs, :known] = theirs[:, :, :known]
                mine[: len(theirs), :inputs, labels] = theirs[:, :, known]
            else:
                mine[tuple(slice(0, length) for length in theirs.shape)] = theirs
        filled = np.arange(int(self.window)) < old.counts[:, layout.FILLED, None]
        new.truth[: len(old.leaf)][filled, known:] = -1
        self._free += range(len(old.leaf), leaves)
        self._tree = new

    def _add_features(self, widened: Mapping[int, int], kinds: Sequence[int]) -> None:
        for column, n_values in widened.items():
            self._inputs.widen(column, n_values)
        self._inputs.add_features(kinds)
        self._enlarge()

    def _add_labels(self, count: int) -> None:  # noqa: ARG002 (it knows the names)
        self._enlarge()

    def _new_leaf(self) -> int:
        """Return a new node, an untrained leaf."""
        node = int(self._detectors.add(1)[0])
        capacity = len(self._detectors.arrays.width)
        if not self._free or capacity > len(self._tree.node):
            held = len(self._tree.leaf)
            self._enlarge(capacity, held if self._free else max(1, 2 * held))
        self._free.sort()
        leaf = self._free.pop(0)
        self._tree.node[node], self._tree.threshold[node] = NONE, 0.0
        self._tree.node[node, LEAF] = leaf
        return node

    def _nodes(self, node: int = 0) -> Iterator[int]:
        """Give the numbers of a node and of all below it."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            yield node
            if self._tree.node[node, INPUT] >= 0:
                below = self._tree.node[node, [ALTERNATE, RIGHT, LEFT]]
                waiting += below[below != NONE].tolist()

    def _clear(self, top: int) -> None:
        """Free everything below a node, which stays without a leaf."""
        tree = self._tree
        for node in list(self._nodes(top)):
            if tree.node[node, INPUT] == IS_LEAF:
                leaf = int(tree.node[node, LEAF])
                for name in LEAF_ARRAYS:
                    getattr(tree, name)[leaf] = 0
                self._free.append(leaf)
            if node != top:
                self._free_node(node)
        tree.node[top] = NONE

    def _free_node(self, node: int) -> None:
        self._tree.node[node] = NONE
        self._tree.node[node, INPUT] = FREE
        self._detectors.remove([node])

    def _change(self, changes: Floats) -> None:
        """Change the tree: first leaves split, then trees begin, replace branches or end."""
        for change, node, on, at in sorted(changes.tolist(), key=lambda each: each[0] != SPLIT):
            i = int(node)
            if self._tree.node[i, INPUT] == FREE:
                continue
            room = len(self._tree.leaf) - len(self._free) < self.max_leaves
            if change == SPLIT and room:
                self._split(i, int(on), at)
            elif change == START and room:
                root = self._new_leaf()  # this may replace the arrays
                self._tree.node[i, ALTERNATE] = root
            elif change not in (SPLIT, START):
                self._settle(i, change == SWITCH)

    def _split(self, node: int, on: int, at: float) -> None:
        self._clear(node)
        children = [self._new_leaf(), self._new_leaf()]
        self._tree.node[node, [INPUT, LEFT, RIGHT]] = [on, *children]
        self._tree.threshold[node] = at

    def _settle(self, node: int, replaced: bool) -> None:
        """Let an alternate tree take the place of its branch, or remove it."""
        tree = self._tree
        other = int(tree.node[node, ALTERNATE])
        tree.node[node, ALTERNATE] = NONE
        if replaced:
            self._clear(node)
            tree.node[node], tree.threshold[node] = tree.node[other], tree.threshold[other]
            for array in self._detectors.arrays:
                array[node] = array[other]
            self._switches += 1
        else:
            self._clear(other)
        self._free_node(other)

    def _through(self, rows: Rows, truth: Labels, times: Ints, learning: bool, out: Floats) -> None:
        given = self._inputs.rows(rows)
        width = int(np.diff(given.starts).max(initial=0)) if learning else 0
        held = self._tree.where.shape[2]
        if width > held:
            self._enlarge(width=max(width, held + held // 2))
        done = 0
        while done < len(given.starts) - 1:
            changes = np.zeros((4 * len(self._tree.node), CHANGE_COLUMNS))
            arrays, parameters = self._detectors.arrays, self._detectors.parameters
            done, told = run_adaptive_tree(
                self._tree, arrays, parameters, self._settings, given, truth, times, done, learning, out, changes
            )
            self._change(changes[:told])

    def _run(self, stream: str | None, rows: Rows, truth: Labels, probabilities: Floats) -> None:  # noqa: ARG002
        for here, part in blocks(rows):
            known = np.flatnonzero(np.any(truth[here] >= 0, axis=1))
            drawn = np.empty((len(known), len(self._keys)), np.int64)
            times = np.zeros((len(part.starts) - 1, len(self._keys)), np.int64)
            draw_weights(self._keys, self._seen, 1.0, drawn)
            times[known] = drawn
            self._through(part, truth[here], times, True, probabilities[here])
            self._seen += len(drawn)

    def _predict(self, rows: Rows, scores: Floats) -> None:
        nothing = np.zeros((0, 0), np.int64)
        self._through(rows, nothing.astype(np.int8), nothing, False, scores)

    def counts(self) -> dict[str, int]:
        """Return the number of leaves, and how often an alternate tree replaced a branch."""
        return {"models": len(self._tree.leaf) - len(self._free), "drifts": self._switches}

    def _learnt(self) -> tuple[dict[str, Any], Arrays]:
        tree, order = self._tree, list(self._nodes())
        place = np.full(1 + len(tree.node), NONE, np.int64)
        place[order] = np.arange(len(order))
        node = tree.node[order]
        branches, ends = node[:, INPUT] >= 0, node[:, INPUT] == IS_LEAF
        node[branches, LEFT:LEAF] = place[node[branches, LEFT:LEAF]]
        leaves = node[ends, LEAF].copy()
        node[ends, LEAF] = np.arange(len(leaves))
        detectors = ADWINBank()
        detectors.add(len(order))
        for name, mine in detectors.arrays._asdict().items():
            mine[: len(order)] = getattr(self._detectors.arrays, name)[order]
        arrays: Arrays = {name: getattr(tree, name)[leaves] for name in LEAF_ARRAYS}
        stored = np.arange(tree.where.shape[2]) < arrays["size"][:, :, None]
        arrays |= {name: arrays[name][stored] for name in ("where", "value")}
        arrays |= {"node": node, "threshold": tree.threshold[order]} | self._inputs.state()
        header = {"seen": self._seen, "switches": self._switches}
        return self._named() | header, arrays | with_prefix(detectors.state(), "detectors.")

    @classmethod
    def _restored_objects(cls, header: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG003 (it has none)
        return {}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        self._restore_names(header)
        self._inputs.restore(arrays, self._space.forest_kinds())
        self._seen = restored_count(header["seen"], "the number of examples")
        self._switches = restored_count(header["switches"], "the number of trees")
        inputs, labels, window = len(self._inputs), len(self._names), int(self.window)
        lengths = {"inputs": inputs, "labels": labels, "(1 + inputs)": 1 + inputs, "(labels + 1)": labels + 1}
        found = ADAPTIVE_TREE.checked(arrays, window=window, members=int(self.members), **lengths)
        size, entries = found["size"], {name: found.pop(name) for name in ("where", "value")}
        tree = self._empty(len(found["node"]), len(found["leaf"]), labels, int(size.max(initial=0)))._replace(**found)
        stored = np.arange(tree.where.shape[2]) < size[:, :, None]
        tree.where[stored], tree.value[stored] = entries["where"], entries["value"]
        self._tree, self._free = tree, []
        self._detectors = ADWINBank.from_state(arrays_under(arrays, "detectors."))
        require(len(self._detectors) == len(self._detectors.arrays.width) == len(tree.node), "the detectors")
        require(self._detectors.parameters == ADWINBank().parameters, "the detectors")
        require(_watch_errors(self._detectors), "the detectors")

    def _load_rare_kernels(self) -> None:
        """Do nothing: there is one kernel."""
