"""Transformations over base classifiers of every sort."""

import numpy as np
import pytest
from river import naive_bayes

from marlene._common.errors import MarleneError
from marlene.banks import LinearBank, MixedBank, NaiveBayesBank
from marlene.kernels.rows import Rows
from marlene.learners import (
    GOOWE,
    ADWINBagging,
    BinaryRelevanceTrees,
    BRMarlene,
    BRPWMarlene,
    ClassifierChain,
    Marlene,
    OnlineBagging,
    PrunedSets,
)
from marlene.learners.baselines._chain import ChainCommittee
from marlene.learners.baselines._pruned_sets import SetsCommittee
from marlene.learners.baselines._relevance import RelevanceCommittee
from marlene.learners.classifiers._classifiers import BankClassifiers, ForestClassifiers
from marlene.trees import HoeffdingForest
from tests.learners.streams import contents, drifting

TRANSFORMATIONS = {
    "relevance": BinaryRelevanceTrees,
    "chain": ClassifierChain,
    "sets": lambda base: PrunedSets(buffer=30, base=base),
}
SAVED = {
    "naive-bayes": "naive-bayes",
    "linear": "linear",
    "default mixed": "mixed",
    "smoothed": NaiveBayesBank(smoothing=2.0, weighted=True),
    "inheriting": "inheriting-forest",
    "mixed": MixedBank(LinearBank(), "naive-bayes"),
}
every_transformation = pytest.mark.parametrize("transformation", TRANSFORMATIONS.values(), ids=TRANSFORMATIONS)
every_saved_base = pytest.mark.parametrize("base", SAVED.values(), ids=SAVED)


