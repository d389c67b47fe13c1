"""Wrong input of a forest is an error that says where and what."""

import math

import numpy as np
import pytest
from scipy import sparse

from marlene._common.errors import MarleneError
from marlene.trees import HoeffdingForest


@pytest.fixture
def forest():
    forest = HoeffdingForest(["numeric", "binary", 4], n_classes=3)
    forest.add(3)
    forest.remove([1])
    forest.learn_many([0, 2], [[0.5, 1, 3], [math.nan, 0, 2]], [0, 2])
    return forest


@pytest.mark.parametrize(
    ("parameter", "value", "rule"),
    [
        ("n_classes", 1, "a whole number from 2 to 65536"),
        ("n_classes", 2.5, "a whole number from 2 to 65536"),
        ("n_classes", "2", "a whole number from 2 to 65536"),
        ("n_classes", 10**9, "a whole number from 2 to 65536"),
        ("grace_period", 0, "a positive number"),
        ("grace_period", math.nan, "a positive number"),
        ("grace_period", None, "a positive number"),
        ("grace_tolerance", -1, "a number of at least 0"),
        ("grace_tolerance", math.inf, "a number of at least 0"),
        ("delta", 0, "a number between 0 and 1"),
        ("delta", 1, "a number between 0 and 1"),
        ("delta", math.nan, "a number between 0 and 1"),
        ("tie_threshold", -0.1, "a number of at least 0"),
        ("tie_threshold", 1j, "a number of at least 0"),
        ("split_points", 0, "a whole number from 1 to 1000"),
        ("split_points", 10**6, "a whole number from 1 to 1000"),
        ("leaf_prediction", "bayes", "one of ['majority', 'naive_bayes', 'adaptive']"),
        ("leaf_prediction", ["majority"], "one of ['majority', 'naive_bayes', 'adaptive']"),
        ("max_depth", -1, "a whole number of at least 0"),
        ("max_depth", 10**20, "a whole number of at least 0"),
        ("max_nodes", -1, "a whole number of at least 0"),
        ("max_nodes", math.inf, "a whole number of at least 0"),
        ("variance_floor", -1e-4, "0 or a number from 1e-100 to 1e100"),
        ("variance_floor", math.inf, "0 or a number from 1e-100 to 1e100"),
        ("variance_floor", 1e-320, "0 or a number from 1e-100 to 1e100"),
    ],
)
def test_a_wrong_parameter_is_named(parameter, value, rule):
    with pytest.raises(MarleneError) as caught:
        HoeffdingForest(["binary"], **{parameter: value})
    assert str(caught.value) == f"{parameter} must be {rule}, not {value!r}"


def test_numbers_of_numpy_are_as_good_as_pythons():
    forest = HoeffdingForest(
        np.array([0, 2]),
        n_classes=np.int32(3),
        grace_period=np.float32(50),
        max_depth=np.uint8(2),
        delta=np.float64(0.1),
    )
    same = HoeffdingForest(["numeric", "binary"], n_classes=3, grace_period=50, max_depth=2, delta=0.1)
    assert forest == same
    assert {type(value) for value in forest.settings().values()} == {int, float, str, bool}


