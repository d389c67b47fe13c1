"""CPU seconds and memory of reading the IMDB file, ours against liac-arff."""

from __future__ import annotations

import bz2
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks._measure import DATA, Bound, Table, absent_data, progress

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 3
TITLE = "Reading the IMDB file"
MOST_MB = 500

OURS = """
from marlene.streams.arff import read_arff
def read(path):
    return len(read_arff(path))
"""

LIAC = """
import arff
def read(path):
    with open(path, encoding="utf-8") as file:
        return len(arff.load(file, return_type=arff.LOD)["data"])
"""

# VmHWM belongs to this program alone; ru_maxrss may be that of the process which started it.
MEASURE = """
import re, resource, sys, time
start = time.process_time()
rows = read(sys.argv[1])
seconds = time.process_time() - start
try:
    with open("/proc/self/status") as status:
        peak = int(re.search(r"VmHWM:\\s*(\\d+)", status.read())[1]) * 1024
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(rows, seconds, peak / 1e6)
"""


def measure(reader: str, file: Path) -> tuple[int, float, float]:
    """Return the number of rows, CPU seconds and peak MB of reading a file in a process of its own."""
    command = [sys.executable, "-c", reader + MEASURE, str(file)]
    rows, seconds, peak = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    return int(rows), float(seconds), float(peak)


def read_table(file: Path, rounds: int) -> Table:
    """Compare both readers on an uncompressed file that says itself which columns are labels."""
    runs: dict[str, list[tuple[int, float, float]]] = {"marlene": [], "liac-arff": []}
    for number in range(rounds):
        progress(f"{TITLE}, round {number + 1} of {rounds}")
        runs["marlene"].append(measure(OURS, file))
        runs["liac-arff"].append(measure(LIAC, file))
    rows = [(name, r[0][0], min(run[1] for run in r), max(run[2] for run in r)) for name, r in runs.items()]
    ours, theirs = rows
    if ours[1] != theirs[1]:
        raise RuntimeError(f"the readers found {ours[1]} and {theirs[1]} rows")
    method = (
        f"Each reader reads the uncompressed file in a fresh process, {rounds} times in turn: the least CPU seconds "
        "of the call that reads, imports excluded, and the greatest peak memory of the whole process, in 10⁶ bytes. "
        "Ours returns arrays, with every value checked against its declaration; liac-arff returns its rows of "
        "dictionaries."
    )
    bounds = [
        Bound("CPU time over liac-arff's", ours[2] / theirs[2], 1.0, "×"),
        Bound("peak memory", ours[3], MOST_MB, "MB"),
    ]
    return Table(TITLE, method, ("reader", "rows", "CPU s", "peak MB"), [*rows], bounds)


def tables(*, quick: bool = False) -> Iterator[Table]:
    if absent_data():
        yield Table(TITLE, absent_data())
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "Imdb.arff"
        with bz2.open(Path(os.environ[DATA]) / "Imdb.arff.bz2") as packed, plain.open("wb") as target:
            shutil.copyfileobj(packed, target)
        yield read_table(plain, rounds=1 if quick else ROUNDS)
