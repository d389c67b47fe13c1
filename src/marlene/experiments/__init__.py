"""Grids of runs, kept results, and statistics over them."""

from marlene.experiments import paper, statistics
from marlene.experiments._diagram import critical_difference_diagram
from marlene.experiments._grid import Grid, Run
from marlene.experiments._run_grid import GridProgress, run_grid
from marlene.experiments._store import ResultStore
from marlene.experiments.statistics import (
    friedman,
    friedman_over_time,
    nemenyi,
    nemenyi_critical_difference,
    wilcoxon_holm,
)

__all__ = [
    "Grid",
    "GridProgress",
    "ResultStore",
    "Run",
    "critical_difference_diagram",
    "friedman",
    "friedman_over_time",
    "nemenyi",
    "nemenyi_critical_difference",
    "paper",
    "run_grid",
    "statistics",
    "wilcoxon_holm",
]
