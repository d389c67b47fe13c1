"""`marlene run`."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from marlene._common.errors import MarleneError
from marlene._common.resources import memory_mb
from marlene.cli._progress import bytes_progress, run_progress
from marlene.cli._report import print_figures, print_insight, print_next
from marlene.evaluation import prequential
from marlene.evaluation._prequential import load_kernels
from marlene.evaluation._result import dump_json
from marlene.experiments import paper
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
    drift: Annotated[str | None, typer.Option(help="Drift detector: ddm-oci (default), ddm, adwin, none.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the method, such as pairs=5; several may be given."),
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option(help="A stream learnt whole before the target; may be given several times.")
    ] = None,
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
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Keep the state in this file; run again with it, a run that was stopped goes on."),
    ] = None,
    every: Annotated[
        int | None, typer.Option(min=1, help="Write the checkpoint every N examples; default every 10 s or so.")
    ] = None,
) -> None:
    """Test-then-train a method over a stream and print its G-Means."""
    if features not in ("auto", "numeric", "binary"):
        raise MarleneError(f"--features {features!r} is not one of auto, numeric, binary")
    if every is not None and checkpoint is None:
        raise MarleneError("--every says how often a checkpoint is written: it needs --checkpoint FILE")
    for option, path in (("--predictions", predictions), ("--checkpoint", checkpoint)):
        if path is not None:
            _refuse_unwritable(option, path)
    model = create(method, seed, drift=drift, **_parsed(settings or []))
    load_kernels(model)
    base = memory_mb()
    loaded = _load(stream, labels, features, limit)
    sources = [_load(name, labels, features, None) for name in source or []]
    before = time.process_time()
    try:
        with run_progress(f"{method} on {loaded.name}") as show:
            result = prequential(
                model,
                loaded,
                window=window,
                start=start,
                delay=delay,
                callbacks=[show],
                method=method,
                seed=seed,
                sources=sources,
                checkpoint=checkpoint,
                every=every,
            )
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        if isinstance(error, MarleneError) or not method.startswith(RIVER):
            raise
        raise MarleneError(f"{method} cannot learn {loaded.name}: {error}") from error
    result = replace(result, base_rss_mb=base, cpu_seconds=before + result.cpu_seconds)
    try:
        _save_predictions(result, predictions)
    finally:
        if json:
            print(dump_json(result.report()))
        else:
            console = Console()
            usual = (limit, window, start, delay, source) == (None, None, None, 0, None) and not result.stopped
            published = _published(method, stream.lower()) if usual else ("", ())
            print_figures(console, result, len(loaded), *published)
            if hasattr(model, "transfer_matrix") and result.examples:
                print_insight(console, model, result.examples, [given.name for given in sources])
                named = ["--labels", labels] if labels else []
                learnt = [word for name in source or [] for word in ("--source", name)]
                print_next(console, method, ["marlene", "run", stream, *named, *learnt], bool(published[1]))
    if result.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _published(method: str, stream: str) -> tuple[str, tuple[float, ...]]:
    """Return what to compare with: the method's own figures in the paper, or the best there for the method of ours."""
    if method == DEFAULT_METHOD:
        return "best in the paper", paper.best(stream)
    return "the paper's", paper.scores(method, stream)


def _parsed(settings: list[str]) -> dict[str, Any]:
    """Return parameters by name; what looks like a number is one."""
    found: dict[str, Any] = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        if not name or not separator:
            raise MarleneError(f"--set {setting!r}: expected NAME=VALUE")
        found[name] = int(text) if text.removeprefix("-").isdecimal() else text
    return found


def _refuse_unwritable(option: str, path: Path) -> None:
    """Say so before the run rather than after it."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise MarleneError(f"{option} {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise MarleneError(f"{option} {path}: the folder {folder} cannot be written")
    if path.exists() and not path.is_file():
        raise MarleneError(f"{option} {path}: this is not an ordinary file")


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
