"""How the cost of an example depends on the examples before it, on the features and on the non-zeros."""

from __future__ import annotations

import itertools
import statistics
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmarks._measure import Bound, Table, cpu_seconds, progress
from marlene.trees import HoeffdingForest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Block = tuple[sp.csr_array, npt.NDArray[np.int64]]

BLOCK = 1000
FEATURES = (100, 1_000, 10_000, 100_000)
NONZEROS = (10, 20, 40, 80)
POSITIONS = (1_000, 10_000, 100_000, 1_000_000)
OVER_TIME = "Cost of an example while the stream goes on"


def blocks(n_features: int, n_nonzeros: int, seed: int = 1) -> Iterator[Block]:
    """Yield blocks of examples without end."""
    rng = np.random.default_rng(seed)
    starts = np.arange(0, BLOCK * n_nonzeros + 1, n_nonzeros)
    # One non-zero in each of as many ranges of features: distinct, and in ascending order.
    width = n_features // n_nonzeros
    ranges = width * np.arange(n_nonzeros)
    while True:
        y = rng.integers(0, 2, BLOCK)
        chosen = rng.integers(0, width, (BLOCK, n_nonzeros))
        positive = (rng.random(BLOCK) < 0.9) == y
        chosen[:, 0] = np.where(positive, 0, rng.integers(1, width, BLOCK))
        indices = (ranges + chosen).ravel()
        yield sp.csr_array((np.ones(len(indices)), indices, starts), shape=(BLOCK, n_features)), y


def planted(n_features: int, max_depth: int) -> HoeffdingForest:
    """Return a forest of one tree, its kernels loaded."""
    forest = HoeffdingForest(["binary"] * n_features, max_depth=max_depth)
    forest.add()
    forest.load_kernels()
    return forest


def microseconds(forest: HoeffdingForest, block: Block) -> float:
    """Let the tree predict and learn a block; return the CPU time per example."""
    return 1e6 / BLOCK * cpu_seconds(lambda: forest.test_then_train([0], *block))


def over_time(positions: tuple[int, ...], n_features: int = 1_000, n_nonzeros: int = 20) -> Table:
    """Measure the cost between one number of examples and the next."""
    progress(OVER_TIME)
    forest = planted(n_features, max_depth=1)
    stream = blocks(n_features, n_nonzeros)
    rows: list[tuple[str | int | float, ...]] = []
    for start, end in itertools.pairwise((0, *positions)):
        cost = statistics.fmean(microseconds(forest, next(stream)) for _ in range(start, end, BLOCK))
        rows.append((f"{start + 1:,} to {end:,}", cost, forest.n_nodes(0), forest.nbytes / 1e6))
    method = (
        "A generated stream of binary features, of which every example has the same number of non-zeros; the first "
        "feature is the class in nine of ten cases, the others are noise. One tree predicts and learns, a thousand "
        f"examples per call, which are generated outside the clock. Here with {n_features:,} features and "
        f"{n_nonzeros} non-zeros; the tree may have one split, so that it stops growing in the first row. Mean CPU "
        "time over all examples of a row; nodes and memory at its end."
    )
    columns = ("examples", "µs per example", "nodes", "MB of arrays")
    bound = Bound("cost in the last row over that in the second", float(rows[-1][1]) / float(rows[1][1]), 1.2, "×")
    return Table(OVER_TIME, method, columns, rows, [bound])


def one_by_one(forest: HoeffdingForest, block: Block) -> float:
    """Let the tree predict and learn a block, in two calls per example; return the CPU time per example."""
    rows = [block[0][[i]] for i in range(BLOCK)]

    def run() -> None:
        for x, y in zip(rows, block[1], strict=True):
            forest.votes(x)
            forest.learn([0], x, y)

    return 1e6 / BLOCK * cpu_seconds(run)


def cost(n_features: int, n_nonzeros: int, before: int, measured: int) -> tuple[float, float, float, float]:
    """Return what `by_size` shows of one size: µs per example, MB, µs in single calls, and µs of a growing tree."""
    progress(f"{n_features:,} features, {n_nonzeros} non-zeros")
    limited, free = planted(n_features, max_depth=1), planted(n_features, max_depth=0)
    times = []
    for forest in (limited, free):
        stream = blocks(n_features, n_nonzeros)
        for block in itertools.islice(stream, before):
            forest.learn_many([0], *block)
        times.append(statistics.median(microseconds(forest, block) for block in itertools.islice(stream, measured)))
    return times[0], limited.nbytes / 1e6, one_by_one(limited, next(stream)), times[1]


def by_size(title: str, sizes: list[tuple[int, int]], before: int, measured: int, bound: tuple[str, float]) -> Table:
    """Measure several pairs of numbers of features and of non-zeros; the bound is about the last over the first."""
    rows = [(*size, *cost(*size, before, measured)) for size in sizes]
    method = (
        f"The stream of “{OVER_TIME}” in other sizes. Median CPU time of {measured} calls with a thousand examples "
        f"each, after {before * BLOCK:,} examples, and the memory then, of a tree that stopped growing after one "
        "split. Beside it, without a bound: the same tree with two calls per example, `votes` and `learn`; and a "
        "tree that may grow without limit, which tries to split a leaf every 200 examples and then looks at every "
        "feature the leaf has seen."
    )
    columns = ("features", "non-zeros", "µs per example", "MB of arrays", "µs in single calls", "µs if it may grow")
    what, limit = bound
    return Table(title, method, columns, [*rows], [Bound(what, rows[-1][2] / rows[0][2], limit, "×")])


def tables(*, quick: bool = False) -> Iterator[Table]:
    yield over_time(POSITIONS[:3] if quick else POSITIONS)
    before, measured = (2, 3) if quick else (100, 20)
    more = FEATURES[-1] // FEATURES[0]
    bound = f"cost of {more:,} times the features", 3.0
    yield by_size("Cost by features", [(n, 20) for n in FEATURES], before, measured, bound)
    more = NONZEROS[-1] // NONZEROS[0]
    bound = f"cost of {more} times the non-zeros", float(more)
    yield by_size("Cost by non-zeros", [(10_000, n) for n in NONZEROS], before, measured, bound)
