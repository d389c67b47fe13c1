"""Transformations and ensembles in cases that can be worked out by hand, and what they refuse."""

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.kernels.multi_target.state import INPUT
from marlene.learners import (
    GOOWE,
    ADWINBagging,
    BinaryRelevanceTrees,
    ClassifierChain,
    MultiTargetTree,
    OnlineBagging,
    PrunedSets,
    create,
)
from marlene.learners.baselines._chain import chain_order
from marlene.learners.baselines._committee_learner import as_probabilities, normalised
from marlene.learners.baselines._goowe import least_squares_weights
from marlene.learners.baselines._pruned_sets import decomposed, kept_sets
from marlene.streams import Feature, Stream
from marlene.trees import HoeffdingForest
from tests.learners.streams import contents, drifting

A, B, C, AB, ABC, NONE = (frozenset(labels) for labels in ("a", "b", "c", "ab", "abc", ""))


@pytest.mark.parametrize(
    ("counts", "most", "kept"),
    [
        ({A: 2, B: 1}, 10, [A]),
        ({A: 2, B: 3, AB: 2, NONE: 9}, 10, [NONE, B, A, AB]),
        ({A: 2, B: 3, AB: 2, NONE: 9}, 3, [NONE, B]),  # both of the sets seen twice go
        ({A: 1, B: 1, AB: 1}, 10, [A, B, AB]),  # all would go
        ({A: 2, B: 2, AB: 2}, 2, [A, B]),
    ],
)
def test_which_label_sets_are_kept(counts, most, kept):
    assert kept_sets(counts, most) == kept


@pytest.mark.parametrize(
    ("labels", "kept", "parts", "expected"),
    [
        (AB, [A, AB], None, [1]),
        (ABC, [A, NONE, AB, C], None, [2, 0, 3]),
        (ABC, [A, NONE, AB, C], 1, [2]),
        (ABC, [A, NONE, AB, C], 0, []),
        (AB, [A, AB], 0, [1]),
        (B, [A, NONE], None, []),
        (NONE, [A, NONE], None, [1]),
        (NONE, [A], None, []),
    ],
)
def test_what_an_example_is_learnt_as(labels, kept, parts, expected):
    assert decomposed(labels, kept, parts) == expected


def test_pruned_sets_predict_the_most_frequent_set_and_then_learn_what_they_kept():
    model = OnlineBagging(PrunedSets(buffer=40, parts=0), members=2, rate=30.0)  # no member misses an example
    X = np.tile([[0.0], [1.0], [1.0]], (13, 1))
    Y = np.tile([[1, 0], [0, 1], [0, 1]], (13, 1))
    model.learn_many(X, Y)
    assert model.predict_proba_many([[0.0]]).tolist() == [[0.0, 1.0]]  # 39 kept examples, two of three are of label 1
    assert not any(member.sets for member in model._committee.members)
    model.learn_many([[0.0]], [[1, 0]])
    assert [member.sets for member in model._committee.members] == [[frozenset({1}), frozenset({0})]] * 2
    assert model.predict_many([[0.0], [1.0]]).tolist() == [[1, 0], [0, 1]]


def test_a_chain_is_in_an_order_of_its_own_and_later_labels_are_its_end():
    model = OnlineBagging(ClassifierChain(), members=10)
    X, Y = drifting(30, 6)
    model.learn_many(X, Y)
    orders = model._committee.order.tolist()
    assert all(sorted(order) == list(range(6)) for order in orders)
    assert len({tuple(order) for order in orders}) == 10
    model.learn_one({0: 1.0}, {"late": True})
    assert model._committee.order.tolist() == [[*order, 6] for order in orders]
    assert chain_order(np.uint64(1), 3, 4).tolist() == [3 + i for i in np.argsort(_hashes(1, range(3, 7)))]