def easy(n=240, seed=0):
    """Return rows and three labels that follow from one column each, a missing value and unknown labels among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = (X[:, :3] > 0.2).astype(np.int8)
    X[rng.random(X.shape) < 0.02] = np.nan
    Y[n // 2 :: 7, 1] = -1
    return X, Y


@every_transformation
@every_saved_base
def test_every_bank_learns_and_is_saved_to_the_bit(transformation, base):
    X, Y = easy()
    made = transformation(base)
    assert made.clone() == made != transformation("hoeffding-forest")
    model = OnlineBagging(made, members=3, seed=1)
    model.learn_many(X[:160], Y[:160])
    again = OnlineBagging.from_state(*model.state())
    assert contents(again) == contents(model)
    assert again.transformation == model.transformation
    for one in (model, again):
        one.learn_many(X[160:], Y[160:])
    assert contents(again) == contents(model)
    known = Y >= 0
    assert (model.predict_many(X) == Y)[known].mean() > 0.75
    for i in range(40):
        model.learn_one({0: 1.0, "late": i % 2}, {0: True, "new": i % 2 == 1})
    assert model.counts()["models"] == (3 if isinstance(made, PrunedSets) else 12)
    if not isinstance(made, PrunedSets):  # which learns nothing of an example some labels of which are not known
        assert [model.predict_one({0: 1.0, "late": late})["new"] for late in (0, 1)] == [False, True]


@every_transformation
@pytest.mark.parametrize("ensemble", [OnlineBagging, ADWINBagging, GOOWE])
def test_classifiers_of_rivers_learn_but_are_not_saved(transformation, ensemble):
    X, Y = easy(160)
    more = {"chunk": 40} if ensemble is GOOWE else {}
    model = ensemble(transformation(naive_bayes.GaussianNB()), members=2, seed=1, **more)
    model.learn_many(X, Y)
    assert (model.predict_many(X) == Y)[Y >= 0].mean() > 0.7
    model._renew(0)
    assert type(model.clone().transformation) is type(model.transformation)
    with pytest.raises(MarleneError, match="holds River objects cannot be saved"):
        model.state()


@every_transformation
@pytest.mark.parametrize("base", ["naive-bayes", "linear", "mixed", "inheriting-forest"])
def test_blocks_of_any_size_are_the_same(transformation, base):
    X, Y = easy(120)
    whole, single = (OnlineBagging(transformation(base), members=2, seed=3) for _ in range(2))
    said = whole.test_then_train(X, Y)
    one_by_one = np.concatenate([single.test_then_train(X[i : i + 1], Y[i : i + 1]) for i in range(len(X))])
    assert contents(whole) == contents(single)
    np.testing.assert_array_equal(said, one_by_one)


def rows_of(X):
    stored = X != 0
    starts = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    return Rows(starts, np.nonzero(stored)[1].astype(np.int64), X[stored])


@pytest.mark.parametrize("committee", [RelevanceCommittee, ChainCommittee])
def test_row_by_row_is_as_good_as_compiled(committee):
    """A forest used like any other bank gives what the kernels give."""
    X, Y = drifting(250, 4)
    Y[::5, 2] = -1
    weights = np.random.default_rng(1).poisson(1.0, (250, 2)).astype(np.int64)
    said = []
    for models in (ForestClassifiers, BankClassifiers):
        members = committee(2, models(HoeffdingForest([], grace_period=20, tie_threshold=0.3), 2))
        members.add_features([0, 0, 0, 0, 2])
        members.add_labels(4, np.arange(2, dtype=np.uint64))
        for member in range(2):
            members.renew(member, np.uint64(member + 7))
        scores = np.zeros((250, 2, 4))
        members.run(rows_of(X), Y, weights, scores)
        said.append(scores)
    assert len(np.unique(said[0])) > 500
    np.testing.assert_allclose(said[0], said[1], atol=1e-12)


def test_sets_are_told_apart_by_one_classifier_each():
    models = BankClassifiers(NaiveBayesBank(), 4)
    members = SetsCommittee(1, models, 8, None)
    members.add_features([2, 2])
    members.add_labels(2, np.zeros(1, np.uint64))
    X = np.tile([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], (20, 1))
    scores = np.zeros((80, 1, 2))
    members.run(rows_of(X), X.astype(np.int8), np.ones((80, 1), np.int64), scores)
    assert len(models.bank) == 4
    assert (scores[-4:, 0] > 0.5).tolist() == (X[-4:] > 0).tolist()
    votes = models.votes(members.ids[0], np.array([1.0, 1.0]))
    assert votes.sum() == pytest.approx(1.0)
    assert votes.argmax() == members.members[0].sets.index(frozenset({0, 1}))
    members.renew(0, np.uint64(0))
    assert len(models.bank) == 4
    assert not models.votes(members.ids[0], np.array([1.0, 1.0])).any()


@every_transformation
@pytest.mark.parametrize("base", ["svm", 3, None, HoeffdingForest([], n_classes=3), HoeffdingForest([2])], ids=str)
def test_what_is_no_base_is_refused(transformation, base):
    with pytest.raises(MarleneError, match="base must be"):
        transformation(base)


@every_transformation
def test_a_damaged_state_is_refused(transformation):
    X, Y = easy(80)
    model = OnlineBagging(transformation("linear"), members=2)
    model.learn_many(X, Y)
    header, arrays = model.state()
    for name in ("members.ids", "members.parts"):
        with pytest.raises(MarleneError, match="damaged: each base classifier that there is has one place"):
            OnlineBagging.from_state(header, arrays | {name: arrays[name] + 1})
    kind, settings = header["transformation"]
    strange = header | {"transformation": [kind, settings | {"base": ["river", {}]}]}
    with pytest.raises(MarleneError, match="there are no base classifiers 'river'"):
        OnlineBagging.from_state(strange, arrays)


def test_a_pair_says_the_mean_of_what_both_say():
    pair, first, second = MixedBank(), NaiveBayesBank(), LinearBank()
    rng = np.random.default_rng(0)
    for bank in (pair, first, second):
        bank.add_features([0, 2, 3])
        assert bank.add(3).tolist() == [0, 1, 2]
    for _ in range(60):
        x = np.array([rng.normal(), rng.integers(0, 2), rng.integers(0, 3)])
        y = rng.integers(0, 2, 2)
        for bank in (pair, first, second):
            bank.learn([0, 2], x, y, [1, 3])
    votes = (first.votes(x) + second.votes(x)) / 2
    np.testing.assert_allclose(pair.votes(x)[[0, 2]], votes[[0, 2]])
    assert pair.votes(x, [1]).sum() == second.votes(x, [1]).sum() == 0.0
    pair.remove([0])
    pair.widen(2, 5)
    assert pair.kinds.tolist() == [0, 2, 5]
    again = MixedBank.from_state(pair.state(), pair.settings())
    assert again.ids.tolist() == pair.ids.tolist() == [1, 2]
    np.testing.assert_array_equal(again.votes(x), pair.votes(x))
    torn = {name: array for name, array in pair.state().items() if name.startswith("0.")}
    torn |= {f"1.{name}": array for name, array in LinearBank().state().items()}
    with pytest.raises(MarleneError, match="do not belong together"):
        MixedBank.from_state(torn, pair.settings())
    with pytest.raises(MarleneError, match="each part of a mixed bank must be one of naive-bayes, linear or a bank"):
        MixedBank("tree")


@pytest.mark.parametrize("learner", [BRMarlene, BRPWMarlene])
def test_inheriting_forests_grow_and_are_saved(learner):
    rng = np.random.default_rng(0)
    X = rng.random((900, 6)) < 0.4
    Y = np.column_stack([X[:, 0] & X[:, 1], X[:, 2] | X[:, 3], X[:, 4]]).astype(np.int8)
    forest = HoeffdingForest([], inherit=True, effective_size=True, grace_period=40, tie_threshold=0.3)
    model = learner(base=forest, seed=1)
    model.learn_many(X[:700], Y[:700])
    again = learner.from_state(*model.state())
    for one in (model, again):
        one.learn_many(X[700:], Y[700:])
    assert contents(again) == contents(model)
    trees = model._ensemble.bank
    assert sum(trees.n_nodes(tree) for tree in trees.ids) > 6
    assert (model.predict_many(X) == Y).mean() > 0.9
    assert type(model).from_state(*learner(base="inheriting-forest").state()).base == "inheriting-forest"


def test_a_pair_serves_br_marlene_and_marlene():
    X, Y = easy()
    model = BRMarlene(base="mixed", seed=1)
    model.learn_many(X, Y)
    assert contents(BRMarlene.from_state(*model.state())) == contents(model)
    assert (model.predict_many(X) == Y)[Y >= 0].mean() > 0.8
    weighted = Marlene(base=NaiveBayesBank(weighted=True), seed=1)
    weighted.learn_many(X, Y)
    assert np.isfinite(weighted.predict_proba_many(X)).all()
    assert contents(Marlene.from_state(*weighted.state())) == contents(weighted)
    given, named = Marlene(base=MixedBank(), seed=1), Marlene(base="mixed", seed=1)
    for one in (given, named):
        one.learn_many(X, Y)
    assert contents(given) == contents(named)
