"""What a forest promises beyond the trees in it: the same bits however it is fed, and memory that is used again."""

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from marlene.trees import HoeffdingForest
from marlene.trees._storage import LEAF_ARRAYS, NODE_ARRAYS, grown, lengthened
from tests.trees.streams import KINDS, sample, splits_of

OPTIONS = {"grace_period": 50, "delta": 0.05, "tie_threshold": 0.2}


def new_forest(data, n_trees=1, n_classes=3, **options):
    forest = HoeffdingForest(data.kinds, n_classes=n_classes, **(OPTIONS | options))
    forest.add(n_trees)
    return forest


@pytest.fixture(scope="module", params=[0.0, 0.05], ids=["complete", "missing values"])
def data(request):
    return sample(1, KINDS * 2, 1200, 3, missing=request.param)


@pytest.fixture(scope="module")
def trained(data):
    """Return a forest of one tree that learnt the whole stream as one dense block, and its votes."""
    forest = new_forest(data)
    votes = forest.test_then_train([0], data.X, data.y, data.w)
    assert forest.n_leaves(0) > 5
    return forest, votes


def shuffled(X, rng):
    """Return a matrix as CSR with explicit zeros, unsorted columns and entries that stand there in two parts."""
    indices, values, starts = [], [], [0]
    for row in X:
        columns = np.concatenate([np.flatnonzero(row), rng.choice(np.flatnonzero(row == 0), 3)])
        doubled = np.concatenate([columns, columns[:2]])
        parts = np.concatenate([row[columns], row[columns[:2]]])
        parts[:2] -= 0.5 * row[columns[:2]]
        parts[len(columns) :] *= 0.5
        order = rng.permutation(len(doubled))
        indices.append(doubled[order])
        values.append(parts[order])
        starts.append(starts[-1] + len(order))
    return sparse.csr_array((np.concatenate(values), np.concatenate(indices), starts), shape=X.shape)


@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
        np.asfortranarray,
        lambda X: shuffled(X, np.random.default_rng(2)),
    ],
)
def test_sparse_and_dense_give_the_same_bits(data, trained, convert):
    forest = new_forest(data)
    X = convert(data.X)
    kept = X.copy()
    votes = forest.test_then_train([0], X, data.y, data.w)
    assert (votes == trained[1]).all()
    assert forest == trained[0]
    assert (forest.votes_many(X) == trained[0].votes_many(data.X)).all()
    if sparse.issparse(X):
        assert X.nnz == kept.nnz
        assert np.array_equal(X.data, kept.data, equal_nan=True)


@settings(max_examples=15)
@given(cuts=st.lists(st.integers(0, 1200), max_size=20))
def test_any_blocks_give_the_same_bits(cuts):
    data = sample(1, KINDS * 2, 1200, 3)
    whole, parts = new_forest(data), new_forest(data)
    expected = whole.test_then_train([0], data.X, data.y, data.w)
    limits = [0, *sorted(cuts), 1200]
    for a, b in pairwise(limits):
        votes = parts.test_then_train([0], data.X[a:b], data.y[a:b], data.w[a:b])
        assert (votes == expected[a:b]).all()
    assert whole == parts


def test_votes_and_learn_give_what_test_then_train_gives(data, trained):
    forest = new_forest(data)
    for t in range(300):
        x = data.X[t] if t % 3 else sparse.csr_array(data.X[t : t + 1])
        assert (forest.votes(x) == trained[1][t]).all()
        forest.learn([0], x, data.y[t], data.w[t])
    forest.learn_many([0], data.X[300:], data.y[300:], data.w[300:])
    assert forest == trained[0]


def test_a_tree_in_a_forest_of_a_hundred_gives_what_it_gives_alone(data):
    rng = np.random.default_rng(4)
    y = (data.y[:, None] + rng.integers(0, 3, (1200, 100)) * (rng.random((1200, 100)) < 0.3)) % 3
    w = rng.integers(0, 6, (1200, 100))
    forest = new_forest(data, 100)
    votes = forest.test_then_train(np.arange(100), data.X, y, w)
    for tree in (0, 41, 99):
        alone = new_forest(data)
        assert (alone.test_then_train([0], data.X, y[:, tree], w[:, tree])[:, 0] == votes[:, tree]).all()
        assert alone.rules(0) == forest.rules(tree)
        forest_splits, own = splits_of(forest, tree), splits_of(alone)
        assert repr(forest_splits) == repr(own)


