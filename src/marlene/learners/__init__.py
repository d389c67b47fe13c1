"""Learners for multi-label streams."""

from marlene.learners._bagging import ADWINBagging, OnlineBagging
from marlene.learners._binary_relevance import BinaryRelevance
from marlene.learners._br_marlene import BRMarlene, BRResampled
from marlene.learners._brpw_marlene import BRPWMarlene
from marlene.learners._chain import ClassifierChain
from marlene.learners._goowe import GOOWE
from marlene.learners._majority import Majority
from marlene.learners._marlene import Marlene
from marlene.learners._methods import METHODS, Method, create
from marlene.learners._multi_target import MultiTargetTree
from marlene.learners._pruned_sets import PrunedSets
from marlene.learners._relevance import BinaryRelevanceTrees
from marlene.learners._thresholds import DecisionThresholds

__all__ = [
    "GOOWE",
    "METHODS",
    "ADWINBagging",
    "BRMarlene",
    "BRPWMarlene",
    "BRResampled",
    "BinaryRelevance",
    "BinaryRelevanceTrees",
    "ClassifierChain",
    "DecisionThresholds",
    "Majority",
    "Marlene",
    "Method",
    "MultiTargetTree",
    "OnlineBagging",
    "PrunedSets",
    "create",
]
