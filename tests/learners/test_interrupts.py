"""An exception at any moment, as the handler of a signal raises it, leaves a learner as before or after an example."""

import copy
import signal
from contextlib import contextmanager

import numpy as np
import pytest

from marlene.learners import Marlene
from tests.learners.streams import contents

LONGEST = 400e-6
"""Seconds until an interrupt, at most; learning an example takes less, loaded machines apart."""


class InterruptError(Exception):
    """Raised by the handler of the signal."""


def _interrupt(_number, _frame):
    raise InterruptError


@contextmanager
def interrupts():
    """Let the alarm of this process raise an exception."""
    before = signal.signal(signal.SIGALRM, _interrupt)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def is_interrupted(call, seconds):
    """Call a function; tell whether it was interrupted so many seconds later."""
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except InterruptError:
        return True
    return False


def examples(n, seed, words, nominal):
    """Return examples with new words now and then, labels that come later, and if asked texts of all kinds."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        x = {f"w{i}": 1.0 + i % 3 for i in rng.integers(0, words * (t + 10) // n, 5).tolist()}
        if nominal:
            x |= {"colour": ["red", "green", "blue", "grey"][int(rng.integers(0, 1 + t // 12)) % 4], "on": bool(t % 2)}
            x |= {"note": " ".join(f"n{i}" for i in rng.integers(0, 5 + t // 4, 5))} if t > 20 else {}
        y = {label: bool(rng.random() < 0.4) for label in "abcdef"[: 2 + 4 * t // n]}
        yield x, y, "archive" if t % 7 == 3 else None


@pytest.mark.parametrize("nominal", [False, True])
def test_an_interrupted_example_is_learnt_or_not(nominal):
    model, rng, interrupted = Marlene(), np.random.default_rng(1), {True: 0, False: 0}
    for x, y, stream in examples(70, 2, 60, nominal):
        model.learn_one(x, y, stream=stream)  # compiles everything
        model.predict_one(x)
    model = Marlene()
    with interrupts():
        for t, (x, y, stream) in enumerate(examples(220, 3, 400, nominal)):
            before, other = contents(model), copy.deepcopy(model)
            other.learn_one(x, y, stream=stream)
            after = contents(other)
            for _ in range(3):
                seconds = max(1e-6, rng.random() * LONGEST)
                if is_interrupted(lambda x=x, y=y, stream=stream: model.learn_one(x, y, stream=stream), seconds):
                    found = contents(model)
                    assert found in (before, after), t
                    interrupted[found == after] += 1
                    if found == before:
                        continue
                break
            if contents(model) == before:
                model.learn_one(x, y, stream=stream)
            assert contents(model) == after, t
            assert model.predict_proba_one(x) == other.predict_proba_one(x)
    assert interrupted[False] > 20