def test_a_tree_does_not_notice_others_coming_and_going(data, trained):
    rng = np.random.default_rng(5)
    forest = new_forest(data)
    others = []
    for t in range(0, 1200, 40):
        rows = slice(t, t + 40)
        others += forest.add(3).tolist()
        ids = [*others, 0]
        y = np.column_stack([*(rng.integers(0, 3, 40) for _ in others), data.y[rows]])
        w = np.column_stack([*(rng.integers(0, 60, 40) for _ in others), data.w[rows]])
        votes = forest.test_then_train(ids, data.X[rows], y, w)
        assert (votes[:, -1] == trained[1][rows, 0]).all()
        gone = rng.choice(others, min(len(others), 2), replace=False).tolist()
        forest.remove(gone)
        others = [tree for tree in others if tree not in gone]
    forest.remove(others)
    assert forest == trained[0]


def test_memory_is_used_again():
    sizes = []
    for seed in range(40):
        data = sample(seed % 4, KINDS, 600, 3, missing=0.02)
        if not sizes:
            forest = new_forest(data, 0)
        ids = forest.add(5)
        assert ids.tolist() == [0, 1, 2, 3, 4]
        forest.learn_many(ids, data.X, data.y, data.w)
        forest.remove(ids)
        arrays = forest.arrays
        tops = (arrays.node_top, arrays.leaf_top, arrays.presence.top, arrays.numeric.top)
        sizes.append((forest.nbytes, *(int(top[0]) for top in tops)))
    assert len(forest) == 0
    assert sizes[-1] == sizes[8]
    assert forest == forest.clone()


def test_room_made_beforehand_changes_nothing(data, trained):
    forest = new_forest(data)
    arrays = grown(forest.arrays, 1, 1 << 14, 1 << 14)
    names = (*NODE_ARRAYS, *LEAF_ARRAYS)
    forest.arrays = arrays._replace(**{name: lengthened(getattr(arrays, name), 5000) for name in names})
    before = forest.nbytes
    assert (forest.test_then_train([0], data.X, data.y, data.w) == trained[1]).all()
    assert forest.nbytes == before > trained[0].nbytes
    assert forest == trained[0]


def test_equality_looks_at_what_was_learnt_not_at_how_memory_was_used(data):
    noise = np.random.default_rng(6).integers(0, 3, (1200, 5))
    first, second = new_forest(data, 5), new_forest(data, 5)
    first.learn_many([1, 3], data.X, noise[:, :2])
    first.learn_many([4, 0, 2], data.X[:700], noise[:700, 2:])
    first.remove([1, 3])
    first.learn_many([4, 0, 2], data.X[700:], noise[700:, 2:])
    second.remove([3, 1])
    for tree, column in ((0, 3), (2, 4), (4, 2)):
        second.learn_many([tree], data.X, noise[:, column])
    assert first == second
    second.learn([2], data.X[0], 0)
    assert first != second
    assert first != new_forest(data, 5)
    assert new_forest(data, 1) != new_forest(data, 2)
    assert new_forest(data) != new_forest(data, max_depth=3)
    assert first != "a forest"


def test_weight_0_changes_nothing_at_all(data, trained):
    forest = new_forest(data, 3)
    forest.learn_many([0], data.X, data.y, data.w)
    before, size = forest.state(), forest.nbytes
    votes = forest.test_then_train([1, 0], data.X, data.y, 0)
    assert (votes[:, 1:] == forest.votes_many(data.X, [0])).all()
    assert not votes[:, 0].any()
    after = forest.state()
    assert all(np.array_equal(before[name], after[name], equal_nan=True) for name in before)
    assert (forest.nbytes, forest.n_nodes(1)) == (size, 0)
    forest.remove([1, 2])
    assert forest == trained[0]


def test_votes_change_nothing(trained, data):
    forest = trained[0]
    before = [array.copy() for array in forest.arrays if isinstance(array, np.ndarray)]
    tables = [part.copy() for table in (forest.arrays.presence, forest.arrays.numeric) for part in table]
    forest.votes_many(data.X)
    now = [array for array in forest.arrays if isinstance(array, np.ndarray)]
    parts = [part for table in (forest.arrays.presence, forest.arrays.numeric) for part in table]
    pairs = [*zip(before, now, strict=True), *zip(tables, parts, strict=True)]
    assert all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


