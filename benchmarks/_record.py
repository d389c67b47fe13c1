"""A run of the measurements as JSON, and what has changed since a recorded one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from benchmarks._measure import Bound, Table, as_text, grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

NOTICED = 0.1
"""Numbers that moved by less than this part are not listed."""


def as_json(surroundings: Sequence[tuple[str, str]], tables: Mapping[str, Sequence[Table]]) -> str:
    """Return machine and versions, and all tables with their bounds, by the name of the measurement."""
    content = {
        "run": dict(surroundings),
        "tables": [
            {
                "name": name,
                "title": table.title,
                "method": table.method,
                "columns": table.columns,
                "rows": table.rows,
                "bounds": [bound._asdict() | {"holds": bound.holds} for bound in table.bounds],
            }
            for name in tables
            for table in tables[name]
        ],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def record_beside(page: Path) -> Path:
    """Return where the JSON of a page is."""
    return page.with_suffix(".json")


def _recorded(page: Path) -> list[dict[str, Any]]:
    path = record_beside(page)
    try:
        tables: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["tables"]
        list(_numbers(tables))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{path}: not a recorded run ({error})") from error
    return tables


def recorded_tables(page: Path) -> dict[str, list[Table]]:
    """Return the tables recorded beside a page, by the name of the measurement."""
    found: dict[str, list[Table]] = {}
    for table in _recorded(page):
        bounds = [Bound(**{key: bound[key] for key in Bound._fields}) for bound in table["bounds"]]
        rows = [tuple(row) for row in table["rows"]]
        made = Table(table["title"], table["method"], tuple(table["columns"]), rows, bounds)
        found.setdefault(table["name"], []).append(made)
    return found


def compare(page: Path, tables: Mapping[str, Sequence[Table]]) -> str:
    """Return which numbers differ from those recorded beside a page, as a table."""
    path, before = record_beside(page), dict(_numbers(_recorded(page)))
    now = dict(_numbers(json.loads(as_json((), tables))["tables"]))
    moved: list[tuple[str | int | float, ...]] = [
        (*where, before[where], value, value / before[where])
        for where, value in now.items()
        if before.get(where) and abs(value / before[where] - 1.0) >= NOTICED
    ]
    known = sum(where in before for where in now)
    text = f"{known} numbers are recorded in {path.name}; {len(moved)} moved by {as_text(100 * NOTICED)} % or more."
    columns = ("measurement", "row", "column", "then", "now", "now / then")
    return f"### Against {page.name}\n\n{text}" + (f"\n\n{grid(columns, moved)}" if moved else "")


def _numbers(tables: list[dict[str, Any]]) -> Iterator[tuple[tuple[str, str, str], float]]:
    """Yield the numbers of tables, by title, row and column; whole numbers and text in a row say which row it is."""
    for table in tables:
        for row in table["rows"]:
            key = ", ".join(str(cell) for cell in row if not isinstance(cell, float))
            for column, cell in zip(table["columns"], row, strict=True):
                if isinstance(cell, float):
                    yield (table["title"], key, column), cell
