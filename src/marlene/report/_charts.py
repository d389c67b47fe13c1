"""Charts as Vega-Lite specifications; colours are variables of the page's style."""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]
WIDE: Spec = {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}
EXAMPLES = "examples"
STEP = 15
"""Height of a row of a heat map, in pixels."""


def over_time(y: str, title: str, **more: Any) -> Spec:  # noqa: ANN401 (Vega-Lite's words)
    """Return the channels of a value over the number of examples."""
    return {"x": time_axis(), "y": {"field": y, "type": "quantitative", "title": title, **more}}


def time_axis(title: str | None = EXAMPLES) -> Spec:
    """Return the horizontal axis of examples."""
    axis = {"grid": False, "format": ",d", "tickCount": 6, "labelOverlap": True}
    return {"field": "t", "type": "quantitative", "title": title, "axis": axis, "scale": {"nice": False, "zero": True}}


def upto(examples: int) -> Spec:
    """Return the scale from the first to the last example."""
    return {"domain": [0, max(1, examples)], "nice": False}


def tip(*fields: tuple[str, str, str]) -> list[Spec]:
    """Return what is shown under the pointer: field, title, and a format or "" for names."""
    return [
        {"field": field, "title": title, **({"type": "nominal"} if form == "" else {"format": form})}
        for field, title, form in fields
    ]


def lines(
    table: str, y: str, title: str, examples: int, colour: str | None = None, order: list[str] | None = None
) -> Spec:
    """Return lines over time, one of each name in `colour`, with a value at every point under the pointer."""
    channels = over_time(y, title, scale={"zero": False, "nice": True}, axis={"tickCount": 5})
    channels["x"]["scale"] = upto(examples)
    shown = [("t", "example", ",d"), (y, title, ".3f")]
    if colour is not None:
        legend = {"symbolType": "stroke", "symbolStrokeWidth": 3}
        channels["color"] = {"field": colour, "type": "nominal", "title": None, "sort": order, "legend": legend}
        shown.insert(0, (colour, "line", ""))
    mark = {"type": "line", "strokeWidth": 1.8, "clip": True, "color": "var(--c1)"}
    line = {"mark": mark, "encoding": channels}
    dots = {
        "mark": {"type": "point", "opacity": 0, "size": 60},
        "encoding": channels | {"tooltip": tip(*shown)},
    }
    return {**WIDE, "height": 240, "data": {"name": table}, "layer": [line, dots]}


def with_rules(spec: Spec, table: str, dashes: bool, only: str | None = None) -> Spec:
    """Return a chart over time with vertical lines at the times of a table."""
    channels = {
        "x": {"field": "t", "type": "quantitative"},
        "tooltip": tip(("says", "what", ""), ("t", "example", ",d")),
    }
    colour = "var(--soft)" if dashes else "var(--mark)"
    mark: Spec = {"type": "rule", "strokeWidth": 1.4 if dashes else 1.1, "color": colour}
    if dashes:
        mark["strokeDash"] = [5, 4]
    rules: Spec = {"data": {"name": table}, "mark": mark, "encoding": channels}
    if only:
        rules["transform"] = [{"filter": only}]
    return spec | {"layer": [*spec["layer"], rules]}


def bars_over_time(table: str, title: str, examples: int, colour: str, order: list[str]) -> Spec:
    """Return bars of counts in bins of time, from `low` to `high`, one colour for each kind."""
    axis = {"tickCount": 2, "tickMinStep": 1, "format": "d"}
    return {
        **WIDE,
        "height": 70,
        "data": {"name": table},
        "mark": {"type": "rect", "clip": True, "strokeWidth": 0},
        "encoding": {
            "x": time_axis() | {"scale": upto(examples)},
            "x2": {"field": "t2"},
            "y": {"field": "low", "type": "quantitative", "title": title, "axis": axis},
            "y2": {"field": "high"},
            "color": {"field": colour, "type": "nominal", "title": None, "scale": {"domain": order}},
            "tooltip": tip((colour, "what", ""), ("count", "labels", ",d"), ("t", "from example", ",d")),
        },
    }


