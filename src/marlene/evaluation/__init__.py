"""Prequential (test-then-train) evaluation."""

from marlene.evaluation._prequential import Progress, prequential
from marlene.evaluation._result import PrequentialResult

__all__ = ["PrequentialResult", "Progress", "prequential"]
