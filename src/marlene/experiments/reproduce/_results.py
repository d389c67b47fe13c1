"""Rows and traces of a store, found by run."""

from __future__ import annotations

import copy
import math
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from marlene._common.errors import MarleneError
from marlene.experiments._store import DONE, ResultStore, number
from marlene.experiments.reproduce._words import seeds_in_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from marlene._common.arrays import Arrays, Floats
    from marlene.experiments._grid import Run

FAILED_TEXT = "failed"


class Results:
    """Results of a store. The seed of a `Run` that is asked for does not matter: all seeds are returned.

    Parameters
    ----------
    store
        The store.
    measured
        The store of the runs that had a process of their own, to measure memory. Default: the same store.

    Examples
    --------
    >>> import tempfile
    >>> from marlene.experiments import Grid, run_grid
    >>> grid = Grid([{"load": "yeast", "limit": 100}], [{"name": "majority"}], seeds=2)
    >>> results = Results(run_grid(grid, tempfile.mkdtemp()))
    >>> run = grid.runs()[0]
    >>> results.seeds(run), round(results.mean(run, "micro_gmean"), 3)
    ((1, 2), 0.601)
    >>> results.half_width(run, "micro_gmean")
    0.0
    """

    def __init__(self, store: ResultStore, measured: ResultStore | None = None) -> None:
        self.measured = self if measured is None else Results(measured)
        self.most_seeds: int | None = None
        self._store = store
        self._rows: dict[str, list[dict[str, Any]]] = {}
        for row in store.rows():
            self._rows.setdefault(row["group"], []).append(row)

    def first(self, most: int | None) -> Results:
        """Return the same with only so many of the first seeds; None keeps all."""
        fewer = copy.copy(self)
        fewer.most_seeds = most
        fewer.measured = fewer if self.measured is self else self.measured
        return fewer

    def rows(self, run: Run, seeds: Collection[int] | None = None) -> list[dict[str, Any]]:
        """Return the rows of all seeds (or of these) with which this has been done, by seed."""
        done = (row for row in self._all(run) if row["status"] == DONE)
        return sorted((row for row in done if seeds is None or row["seed"] in seeds), key=lambda row: int(row["seed"]))

    def seeds(self, run: Run) -> tuple[int, ...]:
        """Return the seeds with which this has been done."""
        return tuple(row["seed"] for row in self.rows(run))

    def said_seeds(self, runs: Iterable[Run]) -> str:
        """Return the seeds of runs in words; several groups where they differ."""
        return "; ".join(seeds_in_words(seeds) for seeds in sorted({self.seeds(run) for run in runs}))

    def values(self, run: Run, column: str, seeds: Collection[int] | None = None) -> list[float]:
        """Return a column for every seed (or for these)."""
        rows = self.rows(run, seeds)
        for row in rows:
            if column not in row:
                raise MarleneError(
                    f"{self._store.folder}: {row['title']} has no {column}: it was run by an earlier version; "
                    "give another folder"
                )
        return [number(row[column]) for row in rows]

    def mean(self, run: Run, column: str, seeds: Collection[int] | None = None) -> float | None:
        """Return the mean of a column over all seeds (or these); None if there are none."""
        values = self.values(run, column, seeds)
        return statistics.fmean(values) if values else None

    def half_width(self, run: Run, column: str, seeds: Collection[int] | None = None) -> float | None:
        """Return half the width of the 95 % interval of the mean, by Student's t; None without two seeds."""
        values = self.values(run, column, seeds)
        if len(values) < 2:
            return None
        return float(stats.t.ppf(0.975, len(values) - 1)) * statistics.stdev(values) / math.sqrt(len(values))

    def cell(self, run: Run, column: str, seeds: Collection[int] | None = None) -> float | str | None:
        """Return what a table shows: the mean, "failed" if this failed with every seed, None if it was not run."""
        mean = self.mean(run, column, seeds)
        return FAILED_TEXT if mean is None and self._all(run) and not self.rows(run) else mean

    def traces(self, run: Run, *names: str, seeds: Collection[int] | None = None) -> list[Arrays]:
        """Return arrays of every seed (or of these); a seed that lacks one of them is left out."""
        found = (self._store.traces(row["key"]) for row in self.rows(run, seeds))
        return [{name: arrays[name] for name in names} for arrays in found if all(name in arrays for name in names)]

    def mean_steps(self, run: Run, seeds: Collection[int] | None = None) -> Floats:
        """Return the scores at every scored step, as means over all seeds (or these); no steps if there are none."""
        total: Floats = np.zeros((0, 4))
        traces = self.traces(run, "steps", seeds=seeds)
        for arrays in traces:
            total = arrays["steps"] + (total if len(total) else 0.0)
        return total / max(1, len(traces))

    def machines(self) -> set[str]:
        """Return the processors of all runs."""
        rows = (row for rows in self._rows.values() for row in rows)
        return {f"{row['processor']} with {row['cores']} cores" for row in rows}

    def _all(self, run: Run) -> list[dict[str, Any]]:
        rows = self._rows.get(run.group, [])
        return rows if self.most_seeds is None else [row for row in rows if row["seed"] <= self.most_seeds]
