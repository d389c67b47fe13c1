"""The arrays of a multi-target tree, and what their columns mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from marlene._common.arrays import Floats, Ints


# The columns of the arrays. The last name of a group is the number of columns.

# Columns of TargetTrees.node: input of the test (-1: a leaf), first of the two children, place of the leaf.
INPUT, CHILDREN, LEAF, NODE_COLUMNS = range(4)
# Columns of leaf: weight seen, weight at the last attempt to split, weight the perceptron has seen (with its parents).
SEEN, LAST_ATTEMPT, PRACTICE, LEAF_COLUMNS = range(4)
# Columns of leaf_target: weight and sum for the mean (with the estimates of the split), sum observed here, faded
# absolute errors of mean and perceptron, sum of the absolute weights of the perceptron.
MEAN_WEIGHT, MEAN_SUM, OWN_SUM, MEAN_ERROR, PERCEPTRON_ERROR, NORM, TARGET_COLUMNS = range(7)
# Columns of leaf_input, of the non-zero values: weight, sum, sum of squares, least, greatest, and 1 if any was not 1.
COUNT, SUM, SQUARES, LOW, HIGH, NUMBERS, INPUT_COLUMNS = range(7)
# Columns of leaf_moment.
MOMENT_SUM, MOMENT_SQUARES = range(2)


class TargetTrees(NamedTuple):
    """One tree.

    Attributes
    ----------
    node, node_value
        Tests and leaves; thresholds of the tests.
    top
        Number of nodes and number of leaves in use.
    total
        Weight of all examples (an array of one).
    input_sum, target_sum
        Over all examples: sum and sum of squares of every input; weight and sum of every target.
    leaf, leaf_target, leaf_input
        See the columns above; leaves × columns, × targets × columns, × inputs × columns.
    leaf_weight
        Perceptrons: leaves × (1 + inputs) × targets.
    leaf_cross
        Weight of the examples whose input is not zero and whose target is 1: leaves × inputs × targets.
    leaf_moment
        Sum and sum of squares of the inputs where the target is 1: leaves × numeric inputs × targets × 2.
    place
        The number of every input among the numeric ones; -1 for 0/1 inputs.
    """

    node: Ints
    node_value: Floats
    top: Ints
    total: Floats
    input_sum: Floats
    target_sum: Floats
    leaf: Floats
    leaf_target: Floats
    leaf_input: Floats
    leaf_weight: Floats
    leaf_cross: Floats
    leaf_moment: Floats
    place: Ints


class MultiTargetSettings(NamedTuple):
    """The parameters of a tree, as the kernels take them."""

    grace_period: float
    log_inverse_delta: float
    tie_threshold: float
    split_points: int
    learning_rate: float
    decay: float