def _hashes(key, labels):
    """SplitMix64's finaliser, twice, in plain integers."""
    result = []
    for label in labels:
        z = 0
        for part in (key, label):
            z = (z + (part + 1) * 0x9E3779B97F4A7C15) % 2**64
            z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % 2**64
            z ^= z >> 31
        result.append(z)
    return result


def test_a_link_learns_with_true_and_votes_with_predicted_labels():
    """Label 1 equals label 0 and nothing else tells it; label 0 follows from x, but for the last examples."""
    rng = np.random.default_rng(0)
    model = OnlineBagging(ClassifierChain(), members=1, rate=30.0)
    model._keys[0] = next(k for k in range(99) if chain_order(np.uint64(k), 0, 2)[0] == 0)
    first = rng.integers(0, 2, 300)
    model.learn_many(first[:, None], np.column_stack([first, first]))
    assert model._committee.order.tolist() == [[0, 1]]
    assert model.predict_many([[0], [1]]).tolist() == [[0, 0], [1, 1]]
    # The tree of the second link prefers the label, whose column comes after that of x: ties go to the last.
    assert model._committee.classifiers.forest.feature_use(int(model._committee.ids[0, 1])) == {1: 1}


def test_least_squares_by_hand():
    # Member 0 gives label 0 all, member 1 shares. Truth: label 0, label 0, label 1.
    scores = np.array([[[1.0, 0.0], [0.5, 0.5]]] * 3)
    truth = np.array([[1, 0], [1, 0], [0, 1]])
    # A = [[3, 1.5], [1.5, 1.5]], d = [2, 1.5], so w = [1/3, 2/3]; rescaled [0, 1].
    assert least_squares_weights(scores, truth) == pytest.approx([0.0, 1.0])
    three = np.concatenate([scores, [[[0.0, 1.0]]] * 3], axis=1)
    # The third is 2 × the second less the first: the shortest of all solutions is taken.
    weights = np.linalg.pinv(np.einsum("nal,nbl->ab", three, three)) @ [2.0, 1.5, 1.0]
    expected = (weights - weights.min()) / (weights.max() - weights.min())
    assert least_squares_weights(three, truth) == pytest.approx(expected)
    unknown = np.array([[1, 0], [1, 0], [-1, -1]])
    assert least_squares_weights(scores, unknown) == pytest.approx([1.0, 0.0])
    assert least_squares_weights(scores[:, :1], truth).tolist() == [1.0]
    assert least_squares_weights(np.full((3, 2, 2), 0.5), truth).tolist() == [1.0, 1.0]


def test_shares_and_their_threshold():
    scores = np.array([[0.1, 0.1, 0.6, 0.4], [0.3, 0.3, 0.3, 0.3]])
    assert normalised(scores) == pytest.approx(np.array([[0, 0, 0.625, 0.375], [0.25] * 4]))
    third = 1 / 3
    barely = np.array([[np.nextafter(third, 0), third, np.nextafter(third, 1)]])
    assert (as_probabilities(barely) > 0.5).tolist() == [[False, False, True]]
    assert as_probabilities(np.array([[0.0, 0.25, 0.75, 1.0]])) == pytest.approx(np.array([[0, 0.5, 0.5 + 1 / 3, 1]]))
    assert as_probabilities(normalised(np.array([[0.7]]))).tolist() == [[0.7]]


@pytest.mark.parametrize("method", ["gobr", "gocc", "gops", "gort"])
def test_nothing_is_predicted_before_the_first_chunk_is_full(method):
    X, Y = drifting(400, 4)
    result = prequential(create(method), Stream.from_arrays(X, Y))
    assert (result.proba[:20] == 0.5).all()  # a chunk is a twentieth of the stream
    assert (result.proba[20:] != 0.5).any(axis=1).all()
    assert result.pred[20:].any()
    alone = create(method)
    assert (alone.test_then_train(X[:250], Y[:250]) == 0.5).all()
    assert alone.counts()["models"] > 0
    assert (alone.predict_proba_many(X) != 0.5).any()


