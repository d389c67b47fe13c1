"""Multi-label streams from files, tables, arrays and River data sets."""

from marlene.streams._stream import Feature, Stream

__all__ = ["Feature", "Stream"]
