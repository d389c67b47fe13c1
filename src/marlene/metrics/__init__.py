"""Scores of multi-label predictions, also as River metrics; calibration; measures of label matrices."""

from marlene.metrics._calibration import Calibration
from marlene.metrics._dataset import (
    co_occurrence,
    label_cardinality,
    label_density,
    label_imbalance_rate,
    label_set_imbalance_rate,
    positive_shares,
)
from marlene.metrics._river import (
    ExampleF1,
    ExampleJaccard,
    ExamplePrecision,
    ExampleRecall,
    HammingScore,
    LabelSetGMean,
    MacroF1,
    MacroGMean,
    MacroPrecision,
    MacroRecall,
    MicroF1,
    MicroGMean,
    MicroPrecision,
    MicroRecall,
    SubsetAccuracy,
)
from marlene.metrics._scores import SCORES, TRACE, Scores

__all__ = [
    "SCORES",
    "TRACE",
    "Calibration",
    "ExampleF1",
    "ExampleJaccard",
    "ExamplePrecision",
    "ExampleRecall",
    "HammingScore",
    "LabelSetGMean",
    "MacroF1",
    "MacroGMean",
    "MacroPrecision",
    "MacroRecall",
    "MicroF1",
    "MicroGMean",
    "MicroPrecision",
    "MicroRecall",
    "Scores",
    "SubsetAccuracy",
    "co_occurrence",
    "label_cardinality",
    "label_density",
    "label_imbalance_rate",
    "label_set_imbalance_rate",
    "positive_shares",
]
