"""How much memory a stream takes that is read part by part, however long it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks._measure import Bound, Table, progress

TITLE = "Streams larger than memory"
SIZES = (100_000_000, 500_000_000)
QUICK = (5_000_000, 20_000_000)
LARGE = 5_000_000_000
"""`python -m benchmarks.memory [BYTES]… [--method NAME]` measures this file, or others, alone."""
NUMBERS, LABELS, ROWS = 100, 5, 2_000


def write_table(path: Path, size: int, seed: int = 1) -> None:
    """Write a CSV file of so many bytes, and some: numbers, a nominal column and labels that drift in the middle."""
    rng = np.random.default_rng(seed)
    names = [*(f"x{i}" for i in range(NUMBERS)), "colour", *(f"is_{i}" for i in range(LABELS))]
    with path.open("w", encoding="utf-8") as file:
        written = file.write(",".join(names) + "\n")
        texts: list[str] = []
        while written < size:
            # New rows at first, and after the drift; in between the same again, because formatting takes long.
            drifted = 2 * written >= size
            if len(texts) <= drifted:
                texts.append(_rows(rng, drifted))
            written += file.write(texts[-1])


def _rows(rng: np.random.Generator, drifted: bool) -> str:
    X = rng.normal(size=(ROWS, NUMBERS)).round(4)
    Y = X[:, LABELS : 2 * LABELS] if drifted else X[:, :LABELS]
    truth = (Y + 0.5 * rng.normal(size=Y.shape) > 0.5).astype(int)
    colours = np.array(["red", "green", "blue"])[rng.integers(0, 3, ROWS)]
    cells = zip(X.tolist(), colours.tolist(), truth.tolist(), strict=True)
    return "".join(",".join(map(str, (*x, colour, *y))) + "\n" for x, colour, y in cells)


def measured(size: int, method: str) -> tuple[int, float, float, float]:
    """Run a method on a generated file; return its examples, CPU seconds, and memory at the peak and before, in MB."""
    with tempfile.TemporaryDirectory(prefix="marlene-memory-") as folder:
        path = Path(folder) / "table.csv"
        write_table(path, size)
        command = [sys.executable, "-m", "marlene", "run", os.fspath(path), "--labels", "is_*", "--lazy", "--json"]
        done = subprocess.run([*command, "--method", method], stdout=subprocess.PIPE, check=True, text=True)
    found = json.loads(done.stdout)
    return found["examples"], found["cpu_seconds"], found["peak_rss_mb"], found["base_rss_mb"]


def memory_table(sizes: tuple[int, ...], method: str = "marlene") -> Table:
    """Measure files of several sizes, each in a process of its own."""
    rows: list[tuple[str | int | float, ...]] = []
    for size in sizes:
        progress(f"{TITLE}: {size / 1e6:g} MB")
        examples, seconds, peak, base = measured(size, method)
        rows.append((f"{size / 1e6:,.0f} MB", examples, seconds, peak, base))
    text = (
        f"`marlene run FILE --lazy --method {method}` on generated CSV files of {NUMBERS} numbers, a nominal column "
        f"and {LABELS} labels, which drift in the middle. Each file is run in a fresh process: CPU time and peak "
        "memory of all of it, and memory before the file is opened."
    )
    bounds = [Bound("peak memory", max(float(row[3]) for row in rows), 500, "MB")]
    if len(rows) > 1:
        bounds.append(
            Bound("peak of the largest file over the smallest", float(rows[-1][3]) / float(rows[0][3]), 1.1, "×")
        )
    return Table(TITLE, text, ("file", "examples", "CPU s", "peak MB", "MB before"), rows, bounds)


def tables(*, quick: bool = False) -> list[Table]:
    """Return the table of this module."""
    return [memory_table(QUICK if quick else SIZES)]


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument.isdecimal()]
    named = sys.argv[sys.argv.index("--method") + 1] if "--method" in sys.argv else "marlene"
    print(memory_table(tuple(map(int, given)) or (LARGE,), named))
