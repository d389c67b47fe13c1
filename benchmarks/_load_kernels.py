"""Load the kernels of parts of the package; print as JSON what that took. Run as a program by `compilation`."""

from __future__ import annotations

import importlib
import json
import pathlib
import sys
import tempfile
import time
from typing import Any

from numba.core.dispatcher import Dispatcher
from river import naive_bayes


def load_forest(trees: Any) -> None:  # noqa: ANN401 (a module)
    forest = trees.HoeffdingForest(["numeric", "binary", 3])
    forest.load_kernels()
    trees.HoeffdingForest.from_state(forest.state(), forest.settings())


def load_detectors(drift: Any) -> None:  # noqa: ANN401
    for name in drift.DETECTOR_BANKS:
        bank = drift.make_bank(name)
        bank.update(bank.add(), [True], [1])


def load_scores(metrics: Any) -> None:  # noqa: ANN401
    scores = metrics.Scores(n_labels=2)
    scores.update_many([[1, 0]], [[1, 1]], trace=True)
    scores.as_dict()
    scores.revert([1, 0], [1, 1])
    len(scores.label_gmeans)


def load_learner(learners: Any) -> None:  # noqa: ANN401
    learners.BRMarlene().load_kernels()
    learners.BRMarlene(base=naive_bayes.GaussianNB()).load_kernels()
    learners.BRPWMarlene().load_kernels()


def load_ensembles(learners: Any) -> None:  # noqa: ANN401
    for name in ("ebr", "ecc", "ert"):
        learners.create(name).load_kernels()


def load_marlene(learners: Any) -> None:  # noqa: ANN401
    learners.Marlene().load_kernels()
    banks = importlib.import_module("marlene.banks")
    for bank in (banks.NaiveBayesBank(), banks.LinearBank()):
        bank.learn(bank.add(), [], [1])
        bank.votes([])


def load_readers(streams: Any) -> None:  # noqa: ANN401
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a.jsonl", '{"a": "b", "y": 1}'), ("a.svm", "1 1:1")):
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        streams.load(f"{folder}/a.jsonl", labels="y", kinds={"a": "text"})
        streams.load(f"{folder}/a.svm")


PARTS = {
    "forest": ("marlene.trees", load_forest),
    "detectors": ("marlene.drift", load_detectors),
    "scores": ("marlene.metrics", load_scores),
    "BR- and BRPW-MARLENE": ("marlene.learners", load_learner),
    "ensembles": ("marlene.learners", load_ensembles),
    "Marlene": ("marlene.learners", load_marlene),
    "readers": ("marlene.streams", load_readers),
}


def kernels() -> list[Dispatcher]:
    """Return all kernels that Python can call."""
    found = {
        id(value): value
        for name, module in list(sys.modules.items())
        if name.startswith("marlene.kernels.")
        for value in vars(module).values()
        if isinstance(value, Dispatcher) and not value.targetoptions.get("no_cpython_wrapper")
    }
    return list(found.values())


def main(names: list[str]) -> None:
    modules = {}
    seconds: dict[str, float] = {}
    for name in names:
        modules[name] = importlib.import_module(PARTS[name][0])
    seconds["import"] = time.process_time()
    for name in names:
        start = time.process_time()
        PARTS[name][1](modules[name])
        seconds[name] = time.process_time() - start
    compiled = sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels())
    loaded = sum(sum(kernel.stats.cache_hits.values()) for kernel in kernels())
    unused = [kernel.py_func.__name__ for kernel in kernels() if not kernel.signatures]
    print(json.dumps({"seconds": seconds, "compiled": compiled, "loaded": loaded, "unused": unused}))


if __name__ == "__main__":
    main(sys.argv[1:])
