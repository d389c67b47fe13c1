"""The forest against the naive tree on generated streams over features of every kind."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from scipy import sparse

from marlene.trees import HoeffdingForest
from tests.naive.hoeffding_tree import NaiveHoeffdingTree
from tests.trees.streams import KINDS, Sample, coded, sample, splits_of

CLOSE = 1e-9

# Grace periods are no whole numbers: whether a leaf with fractional inherited counts has seen exactly one is decided
# by the last bit.
# Without a variance floor, whether a value is exactly the mean of an inherited Gaussian would be, too.
OPTIONS = st.fixed_dictionaries(
    {
        "grace_period": st.sampled_from([10.5, 30.5, 100.5, 500.5]),
        "delta": st.sampled_from([1e-7, 0.05, 0.5, 0.5]),
        "tie_threshold": st.sampled_from([0.0, 0.05, 0.3, 0.6]),
        "split_points": st.sampled_from([1, 3, 10]),
        "leaf_prediction": st.sampled_from(["adaptive", "adaptive", "naive_bayes", "majority"]),
        "max_depth": st.sampled_from([0, 0, 2, 4]),
        "max_nodes": st.sampled_from([0, 0, 9, 30]),
        "variance_floor": st.sampled_from([0.0, 1e-4]),
        "inherit": st.booleans(),
        "effective_size": st.booleans(),
    }
)


def naive_run(data, n_classes, options):
    """Test-then-train of the naive tree, up to the first decision that is too close to call.

    Returns its votes, its nodes, leaves and depth after every row, and its splits by path.
    """
    tree = NaiveHoeffdingTree(kinds=coded(data.kinds), n_classes=n_classes, **options)
    votes, sizes, splits = [], [], {}
    for x, y, w in zip(data.X.tolist(), data.y.tolist(), data.w.tolist(), strict=True):
        vote = tree.votes(x)
        tree.learn(x, y, w)
        if tree.closest_call <= CLOSE:
            break
        votes.append(vote)
        sizes.append((tree.n_split + tree.n_leaves, tree.n_leaves, tree.depth))
        splits = {split.path: split for split in tree.splits}
    return np.array(votes).reshape(-1, n_classes), sizes, splits


def agree(data, n_classes, options):
    """Check that forest and naive tree agree at every step; return the number of steps and the splits."""
    votes, sizes, splits = naive_run(data, n_classes, options)
    n = len(votes)
    data = Sample(data.kinds, data.X[:n], data.y[:n], data.w[:n])
    forests = [HoeffdingForest(data.kinds, n_classes=n_classes, **options) for _ in range(2)]
    for forest in forests:
        forest.add()
    as_sparse = sparse.csr_array(data.X)
    given = forests[0].test_then_train([0], as_sparse, data.y, data.w)[:, 0]
    np.testing.assert_allclose(given, votes, rtol=0, atol=1e-9)
    for t in range(n):
        x = data.X[t] if t % 2 else as_sparse[[t]]
        forests[1].learn([0], x, data.y[t], data.w[t])
        assert (forests[1].n_nodes(0), forests[1].n_leaves(0), forests[1].depth(0)) == sizes[t]
    assert forests[0] == forests[1]
    found = splits_of(forests[0])
    assert {path: split[:3] for path, split in found.items()} == {path: split[:3] for path, split in splits.items()}
    thresholds = [split.value for split in splits.values()]
    np.testing.assert_allclose([found[path].value for path in splits], thresholds, rtol=1e-9)
    return n, splits


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=8),
    n_rows=st.integers(300, 1500),
    n_classes=st.integers(2, 6),
    missing=st.sampled_from([0.0, 0.0, 0.03, 0.4]),
    options=OPTIONS,
)
def test_forest_and_naive_tree_agree(seed, kinds, n_rows, n_classes, missing, options):
    if options["inherit"]:
        options = options | {"variance_floor": 1e-4}
    data = sample(seed, kinds, n_rows, n_classes, missing=missing)
    n, splits = agree(data, n_classes, options)
    event(f"splits: {min(5, len(splits))}")
    event(f"rows compared: {100 * n // n_rows // 25 * 25} %")


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("variance_floor", [0.0, 1e-4])
@pytest.mark.parametrize("inherit", [False, True])
def test_long_streams_that_split_in_every_way(missing, variance_floor, inherit):
    tests = Counter()
    for seed, kinds, grace_period, leaf_prediction in [
        (9, KINDS, 150.5, "adaptive"),
        (4, KINDS[::-1] * 2, 150.5, "naive_bayes"),
        (0, ("rare",) * 5, 1500.5, "majority"),
    ]:
        data = sample(seed, kinds, 3000, 3, missing=missing)
        options = {
            "grace_period": grace_period,
            "delta": 1e-3,
            "tie_threshold": 0.15,
            "leaf_prediction": leaf_prediction,
            "variance_floor": variance_floor,
            "inherit": inherit,
            "effective_size": inherit,
        }
        n, splits = agree(data, 3, options)
        assert n == 3000 or (inherit and n > 1500)
        tests.update(split.test for split in splits.values())
    assert min(tests[test] for test in ("numeric", "equals", "multiway")) >= (1 if inherit else 3)


@pytest.mark.parametrize("kind", ["numeric", "binary"])
@pytest.mark.parametrize("weight", [1, 5, 2000])
@pytest.mark.parametrize("variance_floor", [0.0, 1e-4])
def test_features_that_become_frequent_and_rare_again(kind, weight, variance_floor):
    rng = np.random.default_rng(weight)
    shares = rng.choice([0.0, 0.002, 0.03, 0.11, 0.14, 0.5, 0.95], (10, 50))
    X = (rng.random((1000, 50)) < np.repeat(shares, 100, axis=0)).astype(float)
    if kind == "numeric":
        X *= rng.normal(3, 1, X.shape).round(1)
    data = Sample([kind] * 50, X, rng.integers(0, 3, 1000), rng.integers(0, weight + 1, 1000))
    options = {"leaf_prediction": "naive_bayes", "grace_period": math.inf, "variance_floor": variance_floor}
    assert agree(data, 3, options) == (1000, {})


@pytest.mark.parametrize("kind", ["numeric", "sparse", "binary", 4])
@pytest.mark.parametrize("copies", [2, 3])
def test_equal_merits_go_to_the_last_feature(kind, copies):
    data = sample(3, [kind], 3000)
    X = np.hstack([data.X] * copies)
    for rows in (slice(None), slice(None, None, -1)):
        forest = HoeffdingForest(data.kinds * copies, tie_threshold=0.1)
        forest.add()
        forest.learn_many([0], X[rows], data.y[rows], data.w[rows])
        assert splits_of(forest)["R"].feature == copies - 1


def test_the_last_feature_wins_a_tie_whatever_came_first_to_the_leaf():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 4000)
    X = np.column_stack([y, y, y]).astype(float)
    X[:3] = [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    X[3:6] = X[2::-1]
    y[:6] = [0, 1, 0, 0, 1, 0]
    naive = NaiveHoeffdingTree(kinds=[2, 2, 2])
    forest = HoeffdingForest(["binary"] * 3)
    forest.add()
    forest.learn_many([0], X, y)
    for x, c in zip(X.tolist(), y.tolist(), strict=True):
        naive.learn(x, c, 1)
    assert splits_of(forest)["R"][:2] == naive.splits[0][:2]


def test_a_leaf_is_not_split_where_no_feature_has_merit():
    forest = HoeffdingForest(["binary", 3, "numeric"])
    forest.add()
    forest.learn_many([0], np.zeros((200, 3)), np.arange(200) % 2, 50)
    assert forest.n_nodes(0) == 1


@pytest.mark.parametrize("first", [0, 1])
def test_the_first_example_scores_naive_bayes_for_class_0_only(first):
    # Majority and naive Bayes disagree on the second example, where the scores of the first decide.
    forest, naive = HoeffdingForest(["binary"]), NaiveHoeffdingTree(kinds=[2])
    forest.add()
    for x, y, w in [([1.0], first, 1), ([0.0], 1 - first, 1), ([1.0], 1 - first, 3)]:
        assert forest.votes(x)[0].tolist() == pytest.approx(naive.votes(x))
        forest.learn([0], x, y, w)
        naive.learn(x, y, w)
    for x in ([0.0], [1.0], [math.nan]):
        assert forest.votes(x)[0].tolist() == pytest.approx(naive.votes(x))


@pytest.mark.parametrize("size", [2.0**-700, 2.0**-400, 2.0**190])
@pytest.mark.parametrize("variance_floor", [0.0, 1e-4])
def test_very_small_and_very_large_values(size, variance_floor):
    data = sample(2, ["sparse", "sparse", "numeric"], 500)
    data = Sample(data.kinds, data.X * [size, size, 1], data.y, data.w)
    options = {"leaf_prediction": "naive_bayes", "grace_period": 100.5, "variance_floor": variance_floor}
    assert agree(data, 2, options)[0] > 20


def test_a_threshold_at_the_mean_of_values_too_small_to_have_a_variance():
    X = 2.0**-700 * np.tile([[1.0], [3.0], [3.0], [3.0]], (100, 1))
    data = Sample(["numeric"], X, np.tile([0, 0, 1, 1], 100), np.ones(400, np.int64))
    options = {"split_points": 1, "grace_period": 399.5, "tie_threshold": 1.0, "leaf_prediction": "majority"}
    n, splits = agree(data, 2, options)
    assert (n, splits["R"].value) == (400, 2.0**-699)
