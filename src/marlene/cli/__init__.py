"""The command `marlene`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.cli._interrupts import leaving_at_once

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; `arguments` default to those of the process."""
    with leaving_at_once():  # imports take a second
        from marlene.cli._app import main as run  # noqa: PLC0415

    run(arguments)
