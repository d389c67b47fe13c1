"""Hoeffding trees, any number of them in one set of arrays."""

from marlene.trees._forest import HoeffdingForest

__all__ = ["HoeffdingForest"]
