"""What `marlene run` prints beside the paper's scores: measures over the whole stream, and of every label."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from marlene.cli._summary import print_plainly, short_name

if TYPE_CHECKING:
    from rich.console import Console

    from marlene.evaluation import PrequentialResult

AVERAGES = ("micro", "macro", "example")
RATIOS = {"f1": "F1", "precision": "precision", "recall": "recall"}
COLUMNS = {
    "examples": ("known", "d"),
    "positives": ("true", "d"),
    "share": ("share", ".3f"),
    "predicted_share": ("pred.", ".3f"),
    "precision": ("prec.", ".3f"),
    "recall": ("recall", ".3f"),
    "f1": ("F1", ".3f"),
    "gmean": ("G-Mean", ".3f"),
    "calibration_error": ("ECE", ".3f"),
}
"""Columns of `labels_table`, each with its heading and how it is printed."""


def print_measures(console: Console, result: PrequentialResult, *, per_label: bool = False) -> None:
    """Print the measures of the whole stream, how many labels are predicted and true, and a table of all labels."""
    found = result.cumulative
    if math.isnan(found["labels_true"]):
        return
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("whole stream", overflow="fold")
    for average in AVERAGES:
        table.add_column(average, justify="right", overflow="fold")
    for ratio, name in RATIOS.items():
        table.add_row(name, *(f"{found[f'{average}_{ratio}']:.3f}" for average in AVERAGES))
    console.print(table)
    error = result.calibration_error()
    calibrated = "" if math.isnan(error) else f"\ncalibration error {error:.3f}"
    print_plainly(
        console,
        f"subset accuracy {found['subset_accuracy']:.3f}, Jaccard index {found['example_jaccard']:.3f}, "
        f"Hamming loss {found['hamming_loss']:.4f}{calibrated}",
    )
    predicted, true = found["labels_predicted"], found["labels_true"]
    print_plainly(console, f"labels per example: {predicted:.2f} predicted, {true:.2f} true", style="bold")
    if per_label:
        _print_labels(console, result)


def _print_labels(console: Console, result: PrequentialResult) -> None:
    """Print the measures of every label."""
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("label", overflow="fold")
    for heading, _ in COLUMNS.values():
        table.add_column(heading, justify="right", no_wrap=True)
    for row in result.labels_table():
        table.add_row(
            Text(short_name(str(row["label"]))), *(_text(row[name], form) for name, (_, form) in COLUMNS.items())
        )
    print_plainly(console, "\nevery label; pred.: predicted share, ECE: expected calibration error")
    console.print(table)


def _text(value: float, form: str) -> str:
    return "-" if math.isnan(value) else f"{value:{form}}"
