"""Small pieces of HTML for notebooks, in whatever colours the notebook has."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_ROWS = 20
CELL = 'style="text-align:left;padding:1px 12px 1px 0"'


def card(title: str, facts: str, *parts: str) -> str:
    """Return a heading, a line of text and further HTML; heading and text are escaped.

    Examples
    --------
    >>> card("a < b", "two facts")
    '<div><p style="margin:0"><b>a &lt; b</b></p><p style="margin:0 0 6px">two facts</p></div>'
    """
    head = f'<p style="margin:0"><b>{escape(title)}</b></p><p style="margin:0 0 6px">{escape(facts)}</p>'
    return f"<div>{head}{''.join(parts)}</div>"


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], more: int = 0) -> str:
    """Return a table of texts, which are escaped, and how many rows are left out."""

    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag} {CELL}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    left = f'<p style="margin:0">and {more:,} more</p>' if more else ""
    return f"<table><thead>{line(heading, 'th')}</thead><tbody>{body}</tbody></table>{left}"


def sparkline(values: Sequence[float], width: int = 320, height: int = 48) -> str:
    """Return values from 0 to 1 as a small line; nothing for fewer than two.

    Examples
    --------
    >>> "0.0,1.0 10.0,9.0" in sparkline([1.0, 0.0], width=10, height=10)
    True
    """
    if len(values) < 2:
        return ""
    across, down = width / (len(values) - 1), height - 2
    points = " ".join(f"{i * across:.1f},{1 + down * (1 - value):.1f}" for i, value in enumerate(values))
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>'
    )
