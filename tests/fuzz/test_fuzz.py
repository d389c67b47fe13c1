"""Damaged input gives a right result or an error of one line, whatever the way in."""

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from tests.fuzz._mutations import changed_state
from tests.fuzz._run import FOUND, REFUSED, RIGHT, FindingError, Target, outcome, run
from tests.fuzz._targets import TARGETS

CASES = 2000
KEPT = sorted(FOUND.iterdir())


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input(name):
    report = run(TARGETS[name], CASES)
    assert not report.findings
    assert report.counts.total() == CASES
    assert report.counts[RIGHT] > 0
    assert report.counts[REFUSED] > 0


@pytest.mark.parametrize("path", KEPT, ids=[path.name for path in KEPT])
def test_what_was_found_before(path, tmp_path):
    target = TARGETS[path.name.partition("-")[0]]
    target.check(target.seeds()[0], tmp_path)  # without a limit of time: kernels may have to be compiled
    assert outcome(target, path.read_bytes(), tmp_path) in (RIGHT, REFUSED)


def _fails(case, folder):
    if case == b"several lines":
        error = MarleneError("one")
        error.args = ("two\nlines",)
        raise error
    if case == b"refused":
        raise MarleneError("no")
    if case == b"another":
        raise KeyError(folder)


def test_outcomes(tmp_path):
    target = Target("any", lambda: [b"good"], _fails)
    assert outcome(target, b"good", tmp_path) == RIGHT
    assert outcome(target, b"refused", tmp_path) == REFUSED
    with pytest.raises(FindingError, match="not one line"):
        outcome(target, b"several lines", tmp_path)
    with pytest.raises(FindingError, match="KeyError"):
        outcome(target, b"another", tmp_path)


def test_the_same_seed_gives_the_same_cases():
    seen = []
    target = Target("any", lambda: [b"good input", b"another"], lambda case, _: seen.append(case))
    run(target, 50)
    first = list(seen)
    seen.clear()
    run(target, 50)
    assert seen == first
    assert len(set(first)) > 40


def test_changes_of_states_leave_the_original():
    header, arrays = {"a": [1, 2], "b": {"c": 3}}, {"x": np.arange(4.0), "y": np.arange(2)}
    made = [["header", ["b", "c"], None], ["delete", ["a", 0]], ["value", "x", 1, float("inf")], ["drop", "y"]]
    changed, left = changed_state(header, arrays, made)
    assert changed == {"a": [2], "b": {"c": None}}
    assert left.keys() == {"x"}
    assert np.isinf(left["x"][1])
    assert header == {"a": [1, 2], "b": {"c": 3}}
    assert arrays["x"].tolist() == [0, 1, 2, 3]
