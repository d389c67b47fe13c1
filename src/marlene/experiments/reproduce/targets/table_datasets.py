"""The table of real-world data sets."""

from __future__ import annotations

from marlene.experiments.reproduce._page import Page, ReproduceTarget, Results
from marlene.experiments.reproduce._plan import PAPER_DATA_SETS, PRINTED, Plan
from marlene.experiments.reproduce._table import beside_paper
from marlene.experiments.reproduce._words import say
from marlene.metrics import label_density, label_imbalance_rate, label_set_imbalance_rate
from marlene.streams import Stream, load

NAME = "table-datasets"
MEASURES = {
    "label_density": ("LDen", label_density),
    "label_imbalance_rate": ("LIR", label_imbalance_rate),
    "label_set_imbalance_rate": ("LSIR", label_set_imbalance_rate),
}
COLUMNS = {"examples": "examples", "features": "features", "labels": "labels"} | {
    heading: name for name, (heading, _) in MEASURES.items()
}
HALF_A_DIGIT = 0.0005 + 1e-9


def page(plan: Plan, results: Results) -> Page:  # noqa: ARG001 (all targets are called alike)
    """Measure every data set that is there, beside the paper's table."""
    measured = {name: measure(load(name)) for name in plan.data_sets}
    table = beside_paper(
        NAME,
        say(NAME, "caption"),
        PRINTED,
        COLUMNS,
        lambda data_set, column: measured.get(data_set, {}).get(COLUMNS[column]),
        lambda data_set, column: getattr(PRINTED[data_set], COLUMNS[column]),
        heading="data set",
        best="",
        absent="not read",
    )
    return Page(findings(measured), [table], notes=plan.notes(NAME))


def measure(stream: Stream) -> dict[str, float | int]:
    """Return what the paper's table has of a stream.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in measure(load("yeast")).items()}
    {'examples': 2417, 'features': 103, 'labels': 14, 'label_density': 0.303, 'label_imbalance_rate': 0.232, 'label_set_imbalance_rate': 0.297}
    """  # noqa: E501 (a doctest shows a row on one line)
    sizes = {"examples": len(stream), "features": len(stream.features), "labels": len(stream.labels)}
    return sizes | {name: float(function(stream.Y)) for name, (_, function) in MEASURES.items()}


def findings(measured: dict[str, dict[str, float | int]]) -> list[str]:
    """Say which numbers are the paper's and which are not."""
    differences = []
    for data_set, printed in PRINTED.items():
        ours = measured.get(data_set, {})
        for heading, name in COLUMNS.items():
            theirs = getattr(printed, name)
            if ours and abs(ours[name] - theirs) > (HALF_A_DIGIT if isinstance(ours[name], float) else 0):
                differences.append(f"{data_set} {heading}: {ours[name]:.4g}, in the paper {theirs}")
    count = len(measured) * len(COLUMNS)
    sizes = {"read": len(measured), "known": len(PRINTED), "same": count - len(differences), "count": count}
    return [say(NAME, "read", **sizes), *([say(NAME, "others", "; ".join(differences))] if differences else [])]


TARGET = ReproduceTarget(NAME, PAPER_DATA_SETS, lambda _: (), page)
