"""Learners for multi-label streams."""

from marlene.learners._binary_relevance import BinaryRelevance
from marlene.learners._br_marlene import BRMarlene, BRResampled
from marlene.learners._brpw_marlene import BRPWMarlene
from marlene.learners._majority import Majority
from marlene.learners._methods import METHODS, Method, create

__all__ = ["METHODS", "BRMarlene", "BRPWMarlene", "BRResampled", "BinaryRelevance", "Majority", "Method", "create"]
