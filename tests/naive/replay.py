"""The naive tree run over a golden trace, with and without the imitation of MOA's arithmetic."""

import functools
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.naive.hoeffding_tree import NaiveHoeffdingTree, SplitEvent

TREE_TRACES = ["HT_yeast_l1", "HT_slashdot_nominal", "HT_blobs2d", "HT_mixed", "HT_rare_nominal"]
BINARY = 2


class Replay(NamedTuple):
    """What the tree did at every step: votes before training, the state of the tree after it.

    ``raw`` holds the votes before normalising, NaN where the vote vector was shorter than 2; ``split_steps``
    the step of each split.
    """

    votes: NDArray[np.float64]
    raw: NDArray[np.float64]
    n_split: NDArray[np.int64]
    n_leaves: NDArray[np.int64]
    depth: NDArray[np.int64]
    split_steps: list[int]
    splits: list[SplitEvent]


def load_trace(name: str) -> dict[str, NDArray[np.generic]]:
    """Arrays of one trace in the folder that the environment variable MARLENE_GOLDEN names."""
    with np.load(Path(os.environ["MARLENE_GOLDEN"]) / f"{name}.npz", allow_pickle=False) as arrays:
        return dict(arrays)


@functools.cache
def replay_tree(name: str, imitate: bool) -> Replay:
    """Test-then-train over one tree trace; ``imitate`` turns both imitation switches on."""
    trace = load_trace(name)
    tree = NaiveHoeffdingTree(
        kinds=[0 if numeric else BINARY for numeric in trace["isnum"]],
        variance_floor=0.0,
        imitate_underflow=imitate,
        split_on_all_minus_infinity=imitate,
        grace_tolerance=0.0,
    )
    votes, raw, sizes = [], [], []
    split_steps: list[int] = []
    rows = zip(trace["X"].tolist(), trace["y"].tolist(), trace["w"].tolist(), strict=True)
    for step, (x, y, weight) in enumerate(rows):
        votes.append(tree.votes(x))
        short = tree.raw_votes(x)
        raw.append(short + [np.nan] * (tree.n_classes - len(short)))
        tree.learn(x, y, weight)
        sizes.append((tree.n_split, tree.n_leaves, tree.depth))
        split_steps += [step] * (len(tree.splits) - len(split_steps))
    n_split, n_leaves, depth = np.array(sizes).T
    return Replay(np.array(votes), np.array(raw), n_split, n_leaves, depth, split_steps, tree.splits)


def affected_rows(name: str) -> NDArray[np.bool_]:
    """Rows of a tree trace in which the imitation shows, in the votes or in the size of the tree.

    Without the imitation a tree agrees with the trace in all other rows.
    """
    imitated, exact = replay_tree(name, True), replay_tree(name, False)
    affected = np.zeros(len(exact.votes), dtype=np.bool_)
    affected |= np.abs(imitated.votes - exact.votes).max(axis=1) > 1e-9
    affected |= imitated.n_split != exact.n_split
    affected |= imitated.n_leaves != exact.n_leaves
    affected |= imitated.depth != exact.depth
    return affected
