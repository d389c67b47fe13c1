# ruff: noqa: ARG002 (arguments that River's signatures have)
"""Models that show what they are asked, and streams to ask them about."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from river import base

from marlene.streams import Stream


class Recorder(base.MultiLabelClassifier):
    """Writes down every call."""

    def __init__(self):
        self.calls = []

    def predict_one(self, x, **_):
        self.calls.append(("predict", x))
        return {}

    def learn_one(self, x, y):
        self.calls.append(("learn", x, y))


class LastLabels(base.MultiLabelClassifier):
    """Predicts what was learnt last; knows nothing of probabilities."""

    def __init__(self):
        self._last = {}

    def predict_one(self, x, **_):
        return dict(self._last)

    def learn_one(self, x, y):
        self._last |= y


class CountLabels(base.MultiLabelClassifier):
    """The majority learner, a line per thing it does."""

    def __init__(self):
        self._seen = {}

    def predict_one(self, x, **_):
        return {label: 2 * sum(values) > len(values) for label, values in self._seen.items()}

    def learn_one(self, x, y):
        for label, value in y.items():
            self._seen.setdefault(label, []).append(value)


class Interrupted(LastLabels):
    """Meets a Ctrl-C when it predicts for the n-th time."""

    def __init__(self, n):
        super().__init__()
        self.n = n
        self._predictions = 0

    def predict_one(self, x, **options):
        self._predictions += 1
        if self._predictions == self.n:
            raise KeyboardInterrupt
        return super().predict_one(x, **options)


class Probabilities(base.MultiLabelClassifier):
    """Answers with what it was given."""

    def __init__(self, answer):
        self.answer = answer

    def predict_proba_one(self, x, **_):
        return self.answer

    def learn_one(self, x, y):
        pass


def numbered(n, n_labels=2, seed=0):
    """Return a stream whose only feature is an example's index."""
    truth = np.random.default_rng(seed).integers(0, 2, (n, n_labels))
    return Stream.from_arrays(np.arange(n, dtype=float)[:, np.newaxis], truth, features=["t"], name="numbered")


@st.composite
def streams(draw, most=40):
    """Generate streams with missing features and unknown labels, dense and sparse."""
    shape = draw(st.integers(1, most)), draw(st.integers(1, 3))
    truth = draw(hnp.arrays(np.int8, shape, elements=st.sampled_from([0, 0, 1, 1, -1])))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    X = np.round(rng.normal(size=(len(truth), 2)) + truth[:, :1], 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.2] = 0
    return Stream.from_arrays(sp.csr_array(X) if draw(st.booleans()) else X, truth)
