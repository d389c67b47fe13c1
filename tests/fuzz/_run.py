"""Targets, outcomes, and how findings are kept."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import resource
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import LONGEST, MarleneError
from tests.fuzz._mutations import TOKENS, changed_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOUND = Path(__file__).parent / "found"
RIGHT, REFUSED = "right", "refused"
SECONDS = 30
"""A case that takes longer is a finding."""
ROOM = 4 << 30
"""So much memory may be taken beyond what there was before."""


class FindingError(AssertionError):
    """An outcome that is neither a right result nor an error of one line."""


@dataclass(frozen=True)
class Target:
    """A way in.

    Parameters
    ----------
    name
        What it is called.
    seeds
        Returns good inputs.
    check
        Takes an input and an empty folder; returns if the result is right, and raises otherwise.
    tokens
        What to put into inputs, beside the usual.
    make
        Makes a case of the first of the seeds, which are in random order. Default: random changes of bytes.
    """

    name: str
    seeds: Callable[[], list[bytes]]
    check: Callable[[bytes, Path], None]
    tokens: tuple[bytes, ...] = ()
    make: Callable[[random.Random, list[bytes], tuple[bytes, ...]], bytes] = changed_bytes


@dataclass
class Report:
    """How often each outcome was met, and the findings."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[bytes, str]] = field(default_factory=list)


def run(target: Target, cases: int, seed: int = 1, most: int = 20) -> Report:
    """Try good inputs, then so many damaged ones; stop after some findings."""
    report = Report()
    with _bounded(), tempfile.TemporaryDirectory(prefix="marlene-fuzz-") as folder:
        seeds = target.seeds()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for case in seeds:
                target.check(case, Path(folder))  # a good input is not refused
        for number in range(cases):
            rng = random.Random(f"{target.name} {seed} {number}")
            _note(report, target, target.make(rng, rng.sample(seeds, len(seeds)), TOKENS + target.tokens), Path(folder))
            if len(report.findings) >= most:
                break
    return report


def _note(report: Report, target: Target, case: bytes, folder: Path) -> None:
    (folder / "tried").write_bytes(case)  # stays there if the process is killed by it
    try:
        report.counts[outcome(target, case, folder)] += 1
    except FindingError as error:
        report.findings.append((case, str(error)))


def outcome(target: Target, case: bytes, folder: Path) -> str:
    """Return whether a case gives a right result or is refused; anything else is a `FindingError`."""
    try:
        with warnings.catch_warnings(), _limited(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            target.check(case, folder)
    except MarleneError as error:
        said = str(error)
        if not said or len(said.splitlines()) != 1 or len(said) > LONGEST or not said.isprintable():
            raise FindingError(f"not one line: {said!r}") from error
        return REFUSED
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise FindingError("".join(traceback.format_exception(error, limit=-2, chain=False))) from error
    return RIGHT


def keep(target: Target, case: bytes) -> Path:
    """Keep a case, to be tried by every run of the tests."""
    FOUND.mkdir(exist_ok=True)
    path = FOUND / f"{target.name}-{hashlib.sha256(case).hexdigest()[:8]}"
    path.write_bytes(case)
    return path


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Let what takes too long be an error."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """Bound the memory, so that taking too much is an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
