"""All commands in one program; an error that the user can fix prints one line and exits with code 2.

A warning prints one line, too.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from marlene import __version__
from marlene._common.errors import MarleneError, one_line
from marlene.cli._compare import compare
from marlene.cli._datasets import datasets
from marlene.cli._demo import demo
from marlene.cli._generate import generate
from marlene.cli._grid import grid
from marlene.cli._inspect import inspect
from marlene.cli._interrupts import INTERRUPTED, SAID
from marlene.cli._methods import methods
from marlene.cli._report import report
from marlene.cli._reproduce import reproduce
from marlene.cli._run import run
from marlene.cli._serve import serve

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Commands(TyperGroup):
    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 (a context; what a command returns)
        """Call a command; after Ctrl-C print one line."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print(SAID, file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None


app = typer.Typer(
    name="marlene",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (run, inspect, compare, datasets, methods, generate, grid, report, reproduce, serve, demo):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"marlene {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Multi-label learning on drifting data streams."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; `arguments` default to those of the process."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Replace characters that the terminal's encoding lacks: do not lose the result of a run over a name.
        sys.stdout.reconfigure(errors="replace")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app(args=arguments, prog_name="marlene")
    except (MarleneError, OSError) as error:
        print(one_line(f"marlene: {error}"), file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print(SAID, file=sys.stderr)
        sys.exit(INTERRUPTED)
    finally:
        _flush_output()


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(one_line(f"marlene: warning: {message}"), file=sys.stderr)


def _flush_output() -> None:
    """Write the rest of the output now: the interpreter would do it too late to report an error."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        # Redirect stdout, so that the interpreter does not try again and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"marlene: the output cannot be written ({error.strerror})", file=sys.stderr)
        sys.exit(1)
