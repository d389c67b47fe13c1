"""The naive BRPW-MARLENE run over its golden trace, with and without the imitation of the published program."""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.naive.br_marlene import NO_EVIDENCE
from tests.naive.brpw_marlene import NaiveBRPWMarlene
from tests.naive.detectors import NaiveDDMOCI
from tests.naive.hoeffding_tree import NaiveHoeffdingTree
from tests.naive.replay import load_trace
from tests.naive.replay_br import QuickTree

BRPW_TRACE = "PW_syn_fixtypo_cond_nanguard_detk"


class Replay(NamedTuple):
    """What happened at each step, in the shapes of the trace.

    Before training: summed votes for 0 and 1 and predictions (n, L), mean transfer ratio (n). After it: number of
    sub-classifiers of each label (n, L) and of each pair (n, L, L), by given label and predicted label.
    """

    v0: NDArray[np.float64]
    v1: NDArray[np.float64]
    pred: NDArray[np.int64]
    aswr: NDArray[np.float64]
    n_br: NDArray[np.int64]
    n_pw: NDArray[np.int64]


@functools.cache
def replay_brpw(imitate: bool) -> Replay:
    """Run over the BRPW trace with the published detector and expected weights k.

    ``imitate`` turns on the trees' imitation switches and ignores a drift without a background classifier.
    """
    trace = load_trace(BRPW_TRACE)
    X, Y = trace["X"], trace["Y"]

    def make_tree(kinds: Sequence[int]) -> NaiveHoeffdingTree:
        return QuickTree(
            kinds=kinds,
            variance_floor=0.0,
            imitate_underflow=imitate,
            split_on_all_minus_infinity=imitate,
            grace_tolerance=0.0,
        )

    learner = NaiveBRPWMarlene(
        [0] * X.shape[1], make_tree, lambda: NaiveDDMOCI(strict=False), ignore_drift_without_background=imitate
    )
    labels = range(Y.shape[1])
    steps = []
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        evidence, predicted, aswr = learner.evidence(x), learner.predict(x), learner.aswr()
        v0, v1 = zip(*(evidence.get(label, NO_EVIDENCE) for label in labels), strict=True)
        pred = [predicted.get(label, 0) for label in labels]
        learner.learn(x, dict(enumerate(y)))
        n_br = [learner.br.n_sub(label) for label in labels]
        n_pw = [[learner.pw.n_sub((given, label)) for label in labels] for given in labels]
        steps.append((v0, v1, pred, aswr, n_br, n_pw))
    return Replay(*map(np.array, zip(*steps, strict=True)))