def heat_over_time(table: str, value: str, title: str, examples: int, labels: list[str], most: float) -> Spec:
    """Return a heat map of labels over time; stronger is more, and a line is where there is no value."""
    cells = {
        "transform": [{"filter": f"isValid(datum.{value})"}],
        "mark": {"type": "rect", "color": "var(--heat)", "strokeWidth": 0},
        "encoding": {
            "fillOpacity": _strength(value, most),
            "tooltip": tip(("label", "label", ""), (value, title, ".3f"), ("t2", "up to example", ",d")),
        },
    }
    gaps = {
        "transform": [{"filter": f"!isValid(datum.{value})"}],
        "mark": {"type": "rule", "color": "var(--soft)"},
    }
    return {
        **WIDE,
        "height": STEP * len(labels),
        "data": {"name": table},
        "encoding": {
            "x": time_axis() | {"scale": upto(examples)},
            "x2": {"field": "t2"},
            "y": _names("label", labels),
        },
        "layer": [cells, gaps],
    }


def matrix(
    table: str,
    column: str,
    value: tuple[str, str, float],
    names: tuple[list[str], list[str]],
    axes: tuple[str, str],
) -> Spec:
    """Return a heat map of names × names, whose rows are labels; `value` is a field, its title and its largest."""
    (rows, columns), (field, title, most) = names, value
    grid = {"domain": False, "ticks": False, "grid": True, "tickBand": "extent"}
    x = {
        "field": column,
        "type": "nominal",
        "title": axes[1],
        "sort": columns,
        "scale": {"domain": columns},
        "axis": {"labelAngle": -90, "labelLimit": 84, "labelOverlap": True} | grid,
    }
    return {
        **WIDE,
        "height": STEP * len(rows),
        "data": {"name": table},
        "mark": {"type": "rect", "color": "var(--heat)", "strokeWidth": 0},
        "encoding": {
            "x": x,
            "y": _names("label", rows) | {"title": axes[0], "axis": grid},
            "fillOpacity": _strength(field, most),
            "tooltip": tip(("label", axes[0], ""), (column, axes[1], ""), (field, title, ".1%")),
        },
    }


def _names(field: str, order: list[str]) -> Spec:
    axis = {"domain": False, "ticks": False}
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "sort": order,
        "scale": {"domain": order, "padding": 0.08},
        "axis": axis,
    }


def _strength(field: str, most: float) -> Spec:
    scale = {"domain": [0, most], "range": [0.08, 1], "clamp": True}
    return {"field": field, "type": "quantitative", "scale": scale, "legend": None}


def highlighted(table: str, y: str, title: str, examples: int, param: str, value: str) -> Spec:
    """Return a line over time for every label, of which the chosen one stands out."""
    channels = over_time(y, title, scale={"domain": [0, 1]}, axis={"tickCount": 5})
    channels["x"]["scale"] = upto(examples)
    channels["detail"] = {"field": "label", "type": "nominal"}
    chosen = f"datum.label == {param}"
    dots = channels | {"tooltip": tip(("label", "label", ""), ("t", "example", ",d"), (y, title, ".3f"))}
    return {
        **WIDE,
        "height": 200,
        "data": {"name": table},
        "params": [{"name": param, "value": value}],
        "layer": [
            {"mark": {"type": "line", "color": "var(--soft)", "opacity": 0.35, "strokeWidth": 1}, "encoding": channels},
            {
                "transform": [{"filter": chosen}],
                "mark": {"type": "line", "color": "var(--c1)", "strokeWidth": 2.4},
                "encoding": channels,
            },
            {"mark": {"type": "point", "opacity": 0, "size": 40}, "encoding": dots},
        ],
    }


def chosen_only(spec: Spec, param: str, value: str | int, field: str = "label") -> Spec:
    """Return a chart of the rows whose `field` is the value of a parameter."""
    filters = [*spec.get("transform", []), {"filter": f"datum.{field} == {param}"}]
    return spec | {"params": [{"name": param, "value": value}], "transform": filters}


