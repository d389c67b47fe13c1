"""`marlene generate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marlene._common.checks import one_of
from marlene._common.errors import MarleneError
from marlene._common.files import atomic_write
from marlene.cli._options import column_choices, label_choice, load_stream
from marlene.cli._progress import examples_progress
from marlene.streams._gaussians import TYPES, Drift, GaussianStream
from marlene.streams._write import refuse_other_suffix, write_blocks
from marlene.streams.archives import ARCHIVES
from marlene.streams.changes import CHANGES, changed
from marlene.streams.synthetic import DRIFT_TYPES, synthetic_experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from marlene._common.arrays import Labels
    from marlene.streams import Stream
    from marlene.streams._matrix import Matrix
    from marlene.streams._stream import Drifts

GAUSSIANS = "gaussians"
SYNTHETIC_OPTIONS = "Options of synthetic streams"
PAPER_OPTIONS = f"Options of {', '.join(DRIFT_TYPES)}"
GAUSSIANS_OPTIONS = f"Options of {GAUSSIANS}"
LABEL_OPTIONS = f"Options of {GAUSSIANS} and of a file"
LOADED_OPTIONS = "Options of a data set or a file"
DRIFT_HELP = f"label:type:at or label:type:at:length; types are {', '.join(TYPES)}; may be given several times."
LABELS_HELP = "Number of labels, by default 5. Of a file: its label columns, as in `marlene run`."
CHANGE_HELP = f"How labels change places: {', '.join(CHANGES)}."
ARCHIVE_HELP = f"Write the second half, and beside it the first half as an archive: {', '.join(ARCHIVES)}."
BLOCK = 4096


def _option(panel: str, text: str, min: int | None = None) -> Any:  # noqa: A002, ANN401 (typer's word and object)
    return typer.Option(help=text, rich_help_panel=panel, min=min)


def generate(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help=f"{', '.join(DRIFT_TYPES)} (the paper's), {GAUSSIANS}, a data set or a file.")
    ],
    out: Annotated[Path, typer.Option(help="The file to write: .arff, .csv or .parquet.")],
    seed: Annotated[int, _option(SYNTHETIC_OPTIONS, "Seed of the random numbers.", min=0)] = 1,
    size: Annotated[int, _option(PAPER_OPTIONS, "Examples per Gaussian and concept.", min=1)] = 500,
    sources: Annotated[str, _option(PAPER_OPTIONS, "none, similar, non-similar or one-non-similar.")] = "none",
    source_size: Annotated[int, _option(PAPER_OPTIONS, "Examples per Gaussian in a source.", min=1)] = 5000,
    examples: Annotated[int, _option(GAUSSIANS_OPTIONS, "Number of examples.", min=1)] = 10_000,
    labels: Annotated[str | None, _option(LABEL_OPTIONS, LABELS_HELP)] = None,
    features: Annotated[int, _option(GAUSSIANS_OPTIONS, "Number of features.", min=1)] = 2,
    gaussians: Annotated[int, _option(GAUSSIANS_OPTIONS, "Number of Gaussians.", min=2)] = 5,
    positives: Annotated[int, _option(GAUSSIANS_OPTIONS, "Number of positive Gaussians of a label.", min=1)] = 1,
    drift: Annotated[list[str] | None, _option(GAUSSIANS_OPTIONS, DRIFT_HELP)] = None,
    imbalance: Annotated[float, _option(GAUSSIANS_OPTIONS, "Frequency of the first Gaussian over the last.")] = 1,
    correlation: Annotated[float, _option(GAUSSIANS_OPTIONS, "Probability that a label equals the one before.")] = 0,
    spread: Annotated[float, _option(GAUSSIANS_OPTIONS, "Half the edge of the cube that holds the means.")] = 4,
    change: Annotated[str | None, _option(LOADED_OPTIONS, CHANGE_HELP)] = None,
    change_seed: Annotated[int, _option(LOADED_OPTIONS, "Seed of the change.", min=0)] = 1,
    archive: Annotated[str | None, _option(LOADED_OPTIONS, ARCHIVE_HELP)] = None,
    archive_seed: Annotated[int, _option(LOADED_OPTIONS, "Seed of an archive of noise.", min=0)] = 1,
    separator: Annotated[str | None, _option(LOADED_OPTIONS, "As in `marlene run`.")] = None,
    drop: Annotated[str | None, _option(LOADED_OPTIONS, "Columns to leave out, as in `marlene run`.")] = None,
    kinds: Annotated[str | None, _option(LOADED_OPTIONS, "Kinds of columns, as in `marlene run`.")] = None,
    absent: Annotated[str | None, _option(LOADED_OPTIONS, "As in `marlene run`.")] = None,
    limit: Annotated[int | None, _option(LOADED_OPTIONS, "Only the first N examples.", min=1)] = None,
) -> None:
    """Write a stream to a file: a synthetic one, or a data set whose labels drift.

    Its true drifts and, if it has any, its sources are written beside it.
    """
    refuse_other_suffix(out)
    if name == GAUSSIANS:
        _refuse_options(context, name, GAUSSIANS_OPTIONS, SYNTHETIC_OPTIONS, LABEL_OPTIONS)
        drifts = [Drift.parse(text) for text in drift or []]
        mixture: dict[str, Any] = {"imbalance": imbalance, "correlation": correlation, "spread": spread, "seed": seed}
        count: Any = label_choice(labels or "5")
        stream = GaussianStream(count, features, gaussians, positives=positives, drifts=drifts, **mixture)
        _write(out, stream, examples)
        _write_drifts(out, stream.drift_positions(examples))
    elif name.upper() in DRIFT_TYPES:
        _refuse_options(context, name, PAPER_OPTIONS, SYNTHETIC_OPTIONS)
        made = synthetic_experiment(name.upper(), size, sources, source_size=source_size, seed=seed)
        _write_all(out, made.target, {source.name: source for source in made.sources})
    elif change is None and archive is None:
        known = ", ".join([*DRIFT_TYPES, GAUSSIANS])
        needed = "a data set or a file needs --change or --archive"
        raise MarleneError(f"there is no synthetic stream {name!r}; there are {known}; {needed}")
    else:
        _refuse_options(context, name, LOADED_OPTIONS, LABEL_OPTIONS)
        _check_choices(context, change, archive)
        if out.exists() and Path(name).exists() and out.samefile(name):
            raise MarleneError(f"--out {out}: this is the file that is read")
        choices = column_choices(labels, separator, drop, kinds, "auto", absent=absent)
        target, archives = load_stream(name, choices, limit), {}
        if archive is not None:
            archives["archive"], target = target.halves(archive, archive_seed)
        _write_all(out, target if change is None else changed(target, change, change_seed), archives)


def _given(context: typer.Context, name: str) -> bool:
    """Tell whether an option is on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _refuse_options(context: typer.Context, name: str, *panels: str) -> None:
    """Refuse the options of other types of stream, rather than ignore them."""
    for option in context.command.params:
        panel = getattr(option, "rich_help_panel", None)
        if panel is not None and panel not in panels and _given(context, option.name or ""):
            raise MarleneError(f"{option.opts[0]} does not apply to {name}")