def test_a_chunk_that_was_chosen_is_kept():
    X, Y = drifting(400, 4)
    result = prequential(GOOWE(BinaryRelevanceTrees(), chunk=100), Stream.from_arrays(X, Y))
    assert (result.proba[:100] == 0.5).all()
    assert (result.proba[100] != 0.5).any()


def test_goowe_with_one_label_only():
    X, Y = drifting(300, 1)
    model = GOOWE(BinaryRelevanceTrees(), chunk=50)
    model.learn_many(X[:100], Y[:100])
    assert (model.predict_many(X[:100]) == Y[:100]).mean() > 0.6
    assert len(np.unique(model.predict_many(X))) == 2


class Scripted:
    """A committee whose members are right or wrong as a script says; it notes which are renewed."""

    def __init__(self, right):
        self.right, self.size, self.n_labels = right, right.shape[1], 1
        self.renewed, self.t = [], 0

    def run(self, _rows, truth, _weights, scores):
        scores[0, :, 0] = np.where(self.right[self.t] == truth[0, 0], 1.0, 0.0)
        self.t += 1

    def renew(self, member, _key):
        self.renewed.append((self.t, member))


@pytest.mark.filterwarnings("ignore:label 'y'. 100 examples or more say true")
def test_the_worst_member_is_replaced_when_any_gets_worse():
    rng = np.random.default_rng(0)
    right = rng.random((600, 3)) < [0.95, 0.1, 0.9]
    right[300:, 2] = rng.random(300) < 0.3  # gets worse, but member 1 is worse still
    model = ADWINBagging(BinaryRelevanceTrees(), members=3)
    model.declare([], ["y"])
    model._committee = Scripted(right)
    for _ in range(600):
        model.learn_one({}, {"y": True})
    times, members = zip(*model._committee.renewed, strict=True)
    assert members[0] == 1
    assert 300 < times[0] < 400
    assert model._made == 3 + len(members)
    steady = ADWINBagging(BinaryRelevanceTrees(), members=3)
    steady.declare([], ["y"])
    steady._committee = Scripted(right[:300])
    for _ in range(300):
        steady.learn_one({}, {"y": True})
    assert steady._committee.renewed == []


def test_the_share_threshold_predicts_labels_that_stand_out():
    X, Y = drifting(300, 4)
    half, share = (OnlineBagging(MultiTargetTree(), members=3, threshold=t) for t in ("half", "share"))
    for model in (half, share):
        model.learn_many(X, Y)
    scores = half.predict_proba_many(X)
    shifted = scores - scores.min(axis=1, keepdims=True)
    assert np.array_equal(share.predict_many(X), shifted / shifted.sum(axis=1, keepdims=True) > 0.25)
    assert not np.array_equal(share.predict_many(X), half.predict_many(X))


def test_leveraging_bagging_is_a_rate_away():
    X, Y = drifting(200)
    model = ADWINBagging(ClassifierChain(), members=3, rate=6.0)
    model.learn_many(X, Y)
    trees = model._committee.classifiers.forest
    weight = trees.state()["leaf_class"][:, :, 0].sum() + trees.state()["node_count"].sum()
    assert weight > 200 * 3 * 3 * 5