def test_two_threads_give_what_one_gives(data, trained):
    def train(_):
        forest = new_forest(data)
        return forest, forest.test_then_train([0], data.X, data.y, data.w)

    with ThreadPoolExecutor(2) as pool:
        for forest, votes in pool.map(train, range(8)):
            assert (votes == trained[1]).all()
            assert forest == trained[0]


@pytest.mark.parametrize("floor", [0.0, 1e-4])
def test_features_added_later_were_zero_before(data, floor):
    # Zeros are not stored and do not count, but where values are missing all features are added up one by one.
    late = [0, 3, 5, 9]
    early = [column for column in range(len(data.kinds)) if column not in late]
    X = data.X[:, early + late]
    X[:600, len(early) :] = 0
    kinds = [data.kinds[column] for column in early + late]
    options = OPTIONS | {"n_classes": 3, "variance_floor": floor}
    had, got = HoeffdingForest(kinds, **options), HoeffdingForest(kinds[: len(early)], **options)
    for forest in (had, got):
        forest.add()
    first = [
        forest.test_then_train([0], X[:600, : len(forest.kinds)], data.y[:600], data.w[:600]) for forest in (had, got)
    ]
    got.add_features(kinds[len(early) :])
    assert got == had
    now = [forest.votes_many(X[600:]) for forest in (had, got)]
    then = [forest.test_then_train([0], X[600:], data.y[600:], data.w[600:]) for forest in (had, got)]
    assert got == had
    assert set(got.feature_use(0)) & set(range(len(early), len(kinds)))
    np.testing.assert_allclose(*first, rtol=0, atol=1e-12 if np.isnan(X).any() else 0)
    for votes in (now, then):
        assert (votes[0] == votes[1]).all()


def test_features_can_be_added_to_a_forest_without_any():
    forest = HoeffdingForest([], **OPTIONS)
    forest.add()
    forest.learn_many([0], np.zeros((100, 0)), np.arange(100) % 4 == 0)
    assert forest.votes(np.zeros(0))[0] == pytest.approx([0.75, 0.25])
    assert forest.rules(0) == "always: class 0 of weight 100.0 (75 %)"
    forest.add_features(["binary", "numeric"])
    assert forest.votes([0, 0])[0] == pytest.approx([0.75, 0.25])
    y = np.arange(400) % 2
    forest.learn_many([0], np.column_stack([y, 2.0 * y]), y)
    assert forest.n_leaves(0) >= 2


def test_nothing_to_learn_and_nothing_to_vote_on(data):
    forest = new_forest(data, 2)
    for empty in (data.X[:0], sparse.csr_array(data.X[:0])):
        assert forest.test_then_train([0, 1], empty, data.y[:0], data.w[:0]).shape == (0, 2, 3)
        assert forest.votes_many(empty).shape == (0, 2, 3)
    assert forest.votes_many(data.X[:4], []).shape == (4, 0, 3)
    assert forest.test_then_train([], data.X[:4], data.y[:4]).shape == (4, 0, 3)
    assert not forest.votes(np.zeros(len(data.kinds))).any()
    assert forest == new_forest(data, 2)
    assert forest.add(0).tolist() == []


def test_three_hundred_classes():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 300, 6000)
    X = np.column_stack([y % 5, y // 5 % 3, rng.normal(y / 100.0, 0.1), y % 2])
    forest = HoeffdingForest([5, 3, "numeric", "binary"], n_classes=300, grace_period=1000, tie_threshold=1.0)
    forest.add(2)
    forest.learn_many([1], X, y)
    votes = forest.votes_many(X[:500])
    assert forest.n_leaves(1) > 5
    assert not votes[:, 0].any()
    assert votes[:, 1].sum(axis=1) == pytest.approx(1.0)
    assert (votes[:, 1].argmax(axis=1) == y[:500]).mean() > 0.3


def known_tree():
    """A multiway split on x1, then a numeric split on x0 where x1 is 1."""
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.uniform(-1, 1, 3000), rng.integers(0, 3, 3000)])
    y = np.where(X[:, 1] == 0, 0, np.where(X[:, 1] == 1, X[:, 0] > 0, 1))
    forest = HoeffdingForest(["numeric", 4], max_depth=2)
    forest.add(2)
    forest.learn_many([1], X, y)
    return forest


