"""The arrays of a multi-label Hoeffding adaptive tree (MLHAT)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from marlene._common.arrays import Floats, Ints, Labels

    Hashes = npt.NDArray[np.uint64]

INPUT, LEFT, RIGHT, ALTERNATE, LEAF = range(5)
NODE_COLUMNS = 5
IS_LEAF, FREE = -1, -2
"""Values of INPUT of a node that tests none."""
NONE = -1
WEIGHT, LAST = range(2)
LEAF_COLUMNS = 2
"""Weight of the examples of a leaf, and that at its last attempt to split."""
SETS, NEXT, FILLED = range(3)
COUNT_COLUMNS = 3
"""Number of different label sets in a leaf, and the ring of its latest examples."""
MOST_SETS = 512
"""More different label sets of a leaf are not told apart."""
TIMES, SUM, SQUARES = range(3)


class TreeSettings(NamedTuple):
    """Parameters."""

    grace_period: float
    log_of_delta: float
    tie_threshold: float
    split_points: int
    neighbours: int
    cardinality: float
    entropy: float
    learning_rate: float
    patience: int
    log_of_significance: float


class AdaptiveTree(NamedTuple):
    """A tree. Node 0 is the root. A branch has two children, and maybe the root of an alternate tree.

    The moments of a leaf are those of non-zero values, by input and label; the last label stands for all examples.
    """

    node: Ints
    threshold: Floats
    leaf: Floats
    counts: Ints
    label: Floats
    sets: Hashes
    moment: Floats
    bound: Floats
    where: Ints
    value: Floats
    size: Ints
    truth: Labels
    coefficient: Floats
    numeric: Ints


LEAF_ARRAYS = ("leaf", "counts", "label", "sets", "moment", "bound", "where", "value", "size", "truth", "coefficient")
"""Arrays whose first axis is the leaf."""
