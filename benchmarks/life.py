"""How much a learner costs after ten million examples, compared with the first million.

`python -m benchmarks.life METHOD EXAMPLES` prints the figures of one learner as lines of JSON.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks._measure import Bound, Table, cpu_seconds, progress
from benchmarks.growth import BLOCK, USUAL_FEATURES, USUAL_LABELS, USUAL_NONZEROS, blocks
from marlene._common.errors import MarleneError
from marlene._common.resources import memory_mb
from marlene.learners import BRMarlene, Marlene
from marlene.streams import Feature
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES, QUICK_EXAMPLES, PARTS = 10_000_000, 20_000, 10
CHANGES = 50_000
"""After so many examples labels change places."""
STRANGERS = 5
"""Examples of each block that bring new words, and now and then a new label or source."""
MOST = {"max_features": 2 * USUAL_FEATURES, "max_labels": 4 * USUAL_LABELS}
METHODS = {
    "marlene": lambda: Marlene(features="binary", **MOST),
    "br-marlene": lambda: BRMarlene(HoeffdingForest([], max_nodes=50), features="binary", max_models=50, **MOST),
}


def learn_strangers(model: Any, number: int) -> None:  # noqa: ANN401 (either learner)
    """Learn examples with words, labels and sources that were never seen before; beyond the limits they are refused."""
    rng = np.random.default_rng(number)
    for i in range(STRANGERS):
        x = {f"new {number} {i} {k}": 1.0 for k in range(3)} | {int(rng.integers(USUAL_FEATURES)): 1.0}
        stream = f"source {number}" if i == 0 else None
        y = {f"label {number}" if i == 1 else int(rng.integers(USUAL_LABELS)): bool(rng.random() < 0.5)}
        try:
            model.learn_one(x, y, stream=stream)
        except MarleneError as error:
            if "no more are taken" not in str(error):
                raise


def live(method: str, examples: int) -> Iterator[dict[str, float]]:
    """Yield time and memory after each part of a life."""
    model = METHODS[method]()
    model.declare([Feature(i, "binary") for i in range(USUAL_FEATURES)], range(USUAL_LABELS))
    model.load_kernels()
    numbered = enumerate(blocks(USUAL_FEATURES, USUAL_NONZEROS, USUAL_LABELS, CHANGES))
    for part in range(PARTS):
        seconds = 0.0
        for number, (X, Y) in itertools.islice(numbered, examples // PARTS // BLOCK):
            labels = len(model.predict_one({}))
            truth = np.full((BLOCK, labels), -1, np.int8)
            truth[:, :USUAL_LABELS] = Y
            seconds += cpu_seconds(lambda X=X, truth=truth: model.decide_then_train(X, truth))
            seconds += cpu_seconds(lambda number=number: learn_strangers(model, number))
        arrays = sum(array.nbytes for array in model.state()[1].values())
        yield {
            "examples": (part + 1) * (examples // PARTS),
            "µs": 1e6 * seconds / (examples // PARTS),
            "MB": memory_mb(),
            "arrays": arrays / 1e6,
            "models": model.counts()["models"],
        }


def table(method: str, examples: int) -> Table:
    """Measure a life in a process of its own."""
    progress(f"{method}: a life of {examples:,} examples")
    command = [sys.executable, "-m", "benchmarks.life", method, str(examples)]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    rows = [tuple(json.loads(line).values()) for line in told]
    limits = ", ".join(f"`{name}={value}`" for name, value in MOST.items())
    limits += ", `max_models=50`, trees of 50 nodes" if method == "br-marlene" else ""
    text = (
        f"A stream as above, whose labels change places every {CHANGES:,} examples. After every thousand examples come "
        f"{STRANGERS} with three words each that never came before; one of them is of a new source, one has a new "
        f"label. Limits: {limits}. CPU time per example since the row before; memory of the process and of the saved "
        "arrays; classifiers."
    )
    columns = ("examples", "µs per example", "MB of the process", "MB of the arrays", "models")
    bounds = [
        Bound("time of the last tenth over that of the second", rows[-1][1] / rows[1][1], 1.3, "×"),
        Bound("memory at the end over that after a tenth", rows[-1][2] / rows[0][2], 1.2, "×"),
    ]
    return Table(f"{method}: a long life", text, columns, [*rows], bounds)


def tables(*, quick: bool = False) -> Iterator[Table]:
    """Return the table of each learner."""
    for method in METHODS:
        yield table(method, QUICK_EXAMPLES if quick else EXAMPLES)


if __name__ == "__main__":
    for line in live(sys.argv[1], int(sys.argv[2])):
        print(json.dumps(line), flush=True)
