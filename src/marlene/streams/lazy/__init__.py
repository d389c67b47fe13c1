"""Streams that are read part by part, in constant memory."""

from marlene.streams.lazy._stream import LazyStream

__all__ = ["LazyStream"]
