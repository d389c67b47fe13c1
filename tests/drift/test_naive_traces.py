"""The naive detectors against the recorded traces, against River, and against numbers worked out by hand."""

import math
import random

import numpy as np
import pytest
from river import drift

from tests.drift.traces import check_adwin_statistics
from tests.naive.detectors import NaiveADWIN, NaiveDDM, NaiveDDMOCI
from tests.naive.replay import load_trace

OCI_TRACES = [
    "OCI_all_correct",
    "OCI_balanced_stationary",
    "OCI_first_pos_late",
    "OCI_imbalanced_drift",
    "OCI_no_positive",
]
ADWIN_TRACES = ["ADWIN_bin_down", "ADWIN_bin_stationary", "ADWIN_bin_up", "ADWIN_real_ramp"]


@pytest.mark.golden
@pytest.mark.parametrize("name", OCI_TRACES)
def test_ddm_oci_replays_trace(name):
    trace = load_trace(name)
    detector = NaiveDDMOCI(strict=False)
    for t, (error, y) in enumerate(zip(trace["err"].tolist(), trace["y"].tolist(), strict=True)):
        detector.update(not error, y)
        flags = (detector.warning, detector.drift, detector.n, detector.minority)
        assert flags == tuple(trace[key][t] for key in ("warning", "change", "n", "minority"))
        statistics = [detector.p, detector.s, detector.p_max[0], detector.s_max[0]]
        statistics += detector.recall_num + detector.recall_den + detector.class_size
        expected = [trace[key][t] for key in ("m_p", "m_s", "m_pmax", "m_smax")]
        expected += [*trace["recall_num"][t], *trace["recall_den"][t], *trace["class_size"][t]]
        assert statistics == pytest.approx(expected, rel=1e-9, abs=1e-300, nan_ok=True)


@pytest.mark.golden
@pytest.mark.parametrize("name", ADWIN_TRACES)
def test_adwin_replays_trace(name):
    trace = load_trace(name)
    detector = NaiveADWIN(delta=float(trace["delta"]))
    for t, value in enumerate(trace["v"].tolist()):
        detector.update(value)
        flags = (detector.raw_change, detector.change, detector.width)
        assert flags == tuple(trace[key][t] for key in ("raw_change", "change", "width"))
        check_adwin_statistics(trace, t, detector.estimation, detector.total, detector.variance)


def drifts_of(detector, inputs):
    steps = []
    for t, arguments in enumerate(inputs):
        detector.update(*arguments)
        if detector.drift:
            steps.append(t)
    return steps


def test_published_ddm_oci_fires_every_31_inputs_without_a_mistake():
    inputs = [(True, int(t % 5 == 0)) for t in range(310)]
    assert drifts_of(NaiveDDMOCI(strict=False), inputs) == list(range(30, 310, 31))


def test_strict_ddm_oci_never_fires_without_a_mistake():
    assert drifts_of(NaiveDDMOCI(), [(True, int(t % 5 == 0)) for t in range(2000)]) == []


@pytest.mark.parametrize("strict", [True, False])
def test_ddm_oci_without_minority_examples_never_fires(strict):
    detector = NaiveDDMOCI(strict=strict)
    assert drifts_of(detector, [(t % 3 > 0, 0) for t in range(500)]) == []
    assert (detector.minority, detector.p) == (1, 0.0)
    assert math.isnan(detector.s)


def test_ddm_oci_statistics_by_hand():
    detector = NaiveDDMOCI()
    for correct, y in [(True, 0), (True, 1), (False, 1)]:
        detector.update(correct, y)
    assert detector.class_size == pytest.approx([0.99**2 * 1.495, 0.99 * (0.99 * 0.495 + 1) + 1])
    assert detector.minority == 0
    assert (detector.p, detector.s) == (1.0, 0.0)
    assert detector.recall_num == pytest.approx([1, 0.999])
    assert detector.recall_den == pytest.approx([1, 1.999])
    for _ in range(2):
        detector.update(True, 0)
    assert detector.minority == 1
    assert detector.p == pytest.approx(0.999 / 1.999)
    assert detector.s == pytest.approx(math.sqrt(0.999 * 1.0 / 1.999**3))


def test_strict_ddm_oci_waits_for_ten_effective_minority_examples():
    detector = NaiveDDMOCI()
    start = list(detector.p_max)
    # Ten examples fade to 9.955 effective ones; the eleventh makes 10.945.
    for t in range(100):
        detector.update(correct=t % 20 > 0, y=int(t % 10 == 0))
    assert detector.recall_den[1] == pytest.approx((1 - 0.999**10) / 0.001)
    assert detector.p_max == start
    detector.update(correct=True, y=1)
    assert detector.p_max[1] == detector.p > 0.5


def test_ddm_oci_starts_afresh_after_a_drift():
    detector = NaiveDDMOCI()
    generator = random.Random(1)
    for _ in range(2000):
        detector.update(generator.random() < 0.9, int(generator.random() < 0.2))
        assert not detector.drift
    while not detector.drift:
        assert detector.n < 4000
        detector.update(correct=False, y=1)
    detector.update(correct=True, y=0)
    assert detector.n == 1
    assert detector.class_size == pytest.approx([1.495, 0.495])
    assert detector.recall_den == [1.0, 0.0]
    assert (detector.warning, detector.drift) == (False, False)


def test_ddm_agrees_with_river():
    generator = random.Random(7)
    errors = [generator.random() < rate for rate in [0.1] * 1000 + [0.4] * 1000 + [0.1] * 500 + [0.8] * 500]
    naive, river = NaiveDDM(), drift.binary.DDM()
    drifts = 0
    for error in errors:
        naive.update(error)
        river.update(error)
        assert (naive.drift, naive.warning) == (river.drift_detected, river.warning_detected)
        drifts += naive.drift
    assert drifts >= 2


def test_adwin_statistics_are_those_of_its_window():
    generator = random.Random(3)
    values = [generator.random() for _ in range(500)] + [2.0 + generator.random() for _ in range(500)]
    detector = NaiveADWIN()
    cuts = []
    for t, value in enumerate(values):
        detector.update(value)
        window = values[t + 1 - detector.width : t + 1]
        assert detector.total == pytest.approx(sum(window))
        assert detector.variance == pytest.approx(np.var(window), abs=1e-12)
        cuts += [t] if detector.raw_change else []
        assert detector.change == detector.raw_change
    assert cuts
    assert all(t >= 500 and t % 32 == 31 for t in cuts)
    assert detector.width < 600


def test_adwin_change_needs_a_rise():
    detector = NaiveADWIN()
    raw = 0
    for value in [1.0] * 320 + [0.0] * 320:
        detector.update(value)
        raw += detector.raw_change
        assert not detector.change
    assert raw > 0
