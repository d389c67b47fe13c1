"""An exception at any moment, as the handler of a signal raises it, leaves a learner as before or after an example."""

import signal
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

from marlene._common.errors import MarleneError
from marlene.learners import METHODS, _block_learner, _whole, create
from marlene.learners.baselines._committee_learner import CommitteeLearner
from marlene.learners.baselines._goowe import GOOWE
from tests.learners.streams import contents, sensitive

EXAMPLES = 60
MOMENTS = 3
"""How often an example is interrupted, at most; and a prediction once."""
BEFORE, AFTER, UNFINISHED = "before", "after", "unfinished"
SAVED = [name for name in METHODS if hasattr(create(name), "state")]
"""The methods whose state can be told; Vowpal Wabbit's cannot."""
pytestmark = pytest.mark.filterwarnings("ignore:.*:pytest.PytestUnraisableExceptionWarning")
"""Python reports what a handler raises while an object is removed, and goes on: a signal that had no effect."""


class InterruptError(Exception):
    """Raised by the handler of the signal."""


@contextmanager
def interrupts():
    """Let the alarm of this process raise an exception in the calls of ``is_interrupted``."""
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def is_interrupted(call, seconds):
    """Call a function; tell whether it was interrupted so many seconds later."""
    waited_for = True

    def interrupt(_number, _frame):
        if waited_for:  # another thread may take the signal, and tell of it when the call is over
            raise InterruptError

    signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(1e-6, seconds))
        call()
        waited_for = False
    except InterruptError:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        waited_for = False
    return False


def build(method):
    """Return a learner in whose first examples much happens."""
    model = create(method, seed=3)
    if isinstance(model, CommitteeLearner):
        return model.clone(new_params={"members": 3} | ({"chunk": 15} if isinstance(model, GOOWE) else {}))
    return model.clone(new_params={"drift": sensitive()}) if hasattr(model, "drift") else model


def examples(n, seed, transfer):
    """Return examples with new features, values and labels now and then, some from a source, and drifts."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        x = {f"w{i}": 1.0 + i % 3 for i in rng.integers(0, 10 + 40 * t // n, 5).tolist()}
        if t % 2:
            x |= {"colour": ["red", "green", "blue", "grey"][int(rng.integers(0, 1 + 8 * t // n)) % 4], "on": t % 4 > 1}
        if t > n // 2:
            x |= {"note": " ".join(f"n{i}" for i in rng.integers(0, 5 + t // 4, 5))}
        turned = 3 * t // n % 2 == 1
        y = {label: (f"w{i}" in x) != turned for i, label in enumerate("abcdef"[: 2 + 4 * t // n])}
        yield x, y, {"stream": "archive"} if transfer and t % 7 == 3 else {}


def found(model, before, after):
    """Return what a learner is like after an interrupt: as one of two states, or of no use."""
    try:
        state = contents(model)
    except MarleneError as error:
        said = str(error)
        for call in (lambda: model.predict_one({}), lambda: model.learn_one({"w1": 1.0}, {"a": True})):
            with pytest.raises(MarleneError) as refused:
                call()
            assert str(refused.value) == said == _whole.UNFINISHED
        return UNFINISHED
    assert state in (before, after)
    return AFTER if state == after else BEFORE


def warm_up(method, n):
    """Load all kernels: an exception in the midst of the compiler's work may harm the compiler."""
    model = build(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x, y, options in examples(n, 1, METHODS[method].transfer):
            model.learn_one(x, y, **options)
            model.predict_proba_one(x)


def interrupted(method, seed, n=EXAMPLES):
    """Interrupt a learner at random moments, and compare it with a twin that is left alone; count what is found."""
    transfer, rng, counts = METHODS[method].transfer, np.random.default_rng(seed), dict.fromkeys((BEFORE, AFTER), 0)
    counts[UNFINISHED] = 0
    warm_up(method, n)
    model, twin = build(method), build(method)
    before = contents(twin)
    with interrupts(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t, (x, y, options) in enumerate(examples(n, seed, transfer)):
            began = time.perf_counter()
            twin.learn_one(x, y, **options)
            took, after = time.perf_counter() - began, contents(twin)

            def learn(model=model, x=x, y=y, options=options):
                model.learn_one(x, y, **options)

            state = BEFORE
            for _ in range(MOMENTS):
                if not is_interrupted(learn, 1.2 * rng.random() * took):
                    state = AFTER
                    break
                state = found(model, before, after)
                counts[state] += 1
                if state != BEFORE:
                    break
            if state == UNFINISHED:
                model = type(twin).from_state(*twin.state())
            elif state == BEFORE:
                learn()
            began = time.perf_counter()
            said = twin.predict_proba_one(x)
            is_interrupted(
                lambda x=x, model=model: model.predict_proba_one(x), 1.2 * rng.random() * (time.perf_counter() - began)
            )
            assert model.predict_proba_one(x) == said, t
            if t % 15 == 14:  # saved, restored and gone on with
                model = type(model).from_state(*model.state())
            assert contents(model) == after, t
            before = after
    return counts


@pytest.mark.parametrize("method", SAVED)
def test_an_interrupted_example_is_learnt_or_not(method):
    counts = interrupted(method, 2)
    assert counts[UNFINISHED] == 0
    assert sum(counts.values()) > 20


@pytest.mark.parametrize("method", SAVED)
def test_a_learner_that_signals_divide_is_refused(method, monkeypatch):
    monkeypatch.setattr(_whole, "WAITING", ())
    counts = interrupted(method, 3, 40)
    assert sum(counts.values()) > 15
    assert (counts[UNFINISHED] == 0) == (method in ("marlene", "majority", "prior", "coin"))


@pytest.mark.parametrize("method", ["br-marlene", "ebr", "marlene"])
def test_of_an_interrupted_block_some_parts_are_learnt(method, monkeypatch):
    monkeypatch.setattr(_block_learner, "FIRST_PART", 8)
    monkeypatch.setattr(_block_learner, "LARGEST_PART", 8)
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 4)), rng.integers(0, 2, (80, 3))
    states, twin = [], build(method)
    for row in range(80):
        states.append(contents(twin))
        began = time.perf_counter()
        twin.learn_many(X[row : row + 1], Y[row : row + 1])
        took = 30 * (time.perf_counter() - began)
    states.append(contents(twin))
    seen = set()
    with interrupts():
        for _ in range(30):
            model = build(method)
            if is_interrupted(lambda model=model: model.learn_many(X, Y), took * rng.random()):
                seen.add(states.index(contents(model)))
    assert len(seen) > 1
