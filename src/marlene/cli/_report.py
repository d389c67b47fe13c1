"""`marlene report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marlene._common.errors import MarleneError
from marlene.experiments._report import report_of


def report(
    source: Annotated[
        Path, typer.Argument(help="A saved result (npz), a folder of them, or the folder of a grid.", metavar="FOLDER")
    ],
    out: Annotated[Path | None, typer.Option(help="The HTML file to write; default: beside or in FOLDER.")] = None,
) -> None:
    """Write one HTML page for a saved run, or for several runs side by side."""
    if not source.exists() and not source.with_name(f"{source.name}.npz").exists():
        raise MarleneError(f"{source}: there is no such file or folder")
    place = out
    if place is None:
        place = source / "report.html" if source.is_dir() else Path(str(source).removesuffix(".npz") + ".html")
    page = report_of(source)
    try:
        page.write(place)
    except OSError as error:
        raise MarleneError(f"--out {place}: {error.strerror}") from error
    print_written(place)


def print_written(path: Path) -> None:
    """Say where a report is."""
    print(f"report: {path.absolute()}")
