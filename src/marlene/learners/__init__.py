"""Learners for multi-label streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marlene._common.lazy import lazily

if TYPE_CHECKING:
    from marlene.learners._methods import METHODS, Method, create
    from marlene.learners.baselines._adaptive_tree import AdaptiveTree
    from marlene.learners.baselines._bagging import ADWINBagging, OnlineBagging
    from marlene.learners.baselines._binary_relevance import BinaryRelevance
    from marlene.learners.baselines._chain import ClassifierChain
    from marlene.learners.baselines._goowe import GOOWE
    from marlene.learners.baselines._guess import Guess
    from marlene.learners.baselines._majority import Majority
    from marlene.learners.baselines._multi_target import MultiTargetTree
    from marlene.learners.baselines._pruned_sets import PrunedSets
    from marlene.learners.baselines._punitive_neighbours import PunitiveNeighbours
    from marlene.learners.baselines._relevance import BinaryRelevanceTrees
    from marlene.learners.baselines._vowpal_wabbit import VowpalWabbit
    from marlene.learners.marlene._br_marlene import BRMarlene, BRResampled
    from marlene.learners.marlene._brpw_marlene import BRPWMarlene
    from marlene.learners.marlene._decisions import Decisions
    from marlene.learners.marlene._marlene import Marlene

__all__ = [
    "GOOWE",
    "METHODS",
    "ADWINBagging",
    "AdaptiveTree",
    "BRMarlene",
    "BRPWMarlene",
    "BRResampled",
    "BinaryRelevance",
    "BinaryRelevanceTrees",
    "ClassifierChain",
    "Decisions",
    "Guess",
    "Majority",
    "Marlene",
    "Method",
    "MultiTargetTree",
    "OnlineBagging",
    "PrunedSets",
    "PunitiveNeighbours",
    "VowpalWabbit",
    "create",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "_methods": ("METHODS", "Method", "create"),
        "baselines._adaptive_tree": ("AdaptiveTree",),
        "baselines._bagging": ("ADWINBagging", "OnlineBagging"),
        "baselines._binary_relevance": ("BinaryRelevance",),
        "baselines._chain": ("ClassifierChain",),
        "baselines._goowe": ("GOOWE",),
        "baselines._guess": ("Guess",),
        "baselines._majority": ("Majority",),
        "baselines._multi_target": ("MultiTargetTree",),
        "baselines._pruned_sets": ("PrunedSets",),
        "baselines._punitive_neighbours": ("PunitiveNeighbours",),
        "baselines._relevance": ("BinaryRelevanceTrees",),
        "baselines._vowpal_wabbit": ("VowpalWabbit",),
        "marlene._br_marlene": ("BRMarlene", "BRResampled"),
        "marlene._brpw_marlene": ("BRPWMarlene",),
        "marlene._decisions": ("Decisions",),
        "marlene._marlene": ("Marlene",),
    },
)