def test_forests_with_other_settings():
    X, Y = drifting(300)
    stump = HoeffdingForest([], max_depth=1, grace_period=20, tie_threshold=9)
    for transformation in (BinaryRelevanceTrees(stump), ClassifierChain(stump), PrunedSets(buffer=20, base=stump)):
        model = OnlineBagging(transformation, members=2)
        model.learn_many(X, Y)
        forest = model._committee.classifiers.forest
        assert max(forest.depth(tree) for tree in forest.ids) == 1
        assert contents(type(model).from_state(*model.state())) == contents(model)
        assert transformation.clone() == transformation
        assert transformation != type(transformation)()
        assert "trees over" in repr(transformation)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: OnlineBagging("chain"), "transformation must be one of BinaryRelevanceTrees, ClassifierChain"),
        (lambda: OnlineBagging(PrunedSets(), members=0), "members must be a whole number from 1 to 10000, not 0"),
        (lambda: OnlineBagging(PrunedSets(), rate=0), "rate must be a number above 0 and at most 1000, not 0"),
        (lambda: OnlineBagging(PrunedSets(), threshold="max"), "threshold must be one of half, share, not 'max'"),
        (lambda: OnlineBagging(PrunedSets(), features="text"), "features must be one of auto, numeric, binary"),
        (lambda: ADWINBagging(PrunedSets(), seed=None), "seed must be a whole number, not None"),
        (lambda: ADWINBagging(PrunedSets(), delta=1), "delta must be a number between 0 and 1, not 1"),
        (lambda: GOOWE(PrunedSets(), chunk=0), "chunk must be a whole number of at least 1, not 0"),
        (lambda: PrunedSets(buffer=0), "buffer must be a whole number of at least 1, not 0"),
        (lambda: PrunedSets(most=1), "most must be a whole number of at least 2, not 1"),
        (lambda: PrunedSets(parts=-1), "parts must be a whole number of at least 0, not -1"),
        (lambda: BinaryRelevanceTrees(HoeffdingForest(["numeric"])), "base must be a forest without features"),
        (lambda: ClassifierChain(3), "base must be one of hoeffding-forest, inheriting-forest, naive"),
        (lambda: MultiTargetTree(delta=1), "delta must be a number between 0 and 1, not 1"),
        (lambda: MultiTargetTree(split_points=1.5), "split_points must be a whole number from 1 to 1000, not 1.5"),
        (lambda: create("ebr", drift="none"), "method ebr has no option 'drift'"),
    ],
)
def test_parameters_that_are_refused(build, said):
    with pytest.raises(MarleneError, match=said):
        build()


def test_nominal_features_of_a_multi_target_tree():
    model = OnlineBagging(MultiTargetTree(grace_period=50), members=2)
    colours = ["red", "green", "blue"]
    for i in range(400):
        colour = colours[i % 3] if i < 300 else "black"
        model.learn_one({"colour": colour, "size": i % 7}, {"green": colour == "green", "other": colour != "green"})
    for colour in (*colours, "black"):
        expected = {"green": colour == "green", "other": colour != "green"}
        assert model.predict_one({"colour": colour, "size": 3}) == expected
    assert {tree.node[0, INPUT] for tree in model._committee.trees} == {model._committee.inputs.of[0, 2]}


def test_features_that_come_one_by_one_are_the_same_as_those_declared():
    late, early = (OnlineBagging(MultiTargetTree(grace_period=30, delta=0.3), members=2) for _ in range(2))
    rng = np.random.default_rng(0)
    rows = [{f"word {w}": bool(w % 2) or 1.5 for w in rng.integers(0, 2 + i // 3, 3)} for i in range(150)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    early.declare([Feature(n, "binary" if int(n[5:]) % 2 else "numeric") for n in names], [0, 1])
    for row in rows:
        y = {0: "word 0" in row, 1: len(row) > 2}
        assert late.predict_one(row) == (early.predict_one(row) if late._names else {})
        late.learn_one(row, y)
        early.learn_one(row, y)
    assert late._committee.spare > 0
    assert [tree.top.tolist() for tree in late._committee.trees] == [t.top.tolist() for t in early._committee.trees]
    again = type(late).from_state(*late.state())
    assert contents(again) == contents(late)
    for row in rows:
        for model in (late, again):
            model.learn_one({**row, "later": 2.5}, {0: True})
    assert contents(again) == contents(late)


def test_a_multi_target_tree_shows_what_differs():
    assert repr(MultiTargetTree()) == "MultiTargetTree()"
    assert repr(MultiTargetTree(delta=0.1, decay=0)) == "MultiTargetTree(delta=0.1, decay=0)"
    assert MultiTargetTree(decay=0).clone() == MultiTargetTree(decay=0)
