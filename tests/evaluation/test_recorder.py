"""What a run records over time: the right counts, the same whatever the blocks, in bounded memory."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marlene._common.errors import MarleneError
from marlene.evaluation import prequential
from marlene.evaluation._recorder import LEAST_PACE, POINTS, WORST, Recorder
from marlene.learners import Majority
from marlene.streams import Stream


def block_of(rng, n, n_labels):
    truth = rng.integers(-1, 2, (n, n_labels)).astype(np.int8)
    pred = rng.integers(0, 2, (n, n_labels)).astype(np.int8)
    return truth, pred, rng.random((n, n_labels)).astype(np.float32)


def fed(truth, pred, proba, cuts, total):
    """Return a recorder that was given the examples in blocks."""
    recorder = Recorder(truth.shape[1], total, 3)
    edges = sorted({0, len(truth), *(cut for cut in cuts if cut < len(truth))})
    for begin, end in itertools.pairwise(edges):
        rows = slice(begin, end)
        recorder.add(begin, truth[rows], pred[rows], proba[rows], lambda row, begin=begin: {"number": begin + row})
    return recorder


@given(
    seed=st.integers(0, 1000),
    n=st.integers(1, 3000),
    cuts=st.lists(st.integers(1, 3000), max_size=6),
    known=st.booleans(),
)
def test_counts_do_not_depend_on_blocks(seed, n, cuts, known):
    truth, pred, proba = block_of(np.random.default_rng(seed), n, 3)
    recorder = fed(truth, pred, proba, cuts, n if known else None)
    history = recorder.history(None, ("a", "b", "c"), {}, n, 0.0)
    assert len(history.counts) <= recorder.bins
    assert history.ends()[-1] == n
    for place, end in enumerate(history.ends()):
        rows = slice(place * history.stride, end)
        for outcome, (value, said) in enumerate(((1, 1), (0, 1), (0, 0), (1, 0))):
            expected = ((truth[rows] == value) & (pred[rows] == said)).sum(axis=0)
            assert history.counts[place, :, outcome].tolist() == expected.tolist()
    positive = (truth == 1).astype(int)
    assert history.together.tolist() == (positive.T @ positive).tolist()
    whole = fed(truth, pred, proba, [], n if known else None).history(None, ("a", "b", "c"), {}, n, 0.0)
    assert whole.worst == history.worst


def test_the_worst_examples_are_those_with_the_greatest_surprise():
    truth, pred, proba = block_of(np.random.default_rng(1), 400, 4)
    history = fed(truth, pred, proba, [50, 51], 400).history(None, tuple("abcd"), {}, 400, 0.0)
    known = truth >= 0
    right = np.where(truth == 1, proba, 1 - proba)
    losses = (np.where(known, -np.log(np.clip(right, 1e-3, 1)), 0).sum(axis=1) / np.maximum(1, known.sum(axis=1)))[4:]
    assert [example["index"] for example in history.worst] == (4 + np.argsort(-losses, kind="stable")[:WORST]).tolist()
    assert history.worst[0]["features"] == {"number": history.worst[0]["index"]}


class Telling(Majority):
    """A learner that says who helps whom, and thresholds."""

    def transfer_matrix(self):
        return {"y0": {(None, "y1"): 0.75, ("old", "y9"): 0.25}, "y1": {(None, "y1"): 0.999, (None, "y0"): 0.001}}

    def thresholds(self):
        return {"y0": 0.25}


def test_a_learner_is_looked_at_in_equal_steps():
    stream = Stream.from_arrays(np.zeros((1000, 1)), np.tile([[0, 1], [1, 0]], (500, 1)))
    history = prequential(Telling(), stream).history
    assert history.at.tolist() == [*range(LEAST_PACE, 1000, LEAST_PACE), 1000]
    assert history.givers == [(None, "y1"), ("old", "y9")]
    assert history.helps[:3].tolist() == [[0, 0, 0, 0.75], [0, 0, 1, 0.25], [0, 1, 0, 0.999]]
    assert history.thresholds[:, 0].tolist() == [0.25] * len(history.at)
    assert np.isnan(history.thresholds[:, 1]).all()


def test_looks_at_an_endless_stream_become_rarer():
    recorder = Recorder(1, None, 0)
    done = 0
    while done < 100_000:
        done += 1
        if done % recorder.pace == 0:
            recorder.look(None, ("y",), done, 0.0)
    at = recorder.history(None, ("y",), {}, done, 0.0).at
    assert len(at) <= POINTS + 1
    assert (np.diff(at)[:-1] == recorder.pace).all()


@pytest.mark.parametrize("total", [600, None])
def test_a_restored_recorder_goes_on_as_if_nothing_had_been(total):
    truth, pred, proba = block_of(np.random.default_rng(2), 600, 2)
    labels = ("y0", "y1")
    whole, first = fed(truth, pred, proba, [], total), fed(truth[:300], pred[:300], proba[:300], [], total)
    whole.look(Telling(), labels, 256, 1.0)
    first.look(Telling(), labels, 256, 1.0)
    header, arrays = first.state()
    again = Recorder(2, total, 3)
    again.restore(json.loads(json.dumps(header)), arrays)
    again.add(300, truth[300:], pred[300:], proba[300:], lambda row: {"number": 300 + row})
    one, other = (recorder.history(Telling(), labels, {}, 600, 2.0) for recorder in (whole, again))
    assert json.dumps(one.header()) == json.dumps(other.header())
    for name, array in one.arrays().items():
        if name != "memory":
            np.testing.assert_array_equal(getattr(other, name), array)
    with pytest.raises(MarleneError, match="counts has another length"):
        Recorder(3, total, 3).restore(header, arrays)


def test_learning_is_the_same_with_and_without_a_history():
    stream = Stream.from_arrays(np.zeros((300, 1)), np.tile([[0, 1], [1, 0]], (150, 1)))
    with_one, without = (prequential(Majority(), stream, history=history) for history in (True, False))
    assert with_one.history is not None
    assert without.history is None
    np.testing.assert_array_equal(with_one.steps, without.steps)
