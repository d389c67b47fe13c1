"""The paper's tables and figures, made anew: every number is run here, and stands beside the paper's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from marlene import __version__
from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.experiments._grid import Grid
from marlene.experiments._run_grid import run_grid
from marlene.experiments._store import DONE
from marlene.experiments.reproduce._page import INDEX, write_index
from marlene.experiments.reproduce._plan import Plan, in_order
from marlene.experiments.reproduce._results import Results
from marlene.experiments.reproduce._targets import TARGETS
from marlene.experiments.reproduce._words import QUICK

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from marlene.experiments._run_grid import GridProgress

__all__ = ["ALL", "TARGETS", "Plan", "Reproduction", "reproduce"]

ALL = "all"


class Reproduction:
    """What `reproduce` made.

    Parameters
    ----------
    out
        The folder.
    pages
        The pages written, the index last.
    failures
        Title and error of the runs that failed.
    """

    def __init__(self, out: Path, pages: Sequence[Path], failures: Sequence[tuple[str, str]]) -> None:
        self.out = out
        self.pages = tuple(pages)
        self.failures = tuple(failures)


def reproduce(
    target: str,
    out: str | os.PathLike[str],
    *,
    runs: int = 30,
    quick: bool = False,
    jobs: int = 1,
    retry_failed: bool = False,
    watch: Callable[[GridProgress], None] | None = None,
) -> Reproduction:
    """Run what a table or figure of the paper needs, and write it with the paper's own numbers beside.

    Parameters
    ----------
    target
        One of `TARGETS`, or "all".
    out
        The folder: `index.md`, a page for every target, `tables`, `figures`, and the results in `runs`. What has been
        run is not run again; tables count every seed that is there.
    runs
        How many seeds; the paper has 30.
    quick
        Beginnings of a few streams with one seed, to see that it works.
    jobs
        How many processes to use.
    retry_failed
        Run again what failed before.
    watch
        Called whenever a run begins or ends.

    Examples
    --------
    >>> import tempfile
    >>> made = reproduce("table-datasets", tempfile.mkdtemp(), quick=True)
    >>> [page.name for page in made.pages], made.failures
    (['table-datasets.md', 'index.md'], ())
    """
    if target != ALL and target not in TARGETS:
        raise MarleneError(f"there is no table or figure {target!r}; known: {', '.join([*TARGETS, ALL])}")
    optional("matplotlib.figure", "experiments", "reproducing the paper")
    chosen = list(TARGETS) if target == ALL else [target]
    plan = (
        Plan.quick_one()
        if quick
        else Plan.full(runs, sorted({name for made in chosen for name in TARGETS[made].needs}))
    )
    folder = Path(out)
    grid = Grid.of(in_order(run for name in chosen for run in TARGETS[name].runs(plan)))
    store = run_grid(grid, folder / "runs", jobs=jobs, retry_failed=retry_failed, watch=watch)
    results = Results(store)
    pages = []
    for name in chosen:
        page = TARGETS[name].page(plan, results)
        if quick:
            page = replace(page, title=f"{page.title} (quick)", notes=[QUICK, *page.notes])
        page.write(folder)
        pages.append(folder / f"{name}.md")
    write_index(folder, list(TARGETS), _start(plan))
    keys = {run.key for run in grid.runs()}
    failures = [(row["title"], row["error"]) for row in store.rows() if row["key"] in keys and row["status"] != DONE]
    return Reproduction(folder, [*pages, folder / INDEX], failures)


def _start(plan: Plan) -> list[str]:
    start = [
        "Made by `marlene reproduce`, with marlene " + __version__ + ". Du, Minku, Lawlor, Zhou: *Multi-Label Transfer "
        "Learning in Non-Stationary Data Streams*. Every number that is not marked as the paper's was computed by this "
        "program from the runs in the folder `runs`; the sentences below are made from the same numbers. Tables say "
        "which seeds were used, and *not run* where nothing was.",
    ]
    return [*start, QUICK] if plan.quick else start
