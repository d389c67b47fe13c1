"""Lives of learners: examples with words, labels and sources that keep appearing, restarts, and examples to refuse.

A case is JSON: which learner, and what happens to it. A life with restarts must end like the same one without; kernels
with bounds checks find whatever is written or read beyond an array (`NUMBA_BOUNDSCHECK=1 python -m tests.fuzz lives`).
"""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from marlene import BRMarlene, BRPWMarlene, Marlene
from marlene._common.errors import MarleneError
from marlene.learners import create
from marlene.trees import HoeffdingForest
from tests.fuzz._run import Target
from tests.fuzz._states import LEARNERS, VARIANTS, as_read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WEIGHING = (Marlene,)
TAKING_SOURCES = (Marlene, BRMarlene, BRPWMarlene)


def _small_trees() -> HoeffdingForest:
    return HoeffdingForest([], grace_period=5, delta=0.5, max_nodes=9)


BOUNDED: dict[str, Callable[[], Any]] = {
    "marlene bounded": lambda: Marlene(max_features=20, max_labels=70),
    "marlene binary": lambda: Marlene(features="binary", transfer="own", objective="subset"),
    "br-marlene bounded": lambda: BRMarlene(_small_trees(), max_models=9, max_features=20, drift="ddm"),
    "brpw-marlene bounded": lambda: BRPWMarlene(_small_trees(), max_models=30, drift="ddm", pairs=3),
}
MAKE: dict[str, Callable[[], Any]] = {
    **{method: lambda method=method: create(method) for method in LEARNERS},
    **{name: lambda name=name: create(name.split()[0], **VARIANTS[name]) for name in VARIANTS},
    **BOUNDED,
}
MOST_LABELS = {"brpw-marlene": 12, "gocc": 30, "ecc": 30, "eacc": 30}
"""More would take long."""
WEIGHTS = (1.0, 1.0, 1.0, 0.0, 0.5, 3.0)
HOSTILE = (math.nan, math.inf, -math.inf, 1e308, -1e-320, 2**70, "text", None, [], b"bytes", 1e19)


class _Life:
    """One learner and what it has met so far."""

    def __init__(self, name: str, *, restarts: bool) -> None:
        self.model = MAKE[name]()
        self.words, self.labels, self.restarts = 3, 1, restarts
        self.most = MOST_LABELS.get(name.split(maxsplit=1)[0], 200)
        self.refused: MarleneError | None = None

    def happen(self, what: str, count: int, seed: int) -> None:
        rng = random.Random(seed)
        try:
            getattr(self, f"_{what}")(count, rng)
        except MarleneError as error:
            self.refused = error

    def _x(self, rng: random.Random, count: int = 4) -> dict[Any, Any]:
        x: dict[Any, Any] = {f"word {rng.randrange(self.words)}": 1 for _ in range(count)}
        if rng.random() < 0.3:
            x |= {"number": rng.choice((0.0, 1.5, -7.0, 1e6)), "colour": rng.choice(("red", "green", "blue"))}
        return x

    def _y(self, rng: random.Random) -> Any:
        if rng.random() < 0.2:
            return [f"label {rng.randrange(self.labels)}"]
        return {f"label {rng.randrange(self.labels)}": rng.random() < 0.4 for _ in range(rng.randrange(1, 5))}

    def _learn(self, x: Any, y: Any, rng: random.Random) -> None:
        more: dict[str, Any] = {"w": rng.choice(WEIGHTS)} if isinstance(self.model, WEIGHING) else {}
        if isinstance(self.model, TAKING_SOURCES) and rng.random() < 0.15:
            more["stream"] = f"source {rng.randrange(4)}"
        self.model.learn_one(x, y, **more)

    def _rows(self, count: int, rng: random.Random) -> None:
        for _ in range(count):
            self._learn(self._x(rng), self._y(rng), rng)

    def _one_by_one(self, count: int, rng: random.Random) -> None:
        for _ in range(count):
            self._new_labels(1, rng)
            self._predict(1, rng)

    def _new_words(self, count: int, rng: random.Random) -> None:
        new = {f"word {self.words + i}": 1 for i in range(count)}
        self.words += count
        self._learn(self._x(rng) | new, self._y(rng), rng)

    def _new_labels(self, count: int, rng: random.Random) -> None:
        count = min(count, self.most - self.labels)
        new = {f"label {self.labels + i}": rng.random() < 0.5 for i in range(count)}
        self.labels += count
        self._learn(self._x(rng), {**new, "label 0": True}, rng)

    def _block(self, count: int, rng: random.Random) -> None:
        numbers = np.random.default_rng(rng.randrange(2**32))
        names = [f"word {i}" for i in range(min(self.words, 30))]
        labels = [f"label {i}" for i in range(self.labels)]
        X = pd.DataFrame(numbers.random((count, len(names))) < 0.2, columns=names, dtype=float)
        Y = pd.DataFrame(numbers.integers(-1, 2, (count, len(labels))), columns=labels)
        if rng.random() < 0.5:
            self.model.learn_many(X, Y)
        else:
            assert np.isfinite(self.model.test_then_train(X, Y)).all()

    def _predict(self, count: int, rng: random.Random) -> None:
        for _ in range(count):
            x = self._x(rng, rng.choice((0, 1, 4, 30)))
            if rng.random() < 0.3:
                x["never met"] = 1
            told = self.model.predict_proba_one(x)
            assert all(0 <= probability[True] <= 1 for probability in told.values())
            assert self.model.predict_one(x).keys() == told.keys()

    def _hostile(self, count: int, rng: random.Random) -> None:
        value = rng.choice(HOSTILE)
        name = rng.choice(("number", "colour", "word 0", "new" if isinstance(value, list) else value))
        x = self._x(rng) | {name: value}
        self._learn(x, self._y(rng) if count % 3 else value, rng)

    def _restart(self, count: int, rng: random.Random) -> None:  # noqa: ARG002
        if self.restarts:
            self.model = type(self.model).from_state(*as_read(self.model.state()))


HAPPENINGS = ("rows", "rows", "one_by_one", "new_words", "new_labels", "block", "predict", "hostile", "restart")
COUNTS = (1, 1, 1, 2, 2, 3, 5, 9, 30)


def _made(rng: random.Random, seeds: list[bytes], _: tuple[bytes, ...]) -> bytes:
    happened = [
        [rng.choice(HAPPENINGS), rng.choice(COUNTS), rng.randrange(2**32)] for _ in range(rng.choice((2, 4, 12)))
    ]
    return json.dumps(json.loads(seeds[0]) | {"happened": happened}).encode()


def _seeds() -> list[bytes]:
    happened = [["rows", 40, 1], ["new_labels", 3, 2], ["block", 20, 3], ["restart", 1, 4], ["rows", 9, 5]]
    return [json.dumps({"learner": name, "happened": happened}).encode() for name in MAKE]


def _check(case: bytes, folder: Path) -> None:  # noqa: ARG001
    told = json.loads(case)
    lives = [_Life(told["learner"], restarts=restarts) for restarts in (True, False)]
    for life in lives:
        for what, count, seed in told["happened"]:
            life.happen(what, count, seed)
    (header, arrays), (other, others) = (life.model.state() for life in lives)
    assert json.dumps(header) == json.dumps(other)
    assert {name: array.tobytes() for name, array in arrays.items()} == {
        name: array.tobytes() for name, array in others.items()
    }
    if lives[0].refused is not None:
        raise lives[0].refused


LIVES_TARGET = Target("lives", _seeds, _check, make=_made)
