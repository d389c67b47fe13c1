"""Banks against their naive twins, and detectors in company against detectors alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marlene.drift import DRIFT, WARNING, ADWINBank, BalancedBank, DDMBank, DDMOCIBank
from tests.naive.detectors import NaiveADWIN, NaiveBalanced, NaiveDDM, NaiveDDMOCI

EACH_KIND = pytest.mark.parametrize(
    "prototype", [DDMOCIBank(strict=False), DDMOCIBank(), BalancedBank(), DDMBank(), ADWINBank()], ids=repr
)
SEEDS = st.integers(0, 2**32 - 1)
OCI_NAMES = ["n", "minority", "p", "s", "p_max", "s_max", "class_size", "recall_num", "recall_den"]
NAIVE_NAMES = {
    "ddm-oci": OCI_NAMES,
    "balanced": ["n", "p", "s", "p_max", "s_max", "class_size", "recall_num", "recall_den"],
    "ddm": ["n", "p", "s", "p_min", "s_min"],
    "adwin": ["inputs", "width", "total", "variance_sum"],
}


NAIVE = {"ddm-oci": NaiveDDMOCI, "balanced": NaiveBalanced, "ddm": NaiveDDM, "adwin": NaiveADWIN}


class Twin:
    """A naive detector in the interface of the banks."""

    def __init__(self, bank):
        self.kind = bank.name
        parameters = {name: value for name, value in bank.settings().items() if name != "name"}
        self.detector = NAIVE[self.kind](**parameters)

    def update(self, correct, truth):
        if self.kind in {"ddm-oci", "balanced"}:
            self.detector.update(correct, truth)
        else:
            self.detector.update(not correct)
        if self.kind == "adwin":
            return DRIFT * self.detector.change
        return DRIFT if self.detector.drift else WARNING * self.detector.warning

    def statistics(self):
        return np.concatenate([np.ravel(getattr(self.detector, name)) for name in NAIVE_NAMES[self.kind]])


def statistics(bank, i):
    state = bank.state()
    return np.concatenate([np.ravel(state[name][i]) for name in NAIVE_NAMES[bank.name]])


def examples(rng, count, positive, errors):
    """Whether each example was predicted right, and its class."""
    truth = rng.random(count) < positive
    return rng.random(count) >= errors, truth


def run_beside_twins(bank, seed, positive, steps=250, churn=0.01):
    """Random inputs to random detectors, in random order, while some come, go and start afresh."""
    rng = np.random.default_rng(seed)
    twins = {int(i): Twin(bank) for i in bank.add(3)}
    drifts = 0
    for step in range(steps):
        action = rng.choice(["add", "remove", "reset", "update"], p=[churn, churn, churn, 1 - 3 * churn])
        some = rng.permutation(list(twins))[: rng.integers(len(twins) + 1)]
        if action == "add":
            new = bank.add(int(rng.integers(4)))
            assert not set(new.tolist()) & set(twins)
            twins |= {int(i): Twin(bank) for i in new}
        elif action == "remove":
            bank.remove(some[:2])
            for i in some[:2].tolist():
                del twins[i]
        elif action == "reset":
            bank.reset(some)
            twins |= {int(i): Twin(bank) for i in some}
        else:
            correct, truth = examples(rng, len(some), positive, errors=0.1 if step < 0.6 * steps else 0.9)
            inputs = zip(some.tolist(), correct.tolist(), truth.tolist(), strict=True)
            want = [twins[i].update(right, y) for i, right, y in inputs]
            assert bank.update(some, correct, truth).tolist() == want
            drifts += want.count(DRIFT)
        assert bank.ids.tolist() == sorted(twins)
        assert len(bank) == len(twins)
    for i, twin in twins.items():
        np.testing.assert_allclose(statistics(bank, i), twin.statistics(), rtol=1e-12, atol=1e-300)
    return drifts


@settings(max_examples=60)
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.9]), st.integers(0, 40))
def test_ddm_oci_is_its_twin(seed, strict, positive, minimum):
    run_beside_twins(DDMOCIBank(strict, minimum=minimum), seed, positive)


@settings(max_examples=60)
@given(SEEDS, st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.9]), st.integers(0, 40), st.sampled_from([0.9, 0.999, 1.0]))
def test_balanced_is_its_twin(seed, positive, minimum, fading):
    run_beside_twins(BalancedBank(minimum=minimum, fading=fading), seed, positive)


@settings(max_examples=30)
@given(SEEDS, st.integers(0, 40), st.floats(0.5, 2), st.floats(2, 3))
def test_ddm_is_its_twin(seed, minimum, warning, drift):
    run_beside_twins(DDMBank(minimum=minimum, warning=warning, drift=drift), seed, 0.5)


@settings(max_examples=30)
@given(SEEDS, st.sampled_from([0.002, 0.05, 0.9]))
def test_adwin_is_its_twin(seed, delta):
    run_beside_twins(ADWINBank(delta), seed, 0.5, steps=400)


@EACH_KIND
def test_twins_see_drifts(prototype):
    assert run_beside_twins(prototype.clone(), seed=3, positive=0.4, steps=2500, churn=0.002) > 0


@settings(max_examples=40)
@given(st.lists(st.floats(-1e6, 1e6), max_size=150), st.integers(1, 100))
def test_adwin_of_any_numbers_is_its_twin(values, copies):
    bank, twin = ADWINBank(delta=0.5), NaiveADWIN(delta=0.5)
    ids = bank.add()
    for value in np.repeat(values, copies)[:600].tolist():
        twin.update(value)
        assert bank.update_values(ids, [value]).tolist() == [DRIFT * twin.change]
        assert bank.state()["cut"][0] == twin.raw_change
        assert bank.state()["width"][0] == twin.width


@EACH_KIND
def test_a_detector_among_a_hundred_is_as_if_alone(prototype):
    rng = np.random.default_rng(11)
    bank = prototype.clone()
    ids = bank.add(100)
    alone = [bank.clone() for _ in ids]
    for one in alone:
        one.add()
    drifts = 0
    for step in range(350):
        correct, truth = examples(rng, 100, 0.3, errors=0.1 if step < 250 else 0.8)
        order = rng.permutation(100)
        signals = bank.update(ids[order], correct[order], truth[order])
        assert signals.tolist() == [alone[i].update([0], [correct[i]], [truth[i]])[0] for i in order]
        drifts += np.count_nonzero(signals == DRIFT)
    assert drifts > 0
    arrays = bank.arrays._asdict()
    for i, one in enumerate(alone):
        for name, array in one.arrays._asdict().items():
            assert array[0].tobytes() == arrays[name][i].tobytes(), name
