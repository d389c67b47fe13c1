"""Progress on stderr: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import functools
import sys
import time
from typing import TYPE_CHECKING, Any

from rich import progress as widgets
from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from marlene import evaluation

LINES = 10
FIRST_LINE = 1000
WIDE = 130
SHOWN = {"macro": "macro_gmean", "micro": "micro_gmean", "label-set": "label_set_gmean"}


@contextlib.contextmanager
def progress_bar(
    title: str,
    *columns: widgets.ProgressColumn,
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
    before = (widgets.TextColumn("{task.description}", markup=False), widgets.BarColumn())
    disable = not console.is_terminal
    with widgets.Progress(*before, *columns, console=console, transient=transient, disable=disable) as bar:
        yield functools.partial(bar.update, bar.add_task(title, total=total, visible=visible, note=""))


@contextlib.contextmanager
def run_progress(title: str) -> Iterator[Callable[[evaluation.Progress], None]]:
    """Show the progress of an evaluation: examples per second, the current G-Means and the time left."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _line_printer(title)
        return
    note = widgets.TextColumn("{task.fields[note]}")
    columns = (widgets.MofNCompleteColumn(), note, widgets.TextColumn("left"), widgets.TimeRemainingColumn())
    with progress_bar(title, *columns) as update:
        began = time.monotonic()

        def show(progress: evaluation.Progress) -> None:
            note = _note(progress, time.monotonic() - began, named=console.width >= WIDE)
            update(completed=progress.done, total=progress.total, note=note)

        yield show


def _line_printer(title: str) -> Callable[[evaluation.Progress], None]:
    """Return a function that prints a line for every tenth of the stream; whenever it doubles, if it may be endless."""
    began, tenths, doubled = time.monotonic(), 0, FIRST_LINE

    def show(progress: evaluation.Progress) -> None:
        nonlocal tenths, doubled
        total, due = progress.total, progress.done == progress.resumed
        if total is None:
            due |= progress.done >= doubled
            doubled = max(doubled, 2 * progress.done) if due else doubled
        elif progress.done * LINES >= (tenths + 1) * total:
            due, tenths = True, progress.done * LINES // total
        if not due:
            return
        seconds = time.monotonic() - began
        note = _note(progress, seconds)
        if total is not None and progress.done > progress.resumed:
            left = seconds / (progress.done - progress.resumed) * (total - progress.done)
            note += f", {left:.0f} s left"
        of = f"/{total}" if total is not None else ""
        print(f"{title} {progress.done}{of}, {note}", file=sys.stderr, flush=True)

    return show


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
    with progress_bar(title, widgets.DownloadColumn(), widgets.TransferSpeedColumn(), visible=False) as update:
        yield lambda done, total: update(completed=done, total=total, visible=True)


@contextlib.contextmanager
def examples_progress(title: str, total: int) -> Iterator[Callable[[int], Any]]:
    """Show how many of `total` examples are written; the bar disappears at the end."""
    columns = (widgets.MofNCompleteColumn(), widgets.TimeRemainingColumn())
    with progress_bar(title, *columns, total=total, transient=True) as update:
        yield lambda count: update(advance=count)
