"""The naive Hoeffding tree against the recorded traces and against numbers worked out by hand."""

import math

import numpy as np
import pytest

from tests.naive.hoeffding_tree import NaiveHoeffdingTree
from tests.naive.replay import TREE_TRACES, affected_rows, load_trace, replay_tree
from tests.trees.streams import RECORDED_TESTS, normalised


@pytest.mark.golden
@pytest.mark.parametrize("name", TREE_TRACES)
def test_tree_replays_trace(name):
    trace, replay = load_trace(name), replay_tree(name, True)
    np.testing.assert_allclose(replay.raw, trace["votes"], rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(replay.votes, normalised(trace["votes"]), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(replay.n_split, trace["n_split"])
    np.testing.assert_array_equal(replay.n_leaves, trace["n_active"])
    np.testing.assert_array_equal(replay.depth, trace["depth"])
    assert not trace["n_inactive"].any()


@pytest.mark.golden
@pytest.mark.parametrize("name", TREE_TRACES)
def test_tree_replays_split_events(name):
    trace, replay = load_trace(name), replay_tree(name, True)
    assert replay.split_steps == trace["split_t"].tolist()
    assert [event.path for event in replay.splits] == trace["split_path"].tolist()
    assert [event.feature for event in replay.splits] == trace["split_att"].tolist()
    assert [event.test for event in replay.splits] == [RECORDED_TESTS[test] for test in trace["split_test"]]
    np.testing.assert_allclose([event.value for event in replay.splits], trace["split_value"], rtol=1e-9)


@pytest.mark.golden
@pytest.mark.parametrize(
    ("name", "count", "first"),
    [
        ("HT_yeast_l1", 27, 2),
        ("HT_slashdot_nominal", 0, None),
        ("HT_blobs2d", 40, 3183),
        ("HT_mixed", 3, 1353),
        ("HT_rare_nominal", 6000 - 1869, 1869),
    ],
)
def test_imitation_shows_only_where_expected(name, count, first):
    affected = affected_rows(name)
    assert affected.sum() == count
    assert count == 0 or np.flatnonzero(affected)[0] == first


def trained(rows, **parameters):
    tree = NaiveHoeffdingTree(**parameters)
    for x, y, w in rows:
        tree.learn(x, y, w)
    return tree


def normal_density(x, mean, variance):
    return math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def test_untrained_tree_has_no_evidence():
    tree = trained([([1.0], 1, 0)], kinds=[0])
    assert tree.votes([1.0]) == [0.0, 0.0]
    assert (tree.n_split, tree.n_leaves, tree.depth) == (0, 0, 0)


@pytest.mark.parametrize("imitate", [True, False])
def test_naive_bayes_by_hand(imitate):
    # Class 0: weight 3, mean (2*1 + 1*4)/3 = 2, squares 2*1 + 1*4 = 6, variance 3; values 0, 0 | 1.
    # Class 1: weight 2, mean 6, squares 2, variance 2; only value 0, so P(0) = 3/3 and P(1) = 1/3.
    rows = [([1.0, 0], 0, 2), ([4.0, 1], 0, 1), ([5.0, 0], 1, 1), ([7.0, 0], 1, 1)]
    tree = trained(rows, kinds=[0, 2], leaf_prediction="naive_bayes", imitate_underflow=imitate)
    for x, value, nominal_0, nominal_1 in [(3.0, 0, 3 / 5, 3 / 3), (5.5, 1, 2 / 5, 1 / 3)]:
        a = 3 / 5 * normal_density(x, 2, 3) * nominal_0
        b = 2 / 5 * normal_density(x, 6, 2) * nominal_1
        assert tree.votes([x, value]) == pytest.approx([a / (a + b), b / (a + b)], rel=1e-12)


def test_class_far_away_is_only_impossible_in_products():
    rows = [([x], y, 1) for y, values in enumerate([(0.0, 1.0), (200.0, 201.0)]) for x in values]
    options = {"kinds": [0], "leaf_prediction": "naive_bayes", "variance_floor": 0.0}
    assert trained(rows, **options).votes([90.0]) == pytest.approx([1.0, 0.0])
    assert trained(rows, imitate_underflow=True, **options).votes([90.0]) == [0.0, 0.0]


def test_variance_floor_replaces_the_point_mass():
    rows = [([1.0], 0, 1), ([1.02], 1, 3)]
    exact = trained(rows, kinds=[0], leaf_prediction="naive_bayes", variance_floor=0.0)
    assert exact.votes([1.0]) == [1.0, 0.0]
    assert exact.votes([1.01]) == [0.0, 0.0]
    floored = trained(rows, kinds=[0], leaf_prediction="naive_bayes")
    assert floored.votes([1.01]) == pytest.approx([1 / 4, 3 / 4])
    odds = 3 * math.exp(-(0.02**2) / (2 * 1e-4))
    assert floored.votes([1.0]) == pytest.approx([1 / (1 + odds), odds / (1 + odds)])


def test_first_example_scores_naive_bayes_for_class_0_only():
    for y, score in [(0, 4.0), (1, 0.0)]:
        tree = trained([([0.0], y, 4)], kinds=[0])
        assert (tree.root.majority_correct, tree.root.naive_bayes_correct) == (0.0, score)


def test_leaf_with_class_0_only_gives_one_vote():
    tree = trained([([0], 0, 1)], kinds=[2])
    assert len(tree.raw_votes([0])) == 1
    assert tree.votes([1]) == [1.0, 0.0]


def test_missing_values_are_left_out():
    rows = [([x, math.nan], y, 1) for x, y in [(1.0, 0), (2.0, 0), (2.5, 1), (4.0, 1)]]
    tree = trained(rows, kinds=[0, 2], leaf_prediction="naive_bayes")
    alone = trained([(x[:1], y, w) for x, y, w in rows], kinds=[0], leaf_prediction="naive_bayes")
    assert tree.votes([2.2, 1]) == tree.votes([2.2, math.nan]) == alone.votes([2.2])
    assert tree.votes([math.nan, math.nan]) == [0.5, 0.5]
    tree.learn([2.0, 0], 0, 1)
    assert tree.votes([2.2, 0]) == [1.0, 0.0]


def multiway_tree(**parameters):
    """A tree that splits three ways on its only feature when it has seen a weight of 230."""
    rows = [([0], 0, 140), ([1], 1, 50), ([2], 1, 40), ([0], 0, 70)]
    return trained(rows, kinds=[4], **parameters)


def test_multiway_split_and_unseen_branch():
    tree = multiway_tree()
    # The test x == 0 is as good as the multiway test, which is therefore kept.
    assert [(event.path, event.feature, event.test) for event in tree.splits] == [("R", 0, "multiway")]
    assert (tree.n_split, tree.n_leaves, tree.depth) == (1, 3, 1)
    assert tree.votes([3]) == [140 / 230, 90 / 230]
    assert tree.votes([math.nan]) == tree.votes([0]) == [1.0, 0.0]
    tree.learn([3], 1, 2)
    assert tree.n_leaves == 4
    assert tree.root.children[3].counts == [0.0, 2.0]
    assert tree.votes([3]) == [0.0, 1.0]


def test_max_depth_stops_deep_leaves():
    rows = [([a, b], a & b, 20) for _ in range(200) for a in (0, 1) for b in (0, 1)]
    assert trained(rows, kinds=[2, 2]).depth == 2
    assert trained(rows, kinds=[2, 2], max_depth=1).depth == 1


def test_max_nodes_leaves_room_for_the_widest_split():
    assert multiway_tree(max_nodes=4).n_split == 0
    assert multiway_tree(max_nodes=5).n_split == 1


def test_missing_value_follows_the_heaviest_branch_of_a_numeric_split():
    tree = trained([([1.0], 0, 100), ([2.0], 0, 20), ([8.0], 1, 30), ([9.0], 1, 60)], kinds=[0])
    (event,) = tree.splits
    # Candidates are 1 + 8 (i + 1) / 11; from the second on they part the classes, and the first best wins.
    assert event.test == "numeric"
    assert event.value == pytest.approx(1 + 8 * 2 / 11)
    assert tree.votes([math.nan]) == tree.votes([1.5]) == [1.0, 0.0]
    assert [child.counts for child in tree.root.children.values()] == [[120.0], [0.0, 90.0]]


def test_all_merits_minus_infinity_refuses_unless_imitated():
    rows = [([0, 0], t % 2, 20) for t in range(200)]
    assert trained(rows, kinds=[2, 2]).n_split == 0
    imitating = trained(rows, kinds=[2, 2], split_on_all_minus_infinity=True)
    assert imitating.splits[0][:3] == ("R", 1, "multiway")
    assert imitating.n_leaves == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_equal_merits_go_to_the_last_feature(n_classes):
    rows = [([t % n_classes] * 3, t % n_classes, 20) for t in range(500)]
    tree = trained(rows, kinds=[n_classes] * 3, n_classes=n_classes)
    # Identical features never differ by the bound: the first split waits for the tie threshold.
    assert tree.splits[0][:3] == ("R", 2, "multiway")
    weight_at_tie = math.log2(n_classes) ** 2 * math.log(1e7) / (2 * 0.05**2)
    assert sum(tree.root.counts) == 200 * math.ceil(weight_at_tie / 200)


def test_binary_test_wins_where_only_one_value_is_frequent():
    # Ten values of 0.5% each: the multiway test has a single branch above 1%, the test x == 0 has two.
    tree = trained([([value], 1, 1) for value in range(1, 11)] + [([0], 0, 190)], kinds=[11])
    assert tree.splits == [("R", 0, "equals", 0.0)]
    # Class 1 was counted 0 times with value 0, below its highest value, and so has an entry of 0 there.
    assert [child.counts for child in tree.root.children.values()] == [[190.0, 0.0], [0.0, 10.0]]
    assert tree.votes([0]) == [1.0, 0.0]
    assert tree.votes([7]) == [0.0, 1.0]
