"""Single detectors in River's interface, River's detectors as banks, and how a bank is chosen."""

import copy
import inspect
import pickle
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import base, checks, drift

from marlene._common.errors import MarleneError
from marlene.drift import (
    ADWIN,
    DDM,
    DDMOCI,
    DETECTOR_BANKS,
    DRIFT,
    IN_CONTROL,
    WARNING,
    ADWINBank,
    DDMBank,
    DDMOCIBank,
    NoneBank,
    RiverBank,
    make_bank,
)
from tests.naive.detectors import NaiveADWIN, NaiveDDMOCI

SINGLE = [DDMOCI, DDM, ADWIN]
EACH_SINGLE = pytest.mark.parametrize("detector_class", SINGLE)
RIVER = [
    drift.ADWIN(),
    drift.ADWIN(delta=0.2, clock=8),
    drift.PageHinkley(threshold=5.0),
    drift.KSWIN(seed=1),
    drift.NoDrift(),
    drift.DummyDriftDetector(t_0=50),
    drift.binary.DDM(),
    drift.binary.EDDM(),
    drift.binary.FHDDM(),
    drift.binary.HDDMA(),
    drift.binary.HDDMW(),
]
EACH_RIVER = pytest.mark.parametrize("prototype", RIVER, ids=lambda found: type(found).__name__)


def errors_of(seed, rates, each=300):
    generator = random.Random(seed)
    return [generator.random() < rate for rate in rates for _ in range(each)]


def feed(detector, x, y):
    if isinstance(detector, DDMOCI):
        detector.update(x, y)
    else:
        detector.update(x)


def answers(detector, inputs):
    found = []
    for x, y in inputs:
        feed(detector, x, y)
        found.append((detector.drift_detected, getattr(detector, "warning_detected", None)))
    return found


def inputs_of(seed):
    generator = random.Random(seed + 1)
    return [(error, int(generator.random() < 0.4)) for error in errors_of(seed, [0.1, 0.1, 0.6, 0.1, 0.8], each=400)]


@pytest.mark.parametrize(
    ("detector_class", "check"),
    # River's own drift detectors have no tags.
    [(found, check) for found in SINGLE for check in checks.yield_checks(found()) if check.__name__ != "check_tags"],
    ids=lambda found: found.__name__,
)
def test_passes_rivers_own_check(detector_class, check):
    check(detector_class())


@EACH_SINGLE
def test_is_a_detector_of_river(detector_class):
    detector = detector_class()
    assert isinstance(detector, base.DriftDetector if detector_class is ADWIN else base.BinaryDriftAndWarningDetector)
    assert detector.drift_detected is False
    assert hasattr(detector, "warning_detected") == (detector_class is not ADWIN)
    assert inspect.signature(detector_class).parameters.keys() == detector._get_params().keys()


@EACH_SINGLE
def test_gives_what_its_bank_gives_and_the_same_each_time(detector_class):
    inputs = inputs_of(4)
    found = answers(detector_class(), inputs)
    assert answers(detector_class(), inputs) == found
    bank = detector_class().bank()
    ids = bank.add()
    signals = [int(bank.update(ids, [not x], [y])[0]) for x, y in inputs]
    assert [drift_detected for drift_detected, _ in found] == [signal == DRIFT for signal in signals]
    assert any(drift_detected for drift_detected, _ in found)
    if detector_class is not ADWIN:
        assert [warning for _, warning in found] == [signal == WARNING for signal in signals]
        assert any(warning for _, warning in found)


@EACH_SINGLE
@pytest.mark.parametrize(
    "copy_of",
    [
        copy.deepcopy,
        lambda detector: pickle.loads(pickle.dumps(detector)),
        lambda detector: detector.clone(include_attributes=True),
    ],
    ids=["deepcopy", "pickle", "clone"],
)
def test_a_copy_goes_on_where_the_original_stood(detector_class, copy_of):
    inputs = inputs_of(6)
    detector = detector_class()
    answers(detector, inputs[:900])
    other = copy_of(detector)
    found = answers(detector, inputs[900:])
    assert answers(other, inputs[900:]) == found
    assert any(drift_detected for drift_detected, _ in found)


