"""Prequential (test-then-train) evaluation."""

from marlene.evaluation._prequential import prequential
from marlene.evaluation._result import PrequentialResult
from marlene.evaluation._run import Progress

__all__ = ["PrequentialResult", "Progress", "prequential"]
