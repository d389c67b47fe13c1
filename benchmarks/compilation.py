"""What the first prediction costs, compiling all kernels once, and loading them in every later process."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import marlene
from benchmarks._load_kernels import PARTS
from benchmarks._measure import Bound, Table, progress
from marlene.kernels.compile import baseline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROGRAM = Path(__file__).with_name("_load_kernels.py")
FIRST = Path(__file__).with_name("_first_prediction.py")
ROUNDS = 3
ENGINE = ("forest", "detectors", "scores")
COLD_SECONDS = 40
WARM_SECONDS = 1
FIRST_SECONDS = 8
CARRIED_SECONDS = 2
IMPORT_SECONDS = 0.5


def loaded(parts: Sequence[str], cache: str) -> dict[str, Any]:
    """Return what loading the kernels of some parts took in a process of its own."""
    command = [sys.executable, str(PROGRAM), *parts]
    environment = os.environ | {"MARLENE_CACHE": cache}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def first(cache: Path, package: Path, **variables: str) -> dict[str, Any]:
    """Return what the first prediction took in a process of its own, with a package and a cache."""
    environment = os.environ | {"MARLENE_CACHE": str(cache), "PYTHONPATH": str(package.parent)} | variables
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package comes with byte code, or gets it at once
    subprocess.run([sys.executable, "-c", "from marlene import Marlene"], env=environment, check=True)
    done = subprocess.run([sys.executable, str(FIRST)], env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout))


def first_table(folder: Path, rounds: int) -> Table:
    """Measure the first prediction: with nothing compiled, with a cache, with kernels that the package carries."""
    progress("the first prediction, with nothing compiled")
    plain, wanted = Path(marlene.__file__).parent, baseline()
    cold = first(folder / "cache", plain)
    warm = [first(folder / "cache", plain) for _ in range(rounds)]
    least, imports = min(run["all"] for run in warm), min(run["import"] for run in warm)
    rows = [("first, nothing compiled", cold["import"], cold["all"], ", ".join(sorted(cold["kernels"])))]
    rows += [(f"of it compiling `{name}`", 0.0, seconds, "") for name, seconds in sorted(cold["kernels"].items())]
    rows.append(("later ones, kernels in the cache", imports, least, ""))
    bounds = [
        Bound("first prediction, nothing compiled", cold["all"], FIRST_SECONDS, "CPU s"),
        Bound("import of the package with a learner", imports, IMPORT_SECONDS, "CPU s"),
    ]
    if wanted is not None:
        progress("the first prediction, with kernels that the package carries")
        package = folder / "package" / "marlene"
        shutil.copytree(plain, package, ignore=shutil.ignore_patterns("__pycache__", "compiled"))
        first(folder / "baseline", package, NUMBA_CPU_NAME=wanted.name, NUMBA_CPU_FEATURES="")
        (folder / "baseline" / "kernels").rename(package / "kernels" / "compiled")
        carried = [first(folder / "empty", package) for _ in range(rounds)]
        best = min(carried, key=lambda run: float(run["all"]))
        rows.append(("first, kernels from a wheel", best["import"], best["all"], ", ".join(best["kernels"])))
        bounds.append(Bound("first prediction with kernels from a wheel", best["all"], CARRIED_SECONDS, "CPU s"))
    method = (
        "A process imports the package, learns one example with `Marlene` and predicts it. All is counted from the "
        "start of the process, imports included; modules are there as byte code. With nothing compiled: one run; else "
        "the least of "
        f"{rounds}. Kernels from a wheel (`tools/wheel.py`) are compiled for {wanted and wanted.name}; the cache is "
        "empty."
    )
    return Table(
        "The first prediction", method, ("prediction", "CPU s of import", "CPU s", "compiled"), [*rows], bounds
    )


def cold_table(parts: Sequence[str], cache: str) -> Table:
    """Measure compiling into an empty cache."""
    progress("compiling into an empty cache")
    run = loaded(parts, cache)
    total = sum(run["seconds"][part] for part in parts)
    rows = [(part, run["seconds"][part]) for part in parts] + [("together", total)]
    left_out = f"; not compiled, because nothing calls them: {', '.join(run['unused'])}" if run["unused"] else ""
    method = (
        "One process compiles, with an empty cache, all kernels behind the forest, every bank of drift detectors and "
        "the scores (together the engine), BR- and BRPW-MARLENE, the ensembles and the readers of files: "
        f"{run['compiled']} functions that Python can call{left_out}. A run compiles only what its method needs. "
        f"Imports, which took {run['seconds']['import']:.2f} s from the start of the process, come before the clock "
        "starts. One run."
    )
    engine = sum(run["seconds"][part] for part in ENGINE if part in parts)
    bounds = [Bound("compiling the engine", engine, COLD_SECONDS, "CPU s")] if len(parts) == len(PARTS) else []
    return Table("Compiling the kernels", method, ("kernels", "CPU s"), [*rows], bounds)


def warm_table(parts: Sequence[str], cache: str, rounds: int) -> Table:
    """Measure loading from a full cache, each part in processes of its own."""
    rows: list[tuple[str | int | float, ...]] = []
    bounds = []
    for part in parts:
        progress(f"loading the kernels of the {part} from the cache")
        runs = [loaded([part], cache) for _ in range(rounds)]
        imports = statistics.median(run["seconds"]["import"] for run in runs)
        seconds = statistics.median(run["seconds"][part] for run in runs)
        rows.append((part, imports, seconds, max(run["compiled"] for run in runs)))
        if part == "forest":
            bounds.append(Bound("warm start of the forest", seconds, WARM_SECONDS, "CPU s"))
    method = (
        "Later processes find the kernels in the cache (for the forest: `load_kernels` and `from_state`). Median of "
        f"{rounds} processes each; the import is counted from the start of the process."
    )
    columns = ("kernels", "CPU s of import", "CPU s of loading", "compiled anew")
    return Table("Loading the kernels", method, columns, rows, bounds)


def tables(*, quick: bool = False) -> Iterator[Table]:
    parts = ["detectors"] if quick else [*PARTS]
    if not quick:
        with tempfile.TemporaryDirectory() as folder:
            yield first_table(Path(folder), ROUNDS)
    with tempfile.TemporaryDirectory() as cache:
        yield cold_table(parts, cache)
        yield warm_table(parts, cache, 1 if quick else ROUNDS)
