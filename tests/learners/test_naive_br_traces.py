"""The naive BR-MARLENE against the recorded traces of the published program."""

import numpy as np
import pytest

from tests.naive.br_marlene import TARGET
from tests.naive.replay import BINARY, load_trace, replay_tree
from tests.naive.replay_br import BR_TRACES, DATASETS, SOURCES, QuickTree, replay_br

pytestmark = pytest.mark.golden

KINDS = {"warning": "warning", "change_new": "drift", "change_null": "drift_without_background"}
# Here the published program normalises raw votes of (0, 2e-313) to (1, 0) (README of the traces, section c).
ODD_ROWS = {"BR_yeast_detk": [2299]}


def parameters(names):
    return [pytest.param(name, marks=[pytest.mark.data] if name in DATASETS else []) for name in names]


each_trace = pytest.mark.parametrize("name", parameters(BR_TRACES))


def recorded(name):
    """P⁻ and P⁺ of a trace; NaN and (0, 0) both mean that there was no evidence."""
    trace = load_trace(name)
    negative, positive = np.nan_to_num(trace["prob_neg"]), np.nan_to_num(trace["prob_pos"])
    nothing = negative + positive == 0.0
    return np.where(nothing, 0.5, negative), np.where(nothing, 0.5, positive)


def differing_rows(name, replay):
    negative, positive = recorded(name)
    difference = np.maximum(np.abs(replay.negative - negative), np.abs(replay.positive - positive))
    return np.flatnonzero(difference.max(axis=1) > 1e-9).tolist()


@each_trace
def test_votes(name):
    trace, replay = load_trace(name), replay_br(name, True)
    odd = ODD_ROWS.get(name, [])
    assert differing_rows(name, replay) == odd
    wrong, _ = np.nonzero(replay.pred != trace["pred"])
    assert set(wrong.tolist()) <= set(odd)


@each_trace
def test_transfer_ratios(name):
    trace, replay = load_trace(name), replay_br(name, True)
    np.testing.assert_allclose(replay.swr, trace["swr"], rtol=0, atol=1e-9)
    # At the first step the trace says NaN.
    np.testing.assert_allclose(replay.aswr[1:], trace["aswr"][1:], rtol=0, atol=1e-9)


@each_trace
def test_weights_and_sub_classifiers(name):
    trace, replay = load_trace(name), replay_br(name, True)
    np.testing.assert_array_equal(replay.k[0], trace["k"])
    np.testing.assert_array_equal(replay.n_sub[0], trace["n_sub"])
    for source in SOURCES.get(name, ()):
        np.testing.assert_array_equal(replay.k[source], trace[f"src{source}_k"])
        np.testing.assert_array_equal(replay.n_sub[source], trace[f"src{source}_n_sub"])


@each_trace
def test_events(name):
    trace, replay = load_trace(name), replay_br(name, True)
    columns = (trace[f"ev_{column}"].tolist() for column in ("stream", "t", "label", "type"))
    events = [(stream or TARGET, t, label, KINDS[kind]) for stream, t, label, kind in zip(*columns, strict=True)]
    assert replay.events == events


@each_trace
def test_final_table(name):
    trace, replay = load_trace(name), replay_br(name, True)
    np.testing.assert_allclose(replay.final, trace["final"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("BR_syn0src_detk", 0),
        ("BR_syn2src_detk", 0),
        pytest.param("BR_yeast_detk", 2323, marks=pytest.mark.data),
    ],
)
def test_imitation_shows_only_where_expected(name, count):
    assert len(differing_rows(name, replay_br(name, False))) == count


@pytest.mark.parametrize("imitate", [True, False])
@pytest.mark.parametrize("name", ["HT_yeast_l1", "HT_mixed", "HT_rare_nominal"])
def test_quick_tree_is_the_naive_tree(name, imitate):
    trace, replay = load_trace(name), replay_tree(name, imitate)
    kinds = [0 if numeric else BINARY for numeric in trace["isnum"]]
    tree = QuickTree(kinds=kinds, variance_floor=0.0, imitate_underflow=imitate, split_on_all_minus_infinity=imitate)
    votes = []
    for x, y, weight in zip(trace["X"].tolist(), trace["y"].tolist(), trace["w"].tolist(), strict=True):
        votes.append(tree.votes(x))
        tree.learn(x, y, weight)
    # The logarithms of numpy and math may differ in the last bit.
    np.testing.assert_allclose(votes, replay.votes, rtol=0, atol=0 if imitate else 1e-12)
    assert [event[:3] for event in tree.splits] == [event[:3] for event in replay.splits]
