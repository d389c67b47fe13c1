"""One page as one file: text, tables of data, Vega-Lite charts and the library that draws them."""

from __future__ import annotations

import gzip
import json
import math
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from marlene._common.files import AnyPath

# Nothing may be loaded from anywhere; Vega compiles its expressions, which asks for unsafe-eval.
POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:"
DIGITS = 4
"""How many significant digits a number of a table keeps."""


@dataclass
class ReportPage:
    """A page that is being written; all text given to it is escaped unless it is said to be HTML.

    Parameters
    ----------
    title, lead
        The heading, and the sentences below it.
    """

    title: str
    lead: str
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    charts: dict[str, dict[str, Any]] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    _sections: list[tuple[str, str]] = field(default_factory=list)
    _html: list[str] = field(default_factory=list)
    _tiles: str = ""

    def tiles(self, facts: Mapping[str, str]) -> None:
        """Show a few numbers below the heading."""
        shown = (
            f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
            for name, value in facts.items()
        )
        self._tiles = f'<div class="tiles">{"".join(shown)}</div>'

    def section(self, key: str, heading: str, says: str, note: str = "") -> None:
        """Begin a section, with a sentence that says what it shows."""
        self._close()
        self._sections.append((key, heading))
        self._html.append(f'<section id="{key}"><h2>{escape(heading)}</h2><p class="says">{escape(says)}</p>')
        self.note(note)

    def note(self, text: str) -> None:
        """Add an explanation in small print."""
        if text:
            self._html.append(f'<p class="note">{escape(text)}</p>')

    def chart(self, key: str, spec: dict[str, Any], heading: str = "") -> None:
        """Add a chart."""
        self._html.append(self._chart(key, spec, heading))

    def ramp(self, title: str, least: str, most: str) -> None:
        """Add what the strength of a colour stands for."""
        self._html.append(f'<p class="ramp">{escape(title)}: {escape(least)} <i></i> {escape(most)}</p>')

    def beside(self, *charts: tuple[str, dict[str, Any], str]) -> None:
        """Add charts side by side, each with its heading."""
        inner = "".join(f"<div>{self._chart(*chart)}</div>" for chart in charts)
        self._html.append(f'<div class="sides">{inner}</div>')

    def _chart(self, key: str, spec: dict[str, Any], heading: str) -> str:
        self.charts[key] = spec
        title = f"<h3>{escape(heading)}</h3>" if heading else ""
        name = escape(heading or self._sections[-1][1])
        chart = f'<div class="chart" id="chart-{key}" data-chart="{key}" data-title="{name}"></div>'
        return f'<div class="figure">{title}{chart}</div>'

    def chooser(self, param: str, caption: str, values: Iterable[str]) -> None:
        """Add a list to choose a value of a chart's parameter from, and a text that goes with the choice."""
        options = "".join(f'<option value="{escape(value)}">{escape(value)}</option>' for value in values)
        self._html.append(
            f'<div class="control"><label>{escape(caption)} <select data-param="{param}">{options}</select></label>'
            f'</div><p class="says" data-text="{param}" aria-live="polite"></p>'
        )

    def slider(self, param: str, caption: str, value: int, texts: Mapping[int, str]) -> None:
        """Add a slider over the numbers from 0 on, with a text for each; at first it is at `value`."""
        self.texts[param] = {str(value): text for value, text in texts.items()}
        self._html.append(
            f'<div class="control"><label for="slide-{param}">{escape(caption)}</label>'
            f'<input id="slide-{param}" type="range" min="0" max="{len(texts) - 1}" value="{value}" step="1"'
            f' data-param="{param}"><output data-text="{param}"></output></div>'
        )

    def html(self, content: str) -> None:
        """Add HTML, whose names are escaped already."""
        self._html.append(content)

    def table(
        self,
        heading: Sequence[str],
        rows: Iterable[Sequence[str]],
        numbers: Iterable[int] = (),
        stacked: bool = False,
    ) -> None:
        """Add a table of HTML cells; columns of `numbers` are aligned to the right.

        `stacked`: on a narrow screen the cells of a row stand one below the other.
        """
        right = set(numbers)

        def line(cells: Sequence[str], tag: str) -> str:
            made = (
                f'<{tag} class="number" data-name="{escape(heading[i])}">{cell}</{tag}>'
                if i in right
                else f"<{tag}>{cell}</{tag}>"
                for i, cell in enumerate(cells)
            )
            return f"<tr>{''.join(made)}</tr>"

        body = "".join(line(row, "td") for row in rows)
        head = line([escape(name) for name in heading], "th")
        kind = "scroll stacked" if stacked else "scroll"
        self._html.append(f'<div class="{kind}"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>')

    def _close(self) -> None:
        if self._sections:
            self._html.append("</section>")

    def render(self) -> str:
        """Return the whole page."""
        self._close()
        data = {"tables": self.tables, "charts": self.charts, "texts": self.texts}
        links = "".join(f'<a href="#{key}">{escape(heading)}</a>' for key, heading in self._sections)
        here = files("marlene.report")
        css, script = ((here / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
        vega = gzip.decompress((here / "vega.js.gz").read_bytes()).decode()
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{css}</style></head>\n<body>"
            f'<header><div><h1>{escape(self.title)}</h1><p class="lead">{escape(self.lead)}</p></div>'
            f'<button id="theme" type="button">Dark</button></header>'
            f"<main>{self._tiles}</main><nav><div>{links}</div></nav>\n<main>{''.join(self._html)}</main>"
            "<footer><p>Written by marlene. This file is complete: it needs no network.</p></footer>\n"
            f'<script type="application/json" id="page-data">{as_script(data)}</script>\n'
            f"<script>{vega}</script>\n<script>{script}</script></body></html>\n"
        )

    def write(self, path: AnyPath) -> None:
        """Write the page to a file, whole or not at all."""
        with atomic_write(path) as file:
            file.write(self.render().encode("utf-8", "replace"))


def as_script(data: object) -> str:
    r"""Return JSON that may stand inside a script element, whatever the names in it.

    Examples
    --------
    >>> as_script({"a": "</script><b>", "b": float("nan")})
    '{"a":"\\u003c/script\\u003e\\u003cb\\u003e","b":null}'
    """
    text = json.dumps(_plain(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _plain(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, float):
        return rounded(value)
    return value


def rounded(value: float) -> float | int | None:
    """Return a number with a few significant digits; None if it is not one.

    Examples
    --------
    >>> rounded(0.123456), rounded(12345.678), rounded(2.0), rounded(float("nan"))
    (0.1235, 12350, 2, None)
    """
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short == int(short) else short


def coded(values: Sequence[str]) -> dict[str, Any]:
    """Return a column of names, each given once."""
    names = list(dict.fromkeys(values))
    place = {name: i for i, name in enumerate(names)}
    return {"names": names, "codes": [place[value] for value in values]}
