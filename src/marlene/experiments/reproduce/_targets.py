"""The tables and figures by name: what each needs to be run, and how its page is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from marlene.experiments.reproduce import (
    _ablation,
    _aswr,
    _datasets,
    _labels,
    _more_figures,
    _real,
    _synthetic,
    _time,
)
from marlene.experiments.reproduce._plan import DETECTED, PAPER_DATA_SETS, WITH_RIVER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from marlene.experiments._grid import Run
    from marlene.experiments.reproduce._page import Page
    from marlene.experiments.reproduce._plan import Plan
    from marlene.experiments.reproduce._results import Results


@dataclass(frozen=True)
class Target:
    """A table or figure.

    Parameters
    ----------
    needs
        The data sets that must be there.
    runs
        Gives the runs it needs.
    page
        Makes its page of what has been run.
    """

    needs: tuple[str, ...]
    runs: Callable[[Plan], Iterable[Run]]
    page: Callable[[Plan, Results], Page]


def _real_runs(plan: Plan) -> Iterator[Run]:
    yield from plan.real_runs()
    yield from plan.published_runs()


def _synthetic_runs(plan: Plan) -> Iterator[Run]:
    yield from plan.synthetic_runs(plan.synthetic_streams())
    yield from plan.detected_runs()


def _on_yeast(plan: Plan) -> Iterator[Run]:
    return (run for run in plan.real_runs() if run.stream["load"] == WITH_RIVER)


def _drift_runs(plan: Plan) -> Iterator[Run]:
    yield from (run for run in _on_yeast(plan) if run.method == "br-marlene")
    drift, size = _more_figures.stream_with_known_drifts(plan)
    yield plan.synthetic(drift, size, "br-marlene", "none", detector=DETECTED)


TARGETS = {
    _datasets.TARGET: Target(PAPER_DATA_SETS, lambda _: (), _datasets.page),
    _real.TARGET: Target(PAPER_DATA_SETS, _real_runs, _real.page),
    _time.TARGET: Target(PAPER_DATA_SETS, lambda plan: plan.real_runs(), _time.page),
    _synthetic.TARGET: Target((), _synthetic_runs, _synthetic.page),
    _labels.TARGET: Target((), lambda plan: plan.synthetic_runs(plan.panels), _labels.page),
    _aswr.TARGET: Target((WITH_RIVER,), lambda plan: plan.transfer_runs(), _aswr.page),
    _more_figures.WINDOWS: Target((WITH_RIVER,), _on_yeast, _more_figures.windows_page),
    _more_figures.DRIFTS: Target((WITH_RIVER,), _drift_runs, _more_figures.drifts_page),
    _more_figures.TRANSFER: Target((WITH_RIVER,), lambda plan: plan.transfer_runs(), _more_figures.transfer_page),
    _ablation.TARGET: Target(PAPER_DATA_SETS, _ablation.runs, _ablation.page),
}
"""Every target by its name, in the order of the index."""