@pytest.mark.parametrize("kind", [1, -1, "nominal", 2.5, None, 2**16 + 1, math.nan, [2]])
def test_a_wrong_kind_is_named(forest, kind):
    expected = f"kinds[1] is {kind!r}; expected 'numeric', 'binary' or the number of values, 2 to 65536"
    for call in (HoeffdingForest, forest.add_features):
        with pytest.raises(MarleneError) as caught:
            call(["numeric", kind])
        assert str(caught.value) == expected
    assert len(forest.kinds) == 3


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0, 1, 0], [0, 0, 4]], "row 1, feature 2: expected one of 0 to 3, found 4"),
        ([[0.0, 2, 0]], "row 0, feature 1: expected one of 0 to 1, found 2"),
        ([[0.0, 0.5, 0]], "row 0, feature 1: expected one of 0 to 1, found 0.5"),
        ([[0.0, -1, 0]], "row 0, feature 1: expected one of 0 to 1, found -1"),
        (
            [[0, 0, 0], [0, 0, 0], [0, 0, 1], [math.inf, 0, 0]],
            "row 3, feature 0: expected a number up to 1e+60 or NaN",
        ),
        ([[0, 0, -math.inf]], "row 0, feature 2: expected one of 0 to 3, found -inf"),
        ([[1e61, 0, 0]], "row 0, feature 0: expected a number up to 1e+60 or NaN, found 1e+61"),
        ([[-1e61, 0, 0]], "row 0, feature 0: expected a number up to 1e+60 or NaN, found -1e+61"),
        ([[0.0, 1]], "X has 2 columns, but the forest has 3 features"),
        (np.zeros((0, 2)), "X has 2 columns, but the forest has 3 features"),
        (sparse.csr_array((2, 4)), "X has 4 columns, but the forest has 3 features"),
        ([0.0, 1, 1], "X has 1 dimensions, expected 2"),
        (np.zeros((1, 3, 1)), "X has 3 dimensions, expected 2"),
        (0.0, "X has 0 dimensions, expected 2"),
        (sparse.coo_array(np.ones(3)), "X has 1 dimensions, expected 2"),
        ([["a", 0, 0]], "X holds something that is not a number"),
        ([[0, 0], [0, 0, 0]], "X holds something that is not a number"),
        ([[{}, 0, 0]], "X holds something that is not a number"),
    ],
)
def test_wrong_examples_are_placed(forest, X, message):
    before = forest.state()
    n = X.shape[0] if sparse.issparse(X) else np.size(X) // 3 if isinstance(X, np.ndarray) else 1
    inputs = [X]
    if isinstance(X, list) and message.startswith("row"):
        inputs.append(sparse.csr_array(np.array(X, dtype=float)))
    for given in inputs:
        for call in (forest.votes_many, lambda X: forest.learn_many([0], X, np.zeros(n))):
            with pytest.raises(MarleneError) as caught:
                call(given)
            assert message in str(caught.value)
    assert all(np.array_equal(before[name], array, equal_nan=True) for name, array in forest.state().items())


@pytest.mark.parametrize("column", [3, -1, 2**31 - 1])
def test_a_sparse_matrix_that_names_columns_it_does_not_have_is_refused(forest, column):
    X = sparse.csr_array(np.array([[1.0, 1, 1]]))
    X.indices[2] = column
    with pytest.raises(MarleneError, match="X names a column that is not one of 0 to 2"):
        forest.votes_many(X)


@pytest.mark.parametrize("x", [np.zeros((2, 3)), np.zeros((1, 1, 3)), sparse.csr_array((2, 3)), 1.0])
def test_one_example_is_one_row(forest, x):
    for call in (forest.votes, lambda x: forest.learn([0], x, 0)):
        with pytest.raises(MarleneError, match=r"x has shape|X has"):
            call(x)


