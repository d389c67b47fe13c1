"""BR-MARLENE and its naive version on generated streams: several sources, drifts, labels that are not always known."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from marlene.drift import ADWINBank, BalancedBank, DDMBank, DDMOCIBank
from marlene.learners import BRMarlene
from marlene.streams import Feature
from marlene.trees import HoeffdingForest
from tests.naive.br_marlene import NaiveBRMarlene
from tests.naive.detectors import NaiveADWIN, NaiveBalanced, NaiveDDM, NaiveDDMOCI
from tests.naive.hoeffding_tree import NaiveHoeffdingTree

KINDS = [0, 0, 2, 2]
TREE = {"grace_period": 40, "delta": 0.05, "tie_threshold": 0.2}
CLOSE = 1e-9


class OfErrors:
    """A naive detector that hears of errors only, in the shape of one that hears of both classes."""

    def __init__(self, detector, flag):
        self.detector, self.flag = detector, flag
        self.warning = self.drift = False

    def update(self, correct, y):  # noqa: ARG002
        self.detector.update(not correct)
        self.drift = getattr(self.detector, self.flag)
        self.warning = getattr(self.detector, "warning", False)


POLICIES = {
    "none": ("none", None),
    "ddm-oci": (DDMOCIBank(minimum=10), lambda: NaiveDDMOCI(minimum=10)),
    "published ddm-oci": (DDMOCIBank(strict=False, minimum=10), lambda: NaiveDDMOCI(strict=False, minimum=10)),
    "balanced": (BalancedBank(minimum=10), lambda: NaiveBalanced(minimum=10)),
    "ddm": (DDMBank(minimum=10), lambda: OfErrors(NaiveDDM(minimum=10), "drift")),
    "adwin": (ADWINBank(delta=0.5), lambda: OfErrors(NaiveADWIN(delta=0.5), "change")),
    "oracle": ("oracle", None),
}


def examples(rng, n, n_labels):
    """Return inputs of two numeric and two binary features, labels that change their rule, some not known."""
    X = np.column_stack([rng.normal(size=(n, 2)) * (rng.random((n, 2)) < 0.8), rng.random((n, 2)) < 0.3])
    rules = rng.normal(size=(2, 4, n_labels))
    Y = (np.einsum("nf,nfl->nl", X, rules[np.arange(n) * 2 // n]) > 0.3).astype(np.int8)
    # All labels are known at first: from then on every task has its sub-classifier.
    Y[1:][rng.random((n - 1, n_labels)) < 0.05] = -1
    return X.astype(float), Y


@pytest.mark.parametrize("retired", ["all", "better"])
@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=6)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_same_at_every_step(policy, retired, seed):
    rng = np.random.default_rng(seed)
    bank, make_detector = POLICIES[policy]
    trees = []

    def make_tree():
        trees.append(NaiveHoeffdingTree(kinds=KINDS, **TREE))
        return trees[-1]

    naive = NaiveBRMarlene(make_tree, make_detector, retired_only_where_better=retired == "better")
    model = BRMarlene(base=HoeffdingForest([], **TREE), drift=bank, resampling="expected", retired=retired)
    features = [Feature(str(i), "binary" if kind else "numeric") for i, kind in enumerate(KINDS)]
    streams = {None: examples(rng, 220, 3), "archive": examples(rng, 120, 2), "other": examples(rng, 60, 1)}
    for stream, (_, Y) in streams.items():
        model.declare(features, range(Y.shape[1]) if stream is None else (), stream=stream)
    order = rng.permutation([stream for stream, (_, Y) in streams.items() for _ in range(len(Y))])
    position = dict.fromkeys(streams, 0)
    for stream in order.tolist():
        t = position[stream]
        position[stream] += 1
        X, Y = streams[stream]
        x, y = X[t].tolist(), {label: int(v) for label, v in enumerate(Y[t]) if v >= 0}
        if policy == "oracle" and t and t % 50 == 0:
            naive.signal_drift([0], stream)
            model.signal_drift([0], stream=stream)
        if stream is None:
            compare_predictions(model, naive, X[t : t + 1], x)
        naive.learn(x, y, stream)
        model.learn_many(X[t : t + 1], Y[t : t + 1], stream=stream)
        assume(min(tree.closest_call for tree in trees) > CLOSE)
    assert model.counts()["models"] == len(naive.models)
    ratios = model.swr()
    for label in range(3):
        np.testing.assert_allclose(ratios[label], naive.swr(label), rtol=0, atol=CLOSE)


def compare_predictions(model, naive, row, x):
    expected = naive.predict_proba(x)
    for label, p in enumerate(model.predict_proba_many(row)[0]):
        np.testing.assert_allclose(p, expected.get(label, (0.5, 0.5))[1], rtol=0, atol=CLOSE)
