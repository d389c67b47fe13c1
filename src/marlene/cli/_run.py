"""`marlene run`."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from marlene._common.errors import MarleneError
from marlene._common.resources import memory_mb
from marlene.cli._progress import bytes_progress, run_progress
from marlene.evaluation import prequential
from marlene.evaluation._prequential import load_kernels
from marlene.evaluation._result import dump_json
from marlene.learners import create
from marlene.learners._methods import DEFAULT_METHOD, RIVER
from marlene.streams import load

if TYPE_CHECKING:
    from marlene.evaluation import PrequentialResult
    from marlene.streams import Stream

INTERRUPTED = 130


def run(
    stream: Annotated[str, typer.Argument(help="A data set's name (see `marlene datasets`), or a file.")],
    labels: Annotated[
        str | None, typer.Option(help="Label columns of a file: patterns like 'is_*,spam', or a number as in MEKA.")
    ] = None,
    method: Annotated[str, typer.Option(help="See `marlene methods`.")] = DEFAULT_METHOD,
    seed: Annotated[int, typer.Option(help="What the method's random numbers depend on.")] = 1,
    features: Annotated[str, typer.Option(help="auto, numeric, or binary (whether a value is non-zero).")] = "auto",
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N examples.")] = None,
    window: Annotated[int | None, typer.Option(min=1, help="Window of the figures; default a tenth.")] = None,
    start: Annotated[
        int | None, typer.Option(min=-1, help="Score examples with an index greater than N; default a twentieth.")
    ] = None,
    delay: Annotated[int, typer.Option(min=0, help="Labels arrive N examples late.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    predictions: Annotated[
        Path | None, typer.Option(help="Write pred, proba and truth of every example to this npz file.")
    ] = None,
) -> None:
    """Test-then-train a method over a stream and print its G-Means."""
    if features not in ("auto", "numeric", "binary"):
        raise MarleneError(f"--features {features!r} is not one of auto, numeric, binary")
    if predictions is not None:
        _refuse_unwritable(predictions)
    model = create(method, seed)
    load_kernels(model)
    base = memory_mb()
    loaded = _load(stream, labels, features, limit)
    try:
        with run_progress(f"{method} on {loaded.name}") as show:
            result = prequential(
                model, loaded, window=window, start=start, delay=delay, callbacks=[show], method=method, seed=seed
            )
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        if isinstance(error, MarleneError) or not method.startswith(RIVER):
            raise
        raise MarleneError(f"{method} cannot learn {loaded.name}: {error}") from error
    result = replace(result, base_rss_mb=base, cpu_seconds=time.process_time())
    try:
        _save_predictions(result, predictions)
    finally:
        if json:
            print(dump_json(result.report()))
        else:
            _print_result(result, len(loaded))
    if result.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _refuse_unwritable(path: Path) -> None:
    """Say so before the run rather than after it."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise MarleneError(f"--predictions {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise MarleneError(f"--predictions {path}: the folder {folder} cannot be written")
    if path.exists() and not path.is_file():
        raise MarleneError(f"--predictions {path}: this is not an ordinary file")


def _load(source: str, labels: str | None, features: str, limit: int | None) -> Stream:
    chosen = int(labels) if labels is not None and labels.removeprefix("-").isdecimal() else labels
    with bytes_progress(f"downloading {source}") as progress:
        loaded = load(source, labels=chosen, features=features, limit=limit, progress=progress)
    never = [label for label, column in zip(loaded.labels, loaded.Y.T, strict=True) if not (column == 1).any()]
    if never:
        names = ", ".join(never[:5]) + (", …" if len(never) > 5 else "")
        print(f"marlene: warning: {len(never)} of {len(loaded.labels)} labels never occur: {names}", file=sys.stderr)
    return loaded


def _save_predictions(result: PrequentialResult, path: Path | None) -> None:
    if path is None:
        return
    try:
        result.save_predictions(path)
    except OSError as error:
        raise MarleneError(f"--predictions {path}: {error.strerror}") from error


def _print_result(result: PrequentialResult, total: int) -> None:
    console = Console()
    if result.stopped:
        console.print(f"stopped after {result.examples} of {total} examples; the figures are of those")
    table = Table(title=escape(f"{result.method} on {result.stream}"), box=box.SIMPLE_HEAD)
    table.add_column("figure")
    table.add_column("mean over the stream", justify="right")
    table.add_column("last window", justify="right")
    names = {
        "macro_gmean": "Macro-G-Mean",
        "micro_gmean": "Micro-G-Mean",
        "label_set_gmean": "Label-set-G-Mean",
        "hamming_score": "Hamming score",
    }
    for key, name in names.items():
        last = f"{result.trace(key)[-1]:.3f}" if len(result.steps) else "-"
        table.add_row(name, f"{result.figures[key]:.3f}", last)
    console.print(table)
    console.print(
        f"{result.examples} examples, {result.features} features, {len(result.labels)} labels; "
        f"window {result.window}, {len(result.steps)} steps scored\n"
        f"{result.models} models, {result.drifts} drifts; learning {result.learn_seconds:.2f} s CPU, "
        f"in all {result.cpu_seconds:.2f} s CPU; peak memory {result.peak_rss_mb:.0f} MB"
    )