def _check_choices(context: typer.Context, change: str | None, archive: str | None) -> None:
    """Refuse what is unknown, and a seed of what is not asked for, before anything is loaded."""
    for option, value, choices in (("change", change, CHANGES), ("archive", archive, ARCHIVES)):
        if value is not None:
            one_of(value, f"--{option}", choices)
        elif _given(context, f"{option}_seed"):
            raise MarleneError(f"--{option}-seed needs --{option}")


def _write_all(out: Path, target: Stream, sources: dict[str, Stream]) -> None:
    """Write a target, its sources and, if they are known, its drifts."""
    files = {out.with_name(f"{out.stem}.{name}{out.suffix}"): source for name, source in sources.items()}
    for path, written in (files | {out: target}).items():
        _write(path, written, len(written))
    if target.drifts:
        _write_drifts(out, target.drifts)


def _write(path: Path, stream: Stream | GaussianStream, count: int) -> None:
    with examples_progress(f"writing {path.name}", count) as advance:
        write_blocks(path, stream.features, stream.labels, _first(stream, count, advance))
    print(f"{path}: {count} examples, {len(stream.features)} features, {len(stream.labels)} labels")


def _first(
    stream: Stream | GaussianStream, count: int, advance: Callable[[int], None]
) -> Iterator[tuple[Matrix, Labels]]:
    """Yield the first `count` examples in blocks; report each block after it is written."""
    for start, (X, Y) in zip(range(0, count, BLOCK), stream.blocks(BLOCK), strict=False):
        yield X[: count - start], Y[: count - start]
        advance(min(BLOCK, count - start))


def _write_drifts(out: Path, drifts: Drifts) -> None:
    """Write, for every label, the numbers of the examples that begin a new concept."""
    path = out.with_name(f"{out.stem}.drifts.json")
    with atomic_write(path) as file:
        file.write((json.dumps(dict(drifts)) + "\n").encode())
    print(f"{path}: {sum(len(times) for times in drifts.values())} drifts")