def test_one_example_in_any_form(forest):
    expected = forest.votes([0.5, 1, 0])
    for x in (
        (0.5, 1, 0),
        np.array([[0.5, 1, 0]]),
        sparse.csr_matrix([[0.5, 1, 0]]),
        sparse.coo_array([0.5, 1, 0]),
        sparse.csc_array([[0.5, 1, 0]]),
        np.array([0.5, 1, 0], dtype=np.float32),
    ):
        assert (forest.votes(x) == expected).all()
    assert (forest.votes([1, 1, 0]) == forest.votes(sparse.coo_array(np.array([[1, 1, 0]], dtype=bool)))).all()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 3], "y, row 1: expected a whole number from 0 to 2, found 3"),
        ([0, -1], "y, row 1: expected a whole number from 0 to 2, found -1"),
        ([0.5, 0], "y, row 0: expected a whole number from 0 to 2, found 0.5"),
        ([0, math.nan], "y, row 1: expected a whole number from 0 to 2, found nan"),
        ([0, math.inf], "y, row 1: expected a whole number from 0 to 2, found inf"),
        ([[0, 1], [1, 5]], "y, row 1: expected a whole number from 0 to 2, found 5"),
        ([0], "y has shape (1,), expected (2, 2) or (2,)"),
        ([0, 1, 2], "y has shape (3,), expected (2, 2) or (2,)"),
        ([[0, 1]], "y has shape (1, 2), expected (2, 2) or (2,)"),
        ([[0], [1]], "y has shape (2, 1), expected (2, 2) or (2,)"),
        ([["a", "b"], ["c", "d"]], "y must be whole numbers"),
        ([None, None], "y must be whole numbers"),
        ([[0], [1, 2]], "y must be whole numbers"),
    ],
)
def test_wrong_classes_are_placed(forest, y, message):
    before = forest.state()
    with pytest.raises(MarleneError) as caught:
        forest.learn_many([0, 2], np.zeros((2, 3)), y)
    assert message in str(caught.value)
    assert all(np.array_equal(before[name], array, equal_nan=True) for name, array in forest.state().items())


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0, -1], "weights, row 1: expected a whole number from 0 to 2147483647, found -1"),
        ([2**31, 1], "weights, row 0: expected a whole number from 0 to 2147483647, found 2147483648"),
        ([1, 0.1], "weights, row 1: expected a whole number from 0 to 2147483647, found 0.1"),
        (math.nan, "weights, row 0: expected a whole number from 0 to 2147483647, found nan"),
        ([1, 1, 1], "weights has shape (3,), expected (2, 2) or (2,)"),
        ("heavy", "weights must be whole numbers"),
    ],
)
def test_wrong_weights_are_placed(forest, weights, message):
    with pytest.raises(MarleneError) as caught:
        forest.learn_many([0, 2], np.zeros((2, 3)), 0, weights)
    assert str(caught.value) == message


@pytest.mark.parametrize("ids", [[1], [0, 1], [-1], [3], [10**12], 7])
def test_an_unknown_tree_is_named(forest, ids):
    unknown = next(tree for tree in np.atleast_1d(ids).tolist() if tree not in {0, 2})
    for call in (
        forest.remove,
        lambda ids: forest.votes([0, 0, 0], ids),
        lambda ids: forest.learn(ids, [0, 0, 0], 0),
    ):
        with pytest.raises(MarleneError, match=f"there is no tree {unknown} in this forest"):
            call(ids)
    for look in (forest.rules, forest.n_nodes, forest.n_leaves, forest.depth, forest.feature_use):
        with pytest.raises(MarleneError, match="there is no tree 1 in this forest"):
            look(1)
    assert forest.ids.tolist() == [0, 2]


@pytest.mark.parametrize("ids", [[0.0], ["0"], [[0, 2]], [True], None, [0, [2]], [2**70]])
def test_ids_are_a_list_of_whole_numbers(forest, ids):
    with pytest.raises(MarleneError, match="ids must be"):
        forest.learn(ids, [0, 0, 0], 0)


def test_a_tree_learns_once(forest):
    with pytest.raises(MarleneError, match="ids: a tree is named twice"):
        forest.learn_many([0, 2, 0], np.zeros((1, 3)), 0)
    votes = forest.votes([0, 0, 0], [2, 0, 2])
    assert (votes[0] == votes[2]).all()
    forest.remove([2, 2])
    assert forest.ids.tolist() == [0]


@pytest.mark.parametrize("count", [-1, 1.0, "1", None])
def test_a_number_of_trees(forest, count):
    with pytest.raises(MarleneError, match="count must be a whole number of at least 0"):
        forest.add(count)


def test_names_for_every_feature(forest):
    with pytest.raises(MarleneError, match="names: there are 2 for 3 features"):
        forest.rules(0, names=["a", "b"])


def test_one_class_and_weight_for_all_trees_or_one_for_each():
    forests = [HoeffdingForest(["binary"]) for _ in range(3)]
    for forest in forests:
        forest.add(2)
    forests[0].learn([0, 1], [1], 1, 3)
    forests[1].learn([0, 1], [1], [1, 1], [3, 3])
    forests[2].learn_many([0, 1], [[1]], [[1, 1]], [3])
    assert forests[0] == forests[1] == forests[2]
    with pytest.raises(MarleneError, match="y has shape"):
        forests[0].learn([0, 1], [1], [1])
