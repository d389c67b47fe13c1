"""`marlene compare`."""

from __future__ import annotations

import contextlib
import json as json_module
import math
import statistics
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from marlene._common.errors import MarleneError
from marlene.cli._report import print_plainly
from marlene.cli._workers import Job, run_jobs
from marlene.evaluation._prequential import load_kernels
from marlene.learners import METHODS, create

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from marlene.cli._workers import Outcome

EVERY = ",".join(METHODS)
INTERRUPTED = 130
FAILED = 1
# Heading, key of the report, whether more is better, and how it is printed.
COLUMNS = (
    ("macro", "macro_gmean", True, ".3f"),
    ("micro", "micro_gmean", True, ".3f"),
    ("label-set", "label_set_gmean", True, ".3f"),
    ("CPU s", "learn_seconds", False, ".2f"),
    ("memory MB", "peak_rss_mb", False, ".0f"),
)


def compare(
    streams: Annotated[list[str], typer.Argument(help="Data sets' names (see `marlene datasets`), or files.")],
    methods: Annotated[str, typer.Option(help="Methods, with commas between (see `marlene methods`).")] = EVERY,
    seeds: Annotated[int, typer.Option(min=1, help="How often each is run: with seeds 1, 2, …")] = 5,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes run at a time.")] = 1,
    labels: Annotated[
        str | None, typer.Option(help="Label columns of a file: patterns like 'is_*,spam', or a number as in MEKA.")
    ] = None,
    features: Annotated[str, typer.Option(help="auto, numeric, or binary (whether a value is non-zero).")] = "auto",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N examples.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Run methods on streams, each with several seeds, and print a table for every stream."""
    if features not in ("auto", "numeric", "binary"):
        raise MarleneError(f"--features {features!r} is not one of auto, numeric, binary")
    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names:
        raise MarleneError("--methods names none")
    for name in dict.fromkeys(names):
        # In the cache before the first run, kernels are not compiled by several processes at once.
        load_kernels(create(name))
    chosen = int(labels) if labels is not None and labels.removeprefix("-").isdecimal() else labels
    numbers = tuple(range(1, seeds + 1))
    wanted = [
        Job(stream, chosen, features, limit, name, numbers)
        for stream in dict.fromkeys(streams)
        for name in dict.fromkeys(names)
    ]
    outcomes: list[Outcome] = []
    interrupted = False
    try:
        with _progress(len(wanted) * seeds) as show:
            for outcome in run_jobs(wanted, jobs):
                outcomes.append(outcome)
                show(outcome)
    except KeyboardInterrupt:
        interrupted = True
    if json:
        print(json_module.dumps(as_json(outcomes)))
    else:
        print_tables(Console(), wanted, outcomes)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(FAILED)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[Callable[[Outcome], None]]:
    """Show how many runs are done: a bar on a terminal, elsewhere a line for each; errors on both."""
    console = Console(stderr=True)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    task = bar.add_task("runs", total=total)
    with bar:

        def show(outcome: Outcome) -> None:
            title = f"{outcome.job.method} on {outcome.job.stream}, seed {outcome.seed}"
            bar.update(task, advance=1, description=title)
            if outcome.error or not console.is_terminal:
                print(f"{title}: {_in_short(outcome)}", file=sys.stderr, flush=True)

        yield show


def _in_short(outcome: Outcome) -> str:
    if outcome.report is None:
        return outcome.error
    return ", ".join(f"{heading} {_number(outcome.report[key]):{form}}" for heading, key, _, form in COLUMNS)


def _number(value: float | None) -> float:
    """Return a figure; JSON has no number for one that is not defined."""
    return float("nan") if value is None else float(value)


def as_json(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the report of every run, and every error."""
    return {
        "runs": [outcome.report for outcome in outcomes if outcome.report is not None],
        "errors": [
            {"stream": o.job.stream, "method": o.job.method, "seed": o.seed, "error": o.error}
            for o in outcomes
            if o.error
        ],
    }


def print_tables(console: Console, jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> None:
    """Print a table per stream: mean and standard deviation of every figure, the best in bold, and what failed."""
    for stream in dict.fromkeys(job.stream for job in jobs):
        rows: dict[str, list[dict[str, Any]]] = {job.method: [] for job in jobs if job.stream == stream}
        for outcome in outcomes:
            if outcome.job.stream == stream and outcome.report is not None:
                rows[outcome.job.method].append(outcome.report)
        best = [_best(rows.values(), key, more_is_better) for _, key, more_is_better, _ in COLUMNS]
        # Not the table's title, which is broken into lines where it is longer than the table: a stream may be a path.
        print_plainly(console, f"G-Means on {stream}", style="table.title")
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("method")
        for heading, *_ in COLUMNS:
            table.add_column(heading, justify="right")
        table.add_column("runs", justify="right")
        for method, reports in rows.items():
            cells = [
                _cell([_number(report[key]) for report in reports], form, best_mean)
                for (_, key, _, form), best_mean in zip(COLUMNS, best, strict=True)
            ]
            table.add_row(escape(method), *cells, str(len(reports)))
        console.print(table)
        failed: dict[tuple[str, str], list[str]] = {}
        for outcome in outcomes:
            if outcome.job.stream == stream and outcome.error:
                failed.setdefault((outcome.job.method, outcome.error), []).append(str(outcome.seed))
        for (method, error), numbers in failed.items():
            text = f"{method} failed with seed {', '.join(numbers)}: {error}"
            print_plainly(console, text, style="red")
    console.print("mean ± standard deviation over the seeds; CPU time of learning and predicting alone; peak memory")


def _best(rows: Iterable[list[dict[str, Any]]], key: str, more_is_better: bool) -> float | None:
    """Return the best mean of a figure, None if there is none."""
    means = [statistics.fmean(_number(report[key]) for report in reports) for reports in rows if reports]
    means = [mean for mean in means if not math.isnan(mean)]
    return (max(means) if more_is_better else min(means)) if means else None


def _cell(values: list[float], form: str, best: float | None) -> str:
    if not values:
        return "-"
    mean = statistics.fmean(values)
    text = f"{mean:{form}}" + (f" ± {statistics.stdev(values):{form}}" if len(values) > 1 else "")
    return f"[bold]{text}[/bold]" if mean == best else text
