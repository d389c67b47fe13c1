"""BR-MARLENE against recorded runs of the published program, and on Yeast against the naive version."""

import numpy as np
import pytest

from marlene.drift import DDMOCIBank
from marlene.streams import Feature
from marlene.trees import HoeffdingForest
from tests.learners.product_br import Watched, run
from tests.learners.test_naive_br_traces import KINDS, recorded
from tests.naive.replay import load_trace
from tests.naive.replay_br import SOURCES, replay_br, target_rows

pytestmark = pytest.mark.golden


def product(kinds):
    model = Watched(base=HoeffdingForest([], variance_floor=0), drift=DDMOCIBank(strict=False), resampling="expected")
    model.declare([Feature(str(i), "binary" if kind else "numeric") for i, kind in enumerate(kinds)])
    return model


@pytest.mark.parametrize(
    "name",
    ["BR_syn0src_detk", "BR_syn2src_detk", pytest.param("BR_slashdot1500_nominal_detk", marks=pytest.mark.data)],
)
def test_recorded_runs(name):
    trace = load_trace(name)
    X, Y, kinds = target_rows(name)
    model = product(kinds)
    numbers = {None: 0}
    for source in SOURCES.get(name, ()):
        numbers[str(source)] = source
        rows, labels = trace[f"src{source}_X"], trace[f"src{source}_Y"]
        model.declare([Feature(str(i)) for i in range(rows.shape[1])], stream=str(source))
        _, _, k, n_sub = run(model, rows, labels, stream=str(source))
        np.testing.assert_array_equal(k, trace[f"src{source}_k"])
        np.testing.assert_array_equal(n_sub, trace[f"src{source}_n_sub"])
    positive, aswr, k, n_sub = run(model, X, Y)
    np.testing.assert_allclose(positive, recorded(name)[1], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(positive > 0.5, trace["pred"])
    np.testing.assert_allclose(aswr[1:], trace["aswr"][1:], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(k, trace["k"])
    np.testing.assert_array_equal(n_sub, trace["n_sub"])
    columns = (trace[f"ev_{column}"].tolist() for column in ("stream", "t", "label", "type"))
    expected = [(stream, t, label, KINDS[kind]) for stream, t, label, kind in zip(*columns, strict=True)]
    assert sorted((numbers[s], t, label, kind) for s, t, label, kind in model.events) == sorted(expected)
    np.testing.assert_allclose(model.final_table(numbers), trace["final"], rtol=1e-9, atol=1e-9)


@pytest.mark.data
def test_yeast_as_the_naive_version_without_imitation():
    X, Y, kinds = target_rows("BR_yeast_detk")
    replay = replay_br("BR_yeast_detk", False)
    model = product(kinds)
    positive, aswr, k, n_sub = run(model, X, Y)
    np.testing.assert_allclose(positive, replay.positive, rtol=0, atol=1e-9)
    np.testing.assert_allclose(aswr, replay.aswr, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(k, replay.k[0])
    np.testing.assert_array_equal(n_sub, replay.n_sub[0])
    assert sorted(model.events) == sorted(tuple(event) for event in replay.events)
    np.testing.assert_allclose(model.final_table({None: 0}), replay.final, rtol=1e-9, atol=1e-9)
