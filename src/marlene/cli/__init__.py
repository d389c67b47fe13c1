"""The command `marlene`."""

from marlene.cli._app import main

__all__ = ["main"]
