"""The paper's tables and figures, reproduced: every number comes from a run, beside the paper's own."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from marlene import __version__
from marlene._common.errors import MarleneError
from marlene._common.extras import optional
from marlene.experiments._grid import Grid
from marlene.experiments._run_grid import GridProgress, run_grid
from marlene.experiments._store import DONE
from marlene.experiments.reproduce._index import INDEX, write_index
from marlene.experiments.reproduce._page import ReproduceTarget
from marlene.experiments.reproduce._plan import PAPER_DATA_SETS, Plan, in_order
from marlene.experiments.reproduce._results import Results
from marlene.experiments.reproduce._words import say

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from marlene.experiments._grid import Run
    from marlene.experiments._store import ResultStore

__all__ = ["ALL", "RUNS", "TARGETS", "Plan", "ReproduceTarget", "Reproduction", "reproduce"]

ALL = "all"
RUNS = 10
"""How many seeds there are by default."""
NAMES = (
    *("table-datasets", "table-real", "table-time", "table-synthetic", "fig-labels", "fig-aswr", "fig-windows"),
    *("fig-drifts", "fig-transfer", "ablation", "transfer", "table-br-marlene", "table-pairs", "slips"),
    *("published", "noise-floor", "imitation", "after-drift", "synthetic-program", "detectors"),
)
TARGETS: dict[str, ReproduceTarget] = {
    name: import_module(f"{__name__}.targets.{name.replace('-', '_')}").TARGET for name in NAMES
}
"""Every target by its name, in the order of the index."""


@dataclass(frozen=True)
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

    out: Path
    pages: tuple[Path, ...]
    failures: tuple[tuple[str, str], ...]


def reproduce(
    target: str,
    out: str | os.PathLike[str],
    *,
    runs: int = RUNS,
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
        The folder: `index.md`, a page for every target, `tables`, `figures`, and the results in `runs`. Runs whose
        memory is printed have a process of their own; their results are in `runs/measured`. What has been run is not
        run again. Tables count every seed that is there, up to the most that their target has.
    runs
        How many seeds; the paper has 30. Data sets of more than 100,000 examples are run with at most three, and so is
        most of what is not in the paper.
    quick
        Beginnings of a few streams with one seed, to see that it works. What the paper and others printed is left out.
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
    chosen = [TARGETS[name] for name in (TARGETS if target == ALL else [target])]
    plan = Plan.quick_one() if quick else Plan.full(runs, sorted({name for made in chosen for name in made.needs}))
    folder = Path(out)
    failures: list[tuple[str, str]] = []

    def carry_out(wanted: Iterable[Run], where: Path, *, measure: bool) -> ResultStore:
        grid = Grid.of(in_order(wanted))
        store = run_grid(grid, where, jobs=jobs, retry_failed=retry_failed, measure=measure, watch=watch)
        keys = {run.key for run in grid.runs()}
        failed = [row for row in store.rows() if row["key"] in keys and row["status"] != DONE]
        failures.extend((row["title"], row["error"]) for row in failed)
        return store

    store = carry_out((run for made in chosen for run in made.runs(plan)), folder / "runs", measure=False)
    alone = (run for made in chosen for run in made.measured(plan))
    results = Results(store, carry_out(alone, folder / "runs" / "measured", measure=True))
    for made in chosen:
        page = made.page(plan, results.first(made.most_seeds))
        page = page.alone() if plan.quick else page
        page.write(folder, made.name, " (quick)" if quick else "")
    start = [say("index", "start", version=__version__), *([say("index", "quick")] if quick else [])]
    whole = plan if quick else Plan(tuple(range(1, RUNS + 1)), PAPER_DATA_SETS)
    write_index(folder, TARGETS, start, whole, results)
    pages = (*(folder / f"{made.name}.md" for made in chosen), folder / INDEX)
    return Reproduction(folder, pages, tuple(failures))
