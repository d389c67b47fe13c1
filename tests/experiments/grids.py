"""Small grids, and what of their rows must not depend on where and when they were run."""

from marlene.experiments import Grid

TIMES = {"started", "finished", "cpu_seconds", "wall_seconds", "learn_seconds", "peak_rss_mb", "base_rss_mb"}
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
    return {row["key"]: {name: row[name] for name in row if name not in TIMES} for row in store.rows()}
