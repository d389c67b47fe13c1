"""The product against the recorded traces, step by step."""

import pytest

from marlene.drift import ADWIN, DDMOCI, DRIFT, WARNING, ADWINBank, DDMOCIBank
from tests.drift.test_naive_traces import ADWIN_TRACES, OCI_TRACES
from tests.drift.traces import check_adwin_statistics
from tests.naive.replay import load_trace

pytestmark = pytest.mark.golden


@pytest.mark.parametrize("name", OCI_TRACES)
def test_ddm_oci_bank_replays_trace(name):
    trace = load_trace(name)
    bank = DDMOCIBank(strict=False)
    ids = bank.add(5)[3:4]
    for t, (error, y) in enumerate(zip(trace["err"].tolist(), trace["y"].tolist(), strict=True)):
        signal = bank.update(ids, [not error], [y])[0]
        row = {key: array[3] for key, array in bank.state().items() if array.ndim}
        flags = (signal == WARNING, signal == DRIFT, row["n"], row["minority"])
        assert flags == tuple(trace[key][t] for key in ("warning", "change", "n", "minority"))
        statistics = [row["p"], row["s"], row["p_max"][0], row["s_max"][0]]
        expected = [trace[key][t] for key in ("m_p", "m_s", "m_pmax", "m_smax")]
        for key in ("recall_num", "recall_den", "class_size"):
            statistics += row[key].tolist()
            expected += trace[key][t].tolist()
        assert statistics == pytest.approx(expected, rel=1e-9, abs=1e-300, nan_ok=True)


@pytest.mark.parametrize("name", OCI_TRACES)
def test_single_ddm_oci_replays_trace(name):
    trace = load_trace(name)
    detector = DDMOCI(strict=False)
    for t, (error, y) in enumerate(zip(trace["err"].tolist(), trace["y"].tolist(), strict=True)):
        detector.update(error, y)
        flags = (detector.warning_detected, detector.drift_detected)
        assert flags == (trace["warning"][t], trace["change"][t])


@pytest.mark.parametrize("name", ADWIN_TRACES)
def test_adwin_bank_replays_trace(name):
    trace = load_trace(name)
    bank = ADWINBank(delta=float(trace["delta"]))
    ids = bank.add(5)[3:4]
    for t, value in enumerate(trace["v"].tolist()):
        signal = bank.update_values(ids, [value])[0]
        row = {key: array[3] for key, array in bank.state().items() if array.ndim}
        flags = (row["cut"], signal == DRIFT, row["width"])
        assert flags == tuple(trace[key][t] for key in ("raw_change", "change", "width"))
        mean, variance = row["total"] / row["width"], row["variance_sum"] / row["width"]
        check_adwin_statistics(trace, t, mean, row["total"], variance)


@pytest.mark.parametrize("name", ADWIN_TRACES)
def test_single_adwin_replays_trace(name):
    trace = load_trace(name)
    detector = ADWIN(delta=float(trace["delta"]))
    for t, value in enumerate(trace["v"].tolist()):
        detector.update(value)
        assert (detector.drift_detected, detector.width) == (trace["change"][t], trace["width"][t])
        check_adwin_statistics(trace, t, detector.estimation, detector.total, detector.variance)


@pytest.mark.parametrize("name", [name for name in ADWIN_TRACES if "_bin_" in name])
def test_adwin_of_correct_predictions_is_adwin_of_errors(name):
    trace = load_trace(name)
    bank = ADWINBank(delta=float(trace["delta"]))
    ids = bank.add()
    signals = [bank.update(ids, [1 - value], [0])[0] for value in trace["v"]]
    assert [signal == DRIFT for signal in signals] == trace["change"].tolist()
