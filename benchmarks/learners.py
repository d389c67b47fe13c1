"""The learners, test-then-train over whole streams, against River's binary relevance of Hoeffding trees."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks._measure import Bound, Table, absent_data, cpu_seconds, median_seconds, progress
from marlene import BRMarlene, BRPWMarlene
from marlene.streams import GaussianStream, load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from marlene.streams import Stream

PEER = "river:tree.HoeffdingTreeClassifier"
ROUNDS = 3
SHORT = 5.0
"""CPU seconds up to which a run is repeated."""
LEAST = f"the least of {ROUNDS} runs if they are below {SHORT:g}"
LARGEST_TABLE = 4000
"""Megabytes."""
OFF_BLOCK = 2.0
"""How many times the cost per example of a block one example at a time may have."""


class Limits(NamedTuple):
    """CPU seconds and peak memory (MB) of the authors' Java program, and the seconds we allow ourselves."""

    java_seconds: float
    java_memory: float
    seconds: float
    peer_examples: int


BOUNDS = {
    "slashdot": Limits(14.6, 608, 0.25, 100),
    "ohsumed": Limits(98, 1900, 1.4, 100),
    "20ng": Limits(101, 2600, 1.8, 100),
    "tmc2007": Limits(47, 1800, 2.0, 200),
    "reuters": Limits(59, 735, 1.2, 50),
    "yeast": Limits(1.6, 205, 0.25, 500),
    "imdb": Limits(5700, 2800, 10, 100),
}


METHODS = {"br-marlene": ("BR-MARLENE", 1.0), "marlene": ("Marlene", 1.5)}
"""Names in words, and how many times the bounds they may take."""
PAIR_BOUNDS = {"yeast": (82.0, 1.0), "slashdot": (math.nan, 15.0), "tmc2007": (math.nan, 50.0)}
"""CPU seconds of the authors' Java program with pairs, where it was run, and those we allow ourselves."""


def run(words: Sequence[str]) -> dict[str, Any]:
    """Return what `marlene run WORDS --json` says, from a process of its own."""
    progress(" ".join(words))
    command = [sys.executable, "-m", "marlene", "run", *words, "--json"]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def _run(stream: str, method: str, limit: int | None, *options: str) -> dict[str, Any]:
    """Return what a run says; of a short one the fastest of several, as other work on a machine only adds to it."""
    words = [stream, "--method", method, *options, *([] if limit is None else ["--limit", str(limit)])]
    found = [run(words)]
    while found[0]["learn_seconds"] < SHORT and len(found) < ROUNDS and limit is None:
        found.append(run(words))
    return min(found, key=lambda one: float(one["learn_seconds"]))


def streams(names: list[str], limit: int | None = None) -> Table:
    """Compare BR-MARLENE and Marlene with the bounds and with River on each of the streams."""
    rows: list[tuple[str | int | float, ...]] = []
    bounds = []
    for name in names:
        limits = BOUNDS[name]
        peer = _run(name, PEER, min(limits.peer_examples, limit or limits.peer_examples))
        for method, (called, times) in METHODS.items():
            ours = _run(name, method, limit)
            cpu, memory = ours["learn_seconds"], ours["peak_rss_mb"] - ours["base_rss_mb"]
            per_example = cpu / ours["examples"]
            ratio = peer["learn_seconds"] / peer["examples"] / per_example
            rows.append((name, method, ours["examples"], cpu, 1e6 * per_example, limits.java_seconds, ratio, memory))
            if limit is None:
                bounds.append(Bound(f"{called} on {name}", cpu, times * limits.seconds, "CPU s"))
                bounds.append(Bound(f"its memory on {name}", memory, times * limits.java_memory / 4, "MB"))
    text = (
        "`marlene run STREAM --method METHOD`, default settings: CPU seconds of the test-then-train loop "
        f"({LEAST}), and peak memory less what importing and loading kernels takes. Java: CPU seconds of the authors' "
        "BR-MARLENE, measured once on a similar machine (IMDB: the paper's time), whose memory the limit is a "
        "quarter of; Marlene may take half as much again. River: "
        f"`--method {PEER}`, one tree per label without transfer, over the first 50 to 500 examples, per example."
    )
    columns = ("stream", "method", "examples", "CPU s", "µs per example", "Java CPU s", "× River's speed", "MB")
    return Table("BR-MARLENE and Marlene on the paper's streams", text, columns, rows, bounds)


