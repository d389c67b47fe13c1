"""CPU seconds and memory of reading the IMDB file, ours against liac-arff.

Run with the folder of the data sets in $MARLENE_DATA: `python -m benchmarks.arff`.
"""

from __future__ import annotations

import bz2
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 3

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
        peak = int(re.search(r"VmHWM:\\s*(\\d+)", status.read())[1])
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(rows, seconds, peak / 1024)
"""


def measure(reader: str, file: Path) -> tuple[int, float, float]:
    """Return the number of rows, CPU seconds (best of the rounds) and peak MB, each round in a process of its own."""
    runs = []
    for _ in range(ROUNDS):
        command = [sys.executable, "-c", reader + MEASURE, str(file)]
        rows, seconds, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        runs.append((int(rows), float(seconds), float(peak)))
    return runs[0][0], min(run[1] for run in runs), max(run[2] for run in runs)


def main() -> None:
    packed = Path(os.environ["MARLENE_DATA"]) / "Imdb.arff.bz2"
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "Imdb.arff"
        with bz2.open(packed) as source, plain.open("wb") as target:
            shutil.copyfileobj(source, target)
        ours, liac = measure(OURS, plain), measure(LIAC, plain)
    for name, (rows, seconds, peak) in (("marlene", ours), ("liac-arff", liac)):
        print(f"{name:10} {rows} rows  {seconds:6.2f} CPU seconds  peak {peak:6.0f} MB")
    print(f"ratio {ours[1] / liac[1]:.3f}")


if __name__ == "__main__":
    main()
