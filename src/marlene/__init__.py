"""Multi-label learning on drifting data streams."""

__version__ = "0.1.0.dev0"
