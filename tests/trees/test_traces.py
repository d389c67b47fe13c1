"""The forest against the recorded traces, in every row that MOA's underflow and its empty splits do not touch."""

import numpy as np
import pytest

from marlene.trees import HoeffdingForest
from tests.naive.replay import TREE_TRACES, affected_rows, load_trace
from tests.trees.streams import RECORDED_TESTS, normalised, splits_of


@pytest.mark.golden
@pytest.mark.parametrize("name", TREE_TRACES)
def test_forest_meets_trace(name):
    trace = load_trace(name)
    X, y, w = trace["X"], trace["y"], trace["w"]
    kinds = ["numeric" if numeric else "binary" for numeric in trace["isnum"]]
    forest = HoeffdingForest(kinds, variance_floor=0, grace_tolerance=0)
    forest.add()
    votes, sizes, events = [], [], []
    for t in range(len(X)):
        votes.append(forest.test_then_train([0], X[t : t + 1], y[t : t + 1], w[t : t + 1])[0, 0])
        before = sizes[-1][0] if sizes else 0
        sizes.append((forest.n_nodes(0) - forest.n_leaves(0), forest.n_leaves(0), forest.depth(0)))
        if sizes[-1][0] > before:
            known = {event.path for _, event in events}
            events += [(t, event) for path, event in splits_of(forest).items() if path not in known]
    affected = affected_rows(name)
    exact = ~affected
    np.testing.assert_allclose(np.array(votes)[exact], normalised(trace["votes"])[exact], rtol=0, atol=1e-9)
    recorded = np.column_stack([trace["n_split"], trace["n_active"], trace["depth"]])
    np.testing.assert_array_equal(np.array(sizes)[exact], recorded[exact])
    expected = np.flatnonzero(exact[trace["split_t"]])
    events = [(t, event) for t, event in events if exact[t]]
    assert len(expected) >= 2
    assert [t for t, _ in events] == trace["split_t"][expected].tolist()
    assert [event.path for _, event in events] == trace["split_path"][expected].tolist()
    assert [event.feature for _, event in events] == trace["split_att"][expected].tolist()
    assert [event.test for _, event in events] == [RECORDED_TESTS[test] for test in trace["split_test"][expected]]
    thresholds = [event.value for _, event in events]
    np.testing.assert_allclose(thresholds, trace["split_value"][expected], rtol=1e-9)


@pytest.mark.golden
@pytest.mark.parametrize("name", TREE_TRACES)
def test_block_gives_the_votes_of_single_rows_to_the_bit(name):
    trace = load_trace(name)
    kinds = ["numeric" if numeric else "binary" for numeric in trace["isnum"]]
    rows = slice(0, 2000)
    forests = [HoeffdingForest(kinds, variance_floor=0, grace_tolerance=0) for _ in range(2)]
    for forest in forests:
        forest.add()
    votes = forests[0].test_then_train([0], trace["X"][rows], trace["y"][rows], trace["w"][rows])
    for t in range(2000):
        one = forests[1].test_then_train([0], trace["X"][t : t + 1], trace["y"][t : t + 1], trace["w"][t : t + 1])
        assert (one[0] == votes[t]).all()
    assert forests[0] == forests[1]
