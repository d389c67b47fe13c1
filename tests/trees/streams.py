"""Generated streams over features of every kind, and a tree's splits read off a forest's state."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marlene.kernels.forest.state import BRANCHES, CHILDREN, FEATURE, IS_SPLIT, ROOT, STATE, TEST
from marlene.trees import HoeffdingForest
from tests.naive.hoeffding_tree import SplitEvent

TESTS = ("numeric", "equals", "multiway")
RECORDED_TESTS = {
    "NumericAttributeBinaryTest": "numeric",
    "NominalAttributeBinaryTest": "equals",
    "NominalAttributeMultiwayTest": "multiway",
}
"""The tests by the names that MOA's traces give them."""
KINDS = ("numeric", "sparse", "binary", 3, 4, 5, "rare")
RARE_VALUES = 40


class Sample(NamedTuple):
    """Examples, classes and weights; `kinds` as a forest takes them."""

    kinds: list[int | str]
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    w: NDArray[np.int64]


def sample(seed: int, kinds, n_rows: int, n_classes: int = 2, *, missing: float = 0.0, noise: float = 0.05) -> Sample:
    """Draw a stream; a kind is one of `KINDS`.

    "sparse" is numeric and mostly zero; "rare" is nominal, with values so rare that only a test for zero can part
    more than 1 % of the examples from the others.
    Every class is a mixture of two groups, each with its own distribution of every feature, so that one split does
    not tell the classes apart.
    """
    rng = np.random.default_rng(seed)
    n_groups = 2 * n_classes
    group = rng.integers(0, n_groups, n_rows)
    X = np.zeros((n_rows, len(kinds)))
    for column, kind in enumerate(kinds):
        if kind == "numeric":
            values = rng.normal(3 * rng.normal(size=n_groups)[group], 1.0)
        elif kind == "sparse":
            values = rng.normal(2 * rng.normal(size=n_groups)[group], 0.5)
            values *= rng.random(n_rows) < rng.beta(0.5, 1.5, n_groups)[group]
        elif kind == "rare":
            values = rng.integers(1, RARE_VALUES, n_rows) * (rng.random(n_rows) < 0.25 * (group % n_classes == 0))
        else:
            n_values = 2 if kind == "binary" else kind
            limits = np.cumsum(rng.dirichlet(np.full(n_values, 0.4), n_groups), axis=1)[group]
            values = np.minimum((rng.random(n_rows)[:, None] > limits).sum(axis=1), n_values - 1)
        X[:, column] = values
    X[rng.random(X.shape) < missing] = np.nan
    y = np.where(rng.random(n_rows) < noise, rng.integers(0, n_classes, n_rows), group % n_classes)
    forest_kinds = [{"sparse": "numeric", "rare": RARE_VALUES}.get(kind, kind) for kind in kinds]
    return Sample(forest_kinds, X, y, rng.integers(0, 6, n_rows))


def coded(kinds) -> list[int]:
    """Return the kinds as the naive tree takes them."""
    return [{"numeric": 0, "binary": 2}.get(kind, kind) for kind in kinds]


def splits_of(forest: HoeffdingForest, tree: int = 0) -> dict[str, SplitEvent]:
    """Return the splits of a tree by their paths, as the naive tree writes them."""
    state = forest.state()
    waiting = [("R", int(state["tree"][tree, ROOT]) - 1)] if state["tree"][tree, ROOT] else []
    found = {}
    while waiting:
        path, node = waiting.pop()
        row = state["node"][node]
        if row[STATE] == IS_SPLIT:
            value = float(state["node_value"][node])
            found[path] = SplitEvent(path, int(row[FEATURE]), TESTS[row[TEST]], value)
            waiting += [(f"{path}.{branch}", int(row[CHILDREN]) + branch) for branch in range(row[BRANCHES])]
    return found


def normalised(recorded):
    """Return recorded votes that sum to 1; an absent vote (NaN) is 0, and so are all votes without evidence."""
    votes = np.nan_to_num(recorded)
    sums = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, sums, out=np.zeros_like(votes), where=sums > 0)
