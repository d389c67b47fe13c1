"""Transformations and ensembles against their plain versions on generated streams."""

import numpy as np
import pytest

from marlene.kernels.ensemble.resampling import mix_many, poisson_draws
from marlene.kernels.multi_target.state import INPUT
from marlene.learners import (
    GOOWE,
    ADWINBagging,
    BinaryRelevanceTrees,
    ClassifierChain,
    MultiTargetTree,
    OnlineBagging,
    PrunedSets,
)
from marlene.learners.baselines._chain import chain_order
from marlene.learners.baselines._committee_learner import as_probabilities
from marlene.trees import HoeffdingForest
from tests.naive.ensembles import NaiveADWINBagging, NaiveBagging, NaiveGOOWE
from tests.naive.members import NaiveChain, NaivePrunedSets, NaiveRelevance
from tests.naive.multi_target import NaiveMultiTargetTree

N, LABELS, MEMBERS, SEED = 160, 4, 3, 5
KINDS = [0, 0, 0, 0, 2]
FEATURES = dict(enumerate(["numeric"] * 4 + ["binary"]))
TREES = {"grace_period": 20, "delta": 0.05}
BASE = HoeffdingForest([], **TREES)
TARGETS = {"grace_period": 20.5, "delta": 0.3}
TRANSFORMATIONS = {
    "relevance": (BinaryRelevanceTrees(BASE), lambda k: NaiveRelevance(KINDS, LABELS, **TREES)),  # noqa: ARG005
    "chain": (ClassifierChain(BASE), lambda k: NaiveChain(KINDS, chain_order(key(k), 0, LABELS).tolist(), **TREES)),
    "sets": (
        PrunedSets(buffer=30, most=4, base=BASE),
        lambda k: NaivePrunedSets(KINDS, LABELS, 30, 4, **TREES),  # noqa: ARG005
    ),
    "first part": (
        PrunedSets(buffer=30, most=3, parts=1, base=BASE),
        lambda k: NaivePrunedSets(KINDS, LABELS, 30, 3, parts=1, **TREES),  # noqa: ARG005
    ),
    "targets": (
        MultiTargetTree(**TARGETS),
        lambda k: NaiveMultiTargetTree([kind == 0 for kind in KINDS], LABELS, **TARGETS),  # noqa: ARG005
    ),
}
every_transformation = pytest.mark.parametrize("name", TRANSFORMATIONS)


def key(k):
    return np.uint64(mix_many(np.array([SEED, k], np.uint64)))


def weight(k, t):
    return int(poisson_draws(key(k), t + 1, 1.0)[t])


def stream(seed, drift=False, missing=0.04):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5)) * (rng.random((N, 5)) < 0.7)
    X[:, 4] = rng.random(N) < 0.4
    Y = np.einsum("nf,fl->nl", X, rng.normal(size=(5, LABELS))) + 0.3 * rng.normal(size=(N, LABELS)) > 0.2
    if drift:
        Y[N // 2 :] = ~Y[N // 2 :]
    Y = Y.astype(np.int8)
    Y[rng.random(Y.shape) < missing] = -1
    return X, Y


def agree(model, naive, X, Y, expected=lambda p: p):
    """Compare what both say before each example; return the number of different answers."""
    found = model.test_then_train(X, Y)
    for t, (x, y) in enumerate(zip(X.tolist(), Y.tolist(), strict=True)):
        assert found[t].tolist() == pytest.approx(expected(naive.predict(x)), abs=1e-8), f"example {t}"
        naive.learn(x, y)
    return len(np.unique(found))


@every_transformation
@pytest.mark.parametrize("seed", [0, 1])
def test_online_bagging(name, seed):
    transformation, new = TRANSFORMATIONS[name]
    model = OnlineBagging(transformation, MEMBERS, features=FEATURES, seed=SEED)
    naive = NaiveBagging(new, MEMBERS, weight)
    assert agree(model, naive, *stream(seed)) > N
    if name == "targets":
        for tree, (_, member) in zip(model._committee.trees, naive.members, strict=True):
            used = range(tree.top[0])
            tests = [(tree.node[n, INPUT], tree.node_value[n]) for n in used if tree.node[n, INPUT] >= 0]
            assert sorted(tests) == [(i, pytest.approx(threshold)) for i, threshold in sorted(member.splits)]
        assert any(member.splits for _, member in naive.members)


@every_transformation
def test_adwin_bagging(name):
    transformation, new = TRANSFORMATIONS[name]
    model = ADWINBagging(transformation, MEMBERS, features=FEATURES, seed=SEED, delta=0.5)
    naive = NaiveADWINBagging(new, MEMBERS, weight, delta=0.5)
    agree(model, naive, *stream(3, drift=True))
    assert model.counts()["drifts"] == len(naive.replaced)
    if name in ("relevance", "chain"):
        assert naive.replaced


@every_transformation
def test_goowe(name):
    transformation, new = TRANSFORMATIONS[name]
    model = GOOWE(transformation, MEMBERS, features=FEATURES, seed=SEED, chunk=32)
    naive = NaiveGOOWE(new, MEMBERS, 32)

    def expected(shares):
        return [0.5] * LABELS if shares is None else as_probabilities(np.array(shares)).tolist()

    assert agree(model, naive, *stream(4), expected) > 50
    assert naive.made > MEMBERS  # one was replaced
    assert model._weights.tolist() == pytest.approx(naive.weights, abs=1e-6)
