"""`marlene methods`."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from marlene.learners import METHODS


def methods() -> None:
    """List the methods that can be run."""
    table = Table("method", "what it is", "reference", box=box.SIMPLE_HEAD)
    for method in METHODS.values():
        table.add_row(method.name, method.summary, method.reference)
    table.add_row("river:<dotted.Class>", "any River classifier, one copy per label (binary relevance)", "")
    Console().print(table)
