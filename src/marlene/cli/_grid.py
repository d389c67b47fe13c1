"""`marlene grid`."""

from __future__ import annotations

import contextlib
import math
import statistics
import sys
import time
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from marlene._common.errors import MarleneError, one_line
from marlene.cli._interrupts import INTERRUPTED
from marlene.cli._summary import print_plainly
from marlene.experiments import Grid, run_grid
from marlene.experiments._store import DONE, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from marlene.experiments import GridProgress, Run

    Row = dict[str, Any]

PREDICTED_TRUE = "pred./true"
# Heading, column of a row, whether more is better, and how it is printed.
COLUMNS = (
    ("macro", "macro_gmean", True, ".3f"),
    ("micro", "micro_gmean", True, ".3f"),
    ("label-set", "label_set_gmean", True, ".3f"),
    ("CPU s", "learn_seconds", False, ".2f"),
    ("memory MB", "peak_rss_mb", False, ".0f"),
)
SOME_FAILED = 1
MOST_ERRORS = 5
WIDEST = 20
"""The longest name of a method in a narrow table."""


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
        raise typer.Exit(INTERRUPTED) from None
    kept = {row["key"]: row for row in store.rows()}
    rows = [kept[run.key] for run in runs.runs()]
    failed = [(row["title"], row["error"]) for row in rows if row["status"] != DONE]
    print_tables(Console(), runs.runs(), [row for row in rows if row["status"] == DONE])
    print_errors(failed, out)
    if failed:
        raise typer.Exit(SOME_FAILED)


def print_stopped(out: Path) -> None:
    """Say after Ctrl-C how to go on."""
    print(f"\nmarlene: stopped; runs that have ended are in {out}; the same command goes on", file=sys.stderr)


def print_errors(failures: Sequence[tuple[str, str]], folder: Path) -> None:
    """Print title and error of the first runs that failed, and where the others are."""
    for title, error in failures[:MOST_ERRORS]:
        print(one_line(f"marlene: {title}: {error}"), file=sys.stderr)
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
        counts = Text(_counts(progress, time.monotonic() - self._since))
        line.add_row(ProgressBar(ended + progress.left, ended, width=40), counts)
        return Group(line, *(Text(f"  {one_line(title)}", "dim", no_wrap=True) for title in progress.running))


def _counts(progress: GridProgress, age: float = 0.0) -> str:
    """Return progress that was told `age` seconds ago in words."""
    text = f"{progress.done} done, {progress.failed} failed, {progress.left} left"
    if progress.seconds_left is None or not progress.left:
        return text
    minutes, rest = divmod(round(max(0.0, progress.seconds_left - age)), 60)
    hours, minutes = divmod(minutes, 60)
    duration = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"{text}, {duration} to go"


def _print_line(progress: GridProgress) -> None:
    row = progress.latest
    if row is None:
        return
    outcome = row["error"] or ", ".join(f"{heading} {number(row[key]):{form}}" for heading, key, _, form in COLUMNS)
    print(one_line(f"{_counts(progress)}: {row['title']}: {outcome}"), file=sys.stderr, flush=True)


def error_of(row: Row) -> str:
    """Return the error of a run; errors of this package explain themselves without their class."""
    return str(row["error"]).removeprefix(f"{MarleneError.__name__}: ")


def print_tables(console: Console, runs: Sequence[Run], rows: Sequence[Row]) -> None:
    """Print a table for every stream: mean and standard deviation of every score, the best in bold, and errors."""
    kept = {row["key"]: row for row in rows}
    for stream in dict.fromkeys(run.course for run in runs):
        here = [run for run in runs if run.course == stream]
        done: dict[str, list[Row]] = {run.learner: [] for run in here}
        failed: dict[tuple[str, str], list[str]] = {}
        for run in here:
            row = kept.get(run.key, {})
            if row.get("status") == DONE:
                done[run.learner].append(row)
            elif row:
                failed.setdefault((run.learner, error_of(row)), []).append(str(run.seed))
        best = [_best(done.values(), key, more_is_better) for _, key, more_is_better, _ in COLUMNS]
        # Not the title of the table: a long path would be wrapped to the width of the table.
        print_plainly(console, one_line(f"G-Means on {stream}"), style="table.title")
        table = _score_table(done, best)
        if console.measure(table, options=console.options.update(max_width=1000)).maximum > console.width:
            table = _score_table(done, best, narrow=True)
        console.print(table)
        for (method, error), seeds in failed.items():
            text = f"{method} failed with seed {', '.join(seeds)}: {error}"
            print_plainly(console, one_line(text), style="red")
    console.print("mean ± standard deviation over the seeds; predicted / true labels per example")
    console.print("CPU time of learning and predicting; peak memory")


def _score_table(done: Mapping[str, list[Row]], best: Sequence[float | None], *, narrow: bool = False) -> Table:
    """Return the scores of all methods; in a narrow table the standard deviation is below the mean."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0) if narrow else (0, 1), pad_edge=not narrow)
    longest = max((len(method) for method in done), default=0)
    table.add_column("method", overflow="fold", width=min(longest, WIDEST) if narrow else None)
    for heading, *_ in COLUMNS:
        table.add_column(heading.replace("-", "-\n") if narrow else heading, justify="right", overflow="fold")
    for heading in (PREDICTED_TRUE, "runs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for method, ended in done.items():
        cells = [
            _cell([number(row[key]) for row in ended], form, best_mean)
            for (_, key, _, form), best_mean in zip(COLUMNS, best, strict=True)
        ]
        labels = [_mean(ended, key) for key in ("labels_predicted", "labels_true")]
        table.add_row(escape(method), *cells, "/".join(labels), str(len(ended)))
    return table


def _best(rows: Iterable[list[Row]], key: str, more_is_better: bool) -> float | None:
    """Return the best mean of a column; None if there is none."""
    means = [statistics.fmean(number(row[key]) for row in done) for done in rows if done]
    means = [mean for mean in means if not math.isnan(mean)]
    return (max(means) if more_is_better else min(means)) if means else None


def _mean(rows: Iterable[Row], key: str) -> str:
    """Return the mean of a column; a row of an earlier version may lack it."""
    values = [number(row[key]) for row in rows if key in row]
    return f"{statistics.fmean(values):.2f}" if values else "-"


def _cell(values: list[float], form: str, best: float | None) -> str:
    if not values:
        return "-"
    mean = statistics.fmean(values)
    if math.isnan(mean):
        return "nan"
    text = f"{mean:{form}}" + (f" ± {statistics.stdev(values):{form}}" if len(values) > 1 else "")
    return f"[bold]{text}[/bold]" if mean == best else text
