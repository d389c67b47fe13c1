"""Progress on stderr: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from marlene import evaluation

LINES = 10
WIDE = 130
SHOWN = {"macro": "macro_gmean", "micro": "micro_gmean", "label-set": "label_set_gmean"}


@contextlib.contextmanager
def progress_bar(
    title: str,
    *columns: ProgressColumn,
    total: int | None = None,
    visible: bool = True,
    transient: bool = False,
) -> Iterator[Callable[..., None]]:
    """Show a bar on a terminal, nothing elsewhere; yield the function that updates it.

    Parameters
    ----------
    title, columns
        What stands before and after the bar.
    total, visible
        The length, if known, and whether the bar appears before the first update; an update may change both.
    transient
        Whether the bar disappears at the end.
    """
    console = Console(stderr=True)
    before = (TextColumn("{task.description}", markup=False), BarColumn())
    disable = not console.is_terminal
    with Progress(*before, *columns, console=console, transient=transient, disable=disable) as bar:
        yield functools.partial(bar.update, bar.add_task(title, total=total, visible=visible, note=""))


@contextlib.contextmanager
def run_progress(title: str) -> Iterator[Callable[[evaluation.Progress], None]]:
    """Show the progress of an evaluation: examples per second, the current G-Means and the time left."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines(title)
        return
    note = TextColumn("{task.fields[note]}")
    with progress_bar(title, MofNCompleteColumn(), note, TextColumn("left"), TimeRemainingColumn()) as update:
        began = time.monotonic()

        def show(progress: evaluation.Progress) -> None:
            note = _note(progress, time.monotonic() - began, named=console.width >= WIDE)
            update(completed=progress.done, total=progress.total, note=note)

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


def _note(progress: evaluation.Progress, seconds: float, named: bool = True) -> str:
    if progress.done == progress.resumed:
        return "resumed from the checkpoint"
    speed = f"{(progress.done - progress.resumed) / max(seconds, 1e-9):,.0f} examples/s"
    if not progress.current:
        return speed
    values = {name: f"{progress.current[key]:.3f}" for name, key in SHOWN.items()}
    listed = ", ".join(f"{name} {value}" for name, value in values.items()) if named else " ".join(values.values())
    return f"{speed}, G-Means {listed}"


@contextlib.contextmanager
def bytes_progress(title: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show the progress of a download; the bar appears with the first bytes."""
    with progress_bar(title, DownloadColumn(), TransferSpeedColumn(), visible=False) as update:
        yield lambda done, total: update(completed=done, total=total, visible=True)


@contextlib.contextmanager
def examples_progress(title: str, total: int) -> Iterator[Callable[[int], Any]]:
    """Show how many of `total` examples are written; the bar disappears at the end."""
    with progress_bar(title, MofNCompleteColumn(), TimeRemainingColumn(), total=total, transient=True) as update:
        yield lambda count: update(advance=count)