def test_rules_and_sizes_of_a_known_tree():
    forest = known_tree()
    lines = forest.rules(1, names=["height", "colour"]).splitlines()
    assert lines[0].startswith("colour = 0: class 0 of weight ")
    assert lines[1].startswith("colour = 1 and height <= -0.09")
    assert lines[2].startswith("colour = 1 and height > -0.09")
    assert lines[3].startswith("colour = 2: class 1 of weight ")
    assert all(line.endswith("(100 %)") for line in (lines[0], lines[3]))
    assert forest.rules(1).splitlines()[0] == lines[0].replace("colour", "x1")
    assert (len(lines), forest.n_leaves(1), forest.n_nodes(1), forest.depth(1)) == (4, 4, 6, 2)
    assert forest.feature_use(1) == {1: 1, 0: 1}
    assert forest.rules(0) == "not trained yet"
    assert (forest.n_leaves(0), forest.n_nodes(0), forest.depth(0), forest.feature_use(0)) == (0, 0, 0, {})
    assert repr(forest) == "<HoeffdingForest of 2 trees over 2 features>"


def test_an_equality_test_in_words():
    # Ten values of half a per cent each: the multiway test has one branch above 1 %, the test for zero has two.
    forest = HoeffdingForest([11])
    forest.add()
    forest.learn_many([0], np.arange(1.0, 11)[:, None], 1)
    forest.learn([0], [0], 0, 190)
    assert forest.rules(0) == "x0 = 0: class 0 of weight 190.0 (100 %)\nx0 ≠ 0: class 1 of weight 10.0 (100 %)"


def test_an_unseen_branch_votes_as_its_split_and_grows_when_trained():
    forest = HoeffdingForest([9])
    forest.add()
    for value, y, weight in [(0, 0, 140), (1, 1, 50), (2, 1, 40), (0, 0, 70)]:
        forest.learn([0], [value], y, weight)
    assert splits_of(forest)["R"].test == "multiway"
    assert (forest.n_nodes(0), forest.n_leaves(0)) == (4, 3)
    for unseen in (3, 8):
        assert forest.votes([unseen])[0].tolist() == [140 / 230, 90 / 230]
    assert forest.votes([math.nan])[0].tolist() == forest.votes([0])[0].tolist() == [1.0, 0.0]
    forest.learn([0], [7], 1, 2)  # the block of children grows from 4 to 8
    forest.learn([0], [3], 0, 5)
    assert (forest.n_nodes(0), forest.n_leaves(0), forest.depth(0)) == (6, 5, 1)
    assert forest.votes([7])[0].tolist() == [0.0, 1.0]
    assert forest.votes([3])[0].tolist() == [1.0, 0.0]
    for unseen in (4, 8):
        assert forest.votes([unseen])[0].tolist() == [140 / 230, 90 / 230]
    assert forest.rules(0).splitlines()[3] == "x0 = 3: class 0 of weight 5.0 (100 %)"
    assert HoeffdingForest.from_state(forest.state(), forest.settings()) == forest
    forest.remove([0])
    assert forest == forest.clone()


@pytest.mark.parametrize("floor", [0.0, 1e-4])
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-160, 1e-20, 1e20, 1e58])
def test_votes_are_numbers_however_large_or_small_the_values(size, floor):
    rng = np.random.default_rng(9)
    X = [size, size, size, 1] * rng.normal(size=(400, 4)) * (rng.random((400, 4)) < [0.6, 0.2, 0.02, 1])
    forest = HoeffdingForest(["numeric"] * 4, variance_floor=floor, leaf_prediction="naive_bayes", **OPTIONS)
    forest.add()
    votes = forest.test_then_train([0], X, rng.integers(0, 2, 400), rng.integers(0, 6, 400))
    assert np.isfinite(votes).all()
    sums = votes.sum(axis=2)
    assert ((np.abs(sums - 1) < 1e-12) | (sums == 0)).all()


@pytest.mark.parametrize("size", [2.0**-700, 2.0**-530])
@pytest.mark.parametrize("y", [0, 1])
def test_a_value_too_small_for_a_square_belongs_to_the_class_that_had_it(size, y):
    forest = HoeffdingForest(["numeric", "numeric"], variance_floor=0, leaf_prediction="naive_bayes")
    forest.add()
    forest.learn_many([0], [[size, 1], [3 * size, 2], [0, 1], [0, 3]], [y, y, 1 - y, 1 - y])
    assert forest.votes([2 * size, 1.5])[0].tolist() == [1 - y, y]
    assert forest.votes([0, 1.5])[0].tolist() == [y, 1 - y]


def test_kernels_can_be_loaded_beforehand(data):
    forest = new_forest(data, 2)
    forest.load_kernels()
    assert forest == new_forest(data, 2)