def pairs(names: list[str], limit: int | None = None) -> Table:
    """Measure BRPW-MARLENE with all pairs of labels and with five partners for each label."""
    rows: list[tuple[str | int | float, ...]] = []
    bounds = []
    for name in names:
        java, limit_seconds = PAIR_BOUNDS[name]
        for which in ("all", "5"):
            found = _run(name, "brpw-marlene", limit, "--set", f"pairs={which}")
            cpu, memory = found["learn_seconds"], found["peak_rss_mb"] - found["base_rss_mb"]
            per_example = 1e3 * cpu / found["examples"]
            known = "" if math.isnan(java) or which != "all" else f"{java:g}"
            rows.append((name, which, found["models"], cpu, per_example, memory, known))
            if which == "all" and limit is None:
                bounds.append(Bound(f"BRPW-MARLENE on {name}", cpu, limit_seconds, "CPU s"))
    text = (
        f"`marlene run STREAM --method brpw-marlene --set pairs=…`: CPU seconds of the test-then-train loop ({LEAST}), "
        "all threads together, and peak memory less what importing and loading kernels takes."
    )
    columns = ("stream", "pairs", "models at the end", "CPU s", "ms per example", "MB", "Java CPU s")
    return Table("BRPW-MARLENE on the paper's streams", text, columns, rows, bounds)


def growth(labels: tuple[int, ...], examples: int) -> Table:
    """Measure time and memory of BRPW-MARLENE against the number of labels."""
    rows: list[tuple[str | int | float, ...]] = []
    BRPWMarlene().load_kernels()
    for n_labels in labels:
        stream = GaussianStream(labels=n_labels, features=20, gaussians=10, seed=1).take(examples)
        for which in ("all", 5):
            model = BRPWMarlene(seed=1, pairs=which)
            needed = model.memory_estimate(n_labels, 20)
            progress(f"pairs={which} of {n_labels} labels")
            if needed > LARGEST_TABLE:
                rows.append((n_labels, str(which), "not run", "", needed))
                continue
            cpu = cpu_seconds(lambda model=model, stream=stream: model.test_then_train(stream.X, stream.Y))  # type: ignore[misc]
            rows.append((n_labels, str(which), f"{1e3 * cpu / examples:.3g}", str(model.counts()["models"]), needed))
    text = (
        f"Test-then-train over {examples} examples of a generated stream with 20 numeric features. Memory is what "
        f"`memory_estimate` says before learning starts; tables beyond {LARGEST_TABLE:,} MB were not made."
    )
    columns = ("labels", "pairs", "CPU ms per example", "models at the end", "MB estimated")
    return Table("BRPW-MARLENE against the number of labels", text, columns, rows)


def one_by_one(stream: Stream) -> Table:
    """Compare `learn_one` on dictionaries with one call for all examples."""
    names, labels = [feature.name for feature in stream.features], list(stream.labels)
    examples = [dict(zip(names, row, strict=True)) for row in stream.X.tolist()]
    truth = [dict(zip(labels, row, strict=True)) for row in stream.Y.astype(bool).tolist()]

    def declared() -> BRMarlene:
        model = BRMarlene(seed=1)
        model.declare(stream.features, labels)
        return model

    def singly(model: BRMarlene, *, predicting: bool) -> None:
        for x, y in zip(examples, truth, strict=True):
            if predicting:
                model.predict_proba_one(x)
            model.learn_one(x, y)

    progress("one example at a time")
    declared().load_kernels()
    timed = {
        "test_then_train": median_seconds(lambda: declared().test_then_train(stream.X, stream.Y), ROUNDS),
        "learn_one": median_seconds(lambda: singly(declared(), predicting=False), ROUNDS),
        "predict_proba_one and learn_one": median_seconds(lambda: singly(declared(), predicting=True), ROUNDS),
    }
    rows: list[tuple[str | int | float, ...]] = [(name, cpu, 1e6 * cpu / len(stream)) for name, cpu in timed.items()]
    text = (
        f"BR-MARLENE over the {len(stream):,} examples of {stream.name}: one call for all, and one or two calls "
        f"for each with dictionaries, which are made before the clock starts. Median of {ROUNDS} runs."
    )
    ratio = timed["learn_one"] / timed["test_then_train"]
    bound = Bound("learn_one", ratio, OFF_BLOCK, "× the cost of test-then-train in one call")
    return Table("One example at a time", text, ("calls", "CPU s", "µs per example"), rows, [bound])


def tables(*, quick: bool = False) -> Iterator[Table]:
    limit = 200 if quick else None
    yield one_by_one(load("yeast", limit=limit))
    if absent_data():
        yield Table("BR-MARLENE and Marlene on the paper's streams", absent_data())
    else:
        yield streams(["yeast", "slashdot"] if quick else list(BOUNDS), limit)
        yield pairs(["yeast"] if quick else list(PAIR_BOUNDS), limit)
    yield growth((5, 10) if quick else (5, 10, 20, 40, 80, 160, 1000), 50 if quick else 400)