@EACH_SINGLE
def test_a_clone_starts_afresh(detector_class):
    inputs = inputs_of(9)
    detector = detector_class()
    found = answers(detector, inputs)
    assert answers(detector.clone(), inputs) == found


@pytest.mark.parametrize("strict", [True, False])
def test_ddm_oci_is_its_twin(strict):
    detector, naive = DDMOCI(strict=strict), NaiveDDMOCI(strict=strict)
    for x, y in inputs_of(2):
        detector.update(x, y)
        naive.update(not x, y)
        assert (detector.drift_detected, detector.warning_detected) == (naive.drift, naive.warning)


def test_adwin_is_its_twin():
    detector, naive = ADWIN(delta=0.05), NaiveADWIN(delta=0.05)
    assert (detector.width, detector.total, detector.estimation, detector.variance) == (0, 0.0, 0.0, 0.0)
    generator = random.Random(12)
    for t in range(1500):
        x = generator.gauss(mu=t // 500, sigma=0.5)
        detector.update(x)
        naive.update(x)
        assert (detector.drift_detected, detector.width) == (naive.change, naive.width)
        statistics = (detector.total, detector.estimation, detector.variance)
        assert statistics == pytest.approx((naive.total, naive.estimation, naive.variance))


@settings(max_examples=30)
@given(
    st.integers(0, 2**32),
    st.lists(st.floats(0, 1), min_size=1, max_size=5),
    st.integers(1, 60),
    st.floats(0.5, 2),
    st.floats(2, 4),
)
def test_ddm_is_rivers(seed, rates, minimum, warning, drift_level):
    ours = DDM(minimum=minimum, warning=warning, drift=drift_level)
    theirs = drift.binary.DDM(warm_start=minimum, warning_threshold=warning, drift_threshold=drift_level)
    for error in errors_of(seed, rates):
        ours.update(error)
        theirs.update(error)
        assert (ours.drift_detected, ours.warning_detected) == (theirs.drift_detected, theirs.warning_detected)


@pytest.mark.parametrize("x", [2, 0.5, float("nan"), "1", None, [1]])
def test_wrong_inputs_are_refused(x):
    for detector in (DDM(), DDMOCI()):
        with pytest.raises(MarleneError, match="x must be 0 or 1"):
            feed(detector, x, 1)
    with pytest.raises(MarleneError, match="y must be 0 or 1"):
        DDMOCI().update(1, x)


@pytest.mark.parametrize("x", [np.bool_(True), 1, 1.0, np.int8(1), np.float32(1)])
def test_ones_of_any_type_are_errors(x):
    detector = DDM()
    for _ in range(40):
        detector.update(False)
    detector.update(x)
    assert detector.drift_detected is True


def test_adwin_refuses_what_is_not_a_number():
    for x in (float("nan"), float("inf"), "1", None, [1.0]):
        with pytest.raises(MarleneError, match=r"^values"):
            ADWIN().update(x)


def test_the_true_class_is_not_optional():
    with pytest.raises(TypeError, match="y"):
        DDMOCI().update(True)


@EACH_RIVER
def test_a_bank_of_river_detectors_gives_what_they_give(prototype):
    bank = RiverBank(prototype)
    ids = bank.add(3)
    alone = [prototype.clone() for _ in ids]
    streams = [errors_of(seed, [0.1, 0.5, 0.9, 0.1]) for seed in range(3)]
    seen = set()
    for step, errors in enumerate(zip(*streams, strict=True)):
        want = []
        for detector, error in zip(alone, errors, strict=True):
            detector.update(error)
            warning = getattr(detector, "warning_detected", False)
            want.append(DRIFT if detector.drift_detected else WARNING if warning else IN_CONTROL)
        order = np.roll(np.arange(3), step)
        signals = bank.update(ids[order], ~np.array(errors)[order], np.zeros(3))
        assert signals.dtype == np.uint8
        assert signals.tolist() == [want[i] for i in order]
        seen |= set(want)
    assert (DRIFT in seen) == (not isinstance(prototype, drift.NoDrift))


@EACH_RIVER
def test_river_detectors_start_afresh_after_a_drift(prototype):
    if isinstance(prototype, drift.DummyDriftDetector | drift.NoDrift):
        return
    bank = RiverBank(prototype)
    bank.add()
    errors = errors_of(1, [0.1, 0.9, 0.05, 0.9, 0.1])
    drifted = [t for t, error in enumerate(errors) if bank.update([0], [not error], [0])[0] == DRIFT]
    assert len(drifted) > 1
    bank.reset([0])
    again = [t for t, error in enumerate(errors[drifted[0] + 1 :]) if bank.update([0], [not error], [0])[0] == DRIFT]
    assert [drifted[0] + 1 + t for t in again] == drifted[1:]


def test_a_river_bank_keeps_the_promises_of_banks():
    prototype = drift.binary.DDM(warm_start=10)
    prototype.update(True)
    bank = RiverBank(prototype)
    assert bank.add(3).tolist() == [0, 1, 2]
    assert bank[1]._p.n == 0
    bank.remove([1])
    assert (len(bank), bank.ids.tolist()) == (2, [0, 2])
    with pytest.raises(MarleneError, match=r"ids\[0\] is 1"):
        bank.update([1], [1], [1])
    with pytest.raises(MarleneError, match="no detector 1"):
        bank[1]
    assert bank.add(2).tolist() == [1, 3]
    bank.update([0, 2], [1, 1], [0, 0])
    bank.reset([2])
    assert [bank[i]._p.n for i in range(4)] == [1, 0, 0, 0]
    other = copy.deepcopy(bank)
    bank.update([0], [1], [0])
    assert (other[0]._p.n, bank[0]._p.n) == (1, 2)
    assert bank.settings() == {
        "name": "river",
        "detector": "DDM ( warm_start=10 warning_threshold=2. drift_threshold=3. )",
    }
    assert len(bank.clone()) == 0
    assert bank.clone().settings() == bank.settings()


def test_a_river_bank_cannot_be_saved():
    with pytest.raises(MarleneError, match=r"holds River objects \(PageHinkley\) cannot be saved"):
        RiverBank(drift.PageHinkley()).state()
    with pytest.raises(MarleneError, match="cannot be saved"):
        RiverBank.from_state({})


@pytest.mark.parametrize(("wrong", "message"), [("adwin", "expected a drift"), (DDMOCI(), "bank of its own")])
def test_a_river_bank_is_for_rivers_detectors(wrong, message):
    with pytest.raises(MarleneError, match=message):
        RiverBank(wrong)


@pytest.mark.parametrize("name", ["balanced", "ddm-oci", "ddm", "adwin", "none", "oracle"])
def test_a_bank_by_name(name):
    bank = make_bank(name)
    assert type(bank) is DETECTOR_BANKS[name]
    assert make_bank(bank.settings()) == bank
    assert len(bank) == 0


def test_a_bank_like_another():
    bank = DDMOCIBank(strict=False, theta=0.9)
    bank.add(3)
    assert make_bank(bank) == DDMOCIBank(strict=False, theta=0.9)
    assert make_bank(None) == NoneBank()
    assert make_bank(ADWIN(delta=0.1)) == ADWINBank(delta=0.1)
    assert make_bank(DDM(minimum=5)) == DDMBank(minimum=5)
    assert make_bank(DDMOCI(fading=0.9)) == DDMOCIBank(fading=0.9)
    made = make_bank(RiverBank(drift.ADWIN(delta=0.5)))
    assert made.settings() == make_bank(drift.ADWIN(delta=0.5)).settings()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("kswin", "no drift detector is called 'kswin'; there are balanced, ddm-oci, ddm, adwin, none, oracle"),
        ({"delta": 0.1}, "no drift detector is called None"),
        ({"name": ["ddm"]}, "no drift detector is called"),
        ({"name": "adwin", "alpha": 0.1}, "adwin has no setting 'alpha'; it has delta"),
        ({"name": "none", "alpha": 0.1}, "none has no setting 'alpha'; it has none"),
        ({"name": "ddm", "drift": -1}, "warning <= drift"),
        (3, "expected the name of a drift detector"),
        (ADWINBank, "expected the name of a drift detector"),
    ],
)
def test_what_is_no_bank(spec, message):
    with pytest.raises(MarleneError, match=message):
        make_bank(spec)
