"""`marlene generate`."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marlene._common.errors import MarleneError
from marlene._common.files import atomic_write
from marlene.cli._progress import examples_progress
from marlene.streams._gaussians import TYPES, Drift, GaussianStream
from marlene.streams._write import refuse_other_suffix, write_blocks
from marlene.streams.synthetic import DRIFT_TYPES, synthetic_experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from marlene._common.arrays import Labels
    from marlene.streams import Stream
    from marlene.streams._matrix import Matrix

GAUSSIANS = "gaussians"
PAPER_OPTIONS = f"Options of {', '.join(DRIFT_TYPES)}"
GAUSSIANS_OPTIONS = f"Options of {GAUSSIANS}"
DRIFT_HELP = f"label:type:at or label:type:at:length; types are {', '.join(TYPES)}; may be given several times."
BLOCK = 4096


def _option(panel: str, text: str, min: int | None = None) -> Any:  # noqa: A002, ANN401 (typer's word and object)
    return typer.Option(help=text, rich_help_panel=panel, min=min)


def generate(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help=f"{', '.join(DRIFT_TYPES)} (the paper's), or {GAUSSIANS}.")],
    out: Annotated[Path, typer.Option(help="The file to write: .arff, .csv or .parquet.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 1,
    size: Annotated[int, _option(PAPER_OPTIONS, "Examples per Gaussian and concept.", min=1)] = 500,
    sources: Annotated[str, _option(PAPER_OPTIONS, "none, similar or non-similar.")] = "none",
    source_size: Annotated[int, _option(PAPER_OPTIONS, "Examples per Gaussian in a source.", min=1)] = 5000,
    examples: Annotated[int, _option(GAUSSIANS_OPTIONS, "Number of examples.", min=1)] = 10_000,
    labels: Annotated[int, _option(GAUSSIANS_OPTIONS, "Number of labels.", min=1)] = 5,
    features: Annotated[int, _option(GAUSSIANS_OPTIONS, "Number of features.", min=1)] = 2,
    gaussians: Annotated[int, _option(GAUSSIANS_OPTIONS, "Number of Gaussians.", min=2)] = 5,
    positives: Annotated[int, _option(GAUSSIANS_OPTIONS, "Number of positive Gaussians of a label.", min=1)] = 1,
    drift: Annotated[list[str] | None, _option(GAUSSIANS_OPTIONS, DRIFT_HELP)] = None,
    imbalance: Annotated[float, _option(GAUSSIANS_OPTIONS, "Frequency of the first Gaussian over the last.")] = 1,
    correlation: Annotated[float, _option(GAUSSIANS_OPTIONS, "Probability that a label equals the one before.")] = 0,
    spread: Annotated[float, _option(GAUSSIANS_OPTIONS, "Half the edge of the cube that holds the means.")] = 4,
) -> None:
    """Write a synthetic stream to a file, with its true drifts and, if it has any, its sources beside it."""
    refuse_other_suffix(out)
    if name != GAUSSIANS and name.upper() not in DRIFT_TYPES:
        raise MarleneError(f"there is no synthetic stream {name!r}; there are {', '.join([*DRIFT_TYPES, GAUSSIANS])}")
    _refuse_options(context, name, PAPER_OPTIONS if name == GAUSSIANS else GAUSSIANS_OPTIONS)
    if name == GAUSSIANS:
        drifts = [Drift.parse(text) for text in drift or []]
        mixture: dict[str, Any] = {"imbalance": imbalance, "correlation": correlation, "spread": spread, "seed": seed}
        stream = GaussianStream(labels, features, gaussians, positives=positives, drifts=drifts, **mixture)
        _write(out, stream, examples)
        _write_drifts(out, stream.drift_positions(examples))
        return
    made = synthetic_experiment(name.upper(), size, sources, source_size=source_size, seed=seed)
    files = {out.with_name(f"{out.stem}.{source.name}{out.suffix}"): source for source in made.sources}
    for path, written in (files | {out: made.target}).items():
        _write(path, written, len(written))
    _write_drifts(out, made.target.drifts)


def _refuse_options(context: typer.Context, name: str, panel: str) -> None:
    """Refuse the options of the other type of stream, rather than ignore them."""
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if getattr(option, "rich_help_panel", None) == panel and source is not None and source.name == "COMMANDLINE":
            raise MarleneError(f"{option.opts[0]} does not apply to {name}")


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


def _write_drifts(out: Path, drifts: Mapping[str, Sequence[int]]) -> None:
    """Write, for every label, the numbers of the examples that begin a new concept."""
    path = out.with_name(f"{out.stem}.drifts.json")
    with atomic_write(path) as file:
        file.write((json.dumps(dict(drifts)) + "\n").encode())
    print(f"{path}: {sum(len(times) for times in drifts.values())} drifts")
