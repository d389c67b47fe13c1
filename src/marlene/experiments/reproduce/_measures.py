"""The measures that pages of our own compare, and the objective of `Marlene` that fits each."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from marlene._common.errors import MarleneError
from marlene.learners import create

if TYPE_CHECKING:
    from collections.abc import Iterable

    from marlene.experiments._grid import Run
    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._results import Results

OURS = "marlene"


@dataclass(frozen=True)
class Measure:
    """A measure of a run.

    Parameters
    ----------
    name
        What tables call it.
    column
        The column of a row that has it.
    objective
        The objective of `Marlene` that fits it.
    best
        Whether more or less is better.
    digits
        How many digits tables print.
    """

    name: str
    column: str
    objective: str
    best: Literal["max", "min"] = "max"
    digits: int = 3

    def better(self, one: float, other: float) -> bool:
        """Tell whether a value is better than another.

        Examples
        --------
        >>> Measure("Hamming loss", "cumulative_hamming_loss", "hamming", "min").better(0.1, 0.2)
        True
        """
        return one > other if self.best == "max" else one < other


MACRO, MICRO, LABEL_SET = GMEANS = (
    Measure("Macro-G-Mean", "macro_gmean", "macro"),
    Measure("Micro-G-Mean", "micro_gmean", "micro"),
    Measure("Label-set-G-Mean", "label_set_gmean", "label-set"),
)
MICRO_F1, MACRO_F1, EXAMPLE_F1, JACCARD, SUBSET, HAMMING = CUMULATIVE = (
    Measure("micro F1", "cumulative_micro_f1", "micro-f1"),
    Measure("macro F1", "cumulative_macro_f1", "macro-f1"),
    Measure("example F1", "cumulative_example_f1", "example-f1"),
    Measure("Jaccard index", "cumulative_example_jaccard", "jaccard"),
    Measure("subset accuracy", "cumulative_subset_accuracy", "subset"),
    Measure("Hamming loss", "cumulative_hamming_loss", "hamming", "min", 4),
)
MEASURES = (*GMEANS, *CUMULATIVE)


@functools.cache
def offered(objective: str) -> bool:
    """Tell whether `Marlene` has this objective."""
    try:
        create(OURS, objective=objective)
    except MarleneError:
        return False
    return True


def predicted_for_true(plan: Plan, results: Results, data_sets: Iterable[str]) -> str:
    """Return how many labels the default predicts on data sets, and how many are true; "" if nothing was run."""
    shown = []
    for name in data_sets:
        predicted, true = (results.mean(plan.real(name, OURS), f"labels_{what}") for what in ("predicted", "true"))
        if predicted is not None and true is not None:
            shown.append(f"{name} {predicted:.1f} for {true:.1f}")
    return ", ".join(shown)


def fitting(plan: Plan, data_set: str, measure: Measure) -> Run | None:
    """Return the run of `Marlene` with the objective that fits a measure; None if it has no such objective."""
    return plan.real(data_set, OURS, {"objective": measure.objective}) if offered(measure.objective) else None
