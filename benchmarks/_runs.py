"""Runs of `marlene run`, each in a process of its own, several at a time; what has been run can be kept."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks._measure import progress

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

RESULTS = Path(__file__).parent.parent / "docs" / "results"


def run(words: Sequence[str], keep: Path | None = None) -> dict[str, Any]:
    """Return what `marlene run WORDS --json` says; with `keep`, from there if it has been run before."""
    name = hashlib.sha256("\0".join(words).encode()).hexdigest()[:20]
    kept = None if keep is None else keep / f"{name}.json"
    if kept is not None and kept.exists():
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    progress(" ".join(words))
    command = [sys.executable, "-m", "marlene", "run", *words, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(done.stdout, encoding="utf-8")
    return dict(json.loads(done.stdout))


def run_all(commands: Sequence[Sequence[str]], jobs: int, keep: Path | None = None) -> list[dict[str, Any]]:
    """Return what each command says, in their order."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(lambda words: run(words, keep), commands))


def add_options(parser: argparse.ArgumentParser, page: str) -> None:
    """Add the options that all programs which write a page have."""
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="keep runs in this folder; stopped, the same command goes on")
    parser.add_argument("--write", action="store_true", help=f"write docs/results/{page} too")


def write(page: str, text: str) -> None:
    """Write a page of results."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / page).write_text(text, encoding="utf-8")
