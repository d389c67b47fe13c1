"""`marlene reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from marlene.cli._grid import SOME_FAILED, display, print_errors, print_stopped
from marlene.cli._interrupts import INTERRUPTED
from marlene.experiments.reproduce import ALL, RUNS, TARGETS
from marlene.experiments.reproduce import reproduce as reproduce_paper

DEFAULT_OUT, QUICK_OUT = Path("reproduction"), Path("reproduction-quick")


def reproduce(
    target: Annotated[str, typer.Argument(help=f"What: {', '.join([*TARGETS, ALL])}.")],
    runs: Annotated[
        int, typer.Option(min=1, help="How many seeds; the paper has 30. Most of what is not in it has at most 3.")
    ] = RUNS,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few minutes, to see that it works; ignores --runs.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes to use.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help=f"The folder to write to. Default: {DEFAULT_OUT}, with --quick {QUICK_OUT}."),
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run again what failed before.")] = False,
) -> None:
    """Reproduce a table or figure of the paper, with the paper's own numbers beside ours."""
    folder = out or (QUICK_OUT if quick else DEFAULT_OUT)
    try:
        with display() as watch:
            made = reproduce_paper(
                target, folder, runs=runs, quick=quick, jobs=jobs, retry_failed=retry_failed, watch=watch
            )
    except KeyboardInterrupt:
        print_stopped(folder)
        raise typer.Exit(INTERRUPTED) from None
    for page in made.pages:
        print(page)
    print_errors(made.failures, folder / "runs")
    if made.failures:
        raise typer.Exit(SOME_FAILED)
