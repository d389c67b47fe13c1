"""The parameters of a forest: what they may be, and what the kernels make of them."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from marlene._common.errors import MarleneError
from marlene.kernels.forest.state import ADAPTIVE, MAJORITY, NAIVE_BAYES, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from marlene._common.arrays import Ints
    from marlene._common.checks import Rule

LEAF_PREDICTIONS = {"majority": MAJORITY, "naive_bayes": NAIVE_BAYES, "adaptive": ADAPTIVE}
NAMED_KINDS = {"numeric": 0, "binary": 2}
MOST_VALUES = MOST_CLASSES = 2**16
MOST_SPLIT_POINTS = 1000
LARGEST = 2**31 - 1
SIZE: Rule = (int, lambda n: 0 <= n <= LARGEST, "a whole number of at least 0")
# What a parameter must be.
RULES: dict[str, Rule] = {
    "n_classes": (int, lambda n: 2 <= n <= MOST_CLASSES, f"a whole number from 2 to {MOST_CLASSES}"),
    "grace_period": (float, lambda w: w > 0, "a positive number"),
    "delta": (float, lambda p: 0 < p < 1, "a number between 0 and 1"),
    "tie_threshold": (float, lambda b: b >= 0, "a number of at least 0"),
    "split_points": (int, lambda n: 1 <= n <= MOST_SPLIT_POINTS, f"a whole number from 1 to {MOST_SPLIT_POINTS}"),
    "leaf_prediction": (str, lambda rule: rule in LEAF_PREDICTIONS, f"one of {[*LEAF_PREDICTIONS]}"),
    "max_depth": SIZE,
    "max_nodes": SIZE,
    "variance_floor": (float, lambda v: v == 0 or 1e-100 <= v <= 1e100, "0 or a number from 1e-100 to 1e100"),
    "inherit": (bool, lambda _: True, "True or False"),
    "effective_size": (bool, lambda _: True, "True or False"),
    "grace_tolerance": (float, lambda w: 0 <= w < math.inf, "a number of at least 0"),
}


def kernel_settings(parameters: Mapping[str, Any]) -> Settings:
    """Return the parameters as the kernels take them."""
    log_inverse_delta = math.log(1.0 / parameters["delta"])
    prediction = LEAF_PREDICTIONS[parameters["leaf_prediction"]]
    given = {**parameters, "log_inverse_delta": log_inverse_delta, "leaf_prediction": prediction}
    given["grace_period"] -= parameters["grace_tolerance"]  # the one comparison it is made for
    return Settings(**{name: given[name] for name in Settings._fields})


def as_kinds(kinds: Sequence[int | str]) -> Ints:
    """Return for every feature 0 if it is numeric, else its number of values."""
    codes = []
    for position, kind in enumerate(kinds):
        try:
            code = NAMED_KINDS.get(kind, -1) if isinstance(kind, str) else operator.index(kind)
        except TypeError:
            code = -1
        if code != 0 and not 2 <= code <= MOST_VALUES:
            raise MarleneError(
                f"kinds[{position}] is {kind!r}; expected 'numeric', 'binary' or the number of values, "
                f"2 to {MOST_VALUES}"
            )
        codes.append(code)
    return np.array(codes, np.int64)
