"""`marlene datasets`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from marlene._common.errors import MarleneError
from marlene.cli._progress import bytes_progress
from marlene.metrics import label_density, label_imbalance_rate, label_set_imbalance_rate
from marlene.streams import CATALOGUE, load


def datasets(
    names: Annotated[list[str] | None, typer.Argument(help="Data sets, by name. Default: all seven.")] = None,
) -> None:
    """Print the paper's table of data sets, computed from the files."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("data set")
    for heading in ("|D|", "|x|", "|L|", "LDen", "LIR", "LSIR"):
        table.add_column(heading, justify="right")
    failures = []
    for name in names or CATALOGUE:
        try:
            with bytes_progress(f"downloading {name}") as progress:
                stream = load(name, progress=progress)
        except MarleneError as error:
            if names:
                raise
            failures.append(str(error))
            table.add_row(name, *["-"] * 6)
            continue
        kind = "b" if all(feature.kind == "binary" for feature in stream.features) else "n"
        sizes = (len(stream), len(stream.features), len(stream.labels))
        measures = (label_density, label_imbalance_rate, label_set_imbalance_rate)
        numbers = [*map(str, sizes), *(f"{measure(stream.Y):.3f}" for measure in measures)]
        table.add_row(escape(f"{name} ({kind})"), *numbers)
    Console().print(table)
    if failures:
        raise MarleneError("; ".join(failures))
