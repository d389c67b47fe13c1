"""`marlene compare`."""

from __future__ import annotations

import math
import statistics
import tempfile
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from marlene._common.errors import MarleneError
from marlene.cli._grid import COLUMNS, SOME_FAILED, display
from marlene.cli._report import print_plainly
from marlene.evaluation._result import dump_json
from marlene.experiments import Grid, ResultStore, Run, run_grid
from marlene.experiments._store import DONE, number
from marlene.learners import METHODS, create

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Row = dict[str, Any]

EVERY = ",".join(METHODS)
INTERRUPTED = 130
REPORTED = (
    *("stream", "method", "seed", "examples", "labels", "features"),
    *("macro_gmean", "micro_gmean", "label_set_gmean", "hamming_score"),
    *("models", "drifts", "cpu_seconds", "learn_seconds", "peak_rss_mb", "base_rss_mb", "stopped"),
)
"""What `--json` has of a run, as `marlene run --json`."""


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
    """Run methods on streams, each with several seeds, and print a table for every stream.

    Results are in a temporary folder until they are printed; `marlene grid` keeps them.
    """
    if features not in ("auto", "numeric", "binary"):
        raise MarleneError(f"--features {features!r} is not one of auto, numeric, binary")
    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names:
        raise MarleneError("--methods names none")
    for name in names:
        create(name)
    chosen = int(labels) if labels is not None and labels.removeprefix("-").isdecimal() else labels
    settings = {"labels": chosen, "features": features, "limit": limit}
    given = {name: value for name, value in settings.items() if value is not None}
    runs = Grid.of(
        Run({"load": stream} | given, name, seed=seed)
        for stream in streams
        for name in names
        for seed in range(1, seeds + 1)
    ).runs()
    interrupted = False
    with tempfile.TemporaryDirectory(prefix="marlene-compare-") as folder:
        try:
            with display() as watch:
                run_grid(Grid.of(runs), folder, jobs=jobs, measure=True, watch=watch)
        except KeyboardInterrupt:
            interrupted = True
        kept = {row["key"]: row for row in ResultStore(folder).rows()}
    ended = [(run, kept[run.key]) for run in runs if run.key in kept]
    if json:
        print(dump_json(as_json(ended)))
    else:
        print_tables(Console(), runs, ended)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if any(row["status"] != DONE for _, row in ended):
        raise typer.Exit(SOME_FAILED)


def as_json(ended: Sequence[tuple[Run, Row]]) -> Row:
    """Return the scores of every run, and every error."""
    done = [row | {"stream": row["name"], "stopped": ""} for _, row in ended if row["status"] == DONE]
    return {
        "runs": [{name: row[name] for name in REPORTED} for row in done],
        "errors": [
            {"stream": run.stream["load"], "method": run.method, "seed": run.seed, "error": _error(row)}
            for run, row in ended
            if row["status"] != DONE
        ],
    }


def _error(row: Row) -> str:
    """Return the error of a run; errors of this package explain themselves without their class."""
    return str(row["error"]).removeprefix(f"{MarleneError.__name__}: ")


def print_tables(console: Console, runs: Sequence[Run], ended: Sequence[tuple[Run, Row]]) -> None:
    """Print a table for every stream: mean and standard deviation of every score, the best in bold, and errors."""
    for stream in dict.fromkeys(run.stream["load"] for run in runs):
        here = [(run, row) for run, row in ended if run.stream["load"] == stream]
        rows: dict[str, list[Row]] = {run.method: [] for run in runs if run.stream["load"] == stream}
        failed: dict[tuple[str, str], list[str]] = {}
        for run, row in here:
            if row["status"] == DONE:
                rows[run.method].append(row)
            else:
                failed.setdefault((run.method, _error(row)), []).append(str(run.seed))
        best = [_best(rows.values(), key, more_is_better) for _, key, more_is_better, _ in COLUMNS]
        # Not the table's title, which is broken into lines where it is longer than the table: a stream may be a path.
        print_plainly(console, f"G-Means on {stream}", style="table.title")
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("method")
        for heading in (*(heading for heading, *_ in COLUMNS), "runs"):
            table.add_column(heading, justify="right")
        for method, done in rows.items():
            cells = [
                _cell([number(row[key]) for row in done], form, best_mean)
                for (_, key, _, form), best_mean in zip(COLUMNS, best, strict=True)
            ]
            table.add_row(escape(method), *cells, str(len(done)))
        console.print(table)
        for (method, error), seeds in failed.items():
            text = f"{method} failed with seed {', '.join(seeds)}: {error}"
            print_plainly(console, text, style="red")
    console.print("mean ± standard deviation over the seeds; CPU time of learning and predicting; peak memory")


def _best(rows: Iterable[list[Row]], key: str, more_is_better: bool) -> float | None:
    """Return the best mean of a column; None if there is none."""
    means = [statistics.fmean(number(row[key]) for row in done) for done in rows if done]
    means = [mean for mean in means if not math.isnan(mean)]
    return (max(means) if more_is_better else min(means)) if means else None


def _cell(values: list[float], form: str, best: float | None) -> str:
    if not values:
        return "-"
    mean = statistics.fmean(values)
    text = f"{mean:{form}}" + (f" ± {statistics.stdev(values):{form}}" if len(values) > 1 else "")
    return f"[bold]{text}[/bold]" if mean == best else text
