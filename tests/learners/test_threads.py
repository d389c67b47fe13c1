"""A learner in several threads and processes: calls wait for each other, and nobody sees a half-learnt example."""

import asyncio
import copy
import inspect
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
from river.naive_bayes import GaussianNB

from marlene._common import alone
from marlene.learners import METHODS, BRMarlene, Marlene, create
from tests.cli.commands import environment

X = {"a": 1.0, "b": 2.0}


def examples(n, seed=1):
    rng = np.random.default_rng(seed)
    for t in range(n):
        values = rng.normal(size=2).tolist()
        x = {"a": values[0], "b": values[1], f"w{t // 10}": 1.0}
        yield x, {"p": values[0] > 0, "q": values[1] > 0, f"r{t // 40}": t % 2 == 0}


def numbers(told):
    return tuple(sorted((label, p[True]) for label, p in told.items()))


@pytest.mark.parametrize("method", [Marlene, BRMarlene])
def test_predictions_are_of_whole_examples(method):
    expected, alone = set(), method(seed=1)
    for x, y in [*examples(200)]:
        expected.add(numbers(alone.predict_proba_one(X)))
        alone.learn_one(x, y)
    last = numbers(alone.predict_proba_one(X))
    shared, seen, done = method(seed=1), [], threading.Event()

    def ask():
        while not done.is_set():
            seen.append(numbers(shared.predict_proba_one(X)))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for x, y in examples(200):
            shared.learn_one(x, y)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert len(set(seen)) > 1
    assert set(seen) <= expected | {last}
    assert numbers(shared.predict_proba_one(X)) == last


@pytest.mark.parametrize("method", METHODS)
def test_every_public_method_is_guarded(method):
    learner = create(method, seed=1)
    own = [name for kind in type(learner).__mro__ if kind.__module__.startswith("marlene") for name in vars(kind)]
    public = [name for name in own if not name.startswith("_") and inspect.isfunction(getattr(type(learner), name))]
    assert "learn_one" in public
    assert [name for name in public if not hasattr(getattr(type(learner), name), "is_alone")] == []


def test_copies_have_locks_of_their_own():
    model = Marlene(seed=1)
    model.learn_one(X, {"p": True})
    copies = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.clone()]
    assert len({id(each._lock) for each in [*copies[1:], model]}) == 4
    with model._lock:
        thread = threading.Thread(target=copies[1].predict_one, args=(X,))
        thread.start()
        thread.join(60)
        assert not thread.is_alive()


def codes_of_children(count, is_whole):
    """Fork so often; return how the children end: with 0 where they find everything whole."""
    codes = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if is_whole() else 1)
            finally:
                os._exit(2)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    return codes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_gets_a_whole_learner():
    model, done = Marlene(seed=1), threading.Event()
    rows = [*examples(400)]
    model.learn_one(*rows[0])

    def learn():
        while not done.is_set():
            for x, y in rows:
                model.learn_one(x, y)

    def goes_on():
        model.learn_one(*rows[1])
        return 0 <= model.predict_proba_one(X)["p"][True] <= 1

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        codes = codes_of_children(10, goes_on)
    finally:
        done.set()
        thread.join()
    assert codes == [0] * 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forks_while_locks_are_held_within_others_and_made():
    """One thread takes a second lock while it has a first; another one makes locks; forks wait for neither for ever."""
    first, second, done, kept = alone.Lock(), alone.Lock(), threading.Event(), []

    def nest():
        while not done.is_set():
            with first, second:
                pass

    def make():
        while not done.is_set():
            kept.append(alone.Lock())
            del kept[:-500]

    threads = [threading.Thread(target=work) for work in (nest, make)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    for thread in threads:
        thread.start()
    try:
        codes = codes_of_children(50, lambda: first.acquire(blocking=False) and second.acquire(blocking=False))
    finally:
        done.set()
        sys.setswitchinterval(interval)
        for thread in threads:
            thread.join(60)
    assert codes == [0] * 50
    assert alone._held == []


@pytest.mark.parametrize("method", ["river:tree.HoeffdingTreeClassifier", "br-marlene"])
def test_learners_over_river_objects_are_copied_whole(method):
    model = BRMarlene(base=GaussianNB()) if method == "br-marlene" else create(method)
    done = threading.Event()

    def learn():
        number = 0
        while not done.is_set():
            number += 1
            model.learn_one(
                {"a": number % 7, f"n{number % 50}": 1.0}, {"p": number % 2 == 0, f"q{number % 9}": number % 3 == 0}
            )

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(5):
            for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
                copied.learn_one({"a": 1.0}, {"p": True})
                assert 0 <= copied.predict_proba_one({"a": 1.0})["p"][True] <= 1
    finally:
        done.set()
        thread.join(60)


def test_tasks_share_a_learner():
    model = Marlene(seed=1)

    async def work(rows):
        for x, y in rows:
            await asyncio.to_thread(model.learn_one, x, y)
            await asyncio.to_thread(model.predict_one, x)

    async def together():
        await asyncio.gather(*(work([*examples(20, seed)]) for seed in range(4)))

    asyncio.run(together())
    assert model.predict_one(X).keys() == {"p", "q", "r0"}


def test_a_spawned_process_takes_a_learner(tmp_path):
    code = """
import multiprocessing
from marlene import Marlene

def predict(model):
    return model.predict_proba_one({"a": 1.0})

if __name__ == "__main__":
    model = Marlene(seed=1)
    for t in range(20):
        model.learn_one({"a": t % 2}, {"p": t % 2 == 0})
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(predict, (model,)) == predict(model)
"""
    script = tmp_path / "spawning.py"
    script.write_text(code, encoding="utf-8")
    subprocess.run([sys.executable, script], env=environment(), check=True)
