"""How the cost of an example grows for Marlene: with the stream, with the features and with the labels."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from benchmarks._measure import Bound, Table, cpu_seconds, progress
from marlene.learners import Marlene

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    Block = tuple[sp.csr_array, npt.NDArray[np.int8]]
    Row = tuple[str | int | float, ...]

BLOCK = 1000
EXAMPLES = (10_000, 100_000, 1_000_000, 10_000_000)
FEATURES = (1_000, 10_000, 100_000, 1_000_000)
LABELS = (10, 30, 100, 300, 1_000)
NONZEROS = (5, 10, 20, 40, 80)
USUAL_FEATURES, USUAL_NONZEROS, USUAL_LABELS = 1_000, 10, 10
CHANGES = 100_000
"""After so many examples labels change places."""
FLAT, LINEAR = 1.3, 1.5
"""How much more an example, a non-zero or a label may cost in the largest size than in a smaller one."""
PICTURE = Path(__file__).with_name("growth.png")


def blocks(n_features: int, n_nonzeros: int, n_labels: int, changes: int = 0, seed: int = 1) -> Iterator[Block]:
    """Yield blocks of examples without end.

    Every label has a word of its own; now and then labels change places.
    """
    rng = np.random.default_rng(seed)
    starts = np.arange(0, BLOCK * n_nonzeros + 1, n_nonzeros)
    width, order = n_features // n_nonzeros, np.arange(n_labels)
    for number in itertools.count():
        if changes and number and number * BLOCK % changes == 0:
            order = rng.permutation(n_labels)
        columns = width * np.arange(n_nonzeros) + rng.integers(0, width, (BLOCK, n_nonzeros))
        X = sp.csr_array((np.ones(columns.size), columns.ravel(), starts), shape=(BLOCK, n_features))
        Y = np.zeros((BLOCK, n_labels), np.int8)
        Y[np.arange(BLOCK), order[columns[:, 0] % n_labels]] = 1
        yield X, Y


def microseconds(model: Marlene, stream: Iterator[Block], count: int) -> float:
    """Return the CPU time of an example, over so many blocks."""
    return (
        1e6
        / (BLOCK * count)
        * sum(
            cpu_seconds(lambda block=block: model.decide_then_train(*block))
            for block in itertools.islice(stream, count)
        )
    )


def megabytes(model: Marlene) -> float:
    """Return how much its saved arrays take."""
    return sum(array.nbytes for array in model.state()[1].values()) / 1e6


def over_time(positions: Sequence[int]) -> Table:
    """Measure the cost between one number of examples and the next."""
    progress("Marlene while the stream goes on")
    model, stream, rows = Marlene(features="binary"), blocks(USUAL_FEATURES, USUAL_NONZEROS, USUAL_LABELS, CHANGES), []
    model.load_kernels()
    for start, end in itertools.pairwise((0, *positions)):
        rows.append((end, microseconds(model, stream, (end - start) // BLOCK), megabytes(model)))
    text = (
        f"A generated stream of {USUAL_FEATURES:,} words, {USUAL_NONZEROS} of them in an example, and {USUAL_LABELS} "
        f"labels, which change places every {CHANGES:,} examples. `Marlene` predicts and learns {BLOCK:,} examples per "
        "call. Mean CPU time over the examples since the row before; memory of the saved arrays."
    )
    bound = Bound("an example late in the stream over one early", rows[-1][1] / rows[0][1], FLAT, "×")
    return Table("Marlene: cost as the stream goes on", text, ("examples", "µs per example", "MB"), [*rows], [bound])


def by_size(title: str, column: str, sizes: Sequence[tuple[int, int, int]], count: int, which: int) -> Table:
    """Measure streams of several sizes (features, non-zeros, labels), of which one grows."""
    rows: list[tuple[int, float, float]] = []
    for size in sizes:
        progress(f"{title}: {size[which]:,}")
        model, stream = Marlene(features="binary"), blocks(*size)
        model.load_kernels()
        microseconds(model, stream, max(1, count // 2))
        rows.append((size[which], microseconds(model, stream, count), megabytes(model)))
    text = (
        "The same without changes, in other sizes. CPU time per example over "
        f"{count * BLOCK:,} examples, after {max(1, count // 2) * BLOCK:,} others."
    )
    grown = 1.0 if which == 0 else rows[-1][0] / rows[1][0]
    what = "an example" if which == 0 else f"one of the {column}"
    bound = Bound(
        f"{what} in the last row over the second", rows[-1][1] / rows[1][1] / grown, 3.0 if which == 0 else LINEAR, "×"
    )
    return Table(title, text, (column, "µs per example", "MB"), [*rows], [bound])


def draw(tables: Sequence[Table], path: Path) -> None:
    """Draw the cost of an example in all tables."""
    import matplotlib as mpl  # noqa: PLC0415 (only here)

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(1, len(tables), figsize=(3.2 * len(tables), 2.8), layout="constrained")
    for axis, table in zip(axes, tables, strict=True):
        axis.loglog([row[0] for row in table.rows], [row[1] for row in table.rows], marker="o", color="#0072b2")
        axis.set(xlabel=table.columns[0], ylim=(1, None))
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("µs per example")
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def tables(*, quick: bool = False) -> Iterator[Table]:
    """Return all tables; a full run draws them, too."""
    count = 1 if quick else 5
    made = [
        over_time((1_000, 2_000) if quick else EXAMPLES),
        by_size(
            "Marlene: cost by features",
            "features",
            [(n, USUAL_NONZEROS, USUAL_LABELS) for n in (FEATURES[:2] if quick else FEATURES)],
            count,
            0,
        ),
        by_size(
            "Marlene: cost by non-zeros",
            "non-zeros",
            [(USUAL_FEATURES, n, USUAL_LABELS) for n in (NONZEROS[:2] if quick else NONZEROS)],
            count,
            1,
        ),
        by_size(
            "Marlene: cost by labels",
            "labels",
            [(USUAL_FEATURES, USUAL_NONZEROS, n) for n in (LABELS[:2] if quick else LABELS)],
            count,
            2,
        ),
    ]
    if not quick:
        draw(made, PICTURE)
        made[0].method += " The picture shows this and the next three tables: ![cost](growth.png)"
    yield from made
