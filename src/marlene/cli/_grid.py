"""`marlene grid`."""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import time
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from marlene.experiments import Grid, run_grid
from marlene.experiments._store import DONE, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from marlene.experiments import GridProgress, ResultStore

# Heading, column of a row, whether more is better, and how it is printed.
COLUMNS = (
    ("macro", "macro_gmean", True, ".3f"),
    ("micro", "micro_gmean", True, ".3f"),
    ("label-set", "label_set_gmean", True, ".3f"),
    ("CPU s", "learn_seconds", False, ".2f"),
    ("memory MB", "peak_rss_mb", False, ".0f"),
)
SCORES = COLUMNS[:3]
SOME_FAILED = 1
MOST_ERRORS = 5


def grid(
    file: Annotated[Path, typer.Argument(help="The grid: a TOML file, see docs/experiments.md.")],
    out: Annotated[Path, typer.Option(help="The folder of the results; what it has already is not run again.")],
    jobs: Annotated[int, typer.Option(min=1, help="How many processes to use.")] = 1,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler whose workers to use instead.")] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run again what failed before.")] = False,
) -> None:
    """Run every method of a grid on every stream with every seed, and keep the results."""
    runs = Grid.from_toml(file)
    try:
        with display() as watch:
            store = run_grid(runs, out, jobs=jobs, dask=dask, retry_failed=retry_failed, watch=watch)
    except KeyboardInterrupt:
        print_stopped(out)
        raise
    if _print_results(store, [run.key for run in runs.runs()]):
        raise typer.Exit(SOME_FAILED)


def print_stopped(out: Path) -> None:
    """Say after Ctrl-C how to go on."""
    print(f"\nmarlene: stopped; runs that have ended are in {out}; the same command goes on", file=sys.stderr)


def print_errors(failures: Sequence[tuple[str, str]], folder: Path) -> None:
    """Print title and error of the first runs that failed, and where the others are."""
    for title, error in failures[:MOST_ERRORS]:
        print(f"marlene: {title}: {error}", file=sys.stderr)
    if failures:
        print(f"marlene: {len(failures)} runs failed; {folder} has the errors", file=sys.stderr)


@contextlib.contextmanager
def display() -> Iterator[Callable[[GridProgress], None]]:
    """Show the progress of a grid: live on a terminal, elsewhere a line for every run that has ended."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _print_line
        return
    board = _LiveBoard()
    with Live(board, console=console, refresh_per_second=2, transient=True):
        yield board.update


class _LiveBoard:
    """The live display. It is drawn twice a second, so that the time left runs down."""

    def __init__(self) -> None:
        self._progress: GridProgress | None = None
        self._since = time.monotonic()

    def update(self, progress: GridProgress) -> None:
        self._progress, self._since = progress, time.monotonic()

    def __rich__(self) -> Group:
        progress = self._progress
        if progress is None:
            return Group()
        ended = progress.done + progress.failed
        line = Table.grid(padding=(0, 1))
        left = None
        if progress.seconds_left is not None:
            left = max(0.0, progress.seconds_left - (time.monotonic() - self._since))
        line.add_row(ProgressBar(ended + progress.left, ended, width=40), Text(_counts(progress, left)))
        return Group(line, *(Text(f"  {title}", "dim", no_wrap=True) for title in progress.running))


def _counts(progress: GridProgress, seconds_left: float | None) -> str:
    text = f"{progress.done} done, {progress.failed} failed, {progress.left} left"
    return text if seconds_left is None or not progress.left else f"{text}, {_duration(seconds_left)} to go"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _print_line(progress: GridProgress) -> None:
    row = progress.latest
    if row is None:
        return
    outcome = row["error"] or ", ".join(f"{heading} {number(row[key]):{form}}" for heading, key, _, form in COLUMNS)
    print(f"{_counts(progress, progress.seconds_left)}: {row['title']}: {outcome}", file=sys.stderr, flush=True)


def _print_results(store: ResultStore, keys: list[str]) -> int:
    """Print the means over the seeds, and errors if there are any; return how many runs failed."""
    kept = {row["key"]: row for row in store.rows()}
    rows = [kept[key] for key in keys if key in kept]
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["status"] == DONE:
            options = ", ".join(f"{name}={value}" for name, value in json.loads(row["options"]).items())
            method = f"{row['method']} ({options})" if options else row["method"]
            groups.setdefault((row["name"], row["sources"], method), []).append(row)
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("stream", "sources", "method"):
        table.add_column(heading, overflow="fold")
    for heading in ("runs", *(heading for heading, *_ in SCORES)):
        table.add_column(heading, justify="right")
    for names, group in groups.items():
        means = (statistics.fmean(number(row[key]) for row in group) for _, key, *_ in SCORES)
        table.add_row(*map(Text, names), str(len(group)), *(f"{mean:.3f}" for mean in means))
    if groups:
        Console().print(table)
    failures = [(row["title"], row["error"]) for row in rows if row["status"] != DONE]
    print_errors(failures, store.folder)
    return len(failures)
