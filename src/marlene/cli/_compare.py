"""`marlene compare`."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from marlene._common.errors import MarleneError
from marlene.cli._grid import SOME_FAILED, display, error_of, print_tables
from marlene.cli._interrupts import INTERRUPTED
from marlene.cli._options import (
    AbsentOption,
    DropOption,
    FeaturesOption,
    FirstOption,
    JsonOption,
    KindsOption,
    LabelsOption,
    LazyOption,
    LimitOption,
    SeparatorOption,
    column_choices,
)
from marlene.cli._report import print_written
from marlene.cli._run import refuse_unwritable
from marlene.evaluation._measures import MEASURES
from marlene.evaluation._result import REPORTED, dump_json
from marlene.experiments import Grid, ResultStore, Run, run_grid
from marlene.experiments._report import compare_store
from marlene.experiments._store import DONE
from marlene.learners import METHODS, create

if TYPE_CHECKING:
    from collections.abc import Sequence

    Row = dict[str, Any]

EVERY = ",".join(name for name, method in METHODS.items() if method.available)


def compare(
    streams: Annotated[list[str], typer.Argument(help="Data sets' names (see `marlene datasets`), or files.")],
    methods: Annotated[str, typer.Option(help="Methods, with commas between (see `marlene methods`).")] = EVERY,
    seeds: Annotated[int, typer.Option(min=1, help="How often each is run: with seeds 1, 2, …")] = 5,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes run at a time.")] = 1,
    labels: LabelsOption = None,
    separator: SeparatorOption = None,
    drop: DropOption = None,
    kinds: KindsOption = None,
    features: FeaturesOption = "auto",
    first_feature: FirstOption = None,
    absent: AbsentOption = None,
    limit: LimitOption = None,
    lazy: LazyOption = False,
    json: JsonOption = False,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with pictures of the runs side by side to this HTML file.")
    ] = None,
) -> None:
    """Run methods on streams, each with several seeds, and print a table for every stream.

    Results are in a temporary folder until they are printed; `marlene grid` keeps them.
    """
    if report is not None:
        refuse_unwritable("--report", report)
    names = [name.strip() for name in methods.split(",") if name.strip()]
    if not names:
        raise MarleneError("--methods names none")
    for name in names:
        create(name)
    given = column_choices(labels, separator, drop, kinds, features, first_feature, absent, lazy) | (
        {} if limit is None else {"limit": limit}
    )
    cells = itertools.product(streams, names, range(1, seeds + 1))
    grid = Grid.of(Run({"load": stream} | given, name, seed=seed) for stream, name, seed in cells)
    interrupted = False
    with tempfile.TemporaryDirectory(prefix="marlene-compare-") as folder:
        try:
            with display() as watch:
                run_grid(grid, folder, jobs=jobs, measure=True, watch=watch)
        except KeyboardInterrupt:
            interrupted = True
        store = ResultStore(folder)
        kept = {row["key"]: row for row in store.rows()}
        if report is not None and any(row["status"] == DONE for row in kept.values()):
            compare_store(store).write(report)
    rows = [kept[run.key] for run in grid.runs() if run.key in kept]
    if json:
        print(dump_json(as_json(rows)))
    else:
        print_tables(Console(), grid.runs(), rows)
        if report is not None and any(row["status"] == DONE for row in rows):
            print_written(report)
    if interrupted:
        raise typer.Exit(INTERRUPTED)
    if any(row["status"] != DONE for row in rows):
        raise typer.Exit(SOME_FAILED)


def as_json(rows: Sequence[Row]) -> Row:
    """Return the scores of every run, and every error."""
    done = [row | {"stream": row["name"], "stopped": ""} | _measures(row) for row in rows if row["status"] == DONE]
    failed = [row | {"stream": row["stream"]["load"], "error": error_of(row)} for row in rows if row["status"] != DONE]
    return {
        "runs": [{name: row[name] for name in REPORTED} for row in done],
        "errors": [{name: row[name] for name in ("stream", "method", "seed", "error")} for row in failed],
    }


def _measures(row: Row) -> Row:
    """Return the measures of a row by name, cumulative and with fading."""
    return {part: {name: row[f"{part}_{name}"] for name in MEASURES} for part in ("cumulative", "faded")}
