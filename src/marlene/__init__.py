"""Multi-label learning on drifting data streams."""

from marlene.learners import BRMarlene, BRResampled

__all__ = ["BRMarlene", "BRResampled"]

__version__ = "0.1.0.dev0"
