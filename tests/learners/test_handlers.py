"""Handlers of signals that use a learner while it learns, and several that raise: all find whole learners."""

import signal
import sys
from contextlib import contextmanager

import pytest

from marlene.learners import create
from marlene.learners._whole import WAITING, Undivided
from tests.learners.streams import contents

ROWS = {
    "new words": {"w1": 1.0, "n1": 2.0, "n2": 1.0, "n3": 1.0},
    "known words": {"w1": 1.0, "w2": 2.0},
    "many new words": {"w1": 1.0} | {f"n{i}": 1.0 for i in range(100)},
    "a new value": {"w1": 1.0, "colour": "red"},
}
Y = {"a": True, "b": False}


@contextmanager
def handled(number, handler):
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@contextmanager
def signal_at(moment):
    """Send a signal when so many calls of this package's functions have begun; yield how many there were."""
    calls, busy = [0], [False]

    def trace(frame, event, _):
        if event == "call" and not busy[0] and "marlene" in frame.f_code.co_filename:
            calls[0] += 1
            if calls[0] == moment:
                busy[0] = True
                signal.raise_signal(signal.SIGALRM)
                busy[0] = False

    sys.settrace(trace)
    try:
        yield calls
    finally:
        sys.settrace(None)


def learnt(method):
    """Return a learner, some of whose words it was told late of."""
    model = create(method, seed=3)
    for t in range(30):
        model.learn_one({"w1": 1.0 + t % 3, f"w{t % 5}": 1.0}, {"a": t % 2 == 0, "b": t % 3 == 0})
    model.learn_one({"w1": 1.0, "late": 1.0}, Y)
    return model


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("method", ["marlene", "br-marlene", "ebr"])
def test_a_handler_may_ask_a_learner_that_learns(method, row):
    x, twin = ROWS[row], learnt(method)
    before = contents(twin)
    twin.learn_one(x, Y)
    after = contents(twin)
    said, moment, last = [], 0, 1
    while moment < last:
        moment += 1 if moment < 60 else 17  # every moment at first, where examples are looked at
        model = learnt(method)

        def ask(*_, model=model):
            model.predict_one({"w1": 1.0, "unheard": 1.0})
            said.append(contents(model))

        with handled(signal.SIGALRM, ask), signal_at(moment) as calls:
            model.learn_one(x, Y)
        last = calls[0]
        assert contents(model) == after, moment
    assert len(said) > 5
    assert {*said} <= {before, after}


class LateError(Exception):
    """What a handler raises."""


def test_handlers_of_all_signals_that_came_are_called():
    told = []

    def late(*_):
        raise LateError

    with handled(signal.SIGALRM, late), handled(signal.SIGTERM, lambda *_: told.append("SIGTERM")):
        undivided = Undivided()
        undivided.__enter__()
        signal.raise_signal(signal.SIGALRM)
        signal.raise_signal(signal.SIGTERM)
        assert told == []
        with pytest.raises(LateError):
            undivided.__exit__(None, None, None)
        assert told == ["SIGTERM"]


def test_handlers_are_given_back_even_if_several_raise(monkeypatch):
    def late(*_):
        raise LateError

    numbers = [signal.SIGALRM, signal.SIGUSR1, signal.SIGTERM]
    assert set(numbers) <= set(WAITING)
    plain, calls = signal.signal, []

    class Interrupting:
        """Signals that come as soon as handlers are given back."""

        getsignal = staticmethod(signal.getsignal)

        @staticmethod
        def signal(number, handler):
            given = plain(number, handler)
            if handler is late:
                calls.append(number)
                if len(calls) in (1, 2):
                    signal.raise_signal(number)
            return given

    before = {number: signal.signal(number, late) for number in numbers}
    try:
        monkeypatch.setattr("marlene.learners._whole._signal", Interrupting)
        with pytest.raises(LateError), Undivided():
            pass
        assert len(calls) > len(numbers)
        assert {signal.getsignal(number) for number in numbers} == {late}
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
