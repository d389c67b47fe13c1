"""`marlene run`."""

from __future__ import annotations

import contextlib
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
from marlene.cli._interrupts import INTERRUPTED, leaving_at_once
from marlene.cli._measures import print_measures
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
    as_number,
    column_choices,
    is_whole,
    open_stream,
)
from marlene.cli._progress import run_progress
from marlene.cli._report import print_written
from marlene.cli._summary import print_insight, print_next, print_scores
from marlene.evaluation import prequential
from marlene.evaluation._delays import read_delays
from marlene.evaluation._measures import FADING
from marlene.evaluation._prequential import load_kernels
from marlene.evaluation._result import dump_json
from marlene.experiments import paper
from marlene.learners import METHODS, create
from marlene.learners._methods import DEFAULT_METHOD, RIVER
from marlene.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from marlene.streams import LazyStream


def run(
    stream: Annotated[str, typer.Argument(help="A data set's name (see `marlene datasets`), a file, or `-`.")],
    labels: LabelsOption = None,
    separator: SeparatorOption = None,
    drop: DropOption = None,
    kinds: KindsOption = None,
    method: Annotated[str, typer.Option(help="See `marlene methods`.")] = DEFAULT_METHOD,
    seed: Annotated[int, typer.Option(help="Seed of the method's random numbers.")] = 1,
    features: FeaturesOption = "auto",
    first_feature: FirstOption = None,
    absent: AbsentOption = None,
    drift: Annotated[
        str | None,
        typer.Option(
            help="Drift detector of the paper's methods: balanced, ddm-oci (paper), ddm, adwin, none. "
            "Default: balanced; for brpw-marlene ddm-oci."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A parameter of the method, such as pairs=5; may be given several times."),
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option(help="A stream to learn whole before the target; may be given several times.")
    ] = None,
    limit: LimitOption = None,
    lazy: LazyOption = False,
    window: Annotated[
        int | None, typer.Option(min=1, help="Window of the scores; default a tenth, with --lazy 1000.")
    ] = None,
    start: Annotated[
        int | None,
        typer.Option(min=-1, help="Score examples with an index greater than N; default a twentieth, with --lazy 0."),
    ] = None,
    delay: Annotated[
        str, typer.Option(help="Labels arrive N examples late; or a file with a number, or `never`, in each line.")
    ] = "0",
    fading: Annotated[
        float, typer.Option(help="Factor of all earlier examples in the fading measures, for each new one.")
    ] = FADING,
    after: Annotated[
        int | None, typer.Option(min=0, help="Examples that do not count for calibration; default a tenth.")
    ] = None,
    per_label: Annotated[bool, typer.Option("--per-label", help="Print a table of all labels, too.")] = False,
    json: JsonOption = False,
    predictions: Annotated[
        Path | None, typer.Option(help="Write pred, proba and truth of every example to this npz file.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Save the state to this file; resume from it if it exists.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with pictures of the run to this HTML file.")
    ] = None,
    every: Annotated[
        int | None, typer.Option(min=1, help="Write the checkpoint every N examples; default about every 10 s.")
    ] = None,
) -> None:
    """Test-then-train a method over a stream and print its G-Means and other measures."""
    if every is not None and checkpoint is None:
        raise MarleneError("--every says how often a checkpoint is written: it needs --checkpoint FILE")
    for option, path in (("--predictions", predictions), ("--checkpoint", checkpoint), ("--report", report)):
        if path is not None:
            refuse_unwritable(option, path)
    if drift is not None and method in METHODS and "drift" not in METHODS[method].options:
        raise MarleneError(f"--drift {drift}: the method {method} has no drift detector to choose")
    model = create(method, seed, drift=drift, **parsed_settings(settings or []))
    with leaving_at_once():
        load_kernels(model)
    base = memory_mb()
    choices = column_choices(labels, separator, drop, kinds, features, first_feature, absent, lazy)
    target = _load(stream, choices, limit)
    _refuse_predictions(target, predictions)
    sources = [_load(name, choices, None) for name in source or []]
    before = time.process_time()
    given: dict[str, Any] = {"method": method, "seed": seed, "sources": sources}
    given |= {"window": window, "start": start, "delay": delay_choice(delay), "checkpoint": checkpoint, "every": every}
    given |= {"fading": fading, "after": after}
    with _river_errors(method, target.name), run_progress(f"{method} on {target.name}") as show:
        result = prequential(model, target, callbacks=[show], **given)
    result = replace(result, base_rss_mb=base, cpu_seconds=before + result.cpu_seconds)
    try:
        _write("--predictions", predictions, result.save_predictions)
        _write("--report", report, result.report)
    finally:
        if json:
            print(dump_json(result.as_dict()))
        else:
            console = Console()
            comparable = (limit, window, start, delay, source) == (None, None, None, "0", None) and not result.stopped
            heading, published = _published(method, stream.lower()) if comparable else ("", ())
            print_scores(console, result, target.total, heading, published)
            print_measures(console, result, per_label=per_label)
            if hasattr(model, "transfer_matrix") and result.examples:
                print_insight(console, model, result.examples, [given.name for given in sources])
                said = {
                    "--labels": labels,
                    "--separator": separator,
                    "--drop": drop,
                    "--kinds": kinds,
                    "--absent": absent,
                }
                named = [word for option, value in said.items() if value for word in (option, value)]
                named += ["--lazy"] * lazy
                learnt = [word for name in source or [] for word in ("--source", name)]
                print_next(console, method, ["marlene", "run", stream, *named, *learnt], bool(published))
            if report is not None:
                print_written(report)
    if result.stopped == "interrupted":
        raise typer.Exit(INTERRUPTED)


def _write(option: str, path: Path | None, write: Callable[[Path], None]) -> None:
    """Write a file, if one was asked for."""
    try:
        if path is not None:
            write(path)
    except OSError as error:
        raise MarleneError(f"{option} {path}: {error.strerror}") from error


def delay_choice(text: str) -> int | list[int]:
    """Return the value of `--delay` as `prequential` takes it."""
    if not is_whole(text):
        return read_delays(text)
    if int(text) < 0:
        raise MarleneError(f"--delay must be a whole number of at least 0, or a file of such numbers, not {text}")
    return int(text)


@contextlib.contextmanager
def _river_errors(method: str, stream: str) -> Iterator[None]:
    """Turn an error that a River classifier raises into one line that names method and stream."""
    try:
        yield
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        if isinstance(error, MarleneError) or not method.startswith(RIVER):
            raise
        raise MarleneError(f"{method} cannot learn {stream}: {error}") from error


def _published(method: str, stream: str) -> tuple[str, tuple[float, ...]]:
    """Return the paper's scores to compare with: the best ones for our own method, else those of the method."""
    if method == DEFAULT_METHOD:
        return "best in the paper", paper.best(stream)
    return "the paper's", paper.scores(method, stream)


def parsed_settings(settings: list[str]) -> dict[str, Any]:
    """Return parameters by name; a text that is a number becomes one."""
    found: dict[str, Any] = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        if not name or not separator:
            raise MarleneError(f"--set {setting!r}: expected NAME=VALUE")
        found[name] = as_number(text)
    return found


def _refuse_predictions(target: Stream | LazyStream, predictions: Path | None) -> None:
    if predictions is not None and not isinstance(target, Stream):
        raise MarleneError("--predictions: of a stream that is read part by part, predictions are not kept")


def refuse_unwritable(option: str, path: Path) -> None:
    """Refuse, before the run, a file that could not be written after it."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise MarleneError(f"{option} {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise MarleneError(f"{option} {path}: the folder {folder} cannot be written")
    if path.exists() and not path.is_file():
        raise MarleneError(f"{option} {path}: this is not an ordinary file")


def _load(source: str, choices: dict[str, Any], limit: int | None) -> Stream | LazyStream:
    loaded: Stream | LazyStream = open_stream(source, choices, limit)
    if not isinstance(loaded, Stream):
        return loaded
    never = [label for label, column in zip(loaded.labels, loaded.Y.T, strict=True) if not (column == 1).any()]
    if never:
        names = ", ".join(never[:5]) + (", …" if len(never) > 5 else "")
        print(f"marlene: warning: {len(never)} of {len(loaded.labels)} labels never occur: {names}", file=sys.stderr)
    return loaded
