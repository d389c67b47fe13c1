"""Small grids, and what of their rows must not depend on where and when they were run."""

import os
import signal

from marlene.experiments import Grid
from marlene.experiments._perform import perform

TIMES = {"started", "finished", "cpu_seconds", "wall_seconds", "learn_seconds", "peak_rss_mb", "base_rss_mb"}
DEADLY = 13
BROKEN = {"load": "no-such-file.arff"}


def small(seeds=3, streams=()):
    """Return a grid of quick runs, two for every seed."""
    return Grid(
        streams=[{"synthetic": "AA", "size": 20, "sources": "similar", "source_size": 20}, *streams],
        methods=[{"name": "br-marlene", "drift": "oracle"}, {"name": "br-resampled"}] if not streams else PLAIN,
        seeds=seeds,
    )


PLAIN = [{"name": "br-marlene"}, {"name": "br-resampled"}]


def lasting(store):
    """Return the rows by key, without what differs from time to time."""
    rows = store.frame().iter_rows(named=True)
    return {row["key"]: {name: value for name, value in row.items() if name not in TIMES} for row in rows}


def deadly(run):
    """Do a run, but kill the process for one of them."""
    if run.seed == DEADLY and run.method == "br-marlene":
        os.kill(os.getpid(), signal.SIGKILL)
    return perform(run)
