"""The table of real-world data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene.experiments import paper
from marlene.experiments.reproduce._page import Page
from marlene.experiments.reproduce._table import Column, ResultTable, papers
from marlene.metrics import label_density, label_imbalance_rate, label_set_imbalance_rate
from marlene.streams import load

if TYPE_CHECKING:
    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._results import Results
    from marlene.experiments.reproduce._table import Value
    from marlene.streams import Stream

TARGET = "table-datasets"
MEASURES = {
    "label_density": ("LDen", label_density),
    "label_imbalance_rate": ("LIR", label_imbalance_rate),
    "label_set_imbalance_rate": ("LSIR", label_set_imbalance_rate),
}
HEADINGS = {"examples": "examples", "features": "features", "labels": "labels"} | {
    name: heading for name, (heading, _) in MEASURES.items()
}
HALF_A_DIGIT = 0.0005 + 1e-9


def page(plan: Plan, results: Results) -> Page:  # noqa: ARG001 (all targets are called alike)
    """Measure every data set that is there, beside what the paper says of it."""
    measured = {name: measure(load(name)) for name in plan.data_sets}
    rows: list[list[Value]] = []
    for printed in paper.data_sets():
        ours = measured.get(printed.data_set, {})
        cells = [(ours.get(name), getattr(printed, name)) for name in HEADINGS]
        rows.append([printed.data_set, *(value for pair in cells for value in pair)])
    columns = [Column("data set")]
    for heading in HEADINGS.values():
        columns += [Column(heading, absent="not read"), papers(heading)]
    caption = (
        "Size and imbalance of every data set, computed from its file, beside the paper's table. LDen: label density, "
        "LIR: label imbalance rate, LSIR: label-set imbalance rate."
    )
    return Page(
        TARGET,
        "Data sets",
        findings(measured, plan),
        [ResultTable(TARGET, caption, columns, rows)],
        notes=[f"{name} was not read: {reason}." for name, reason in plan.absent],
    )


def measure(stream: Stream) -> dict[str, float | int]:
    """Return what the paper's table has of a stream.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in measure(load("yeast")).items()}
    {'examples': 2417, 'features': 103, 'labels': 14, 'label_density': 0.303, 'label_imbalance_rate': 0.232, 'label_set_imbalance_rate': 0.297}
    """  # noqa: E501 (a doctest shows a row on one line)
    sizes = {"examples": len(stream), "features": len(stream.features), "labels": len(stream.labels)}
    return sizes | {name: float(function(stream.Y)) for name, (_, function) in MEASURES.items()}


def findings(measured: dict[str, dict[str, float | int]], plan: Plan) -> list[str]:
    """Say which figures are the paper's and which are not."""
    differences = []
    count = 0
    for printed in paper.data_sets():
        for name, value in measured.get(printed.data_set, {}).items():
            count += 1
            theirs = getattr(printed, name)
            if abs(value - theirs) > (HALF_A_DIGIT if isinstance(value, float) else 0):
                shown = f"{value:.3f}" if isinstance(value, float) else str(value)
                differences.append(f"{printed.data_set} {HEADINGS[name]}: {shown}, in the paper {theirs}")
    text = f"{len(measured)} of {len(paper.data_sets())} data sets were read, and "
    text += f"{count - len(differences)} of their {count} figures are the paper's to the digit it prints."
    if differences:
        text += f" The others: {'; '.join(differences)}."
    if plan.absent:
        text += f" Not read: {', '.join(name for name, _ in plan.absent)}."
    return [text]
