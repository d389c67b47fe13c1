"""Progress on stderr: live on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from marlene import evaluation

LINES = 10
WIDE = 130


@contextlib.contextmanager
def run_progress(title: str) -> Iterator[Callable[[evaluation.Progress], None]]:
    """Show an evaluation's progress: examples per second, the current G-Means and the time left."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(title)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(title, total=None, note="")
        began = time.monotonic()

        def show(progress: evaluation.Progress) -> None:
            note = _note(progress, time.monotonic() - began, short=console.width < WIDE)
            bar.update(task, completed=progress.done, total=progress.total, note=note)

        yield show


class _Lines:
    """Prints a line for every tenth of the stream."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = time.monotonic()
        self._next = 1

    def __call__(self, progress: evaluation.Progress) -> None:
        if progress.done * LINES < self._next * progress.total and progress.done != progress.resumed:
            return
        self._next = progress.done * LINES // progress.total + 1
        seconds = time.monotonic() - self._began
        left = seconds / max(1, progress.done - progress.resumed) * (progress.total - progress.done)
        note = _note(progress, seconds) + (f", {left:.0f} s left" if progress.done > progress.resumed else "")
        print(f"{self._title} {progress.done}/{progress.total}, {note}", file=sys.stderr, flush=True)


def _note(progress: evaluation.Progress, seconds: float, short: bool = False) -> str:
    if progress.done == progress.resumed:
        return "as the checkpoint has it"
    speed = f"{(progress.done - progress.resumed) / max(seconds, 1e-9):,.0f} examples/s"
    if not progress.current:
        return speed
    shown = (("macro", "macro_gmean"), ("micro", "micro_gmean"), ("label-set", "label_set_gmean"))
    if short:
        return f"{speed}, G-Means " + " ".join(f"{progress.current[key]:.3f}" for _, key in shown)
    return f"{speed}, G-Means " + ", ".join(f"{name} {progress.current[key]:.3f}" for name, key in shown)


@contextlib.contextmanager
def bytes_progress(title: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a download's progress; nothing appears where nothing is downloaded."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=console,
    )
    bar.disable = not console.is_terminal
    task = bar.add_task(title, visible=False)
    with bar:

        def show(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total, visible=True)

        yield show


@contextlib.contextmanager
def examples_progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show how many of `total` examples are written; on a terminal only, and gone when they are."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)

        def advance(count: int) -> None:
            bar.advance(task, count)

        yield advance