def reliability(table: str) -> Spec:
    """Return shares of positives over probabilities, beside the diagonal where both are equal."""
    scale: Spec = {"domain": [0, 1]}
    channels: Spec = {
        "x": {
            "field": "probability",
            "type": "quantitative",
            "title": "predicted probability",
            "scale": scale,
            "axis": {"grid": False, "tickCount": 5},
        },
        "y": {
            "field": "share",
            "type": "quantitative",
            "title": "share that came true",
            "scale": scale,
            "axis": {"tickCount": 5},
        },
        "tooltip": tip(
            ("probability", "probability", ".3f"), ("share", "came true", ".3f"), ("predictions", "predictions", ",d")
        ),
    }
    diagonal = {
        "data": {"values": [{"x": 0, "y": 0, "x2": 1, "y2": 1}]},
        "mark": {"type": "rule", "strokeDash": [4, 4]},
        "encoding": {
            "x": {"field": "x", "type": "quantitative"},
            "y": {"field": "y", "type": "quantitative"},
            "x2": {"field": "x2"},
            "y2": {"field": "y2"},
        },
    }
    size = {"field": "predictions", "type": "quantitative", "legend": None, "scale": {"range": [25, 260]}}
    curve = {"mark": {"type": "line", "color": "var(--c1)"}, "encoding": {k: channels[k] for k in ("x", "y")}}
    dots = {
        "mark": {"type": "point", "filled": True, "color": "var(--c1)", "opacity": 1},
        "encoding": channels | {"size": size},
    }
    return {**WIDE, "height": 230, "data": {"name": table}, "layer": [diagonal, curve, dots]}


def histogram(table: str) -> Spec:
    """Return how many predictions there are in each bin of the probability."""
    axis = {"tickCount": 4, "format": "~s"}
    return {
        **WIDE,
        "height": 230,
        "data": {"name": table},
        "transform": [
            {"calculate": "floor(min(datum.probability, 0.9999) * 10) / 10", "as": "low"},
            {"calculate": "datum.low + 0.1", "as": "high"},
            {"calculate": "0", "as": "zero"},
        ],
        "mark": {"type": "rect", "color": "var(--c1)", "strokeWidth": 0, "opacity": 0.85},
        "encoding": {
            "x": {
                "field": "low",
                "type": "quantitative",
                "title": "predicted probability",
                "scale": {"domain": [0, 1]},
                "axis": {"grid": False, "tickCount": 5},
            },
            "x2": {"field": "high"},
            "y": {"field": "zero", "type": "quantitative", "title": "predictions", "axis": axis},
            "y2": {"field": "predictions"},
            "tooltip": tip(("low", "from", ".1f"), ("high", "to", ".1f"), ("predictions", "predictions", ",d")),
        },
    }


def bars(table: str, value: tuple[str, str, str], names: str, rows: int, colour: Spec | None = None) -> Spec:
    """Return at most so many horizontal bars in the order of the table; `value` is a field, its title and a format."""
    field, title, form = value
    shown: Spec = {"value": "var(--c1)"} if colour is None else colour
    return {
        **WIDE,
        "height": 20 * max(1, rows),
        "data": {"name": table},
        "mark": {"type": "bar", "height": 13, "cornerRadiusEnd": 2},
        "encoding": {
            "y": {
                "field": names,
                "type": "nominal",
                "title": None,
                "sort": {"field": "place", "op": "min"},
                "axis": {"domain": False, "ticks": False, "labelLimit": 190},
            },
            "x": {
                "field": field,
                "type": "quantitative",
                "title": title,
                "axis": {"tickCount": 5, "format": form},
            },
            "color": shown,
            "tooltip": tip((names, "what", ""), (field, title, ".3f")),
        },
    }


def bars_with_ticks(table: str, labels: list[str]) -> Spec:
    """Return a bar for how often each label is true, and a tick for how often it is predicted."""
    y = _names("label", labels)
    x: Spec = {"field": "share", "type": "quantitative", "title": "share of the examples", "axis": {"format": "~p"}}
    shown = tip(("label", "label", ""), ("share", "true", ".2%"), ("predicted", "predicted", ".2%"))
    return {
        **WIDE,
        "height": STEP * len(labels),
        "data": {"name": table},
        "layer": [
            {"mark": {"type": "bar", "color": "var(--c1)"}, "encoding": {"x": x, "y": y, "tooltip": shown}},
            {
                "mark": {"type": "tick", "color": "var(--c2)", "thickness": 2.5},
                "encoding": {"x": x | {"field": "predicted"}, "y": y, "tooltip": shown},
            },
        ],
    }
