"""`marlene generate`."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated

import typer

from marlene._common.errors import MarleneError
from marlene._common.files import atomic_write
from marlene.cli._progress import examples_progress
from marlene.streams._write import refuse_other_suffix, write_blocks
from marlene.streams.synthetic import DRIFT_TYPES, Drift, GaussianStream, synthetic_experiment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from marlene.streams import Stream
    from marlene.streams._gaussians import Block

GAUSSIANS = "gaussians"
BLOCK = 4096
OF_PAPER = ("size", "sources", "source_size")
OF_GAUSSIANS = (
    "examples",
    "labels",
    "features",
    "gaussians",
    "positives",
    "drift",
    "imbalance",
    "correlation",
    "spread",
)


def generate(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help=f"{', '.join(DRIFT_TYPES)} (the paper's), or {GAUSSIANS}.")],
    out: Annotated[Path, typer.Option(help="Where to: a file .arff, .csv or .parquet.")],
    seed: Annotated[int, typer.Option(min=0, help="What the examples depend on.")] = 1,
    size: Annotated[int, typer.Option(min=1, help="The paper's: examples per Gaussian and concept.")] = 500,
    sources: Annotated[str, typer.Option(help="The paper's: none, similar or non-similar.")] = "none",
    source_size: Annotated[int, typer.Option(min=1, help="The paper's: examples per Gaussian in a source.")] = 5000,
    examples: Annotated[int, typer.Option(min=1, help=f"{GAUSSIANS}: how many examples.")] = 10_000,
    labels: Annotated[int, typer.Option(min=1, help=f"{GAUSSIANS}: how many labels.")] = 5,
    features: Annotated[int, typer.Option(min=1, help=f"{GAUSSIANS}: how many features.")] = 2,
    gaussians: Annotated[int, typer.Option(min=2, help=f"{GAUSSIANS}: how many of them.")] = 5,
    positives: Annotated[int, typer.Option(min=1, help=f"{GAUSSIANS}: on how many a label is positive.")] = 1,
    drift: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{GAUSSIANS}: label:kind:at or label:kind:at:length, kind abrupt, incremental, gradual or recurring; "
            "may be given several times."
        ),
    ] = None,
    imbalance: Annotated[
        float, typer.Option(help=f"{GAUSSIANS}: the first so many times as frequent as the last.")
    ] = 1,
    correlation: Annotated[
        float, typer.Option(help=f"{GAUSSIANS}: probability that a label is as the one before.")
    ] = 0,
    spread: Annotated[float, typer.Option(help=f"{GAUSSIANS}: how far apart they lie.")] = 4,
) -> None:
    """Write a synthetic stream to a file, its true drifts beside it, and its sources if there are any."""
    refuse_other_suffix(out)
    if name != GAUSSIANS and name.upper() not in DRIFT_TYPES:
        raise MarleneError(f"there is no synthetic stream {name!r}; there are {', '.join([*DRIFT_TYPES, GAUSSIANS])}")
    _refuse_options(context, name, OF_GAUSSIANS if name != GAUSSIANS else OF_PAPER)
    if name == GAUSSIANS:
        stream = GaussianStream(
            labels,
            features,
            gaussians,
            positives=positives,
            drifts=[Drift.parse(text) for text in drift or []],
            imbalance=imbalance,
            correlation=correlation,
            spread=spread,
            seed=seed,
        )
        names = [feature.name for feature in stream.features]
        _write(out, names, stream.labels, _first(stream, examples), examples)
        _write_drifts(out, stream.drift_positions(examples))
        return
    made = synthetic_experiment(name.upper(), size, sources, source_size=source_size, seed=seed)
    for source in made.sources:
        _write_stream(out.with_name(f"{out.stem}.{source.name}{out.suffix}"), source)
    _write_stream(out, made.target)
    _write_drifts(out, made.drifts)


def _refuse_options(context: typer.Context, name: str, others: Sequence[str]) -> None:
    """Refuse an option that the stream does not have, rather than ignore it."""
    for option in others:
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            raise MarleneError(f"--{option.replace('_', '-')} does not apply to {name}")


def _first(stream: GaussianStream, count: int) -> Iterator[Block]:
    for X, Y in stream.blocks(BLOCK):
        yield X[:count], Y[:count]
        count -= BLOCK
        if count <= 0:
            return


def _write_stream(path: Path, stream: Stream) -> None:
    blocks = ((stream.X[i : i + BLOCK], stream.Y[i : i + BLOCK]) for i in range(0, len(stream), BLOCK))
    _write(path, [feature.name for feature in stream.features], stream.labels, blocks, len(stream))


def _write(path: Path, features: Sequence[str], labels: Sequence[str], blocks: Iterator[Block], count: int) -> None:
    with examples_progress(f"writing {path.name}", count) as advance:
        write_blocks(path, features, labels, _counted(blocks, advance))
    print(f"{path}: {count} examples, {len(features)} features, {len(labels)} labels")


def _counted(blocks: Iterator[Block], advance: Callable[[int], None]) -> Iterator[Block]:
    for block in blocks:
        yield block
        advance(len(block[1]))


def _write_drifts(out: Path, drifts: Mapping[str, Sequence[int]]) -> None:
    """Write the number of the first example of every new concept, by label."""
    path = out.with_name(f"{out.stem}.drifts.json")
    with atomic_write(path) as file:
        file.write((json.dumps({label: list(times) for label, times in drifts.items()}) + "\n").encode())
    print(f"{path}: {sum(len(times) for times in drifts.values())} drifts")
